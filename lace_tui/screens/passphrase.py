"""The question for the passphrase of one's own key, in front until it is known to open the key (APP-3, APP-11)."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import Input

from lace_tui.screens.dialogs import Question

__all__ = ["Passphrase"]


class Passphrase(Question):
    """Asks for a passphrase and has it tried; what is typed meanwhile reaches nothing that lies below.

    Args:
        text: why it is asked for.
        tries: begins to try a passphrase; ends in `opens` or `fails`.
    """

    def __init__(self, text: str, tries: Callable[[str, Passphrase], None]) -> None:
        super().__init__("Passphrase of your key", text, is_secret=True)
        self._tries = tries
        self._opening: str | None = None  # what opens the key, where a page lay over the question as that was known

    def answer(self, value: str) -> None:
        """Have it tried; another one can be typed already."""
        self._is_ready = False
        self.query_one(Input).value = ""
        asked, self._text = self._text, "Opening your key ..."
        self._show()
        self._text = asked
        self._tries(value, self)

    def opens(self, value: str) -> None:
        """Leave with a passphrase that opens the key; nothing is done where they left before."""
        self._opening = value
        if self.is_active:
            self.dismiss(value)

    def on_screen_resume(self) -> None:
        """Leave, where only a page was in the way."""
        if self._opening is not None:
            self.dismiss(self._opening)

    def fails(self, why: str) -> None:
        """Say why it does not, and ask again, with what was typed meanwhile."""
        if self.is_attached:
            self._is_ready, self._refused = True, why
            self._show()
