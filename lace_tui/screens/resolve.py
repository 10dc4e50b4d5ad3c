"""Resolve: one conflict, both sides named by who, where and when, and the result before it is written (APP-4, LAZ-39).

Nothing is written while one chooses; choices are kept as a draft on disk, so that leaving costs nothing. `w` shows what
would be written, and another key agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import BindingType

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.view import CHOICES
from lace_tui.screens.cards import Card
from lace_tui.screens.comparing import can_edit, merging
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.editing import Editing
from lace_tui.screens.marks import BAD, QUIET, STRONG, mark
from lace_tui.screens.place import PlaceScreen
from lace_tui.screens.sides import FILES, chosen, command_of
from lace_tui.screens.written import Decided, resolved_card
from lace_tui.words.inert import inert
from lace_tui.words.written import late_lines
from lazy.conflicts import conflict_of, conflicts
from lazy.resolving.deciding import Choice, Pick, decide, undecided, worked_out
from lazy.resolving.draft_files import is_drafted
from lazy.resolving.opening import Opened, OpenFile
from lazy.resolving.resolve import Resolved, next_step
from vault.desks.paths import DOT_VAULT
from vault.errors import Cancelled
from vault.names import Version
from vault.plural import few, plural
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Resolve", "decide_each", "decisions", "open_conflict_page"]


_NAMED = 3  # paths in one message


def decisions(vault: Vault, done: Sequence[Resolved], left: Sequence[str] = ()) -> Decided:
    """Return decisions that were just made with what is to be done now; `left` are the conflicts still open."""
    late = [one for one in done if one.kept]
    told = [line for one in late for line in late_lines(vault, conflict_of(vault, one.conflict).desk, one.kept)]
    return Decided(tuple(done), next_step(vault, *done), tuple(left), tuple(told))


def decide_each(vault: Vault, ids: Sequence[str], decide: Callable[[str, Watch], Resolved], watch: Watch) -> Decided:
    """Decide conflicts one after the other, each for itself, and tell how many are decided.

    Raises:
        Cancelled: the person stopped it; what was decided until then counts.
    """
    done: list[Resolved] = []
    try:
        for one in ids:
            watch.progress(len(done), len(ids), "decide")
            watch.cancelled()
            done.append(decide(one, Watch(cancelled=watch.cancelled)))
    except Cancelled as error:
        of = plural(len(ids), "conflict")
        raise Cancelled(f"Stopped as you asked, {len(done)} of {of} decided; the others stay open.") from error
    return decisions(vault, done)


def _pages_of(place: PlaceScreen, conflict_id: str) -> Iterator[tuple[str, Resolve]]:
    """Yield the pages of a conflict that are open, each with the mode it is in."""
    for mode, screen in place.lace.pages():
        if isinstance(screen, Resolve) and screen.conflict_id == conflict_id and not screen.is_decided:
            yield mode, screen


def open_conflict_page(place: PlaceScreen, conflict_id: str) -> None:
    """Go to the page of a conflict, wherever it was opened; where it is open nowhere, open it here (APP-4)."""
    for mode, _ in _pages_of(place, conflict_id):
        place.app.switch_mode(mode)
        return
    place.app.push_screen(Resolve(conflict_id))


class Resolve(Editing):
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

    def come_back(self) -> None:
        """Read what is not known yet, and show what was lost while something else was in front.

        Where the conflict was decided meanwhile, go back to the list then.
        """
        self.call_later(self._go_on)  # what was typed on the page that lay over this one comes first
        if self._is_decided:
            return
        # By ] and [ two pages come to one conflict: either shows what was chosen on the other.
        self._is_read = self._is_read and not any(page is not self for _, page in _pages_of(self, self.conflict_id))
        super().come_back()

    def _go_on(self) -> None:
        if self.is_active and not self._show_lost() and self._is_decided:
            self.app.pop_screen()

    def end(self) -> None:
        """Go back to the list, as another command ended it meanwhile; later, where something else is in front."""
        if self._is_decided or self.lace.job is not None:  # what is written here says itself what comes next
            return
        self.notify("This conflict is open no more: nothing is left to choose in it.", markup=False)
        self._is_decided = True
        self._lose(self._edited())
        self._go_on()

    # Choosing

    def _choose(self, choice: Choice | None) -> None:
        self._unless_edited(lambda: self._take(choice))

    def _take(self, choice: Choice | None) -> None:
        file, worked = self.walk.file, self.walk.worked()
        if file is None or worked is None:
            return
        if not file.has_lines or not self.walk.region:
            whole = {"left": file.left, "right": worked.right}.get(choice or "")
            if choice is None:
                self._set(Pick())
            elif whole is None:
                way = "take one side, L or R, or edit it" if can_edit(file) else "take one side, L or R"
                self.notify(f"Its lines cannot be joined: {way}.", markup=False)
            else:
                self._set(Pick(side=whole))
            self._draw()
            return
        kept = {n: c for n, c in self.walk.pick.regions.items() if n <= max(p.number for p in worked.pieces)}
        self._set(Pick(regions=kept).with_region(self.walk.region, choice))
        after = self.walk.worked()
        if choice is not None and after is not None and after.open:
            later = [number for number in after.open if number > self.walk.region]
            self.walk.region = later[0] if later else after.open[0]
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
        if self.walk.pick.side is not None or self.walk.pick.edited is not None:
            self._unless_edited(self._undecide_whole)
        else:
            self._take(None)

    def _undecide_whole(self) -> None:
        self._set(Pick())
        self.walk.go_to_open()
        self._draw()

    def _whole(self, number: int) -> None:
        def take() -> None:
            self._set(Pick(side=number))
            self._draw()

        self._unless_edited(take)

    def action_whole_left(self) -> None:
        """Take the whole file from the left side."""
        self._whole(self.walk.file.left if self.walk.file else 0)

    def action_whole_right(self) -> None:
        """Take the whole file from the right side."""
        worked = self.walk.worked()
        self._whole(worked.right if worked else 1)

    # Keeping and writing

    def _would_be_lost(self) -> bool:
        """Tell whether choices that are in no draft would be lost now; says so, and only once."""
        keeping = self.keeping
        if not keeping.why or keeping.is_told or all(pick.is_empty for pick in self.walk.picks.values()):
            return False
        keeping.is_told = True
        self.keep_again()
        told = f"Your choices are not kept, and the same key leaves them. {inert(keeping.why)}"
        self.notify(told, severity="error", timeout=30, markup=False)
        return True

    @property
    def losing(self) -> str:
        """What leaving the app would lose, in a sentence: choices that are in no draft; empty where there are none."""
        opened = self.walk.opened
        if opened is None:
            return ""
        if self.keeping.is_behind and any(not pick.is_empty for pick in self.walk.picks.values()):
            return f"Your choices in {opened.conflict.what} are not kept. {inert(self.keeping.why)}".rstrip()
        paths = [inert(path) for path in self._only_here()]
        return f"What you wrote for {few(paths, _NAMED)} is in no draft any more: its page shows it." if paths else ""

    def _only_here(self) -> list[str]:
        """Return the paths of edited texts that nothing but this page has, as where another command decided it."""
        late, folder = [one.file.path for one in self._late], self.lace.folder
        if self._is_decided or folder is None:
            return late
        edited = (file for file, _ in self._edited())
        return late + [file.path for file in edited if not is_drafted(folder / DOT_VAULT, file.path, file.key)]

    def _other(self, by: int) -> None:
        if not self._would_be_lost():
            super()._other(by)

    def action_leave(self) -> None:
        """Go back; the choices stay as a draft."""
        if self.lace.job is not None:
            self.lace.action_stop()
        else:
            self.go_back()

    def go_back(self) -> None:
        """Go back; says that the choices are kept, and stays once where they are not."""
        if not self.is_active or self._would_be_lost():
            return
        if not self.keeping.why and any(not pick.is_empty for pick in self.walk.picks.values()):
            self.notify("Your choices are kept as a draft.", markup=False)
        super().go_back()

    def action_name_version(self) -> None:
        """Ask for the version of the result."""
        text = "The result becomes a release of this version:"
        asked = Question("Version of the result", text, str(self._version or ""), check=Version.parse)
        self.app.push_screen(asked, self._named)

    def _named(self, text: str | None) -> None:
        if text:
            self._version = Version.parse(text)
            self.keeping.name(self._version)
            self._keep()

    def command(self) -> str:
        """Return the command that decides the same."""
        opened, version = self.walk.opened, self._version
        return command_of(opened, self.walk.picks, version) if opened and version else ""

    def runnable(self) -> str:
        """Return the command that decides the same, once all is chosen and none of it was edited; else the choices."""
        is_open = self.walk.opened is None or bool(undecided(self.walk.opened, self.walk.picks))
        command = "" if is_open else self.command()
        return f"{CHOICES} --regions" if not command or command.endswith(FILES) else command

    def action_write(self) -> None:
        """Show what would be written, and ask."""
        opened, version = self.walk.opened, self._version
        if opened is None or version is None:
            return
        still = undecided(opened, self.walk.picks)
        if still:
            names = few([inert(path) for path in still], _NAMED)
            self.notify(
                f"Nothing is written yet: {names} {'is' if len(still) == 1 else 'are'} undecided.", markup=False
            )
            return
        if opened.unasked:
            names = few([inert(path) for path in opened.unasked], _NAMED)
            which = "them" if len(opened.unasked) > 1 else "it"
            told = f"only your folder has {names} so, and no side does. Commit {which}, then choose here."
            self.notify(f"Nothing is written yet: {told}", markup=False)
            return
        resolved = f", marked as the decision on {opened.conflict.version}" if opened.conflict.version else ""
        lines = [mark(f"Your result becomes release {opened.conflict.desk} {version}{resolved}:")]
        lines += [mark(f"  {file.path}  ", STRONG) + mark(self._how(file), QUIET) for file in opened.files]
        if opened.others:
            lines.append(mark(f"  {merging(len(opened.others))}", QUIET))
        if opened.own:
            own = few([inert(path) for path in opened.own], _NAMED)
            lines.append(mark(f"! Your friends get what only your folder has so, too: {own}", BAD))
        lines += [mark("Every side stays readable in history.", QUIET), mark(""), mark(self.command(), QUIET)]
        agreed = partial(
            self._agreed, opened, dict(self.walk.picks), version
        )  # to what is shown, whatever is read since
        self.app.push_screen(PlanPage("Write the result?", lines), agreed)

    def _how(self, file: OpenFile) -> str:
        pick = self.walk.picks.get(file.path, Pick())
        if pick.edited is not None:
            return "as edited"
        if pick.side is not None:
            return f"the whole of {self.walk.whose(pick.side)}"
        words = []
        for number, choice in sorted(pick.regions.items()):
            before = {n: c for n, c in pick.regions.items() if n < number}
            names = self.walk.names(file, worked_out(file, Pick(regions=before)))  # of the step in which it is
            words.append(f"region {number}: {chosen(choice, names)}")
        return ", ".join(words) or "merged by itself"

    def _agreed(self, opened: Opened, picks: dict[str, Pick], version: Version, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        keeping, command = self.keeping, command_of(opened, picks, version)

        def do(vault: Vault, watch: Watch) -> Decided:
            done = keeping.end(vault, decide(vault, opened, picks, version, watch=watch))
            ids = sorted((conflict.id for conflict in conflicts(vault)), key=lambda one: one in self.lace.aside)
            return decisions(vault, [done], ids)

        self.lace.begin(f"Resolve {version}", do, self._written, command)

    def _written(self, decided: Decided) -> Card:
        left = decided.left
        if left:
            self.notify(f"Written. {plural(len(left), 'conflict')} left.", markup=False)
        if self.conflict_id not in {one.conflict for one in decided.done}:
            return resolved_card(decided, self.lace.taste.keys)  # they went on to another one meanwhile
        if not self.is_active:
            self._is_decided = True
        elif left:
            self._begin_with(left[0])
        else:
            self.app.pop_screen()
            if not decided.late:
                self.lace.offer_sync(decided.following)
        return resolved_card(decided, self.lace.taste.keys)
