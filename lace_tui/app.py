"""The app: eight places, and the work behind them off the screen's thread (APP-1, APP-3, APP-5).

The places show values and know no store. Whatever reads or writes the vault runs in a thread with a vault of its own,
started on the app so that no screen's end ends it, and posts one message back. Work looks at a token at every safe
point; `esc` sets it. Progress lies in one slot that a clock reads ten times a second, so a flood of it costs nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual._styles_cache import StylesCache
from textual.app import App, SuspendNotSupported, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.message import Message

from lace_tui.actions import ACTIONS, PLACES, Scope, action_named
from lace_tui.cli.inert import inert
from lace_tui.messages import DidAsk, DidFail, DidLook, DidRead, DidWork
from lace_tui.screens.cards import Card, Trouble, failed_card, stored_card, working_card, working_parts
from lace_tui.screens.dialogs import Offer, Page, Question
from lace_tui.screens.home import Home
from lace_tui.screens.marks import GOOD, QUIET, mark
from lace_tui.screens.place import Place, bindings_of
from lace_tui.taste import Taste
from lace_tui.themes import THEMES
from vault.errors import LaceError

if TYPE_CHECKING:
    from textual.content import Content
    from textual.screen import Screen

    from lace_tui.job import Job
    from lace_tui.view import HomeView, Reach
    from vault.surroundings import Surroundings
    from vault.vault import Vault
    from vault.work import Watch

__all__ = ["LaceApp"]

TICK = 0.1  # seconds between two looks at the progress
AGE = 30.0  # seconds after which "just now" is told anew
LOOK = 2.0  # seconds between two looks at the places
LOGGED = 500  # lines of activity that are kept
_LOCKED = "key-locked"  # the code of a key whose passphrase is absent or wrong


def _screen(place: Scope) -> Place:
    """Return a new screen of a place; all but the first are loaded when somebody goes there."""
    if place is Scope.HOME:
        return Home()
    from lace_tui.places import SCREENS  # noqa: PLC0415 - a quarter of the time until the first paint

    return SCREENS[place]()


class LaceApp(App[None]):
    """lace on a terminal.

    Args:
        find: returns the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it; asked once, when there is a vault.
        here: name of the folder it was started in.
        called: what the person is probably called.
        monotonic: seconds of a clock that never goes back.
        look_every: seconds between two looks at the places; 0 looks only when the vault is read.
        taste: theme and keys.
        edit: opens a file in the person's own editor and returns when they are done; None where there is none.
        config: where the person's taste is kept; None keeps nothing.
    """

    TITLE = "lace"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - declared so by its base
        (0, "-tiny"),
        (60, "-narrow"),
        (100, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-tall"), (28, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.APP)
    MODES = {str(place): partial(_screen, place) for place in PLACES}  # noqa: RUF012 - declared so by its base

    def __init__(
        self,
        find: Callable[[], Path | None],
        surroundings: Callable[[], Surroundings],
        *,
        here: str,
        called: str = "",
        monotonic: Callable[[], float],
        look_every: float = LOOK,
        taste: Taste | None = None,
        config: Path | None = None,
        edit: Callable[[Path], None] | None = None,
    ) -> None:
        self._folder = find()
        if self._folder is not None:  # its first screen is Home: an empty one before it would cost a frame
            self.DEFAULT_MODE = str(Scope.HOME)  # type: ignore[misc]
        super().__init__()
        self._find = find
        self._surroundings = surroundings
        self._here = here
        self._called = called
        self.wants_demo = False
        self.monotonic = monotonic
        self._look_every = look_every
        self.taste = taste or Taste()
        self.config = config
        self._edit = edit
        self._around: Surroundings | None = None
        self._asking = threading.Lock()
        self._passphrase: bytes | None = None
        self._locked: list[DidFail] = []  # what waits for a passphrase
        self.aside: set[str] = set()  # ids of conflicts that were set aside in this sitting
        self.view: HomeView | None = None
        self.reach: dict[str, Reach] = {}
        self.card: Card | None = None
        self._is_looking = False
        self._readings = 0
        self._activity: list[str] = []
        self.job: Job | None = None
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self.taste.textual_theme
        self.set_keymap(self.taste.keys)

    # Begin and end

    def on_mount(self) -> None:
        """Show what there is to show, and keep looking."""
        self.set_interval(TICK, self._show_progress)
        self.set_interval(AGE, self.refresh_places)
        if self._look_every:
            self.set_interval(self._look_every, self._look)
        for remark in self.taste.remarks:
            self.notify(inert(remark), severity="warning", markup=False)
        self._begin()

    def _begin(self) -> None:
        self._folder = self._find()
        if self._folder is None:
            from lace_tui.screens.first import FirstRun  # noqa: PLC0415 - the first time only

            if not isinstance(self.screen, FirstRun):
                self.push_screen(FirstRun(self._here, self._called))
            return
        if self.current_mode != Scope.HOME:
            self.pop_screen()  # the first run is over
            self.switch_mode(str(Scope.HOME))
        self.call_after_refresh(self.read)

    def pop_screen(self) -> AwaitComplete:
        """Go back by a screen, and let go of what it drew."""
        # Textual remembers a colour by the widget that asked, and with it all its lines: half a megabyte a page.
        self.call_after_refresh(lambda: StylesCache.get_inner_outer.cache_clear())  # noqa: PLW0108 - it has no signature
        return super().pop_screen()

    async def action_quit(self) -> None:
        """Leave; what is running stops at its next safe point, and the process waits for that."""
        if self.job is not None:
            self.job.token.set()
        self.exit()

    # What screens ask for

    @property
    def now_ns(self) -> int:
        """The wall clock, nanoseconds since 1970 UTC, for display; 0 while there is no vault."""
        return self._around.now_ns() if self._around is not None else 0

    @property
    def folder(self) -> Path | None:
        """The shared folder, or None while there is no vault."""
        return self._folder

    @property
    def can_start(self) -> bool:
        """Whether work may begin; says why not."""
        if self._folder is None:
            return False
        if self.job is not None:
            self.notify(f"{self.job.what} is still running; esc stops it.", markup=False)
            return False
        return True

    def ask(
        self, do: Callable[[Vault], Any], then: Callable[[Any], None], group: str = "ask", *, asked: str = ""
    ) -> None:
        """Read something in a thread, with a vault of its own, and give it back on the screen's thread.

        Args:
            do: reads; must not write.
            then: called with what it returned, unless that failed, which is told.
            group: of two readings of one group only the newer one's answer is given.
            asked: what a person asked for, if they did: then a failure is an answer, and no card stays for it.
        """

        def work() -> Message:
            with self._vault() as vault:
                return DidAsk(then, do(vault))

        self._work(group, work, exclusive=True, asked=asked)

    def begin(
        self, what: str, do: Callable[[Vault, Watch], Any], then: Callable[[Any], Card | None], command: str = ""
    ) -> bool:
        """Begin work that may write, one at a time; it can be stopped, and goes on when its screen is left.

        Args:
            what: for people, such as "Sync: stick".
            do: does it, in a thread.
            then: called with what it returned, on the screen's thread; a card it returns is shown and stays.
            command: the command with the same result, for the activity page.

        Returns:
            Whether it was begun.
        """
        if not self.can_start:
            return False
        from lace_tui.job import Job  # noqa: PLC0415 - no part of the first frame

        job = Job(what)
        self.job = job
        if command:
            self.note(command)

        def work() -> Message:
            with self._vault(job) as vault:
                return DidWork(job, then, do(vault, job.watch()))

        self._show_progress()
        self._tell_working(is_working=True)
        self._work("job", work, job=job)
        return True

    def note(self, command: str) -> None:
        """Write a command down on the activity page."""
        self._activity = [*self._activity, command][-LOGGED:]

    def keep(self, card: Card) -> None:
        """Show a card on Home until the next one."""
        self.card = replace(card, ended=self._now_iso())
        self.refresh_places()

    def make_vault(self, do: Callable[[Path, Surroundings], Vault], command: str) -> None:
        """Make a vault in the folder it was started in, and go Home.

        Args:
            do: makes it, in a thread.
            command: the command with the same result.
        """
        self.note(command)

        def work() -> Message:
            with do(Path(self._here), self._world()):
                return DidAsk(lambda _: self._begin(), None)

        self._work("begin", work)

    def offer_sync(self, following: str) -> None:
        """Offer a sync once everything is decided; the place that is here first.

        Args:
            following: the command that lets friends know of it; empty when they need none.
        """
        if not following.startswith("lace sync "):
            said = f"Next: {following}" if following else "Your friends have nothing to learn of it."
            self.notify(f"0 conflicts. {said}", title="All is decided", markup=False)
            return
        names = [place.place.name for place in self.view.places] if self.view else []
        here = [name for name in names if (seen := self.reach.get(name)) is not None and seen.is_here]
        target = next(iter(here), following.removeprefix("lace sync "))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self.switch_mode(str(Scope.HOME))
                if isinstance(home := self._shown(Scope.HOME), Home):
                    home.sync_with(target)

        lines = [
            mark("0 conflicts. What you decided is new to your friends.", GOOD),
            mark(f"Press s to sync {target} now."),
            mark(f"lace sync {target}", QUIET),
        ]
        self.push_screen(Offer("All is decided", lines), decided)

    def edit_outside(self, path: str, content: bytes) -> bytes | None:
        """Let the person edit a text in their own editor; None when nothing came of it.

        Raises:
            EditorFailed: the editor cannot be started, or ended with a failure.
            NotWritable, DiskFull: the text cannot be handed over.
        """
        from vault.desks.diff import MAX_TEXT_BYTES  # noqa: PLC0415 - whoever edits can wait for it
        from vault.files import read_bounded, write_atomic  # noqa: PLC0415
        from vault.vault import DOT_VAULT  # noqa: PLC0415

        if self._edit is None or self._folder is None:
            self.notify("No editor is known: set EDITOR before you open lace, or edit here with e.", markup=False)
            return None
        draft = self._folder / DOT_VAULT / f"edit-{Path(path).name[-64:]}"
        write_atomic(draft, content)
        try:
            with self.suspend():
                self._edit(draft)
            return read_bounded(draft, MAX_TEXT_BYTES)
        except SuspendNotSupported:
            self.notify("This terminal cannot be lent to an editor; edit here with e.", markup=False)
            return None
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()

    # Threads

    def _world(self) -> Surroundings:
        """Return the world as the vault sees it; asked by the first thread that needs it, so no frame waits for it."""
        with self._asking:
            if self._around is None:
                self._around = self._surroundings()
            if self._passphrase is None:
                return self._around
            given = self._passphrase
        return replace(self._around, passphrase=lambda: given)

    def _vault(self, job: Job | None = None) -> Vault:
        from vault.vault import NoVault, Vault  # noqa: PLC0415 - no part of the first frame

        if self._folder is None:
            raise NoVault("There is no vault here any more.")
        around = self._world()
        if job is not None:  # waiting for another process that holds the vault can be stopped too
            around = replace(around, sleep=job.patient(around.sleep))
        return Vault(self._folder, around)

    def _work(
        self,
        group: str,
        do: Callable[[], Message],
        *,
        job: Job | None = None,
        exclusive: bool = False,
        asked: str = "",
    ) -> None:
        """Run something in a thread; whatever comes of it is one message."""
        from textual.worker import get_current_worker  # noqa: PLC0415 - known inside the thread only

        def run() -> None:
            try:
                message = do()
            except LaceError as error:
                again = (
                    (lambda: self._work(group, do, job=job, exclusive=exclusive, asked=asked))
                    if (error.code == _LOCKED and not (job is not None and job.token.is_set))
                    else None
                )
                message = DidFail(job, Trouble.of(error), asked, again)
            except Exception as error:  # the one place where a fault of the work ends
                summary = " ".join(str(error).split())
                message = DidFail(job, Trouble.bug(f"{type(error).__name__}: {summary}"), asked)
            if job is not None or not get_current_worker().is_cancelled:
                self.post_message(message)

        self.run_worker(run, group=group, thread=True, exit_on_error=False, exclusive=exclusive)

    def _end(self, job: Job | None) -> None:
        if job is not None and job is self.job:
            self.job = None
            self._tell_working(is_working=False)

    def _tell_working(self, *, is_working: bool) -> None:
        if isinstance(home := self._shown(Scope.HOME), Home):
            home.show_working(is_working)
        if isinstance(self.screen, Place):
            self.screen.show_footer()
            self.screen.show_head()

    def _shown(self, place: Scope) -> Place | None:
        """Return the screen of a place if it was ever shown."""
        stack = self._screen_stacks.get(str(place), [])
        return next((screen for screen in stack if isinstance(screen, Place)), None)

    def _show_progress(self) -> None:
        job = self.job
        home = self._shown(Scope.HOME)
        if job is not None and isinstance(home, Home) and home.is_mounted:
            home.show_card(self.progress_card(job), 0)
        if job is not None and isinstance(self.screen, Place) and self.screen.is_mounted:
            self.screen.show_head()

    def working_parts(self) -> list[tuple[int, Content]]:
        """Return work under way for a header; nothing while there is none."""
        job = self.job
        if job is None:
            return []
        return working_parts(job.what, job.far(self.monotonic()))

    def progress_card(self, job: Job) -> Card:
        """Return the card of work under way."""
        return working_card(job.what, job.far(self.monotonic()))

    def read(self) -> None:
        """Read the vault again, for Home and for the place that is shown."""
        self._readings += 1
        number = self._readings

        def do() -> Message:
            from lace_tui.reading import read_home  # noqa: PLC0415 - the floors below are loaded behind the first frame

            with self._vault() as vault:
                return DidRead(number, read_home(vault))

        self._work("read", do)

    def read_place(self, place: Place) -> None:
        """Read what a place shows."""
        if self._folder is not None and place.SCOPE is not Scope.HOME:
            self.ask(place.read, lambda value: place.show(value) if place.is_mounted else None, str(place.SCOPE))

    def _warm(self) -> Message:
        """Load the other places and what Home does, so that the first key does not wait for them."""
        import lace_tui.deeds  # noqa: PLC0415
        import lace_tui.places  # noqa: PLC0415, F401

        return DidAsk(lambda _: None, None)

    def _look(self) -> None:
        view = self.view
        if view is None or self._is_looking:
            return
        self._is_looking = True

        def look() -> Message:
            from lace_tui.reading import look_at  # noqa: PLC0415 - loaded by the reading before

            return DidLook({place.place.name: look_at(place.place) for place in view.places})

        self._work("look", look)

    # What came of it

    def on_did_read(self, message: DidRead) -> None:
        """Show the reading, unless a newer one was begun."""
        if message.number < self._readings:
            return
        if self.view is None:
            self._work("warm", self._warm)
        self.view = message.view
        self.refresh_places()
        self._look()

    def on_did_look(self, message: DidLook) -> None:
        """Show which places are there."""
        self._is_looking = False
        if message.reach != self.reach:
            self.reach = message.reach
            self.refresh_places()

    def on_did_ask(self, message: DidAsk) -> None:
        """Give a screen what it asked for."""
        message.then(message.value)

    def on_did_work(self, message: DidWork) -> None:
        """Show what the work did, and keep it."""
        self._end(message.job)
        card = message.then(message.value)
        self._after(card)

    def on_did_fail(self, message: DidFail) -> None:
        """Show what went wrong, and keep it; a key that needs a passphrase is opened first."""
        if message.again is not None:
            self._unlock(message)
            return
        if message.job is not None:
            self._end(message.job)
            card = failed_card(f"{message.job.what}: ended early", message.trouble)
            self._after(card)
        elif message.asked:
            card = failed_card(message.asked, message.trouble)
        else:
            self._is_looking = False
            card = failed_card("The vault cannot be read" if self._folder else "Not begun", message.trouble)
            self.card = card
            self.refresh_places()
        if not isinstance(self.screen, Home) or message.asked:
            sentence = f"{message.trouble.message} ({message.trouble.code}) {message.trouble.hint}"
            self.notify(inert(sentence), title=inert(card.title), severity="error", timeout=30, markup=False)

    def _unlock(self, message: DidFail) -> None:
        """Ask for the passphrase of the key, and do again what needed it; work waits meanwhile."""
        self._locked.append(message)
        if len(self._locked) > 1:  # asked already
            return

        def given(text: str | None) -> None:
            waiting, self._locked = self._locked, []
            if text is not None:
                self._passphrase = text.encode()
            for one in waiting:
                if text is not None and one.again is not None:
                    one.again()
                else:
                    self.post_message(replace(one, again=None))

        sentence = message.trouble.message if self._passphrase is not None else "Your key is protected."
        text = f"{sentence} It is opened for this sitting only, and the passphrase is kept nowhere."
        self.push_screen(Question("Passphrase of your key", text, is_secret=True), given)

    def _after(self, card: Card | None) -> None:
        if card is not None:
            self.keep(card)
        self.read()
        if isinstance(self.screen, Place):
            self.read_place(self.screen)

    def refresh_places(self) -> None:
        """Show what is known anew: ages, reach, counts."""
        home = self._shown(Scope.HOME)
        if self.view is not None:
            self.view = replace(self.view, now_ns=self.now_ns)
            if isinstance(home, Home) and home.is_mounted:
                home.show_home(self.view, self.reach)
        card = self.card or (stored_card(self.view) if self.view else None)
        if card is not None and self.job is None and isinstance(home, Home) and home.is_mounted:
            home.show_card(card, self.now_ns)
        for screen in self.screen_stack:  # a place below a page is in sight too
            if isinstance(screen, Place) and screen.is_mounted:
                screen.show_frame()

    def _now_iso(self) -> str:
        return self._around.tai().to_utc_iso() if self._around is not None else ""

    # Actions; what they are called, their keys and their commands stand in `actions`

    def action_help(self) -> None:
        """Show all keys, those of this place first."""
        from lace_tui.screens.help import Help, why_not  # noqa: PLC0415 - no part of the first frame
        from lace_tui.screens.listing import Listing  # noqa: PLC0415

        screen, focused = self.screen, self.focused
        here = screen.SCOPE if isinstance(screen, Place) else None if self._folder else Scope.FIRST
        is_list = isinstance(screen, Listing | Home)
        reach = {action.id: why_not(action, here, is_list=is_list) for action in ACTIONS}

        def chosen(action_id: str | None) -> None:
            action = action_named(action_id) if action_id else None
            if action is not None:
                inside = {Scope.APP: self, Scope.LIST: focused}.get(action.scope, screen)
                self.call_later(self.run_action, action.call, inside or screen)

        self.push_screen(Help(here, self.taste.keys, reach), chosen)

    def action_go(self, place: str) -> None:
        """Go to a place."""
        if self._folder is not None and place in self.MODES:
            self.switch_mode(place)

    def action_read(self) -> None:
        """Read the vault and look at the places again."""
        if self._folder is None:
            self._begin()
            return
        self.read()
        if isinstance(self.screen, Place):
            self.read_place(self.screen)

    def action_stop(self) -> None:
        """Stop what is running, at its next safe point."""
        if self.job is not None:
            self.job.token.set()
            self._show_progress()

    def action_copy(self) -> None:
        """Copy the selected row's command."""
        command = self.screen.row()[2] if isinstance(self.screen, Place) else ""
        if command:
            self.copy_to_clipboard(inert(command))
            self.notify(f"Copied: {inert(command)}", markup=False)

    def action_log(self) -> None:
        """Show what was done in this sitting."""
        lines = [mark(line) for line in self._activity] or [mark("Nothing yet.", QUIET)]
        self.push_screen(Page("Activity: the same by command", lines))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer the table's actions in the palette, each with its key and its command, and the themes."""
        from lace_tui.palette import commands  # noqa: PLC0415 - no part of the first frame

        return commands(self, screen)
