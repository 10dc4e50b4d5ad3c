"""A text that is in no draft, as a decision, or an app that was killed, left it (APP-13, LAZ-39)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.late_text import copied_as, shown_lines
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, mark, pressable
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from lazy.resolving.left_texts import delete_text, left_texts
from vault.desks.diff import MAX_TEXT_BYTES
from vault.errors import LaceError
from vault.files import read_bounded
from vault.records import Tai

if TYPE_CHECKING:
    from textual.content import Content

    from lace_tui.screens.place import PlaceScreen
    from lazy.resolving.left_texts import LeftText
    from vault.vault import Vault

__all__ = ["LeftPage", "open_left_text"]

_LIMIT = 4 * MAX_TEXT_BYTES  # bytes that are shown: an editor may have left more than what a result may have


class LeftPage(Page):
    """Shows such a text; a key of its own deletes it, once that is agreed to.

    Args:
        left: the text.
        lines: what is said of it, and the text.
        copies: what `y` takes along.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.LEFT)

    def __init__(self, left: LeftText, lines: list[Content], copies: str) -> None:
        super().__init__(f"What you wrote for {inert(left.name)}", lines, copies)
        self.left = left

    def on_mount(self) -> None:
        """Name the keys."""
        self.query_one("#page").border_subtitle = pressable(
            ("y copies", "screen.copy"), (f"{self.key_of('delete-text')} deletes", "screen.delete_text"),
            ("esc back", "screen.leave"),
        )  # fmt: skip

    def action_delete_text(self) -> None:
        """Ask whether it is to go: it may be all there is of it."""
        if not self._is_seen:
            return
        lines = [
            mark(f"! {inert(str(self.left.file))} goes for good.", BAD),
            mark("Nothing else here has it. n goes back to it, where it can be copied."),
        ]
        self.app.push_screen(PlanPage("Delete the text?", lines, "delete it", "keep it"), self._agreed)

    def _agreed(self, is_agreed: bool | None) -> None:
        if is_agreed:
            self.leave_with(is_agreed=True)


def open_left_text(asker: PlaceScreen, file: str) -> None:
    """Show a text that is in no draft, and where it lies; `y` copies it, and a key deletes it after a question.

    Args:
        asker: the place that it was asked for in.
        file: in which it lies, or the room where an editor left several.
    """

    def read(vault: Vault) -> Page:
        found = next((one for one in left_texts(vault.dot) if str(one.file) == file), None)
        return _page(found) if found else Page("It is gone", [mark(f"Nothing lies in {inert(file)} any more.")])

    def shown(page: Page) -> None:
        def decided(is_agreed: bool | None) -> None:
            if is_agreed and isinstance(page, LeftPage):
                _delete(asker, page.left)

        asker.lace.open_page(asker, "open", page, decided)

    asker.lace.ask(read, shown, asked="The text")


def _delete(asker: PlaceScreen, left: LeftText) -> None:
    def deleted(_: None) -> Card:
        return Card("Text: deleted", (mark(f"= what you wrote for {inert(left.name)} is gone", GOOD),))

    asker.lace.begin("Delete a text", lambda vault, _: delete_text(vault.dot, left), deleted)


def _page(left: LeftText) -> LeftPage:
    until = moment(Tai.from_unix_ns(left.until * 10**9).to_utc_iso())
    head = [
        mark(f"It lies in {inert(str(left.file))} until {until}, and is in no draft.", STRONG),
    ]
    try:
        if left.file.is_dir():
            names = sorted(one.name for one in left.file.iterdir())
            told = mark("Your editor left more than one file; it may bring back what was not saved:")
            return LeftPage(left, [*head, told, *(mark(f"  {inert(name)}") for name in names)], str(left.file))
        content = read_bounded(left.file, _LIMIT)
    except (LaceError, OSError) as error:
        return LeftPage(left, [*head, mark(f"It cannot be shown: {inert(str(error))}")], str(left.file))
    text = content.decode("utf-8", "replace")
    told = mark(copied_as(content, text, is_kept=True), QUIET)
    return LeftPage(left, [*head, told, mark(""), *shown_lines(text)], text)
