"""The app: one screen so far, and the work behind it off the screen's thread (APP-1, APP-3, APP-5).

The screens show values and know no store. Whatever reads or writes the vault runs in a thread with a vault of its own,
started on the app so that no screen's end ends it, and posts one message back. Work looks at a token at every safe
point; `esc` sets it. Progress lies in one slot that a clock reads ten times a second, so a flood of it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.message import Message

from lace_tui.actions import ACTIONS, Scope, actions_of
from lace_tui.cli.inert import inert
from lace_tui.job import Job
from lace_tui.screens.cards import (
    Card,
    Trouble,
    failed_card,
    plan_lines,
    stored_card,
    sync_card,
    update_card,
    working_card,
)
from lace_tui.screens.dialogs import Page, PlanPage, help_lines
from lace_tui.screens.home import FirstRun, Home
from lace_tui.view import HomeView, Reach, look_at, read_home
from lazy.results import PlaceResult
from lazy.sync import sync
from lazy.update import Updated, update
from vault.errors import LaceError
from vault.history import Relation
from vault.surroundings import Surroundings
from vault.vault import NoVault, Vault

if TYPE_CHECKING:
    from textual.screen import Screen

__all__ = ["LaceApp"]

TICK = 0.1  # seconds between two looks at the progress
AGE = 30.0  # seconds after which "just now" is told anew
LOOK = 2.0  # seconds between two looks at the places


class LaceApp(App[None]):
    """lace on a terminal.

    Args:
        find: returns the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it; asked once, when there is a vault.
        here: name of the folder it was started in.
        monotonic: seconds of a clock that never goes back.
        look_every: seconds between two looks at the places; 0 looks only when the vault is read.
    """

    TITLE = "lace"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - declared so by its base
        (0, "-tiny"),
        (60, "-narrow"),
        (100, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), action.call.removeprefix("app."), action.title, id=action.id, show=False)
        for action in actions_of(Scope.APP)
    ]

    @dataclass
    class DidRead(Message):
        """The vault was read."""

        number: int
        view: HomeView

    @dataclass
    class DidLook(Message):
        """The places were looked at."""

        reach: dict[str, Reach]

    @dataclass
    class DidSync(Message):
        """A sync ended."""

        job: Job
        results: list[PlaceResult]

    @dataclass
    class DidPlan(Message):
        """An update was planned; nothing was changed."""

        job: Job
        plan: Updated

    @dataclass
    class DidUpdate(Message):
        """An update ended."""

        job: Job
        done: Updated

    @dataclass
    class DidFail(Message):
        """Work ended with an error; without a job it was a reading."""

        job: Job | None
        trouble: Trouble

    def __init__(
        self,
        find: Callable[[], Path | None],
        surroundings: Callable[[], Surroundings],
        *,
        here: str,
        monotonic: Callable[[], float],
        look_every: float = LOOK,
    ) -> None:
        super().__init__()
        self._find = find
        self._surroundings = surroundings
        self._here = here
        self._monotonic = monotonic
        self._look_every = look_every
        self._around: Surroundings | None = None
        self._folder: Path | None = None
        self._home: Home | None = None
        self._view: HomeView | None = None
        self._reach: dict[str, Reach] = {}
        self._card: Card | None = None
        self._is_looking = False
        self._readings = 0
        self.job: Job | None = None

    # Begin and end

    def on_mount(self) -> None:
        """Show what there is to show, and keep looking."""
        self.set_interval(TICK, self._show_progress)
        self.set_interval(AGE, self._refresh)
        if self._look_every:
            self.set_interval(self._look_every, self._look)
        self._begin()

    def _begin(self) -> None:
        self._folder = self._find()
        if self._folder is None:
            if not isinstance(self.screen, FirstRun):
                self.push_screen(FirstRun(self._here))
            return
        try:
            self._around = self._surroundings()
        except LaceError as error:
            self.notify(f"{inert(error.message)} {error.hint}", severity="error", markup=False)
            return
        self._home = Home()
        self.switch_screen(self._home) if isinstance(self.screen, FirstRun) else self.push_screen(self._home)
        self.call_after_refresh(self._read)

    async def action_quit(self) -> None:
        """Leave; what is running stops at its next safe point, and the process waits for that."""
        if self.job is not None:
            self.job.token.set()
        self.exit()

    # Work

    def _vault(self, job: Job | None = None) -> Vault:
        if self._folder is None or self._around is None:
            raise NoVault("There is no vault here any more.")
        around = self._around
        if job is not None:  # waiting for another process that holds the vault can be stopped too
            around = replace(around, sleep=job.patient(around.sleep))
        return Vault(self._folder, around)

    def _work(self, group: str, do: Callable[[], Message], job: Job | None = None) -> None:
        """Run something in a thread; whatever comes of it is one message."""

        def run() -> None:
            try:
                message = do()
            except LaceError as error:
                message = self.DidFail(job, Trouble.of(error))
            except Exception as error:  # the one place where a fault of the work ends
                summary = " ".join(str(error).split())
                message = self.DidFail(job, Trouble.bug(f"{type(error).__name__}: {summary}"))
            self.post_message(message)

        self.run_worker(run, group=group, thread=True, exit_on_error=False)

    def _start(self, what: str, do: Callable[[Job], Message]) -> None:
        job = Job(what, began=self._monotonic())
        self.job = job
        self._show_progress()
        if self._home is not None:
            self._home.show_working(True)
        self._work("job", lambda: do(job), job)

    def _end(self, job: Job | None) -> None:
        if job is not None and job is self.job:
            self.job = None
            if self._home is not None:
                self._home.show_working(False)

    def _show_progress(self) -> None:
        job = self.job
        if job is not None and self._home is not None and self._home.is_mounted:
            done, total, phase = job.progress
            self._home.show_card(working_card(job.what, done, total, phase, is_stopping=job.token.is_set), 0)

    def _may_start(self) -> bool:
        if self._home is None or self.screen is not self._home:
            return False
        if self.job is not None:
            self.notify(f"{self.job.what} is still running; esc stops it.", markup=False)
            return False
        return True

    def _read(self) -> None:
        self._readings += 1
        number = self._readings

        def do() -> Message:
            with self._vault() as vault:
                return self.DidRead(number, read_home(vault))

        self._work("read", do)

    def _look(self) -> None:
        view = self._view
        if view is None or self._is_looking:
            return
        self._is_looking = True
        self._work("look", lambda: self.DidLook({place.place.name: look_at(place.place) for place in view.places}))

    # What came of it

    def on_lace_app_did_read(self, message: DidRead) -> None:
        """Show the reading, unless a newer one was begun."""
        if message.number < self._readings:
            return
        self._view = message.view
        self._refresh()
        self._look()

    def on_lace_app_did_look(self, message: DidLook) -> None:
        """Show which places are there."""
        self._is_looking = False
        if message.reach != self._reach:
            self._reach = message.reach
            self._refresh()

    def on_lace_app_did_sync(self, message: DidSync) -> None:
        """Show what the sync did, and keep it."""
        self._keep(sync_card(message.results, self._monotonic() - message.job.began), message.job)

    def on_lace_app_did_plan(self, message: DidPlan) -> None:
        """Ask whether the update shall be done, when there is one."""
        self._end(message.job)
        plan = message.plan
        if plan.relation in {Relation.SAME, Relation.AHEAD}:
            self._keep(Card("Update: nothing to do", tuple(plan_lines(plan)), bool(plan.waiting)), None)
            return
        self._refresh()
        self.push_screen(PlanPage(plan_lines(plan)), self._decided)

    def on_lace_app_did_update(self, message: DidUpdate) -> None:
        """Show what the update did, and keep it."""
        self._keep(update_card(message.done), message.job)

    def on_lace_app_did_fail(self, message: DidFail) -> None:
        """Show what went wrong, and keep it."""
        if message.job is not None:
            self._keep(failed_card(f"{message.job.what}: ended early", message.trouble), message.job)
            return
        self._is_looking = False
        self._card = failed_card("The vault cannot be read", message.trouble)
        self._refresh()

    def _keep(self, card: Card, job: Job | None) -> None:
        self._card = replace(card, ended=self._now_iso())
        self._end(job)
        self._refresh()
        self._read()

    def _refresh(self) -> None:
        if self._home is None or not self._home.is_mounted:
            return
        now_ns = self._around.now_ns() if self._around is not None else 0
        if self._view is not None:
            self._view = replace(self._view, now_ns=now_ns)
            self._home.show(self._view, self._reach)
        card = self._card or (stored_card(self._view) if self._view else None)
        if card is not None and self.job is None:
            self._home.show_card(card, now_ns)

    def _now_iso(self) -> str:
        return self._around.tai().to_utc_iso() if self._around is not None else ""

    # Actions; what they are called, their keys and their commands stand in `actions`

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(Page("Help", help_lines()))

    def action_sync(self) -> None:
        """Sync the selected place or peer."""
        if not self._may_start() or self._home is None:
            return
        target = self._home.target
        if not target:
            self.notify("There is no place to sync with yet. Add one with: lace place add NAME DIR", markup=False)
            return

        def do(job: Job) -> Message:
            with self._vault(job) as vault:
                return self.DidSync(job, sync(vault, [target], watch=job.watch()))

        self._start(f"Sync: {inert(target)}", do)

    def action_update(self) -> None:
        """Plan an update, and ask."""
        if not self._may_start():
            return

        def do(job: Job) -> Message:
            with self._vault(job) as vault:
                return self.DidPlan(job, update(vault, dry_run=True, watch=job.watch()))

        self._start("Update: making the plan", do)

    def _decided(self, is_agreed: bool | None) -> None:
        if not is_agreed or not self._may_start():
            return

        def do(job: Job) -> Message:
            with self._vault(job) as vault:
                return self.DidUpdate(job, update(vault, watch=job.watch()))

        self._start("Update", do)

    def action_read(self) -> None:
        """Read the vault and look at the places again."""
        if self._home is None:
            self._begin()
        else:
            self._read()

    def action_stop(self) -> None:
        """Stop what is running, at its next safe point."""
        if self.job is not None:
            self.job.token.set()
            self._show_progress()

    def action_copy(self) -> None:
        """Copy the selected row's command."""
        command = self._home.row()[2] if self._home is not None and self.screen is self._home else ""
        if command:
            self.copy_to_clipboard(inert(command))
            self.notify(f"Copied: {inert(command)}", markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer the table's actions in the palette, each with its key and its command, and the themes."""
        for action in ACTIONS:
            if action.scope is Scope.APP and action.id not in {"palette", "next-panel", "previous-panel"}:
                extra = f"  ({action.shown.split()[0]}{', ' + action.cli if action.cli else ''})"
                yield SystemCommand(action.title, action.sentence + extra, getattr(self, f"action_{action.call}"))
        yield SystemCommand("Theme", "Choose other colours.", self.action_change_theme)
