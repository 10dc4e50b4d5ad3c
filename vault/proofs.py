"""Signatures verified by a process beside this one, while this one reads and stores what they stand on.

To verify a signature takes as long as all the rest of taking a small record in, and Python runs one thread at a time.
So where much arrives and there is a second processor, a process that is started anew, never forked, verifies: it is fed
packed tasks, key, digest and signature of 128 bytes, and answers each with one byte, in order. What it says is as good
as what this process would find: it runs the same suite. Where it cannot start, or ends, nothing depends on it.
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
_READY, _RIGHT, _WRONG = b"r", b"1", b"0"
_SECONDS = 60.0  # without a single answer; then what waits is verified here
_CODE = "import sys; sys.path[:] = {path!r}; from vault.proofs import serve; serve()"


class Proofs:
    """One process beside this one. It ends when this is closed, or forgotten, or when this process ends."""

    def __init__(self) -> None:
        self._asked: list[bytes] = []  # tasks without an answer, the last of them not handed over yet
        self._handed = 0
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

    def ask(self, seal: Seal) -> None:
        """Have the signature of one Seal verified."""
        self._asked.append(seal.signer.key + seal.plex.hash.digest + seal.signature)
        if len(self._asked) - self._handed >= _TOGETHER:
            self._hand_over()

    def are_right(self) -> bool:
        """Tell whether every signature asked for since the last answer is right; waits until that is known."""
        self._hand_over()
        asked, self._asked, self._handed = self._asked, [], 0
        answers = b""
        try:
            while self._ready and len(answers) < len(asked):
                piece = self._read(len(asked) - len(answers)) if self._wait(_SECONDS) else b""
                if not piece:
                    self.close()
                answers += piece
        except BaseException:
            self.close()  # no later question may ever get an answer to these
            raise
        return answers.count(_RIGHT) == len(answers) and all(map(_is_right, asked[len(answers) :]))

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

    def _hand_over(self) -> None:
        tasks = self._asked[self._handed :]
        if not self._ready or self._process is None:
            return
        pipe = cast("RawIOBase", self._process.stdin)
        left = memoryview(b"".join(tasks))
        try:
            while left:
                written = pipe.write(left)  # None while the pipe is full
                if written is None and not select.select([], [pipe], [], _SECONDS)[1]:
                    self.close()
                    return
                left = left[written or 0 :]
        except BaseException as fault:
            self.close()
            if not isinstance(fault, OSError):
                raise
        self._handed = len(self._asked)

    def _wait(self, seconds: float) -> bool:
        process = self._process
        return process is not None and bool(select.select([cast("RawIOBase", process.stdout)], [], [], seconds)[0])

    def _read(self, size: int) -> bytes:
        process = self._process
        if process is None or process.stdout is None:
            return b""
        try:
            return process.stdout.read(size) or b""
        except OSError:
            return b""


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
        if len(tasks) < _TASK or select.select([0], [], [], 0)[0]:
            piece = os.read(0, 1 << 20)
            if not piece:
                return
            tasks += piece
        count = min(len(tasks) // _TASK, _TOGETHER)
        todo = bytes(tasks[: count * _TASK])
        del tasks[: count * _TASK]
        found = [_is_right(todo[at : at + _TASK]) for at in range(0, len(todo), _TASK)]
        os.write(1, b"".join(_RIGHT if each else _WRONG for each in found))
