"""The page on which one edits a text; on its own, for the widget behind it is slow to load."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Offset
from textual.widgets import TextArea

from lace_tui.screens.entry import act_in_order
from lace_tui.screens.marks import BAD, mark, pressable
from lace_tui.screens.overlay import Overlay

__all__ = ["Editor", "Told", "put_back"]


_SOON = 1.0  # seconds
_SEARCHED = 40_000  # pairs of lines of which all equal ones are found: it takes a tenth of a second at most
# Undo is worth more here than to suspend, which has the same key everywhere else.
_KEYS = ("esc keeps it; not written yet", "screen.leave"), ("ctrl+z undoes", "screen.take_back")


class Told(NamedTuple):
    """What became of a text that was handed over to be kept.

    Args:
        text: to say in the frame; empty where there is nothing to say.
        is_lost: whether it is in no file.
    """

    text: str = ""
    is_lost: bool = True


class _Text(TextArea):
    """The text."""

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:  # noqa: FBT002 - as Textual has it
        """Bring the cursor in sight, where it is in the text.

        Textual asks for it once more while it takes lines back that filled the screen, before the cursor has left them.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    async def on_key(self, event: events.Key) -> None:
        """Let keys act in the order in which they were pressed."""
        await act_in_order(self, event)


class Editor(Overlay[str | None]):
    """A text to edit; esc goes back with it, so that nothing typed is lost.

    Args:
        title: shown in the frame.
        text: it.
        keep: called with what is there now, soon after something was typed: nobody may come to press esc. Returns what
            to say of it.
        check: returns why a text cannot be taken, which is said while it can still be mended; empty where it can.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False, priority=True)]

    DEFAULT_CSS = """
    Editor { align: center middle; }
    Editor #page { width: 96%; height: 90%; border: round $primary; background: $surface; padding: 0 1; }
    Editor TextArea { height: 1fr; border: none; }
    """

    def __init__(
        self,
        title: str,
        text: str,
        keep: Callable[[str], Told] | None = None,
        check: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._keep = keep
        self._check = check
        self._told = Told()  # of what was typed, as far as that is known
        self._shown = self._handed = text.replace("\r\n", "\n")
        self._is_behind = False  # whether something was typed that is about to be kept

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        with VerticalScroll(id="page") as page:
            page.border_title = Content(self._title)
            page.border_subtitle = pressable(*_KEYS)
            yield _Text(self._shown, id="text", show_line_numbers=True, tab_behavior="indent")

    def on_mount(self) -> None:
        """Begin in the text, with nothing in front of it."""
        self.app.clear_notifications()
        self.query_one(TextArea).focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Have what was typed kept soon, once for all that is typed until then."""
        event.stop()
        if self._keep is not None and not self._is_behind:
            self._is_behind = True
            self.set_timer(_SOON, self._hand_over)

    async def hand_over(self) -> None:
        """Have what was typed kept now, also what is still on its way to the text."""
        for area in self.query(TextArea):  # none where the page is just made, or gone
            arrived = asyncio.Event()
            area.call_later(arrived.set)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), _SOON)
            self._hand_over()

    def _hand_over(self) -> None:
        self._is_behind = False
        text = self.query_one(TextArea).text
        if self._keep is not None and text != self._handed:
            self._handed = text
            self._tell(self._keep(put_back(self._text, text)))

    def _tell(self, told: Told) -> None:
        """Say in the frame that the text is not kept, or where, as long as that is so."""
        self._told = told
        page = self.query_one("#page")
        page.border_subtitle = mark(f"! {told.text}", BAD) if told.text else pressable(*_KEYS)

    @property
    def losing(self) -> str:
        """What leaving the app would lose, in a sentence: what was typed and cannot be kept; empty where it can."""
        return f"{self._title}: {self._told.text}" if self._told.text and self._told.is_lost else ""

    def action_take_back(self) -> None:
        """Take back what was typed last."""
        self.query_one(TextArea).undo()

    def action_leave(self) -> None:
        """Go back with the text; what was typed before this key is still on its way to it."""
        area = self.query_one(TextArea)
        area.call_later(lambda: self._go_back_with(area.text))

    def _go_back_with(self, text: str) -> None:
        edited = put_back(self._text, text)
        why = self._check(edited) if self._check is not None else ""
        if why:
            self._tell(Told(why))
            self.notify(why, severity="error", markup=False)
        else:
            self.dismiss(edited)


def put_back(before: str, edited: str) -> str:
    r"""Return an edited text whose lines end as they did before; a new one ends as most of them.

    Args:
        before: lines that end in `\r\n` or `\n`.
        edited: the same in `\n`, after somebody edited it.
    """
    returns, count = before.count("\r\n"), before.count("\n")
    usual = "\r" if 2 * returns > count else ""
    if returns in {0, count}:  # nearly every text
        return edited.replace("\n", f"{usual}\n")
    *lines, last = before.split("\n")  # which ends in nothing
    plain, had = [line.removesuffix("\r") for line in lines], ["\r" if line.endswith("\r") else "" for line in lines]
    new = edited.split("\n")
    ends = [usual] * len(new)
    for at, to, size in _same([*plain, last], new):
        for number in range(min(size, len(lines) - at)):
            ends[to + number] = had[at + number]
    ends[-1] = ""
    return "\n".join(line + end for line, end in zip(new, ends, strict=True))


def _same(before: list[str], after: list[str]) -> list[tuple[int, int, int]]:
    """Return where two texts have equal lines: the first of them in either, and how many.

    What both begin and end with is not searched: that takes long where many lines are equal, and is nearly all of it.
    In a long middle those are found that lie around lines which either has once.
    """
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    most -= head
    tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    parts = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(parts[0]) * len(parts[1]) <= _SEARCHED:
        blocks = SequenceMatcher(None, *parts, autojunk=False).get_matching_blocks()
        found = [(one.a, one.b, one.size) for one in blocks]
    else:
        found = _around_single(*parts)
    middle = [(head + at, head + to, size) for at, to, size in found]
    return [(0, 0, head), *middle, (len(before) - tail, len(after) - tail, tail)]


def _around_single(before: list[str], after: list[str]) -> list[tuple[int, int, int]]:
    """Return as `_same` does the equal lines around those that either text has once; looks at each about once."""
    counts = Counter(before), Counter(after)
    there = {line: to for to, line in enumerate(after) if counts[0][line] == counts[1][line] == 1}
    found, end = [], 0
    for number, line in enumerate(before):
        if number < end or line not in there:
            continue
        at, to, size = number, there[line], 1
        while at > end and to > 0 and before[at - 1] == after[to - 1]:
            at, to, size = at - 1, to - 1, size + 1
        while at + size < len(before) and to + size < len(after) and before[at + size] == after[to + size]:
            size += 1
        found.append((at, to, size))
        end = at + size
    return found
