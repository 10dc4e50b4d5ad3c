"""What one types into: a line and a text, whose keys act in the order in which they were pressed (APP-1, APP-3)."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import events
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

__all__ = ["FilterLine", "Filtered", "TextLine", "act_in_order", "let_filter_follow"]


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


async def let_filter_follow(rows: Widget, event: events.Key) -> None:
    """Open the line of a filter at once where a list's key asks for it, and hand on to it what comes to the list still.

    Else the first letters of a filter that is typed at once would act on the place below: `/s` began a sync.
    """
    if isinstance(rows.app.focused, FilterLine):
        event.stop()
        rows.app.post_message(events.Key(event.key, event.character))
        return
    bound = rows.screen.active_bindings.get(event.key)
    if bound is not None and bound.node is rows and bound.binding.id == "filter":
        event.stop()
        await rows.run_action(bound.binding.action)


class TextLine(Input):
    """One line to type into."""

    async def on_key(self, event: events.Key) -> None:
        """Let keys act in the order in which they were pressed."""
        await act_in_order(self, event)


class Filtered(Protocol):
    """A list, of whose rows a filter leaves some out."""

    def filter(self, text: str) -> None:
        """Show only the rows that hold some text; nothing shows all."""

    def focus(self) -> object:
        """Take the keys."""


class FilterLine(TextLine):
    """The line in which a filter is typed; the list it is for shows what fits at once.

    Esc takes the filter away, enter goes back to the list and keeps it.
    """

    DEFAULT_CSS = """
    FilterLine { dock: bottom; height: 1; border: none; padding: 0 1; background: $surface; }
    FilterLine:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", "Show all", show=False)]

    def __init__(self) -> None:
        super().__init__(placeholder="show rows with ...", id="filter", select_on_focus=False)
        self.display = False
        self._list: Filtered | None = None

    def open_for(self, rows: Filtered, text: str | None = None) -> None:
        """Begin to type what the rows of a list shall hold.

        Args:
            rows: the list.
            text: what they have to hold already; where that is not said, what the line has.
        """
        self._list = rows
        self.value = self.value if text is None else text
        self._show(is_open=True)
        self.screen.set_focus(self)  # `focus` would do so after the keys that are here already

    def _show(self, *, is_open: bool) -> None:
        self.set_class(is_open, "-open")
        self.display = is_open  # the class alone counts once styles were looked at anew

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
        self._show(is_open=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what fits as it is typed; a place may have more to show then."""
        if self._list is not None:
            self._list.filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the list."""
        event.stop()
        self.go_back()

    def on_blur(self, _event: events.Blur) -> None:
        """Take the line away when it is empty."""
        if not self.value:
            self._show(is_open=False)
