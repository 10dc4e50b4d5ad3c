"""Signatures verified by a process beside this one, while this one reads and stores what they stand on.

To verify a signature takes as long as all the rest of taking a small record in, and Python runs one thread at a time.
So where much arrives and there is a second processor, a process that is started anew, never forked, verifies: it is fed
packed tasks, key, digest and signature of 128 bytes, and answers each with one byte, in order. What it says is as good
as what this process would find: it runs the same suite. Where it cannot start, or ends, nothing depends on it. And who
has less to do verifies more: what this process waited for in one batch, it does half of in the next.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from vault.records import Seal
from vault.suite import ED25519

if TYPE_CHECKING:
    from io import RawIOBase

__all__ = ["LEAST", "Proofs", "serve"]

LEAST = 400  # Seals in one batch from which on it is likely that enough follow to pay for a start of some 50 ms
_KEY, _DIGEST, _SIGNATURE = 32, 32, 64
_TASK = _KEY + _DIGEST + _SIGNATURE
_TOGETHER = 64  # tasks handed over at once; far below what a pipe holds
_SHARE = 16  # once nothing else is left to do, and answered at once: who is ready first waits for few
_AHEAD = 2 * _SHARE  # tasks that keep it busy while this process verifies _BY_ITSELF
_BY_ITSELF = 8
_READY, _RIGHT, _WRONG = b"r", b"1", b"0"
_SECONDS = 60.0  # without a single answer; then what waits is verified here
_CODE = "import sys; sys.path[:] = {path!r}; from vault.proofs import serve; serve()"


class Proofs:
    """One process beside this one. It ends when this is closed, or forgotten, or when this process ends."""

    def __init__(self) -> None:
        self._asked: list[bytes] = []  # tasks since the last answer
        self._handed = 0  # how many of them were handed over
        self._answers = bytearray()
        self._own = 0  # how many of the next ones are left for this process, which waited for them the last time
        self._until = sys.maxsize
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and no word from outside
                [sys.executable, "-I", "-c", _CODE.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # a key pressed to stop lace is for lace
            )
            if self._process.stdin is not None:
                os.set_blocking(self._process.stdin.fileno(), False)

    def __del__(self) -> None:
        self.close()

    def is_ready(self) -> bool:
        """Tell whether it has started and verifies; never waits."""
        if not self._ready and self._process is not None and self._wait(0):
            self._ready = self._read(1) == _READY
            if not self._ready:
                self.close()
        return self._ready

    def is_gone(self) -> bool:
        """Tell whether it never started, or ended."""
        return self._process is None

    def expect(self, count: int) -> None:
        """Say how many signatures at most are asked for next, so that both processes end at once."""
        self._until = count - self._own

    def ask(self, seal: Seal) -> None:
        """Have the signature of one Seal verified; by the other process if it has started."""
        self._asked.append(seal.signer.key + seal.plex.hash.digest + seal.signature)
        if len(self._asked) - self._handed >= _TOGETHER and len(self._asked) <= self._until:
            self._hand_over(len(self._asked))

    def are_right(self) -> bool:
        """Tell whether every signature asked for since the last answer is right.

        What was not handed over yet is verified by both processes, from both ends; then this waits for the other.
        """
        try:
            return self._meet()
        except BaseException:
            self.close()  # no later question may ever get an answer to these
            raise
        finally:
            self._asked, self._handed, self._answers, self._until = [], 0, bytearray(), sys.maxsize

    def _meet(self) -> bool:
        self._collect(0)
        asked, end, right = self._asked, len(self._asked), True
        self._own = (end - len(self._answers)) // 2 if self._handed else 0
        while self._handed < end:
            if self._handed - len(self._answers) < _AHEAD:
                self._hand_over(min(end, self._handed + _SHARE))
            start = max(self._handed, end - _BY_ITSELF)
            right = all(map(_is_right, asked[start:end])) and right
            end = start
            self._collect(0)
        while len(self._answers) < self._handed and not self.is_gone():
            self._collect(_SECONDS)
        right = right and self._answers.count(_RIGHT) == len(self._answers)
        return right and all(map(_is_right, asked[len(self._answers) : self._handed]))

    def _collect(self, seconds: float) -> None:
        """Take the answers that are there, or wait for some; without any for that long it is given up."""
        if not self._ready or len(self._answers) >= self._handed:
            return
        if self._wait(seconds):
            piece = self._read(self._handed - len(self._answers))
            self._answers += piece
            if not piece:
                self.close()
        elif seconds:
            self.close()

    def close(self) -> None:
        """Let the process end; what was asked and not answered is verified here."""
        process, self._process, self._ready = self._process, None, False
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.kill()  # it holds nothing
            process.wait()

    def _hand_over(self, end: int) -> None:
        process = self._process
        if not self.is_ready() or process is None:
            return
        pipe = cast("RawIOBase", process.stdin)
        left = memoryview(b"".join(self._asked[self._handed : end]))
        try:
            while left:
                written = pipe.write(left)  # None while the pipe is full
                if written is None and not _is_ready(pipe.fileno(), select.POLLOUT, _SECONDS):
                    self.close()
                    return
                left = left[written or 0 :]
        except BaseException as fault:
            self.close()
            if not isinstance(fault, OSError):
                raise
            return
        self._handed = end

    def _wait(self, seconds: float) -> bool:
        process = self._process
        pipe = process.stdout if process is not None else None
        return pipe is not None and _is_ready(pipe.fileno(), select.POLLIN, seconds)

    def _read(self, size: int) -> bytes:
        process = self._process
        if process is None or process.stdout is None:
            return b""
        try:
            return process.stdout.read(size) or b""
        except OSError:
            return b""


def _is_ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait for a pipe, or for its end; whatever its number is: `select` takes none above 1,023."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(1000 * seconds))


def _is_right(task: bytes) -> bool:
    key, digest = task[:_KEY], task[_KEY : _KEY + _DIGEST]
    return ED25519.verify(key, digest, task[_KEY + _DIGEST :])


def serve() -> None:
    """Verify what comes by standard input until it ends, in order: the other side of `Proofs`.

    What waits is taken over before more is verified, so that whoever hands it over goes on.
    """
    os.write(1, _READY)
    tasks = bytearray()
    while True:
        if len(tasks) < _TASK or _is_ready(0, select.POLLIN, 0):
            piece = os.read(0, 1 << 20)
            if not piece:
                return
            tasks += piece
        count = min(len(tasks) // _TASK, _SHARE)
        todo = bytes(tasks[: count * _TASK])
        del tasks[: count * _TASK]
        found = [_is_right(todo[at : at + _TASK]) for at in range(0, len(todo), _TASK)]
        os.write(1, b"".join(_RIGHT if each else _WRONG for each in found))
