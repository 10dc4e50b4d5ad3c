"""Delta bases: older bytes that new ones are like, of the content that a file had before, and of its folder.

Chunks that both versions share are the posts between which they differ; what is new between two posts is like what
the older version had there. That is only a hint to the store, which may compress one against the other; the records
are the same without it (architecture, Encodings).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from vault.desks.cutting import CHUNK_MAX
from vault.desks.pages import PageRef, level_of, parse_page
from vault.desks.ports import NearSink, Source
from vault.errors import DataError
from vault.frames import MAX_BASES, MAX_PREFIX_BYTES
from vault.profile import Chunk
from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.profile import Manifest

__all__ = ["DeltaHints", "Like", "OldPages"]

_AHEAD = 1_024  # old chunks looked through for the next post, and as many that were passed: 128 MiB or so
_GAP_BYTES = 256 << 10  # new bytes handed on together
_BEHIND_BYTES = 128 << 10  # old bytes that are laid beside new ones once more: something may have been put in
_HEAD_BYTES = 512  # of a chunk's record, at most
_MANIFESTS = 8
_PAGES = 64  # of one change: each rests in a frame of its own, and where much changes they compress well together

Like: TypeAlias = Callable[[int, str], RecordHash | None]
"""Given a level and a first name, the older page that a new one is like."""


class DeltaHints:
    """A sink for the records of one content that replaces an older one.

    Args:
        sink: takes every record, with the hint where there is one.
        source: where the older content is read.
        old: its record; nothing of it needs to be here.
    """

    def __init__(self, sink: NearSink, source: Source, old: RecordHash) -> None:
        self._sink = sink
        self._source = source
        self._manifests: dict[int, deque[tuple[int, RecordHash]]] = {}
        self._seen = 0
        self._walk = self._chunks(old)
        self._window: deque[Chunk] = deque()
        self._first = 0  # number of the window's first chunk in the old content
        self._index: dict[RecordHash, int] = {}
        self._gap: list[Plex] = []
        self._gap_bytes = 0
        self._behind = 0  # bytes of the window that stand before what comes next
        self._passed: deque[Chunk] = deque()  # old chunks since the last post: a next post may be among them

    def add(self, plex: Plex, /) -> None:
        """Take one record; chunks come before the manifests that list them."""
        if not plex.blob.data:
            self._close(self._like(self._gap_bytes))
            self._sink.add_near(plex, self._beside(plex))
            return
        self._fill()
        at = self._index.get(plex.hash)
        if at is None:
            self._gap.append(plex)
            self._gap_bytes += len(plex.blob.data)
            if self._gap_bytes >= _GAP_BYTES:
                passed = self._gap_bytes
                self._close(self._like(passed))
                self._pass(passed)
            return
        while self._first > at:
            self._first -= 1
            self._window.appendleft(self._passed.pop())
        self._close(self._until(at))
        self._forget(0)
        self._drop(at + 1 - self._first)
        self._behind = 0
        self._sink.add(plex)

    def finish(self) -> None:
        """Hand on what still waits."""
        self._close(self._like(self._gap_bytes))

    def _close(self, bases: list[RecordHash]) -> None:
        gap, self._gap, self._gap_bytes = self._gap, [], 0
        for plex in gap:
            if bases:
                self._sink.add_near(plex, bases)
            else:
                self._sink.add(plex)

    def _until(self, at: int) -> list[RecordHash]:
        """Return the old chunks up to the next post, the nearest ones when they are many."""
        before = (self._window[number] for number in range(at - self._first - 1, -1, -1))
        return _fitting(before, MAX_PREFIX_BYTES)[::-1]

    def _like(self, size: int) -> list[RecordHash]:
        """Return the next old chunks, a little more than as many bytes."""
        return _fitting(self._window, self._behind + size + CHUNK_MAX) if size else []

    def _pass(self, size: int) -> None:
        """Go on in the old content by what new bytes are taken to stand for; what was taken away may be behind that."""
        self._behind += size
        while self._window and self._behind - self._window[0].length >= _BEHIND_BYTES:
            self._behind -= self._window[0].length
            self._passed.append(self._window.popleft())
            self._first += 1
        self._forget(_AHEAD)

    def _forget(self, left: int) -> None:
        """Forget all but so many of the old chunks that were passed."""
        while len(self._passed) > left:
            number = self._first - len(self._passed)
            link = self._passed.popleft()
            if self._index.get(link.target) == number:
                del self._index[link.target]

    def _drop(self, count: int) -> None:
        for _ in range(min(count, len(self._window))):
            link = self._window.popleft()
            if self._index.get(link.target) == self._first:
                del self._index[link.target]
            self._first += 1

    def _fill(self) -> None:
        if len(self._window) > _AHEAD // 2:
            return
        while len(self._window) < _AHEAD:
            link = self._next()
            if link is None:
                return
            self._index.setdefault(link.target, self._first + len(self._window))
            self._window.append(link)

    def _next(self) -> Chunk | None:
        """Return the next old chunk; none where a manifest cannot be read, for all of it is only a hint."""
        try:
            return next(self._walk, None)
        except DataError:
            return None

    def _beside(self, plex: Plex) -> list[RecordHash]:
        """Return the old manifests of one level that list what stands before the present place."""
        level = int(plex.first("Level") or 0)
        known = self._manifests.get(level)
        if not known:
            return []
        bases = [record for first, record in known if first < max(self._first, 1)][:_MANIFESTS]
        while len(known) > 1 and known[1][0] <= self._first:
            known.popleft()
        return bases

    def _chunks(self, old: RecordHash) -> Iterator[Chunk]:
        """Yield the links to the old chunks in order, and note the manifests on the way."""
        top = self._source.part(old)
        if top is None or isinstance(top, bytes):
            if top:
                yield Chunk(len(top), old)
            return
        stack = [self._opened(top)]
        while stack:
            level, links = stack[-1]
            link = next(links, None)
            if link is None:
                stack.pop()
            elif level == 1:
                self._seen += 1
                yield link
            else:
                found = self._source.part(link.target)
                if found is None or isinstance(found, bytes) or found.level >= level:
                    return
                stack.append(self._opened(found))

    def _opened(self, manifest: Manifest) -> tuple[int, Iterator[Chunk]]:
        self._manifests.setdefault(manifest.level, deque()).append((self._seen, manifest.hash))
        return manifest.level, iter(manifest.chunks)


def _fitting(links: Iterable[Chunk], wanted: int) -> list[RecordHash]:
    """Return the first of some chunks that have as many bytes as are wanted, and that a frame may rest on together."""
    bases: list[RecordHash] = []
    size, stored = 0, 0
    for link in links:
        stored += link.length + _HEAD_BYTES
        if size >= wanted or stored > MAX_PREFIX_BYTES or len(bases) == MAX_BASES:
            break
        size += link.length
        bases.append(link.target)
    return bases


class OldPages:
    """The pages that directories had before, as what their new pages are like.

    A change of one file makes one new page on each level above it, which differs from the old one in one hash.

    Args:
        source: where old pages are read.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = _PAGES

    def of(self, root: RecordHash | None) -> Like | None:
        """Return how to find the old pages of a directory, or None when it had none or enough was said already."""
        if root is None or self._left <= 0:
            return None
        levels: dict[int, tuple[list[str], list[RecordHash]]] | None = None

        def like(level: int, name: str) -> RecordHash | None:
            nonlocal levels
            if levels is None:  # most directories have small pages, of which nobody asks
                levels = self._levels_or_none(root)
            found = levels.get(level)
            if found is None or self._left <= 0:
                return None
            self._left -= 1
            return found[1][max(0, bisect_right(found[0], name) - 1)]

        return like

    def _levels_or_none(self, root: RecordHash) -> dict[int, tuple[list[str], list[RecordHash]]]:
        """Return what `_levels` returns; nothing where it cannot be read, for it is only a hint."""
        try:
            return self._levels(root)
        except DataError:
            return {}

    def _levels(self, root: RecordHash) -> dict[int, tuple[list[str], list[RecordHash]]]:
        """Return first names and records of the pages of each level; those of level 0 are not read."""
        level = self._level(root)
        if level is None:
            return {}
        found = {level: ([""], [root])}
        while level:
            refs = [ref for page in found[level][1] for ref in self._refs(page)]
            level -= 1
            found[level] = ([ref.name for ref in refs], [ref.hash for ref in refs])
        return {level: pages for level, pages in found.items() if pages[1]}

    def _level(self, root: RecordHash) -> int | None:
        body = self._source.content(root)
        return level_of(body) if body is not None else None

    def _refs(self, page: RecordHash) -> list[PageRef]:
        body = self._source.content(page)
        return [item for item in parse_page(body).items if isinstance(item, PageRef)] if body is not None else []
