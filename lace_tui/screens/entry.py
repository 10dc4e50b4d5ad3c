"""What one types into: a line and a text, whose keys act in the order in which they were pressed (APP-1, APP-3)."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

__all__ = ["FilterLine", "TextLine", "act_in_order"]


async def act_in_order(widget: Widget, event: events.Key) -> None:
    """Do at once what a key is bound to by the widget that it comes to; all others go their usual way.

    Textual lets a bound key climb to the app before it acts, while a letter goes in at once: of keys that come faster
    than the app takes them, each that deletes, moves or agrees acted behind all letters that were typed after it.
    """
    bound = None if event.is_printable else widget.screen.active_bindings.get(event.key)
    if bound is None or bound.node is not widget or not bound.enabled or bound.binding.priority:
        return
    if await widget.app.run_action(bound.binding.action, widget):  # else whoever is above may have a use for it
        event.stop()


class TextLine(Input):
    """One line to type into."""

    async def on_key(self, event: events.Key) -> None:
        """Let keys act in the order in which they were pressed."""
        await act_in_order(self, event)


class FilterLine(TextLine):
    """The line in which a filter is typed; esc takes the filter away, enter goes back to the list it is for."""

    DEFAULT_CSS = """
    FilterLine { dock: bottom; height: 1; border: none; padding: 0 1; display: none; background: $surface; }
    FilterLine:focus { border: none; }
    FilterLine.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", "Show all", show=False)]

    def __init__(self) -> None:
        super().__init__(placeholder="show rows with ...", id="filter", select_on_focus=False)
        self._list: Widget | None = None

    def open_for(self, rows: Widget, text: str = "") -> None:
        """Begin to type what the rows of a list shall hold.

        Args:
            rows: the list.
            text: what they have to hold already.
        """
        self._list = rows
        self.value = text
        self.add_class("-open")
        self.focus()

    def action_clear(self) -> None:
        """Show all rows again, and go back to the list."""
        self.clear_away()
        self.go_back()

    def go_back(self) -> None:
        """Go back to the list; the filter stays."""
        if self._list is not None:
            self._list.focus()

    def clear_away(self) -> None:
        """Show all rows again."""
        self.value = ""
        self.remove_class("-open")

    def on_blur(self, _event: events.Blur) -> None:
        """Take the line away when it is empty."""
        if not self.value:
            self.remove_class("-open")
