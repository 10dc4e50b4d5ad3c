"""What the last work did, in a frame of its own: where it is longer than that, the keys of every list move it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of

__all__ = ["ToldFrame"]


class ToldFrame(VerticalScroll):
    """A frame of lines."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.LIST)

    def action_cursor_down(self) -> None:
        """Go down by a line."""
        self.scroll_relative(y=1, animate=False)

    def action_cursor_up(self) -> None:
        """Go up by a line."""
        self.scroll_relative(y=-1, animate=False)

    def action_half_down(self) -> None:
        """Go down by half of what is in sight."""
        self.scroll_relative(y=self.size.height // 2, animate=False)

    def action_half_up(self) -> None:
        """Go up by half of what is in sight."""
        self.scroll_relative(y=-(self.size.height // 2), animate=False)

    def action_first(self) -> None:
        """Go to the first line."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """Go to the last line."""
        self.scroll_end(animate=False)
