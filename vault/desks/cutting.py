"""Where content of any size is cut, and the records that are made of it (CLAY-35, APP-13).

Up to 256 KiB one data record holds a content. Above, it is cut into chunks of 128 KiB or so at places that depend
on the bytes nearby and on nothing else, so that a change makes new chunks only where it is. Each chunk is a data
record; manifests list them, manifests of manifests list those. Where a manifest ends depends on the hashes it
lists, not on how many stand before it. Nothing is free in any of this: equal content is one record, whoever cuts
it, in one piece or in a thousand (docs/formats.md section 2).

Nothing here holds more than a few windows in memory, whatever the size of the content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blake3 import blake3

from vault.desks.content import data_plex
from vault.desks.pages import TreeTooLarge
from vault.profile import MAX_CHUNKS, MAX_DIRECT_BYTES, Chunk
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.desks.ports import Sink

__all__ = [
    "CHUNK_AVERAGE",
    "CHUNK_MAX",
    "CHUNK_MIN",
    "MAX_FILE_BYTES",
    "MIN_LINKS",
    "ContentWriter",
    "Cutter",
    "add_content",
    "is_last_link",
]

# The cutting parameters of profile 0 (docs/formats.md section 2): other values give other records for equal content.
CHUNK_MIN: Final = 32_768
CHUNK_AVERAGE: Final = 131_072  # bytes; all of these are decision 7
CHUNK_MAX: Final = 262_144  # bytes
_NORMALIZATION: Final = 1
_SEED: Final = 0
MIN_LINKS: Final = 16  # so that every level is smaller than the one below, also where all chunks are equal
_LINK_CUT: Final = 4  # a first byte below this ends a manifest: one link in 64

MAX_FILE_BYTES: Final = 1 << 44  # 16 TiB: 8 levels of at least 16 links hold it however it is cut
_WINDOW: Final = 1 << 20  # more than 256 KiB, so that small content is never cut


class _Level:
    """One manifest in the making: its links, and the digest of the content below them."""

    __slots__ = ("digest", "links")

    def __init__(self, digest: blake3) -> None:
        self.links: list[Chunk] = []
        self.digest = digest


class Cutter:
    """Finds the cuts in a stream of bytes, a window at a time."""

    def __init__(self) -> None:
        from pyfastcdc import FastCDC  # only a large file is cut

        self._cdc = FastCDC(
            CHUNK_AVERAGE,
            min_size=CHUNK_MIN,
            max_size=CHUNK_MAX,
            normalized_chunking=_NORMALIZATION,
            seed=_SEED,
        )
        self._waiting: list[bytes | memoryview] = []
        self._waiting_bytes = 0
        self._seen = 0

    def add(self, piece: bytes | memoryview) -> bool:
        """Take the next bytes; tell whether there is enough to cut."""
        self._waiting.append(piece)
        self._waiting_bytes += len(piece)
        return self._waiting_bytes >= _WINDOW

    def whole(self) -> bytes:
        """Return what waits to be cut."""
        return b"".join(self._waiting)

    def fresh(self) -> memoryview:
        """Return what was added since this was last asked, in one piece that `cut` need not join again."""
        window = self.whole()
        self._waiting = [window]
        seen, self._seen = self._seen, len(window)
        return memoryview(window)[seen:]

    def cut(self, *, is_end: bool) -> tuple[memoryview, list[int]]:
        """Return a window and the ends of its chunks; before the end, only where no byte to come could move a cut."""
        window = self.whole()
        ends: list[int] = []
        for chunk in self._cdc.cut_buf(window):
            if not is_end and chunk.offset + CHUNK_MAX > len(window):
                break
            ends.append(chunk.offset + chunk.length)
        done = ends[-1] if ends else 0
        self._waiting = [window[done:]]
        self._waiting_bytes = self._seen = len(window) - done
        return memoryview(window)[:done], ends


class ContentWriter:
    """Turns a stream of bytes into the records of that content.

    How the bytes are split between calls does not matter.

    Args:
        group: the full group id.
        sink: takes every record, also those it has already; chunks come before the manifests that list them.
    """

    def __init__(self, group: str, sink: Sink) -> None:
        self._group = group
        self._sink = sink
        self._cutter = Cutter()
        self._levels = [_Level(blake3())]
        self._undigested = memoryview(b"")
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            TreeTooLarge: it is more than 16 TiB by now.
        """
        self.size += len(piece)
        if self.size > MAX_FILE_BYTES:
            raise TreeTooLarge(f"A file holds at most {MAX_FILE_BYTES >> 40} TiB.")
        if self._cutter.add(piece):
            self._cut(is_end=False)

    def finish(self) -> RecordHash:
        """Return the record that stands for the whole content: data up to 256 KiB, else a manifest."""
        if self.size <= MAX_DIRECT_BYTES:
            plex = data_plex(self._group, self._cutter.whole())
            self._sink.add(plex)
            return plex.hash
        self._cut(is_end=True)
        at = 0
        while at + 1 < len(self._levels):
            if self._levels[at].links:
                self._link(at + 1, self._close(at))
            at += 1
        top = self._levels[at]
        if at and len(top.links) == 1:
            return top.links[0].target
        return self._close(at).target

    def _cut(self, *, is_end: bool) -> None:
        window, ends = self._cutter.cut(is_end=is_end)
        digested = start = 0
        for end in ends:
            plex = data_plex(self._group, bytes(window[start:end]))
            self._sink.add(plex)
            self._undigested = window[digested:end]
            self._link(0, Chunk(end - start, plex.hash))
            if not self._undigested:
                digested = end
            start = end
        self._digest()

    def _digest(self) -> None:
        """Bring the digests of all levels up to the last chunk; seldom and with many bytes, which is cheaper."""
        for level in self._levels:
            level.digest.update(self._undigested)
        self._undigested = memoryview(b"")

    def _link(self, at: int, link: Chunk) -> None:
        links = self._levels[at].links
        links.append(link)
        if len(links) == MAX_CHUNKS or is_last_link(len(links), link):
            self._digest()
            if at + 1 == len(self._levels):  # so far, the new level's content is all there was
                self._levels.append(_Level(self._levels[at].digest.copy()))
            self._link(at + 1, self._close(at))

    def _close(self, at: int) -> Chunk:
        """Make the manifest of one level and begin the next of that level."""
        from vault.profile import Manifest  # small contents have none

        self._digest()
        level = self._levels[at]
        plex = Manifest.to_plex(group=self._group, digest=level.digest.digest(), level=at + 1, chunks=level.links)
        self._sink.add(plex)
        made = Chunk(sum(link.length for link in level.links), plex.hash)
        self._levels[at] = _Level(blake3())
        return made


def is_last_link(number: int, link: Chunk) -> bool:
    """Tell whether a manifest ends after its `number`th link because of the hash it names."""
    return number >= MIN_LINKS and link.target.digest[0] < _LINK_CUT


def add_content(group: str, content: bytes, sink: Sink) -> RecordHash:
    """Add the records of a content to the sink and return the one that stands for all of it."""
    writer = ContentWriter(group, sink)
    writer.add(content)
    return writer.finish()
