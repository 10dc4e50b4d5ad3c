"""A text that was written for a file which became another one meanwhile, or is decided (APP-13, LAZ-39).

No draft has it any more. So it lies in a file of its own for a week, and its page says where; as long as that failed,
the page alone has it, and asks before it is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from textual.content import Content

from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.marks import BAD, QUIET, STRONG, mark
from lace_tui.words.inert import inert, inert_lines, is_harmless
from lazy.resolving.opening import OpenFile
from vault.plural import plural

__all__ = ["Late", "LatePage", "copied_as", "shown_lines"]

_SHOWN = 500  # lines of a text that came too late; all of it is copied
_SHOWN_CHARACTERS = 20_000  # of it: a line may be all of 2 MiB, and takes seconds to draw


class Late(NamedTuple):
    """A text that decides nothing any more.

    Args:
        file: what it was edited for.
        content: it.
        why: to follow the path.
        kept: where it lies.
        problem: why it lies nowhere, in sentences; empty where it does.
    """

    file: OpenFile
    content: bytes
    why: str
    kept: Path | None = None
    problem: str = ""


class LatePage(Page):
    """Shows such a text, and where it lies.

    Args:
        late: the text.
    """

    def __init__(self, late: Late) -> None:
        text = late.content.decode("utf-8", "replace")
        super().__init__(f"What you wrote for {inert(late.file.path)}", _lines_of(late, text), text)
        self._late = late

    @property
    def losing(self) -> str:
        """What leaving would lose, in a sentence; empty where the text lies in a file."""
        return "" if self._late.kept else f"What you wrote for {inert(self._late.file.path)} is on its page alone."

    def action_leave(self) -> None:
        """Go back; where that loses the text ask first."""
        if not self.losing or not self._is_seen:
            super().action_leave()
            return
        lines = [mark(f"! {self.losing}", BAD), mark("It is gone then, unless you copied it by y.")]
        self.app.push_screen(PlanPage("Leave and lose it?", lines, "leave", "stay"), self._agreed)

    def _agreed(self, is_agreed: bool | None) -> None:
        if is_agreed:
            self.leave_with(is_agreed=False)


def copied_as(content: bytes, text: str, *, is_kept: bool) -> str:
    """Say what `y` copies: what could drive a terminal, or is no UTF-8, is copied as it is shown.

    Args:
        content: what was written.
        text: the same, as it is read.
        is_kept: whether it lies in a file.
    """
    if content == text.encode() and is_harmless(text):
        return "y copies all of it."
    if is_kept:
        return "y copies it as it is shown, and that file alone has what you wrote, byte for byte."
    return "y copies it as it is shown, not byte for byte as you wrote it."


def _lines_of(late: Late, text: str) -> list[Content]:
    """Return what became of a text, and the text as it is shown."""
    where = (
        mark(f"It lies in {inert(str(late.kept))} for a week.", STRONG)
        if late.kept
        else mark(f"! It could not be kept: this page alone still has it. {inert(late.problem)}", BAD)
    )
    head = [
        mark(f"! {inert(late.file.path)} {late.why}: what you wrote decides nothing.", BAD),
        where,
        mark(copied_as(late.content, text, is_kept=late.kept is not None), QUIET),
    ]
    return [*head, mark(""), *shown_lines(text)]


def shown_lines(text: str) -> list[Content]:
    """Return a text as it is shown: of a long one the beginning, and how much more there is."""
    begun = inert_lines(text[:_SHOWN_CHARACTERS])
    lines = begun[:_SHOWN]
    left = text.count("\n") + 1 - len(lines)
    is_cut = len(text) > _SHOWN_CHARACTERS and len(lines) == len(begun)
    rest = "the rest of the last line" if is_cut else ""
    told = " and ".join(filter(None, (rest, plural(left, "more line") if left else "")))
    more = [mark(f"and {told}", QUIET)] if told else []
    return [*map(mark, lines), *more]
