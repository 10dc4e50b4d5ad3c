"""Many record hashes in a row, kept packed: what a sync took in, of which a large file has a million."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import overload

from vault.records.hashes import DIGEST_BYTES, KINDS, RecordHash

__all__ = ["HashList"]

_ITEM = Struct(f"<B{DIGEST_BYTES}s")
_SIZE = _ITEM.size
_PART = 4096 * _SIZE
_KINDS = {ord(kind): kind for kind in KINDS}
_CODES = {kind: kind.encode() for kind in KINDS}
_new = tuple.__new__  # what is in a list was checked when it came


class HashList(Sequence[RecordHash]):
    """Hashes in order, in 33 bytes each where a list of them takes four times as much (performance: peak memory).

    Args:
        records: what it begins with.

    `packed` holds them one after the other: kind, then digest.
    """

    __slots__ = ("packed",)

    def __init__(self, records: Iterable[RecordHash] = ()) -> None:
        self.packed = bytearray()
        self.extend(records)

    def extend(self, records: Iterable[RecordHash]) -> None:
        """Append hashes."""
        if isinstance(records, HashList):
            self.packed += records.packed
        else:
            self.packed += b"".join([_CODES[kind] + digest for kind, digest in records])

    def cut(self, count: int) -> None:
        """Keep the first so many."""
        del self.packed[count * _SIZE :]

    def kind_at(self, index: int) -> str:
        """Return the kind of one of them; `index` is none from the end."""
        return chr(self.packed[index * _SIZE])

    def __len__(self) -> int:
        return len(self.packed) // _SIZE

    def __iter__(self) -> Iterator[RecordHash]:
        for start in range(0, len(self.packed), _PART):
            # A copy of some: as long as the bytes themselves are lent out, nothing can be appended.
            for kind, digest in _ITEM.iter_unpack(bytes(self.packed[start : start + _PART])):
                yield _new(RecordHash, (_KINDS[kind], digest))

    @overload
    def __getitem__(self, index: int) -> RecordHash: ...

    @overload
    def __getitem__(self, index: slice) -> HashList: ...

    def __getitem__(self, index: int | slice) -> RecordHash | HashList:
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            return self._at(numbers * _SIZE)
        part = HashList()
        if numbers.step == 1:
            part.packed = self.packed[numbers.start * _SIZE : numbers.stop * _SIZE]
        else:
            part.extend(self._at(number * _SIZE) for number in numbers)
        return part

    def __contains__(self, record: object) -> bool:
        return any(record == one for one in self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, HashList):
            return self.packed == other.packed
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"HashList({[record.text for record in self]})"

    def _at(self, start: int) -> RecordHash:
        kind, digest = chr(self.packed[start]), bytes(self.packed[start + 1 : start + _SIZE])
        return RecordHash(kind, digest)
