"""Content-SHA512 of a directory: names, modes and bytes, not pages (docs/formats.md section 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeGuard

from blake3 import blake3

from vault.desks.chunks import check_content, entry_pieces
from vault.desks.page_diff import new_entries
from vault.desks.pages import Entry, TreeError
from vault.desks.ports import RunSource, Source, SumCache
from vault.desks.tree import check_depth, read_with_pages
from vault.errors import DataError
from vault.profile import DATA_APP, TREE_APP
from vault.records import RecordHash

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from hashlib import _Hash as Hash

__all__ = ["SUM_AT_ONCE_BYTES", "SumSink", "Summing", "Turns", "content_sha512", "keeps_sums", "new_sum"]

SUM_AT_ONCE_BYTES = 8_192  # a larger content is summed while it is read from the folder, not when it is released
_ASKED = 500  # entries of a directory whose values are asked for together
_TOGETHER = 1 << 20  # bytes of one turn; as few as show nothing in memory, and let a file of some MiB overlap itself
_WORTH = 64 << 10  # bytes: less is summed where it is read
_TURNS = 4  # that wait at most
_new = tuple.__new__


AtHand = Callable[[RecordHash, int], str | None]


@cache
def _sha512() -> Callable[[bytes], Hash]:
    from hashlib import sha512  # it loads a library, and a commit of a little file sums nothing

    return sha512


def new_sum(data: bytes = b"") -> Hash:
    """Return a SHA-512 that has taken these bytes."""
    return _sha512()(data)


def content_sha512(
    source: Source,
    root: RecordHash,
    cache: SumCache,
    at_hand: AtHand = lambda _record, _size: None,
    asked: Callable[[int], object] = lambda _read: None,
    before: RecordHash | None = None,
) -> str:
    """Return the Content-SHA512 of a tree as 128 hex digits.

    Values are kept per data record and per directory, so the second tree costs what is new in it. A directory is kept
    under a key derived from its hash, and with its size: a hostile entry may call the same record a file and a
    directory, and say another size of what an honest one made known.

    Args:
        source: where pages and content are read.
        root: the tree.
        cache: values already known.
        at_hand: gives the value of a small content of some size that was stored a moment ago, so that it is not read
            again.
        asked: told the bytes of each piece that is read; raises to stop.
        before: a tree that this one is like: what it says of an entry is not compared again where its value is known.

    Raises:
        MissingObject: a page or content is not here.
        TreeError: a page is broken, sums or sizes are wrong, or content is not cut as it must be.
    """
    turns = Turns()
    try:
        return _Tree(source, cache, at_hand, turns, asked).sum(root, None, 0, before)
    finally:
        turns.close()


def _key(root: RecordHash) -> RecordHash:
    """Return what a directory's value is kept under."""
    return _new(RecordHash, ("P", blake3(b"lace-tree-sum/0 " + root.digest).digest()))


def _of_size(known: str | None, size: int | None) -> str | None:
    """Return the value that is kept of a directory if it is of this size; earlier versions kept none with it."""
    value, _, whole = (known or "").partition(" ")
    return value if value and (size is None or whole == str(size)) else None


class _Tree:
    """Works out the values of a tree's directories; the files' own are worked out beside."""

    def __init__(
        self, source: Source, cache: SumCache, at_hand: AtHand, turns: Turns, asked: Callable[[int], object]
    ) -> None:
        self._source = source
        self._runs = source if isinstance(source, RunSource) else None
        self._cache = cache
        self._at_hand = at_hand
        self._turns = turns
        self._asked = asked

    def sum(self, root: RecordHash, size: int | None, depth: int, before: RecordHash | None) -> str:
        """Return the value of one directory, which is like the one before it."""
        check_depth("", depth)
        key = _key(root)
        known = _of_size(self._cache.get(key), size)
        if known is not None:
            return known
        total, whole = new_sum(), 0
        entries, below = read_with_pages(self._source, root, size=size)
        self._check_pages([root, *below])
        anew = self._anew(root, before)
        for start in range(0, len(entries), _ASKED):
            part = entries[start : start + _ASKED]
            keys = {entry[3]: _key(entry[3]) for entry in part if entry[0] == "d"}
            kept, values = self._values(part, keys, anew)
            if keys:
                check_depth("", depth + 1)
            lines = []
            for kind, mode, here, record, name in part:
                known = _of_size(kept[keys[record]], here) if kind == "d" else values[record]
                value = known or self.sum(record, here, depth + 1, (anew or {}).get(name))
                whole += here
                lines.append(f"{kind} {mode} {here} {value} {name}\n")
            total.update("".join(lines).encode())
        value = total.hexdigest()
        self._cache.put({key: f"{value} {whole}"})
        return value

    def _values(
        self, part: Sequence[Entry], keys: Mapping[RecordHash, RecordHash], anew: Collection[str] | None
    ) -> tuple[dict[RecordHash, str | None], Mapping[RecordHash, str | None]]:
        """Return what is kept under the keys of directories, and the values of the files and links of some entries.

        Only what is new may lie at hand, and only that is compared.
        """
        fresh: dict[RecordHash, str] = {}
        asked: list[Entry] = []
        compared: list[Entry] = []
        for entry in part:
            kind, _, size, record, name = entry
            if kind == "d":
                continue
            if anew is None or name in anew:
                if (summed := self._at_hand(record, size)) is not None:
                    fresh[record] = summed
                    continue
                compared.append(entry)
            asked.append(entry)
        kept = self._cache.expect([*keys.values(), *[entry[3] for entry in asked]])
        self._check_files(compared)
        begun = self._begun([entry for entry in asked if kept[entry[3]] is None])
        self._cache.put(fresh)  # of a directory that is refused no more is kept than where nothing is at hand
        return kept, {**kept, **fresh, **begun} if fresh or begun else kept

    def _anew(self, root: RecordHash, before: RecordHash | None) -> dict[str, RecordHash | None] | None:
        """Return the names of entries that the directory before has not so; None where nothing is proven of that one.

        A value that is kept with its size was proven of just these entries: records, kinds and sizes.
        """
        if before is None or " " not in (self._cache.get(_key(before)) or ""):
            return None
        try:
            return new_entries(self._source, root, before)
        except DataError:  # what is damaged there harms this one not
            return None

    def _check_pages(self, pages: Sequence[RecordHash]) -> None:
        """Refuse what can be read as a page and is none: nobody is given what it names."""
        for record, (app, _) in self._apps(pages).items():
            if app != TREE_APP:
                raise TreeError(f"The directory {record.text} is not a tree page.")

    def _check_files(self, files: Sequence[Entry]) -> None:
        """Refuse what is no content, and a size that is not that of its content.

        A value is known of a record, whatever size was said where it was proven.
        """
        asked = {(entry.hash, entry.size): entry for entry in files}
        apps = self._apps([record for record, _ in asked])
        for (record, size), entry in asked.items():
            app, here = apps.get(record, (DATA_APP, size))
            if app != DATA_APP:
                raise TreeError(f"What {entry.name!r} names is not content.")
            if here != size:
                entry_pieces(self._source, entry)  # compares the size, and reads nothing more

    def _apps(self, records: Sequence[RecordHash]) -> dict[RecordHash, tuple[str, int | None]]:
        return self._runs.apps(records) if self._runs is not None and records else {}

    def _begun(self, files: Sequence[Entry]) -> dict[RecordHash, str]:
        """Return the values of some files and links; while one is summed the next is read.

        Whoever stops it does so between two pieces: the files that ended before are kept, and not read again.
        """
        found: dict[RecordHash, str] = {}
        ended: dict[RecordHash, Summing] = {}
        try:
            for entry in files:
                if entry.hash in ended:
                    continue
                summing = Summing(self._turns)

                def take(piece: bytes | memoryview, summing: Summing = summing) -> None:
                    self._asked(len(piece))
                    summing.add(piece)

                check_content(self._source, entry, take)
                summing.end()
                ended[entry.hash] = summing
        finally:
            for record, summing in ended.items():
                found[record] = value = summing.finish()
                self._cache.put({record: value})
        return found


class SumSink(Protocol):
    """A sink that keeps the SHA-512 of a content beside its record, so that no release reads it all again.

    Attributes:
        is_releasing: whether what is taken in is released at once, what has no older version too.
    """

    is_releasing: bool

    def add_sum(self, record: RecordHash, sha512: str, /) -> object:
        """Take the value, 128 hex digits, of the content that a record stands for."""


def keeps_sums(sink: object) -> TypeGuard[SumSink]:
    """Tell whether a sink is a `SumSink`; to ask the protocol itself costs as much as a small query."""
    return hasattr(sink, "add_sum")


class Turns:
    """One thread for the slowest digest of all: it costs the reader no time where there are two cores.

    A few turns wait at most, so that memory stays bounded by them.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()

    def take(self, act: Callable[[list[bytes | memoryview]], None], pieces: list[bytes | memoryview]) -> Future[None]:
        """Let the thread do this after what it was given before."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # only much content needs it

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="lace-sum")
        while len(self._waiting) >= _TURNS:
            self._waiting.popleft().result()
        turn = self._pool.submit(act, pieces)
        self._waiting.append(turn)
        return turn

    def close(self) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


class Summing:
    """The SHA-512 of a stream, worked out beside whatever else is done with the bytes.

    Args:
        turns: the thread that works for several streams, one after the other; one of its own without it.
    """

    def __init__(self, turns: Turns | None = None) -> None:
        self._sum = new_sum()
        self._pieces: list[bytes | memoryview] = []
        self._bytes = 0
        self._turns = turns or Turns()
        self._is_mine = turns is None
        self._turn: Future[None] | None = None

    def add(self, piece: bytes | memoryview) -> None:
        """Take the next bytes."""
        self._pieces.append(piece)
        self._bytes += len(piece)
        if self._bytes >= _TOGETHER:
            self.end()

    def end(self) -> None:
        """Hand over what there is, or sum it here if it is little; `finish` then only waits."""
        pieces, size = self._pieces, self._bytes
        self._pieces, self._bytes = [], 0
        if size >= _WORTH or self._turn is not None:
            self._turn = self._turns.take(self._update, pieces)
        else:
            self._update(pieces)

    def finish(self) -> str:
        """Return the value of all of it, as 128 hex digits."""
        if self._turn is not None:
            self._turn.result()
            self._turn = None
        if self._is_mine:
            self._turns.close()
        self._update(self._pieces)
        self._pieces = []
        return self._sum.hexdigest()

    def _update(self, pieces: list[bytes | memoryview]) -> None:
        for piece in pieces:
            self._sum.update(piece)
