"""One conflict as it is shown: both sides named by who, where and when, the base, the result so far (APP-4, LAZ-39).

Here is what is read and drawn; where one is in it stands in `walk`, what is chosen and written in `resolve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from lace_tui.keys.actions import Action, Scope, action_named, actions_of
from lace_tui.model.view import ID_SHOWN, ago
from lace_tui.screens.keeping import Keeping
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, fitted, mark
from lace_tui.screens.numbered import text_rows
from lace_tui.screens.pane import Pane
from lace_tui.screens.place import Fitted, PlaceScreen
from lace_tui.screens.sides import columns, facts, result_rows, unified
from lace_tui.screens.texts import Joined
from lace_tui.screens.walk import Walk
from lace_tui.words.inert import end_of, inert, width_of
from lazy.conflict_words import OVERTAKEN, side_words
from lazy.conflicts import NoSuchConflict, conflicts
from lazy.remembered import generation
from lazy.resolving.deciding import Pick, Worked, undecided, worked_out
from lazy.resolving.drafts import Draft, load_draft
from lazy.resolving.opening import Opened, OpenFile, Origin, open_asked_with, open_conflict
from vault.names import Version
from vault.plural import plural
from vault.vault import Vault

__all__ = ["Comparing", "can_edit", "merging"]

_KEPT = 2  # lines that stay in sight when a page is turned, where that leaves more than as many
_CHOOSING = frozenset(action.call for action in actions_of(Scope.RESOLVE) if action.cli)

_ANOTHER = (
    "Something newer was released, and this is decided with it: what you chose counts for files that are the same."
)


class _Read(NamedTuple):
    """What was read.

    Args:
        asked: id of the conflict that was asked for.
        opened: the conflict.
        draft: what was chosen before.
        ids: of all open conflicts.
        words: what `resolve --prefer` calls its sides.
        saved: how many of the choices made here the draft had at least.
        generation: of the store before it was read.
    """

    asked: str
    opened: Opened
    draft: Draft
    ids: tuple[str, ...]
    words: str
    saved: int
    generation: str


def merging(count: int) -> str:
    """Say of how many paths nothing is to be decided."""
    return f"{plural(count, 'more path')} {'merges by itself' if count == 1 else 'merge by themselves'}."


def _left(opened: Opened, picks: Mapping[str, Pick]) -> str:
    """Say how much of all files nobody chose for yet; nothing where all is decided.

    A file without lines counts as one region where others have some. Of more than two sides it is what the step asks.
    """
    worked = [worked_out(file, picks.get(file.path, Pick())) for file in opened.files]
    still = [len(one.open) for one in worked if not one.is_decided]
    files = plural(len(still), "file") if still else ""
    if not any(still):
        return files
    regions = plural(sum(max(1, count) for count in still), "region")
    return regions if len(still) == 1 else f"{regions} in {files}"


def can_edit(file: OpenFile) -> bool:
    """Tell whether some side is a text that can be edited."""
    return file.has_lines or any(side is not None and side.text is not None for side in file.sides)


class Comparing(PlaceScreen):
    """The sides of one conflict beside each other, file by file and region by region.

    Args:
        conflict_id: which.
    """

    def __init__(self, conflict_id: str) -> None:
        super().__init__()
        self.conflict_id = conflict_id
        self._read: _Read | None = None
        self._ids: tuple[str, ...] = ()  # of all open conflicts, also while the next one is read
        self.walk = Walk()
        self._version: Version | None = None
        self._with_base = True
        self._only = ""
        self.keeping = Keeping()
        self._is_read = False
        self._bare: object = None  # what is shown without lines; of another one the beginning comes first

    def body(self) -> ComposeResult:
        """Lay out both sides and the result."""
        yield Fitted("what")
        with Horizontal(id="sides"):
            yield Pane("left")
            yield Pane("right")
        yield Pane("result")
        yield Fitted("said")

    def come_back(self) -> None:
        """Read what was not read yet, or before somebody wrote; what was chosen since stays."""
        read, view = self._read, self.lace.view
        is_old = read is not None and view is not None and view.generation not in {"", read.generation}
        if not self._is_read or is_old:
            self._is_read = True
            self.lace.read_place(self)

    def read(self, vault: Vault) -> _Read | None:
        """Read the conflict, its contents and what was chosen before; compares its lines too. None: it is no more.

        Where another one is asked instead of it, that is read: what was chosen here is to be decided there.
        """
        saved = self.keeping.saved  # before it is read: what is saved next is not in it
        asked = self.conflict_id  # keys may lead to another one meanwhile
        number = generation(vault)
        try:
            opened = open_conflict(vault, asked)
        except NoSuchConflict:
            found = open_asked_with(vault, asked)
            if found is None:
                return None
            opened = found
        draft = load_draft(vault, opened)
        for file in opened.files:
            worked_out(file, draft.picks.get(file.path, Pick()))
        ids = sorted((conflict.id for conflict in conflicts(vault)), key=lambda one: one in self.lace.aside)
        return _Read(asked, opened, draft, tuple(ids), side_words(opened.conflict, vault.node.text), saved, number)

    def show(self, value: _Read | None) -> None:
        """Show the conflict: where it was in sight, if that is the same still, else where nobody chose yet."""
        if value is None:
            self.end()
            return
        if value.asked != self.conflict_id:  # a key led to another one meanwhile
            self.lace.read_place(self)
            return
        self._read, self._ids = value, value.ids
        if self.conflict_id != value.opened.conflict.id:
            self.notify(_ANOTHER, markup=False)
            self.conflict_id, self._version = value.opened.conflict.id, None
        named = self.keeping.version or value.draft.version
        self._version = self._version or named or value.opened.version
        self.walk.go_on_in(value.opened, value.draft.picks, self.keeping.since(value.saved))
        if value.draft.stale:
            self.notify(
                f"{plural(len(value.draft.stale), 'file')} changed since you chose; choose again.", markup=False
            )
        self._draw()

    def end(self) -> None:
        """Leave the conflict, which is no more."""
        raise NotImplementedError

    def on_resize(self) -> None:
        """Fold the lines anew."""
        self.call_after_refresh(self._draw)

    # What is shown

    def _side_title(self, origin: Origin, room: int = 200) -> str:
        """Return who, where, which version and when, as much as there is room for."""
        who = "YOU" if origin.is_mine else origin.name.upper()
        parts = [
            f"{who} @ {origin.machine}" if origin.machine else who,
            str(origin.version) if origin.version else "not released",
            ago(origin.time, self.lace.now_ns),
            origin.time[:16].replace("T", " "),
        ]
        while len(parts) > 1 and len("  ".join(parts)) > room:
            parts.pop()
        return "  ".join(parts)

    def _draw(self) -> None:
        opened, file, worked = self.walk.opened, self.walk.file, self.walk.worked()
        if opened is None or not self.is_open:
            return
        left, right, result = (self.query_one(f"#{name}", Pane) for name in ("left", "right", "result"))
        if worked is None or worked.pieces:
            self._bare = None
        if file is None or worked is None:
            self._draw_merging(opened, left, right, result)
        else:
            titles = self._titles(opened, file, worked, left)
            (self._draw_lines if worked.pieces else self._draw_whole)(file, worked, titles, left, right)
            self._draw_result(file, worked, result)
        self._draw_words(opened)
        self.show_footer()

    def _titles(self, opened: Opened, file: OpenFile, worked: Worked, left: Pane) -> tuple[str, str]:
        """Return whose both texts are, as much as there is room for."""
        room = left.size.width - 6 if self.has_class("-wide") else left.size.width // 2 - 5
        other = self._side_title(opened.sides[worked.right], room)
        if file.has_lines and worked.step > 1:
            return "RESULT SO FAR", other
        return self._side_title(opened.sides[0 if file.has_lines else file.left], room), other

    def _draw_lines(self, file: OpenFile, worked: Worked, titles: tuple[str, str], left: Pane, right: Pane) -> None:
        region, names = self.walk.region, self.walk.names(file, worked)
        width = left.scrollable_content_region.width
        if self.has_class("-wide"):
            shown = columns(worked, region, names, with_base=self._with_base, width=width)
            for pane, title, rows in zip((left, right), titles, shown.rows, strict=True):
                pane.show(title, rows, shown.starts.get(region))
            return
        shown = unified(worked, region, names, with_base=self._with_base, width=width, only=self._only)
        one, other = f"< {titles[0]}", f"> {titles[1]}"
        title = {"": f"{one}  {other}", "left": one, "right": other}[self._only]
        left.show(title, shown.rows[0], shown.starts.get(region))

    def _draw_merging(self, opened: Opened, left: Pane, right: Pane, result: Pane) -> None:
        rows = [mark(f"  {path}") for path in opened.others] or [mark("  nothing differs", QUIET)]
        left.show(self._side_title(opened.sides[0]), [mark("These differ, and merge by themselves:", STRONG), *rows])
        other = opened.sides[1] if len(opened.sides) > 1 else opened.sides[0]
        right.show(self._side_title(other), [mark("Nothing to choose here.", GOOD)])
        result.show("RESULT, not written yet", [mark("Both sides' work merged; w writes it.", GOOD)])

    def _draw_whole(self, file: OpenFile, worked: Worked, titles: tuple[str, str], left: Pane, right: Pane) -> None:
        for pane, title, number in ((left, titles[0], file.left), (right, titles[1], worked.right)):
            rows = facts(file.sides[number], pane.scrollable_content_region.width, file.name_of(number))
            at = None if self._bare == (self.conflict_id, file.path, worked.right) else 0
            base = Joined([mark("  before:", QUIET)], facts(file.base, pane.scrollable_content_region.width))
            if not self.has_class("-wide") and pane is left:
                other = facts(
                    file.sides[worked.right], pane.scrollable_content_region.width, file.name_of(worked.right)
                )
                rows = Joined([mark(titles[0], STRONG)], rows, [mark(titles[1], STRONG)], other)
            pane.show(title, Joined(rows, base if self._with_base and file.base else []), at)
        self._bare = self.conflict_id, file.path, worked.right

    def _draw_result(self, file: OpenFile, worked: Worked, result: Pane) -> None:
        width = result.scrollable_content_region.width
        title = "RESULT, not written yet"
        pick = self.walk.pick
        if pick.edited is not None:
            word = "as edited" if worked.is_decided else "as edited, markers are left"
            result.show(f"{title}: {word}", text_rows(pick.edited, width), 0)
        elif pick.side is not None:
            rows = facts(file.sides[pick.side], width, file.name_of(pick.side))
            if worked.result is not None:
                rows = text_rows(worked.result, width)
            result.show(f"{title}: the whole file is {self.walk.whose(pick.side)}", rows, 0)
        elif worked.pieces:
            shown = result_rows(worked, self.walk.region, self.walk.names(file, worked), width)
            result.show(title, shown.rows[0], shown.starts.get(self.walk.region))
        else:
            names = "   ".join(
                f"{key} {name} whole" for key, name in zip("LR", self.walk.names(file, worked), strict=True)
            )
            edit = "   e edit" if can_edit(file) else ""
            more = "   n the next side" if self.walk.numbers(worked) else ""
            result.show(title, [mark(f"?  undecided:  {names}{edit}{more}", BAD)])

    def _draw_words(self, opened: Opened) -> None:
        file, worked = self.walk.file, self.walk.worked()
        ids = self._ids
        left = _left(opened, self.walk.picks)
        what = opened.conflict.what
        parts: list[tuple[int, Content]] = []
        if file:
            parts.append((6, mark(what, QUIET)))
        if opened.conflict.id in ids:
            parts.append((3, mark(f"conflict {ids.index(opened.conflict.id) + 1} of {len(ids)}")))
        if len(opened.files) > 1:
            parts.append((2, mark(f"file {self.walk.number + 1} of {len(opened.files)}")))
        if worked and worked.pieces and self.walk.region:
            regions = [piece.number for piece in worked.pieces if piece.number]
            parts.append((4, mark(f"region {regions.index(self.walk.region) + 1} of {len(regions)}")))
        if worked and worked.pieces and len(opened.sides) > 2:
            parts.append((5, mark(f"step {worked.step} of {len(opened.sides) - 1}")))
        elif worked and not worked.pieces and (numbers := self.walk.numbers(worked)):
            parts.append((4, mark(f"side {max(self.walk.region, 1)} of {len(numbers)}")))
        parts.append((1, mark(f"! undecided: {left}", BAD) if left else mark("= decided: w writes it", GOOD)))
        room = self.size.width - 2 - len("Resolve    ") - width_of(parts[-1][1].plain)
        name = mark(f"Resolve {end_of(inert(file.path if file else what), room)}", STRONG)
        self.query_one("#what", Fitted).show([(0, name), *parts])
        said = [(0, mark("Every side stays readable in history, whatever you choose.", QUIET))]
        if others := len(opened.others):
            said = [(0, mark("Every side stays readable in history.", QUIET)), (1, mark(merging(others), QUIET))]
        if opened.conflict.is_overtaken:
            said = [(0, mark(OVERTAKEN, STRONG)), *((number + 1, told) for number, told in said)]
        self.query_one("#said", Fitted).show(said)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key choose in a window too small to show what is chosen."""
        del parameters
        return not (action in _CHOOSING and (self.has_class("-tiny") or self.has_class("-low")))

    def small_keys(self) -> list[Action]:
        """Return the way back: choices stay."""
        return [action_named("leave")]

    def small_lines(self) -> list[Content]:
        """Return which conflict it is, and how much of it is undecided."""
        return [fitted(self.query_one("#what", Fitted).parts, self.size.width - 2)]

    def hinted(self) -> list[Action]:
        """Leave out what this file cannot be decided by: lines that it has none of, or text that it is not."""
        file = self.walk.file
        away = (
            set() if file is None or file.has_lines else {"take-both"} if can_edit(file) else {"take-both", "edit-here"}
        )
        return [action for action in super().hinted() if action.id not in away]

    def words(self) -> dict[str, str]:
        """Name the sides in the footer, and say why `w` does nothing yet."""
        opened, file, worked = self.walk.opened, self.walk.file, self.walk.worked()
        if opened is None or file is None or worked is None:
            return {}
        left, right = self.walk.names(file, worked)
        whole = self.walk.whose(file.left)
        still = undecided(opened, self.walk.picks)
        write = "write"
        if len(still) == 1 and worked.open:
            write = f"(write: {len(worked.open)} left)"
        elif still:
            write = f"(write: {plural(len(still), 'file')} left)"
        return {
            "take-left": left,
            "take-right": right,
            "write": write,
            "whole-left": f"all {whole}",
            "whole-right": f"all {right}",
        }

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the conflict and its command."""
        words = self._read.words if self._read else "--prefer local or remote"
        return "A conflict", (), f"lace resolve {self.conflict_id[:ID_SHOWN]} {words}"

    # Moving

    def _step(self, by: int) -> None:
        self.walk.step(by)
        self._draw()

    def action_next_region(self) -> None:
        """Go to the next region, or file."""
        self._step(1)

    def action_previous_region(self) -> None:
        """Go to the region before, or file."""
        self._step(-1)

    def _other(self, by: int) -> None:
        ids = self._ids
        if not ids:  # it is being read for the first time
            return
        if len(ids) < 2 or self.conflict_id not in ids:
            self.notify("There is no other open conflict.", markup=False)
            return
        self._begin_with(ids[(ids.index(self.conflict_id) + by) % len(ids)])

    def _begin_with(self, conflict_id: str) -> None:
        self.conflict_id, self._read, self.walk, self._version = conflict_id, None, Walk(), None
        self._only, self.keeping = "", Keeping()
        self.lace.read_place(self)

    def action_next_conflict(self) -> None:
        """Go to the next conflict; what was chosen here stays."""
        self._other(1)

    def action_previous_conflict(self) -> None:
        """Go to the conflict before."""
        self._other(-1)

    def action_base(self) -> None:
        """Show what was there before, or leave it out."""
        self._with_base = not self._with_base
        self._draw()

    def action_flip(self) -> None:
        """Show both sides, one, or the other; on a wide screen both are there anyway."""
        self._only = {"": "left", "left": "right", "right": ""}[self._only]
        self._draw()

    def _moving(self) -> list[Pane]:
        """Return the panes that the keys move: a result in which lines are still to be chosen stays at them."""
        worked, edited = self.walk.worked(), self.walk.pick.edited
        is_whole = edited is not None or (worked is not None and worked.is_decided)
        return [self.query_one(f"#{name}", Pane) for name in ("left", "right", *(["result"] if is_whole else []))]

    def action_scroll_lines(self, by: int) -> None:
        """Move both sides by some lines, and the result once it is whole."""
        for pane in self._moving():
            pane.scroll_relative(y=by, animate=False)

    def action_scroll_pages(self, by: int) -> None:
        """Move each of them by what is in sight of it."""
        for pane in self._moving():
            height = pane.size.height
            pane.scroll_relative(y=by * (height - _KEPT if height > 2 * _KEPT else max(1, height)), animate=False)
