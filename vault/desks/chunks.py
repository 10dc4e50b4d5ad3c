"""Content of any size in parts: cut where the bytes say, listed by manifests, read as a stream (CLAY-35, APP-13).

Up to 256 KiB one data record holds a content. Above, it is cut into chunks of 64 KiB or so at places that depend
on the bytes nearby and on nothing else, so that a change makes new chunks only where it is. Each chunk is a data
record; manifests list them, manifests of manifests list those. Where a manifest ends depends on the hashes it
lists, not on how many stand before it. Nothing is free in any of this: equal content is one record, whoever cuts
it, in one piece or in a thousand (docs/formats.md section 2).

Nothing here holds more than a few windows in memory, whatever the size of the content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from blake3 import blake3

from vault.desks.content import data_plex
from vault.desks.pages import Entry, TreeError, TreeTooLarge
from vault.errors import DataError
from vault.profile import MAX_CHUNKS, MAX_DIRECT_BYTES, Chunk
from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.desks.ports import Sink, Source
    from vault.profile import Manifest

__all__ = [
    "CHUNK_AVERAGE",
    "CHUNK_MAX",
    "CHUNK_MIN",
    "MAX_FILE_BYTES",
    "MAX_WHOLE_BYTES",
    "MIN_LINKS",
    "ContentWriter",
    "MissingObject",
    "Part",
    "RunSource",
    "add_content",
    "check_content",
    "check_here",
    "entry_pieces",
    "part_of",
    "pieces_of",
    "whole_of",
]

# The cutting parameters of profile 0 (docs/formats.md section 2): other values give other records for equal content.
CHUNK_MIN: Final = 16_384
CHUNK_AVERAGE: Final = 65_536
CHUNK_MAX: Final = 262_144
_NORMALIZATION: Final = 1
_SEED: Final = 0
MIN_LINKS: Final = 16  # so that every level is smaller than the one below, also where all chunks are equal
_LINK_CUT: Final = 4  # a first byte below this ends a manifest: one link in 64

MAX_FILE_BYTES: Final = 1 << 44  # 16 TiB: 8 levels of at least 16 links hold it however it is cut
MAX_WHOLE_BYTES: Final = 32 << 20  # what is ever handed out in one piece
_WINDOW: Final = 1 << 20  # more than 256 KiB, so that small content is never cut

Part: TypeAlias = "bytes | Manifest"


class MissingObject(DataError):  # noqa: N818 - it names the thing
    """A tree page or file content that is not in this vault."""

    code = "object-missing"
    exit_code = 42
    hint = "Sync with a friend who has it, then try again. If you let it go, ask for it first: lace fetch DESK@CASE"

    def __init__(self, record: RecordHash, what: str) -> None:
        super().__init__(f"{what} {record.text} is not in this vault.")
        self.record = record


# Writing


class _Level:
    """One manifest in the making: its links, and the digest of the content below them."""

    __slots__ = ("digest", "links")

    def __init__(self, digest: blake3) -> None:
        self.links: list[Chunk] = []
        self.digest = digest


class _Cutter:
    """Finds the cuts in a stream of bytes, a window at a time."""

    def __init__(self) -> None:
        from pyfastcdc import FastCDC  # noqa: PLC0415 - only a large file is cut

        self._cdc = FastCDC(
            CHUNK_AVERAGE,
            min_size=CHUNK_MIN,
            max_size=CHUNK_MAX,
            normalized_chunking=_NORMALIZATION,
            seed=_SEED,
        )
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def add(self, piece: bytes) -> bool:
        """Take the next bytes; tell whether there is enough to cut."""
        self._waiting.append(piece)
        self._waiting_bytes += len(piece)
        return self._waiting_bytes >= _WINDOW

    def whole(self) -> bytes:
        """Return what waits to be cut."""
        return b"".join(self._waiting)

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
        self._waiting_bytes = len(window) - done
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
        self._cutter = _Cutter()
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
        if len(links) == MAX_CHUNKS or _ends(len(links), link):
            self._digest()
            if at + 1 == len(self._levels):  # so far, the new level's content is all there was
                self._levels.append(_Level(self._levels[at].digest.copy()))
            self._link(at + 1, self._close(at))

    def _close(self, at: int) -> Chunk:
        """Make the manifest of one level and begin the next of that level."""
        from vault.profile import Manifest  # noqa: PLC0415 - small contents have none

        self._digest()
        level = self._levels[at]
        plex = Manifest.to_plex(group=self._group, digest=level.digest.digest(), level=at + 1, chunks=level.links)
        self._sink.add(plex)
        made = Chunk(sum(link.length for link in level.links), plex.hash)
        self._levels[at] = _Level(blake3())
        return made


def _ends(number: int, link: Chunk) -> bool:
    """Tell whether a manifest ends after its `number`th link because of the hash it names."""
    return number >= MIN_LINKS and link.target.digest[0] < _LINK_CUT


def add_content(group: str, content: bytes, sink: Sink) -> RecordHash:
    """Add the records of a content to the sink and return the one that stands for all of it."""
    writer = ContentWriter(group, sink)
    writer.add(content)
    return writer.finish()


# Reading

Parts: TypeAlias = "Callable[[RecordHash], Part | None]"
Blobs = Callable[[Sequence[RecordHash]], Iterator[memoryview | None]]


@runtime_checkable
class RunSource(Protocol):
    """A source that reads many chunks at once, where they lie side by side."""

    def blobs(self, records: Sequence[RecordHash], /) -> Iterator[memoryview | None]:
        """Yield the proven bytes of each record's Blob in order; None where `Source.part` must say what is there."""

    def lengths(self, records: Sequence[RecordHash], /) -> dict[RecordHash, int]:
        """Return what `Source.length` gives of those that are here."""


def part_of(plex: Plex) -> Part:
    """Return what a validated record holds itself: the bytes of its Blob, or the list of its parts."""
    if plex.extras and not plex.blob.data:
        from vault.profile import Manifest, read_data  # noqa: PLC0415 - small contents have none

        value = read_data(plex)
        if isinstance(value, Manifest):
            return value
    return plex.blob.data


def pieces_of(parts: Parts, record: RecordHash, many: Blobs | None = None) -> Iterator[bytes] | None:
    """Return the content of a record in order, in pieces of at most 256 KiB; None when the record is not here.

    The manifests may come from anybody: each length is compared before a byte is given out, levels go down by one,
    and at the end the digest of all of it must be the name of the record. A caller who must not act on wrong bytes
    waits for the end.

    Args:
        parts: reads one validated record, see `part_of`; None when it is not here.
        record: a data record, a manifest, or anything else with a body.
        many: reads many data records at once, see `RunSource.blobs`.

    Raises:
        MissingObject: while iterating, a part is not here.
        TreeError: at once or while iterating, a manifest is not what it says.
    """
    top = parts(record)
    if top is None or isinstance(top, bytes):
        return None if top is None else iter((top,) if top else ())
    _check_top(top)
    return _stream(parts, top, many)


def _check_top(top: Manifest) -> None:
    if not MAX_DIRECT_BYTES < top.size <= MAX_FILE_BYTES:
        raise TreeError(f"The manifest {top.hash.text} is of {top.size} bytes, which no manifest is for.")


def _stream(parts: Parts, top: Manifest, many: Blobs | None) -> Iterator[bytes]:
    whole = blake3()
    for manifest in _lowest(parts, top):
        for piece in _joined(_chunks(parts, manifest, many)):
            whole.update(piece)
            yield piece
    if whole.digest() != top.digest:
        raise TreeError(f"The manifest {top.hash.text} lists other content than its name says.")


def _lowest(parts: Parts, top: Manifest) -> Iterator[Manifest]:
    """Yield the manifests that list chunks, in order; those between are checked."""
    if top.level == 1:
        yield top
        return
    stack = [(top.level, iter(top.chunks))]
    while stack:
        level, links = stack[-1]
        link = next(links, None)
        if link is None:
            stack.pop()
            continue
        found = parts(link.target)
        if found is None:
            raise MissingObject(link.target, "The content")
        if isinstance(found, bytes) or found.level != level - 1 or found.size != link.length:
            raise _not_as_listed(link)
        if found.level == 1:
            yield found
        else:
            stack.append((found.level, iter(found.chunks)))


def _chunks(parts: Parts, manifest: Manifest, many: Blobs | None) -> Iterator[bytes | memoryview]:
    """Yield the chunks that a manifest of level 1 lists, in order, each as long as its link says."""
    links = manifest.chunks
    at_once = many([link.target for link in links]) if many is not None else repeat(None, len(links))
    for link, blob in zip(links, at_once, strict=True):
        found = parts(link.target) if blob is None else blob
        if found is None:
            raise MissingObject(link.target, "The content")
        if not isinstance(found, bytes | memoryview) or len(found) != link.length:
            raise _not_as_listed(link)
        yield found


def _joined(chunks: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """Yield the same bytes in fewer pieces, which is what a write or a digest wants."""
    waiting: list[bytes | memoryview] = []
    size = 0
    for chunk in chunks:
        if size + len(chunk) > MAX_DIRECT_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
        waiting.append(chunk)
        size += len(chunk)
    if waiting:
        yield b"".join(waiting)


def _not_as_listed(link: Chunk) -> TreeError:
    return TreeError(f"The content {link.target.text} is not what the manifest above it says.")


def whole_of(parts: Parts, record: RecordHash, many: Blobs | None = None) -> bytes | None:
    """Return a content in one piece; None when the record is not here.

    Raises:
        MissingObject: a part of it is not here.
        TreeError: a manifest is not what it says.
        TreeTooLarge: it is more than 32 MiB; read it in pieces.
    """
    top = parts(record)
    if top is None or isinstance(top, bytes):
        return top
    _check_top(top)
    if top.size > MAX_WHOLE_BYTES:
        raise TreeTooLarge(f"The content {record.text} has {top.size} bytes, too many for one piece.")
    return b"".join(_stream(parts, top, many))


def entry_pieces(source: Source, entry: Entry) -> Iterator[bytes]:
    """Return the content of a file or the target text of a link in pieces; see `pieces_of`.

    Raises:
        MissingObject: it is not here, or, while iterating, a part of it is not.
        TreeError: it has another size than the entry says, or is not what it says.
    """
    found = source.part(entry.hash)
    if found is None:
        raise MissingObject(entry.hash, "The content")
    size = len(found) if isinstance(found, bytes) else found.size
    if size != entry.size:
        raise TreeError(f"{entry.name!r} has {size} bytes where its tree says {entry.size}.")
    if isinstance(found, bytes):
        return iter((found,) if found else ())
    _check_top(found)
    return _stream(source.part, found, _many(source))


def _many(source: Source) -> Blobs | None:
    return source.blobs if isinstance(source, RunSource) else None


def check_here(source: Source, entry: Entry) -> None:
    """Make sure that all of an entry's content is here and has the sizes that are said, without reading it.

    Raises:
        MissingObject: a part is not here.
        TreeError: a size is not what is said.
    """
    size = source.length(entry.hash)
    if size is None:
        raise MissingObject(entry.hash, "The content")
    if entry.size <= MAX_DIRECT_BYTES and size == entry.size > 0:
        return
    top = source.part(entry.hash)
    entry_pieces(source, entry)  # compares the size, and reads nothing more
    if top is None or isinstance(top, bytes):
        return
    for manifest in _lowest(source.part, top):
        sizes = source.lengths([link.target for link in manifest.chunks]) if isinstance(source, RunSource) else None
        for link in manifest.chunks:
            found = source.length(link.target) if sizes is None else sizes.get(link.target)
            if found is None:
                raise MissingObject(link.target, "The content")
            if found != link.length:  # which is never 0, as the length of a manifest is
                raise _not_as_listed(link)


def check_content(source: Source, entry: Entry, take: Callable[[bytes], object]) -> None:
    """Hand an entry's content to `take`, and prove that it is the one record such content has in this group.

    Raises:
        MissingObject: a part is not here.
        TreeError: it is not what it says, or it is cut in another way than everybody cuts.
    """
    pieces = entry_pieces(source, entry)
    top = source.part(entry.hash)
    if top is not None and not isinstance(top, bytes):
        _Proof(source.part, _many(source), take).run(top)
        return
    for piece in pieces:
        take(piece)


class _Proof:
    """Walks all of a content and compares every cut, length and digest with what it must be.

    The hashes of chunks were verified when they were stored, so that their bytes are cut again but made into no
    records again.
    """

    def __init__(self, parts: Parts, many: Blobs | None, take: Callable[[bytes], object]) -> None:
        self._parts = parts
        self._many = many
        self._take = take
        self._cutter = _Cutter()
        self._lengths: deque[int] = deque()
        self._open: list[blake3] = []

    def run(self, top: Manifest) -> None:
        """Prove the content of a top manifest."""
        if top.level > 1 and len(top.chunks) == 1:
            raise _cut_wrong(top)
        self._manifest(top, is_last=True)
        self._cut(top, is_end=True)

    def _manifest(self, manifest: Manifest, *, is_last: bool) -> None:
        """Prove one manifest and what is below it; `is_last` of its level may end anywhere."""
        *inner, end = manifest.chunks
        if any(_ends(number, link) for number, link in enumerate(inner, 1)):
            raise _cut_wrong(manifest)
        if not (is_last or len(manifest.chunks) == MAX_CHUNKS or _ends(len(manifest.chunks), end)):
            raise _cut_wrong(manifest)
        self._open.append(blake3())
        if manifest.level == 1:
            self._lengths.extend(link.length for link in manifest.chunks)
            for piece in _joined(_chunks(self._parts, manifest, self._many)):
                self._piece(piece, manifest)
        else:
            self._below(manifest, is_last=is_last)
        if self._open.pop().digest() != manifest.digest:
            raise TreeError(f"The manifest {manifest.hash.text} lists other content than its name says.")

    def _below(self, manifest: Manifest, *, is_last: bool) -> None:
        for number, link in enumerate(manifest.chunks, 1):
            found = self._parts(link.target)
            if found is None:
                raise MissingObject(link.target, "The content")
            if isinstance(found, bytes) or found.level != manifest.level - 1 or found.size != link.length:
                raise _not_as_listed(link)
            self._manifest(found, is_last=is_last and number == len(manifest.chunks))

    def _piece(self, content: bytes, manifest: Manifest) -> None:
        self._take(content)
        for digest in self._open:
            digest.update(content)
        if self._cutter.add(content):
            self._cut(manifest, is_end=False)

    def _cut(self, manifest: Manifest, *, is_end: bool) -> None:
        start = 0
        for end in self._cutter.cut(is_end=is_end)[1]:
            if end - start != self._lengths.popleft():
                raise _cut_wrong(manifest)
            start = end


def _cut_wrong(manifest: Manifest) -> TreeError:
    return TreeError(f"The manifest {manifest.hash.text} is not cut as such content must be.")
