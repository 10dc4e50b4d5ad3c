"""A text that is in no draft, as a decision, or an app that was killed, left it (APP-13, LAZ-39)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.cli.inert import inert
from lace_tui.cli.output import moment
from lace_tui.screens.dialogs import Page
from lace_tui.screens.late import copied_as, shown_lines
from lace_tui.screens.marks import QUIET, STRONG, mark
from lazy.resolving.left_texts import left_texts
from vault.desks.diff import MAX_TEXT_BYTES
from vault.errors import LaceError
from vault.files import read_bounded
from vault.records import Tai

if TYPE_CHECKING:
    from lace_tui.screens.place import PlaceScreen
    from lazy.resolving.left_texts import LeftText
    from vault.vault import Vault

__all__ = ["open_left_text"]

_LIMIT = 4 * MAX_TEXT_BYTES  # bytes that are shown: an editor may have left more than what a result may have


def open_left_text(asker: PlaceScreen, file: str) -> None:
    """Show a text that is in no draft, and where it lies; `y` copies it.

    Args:
        asker: the place that it was asked for in.
        file: in which it lies, or the room where an editor left several.
    """

    def read(vault: Vault) -> Page:
        found = next((one for one in left_texts(vault.dot) if str(one.file) == file), None)
        return _page(found) if found else Page("It is gone", [mark(f"Nothing lies in {inert(file)} any more.")])

    asker.lace.ask(read, lambda page: asker.lace.open_page(asker, "open", page), asked="The text")


def _page(left: LeftText) -> Page:
    until = moment(Tai.from_unix_ns(left.until * 10**9).to_utc_iso())
    head = [
        mark(f"It lies in {inert(str(left.file))} until {until}, and is in no draft.", STRONG),
        mark("Once you need it no more you may delete it there.", QUIET),
    ]
    title = f"What you wrote for {inert(left.name)}"
    try:
        if left.file.is_dir():
            names = sorted(one.name for one in left.file.iterdir())
            told = mark("Your editor left more than one file; it may bring back what was not saved:")
            return Page(title, [*head, told, *(mark(f"  {inert(name)}") for name in names)], str(left.file))
        content = read_bounded(left.file, _LIMIT)
    except (LaceError, OSError) as error:
        return Page(title, [*head, mark(f"It cannot be shown: {inert(str(error))}")], str(left.file))
    text = content.decode("utf-8", "replace")
    return Page(title, [*head, mark(copied_as(content, text, is_kept=True), QUIET), mark(""), *shown_lines(text)], text)
