"""The app's work off the screen's thread: reading, writing, progress, stopping (APP-3, APP-5).

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

from lace_tui.screens.cards import KEY_LOCKED, Card, Trouble, working_parts
from lace_tui.screens.messages import DidAsk, DidFail, DidWork
from vault.errors import LaceError
from vault.files import TooManyFiles

if TYPE_CHECKING:
    from textual.content import Content
    from textual.message import Message

    from lace_tui.app.front import Front
    from lace_tui.model.job import Job
    from vault.surroundings import Surroundings
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Working"]


class Working:
    """What runs in threads for the app: readings, and work that may write, one at a time.

    Args:
        front: the app.
        surroundings: the world as the vault sees it; asked once, when there is a vault.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(self, front: Front, surroundings: Callable[[], Surroundings], monotonic: Callable[[], float]) -> None:
        self._front = front
        self._surroundings = surroundings
        self.monotonic = monotonic
        self._around: Surroundings | None = None
        self._asking = threading.Lock()
        self.passphrase: bytes | None = None
        """Of the key, where it was given in this sitting."""
        self.job: Job | None = None
        """The work under way."""

    @property
    def now_ns(self) -> int:
        """The wall clock, nanoseconds since 1970 UTC, for display; 0 while there is no vault."""
        return self._around.now_ns() if self._around is not None else 0

    @property
    def now_iso(self) -> str:
        """The same as ISO 8601 UTC; empty while there is no vault."""
        return self._around.tai().to_utc_iso() if self._around is not None else ""

    @property
    def can_start(self) -> bool:
        """Whether work may begin; says why not."""
        if self._front.folder is None:
            return False
        if self.job is not None:
            self._front.notify(self._busy(self.job), markup=False)
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
            with self.vault() as vault:
                return DidAsk(then, do(vault))

        self.run(group, work, exclusive=True, asked=asked, refused=refused)

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
            with self.vault(job) as vault:
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
        folder = self._front.folder

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
        from lace_tui.model.job import Job  # no part of the first frame

        job = Job(what)
        self.job = job
        if command:
            self._front.note(command)

        def work() -> Message:
            return DidWork(job, then, do(job))

        self._front.show_progress()
        self._front.tell_working(is_working=True)
        self.run("job", work, job=job, refused=refused)
        return True

    def _busy(self, job: Job) -> str:
        return f"{job.what} is still running; {self._front.key_of('stop')} stops it."

    def working_parts(self) -> list[tuple[int, Content]]:
        """Return work under way for a header; nothing while there is none."""
        job = self.job
        if job is None:
            return []
        return working_parts(job.what, job.far(self.monotonic()))

    # Threads

    def world(self) -> Surroundings:
        """Return the world as the vault sees it; asked by the first thread that needs it, so no frame waits for it."""
        with self._asking:
            if self._around is None:
                self._around = self._surroundings()
            if self.passphrase is None:
                return self._around
            given = self.passphrase
        return replace(self._around, passphrase=lambda: given)

    def _world_of(self, job: Job) -> Surroundings:
        """Return the world in which waiting for another process that holds the vault can be stopped too."""
        around = self.world()
        return replace(around, sleep=job.patient(around.sleep), waits=job.waits)

    def vault(self, job: Job | None = None) -> Vault:
        """Open the vault, for one thread; waiting for it can be stopped as the work can.

        Raises:
            NoVault: there is none any more.
            LaceError: it cannot be opened.
        """
        from vault.vault import NoVault, Vault  # no part of the first frame

        if self._front.folder is None:
            raise NoVault("There is no vault here any more.")
        around = self.world() if job is None else self._world_of(job)
        try:
            return Vault(self._front.folder, around)
        except NoVault as error:  # who opened it here wants no new one
            gone = f"There is no vault in {self._front.folder} any more."
            raise NoVault(
                gone,
                hint=f"Put the folder back, or plug in what it lies on; then {self._front.key_of('read')} reads it.",
            ) from error

    def run(
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
        from textual.worker import get_current_worker  # known inside the thread only

        def run() -> None:
            try:
                message = do()
            except LaceError as error:
                again = (
                    (lambda: self.run(group, do, job=job, exclusive=exclusive, asked=asked, refused=refused))
                    if (error.code == KEY_LOCKED and not (job is not None and job.token.is_set))
                    else None
                )
                message = DidFail(job, Trouble.of(error), asked, again, refused)
            except Exception as error:  # the one place where a fault of the work ends
                summary = " ".join(str(error).split())
                limit = TooManyFiles.of(error)
                trouble = Trouble.of(limit) if limit else Trouble.bug(f"{type(error).__name__}: {summary}")
                message = DidFail(job, trouble, asked, None, refused)
            if job is not None or not get_current_worker().is_cancelled:
                self._front.post_message(message)

        self._front.run_worker(run, group=group, thread=True, exit_on_error=False, exclusive=exclusive)

    def end(self, job: Job) -> None:
        """Take note that work ended; called on the screen's thread."""
        if job is self.job:
            self.job = None
            self._front.tell_working(is_working=False)

    def stop(self) -> None:
        """Ask work to stop at its next safe point."""
        if self.job is not None:
            self.job.token.set()

    def forget_passphrase(self) -> None:
        """Ask for the passphrase of the key anew: the one that was given is not its any more."""
        self.passphrase = None
