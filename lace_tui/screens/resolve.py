"""Resolve: one conflict, both sides named by who, where and when, and the result before it is written (APP-4, LAZ-39).

Nothing is written while one chooses; choices are kept as a draft on disk, so that leaving costs nothing. `w` shows what
would be written, and another key agrees.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from lace_tui.actions import Scope
from lace_tui.cli.inert import inert, inert_lines
from lace_tui.screens.cards import Card, Decided, resolved_card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.editor import Editor
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, mark, plural
from lace_tui.screens.pane import Pane
from lace_tui.screens.place import Fitted, Place, bindings_of
from lace_tui.screens.sides import chosen, columns, command_of, facts, result_rows, text_rows, unified
from lace_tui.view import ID_SHOWN, ago
from lazy.conflicts import conflicts, side_words
from lazy.deciding import (
    Choice,
    Opened,
    OpenFile,
    Origin,
    Pick,
    Worked,
    decide,
    draft_text,
    open_conflict,
    undecided,
    worked_out,
)
from lazy.drafts import drop_draft, load_draft, save_draft
from lazy.queue import next_sync
from vault.errors import LaceError
from vault.names import Version
from vault.vault import Vault
from vault.work import Watch

__all__ = ["Resolve"]


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read.

    Args:
        opened: the conflict.
        picks: its draft.
        stale: paths whose draft no longer fits.
        ids: of all open conflicts.
        words: what `resolve --prefer` calls its sides.
    """

    opened: Opened
    picks: dict[str, Pick]
    stale: tuple[str, ...]
    ids: tuple[str, ...]
    words: str


class Resolve(Place):
    """One conflict, to be decided.

    Args:
        conflict_id: which.
    """

    SCOPE = Scope.RESOLVE
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.RESOLVE)

    DEFAULT_CSS = """
    Resolve #what { height: 1; padding: 0 1; }
    Resolve #sides { height: 1fr; }
    Resolve #result { height: 9; border: heavy $primary; }
    Resolve #said { height: 1; padding: 0 1; }
    Resolve.-narrow #nav { display: none; }
    Resolve.-narrow #right { display: none; }
    Resolve.-narrow #result { height: 5; }
    """

    def __init__(self, conflict_id: str) -> None:
        super().__init__()
        self.conflict_id = conflict_id
        self._read: _Read | None = None
        self._picks: dict[str, Pick] = {}
        self._file = 0
        self._region = 0
        self._version: Version | None = None
        self._with_base = True
        self._only = ""
        self._is_read = False
        self._saves = 0
        self._saved = 0
        self._saving = threading.Lock()

    def body(self) -> ComposeResult:
        """Lay out both sides and the result."""
        yield Fitted("what")
        with Horizontal(id="sides"):
            yield Pane("left")
            yield Pane("right")
        yield Pane("result")
        yield Fitted("said")

    def come_back(self) -> None:
        """Read once; what was chosen since stays."""
        if not self._is_read:
            self._is_read = True
            self.lace.read_place(self)

    def read(self, vault: Vault) -> _Read:
        """Read the conflict, its contents and what was chosen before; compares its lines too."""
        opened = open_conflict(vault, self.conflict_id)
        picks, stale = load_draft(vault, opened)
        for file in opened.files:
            worked_out(file, picks.get(file.path, Pick()))
        ids = sorted((conflict.id for conflict in conflicts(vault)), key=lambda one: one in self.lace.aside)
        return _Read(opened, picks, stale, tuple(ids), side_words(opened.conflict, vault.node.text))

    def show(self, value: _Read) -> None:
        """Show the conflict; begin at the first region that nobody chose for."""
        keys = {file.path: file.key for file in self._opened.files} if self._opened else {}
        same = {file.path for file in value.opened.files if keys.get(file.path) == file.key}
        here = {path: pick for path, pick in self._picks.items() if path in same}  # a draft may still be on its way
        self._read, self._picks = value, dict(value.picks) | here
        self._version = self._version or value.opened.version
        still = undecided(value.opened, self._picks)
        paths = [file.path for file in value.opened.files]
        self._file = paths.index(still[0]) if still else 0
        self._region = 0
        if value.stale:
            self.notify(f"{plural(len(value.stale), 'file')} changed since you chose; choose again.", markup=False)
        self._to_open()
        self._draw()

    def on_resize(self) -> None:
        """Fold the lines anew."""
        self.call_after_refresh(self._draw)

    # What is shown

    @property
    def _opened(self) -> Opened | None:
        return self._read.opened if self._read else None

    @property
    def file(self) -> OpenFile | None:
        """The file that is shown, if any is in conflict."""
        files = self._opened.files if self._opened else ()
        return files[self._file] if self._file < len(files) else None

    @property
    def pick(self) -> Pick:
        """What was chosen for it."""
        return self._picks.get(self.file.path, Pick()) if self.file else Pick()

    def _worked(self) -> Worked | None:
        return worked_out(self.file, self.pick) if self.file else None

    def _whose(self, number: int) -> str:
        origin = self._opened.sides[number] if self._opened else None
        return "" if origin is None else "yours" if origin.is_mine else f"{inert(origin.name)}'s"

    def _names(self, worked: Worked) -> tuple[str, str]:
        return (self._whose(0) if worked.step == 1 else "so far", self._whose(worked.right))

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
        opened, file, worked = self._opened, self.file, self._worked()
        if opened is None or not self.is_mounted:
            return
        left, right, result = (self.query_one(f"#{name}", Pane) for name in ("left", "right", "result"))
        wide = self.has_class("-wide")
        if file is None or worked is None:
            self._draw_merging(opened, left, right, result)
        else:
            room = left.size.width - 6 if wide else left.size.width // 2 - 5
            one = self._side_title(opened.sides[0], room) if worked.step == 1 else "RESULT SO FAR"
            other = self._side_title(opened.sides[worked.right], room)
            if not worked.pieces:
                self._draw_whole(file, worked, (one, other), left, right)
            elif wide:
                width = left.scrollable_content_region.width
                shown = columns(worked, self._region, self._names(worked), with_base=self._with_base, width=width)
                for pane, title, rows in zip((left, right), (one, other), shown.rows, strict=True):
                    pane.show(title, rows, shown.starts.get(self._region))
            else:
                width = left.scrollable_content_region.width
                shown = unified(
                    worked, self._region, self._names(worked), with_base=self._with_base, width=width, only=self._only
                )
                title = {"": f"< {one}  > {other}", "left": f"< {one}", "right": f"> {other}"}[self._only]
                left.show(title, shown.rows[0], shown.starts.get(self._region))
            self._draw_result(file, worked, result)
        self._draw_words(opened)
        self.show_footer()

    def _draw_merging(self, opened: Opened, left: Pane, right: Pane, result: Pane) -> None:
        rows = [mark(f"  {path}") for path in opened.others] or [mark("  nothing differs", QUIET)]
        left.show(self._side_title(opened.sides[0]), [mark("These differ, and merge by themselves:", STRONG), *rows])
        other = opened.sides[1] if len(opened.sides) > 1 else opened.sides[0]
        right.show(self._side_title(other), [mark("Nothing to choose here.", GOOD)])
        result.show("RESULT, not written yet", [mark("Both sides' work merged; w writes it.", GOOD)])

    def _draw_whole(self, file: OpenFile, worked: Worked, titles: tuple[str, str], left: Pane, right: Pane) -> None:
        for pane, title, number in ((left, titles[0], 0), (right, titles[1], worked.right)):
            rows = facts(file, file.sides[number], pane.scrollable_content_region.width)
            base = [mark("  before:", QUIET), *facts(file, file.base, pane.scrollable_content_region.width)]
            if not self.has_class("-wide") and pane is left:
                other = facts(file, file.sides[worked.right], pane.scrollable_content_region.width)
                rows = [mark(titles[0], STRONG), *rows, mark(titles[1], STRONG), *other]
            pane.show(title, [*rows, *(base if self._with_base and file.base else [])])

    def _draw_result(self, file: OpenFile, worked: Worked, result: Pane) -> None:
        width = result.scrollable_content_region.width
        title = "RESULT, not written yet"
        pick = self.pick
        if pick.edited is not None:
            word = "as edited" if worked.is_decided else "as edited, markers are left"
            result.show(f"{title}: {word}", text_rows(pick.edited, width), 0)
        elif pick.side is not None:
            rows = facts(file, file.sides[pick.side], width)
            if worked.result is not None:
                rows = text_rows(worked.result, width)
            result.show(f"{title}: the whole file is {self._whose(pick.side)}", rows, 0)
        elif worked.pieces:
            shown = result_rows(worked, self._region, self._names(worked), width)
            result.show(title, shown.rows[0], shown.starts.get(self._region))
        else:
            names = "   ".join(f"{key} {name} whole" for key, name in zip("LR", self._names(worked), strict=True))
            result.show(title, [mark(f"?  undecided:  {names}   e edit", BAD)])

    def _draw_words(self, opened: Opened) -> None:
        file, worked = self.file, self._worked()
        ids = self._read.ids if self._read else ()
        still = undecided(opened, self._picks)
        what = opened.conflict.what
        parts = [(0, mark(f"Resolve {file.path if file else what}", STRONG))]
        if file:
            parts.append((6, mark(what, QUIET)))
        if opened.conflict.id in ids:
            parts.append((3, mark(f"conflict {ids.index(opened.conflict.id) + 1} of {len(ids)}")))
        if len(opened.files) > 1:
            parts.append((2, mark(f"file {self._file + 1} of {len(opened.files)}")))
        if worked and worked.pieces and self._region:
            regions = [piece.number for piece in worked.pieces if piece.number]
            parts.append((4, mark(f"region {regions.index(self._region) + 1} of {len(regions)}")))
        if worked and len(opened.sides) > 2:
            parts.append((5, mark(f"step {worked.step} of {len(opened.sides) - 1}")))
        if worked and worked.open:
            parts.append((1, mark(f"! undecided: {len(worked.open)}", BAD)))
        elif still:
            parts.append((1, mark(f"! undecided: {plural(len(still), 'file')}", BAD)))
        else:
            parts.append((1, mark("= decided: w writes it", GOOD)))
        self.query_one("#what", Fitted).show(parts)
        said = "Every side stays readable in history, whatever you choose."
        if opened.others:
            said += f" {plural(len(opened.others), 'more path')} merged by itself."
        self.query_one("#said", Fitted).show([(0, mark(said, QUIET))])

    def words(self) -> dict[str, str]:
        """Name the sides in the footer, and say why `w` does nothing yet."""
        opened, worked = self._opened, self._worked()
        if opened is None or worked is None:
            return {}
        left, right = self._names(worked)
        still = undecided(opened, self._picks)
        write = "write"
        if len(still) == 1 and worked.open:
            write = f"(write: {len(worked.open)} left)"
        elif still:
            write = f"(write: {plural(len(still), 'file')} left)"
        return {"take-left": left, "take-right": right, "write": write, "whole-left": f"all {left}"}

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the conflict and its command."""
        words = self._read.words if self._read else "local|remote"
        return "A conflict", (), f"lace resolve {self.conflict_id[:ID_SHOWN]} --prefer {words}"

    # Moving

    def _to_open(self) -> None:
        """Go to the first open region of the file, else to its first."""
        worked = self._worked()
        numbers = [piece.number for piece in worked.pieces if piece.number] if worked else []
        if worked and worked.open:
            self._region = worked.open[0]
        elif self._region not in numbers:
            self._region = numbers[0] if numbers else 0

    def _step(self, by: int) -> None:
        opened, worked = self._opened, self._worked()
        if opened is None or worked is None:
            return
        numbers = [piece.number for piece in worked.pieces if piece.number]
        at = numbers.index(self._region) + by if self._region in numbers else len(numbers) if by > 0 else -1
        if 0 <= at < len(numbers):
            self._region = numbers[at]
        elif len(opened.files) > 1:
            self._show_file(self._file + by, at_end=by < 0)
        self._draw()

    def _show_file(self, number: int, *, at_end: bool = False) -> None:
        count = len(self._opened.files) if self._opened else 0
        self._file = number % max(1, count)
        worked = self._worked()
        numbers = [piece.number for piece in worked.pieces if piece.number] if worked else []
        self._region = (numbers[-1] if at_end else numbers[0]) if numbers else 0

    def action_next_region(self) -> None:
        """Go to the next region, or file."""
        self._step(1)

    def action_previous_region(self) -> None:
        """Go to the region before, or file."""
        self._step(-1)

    def _other(self, by: int) -> None:
        ids = self._read.ids if self._read else ()
        if len(ids) < 2 or self.conflict_id not in ids:
            self.notify("There is no other open conflict.", markup=False)
            return
        self._begin_with(ids[(ids.index(self.conflict_id) + by) % len(ids)])

    def _begin_with(self, conflict_id: str) -> None:
        self.conflict_id, self._read, self._picks, self._version = conflict_id, None, {}, None
        self._only = ""
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

    def _scroll(self, by: int) -> None:
        for name in ("left", "right"):
            self.query_one(f"#{name}", Pane).scroll_relative(y=by, animate=False)

    def action_scroll_lines(self, by: int) -> None:
        """Move both sides by some lines."""
        self._scroll(by)

    def action_scroll_pages(self, by: int) -> None:
        """Move both sides by what is in sight."""
        self._scroll(by * max(1, self.query_one("#left").size.height - 2))

    # Choosing

    def _set(self, pick: Pick) -> None:
        if self.file is None:
            return
        self._picks[self.file.path] = pick
        self._keep()

    def _choose(self, choice: Choice | None) -> None:
        file, worked = self.file, self._worked()
        if file is None or worked is None:
            return
        if not file.has_lines or not self._region:
            whole = {"left": 0, "right": worked.right}.get(choice or "")
            if choice is None:
                self._set(Pick())
            elif whole is None:
                self.notify("Its lines cannot be joined: take one side, L or R, or edit it.", markup=False)
            else:
                self._set(Pick(side=whole))
            self._draw()
            return
        kept = {n: c for n, c in self.pick.regions.items() if n <= max(p.number for p in worked.pieces)}
        self._set(Pick(regions=kept).with_region(self._region, choice))
        after = self._worked()
        if choice is not None and after is not None and after.open:
            later = [number for number in after.open if number > self._region]
            self._region = later[0] if later else after.open[0]
        self._draw()

    def action_take_left(self) -> None:
        """Take the left side's lines."""
        self._choose("left")

    def action_take_right(self) -> None:
        """Take the right side's lines."""
        self._choose("right")

    def action_take_both(self) -> None:
        """Take both, left first."""
        self._choose("both")

    def action_take_swapped(self) -> None:
        """Take both, right first."""
        self._choose("swapped")

    def action_undecide(self) -> None:
        """Take the choice away; a choice for the whole file first."""
        if self.pick.side is not None or self.pick.edited is not None:
            self._set(Pick())
            self._to_open()
            self._draw()
        else:
            self._choose(None)

    def _whole(self, number: int) -> None:
        self._set(Pick(side=number))
        self._draw()

    def action_whole_left(self) -> None:
        """Take the whole file from the left side."""
        self._whole(0)

    def action_whole_right(self) -> None:
        """Take the whole file from the right side."""
        worked = self._worked()
        self._whole(worked.right if worked else 1)

    # Editing

    def _editable(self) -> bytes | None:
        file = self.file
        opened = self._opened
        if file is None or opened is None:
            return None
        if file.has_lines or self.pick.edited is not None:
            return draft_text(file, self.pick, [origin.name for origin in opened.sides])
        text = next((side.text for side in file.sides if side is not None and side.text is not None), None)
        if text is None:
            self.notify("This is no text of at most 2 MiB: take one side, L or R.", markup=False)
        return text

    def action_edit_here(self) -> None:
        """Edit the result in the app."""
        content = self._editable()
        if content is None or self.file is None:
            return
        text = content.decode("utf-8", "replace")
        if inert_lines(text.replace("\t", " ")) != text.replace("\t", " ").split("\n"):
            self.notify("It holds characters that could drive this terminal: edit it with E.", markup=False)
            return

        def edited(new: str | None) -> None:
            if new is not None and new != text:
                self._set(Pick(edited=new.encode()))
                self._draw()

        self.app.push_screen(Editor(f"RESULT of {inert(self.file.path)}", text), edited)

    def action_edit_outside(self) -> None:
        """Edit the result in the person's own editor."""
        content = self._editable()
        if content is None or self.file is None:
            return
        try:
            new = self.lace.edit_outside(self.file.path, content)
        except LaceError as error:
            self.notify(f"{inert(error.message)} {error.hint}", severity="error", markup=False)
            return
        if new is not None and new != content:
            self._set(Pick(edited=new))
        self._draw()

    # Keeping and writing

    def _keep(self) -> None:
        """Keep the choices on disk, in the order in which they were made."""
        opened, picks = self._opened, dict(self._picks)
        if opened is None:
            return
        self._saves += 1
        number = self._saves

        def save(vault: Vault) -> None:
            with self._saving:
                if number > self._saved:
                    self._saved = number
                    save_draft(vault, opened, picks)

        self.lace.ask(save, lambda _: None, "draft")

    def action_leave(self) -> None:
        """Go back; the choices stay as a draft."""
        if self.lace.job is not None:
            self.lace.action_stop()
            return
        if any(not pick.is_empty for pick in self._picks.values()):
            self.notify("Your choices are kept as a draft.", markup=False)
        self.app.pop_screen()

    def action_name_version(self) -> None:
        """Ask for the version of the result."""
        text = "The result becomes a release of this version:"
        self.app.push_screen(Question("Version of the result", text, str(self._version or "")), self._named)

    def _named(self, text: str | None) -> None:
        if not text:
            return
        try:
            self._version = Version.parse(text)
        except LaceError as error:
            self.notify(f"{inert(error.message)} {error.hint}", severity="error", markup=False)

    def command(self) -> str:
        """Return the command that decides the same."""
        opened, version = self._opened, self._version
        return command_of(opened, self._picks, version) if opened and version else ""

    def action_write(self) -> None:
        """Show what would be written, and ask."""
        opened, version = self._opened, self._version
        if opened is None or version is None:
            return
        still = undecided(opened, self._picks)
        if still:
            names = ", ".join(inert(path) for path in still[:3])
            self.notify(
                f"Nothing is written yet: {names} {'is' if len(still) == 1 else 'are'} undecided.", markup=False
            )
            return
        resolved = f", marked as the decision on {opened.conflict.version}" if opened.conflict.version else ""
        lines = [mark(f"Your result becomes release {opened.conflict.desk} {version}{resolved}:")]
        lines += [mark(f"  {file.path}  ", STRONG) + mark(self._how(file), QUIET) for file in opened.files]
        if opened.others:
            lines.append(mark(f"  {plural(len(opened.others), 'more path')} merged by itself", QUIET))
        lines += [mark("Every side stays readable in history.", QUIET), mark(""), mark(self.command(), QUIET)]
        self.app.push_screen(PlanPage("Write the result?", lines), self._agreed)

    def _how(self, file: OpenFile) -> str:
        pick = self._picks.get(file.path, Pick())
        if pick.edited is not None:
            return "as edited"
        if pick.side is not None:
            return f"the whole of {self._whose(pick.side)}"
        names = self._names(worked_out(file, pick))
        words = [f"region {number}: {chosen(choice, names)}" for number, choice in sorted(pick.regions.items())]
        return ", ".join(words) or "merged by itself"

    def _agreed(self, is_agreed: bool | None) -> None:
        opened, version, picks = self._opened, self._version, dict(self._picks)
        if not is_agreed or opened is None or version is None:
            return

        def do(vault: Vault, watch: Watch) -> Decided:
            done = decide(vault, opened, picks, version, watch=watch)
            with self._saving:  # a draft that is still on its way would bring the old one back
                self._saved = self._saves
                drop_draft(vault, opened.conflict.id)
            ids = sorted((conflict.id for conflict in conflicts(vault)), key=lambda one: one in self.lace.aside)
            return Decided((done,), next_sync(vault), tuple(ids))

        self.lace.begin(f"Resolve {version}", do, self._written, self.command())

    def _written(self, decided: Decided) -> Card:
        left = decided.left
        if left:
            self.notify(f"Written. {plural(len(left), 'conflict')} left.", markup=False)
            if self.is_current:
                self._begin_with(left[0])
        elif self.is_current:
            self.app.pop_screen()
            self.lace.offer_sync(decided.following)
        return resolved_card(decided)
