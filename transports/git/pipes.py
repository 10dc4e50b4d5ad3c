"""Pipes to a git that works on a repository of another medium: nobody waits for it without end (faults 15).

A network drive stalls, a stick hangs, and a file there may be a pipe that nobody writes into. A talk of git's is then
given up by its pace; a git that is asked directly says nothing of how it gets on but its answers.
"""

from __future__ import annotations

import os
import select
import subprocess
from io import BufferedReader, RawIOBase
from time import monotonic
from typing import IO, TYPE_CHECKING, cast

from transports.errors import PlaceStalled
from transports.git.watchdog import Watchdog
from vault.lock import Patience

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

__all__ = ["impatient_pipes"]

_TICK = 0.5  # seconds between two looks at whether the person would wait any longer


def impatient_pipes(
    process: subprocess.Popen[bytes], shown: str, patience: Patience
) -> tuple[IO[bytes], BufferedReader]:
    """Return what a git reads and what it says, waited for as a person would.

    To write, to read and to come to the end of either raises `PlaceStalled` where git neither takes nor says
    anything for too long, and `Cancelled` where the person would not wait any longer.

    Args:
        process: the git, which leads a group of its own.
        shown: the place as a person may see it.
        patience: how the person waits.
    """
    questions, answers = (
        _ImpatientPipe(process, cast("IO[bytes]", stream), shown, patience)
        for stream in (process.stdin, process.stdout)
    )
    return cast("IO[bytes]", questions), BufferedReader(answers)


class _ImpatientPipe(RawIOBase):
    """One end of a pipe to a git.

    While it is waited for, a watchdog ends that git where this process is killed: one that hangs does not hear that
    its pipe was closed.
    """

    def __init__(self, process: subprocess.Popen[bytes], stream: IO[bytes], shown: str, patience: Patience) -> None:
        self._process, self._stream = process, stream
        self._shown, self._patience = shown, patience
        self._is_output = stream is process.stdout
        self._longest = patience.silence if self._is_output else patience.window
        self._poll = select.poll()
        self._poll.register(stream.fileno(), select.POLLIN if self._is_output else select.POLLOUT)
        os.set_blocking(stream.fileno(), False)

    def readable(self) -> bool:
        return self._is_output

    def writable(self) -> bool:
        return not self._is_output

    def readinto(self, buffer: WriteableBuffer) -> int:
        self._wait()
        self._longest = self._patience.window
        return os.readv(self._stream.fileno(), [buffer])

    def write(self, data: ReadableBuffer) -> int:
        """Write all of it, so that nothing is left to be written when this is closed."""
        left = memoryview(data)
        while left:
            self._wait()
            left = left[os.write(self._stream.fileno(), left) :]
        return memoryview(data).nbytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.close()

    def _wait(self) -> None:
        if self._poll.poll(_TICK * 1000):
            return
        with Watchdog() as watchdog:
            watchdog.watch(self._process.pid)
            waited = _TICK
            while waited < self._longest:
                self._patience.sleep(0)
                began = monotonic()
                if self._poll.poll(_TICK * 1000):
                    return
                waited += min(monotonic() - began, 2 * _TICK)  # that this machine stood still is no fault of the medium
        raise PlaceStalled(
            f"Git did not get on in {self._longest:.0f} seconds with what lies at {self._shown}, so it was ended."
        )
