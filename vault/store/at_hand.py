"""What was stored a moment ago and is asked for again soon, packed: of a large folder it is a value for each file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, Final

from vault.profile import DATA_APP
from vault.records.hashes import DIGEST_BYTES

if TYPE_CHECKING:
    from vault.records import RecordHash
    from vault.store.closure import Found

__all__ = ["FEW", "MAX_CONTENTS", "AtHand", "DigestTable"]

FEW: Final = 16_384  # that are kept as objects, some 4 MB
MAX_CONTENTS: Final = 131_072  # of one transaction whose places are at hand besides: 6 MB
_POSITION_BYTES: Final = 8


class DigestTable:
    """Values of one length by digest, of many in hardly more room than both take: a `dict` takes five times as much.

    Args:
        width: bytes of a value.
    """

    def __init__(self, width: int) -> None:
        self._size = DIGEST_BYTES + width
        self._few: dict[bytes, bytes] | None = {}  # all of them, as long as speed counts for more than room
        self.get: Callable[[bytes], bytes | None] = self._few.get
        """Return the value of a digest, or None."""
        self._buckets: defaultdict[int, bytearray] = defaultdict(bytearray)  # 4,096 of them, of a few kilobytes each
        self._count = 0

    def __len__(self) -> int:
        return self._count if self._few is None else len(self._few)

    def put(self, digest: bytes, value: bytes) -> None:
        """Take a value of a digest that is not here, or has this value already."""
        few = self._few
        if few is not None:
            few[digest] = value
            if len(few) > FEW:
                self._pack(few)
            return
        self._buckets[digest[0] << 4 | digest[1] >> 4] += digest + value
        self._count += 1

    def put_all(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Take some thousand digests with their values, as `put` takes one."""
        few = self._few
        if few is None:
            for digest, value in pairs:
                self.put(digest, value)
            return
        few.update(pairs)
        if len(few) > FEW:
            self._pack(few)

    def _pack(self, few: dict[bytes, bytes]) -> None:
        self._few = None
        self.get = partial(_in_buckets, self._buckets, self._size)  # a method of its own would keep the table alive
        self.put_all(few.items())

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield digests and values, in the order of the digests: as a table lies that they are written to."""
        if self._few is not None:
            yield from sorted(self._few.items())
        size = self._size
        for _, bucket in sorted(self._buckets.items()):
            for row in sorted(bytes(bucket[at : at + size]) for at in range(0, len(bucket), size)):
                yield row[:DIGEST_BYTES], row[DIGEST_BYTES:]

    def clear(self) -> None:
        """Forget all."""
        self._few = {}
        self.get = self._few.get
        self._buckets.clear()
        self._count = 0


def _in_buckets(buckets: Mapping[int, bytearray], size: int, digest: bytes) -> bytes | None:
    bucket = buckets.get(digest[0] << 4 | digest[1] >> 4)
    if bucket is None:
        return None
    at = bucket.find(digest)
    while at % size and at > 0:  # across two of them, or in a value
        at = bucket.find(digest, at + 1)
    return bytes(bucket[at + DIGEST_BYTES : at + size]) if at >= 0 else None


class AtHand:
    """Records of one transaction that sharing need not read again: what they say, and of content only the place."""

    def __init__(self) -> None:
        self._said: dict[RecordHash, Found] = {}
        self._contents = DigestTable(_POSITION_BYTES)
        self.get: Callable[[RecordHash], Found | None] = self._said.get
        """Return what is known of a record, if it is at hand."""

    def put(self, record: RecordHash, found: Found) -> None:
        """Take a record with what is known of it."""
        self._said[record] = found

    def put_contents(self, records: Iterable[RecordHash], positions: Iterable[int]) -> None:
        """Take the places of data records that hold a content and nothing else, as long as there is room."""
        pairs = zip(records, zip(positions, repeat(DATA_APP), repeat(b""), strict=False), strict=True)
        self._said.update(islice(pairs, max(0, FEW - len(self._said))))
        for record, (position, _, _) in islice(pairs, max(0, MAX_CONTENTS - len(self._contents))):
            self.get = self._found
            self._contents.put(record.digest, position.to_bytes(_POSITION_BYTES, "little"))

    def _found(self, record: RecordHash) -> Found | None:
        found = self._said.get(record)
        if found is not None or record.kind != "P":
            return found
        position = self._contents.get(record.digest)
        return None if position is None else (int.from_bytes(position, "little"), DATA_APP, b"")

    def clear(self) -> None:
        """Forget all."""
        self._said.clear()
        self._contents.clear()
        self.get = self._said.get
