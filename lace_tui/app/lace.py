"""The app: eight places, and what lies between them (APP-1, APP-3).

The places show values and know no store; what they show is read, and what they ask for is done, by `working`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual._styles_cache import StylesCache
from textual.app import ScreenStackError, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.message import Message
from textual.screen import ModalScreen

from lace_tui.app.lending import Lending
from lace_tui.app.styles import Styles
from lace_tui.app.themes import THEMES
from lace_tui.keys.actions import ACTIONS, PLACES, Scope, action_named
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of, keys_of
from lace_tui.keys.taste import Taste, keep_theme
from lace_tui.screens.cards import Card, failed_card, stored_card
from lace_tui.screens.dialogs import Offer, Page
from lace_tui.screens.home import Home
from lace_tui.screens.marks import GOOD, QUIET, mark
from lace_tui.screens.messages import DidAsk, DidFail, DidRead
from lace_tui.screens.place import PlaceScreen
from lace_tui.words.inert import inert
from lazy.noted_visits import sync_command, synced
from vault.errors import LaceError

if TYPE_CHECKING:
    import argparse

    from textual.content import Content
    from textual.screen import Screen

    from vault.surroundings import Surroundings
    from vault.vault import Vault

__all__ = ["LaceApp"]

TICK = 0.1  # seconds between two looks at the progress
AGE = 30.0  # seconds after which "just now" is told anew
LOOK = 2.0  # seconds between two looks at the places
_UNREAD = "The vault cannot be read"
_NO_ANSWERS = {"cancelled", "key-locked", "extra-missing", "bug"}  # no other answer to a question helps against these
_TOLD = 3  # lines of a card that are told where the card itself is not in sight


def _screen(place: Scope) -> PlaceScreen:
    """Return a new screen of a place; all but the first are loaded when somebody goes there."""
    if place is Scope.HOME:
        return Home()
    from lace_tui.app.places import SCREENS  # noqa: PLC0415 - a quarter of the time until the first paint

    return SCREENS[place]()


def _below(worked: Card | None, unread: Card) -> Card:
    """Return what work came to with what is said of a vault that cannot be read, unless it says that itself."""
    if worked is None:
        return unread
    said = {line.plain for line in worked.lines}
    lines = tuple(line for line in unread.lines if line.plain not in said)
    return worked._replace(lines=(*worked.lines, *lines), is_bad=True)


class LaceApp(Lending):
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
        folder = find()
        if folder is not None:  # its first screen is Home: an empty one before it would cost a frame
            self.DEFAULT_MODE = str(Scope.HOME)  # type: ignore[misc]
        super().__init__(folder, surroundings, monotonic, edit)
        self.stylesheet = Styles(variables=self.get_css_variables())
        self._find = find
        self._is_found = False  # whether there was a vault at the last look, where there was none at the beginning
        self._here = here
        self._called = called
        self.wants_demo = False
        self._look_every = look_every
        self.taste = taste or Taste()
        self.config = config
        self.aside: set[str] = set()  # ids of conflicts that were set aside in this sitting
        self.card: Card | None = None
        self._worked: Card | None = None  # what work came to, until the vault is read after it
        self._unread: Card | None = None  # says that the vault cannot be read, until it can
        self._is_unread_told = False  # whether that was told beside the card, which is on Home
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self.taste.textual_theme
        self.set_keymap(self.taste.keys)

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

    def _look(self) -> None:
        """Look at the places; where there was no vault, whether another command made one here meanwhile."""
        if self._folder is None:
            from lace_tui.screens.first import FirstRun  # noqa: PLC0415 - the first time only

            was_found, self._is_found = self._is_found, self._find() is not None
            # At the first look it may be half made; and nobody's question is taken away.
            if was_found and self._is_found and isinstance(self.screen, FirstRun):
                self._begin()
        super()._look()

    def pop_screen(self) -> AwaitComplete:
        """Go back by a screen, and let go of what it drew."""
        # Textual remembers a colour by the widget that asked, and with it all its lines: half a megabyte a page.
        self.call_after_refresh(lambda: StylesCache.get_inner_outer.cache_clear())  # noqa: PLW0108 - it has no signature
        self.call_after_refresh(self.ask_passphrase)
        return super().pop_screen()

    def action_help_quit(self) -> None:
        """Say what ctrl+c is told for elsewhere; a habit ends nothing that runs."""
        self.notify(f"{self.key_of('quit')} leaves lace; {self.key_of('stop')} stops what runs.", markup=False)

    # What screens ask for

    def choose_theme(self, name: str) -> None:
        """Take other colours from now on, wherever they were chosen."""
        self.live_by(replace(self.taste, theme=name), lambda config: keep_theme(config, name))
        if (settings := self._shown(Scope.SETTINGS)) is not None and settings.is_mounted:
            self.read_place(settings)  # it marks the one there is

    def live_by(self, taste: Taste, keep: Callable[[Path], None]) -> None:
        """Live by another taste from now on, and keep what changed for the next time."""
        self.taste = taste
        self.theme = taste.textual_theme
        self.set_keymap({key: ",".join(keys_of(action_named(key), taste.keys)) for key in taste.keys})
        if self.config is not None:
            try:
                keep(self.config)
            except (LaceError, OSError, ValueError) as error:
                told = f"It holds for this sitting only. {inert(str(error))}"
                self.notify(told, severity="error", timeout=30, markup=False)

    def keep(self, card: Card) -> None:
        """Show a card on Home until the next one."""
        self.card = self._worked = card._replace(ended=self._now_iso())
        self.refresh_places()

    def make_vault(
        self, do: Callable[[Path, Surroundings], tuple[Vault, list[Content]]], command: str, title: str
    ) -> None:
        """Make a vault in the folder it was started in, and go Home.

        Args:
            do: makes it, in a thread; returns it, and what a person has to read before anything else.
            command: the command with the same result.
            title: of the page on which that is read.
        """
        self.note(command)

        def work() -> Message:
            vault, told = do(Path(self._here), self._world())
            with vault:
                return DidAsk(partial(self._begin_with, title), told)

        self._work("begin", work)

    def _begin_with(self, title: str, told: list[Content]) -> None:
        self._begin()
        if told:
            self.push_screen(Page(title, told))

    @property
    def here(self) -> str:
        """The folder it was opened in, which says which desk is meant."""
        return self._here

    def taken_apart(self, verb: str, words: Sequence[str]) -> argparse.Namespace:
        """Return the words that a person typed behind a verb as its command takes them apart.

        Raises:
            BadArguments: the verb takes no such words.
        """
        from lace_tui.cli.frame import parsed  # noqa: PLC0415 - hardly any question takes the words of a command

        return parsed(verb, words)

    def offer_sync(self, following: str) -> None:
        """Offer a sync once everything is decided; the place that is here first.

        Args:
            following: the command that lets friends know of it; empty when they need none.
        """
        if not (named := synced(following)):
            said = f"Next: {following}" if following else "Nothing is left to send."
            self.notify(f"0 conflicts. {said}", title="All is decided", markup=False)
            return
        seen = [(place, self.reach.get(place.place.name)) for place in (self.view.places if self.view else ())]
        seen.sort(key=lambda one: bool(one[0].trouble_at(one[1])))
        target = next((place.place.name for place, at in seen if at is not None and at.is_here), named)

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self.switch_mode(str(Scope.HOME))
                if isinstance(home := self._shown(Scope.HOME), Home):
                    home.sync_with(target)

        lines = [
            mark("0 conflicts. What you decided is new to your friends.", GOOD),
            mark(f"Press {self.key_of('sync-now')} to sync {target} now."),
            mark(sync_command(target), QUIET),
        ]
        self.push_screen(Offer("All is decided", lines), decided)

    # Threads

    def tell_working(self, *, is_working: bool) -> None:
        """Show that work began or ended, on Home and in the frame."""
        if isinstance(home := self._shown(Scope.HOME), Home):
            home.show_working(is_working)
        if isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.screen.show_footer()
            self.screen.show_head()

    def _shown(self, place: Scope) -> PlaceScreen | None:
        """Return the screen of a place if it was ever shown."""
        stack = self._screen_stacks.get(str(place), [])
        return next((screen for screen in stack if isinstance(screen, PlaceScreen)), None)

    def show_progress(self) -> None:
        """Show how far the work under way is, on Home and in the header."""
        self.ask_about_leaving()
        job = self.job
        home = self._shown(Scope.HOME)
        if job is not None and isinstance(home, Home) and home.is_mounted:
            home.show_card(self.progress_card(job), 0)
        if job is not None and isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.screen.show_head()

    # What came of it

    def on_did_read(self, message: DidRead) -> None:
        """Take away what was said of a vault that could not be read; what was read is shown by the base."""
        if self._unread is not None and self.card is self._unread:
            self.card = self._worked
            self._forget_unread()
        self._worked = None

    def _forget_unread(self) -> None:
        """Take away what was told of a vault that could not be read: what else failed meanwhile failed of the same."""
        if self._unread is not None:
            self._unread, self._is_unread_told = None, False
            self.clear_notifications()

    def on_did_fail(self, message: DidFail) -> None:
        """Show what went wrong, and keep it; a key that needs a passphrase is opened first."""
        if message.again is not None:
            self._unlock(message)
            return
        if message.job is not None:
            self._end(message.job)
            card = failed_card(f"{message.job.what}: ended early", message.trouble, self.taste.keys)
            self.keep(card)  # told below, once
            self.read_all()
        elif message.asked:
            card = failed_card(message.asked, message.trouble, self.taste.keys)
        else:
            self._end_looking()
            card = failed_card(_UNREAD if self._folder else "Not begun", message.trouble, self.taste.keys)
            self.card = self._unread = _below(self._worked, card)
            self.refresh_places()
            if self._is_told_already(card):
                return
        sentence = f"{message.trouble.message} ({message.trouble.code}) {message.trouble.hint}"
        is_answer = message.trouble.code not in _NO_ANSWERS
        if message.refused is not None and is_answer and message.refused(sentence):
            return
        if not isinstance(self.screen, Home) or message.asked:
            self.notify(inert(sentence), title=inert(card.title), severity="error", timeout=30, markup=False)

    def _is_told_already(self, unread: Card) -> bool:
        """Return whether it is seen that the vault cannot be read: in the place in front, or told before."""
        place = next((screen for screen in reversed(self.screen_stack) if isinstance(screen, PlaceScreen)), None)
        if (place is not None and place.show_unread(unread.lines)) or isinstance(self.screen, ModalScreen):
            return True  # over a page it would hide what is asked there; Home has it
        was_told, self._is_unread_told = self._is_unread_told, True
        return was_told

    def after_work(self, card: Card | None) -> None:
        """Keep the card of work that ended, and read again what is shown."""
        if card is not None:
            self._forget_unread()  # what is still so, the reading says again
            self.keep(card)
            if isinstance(self.screen, PlaceScreen) and not isinstance(self.screen, Home):  # the card itself is on Home
                told = "\n".join(line.plain for line in card.lines[:_TOLD])
                self.notify(told, title=card.title, severity="warning" if card.is_bad else "information", markup=False)
        self.read_all()

    def refresh_places(self) -> None:
        """Show what is known anew: ages, reach, counts."""
        home = self._shown(Scope.HOME)
        if self.view is not None:
            self.view = self.view._replace(now_ns=self.now_ns)
            if isinstance(home, Home) and home.is_mounted:
                home.show_home(self.view, self.reach)
        last = self.view.last if self.view is not None else None
        if last is not None and self.card is not None and "" < self.card.ended < last.when:
            self.card = None  # another command has synced since
        card = self.card or (stored_card(self.view, self.taste.keys) if self.view else None)
        if card is not None and self.job is None and isinstance(home, Home) and home.is_mounted:
            home.show_card(card, self.now_ns)
        for screen in self.screen_stack:  # a place below a page is in sight too
            if isinstance(screen, PlaceScreen) and screen.is_mounted:
                screen.show_frame()

    # Actions; what they are called, their keys and their commands stand in `actions`

    def action_help(self) -> None:
        """Show all keys, those of this place first."""
        from lace_tui.screens.help import Help, why_not  # noqa: PLC0415 - no part of the first frame
        from lace_tui.screens.listing import Listing  # noqa: PLC0415

        self.clear_notifications()  # on a narrow screen they would hide half of it
        screen, focused = self.screen, self.focused
        here = screen.SCOPE if isinstance(screen, PlaceScreen) else None if self._folder else Scope.FIRST
        is_list = isinstance(screen, Listing | Home)
        can_mark = isinstance(screen, Listing) and screen.CAN_MARK
        reach = {
            action.id: why_not(action, here, self.taste.keys, is_list=is_list, can_mark=can_mark) for action in ACTIONS
        }

        def chosen(action_id: str | None) -> None:
            action = action_named(action_id) if action_id else None
            if action is not None:
                inside = {Scope.APP: self, Scope.LIST: focused}.get(action.scope, screen)
                self.call_later(self.run_action, action.call, inside or screen)

        self.push_screen(Help(here, self.taste.keys, reach), chosen)

    def action_go(self, place: str) -> None:
        """Go to a place; from what was opened in it, back to it."""
        if self._folder is None or place not in self.MODES:
            return
        if place != self.current_mode:
            self.switch_mode(place)
        elif isinstance(self.screen, PlaceScreen):
            self.screen.go_back()

    def show_all(self) -> None:
        """Show all rows of the place in front again."""
        if isinstance(self.screen, PlaceScreen):
            self.screen.show_all()

    def action_read(self) -> None:
        """Read the vault and look at the places again."""
        if self._folder is None:
            self._begin()
            return
        self._is_unread_told = False  # who asks is answered
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
        from lace_tui.app.palette import commands  # noqa: PLC0415 - no part of the first frame

        return commands(self, screen)
