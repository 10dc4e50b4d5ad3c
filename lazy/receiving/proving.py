"""Large contents proven by a thread beside the sync that brings them, so that the end of a round is not all of it.

A release is shown when its content is what its SHA-512 says and is cut as everybody cuts it (CLAY-12, CLAY-35). To read
and sum a gigabyte again takes as long as taking it in. So where there is a second processor, each content is proven
there once all of it is stored, through a connection of the thread's own. What it finds is only a value that the end of
the round would find; what it could not prove is proven then, and whatever is wrong with it is said there.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterable
from hashlib import sha512
from pathlib import Path

from vault.desks.chunks import check_content
from vault.desks.pages import Entry
from vault.errors import Cancelled, LaceError
from vault.profile import Manifest
from vault.records import RecordHash
from vault.store import Store

__all__ = ["Proving"]

_MOST = 10_000  # contents that are waited for; the end of the round proves the others
_TRIED = 64  # of them each time something was stored
_CACHE = "PRAGMA cache_size=-2000"  # kilobytes: it reads on from where it was, beside a sync that needs its memory
_WAITED = 64 << 20  # bytes of the last one that the end of the round waits for: what is more it does by itself


class _Shared:
    """What the thread and its owner both know; the thread does not know its owner, so that either may end first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changed = threading.Condition()
        self.waiting: deque[tuple[Entry, RecordHash]] = deque()  # with what was missing the last time, or the top
        self.is_news = False
        self.is_over = False
        self.found: dict[RecordHash, str] = {}


class Proving:
    """One thread that proves what was stored; it begins with the first large content and ends with `end`.

    Args:
        store: file of the store that the contents come into.
    """

    def __init__(self, store: Path) -> None:
        self._shared = _Shared(store)
        self._seen: set[RecordHash] = set()
        self._thread: threading.Thread | None = None

    def __del__(self) -> None:
        self.end()

    def expect(self, entries: Iterable[Entry]) -> None:
        """Wait for the contents of some entries."""
        fresh = {entry.hash: entry for entry in entries if entry.hash not in self._seen}
        if len(self._seen) + len(fresh) <= _MOST:
            self._seen |= fresh.keys()
            with self._shared.changed:
                self._shared.waiting.extend((entry, record) for record, entry in fresh.items())

    def stored(self) -> None:
        """Say that something was stored: what is whole by now is proven."""
        if not self._seen:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=_prove, args=(self._shared,), name="lace-prove", daemon=True)
            self._thread.start()
        with self._shared.changed:
            self._shared.is_news = True
            self._shared.changed.notify()

    def end(self) -> dict[RecordHash, str]:
        """End the thread, after the content it is at if little of that is left.

        Where the thread itself collects its forgotten owner, it cannot be waited for, and ends by itself.

        Returns:
            The SHA-512 of what it proved, 128 hex digits each.
        """
        thread, self._thread = self._thread, None
        if thread is not None:
            with self._shared.changed:
                self._shared.is_over = True
                self._shared.changed.notify()
            if thread is not threading.current_thread():
                thread.join()
        return self._shared.found


def _prove(shared: _Shared) -> None:
    try:
        with Store(shared.path) as store:
            store.db.execute(_CACHE)
            while _told(shared):
                _try_next(shared, store)
    except (LaceError, sqlite3.Error, OSError):
        return  # the end of the round does it, and says what is wrong


def _try_next(shared: _Shared, store: Store) -> None:
    """Prove what waits and is all here by now; what is not waits on, in its order."""
    left: list[tuple[Entry, RecordHash]] = []
    while len(left) < _TRIED and (asked := _next(shared)) is not None:
        gone = _try(shared, store, *asked)
        if gone is not None:
            left.append((asked[0], gone))
    with shared.changed:
        shared.waiting.extendleft(reversed(left))


def _told(shared: _Shared) -> bool:
    """Wait until something was stored; False when it is over."""
    with shared.changed:
        shared.changed.wait_for(lambda: shared.is_news or shared.is_over)
        shared.is_news = False
        return not shared.is_over


def _next(shared: _Shared) -> tuple[Entry, RecordHash] | None:
    with shared.changed:
        return shared.waiting.popleft() if shared.waiting and not shared.is_over else None


def _try(shared: _Shared, store: Store, entry: Entry, gone: RecordHash) -> RecordHash | None:
    """Prove one content if all of it is here, or return a record that is missing."""
    missing = gone if not store.have([gone]) else _missing(store, entry.hash)
    if missing is not None:
        return missing
    total, left = sha512(), entry.size

    def take(piece: bytes | memoryview) -> None:
        nonlocal left
        left -= len(piece)
        if shared.is_over and left > _WAITED:
            raise Cancelled("The round is over.")
        total.update(piece)

    try:
        check_content(store, entry, take)
    except LaceError:
        return None  # the end of the round says what is wrong with it
    shared.found[entry.hash] = total.hexdigest()
    return None


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
