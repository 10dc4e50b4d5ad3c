"""Content in parts, as `vault.desks.cutting` made them: read as a stream, looked for, and proven (CLAY-35, APP-13).

The parts may come from anybody. A reader compares every length and the digest of the whole; whoever takes a content
into a release that is shown proves besides that it is cut as everybody cuts (docs/formats.md section 2).

Nothing here holds more than a few windows in memory, whatever the size of the content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias

from blake3 import blake3

from vault.desks.cutting import MAX_FILE_BYTES, Cutter, is_last_link
from vault.desks.pages import Entry, TreeError, TreeTooLarge
from vault.desks.ports import RunSource
from vault.errors import DataError
from vault.profile import DATA_APP, MAX_CHUNKS, MAX_DIRECT_BYTES, Chunk
from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.desks.ports import Part, Source
    from vault.profile import Manifest

__all__ = [
    "MAX_WHOLE_BYTES",
    "MissingObject",
    "check_content",
    "check_here",
    "copy_entry",
    "entry_pieces",
    "part_of",
    "pieces_of",
    "whole_of",
]

MAX_WHOLE_BYTES: Final = 32 << 20  # what is ever handed out in one piece


class MissingObject(DataError):
    """A tree page or file content that is not in this vault."""

    code = "object-missing"
    exit_code = 42
    hint = "Sync with a friend who has it, then try again. If you let it go, ask for it first: lace fetch DESK@CASE"

    def __init__(self, record: RecordHash, what: str) -> None:
        super().__init__(f"{what} {record.text} is not in this vault.")
        self.record = record


Parts: TypeAlias = "Callable[[RecordHash], Part | None]"
Blobs = Callable[[Sequence[RecordHash]], Iterator[memoryview | None]]
Take = Callable[[bytes | memoryview], object]


def part_of(plex: Plex) -> Part:
    """Return what a validated record holds itself: the bytes of its Blob, or the list of its parts."""
    if plex.extras and not plex.blob.data:
        from vault.profile import Manifest, read_data  # small contents have none

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
        raise _other_content(parts, top)


def _other_content(parts: Parts, top: Manifest) -> TreeError:
    """Return what to say of a manifest whose content has another digest; a chunk that is damaged here is said first."""
    for manifest in _lowest(parts, top):
        _read_each(parts, manifest)
    return TreeError(f"The manifest {top.hash.text} lists other content than its name says.")


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


def _read_each(parts: Parts, manifest: Manifest) -> None:
    """Read every chunk by itself: one that is damaged here is named, before a manifest is said to be wrong."""
    for link in manifest.chunks:
        parts(link.target)


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


def entry_pieces(source: Source, entry: Entry, *, to_the_end: bool = False) -> Iterator[bytes]:
    """Return the content of a file or the target text of a link in pieces; see `pieces_of`.

    Args:
        source: where it is.
        entry: whose content it is.
        to_the_end: whether the caller acts on no piece before the last one came. Then each byte is compared once, by
            the digest of all of it, and not with its own record before.

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
    return _stream(source.part, found, _many(source, as_they_lie=to_the_end))


def copy_entry(source: Source, entry: Entry, take: Take, digest: Callable[[], bytes]) -> None:
    """Hand the content of a large file to `take` as it lies; nobody acts on it before this returns.

    Args:
        source: where it is.
        entry: whose content it is.
        take: is given the bytes in order; they may be digested behind it.
        digest: called once at the end, whatever the content is; returns the digest of all that was taken.

    Raises:
        MissingObject: a part is not here.
        TreeError: it has another size than the entry says, or is not what it says.
    """
    entry_pieces(source, entry)  # compares the size, and reads nothing more
    top = source.part(entry.hash)
    if top is None or isinstance(top, bytes):
        take(top or b"")
        digest()  # its bytes were proven before they came here
        return
    for manifest in _lowest(source.part, top):
        for chunk in _chunks(source.part, manifest, _many(source, as_they_lie=True)):
            take(chunk)
    if digest() != top.digest:
        raise _other_content(source.part, top)


def _many(source: Source, *, as_they_lie: bool) -> Blobs | None:
    if not isinstance(source, RunSource):
        return None
    return source.blobs_as_they_lie if as_they_lie else source.blobs


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


def check_content(source: Source, entry: Entry, take: Take) -> None:
    """Hand an entry's content to `take`, and prove that it is the one record such content has in this group.

    What `take` was given is right when this returns, and not before.

    Raises:
        MissingObject: a part is not here.
        TreeError: it is not what it says, or it is cut in another way than everybody cuts.
    """
    pieces = entry_pieces(source, entry)
    top = source.part(entry.hash)
    if top is not None and not isinstance(top, bytes):
        _Proof(source, take).run(top)
        return
    for piece in pieces:
        take(piece)


class _Proof:
    """Walks all of a content and compares every cut, length and digest with what it must be.

    The hashes of chunks were verified when they were stored, so that their bytes are cut again but made into no
    records again; that they are still the same the digests of the manifests show.
    """

    def __init__(self, source: Source, take: Take) -> None:
        self._parts = source.part
        self._many = _many(source, as_they_lie=True)
        self._apps = source.apps if isinstance(source, RunSource) else None
        self._take = take
        self._cutter = Cutter()
        self._lengths: deque[int] = deque()
        self._open: list[blake3] = []

    def run(self, top: Manifest) -> None:
        """Prove the content of a top manifest."""
        if top.level > 1 and len(top.chunks) == 1:
            raise _cut_wrong(top)
        self._manifest(top, is_last=True)
        self._cut(top, is_end=True)

    def _manifest(self, manifest: Manifest, *, is_last: bool) -> blake3:
        """Prove one manifest and what is below it; `is_last` of its level may end anywhere. Return its digest."""
        *inner, end = manifest.chunks
        if any(is_last_link(number, link) for number, link in enumerate(inner, 1)):
            raise _cut_wrong(manifest)
        if not (is_last or len(manifest.chunks) == MAX_CHUNKS or is_last_link(len(manifest.chunks), end)):
            raise _cut_wrong(manifest)
        digest = self._level_one(manifest) if manifest.level == 1 else self._below(manifest, is_last=is_last)
        if digest.digest() != manifest.digest:
            raise TreeError(f"The manifest {manifest.hash.text} lists other content than its name says.")
        return digest

    def _level_one(self, manifest: Manifest) -> blake3:
        apps = self._apps([link.target for link in manifest.chunks]) if self._apps is not None else {}
        for link in manifest.chunks:
            if link.target in apps and apps[link.target][0] != DATA_APP:  # one content would have two sets of records
                raise _not_as_listed(link)
        self._lengths.extend(link.length for link in manifest.chunks)
        self._open.append(blake3())
        try:
            for chunk in _chunks(self._parts, manifest, self._many):
                if self._cutter.add(chunk):
                    self._digest()
                    self._cut(manifest, is_end=False)
            self._digest()
        except TreeError:
            _read_each(self._parts, manifest)
            raise
        digest = self._open.pop()
        if digest.digest() != manifest.digest:
            _read_each(self._parts, manifest)
        return digest

    def _below(self, manifest: Manifest, *, is_last: bool) -> blake3:
        for number, link in enumerate(manifest.chunks, 1):
            found = self._parts(link.target)
            if found is None:
                raise MissingObject(link.target, "The content")
            if isinstance(found, bytes) or found.level != manifest.level - 1 or found.size != link.length:
                raise _not_as_listed(link)
            digest = self._manifest(found, is_last=is_last and number == len(manifest.chunks))
            if number == 1:  # so far, what is below the first is all there was
                self._open.append(digest)
        return self._open.pop()

    def _digest(self) -> None:
        fresh = self._cutter.fresh()
        self._take(fresh)
        for digest in self._open:
            digest.update(fresh)

    def _cut(self, manifest: Manifest, *, is_end: bool) -> None:
        start = 0
        for end in self._cutter.cut(is_end=is_end)[1]:
            if end - start != self._lengths.popleft():
                raise _cut_wrong(manifest)
            start = end


def _cut_wrong(manifest: Manifest) -> TreeError:
    return TreeError(f"The manifest {manifest.hash.text} is not cut as such content must be.")
