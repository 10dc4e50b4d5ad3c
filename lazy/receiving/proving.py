"""Large contents proven by a process beside the sync that brings them, so that the end of a round is not all of it.

A release is shown when its content is what its SHA-512 says and is cut as everybody cuts it (CLAY-12, CLAY-35). To read
and sum a gigabyte again takes as long as taking it in. So where there is a second processor and much to prove, each
content is proven by a worker once all of it is stored, through a connection of its own. A thread of the sync and the
sync waited for each other tens of thousands of times a gigabyte. What it finds is only a value that the end of the
round would find; what it could not prove is proven then, and whatever is wrong with it is said there.
"""

from __future__ import annotations

import os
import select
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha512
from pathlib import Path
from struct import Struct

from vault.desks.chunks import check_content
from vault.desks.pages import Entry, checked_entry
from vault.errors import Cancelled, LaceError
from vault.profile import Manifest
from vault.records import RecordHash
from vault.store import Store
from vault.worker_process import WorkerProcess, is_ready

__all__ = ["Proving", "serve"]

_LEAST = 16 << 20  # bytes of contents that pay for a start of some 100 ms
_MOST = 10_000  # contents that are waited for; the end of the round proves the others
_CACHE = "PRAGMA cache_size=-2000"  # kilobytes: it reads on from where it was, beside a sync that needs its memory
_WAITED = 64 << 20  # bytes of the last one that the end of the round waits for: what is more it does by itself
_SECONDS = 60.0  # without a single answer at the end; what is left is proven here then
_GRACE = 2.0  # seconds of waiting that remain once the person asks to stop
_SLICE = 0.1
_TASK = Struct(">32sQ")  # the digest of a content's record and its bytes
_NEWS = _TASK.pack(bytes(32), 0)  # something was stored: what is whole by now is proven
_ANSWER = Struct(">32s64s")  # the digest of a content's record and its SHA-512
_PIECE = 1 << 16  # bytes read of a pipe at once


class Proving:
    """One process that proves what was stored; it begins once much waits, and ends with `end` or `close`.

    Args:
        store: file of the store that the contents come into.
    """

    def __init__(self, store: Path) -> None:
        self._path = store
        self._seen: set[RecordHash] = set()
        self._bytes = 0
        self._tasks = bytearray()  # that were not handed over yet
        self._answers = bytearray()
        self._worker: WorkerProcess | None = None

    def __del__(self) -> None:
        self.close()

    def expect(self, entries: Iterable[Entry]) -> None:
        """Wait for the contents of some entries."""
        fresh = {entry.hash: entry.size for entry in entries if entry.hash not in self._seen}
        if len(self._seen) + len(fresh) <= _MOST:
            self._seen |= fresh.keys()
            self._bytes += sum(fresh.values())
            for record, size in fresh.items():
                self._tasks += _TASK.pack(record.digest, size)

    def stored(self) -> None:
        """Say that something was stored: what is whole by now is proven. Never waits."""
        if self._bytes < _LEAST:
            return
        if self._worker is None:
            self._worker = WorkerProcess(__name__, serve.__name__, str(self._path))
        if not self._tasks.endswith(_NEWS):
            self._tasks += _NEWS
        with suppress(OSError):  # it ended; the end of the round does all it did not
            del self._tasks[: self._worker.write(self._tasks)]
            while self._worker.wait(0) and (piece := self._worker.read(_PIECE)):
                self._answers += piece

    def end(self, is_stopped: Callable[[], bool]) -> dict[RecordHash, str]:
        """End the process, after the content it is at if little of that is left.

        Args:
            is_stopped: tells whether the person asked to stop; then it is not waited for long.

        Returns:
            The SHA-512 of what it proved, 128 hex digits each.
        """
        worker = self._worker
        if worker is not None:
            with suppress(OSError):
                worker.end_input()
            while _answers_soon(worker, is_stopped) and (piece := worker.read(_PIECE)):
                self._answers += piece
            self.close()
        whole = len(self._answers) - len(self._answers) % _ANSWER.size
        found = _ANSWER.iter_unpack(bytes(self._answers[:whole]))
        return {name: total.hex() for digest, total in found if (name := RecordHash("P", digest)) in self._seen}

    def close(self) -> None:
        """End the process at once."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def _answers_soon(worker: WorkerProcess, is_stopped: Callable[[], bool]) -> bool:
    """Wait for an answer, or the end of them, and tell whether it came in time: it may stand still."""
    begun = time.monotonic()
    while not worker.wait(_SLICE):
        if time.monotonic() - begun > (_GRACE if is_stopped() else _SECONDS):
            return False
    return True


class _Asked:
    """What comes by standard input: contents to wait for, and that something was stored."""

    def __init__(self) -> None:
        self.waiting: dict[Entry, RecordHash] = {}  # in order, with what was missing the last time, or the top
        self._read = bytearray()
        self._is_news = self._is_over = False

    def news(self) -> bool:
        """Wait until something was stored; False when it is over."""
        while not self._is_news and not self._is_over:
            self._read_on()
        self._is_news = False
        return not self._is_over

    def is_over(self) -> bool:
        """Tell whether nothing more is asked for; never waits."""
        while not self._is_over and is_ready(0, select.POLLIN, 0):
            self._read_on()
        return self._is_over

    def _read_on(self) -> None:
        piece = os.read(0, _PIECE)
        self._is_over = not piece
        self._read += piece
        whole = len(self._read) - len(self._read) % _TASK.size
        for digest, size in _TASK.iter_unpack(bytes(self._read[:whole])):
            if size:
                entry = checked_entry("f", "-", size, digest, "content")
                self.waiting[entry] = entry.hash
            else:
                self._is_news = True
        del self._read[:whole]


def serve(store: str) -> None:
    """Prove what is asked for by standard input until that ends: the other side of `Proving`.

    Args:
        store: file of the store; it is only read.
    """
    asked = _Asked()
    try:
        with Store(Path(store)) as opened:
            opened.db.execute(_CACHE)
            while asked.news():
                _try_all(asked, opened)
    except (LaceError, sqlite3.Error, OSError):
        return  # the end of the round does it, and says what is wrong


def _try_all(asked: _Asked, store: Store) -> None:
    """Prove what waits and is all here by now, in its order; what was missing is asked for at once, of all."""
    came = store.have(set(asked.waiting.values()))
    for entry in [entry for entry, gone in asked.waiting.items() if gone in came]:
        if asked.is_over():
            return
        missing = _missing(store, entry.hash)
        if missing is not None:
            asked.waiting[entry] = missing
        else:
            del asked.waiting[entry]
            _prove(asked, store, entry)


def _prove(asked: _Asked, store: Store, entry: Entry) -> None:
    """Prove one content of which all is here, and answer with its SHA-512 if nothing is wrong with it."""
    total, left = sha512(), entry.size

    def take(piece: bytes | memoryview) -> None:
        nonlocal left
        left -= len(piece)
        if left > _WAITED and asked.is_over():
            raise Cancelled("The round is over.")
        total.update(piece)

    try:
        check_content(store, entry, take)
    except LaceError:
        return  # the end of the round says what is wrong with it
    os.write(1, _ANSWER.pack(entry.hash.digest, total.digest()))


def _missing(store: Store, top: RecordHash) -> RecordHash | None:
    """Return a record of a content that is not here, or None; a manifest is read once, however often it is listed."""
    seen = {top}
    stack = [top]
    while stack:
        part = store.part(stack.pop())
        if not isinstance(part, Manifest):
            continue
        below = {link.target for link in part.chunks}
        gone = below - store.have(below)
        if gone:
            return min(gone)
        if part.level > 1:
            stack += below - seen
            seen |= below
    return None
