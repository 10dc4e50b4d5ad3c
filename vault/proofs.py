"""Signatures verified by a process beside this one, while this one reads and stores what they stand on.

To verify a signature takes as long as all the rest of taking a small record in, and Python runs one thread at a time.
So where much arrives and there is a second processor, a worker verifies: it is fed packed tasks, key, digest and
signature of 128 bytes, and answers each with one byte, in order. What it says is as good as what this process would
find: it runs the same suite. Where it cannot start, or ends, nothing depends on it. And who has less to do verifies
more: what this process waited for in one batch, it does half of in the next.
"""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

from vault.records import Seal
from vault.suite import ED25519

if TYPE_CHECKING:
    from vault.worker_process import WorkerProcess

__all__ = ["LEAST", "Proofs", "serve"]

LEAST = 400  # Seals in one batch from which on it is likely that enough follow to pay for a start of some 50 ms
_KEY, _DIGEST, _SIGNATURE = 32, 32, 64
_TASK = _KEY + _DIGEST + _SIGNATURE
_TOGETHER = 64  # tasks in one write; so few that the pipe never blocks
_SHARE = 16  # tasks in one write near the end, so that neither process waits long for the other
_AHEAD = 2 * _SHARE  # tasks that keep it busy while this process verifies _BY_ITSELF
_BY_ITSELF = 8
_READY, _RIGHT, _WRONG = b"r", b"1", b"0"
_GRACE = 2.0  # s without an answer; then this process verifies the rest, for it holds the lock of the vault


class Proofs:
    """One process beside this one. It ends when this is closed, or forgotten, or when this process ends."""

    def __init__(self) -> None:
        self._asked: list[bytes] = []  # tasks since the last answer
        self._handed = 0  # how many of them were handed over
        self._answers = bytearray()
        self._own = 0  # how many of the next tasks this process keeps for itself, as it had to wait the last time
        self._until = sys.maxsize
        from vault.worker_process import WorkerProcess  # a sync that brings little begins no process

        self._worker: WorkerProcess | None = WorkerProcess(__name__, serve.__name__)
        self._ready = False

    def __del__(self) -> None:
        self.close()

    def is_ready(self) -> bool:
        """Tell whether it has started and verifies; never waits."""
        if not self._ready and self._worker is not None and self._worker.wait(0):
            self._ready = self._worker.read(1) == _READY
            if not self._ready:
                self.close()
        return self._ready

    def is_gone(self) -> bool:
        """Tell whether it never started, or ended."""
        return self._worker is None or self._worker.number is None

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
            self._collect(_GRACE)
        right = right and self._answers.count(_RIGHT) == len(self._answers)
        return right and all(map(_is_right, asked[len(self._answers) : self._handed]))

    def _collect(self, seconds: float) -> None:
        """Take the answers that are there, or wait for some; without any for that long it is given up."""
        worker = self._worker
        if worker is None or not self._ready or len(self._answers) >= self._handed:
            return
        if worker.wait(seconds):
            piece = worker.read(self._handed - len(self._answers))
            self._answers += piece
            if not piece:
                self.close()
        elif seconds:
            self.close()

    def close(self) -> None:
        """Let the process end; what was asked and not answered is verified here."""
        worker, self._worker, self._ready = self._worker, None, False
        if worker is not None:
            worker.close()

    def _hand_over(self, end: int) -> None:
        worker = self._worker
        if not self.is_ready() or worker is None:
            return
        left = memoryview(b"".join(self._asked[self._handed : end]))
        try:
            while left:
                written = worker.write(left, _GRACE)
                if not written:
                    self.close()
                    return
                left = left[written:]
        except BaseException as fault:
            self.close()
            if not isinstance(fault, OSError):
                raise
            return
        self._handed = end


def _is_right(task: bytes) -> bool:
    key, digest = task[:_KEY], task[_KEY : _KEY + _DIGEST]
    return ED25519.verify(key, digest, task[_KEY + _DIGEST :])


def serve() -> None:
    """Verify what comes by standard input until it ends, in order: the other side of `Proofs`.

    What waits is taken over before more is verified, so that whoever hands it over goes on.
    """
    from vault.worker_process import is_ready  # this is such a process

    os.write(1, _READY)
    tasks = bytearray()
    while True:
        if len(tasks) < _TASK or is_ready(0, select.POLLIN, 0):
            piece = os.read(0, 1 << 20)
            if not piece:
                return
            tasks += piece
        count = min(len(tasks) // _TASK, _SHARE)
        todo = bytes(tasks[: count * _TASK])
        del tasks[: count * _TASK]
        found = [_is_right(todo[at : at + _TASK]) for at in range(0, len(todo), _TASK)]
        os.write(1, b"".join(_RIGHT if each else _WRONG for each in found))
