"""The app: eight places, and what lies between them (APP-1, APP-3).

The places show values and know no store; what they show is read, and what they ask for is done, by the parts of the
app: objects with one duty each, which it holds and knows alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual._styles_cache import StylesCache
from textual.app import App, ScreenStackError, SuspendNotSupported, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import BindingType

from lace_tui.app.asking import Asking
from lace_tui.app.beginning import Beginning
from lace_tui.app.lending import Lending
from lace_tui.app.looking import Looking
from lace_tui.app.parting import Parting
from lace_tui.app.pausing import pause
from lace_tui.app.serving import Serving
from lace_tui.app.showing import Showing
from lace_tui.app.styles import Styles
from lace_tui.app.tasting import Tasting
from lace_tui.app.telling import Telling
from lace_tui.app.themes import THEMES
from lace_tui.app.unlocking import Unlocking
from lace_tui.app.working import Working
from lace_tui.keys.actions import PLACES, Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of
from lace_tui.keys.taste import Taste
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page
from lace_tui.screens.home import Home
from lace_tui.screens.marks import QUIET, mark
from lace_tui.screens.messages import DidAsk, DidFail, DidLook, DidRead, DidServe, DidWork
from lace_tui.screens.place import PlaceScreen
from lace_tui.words.inert import inert

if TYPE_CHECKING:
    import argparse

    from textual.screen import Screen

    from lace_tui.acts.server import Server
    from lace_tui.model.deeds import TakenBack
    from lace_tui.model.job import Job
    from lace_tui.model.view import HomeView, Reach
    from vault.surroundings import Surroundings

__all__ = ["LaceApp"]

TICK = 0.1  # seconds between two looks at the progress
AGE = 30.0  # seconds after which "just now" is told anew
LOOK = 2.0  # seconds between two looks at the places
SERVED = 30.0  # seconds between two looks whether the server answers still
LOGGED = 500  # lines of activity that are kept


def _screen(place: Scope) -> PlaceScreen:
    """Return a new screen of a place; all but the first are loaded when somebody goes there."""
    if place is Scope.HOME:
        return Home()
    from lace_tui.app.places import SCREENS  # a quarter of the time until the first paint

    return SCREENS[place]()


class LaceApp(App[None]):
    """lace on a terminal.

    Args:
        find: returns the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it; asked once, when there is a vault.
        here: path of the folder it was started in.
        called: what the person is probably called.
        monotonic: seconds of a clock that never goes back.
        look_every: seconds between two looks at the places; 0 looks only when the vault is read.
        taste: theme and keys.
        edit: opens a file in the person's own editor and returns when they are done; None where there is none.
        config: where the person's taste is kept; None keeps nothing.
    """

    TITLE = "lace"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012 - declared so by its base
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
        folder = find()
        if folder is not None:  # its first screen is Home: an empty one before it would cost a frame
            self.DEFAULT_MODE = str(Scope.HOME)  # type: ignore[misc]
        super().__init__()
        self.stylesheet = Styles(variables=self.get_css_variables())
        self.here = here
        self.wants_demo = False
        self._look_every = look_every
        self.taste = taste or Taste()
        self.config = config
        self.aside: set[str] = set()  # ids of conflicts that were set aside in this sitting
        self.folder = folder
        self.monotonic = monotonic
        self._edit = edit
        self._activity: list[str] = []
        self.view: HomeView | None = None
        self.reach: dict[str, Reach] = {}
        self.card: Card | None = None
        self.server: Server | None = None
        self.taken_back: TakenBack | None = None
        self._hold_parts(surroundings, find, called)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self.taste.textual_theme
        self.set_keymap(self.taste.keys)

    def _hold_parts(
        self, surroundings: Callable[[], Surroundings], find: Callable[[], Path | None], called: str
    ) -> None:
        """Make the parts, and offer to the screens what each of them does (`Host`)."""
        self.working = working = Working(self, surroundings, self.monotonic)
        self.looking = looking = Looking(self, working)
        self.beginning = beginning = Beginning(self, working, looking, find, called)
        self.showing = showing = Showing(self, working)
        self.unlocking = Unlocking(self, working)
        self.tasting = tasting = Tasting(self, looking, showing)
        self.telling = telling = Telling(self, working, looking)
        self.asking = asking = Asking(self, working, showing, telling.after_work)
        self.serving = serving = Serving(self, working, telling.after_work)
        self.parting = parting = Parting(self, working)
        self.lending = lending = Lending(self, working)
        self.ask, self.begin, self.begin_unopened = working.ask, working.begin, working.begin_unopened
        self.working_parts, self.forget_passphrase = working.working_parts, working.forget_passphrase
        self.read, self.read_place, self.read_all = looking.read, looking.read_place, looking.read_all
        self.make_vault = beginning.make_vault
        self.refresh_places, self.tell_working = showing.refresh_places, showing.tell_working
        self.keep = telling.keep
        self.choose_theme, self.live_by = tasting.choose_theme, tasting.live_by
        self.put, self.put_when_read = asking.put, asking.put_when_read
        self.open_page, self.offer_sync = asking.open_page, asking.offer_sync
        self.serve_by, self.tell_served, self.serving_parts = serving.serve_by, serving.tell_served, serving.parts
        self.look_after_server = serving.look_after
        self.leave = parting.leave
        self.keep_text = lending.keep_text

    @property
    def job(self) -> Job | None:
        """The work under way."""
        return self.working.job

    @property
    def can_start(self) -> bool:
        """Whether work may begin; says why not."""
        return self.working.can_start

    @property
    def now_ns(self) -> int:
        """The wall clock, nanoseconds since 1970 UTC, for display; 0 while there is no vault."""
        return self.working.now_ns

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action, as this person has it."""
        return key_of(action_id, self.taste.keys)

    # Begin and end

    def clear_selection(self) -> None:
        """Clear what is selected on the screen in front; before there is one, as when the first place mounts, nothing.

        Since Python 3.12 tasks begin at once, and a line to type in asks for this before its screen is in front.
        """
        with contextlib.suppress(ScreenStackError):
            super().clear_selection()

    def on_mount(self) -> None:
        """Show what there is to show, and keep looking."""
        self.set_interval(TICK, self.show_progress)
        self.set_interval(AGE, self.refresh_places)
        if self._look_every:
            self.set_interval(self._look_every, self._look)
        self.set_interval(SERVED, self.look_after_server)
        for remark in self.taste.remarks:
            self.notify(inert(remark), severity="warning", markup=False)
        self.beginning.begin()

    def on_unmount(self) -> None:
        """Answer nobody any more once the app is left."""
        self.serving.stop()

    def _look(self) -> None:
        """Look at the places; where there was no vault, whether there is one now."""
        self.beginning.look()
        self.looking.look()

    def show_progress(self) -> None:
        """Show how far the work under way is; who is asked about leaving meanwhile sees what still runs."""
        self.parting.ask_anew()
        self.showing.show_progress()

    @contextlib.contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal to what runs meanwhile, and take it back however that ends.

        Raises:
            SuspendNotSupported: this terminal cannot be lent.
            Exception: what was raised meanwhile.
        """
        fault: BaseException | None = None
        with super().suspend():  # which stays without the terminal where something is raised inside
            try:
                yield
            except BaseException as error:
                fault = error
        if fault is not None:
            raise fault

    def pop_screen(self) -> AwaitComplete:
        """Go back by a screen, and let go of what it drew."""
        # Textual remembers a colour by the widget that asked, and with it all its lines: half a megabyte a page.
        self.call_after_refresh(lambda: StylesCache.get_inner_outer.cache_clear())  # noqa: PLW0108 - it has no signature
        self.call_after_refresh(self.unlocking.ask)
        return super().pop_screen()

    def action_help_quit(self) -> None:
        """Say what ctrl+c is told for elsewhere; a habit ends nothing that runs."""
        self.notify(f"{self.key_of('quit')} leaves lace; {self.key_of('stop')} stops what runs.", markup=False)

    # What screens ask for

    def note(self, command: str) -> None:
        """Write a command down on the activity page."""
        self._activity = [*self._activity, command][-LOGGED:]

    def pages(self) -> list[tuple[str, Screen[Any]]]:
        """Return every screen that is open, in front or not, with the mode that it is in."""
        return [(mode, screen) for mode, stack in self._screen_stacks.items() for screen in stack]

    def edit_outside(self, path: str, content: bytes) -> bytes | None:
        """Let the person edit a text in their own editor; None when nothing came of it.

        Raises:
            LaceError: as `Lending.edit_outside`.
        """
        return self.lending.edit_outside(self._edit, path, content)

    def taken_apart(self, verb: str, words: Sequence[str]) -> argparse.Namespace:
        """Return the words that a person typed behind a verb as its command takes them apart.

        Raises:
            BadArguments: the verb takes no such words.
        """
        from lace_tui.cli.frame import parsed  # hardly any question takes the words of a command

        return parsed(verb, words)

    # What came of work

    def on_did_ask(self, message: DidAsk) -> None:
        """Give a screen what it asked for."""
        message.then(message.value)

    def on_did_work(self, message: DidWork) -> None:
        """Show what the work did, and keep it."""
        self.working.end(message.job)
        if message.job.token.is_set:
            self.notify(f"{message.job.what} was done before it could be stopped.", markup=False)
        self.telling.after_work(message.then(message.value))

    def on_did_fail(self, message: DidFail) -> None:
        """Show what went wrong, and keep it; a key that needs a passphrase is opened first."""
        if message.again is not None:
            self.unlocking.wait(message)
        else:
            self.telling.fail(message)

    def on_did_read(self, message: DidRead) -> None:
        """Show the reading."""
        self.telling.end_unread()
        self.looking.show_read(message)

    def on_did_look(self, message: DidLook) -> None:
        """Show which places are there."""
        self.looking.show_looked(message)

    def on_did_serve(self, message: DidServe) -> None:
        """Say what a friend's visit came to."""
        self.serving.show_served(message.served)

    # Actions; what they are called, their keys and their commands stand in `actions`

    def action_help(self) -> None:
        """Show all keys, those of this place first."""
        from lace_tui.screens.help import show_help  # no part of the first frame

        self.clear_notifications()  # on a narrow screen they would hide half of it
        show_help(self, self.taste.keys, is_begun=self.folder is not None)

    def action_go(self, place: str) -> None:
        """Go to a place; from what was opened in it, back to it."""
        if self.folder is None or place not in self.MODES:
            return
        if place != self.current_mode:
            self.switch_mode(place)
        elif isinstance(self.screen, PlaceScreen):
            self.screen.go_back()

    def action_stop(self) -> None:
        """Stop what is running, at its next safe point; where nothing runs, take away what was told, and a filter."""
        if self.job is not None:
            self.working.stop()
            self.show_progress()
        else:
            self.clear_notifications()
            if isinstance(self.screen, PlaceScreen):
                self.screen.show_all()

    def action_log(self) -> None:
        """Show what was done in this sitting."""
        lines = [mark(line) for line in self._activity] or [mark("Nothing yet.", QUIET)]
        self.push_screen(Page("Activity: the same by command", lines, "\n".join(self._activity)))

    async def action_quit(self) -> None:
        """Leave; where that ends work or serving, or loses choices, ask first."""
        await self.parting.ask()

    def action_suspend_process(self) -> None:
        """Give the terminal back to the shell; `fg` comes back to the same screen, and work stands still meanwhile."""
        try:
            with self.suspend():
                pause()
        except SuspendNotSupported:
            self.notify("This terminal cannot be given back to a shell.", markup=False)

    def action_changes(self) -> None:
        """Show what changed in the folder since the last commit."""
        from lace_tui.screens.files import show_changes  # no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            show_changes(self.screen)

    def action_undo(self) -> None:
        """Say what would be taken back, and ask."""
        from lace_tui.screens.plans import ask_undo  # no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            ask_undo(self.screen)

    def action_redo(self) -> None:
        """Say what would be done again that was taken back last, and ask."""
        from lace_tui.screens.plans import ask_redo  # no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            ask_redo(self.screen)

    def action_read(self) -> None:
        """Read the vault and look at the places again."""
        if self.folder is None:
            self.beginning.begin()
            return
        self.telling.answer_again()
        self.read_all()

    def action_copy(self) -> None:
        """Copy the selected row's command."""
        command = self.screen.runnable() if isinstance(self.screen, PlaceScreen) else ""
        if not command:
            self.notify("Select a row that has a command.", markup=False)
            return
        self.copy_to_clipboard(inert(command))
        self.notify(f"Copied: {inert(command)}", markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer the table's actions in the palette, each with its key and its command, and the themes."""
        from lace_tui.app.palette import commands  # no part of the first frame

        return commands(self, screen)
