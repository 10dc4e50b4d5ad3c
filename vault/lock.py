"""The one-writer lock of a vault (docs/formats.md section 6, APP-13).

The operating system holds the lock for the process, so it ends with the process however that ends: there are
no stale locks to detect and none to break by hand. What stands in the file is for the message only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from vault.errors import EnvironmentFault
from vault.files import FileMissing, NotWritable, Unreadable, read_bounded, reason_of

__all__ = ["LOCK_SECONDS", "Holder", "Locked", "Patience", "VaultLock", "alone_in", "lock_now"]

LOCK_SECONDS = 600.0  # longer than any commit or checkout of another process takes on a slow disk
_FIRST_PAUSE = 0.002  # seconds
_LONGEST_PAUSE = 0.1  # seconds: what a person does not notice after the other one has finished
_UNTOLD = 1.0  # seconds of waiting that nobody need hear of
_HOLDER_LIMIT = 1024  # bytes
_HOLDER = r"pid ([0-9]{1,10})\nsince ([^\n]{0,64})\n"  # compiled when somebody is waited for
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LOCKS = "Check that the vault is yours and lies on a disk that knows file locks."
_READ_ONLY = "The disk can only be read now: mount it for writing, or take its write protection away, and try again."
_BUSY = frozenset({errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK, errno.EDEADLK})

if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read by others on Windows, so the lock lies far behind the holder's lines.
    _LOCK_OFFSET = 1 << 30

    def _try_lock(fd: int) -> None:
        os.lseek(fd, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_now(fd: int) -> bool:
    """Take the lock of an open file for as long as it stays open; tell whether nobody else has it.

    A file system that knows no locks counts as free.
    """
    try:
        _try_lock(fd)
    except OSError as error:
        return error.errno not in _BUSY
    return True


@contextlib.contextmanager
def alone_in(directory: Path, pause: Callable[[float], None]) -> Iterator[None]:
    """Hold a directory of files that can be made again, for one process at a time, without a file for it there.

    Where the system or the file system locks no directories, nobody is waited for.

    Args:
        directory: which is there.
        pause: waits that many seconds for somebody else; raises `Cancelled` when the person asked to stop.

    Raises:
        NotWritable: the directory cannot be opened.
    """
    if os.name == "nt":
        yield
        return
    try:
        fd = os.open(directory, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise NotWritable(f"{directory} cannot be read: {reason_of(error)}.") from error
    try:
        while not lock_now(fd):
            pause(_LONGEST_PAUSE)
        yield
    finally:
        os.close(fd)


class Locked(EnvironmentFault):
    """Another lace is writing to this vault."""

    code = "vault-locked"
    exit_code = 14
    hint = "Wait until it is done, or end that process: its lock goes away with it."


class Holder(NamedTuple):
    """Who holds the lock, as far as the file tells.

    Args:
        pid: process id on this machine.
        since: when it took the lock, as text; empty if it did not say.
    """

    pid: int
    since: str

    def __str__(self) -> str:
        return f"process {self.pid}" + (f", since {self.since}" if self.since else "")


class Patience(NamedTuple):
    """How a person waits for another process, and for a program that talks with a machine far away.

    Args:
        sleep: waits that many seconds; raises `Cancelled` when the person asked to stop, with no second to wait too.
        waits: told whom it waits for and what that one does, "which is ...", where that takes more than a second.
        silence: seconds without a first word after which a talk is given up.
        window: seconds in which hardly anything moved after which it is given up, whatever is said meanwhile.
    """

    sleep: Callable[[float], None] = time.sleep
    waits: Callable[[str, str], None] = lambda _who, _doing: None
    silence: float = 90.0
    window: float = 300.0

    def told(self, doing: str) -> Callable[[Holder | None], None]:
        """Return what tells who holds a lock, and what they do meanwhile."""
        return lambda holder: self.waits(str(holder or "another lace"), doing)


class VaultLock:
    """An exclusive lock between processes, and between the threads that share this object.

    The thread that holds it may take it again. Two objects over one path exclude each other like two
    processes do.

    Args:
        path: the lock file; it is created when missing and never removed.
        now: gives the text that other processes show as "since"; no such text when absent.
        sleep: waits that many seconds between two tries.
        monotonic: seconds on a clock that never goes back.
        waits: called once in each waiting that takes more than a second, with the holder if known.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        now: Callable[[], str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        waits: Callable[[Holder | None], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self._name = os.fspath(path)  # a path would be made a text at each call
        self.first: Callable[[], None] = lambda: None
        """Called before it is taken; raises where it must not be."""
        self._waits = waits
        self._now = now
        self._sleep = sleep
        self._monotonic = monotonic
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._threads = threading.RLock()
        self._depth = 0
        self._fd = -1
        self._process = os.getpid()

    def holder(self) -> Holder | None:
        """Return who holds or last held the lock, or None when the file does not tell."""
        try:
            text = read_bounded(self.path, _HOLDER_LIMIT).decode("utf-8", "replace")
        except (FileMissing, Unreadable):
            return None
        match = re.fullmatch(_HOLDER, text)
        return Holder(int(match[1]), match[2]) if match else None

    @contextlib.contextmanager
    def held(
        self,
        timeout: float | None = 10.0,
        on_wait: Callable[[Holder | None], None] | None = None,
    ) -> Iterator[None]:
        """Hold the lock for the length of a `with` block.

        Args:
            timeout: seconds to wait at most; 0 tries once, None waits for ever.
            on_wait: called once, with the holder if known, before waiting begins.

        Raises:
            Locked: somebody else held it all the time.
            NotWritable: the lock file cannot be opened, or the file system has no locks.
        """
        self._take(timeout, on_wait)
        try:
            yield
        finally:
            self._give()

    def _take(self, timeout: float | None, on_wait: Callable[[Holder | None], None] | None) -> None:
        if self._process != os.getpid():
            # A fork copied this object. The lock is the parent's: drop the copy, and never unlock through it.
            if self._fd >= 0:
                os.close(self._fd)
            self._start_afresh()
        deadline = None if timeout is None else self._monotonic() + timeout
        waiting = False
        if not self._threads.acquire(blocking=False):
            waiting = True
            if on_wait is not None:
                on_wait(self.holder())
            if not self._threads.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
                raise self._refusal()
        try:
            if self._depth == 0:
                self._lock_file(deadline, None if waiting else on_wait)
            self._depth += 1
        except BaseException:
            if self._depth == 0 and self._fd >= 0:  # locked, and stopped before anybody could give it back
                fd, self._fd = self._fd, -1
                os.close(fd)
            self._threads.release()
            raise

    def _lock_file(self, deadline: float | None, on_wait: Callable[[Holder | None], None] | None) -> None:
        self.first()
        pause, slept, waits = _FIRST_PAUSE, 0.0, self._waits
        while not self._try():
            if on_wait is not None:
                on_wait(self.holder())
                on_wait = None
            left = pause if deadline is None else deadline - self._monotonic()
            if left <= 0:
                raise self._refusal()
            if waits is not None and slept > _UNTOLD:
                waits(self.holder())
                waits = None
            self._sleep(min(pause, left))
            slept += pause
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _try(self) -> bool:
        fd = -1
        try:
            fd = os.open(self._name, _FLAGS, 0o600)
            _try_lock(fd)
            found = os.fstat(fd)
            if self._was_replaced(found):
                os.close(fd)
                return False
        except OSError as error:
            if fd >= 0:
                os.close(fd)
            if error.errno in _BUSY and fd >= 0:
                return False
            raise NotWritable(
                f"The lock {self.path} cannot be taken: {reason_of(error)}.",
                hint=_READ_ONLY if error.errno == errno.EROFS else _NO_LOCKS,
            ) from error
        self._fd = fd
        self._sign(was_left=found.st_size > 0)
        return True

    def _was_replaced(self, found: os.stat_result) -> bool:
        # Somebody may have deleted the file between our open and our lock: then it is nobody's lock any more.
        try:
            return not os.path.samestat(found, os.stat(self._name))  # noqa: PTH116 - each write asks
        except FileNotFoundError:
            return True

    def _sign(self, *, was_left: bool) -> None:
        since = self._now() if self._now is not None else ""
        text = f"pid {self._process}\nsince {since[:64]}\n".encode()
        with contextlib.suppress(OSError):  # a full disk must not stop whoever wants to free some
            if was_left:  # somebody who held it was killed
                os.ftruncate(self._fd, 0)
            os.lseek(self._fd, 0, os.SEEK_SET)  # on Windows the lock lies elsewhere
            os.write(self._fd, text)

    def _give(self) -> None:
        if self._process != os.getpid():
            return  # the block was left in a forked child: the lock is the parent's
        self._depth -= 1
        if self._depth == 0:
            fd, self._fd = self._fd, -1
            with contextlib.suppress(OSError):
                os.ftruncate(fd, 0)
            os.close(fd)  # which unlocks
        self._threads.release()

    def _refusal(self) -> Locked:
        holder = self.holder()
        who = f"Another lace ({holder})" if holder else "Another lace"
        return Locked(f"{who} is writing to this vault (lock {self.path}).")
