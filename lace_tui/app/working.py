"""The app's work off the screen's thread: reading, writing, progress, stopping, a key that is locked (APP-3, APP-5).

Whatever reads or writes the vault runs in a thread with a vault of its own, started on the app so that no screen's end
ends it, and posts one message back. Work looks at a token at every safe point; `esc` sets it. Progress lies in one
slot that a clock reads ten times a second, so a flood of it costs nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.message import Message
from textual.screen import ModalScreen

from lace_tui.keys.keymap import key_of
from lace_tui.screens.cards import KEY_LOCKED, Card, Trouble, working_card, working_parts
from lace_tui.screens.dialogs import Page
from lace_tui.screens.marks import QUIET, mark
from lace_tui.screens.messages import DidAsk, DidFail, DidWork
from lace_tui.screens.passphrase import Passphrase
from vault.errors import LaceError

if TYPE_CHECKING:
    from textual.content import Content

    from lace_tui.model.job import Job
    from vault.surroundings import Surroundings
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Working"]

LOGGED = 500  # lines of activity that are kept


class Working(App[None]):
    """An app that works on a vault; what is shown of it is the business of its heir.

    Args:
        folder: the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it; asked once, when there is a vault.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(
        self, folder: Path | None, surroundings: Callable[[], Surroundings], monotonic: Callable[[], float]
    ) -> None:
        super().__init__()
        self._folder = folder
        self._surroundings = surroundings
        self.monotonic = monotonic
        self._around: Surroundings | None = None
        self._asking = threading.Lock()
        self._passphrase: bytes | None = None
        self._locked: list[DidFail] = []  # what waits for a passphrase
        self._is_asked = False  # whether it is being asked for
        self._activity: list[str] = []
        self.job: Job | None = None

    # What an heir shows

    def show_progress(self) -> None:
        """Show how far the work under way is."""

    def tell_working(self, *, is_working: bool) -> None:
        """Show that work began or ended."""

    def after_work(self, card: Card | None) -> None:
        """Keep the card of work that ended, and read again."""

    def show_all(self) -> None:
        """Show all rows again, where a filter leaves some out."""

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action, as this person has it."""
        return key_of(action_id, {})

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
            self.notify(self._busy(self.job), markup=False)
            return False
        return True

    def ask(
        self,
        do: Callable[[Vault], Any],
        then: Callable[[Any], None],
        group: str = "ask",
        *,
        asked: str = "",
        refused: Callable[[str], bool] | None = None,
    ) -> None:
        """Read something in a thread, with a vault of its own, and give it back on the screen's thread.

        Args:
            do: reads; must not write.
            then: called with what it returned, unless that failed, which is told.
            group: of two readings of one group only the newer one's answer is given.
            asked: what a person asked for, if they did: then a failure is an answer, and no card stays for it.
            refused: called with why it failed; returns whether it told it.
        """

        def work() -> Message:
            with self._vault() as vault:
                return DidAsk(then, do(vault))

        self._work(group, work, exclusive=True, asked=asked, refused=refused)

    def begin(
        self,
        what: str,
        do: Callable[[Vault, Watch], Any],
        then: Callable[[Any], Card | None],
        command: str = "",
        refused: Callable[[str], bool] | None = None,
    ) -> bool:
        """Begin work that may write, one at a time; it can be stopped, and goes on when its screen is left.

        Args:
            what: for people, such as "Sync: stick".
            do: does it, in a thread.
            then: called with what it returned, on the screen's thread; a card it returns is shown and stays.
            command: the command with the same result, for the activity page.
            refused: called with why it failed or cannot begin; returns whether it told it.

        Returns:
            Whether it was begun.
        """

        def work(job: Job) -> Any:
            with self._vault(job) as vault:
                return do(vault, job.watch())

        return self._begin_job(what, work, then, command, refused)

    def begin_unopened(
        self,
        what: str,
        do: Callable[[Path, Surroundings, Watch], Any],
        then: Callable[[Any], Card | None],
        command: str = "",
    ) -> bool:
        """Begin work that opens the vault by itself, as a check does, which a damaged one is to pass; else as `begin`.

        Args:
            what: for people.
            do: does it, in a thread, with the shared folder and the world.
            then: called with what it returned.
            command: the command with the same result.
        """
        folder = self._folder

        def work(job: Job) -> Any:
            return do(folder, self._world_of(job), job.watch()) if folder is not None else None

        return self._begin_job(what, work, then, command, None)

    def _begin_job(
        self,
        what: str,
        do: Callable[[Job], Any],
        then: Callable[[Any], Card | None],
        command: str,
        refused: Callable[[str], bool] | None,
    ) -> bool:
        if refused is not None and self.job is not None and refused(self._busy(self.job)):
            return False
        if not self.can_start:
            return False
        from lace_tui.model.job import Job  # noqa: PLC0415 - no part of the first frame

        job = Job(what)
        self.job = job
        if command:
            self.note(command)

        def work() -> Message:
            return DidWork(job, then, do(job))

        self.show_progress()
        self.tell_working(is_working=True)
        self._work("job", work, job=job, refused=refused)
        return True

    def _busy(self, job: Job) -> str:
        return f"{job.what} is still running; {self.key_of('stop')} stops it."

    def note(self, command: str) -> None:
        """Write a command down on the activity page."""
        self._activity = [*self._activity, command][-LOGGED:]

    def working_parts(self) -> list[tuple[int, Content]]:
        """Return work under way for a header; nothing while there is none."""
        job = self.job
        if job is None:
            return []
        return working_parts(job.what, job.far(self.monotonic()))

    def progress_card(self, job: Job) -> Card:
        """Return the card of work under way."""
        return working_card(job.what, job.far(self.monotonic()), self.key_of("stop"))

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

    def _world_of(self, job: Job) -> Surroundings:
        """Return the world in which waiting for another process that holds the vault can be stopped too."""
        around = self._world()
        return replace(around, sleep=job.patient(around.sleep), waits=job.waits)

    def _vault(self, job: Job | None = None) -> Vault:
        from vault.vault import NoVault, Vault  # noqa: PLC0415 - no part of the first frame

        if self._folder is None:
            raise NoVault("There is no vault here any more.")
        around = self._world() if job is None else self._world_of(job)
        try:
            return Vault(self._folder, around)
        except NoVault as error:  # who opened it here wants no new one
            gone = f"There is no vault in {self._folder} any more."
            raise NoVault(
                gone, hint=f"Put the folder back, or plug in what it lies on; then {self.key_of('read')} reads it."
            ) from error

    def _work(
        self,
        group: str,
        do: Callable[[], Message],
        *,
        job: Job | None = None,
        exclusive: bool = False,
        asked: str = "",
        refused: Callable[[str], bool] | None = None,
    ) -> None:
        """Run something in a thread; whatever comes of it is one message."""
        from textual.worker import get_current_worker  # noqa: PLC0415 - known inside the thread only

        def run() -> None:
            try:
                message = do()
            except LaceError as error:
                again = (
                    (lambda: self._work(group, do, job=job, exclusive=exclusive, asked=asked, refused=refused))
                    if (error.code == KEY_LOCKED and not (job is not None and job.token.is_set))
                    else None
                )
                message = DidFail(job, Trouble.of(error), asked, again, refused)
            except Exception as error:  # the one place where a fault of the work ends
                summary = " ".join(str(error).split())
                message = DidFail(job, Trouble.bug(f"{type(error).__name__}: {summary}"), asked, None, refused)
            if job is not None or not get_current_worker().is_cancelled:
                self.post_message(message)

        self.run_worker(run, group=group, thread=True, exit_on_error=False, exclusive=exclusive)

    def _end(self, job: Job | None) -> None:
        if job is not None and job is self.job:
            self.job = None
            self.tell_working(is_working=False)

    # What came of it

    def on_did_ask(self, message: DidAsk) -> None:
        """Give a screen what it asked for."""
        message.then(message.value)

    def on_did_work(self, message: DidWork) -> None:
        """Show what the work did, and keep it."""
        self._end(message.job)
        if message.job.token.is_set:
            self.notify(f"{message.job.what} was done before it could be stopped.", markup=False)
        card = message.then(message.value)
        self.after_work(card)

    def _unlock(self, message: DidFail) -> None:
        """Ask for the passphrase of the key, and do again what needed it; work waits meanwhile."""
        self._locked.append(message)
        self.ask_passphrase()

    def ask_passphrase(self) -> None:
        """Ask for the passphrase that something waits for, but not over a question that somebody types into."""
        if not self._locked or self._is_asked or isinstance(self.screen, ModalScreen):
            return
        self._is_asked = True

        def given(text: str | None) -> None:
            self._is_asked = False
            waiting, self._locked = self._locked, []
            if text is not None:
                self._passphrase = text.encode()
            for one in waiting:
                if text is not None and one.again is not None:
                    one.again()
                else:
                    self.post_message(replace(one, again=None))

        sentence = self._locked[0].trouble.message if self._passphrase is not None else "Your key is protected."
        text = f"{sentence} It is opened for this sitting only, and the passphrase is kept nowhere."
        self.push_screen(Passphrase(text, self._try_passphrase), given)

    def _try_passphrase(self, text: str, question: Passphrase) -> None:
        """Find out in a thread whether a passphrase opens the key: that is made to take long."""

        def why_not(vault: Vault) -> str:
            try:
                vault.keys_here.load(vault.node, text.encode)
            except LaceError as error:
                return error.message if error.code == KEY_LOCKED else ""  # all else is told by what needs the key
            return ""

        def known(why: str) -> None:
            if why:
                question.fails(why)
            else:
                question.opens(text)

        def failed(_why: str) -> bool:  # the vault is gone: so is told by what waits
            question.opens(text)
            return True

        self.ask(why_not, known, "passphrase", refused=failed)

    def forget_passphrase(self) -> None:
        """Ask for the passphrase of the key anew: the one that was given is not its any more."""
        self._passphrase = None

    def _now_iso(self) -> str:
        return self._around.tai().to_utc_iso() if self._around is not None else ""

    # Actions

    def action_stop(self) -> None:
        """Stop what is running, at its next safe point; where nothing runs, take away what was told, and a filter."""
        if self.job is not None:
            self.job.token.set()
            self.show_progress()
        else:
            self.clear_notifications()
            self.show_all()

    def action_log(self) -> None:
        """Show what was done in this sitting."""
        lines = [mark(line) for line in self._activity] or [mark("Nothing yet.", QUIET)]
        self.push_screen(Page("Activity: the same by command", lines, "\n".join(self._activity)))
