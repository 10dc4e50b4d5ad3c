"""The records of a part of the exposure log, with where each is sought or was found: a first visit brings them all."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Set
from itertools import compress

from vault.records import RecordHash
from vault.records.hash_list import HashList
from vault.store.at_hand import FEW, DigestTable

__all__ = ["Located"]

_NUMBER_BYTES = 4
_new = tuple.__new__


class Located:
    """Records in the order in which they came, each with a number that says where it lies.

    The first thousands are objects, for speed; more of them take some 80 bytes each.

    Args:
        expected: how many there will be about; of many none becomes an object.
    """

    def __init__(self, expected: int = 0) -> None:
        # All of them, as long as speed counts for more than room.
        self._few: dict[RecordHash, int] | None = {} if expected <= FEW else None
        self._records = HashList()
        self._at = array("i")
        self._numbers = DigestTable(_NUMBER_BYTES)

    def __len__(self) -> int:
        return len(self._records) if self._few is None else len(self._few)

    def __contains__(self, record: tuple[str, bytes]) -> bool:
        return record in self._few if self._few is not None else self._number(record) is not None

    @property
    def records(self) -> HashList:
        """The records."""
        return self._records if self._few is None else HashList(self._few)

    def add(self, record: RecordHash, at: int) -> None:
        """Take a record that is not here yet."""
        few = self._few
        if few is None:
            self._numbers.put(record.digest, len(self._at).to_bytes(_NUMBER_BYTES, "little"))
            self._records.extend((record,))
            self._at.append(at)
            return
        few[record] = at
        if len(few) > FEW:
            self._few = None
            for one, lies_at in few.items():
                self.add(one, lies_at)

    def move(self, record: RecordHash, at: int) -> None:
        """Say where a record lies that is here.

        Raises:
            KeyError: it is not.
        """
        if self._few is not None and record in self._few:
            self._few[record] = at
            return
        number = self._number(record) if self._few is None else None
        if number is None:
            raise KeyError(record)
        self._at[number] = at

    def at(self, record: tuple[str, bytes]) -> int | None:
        """Return where a record lies; None for one that is not here."""
        if self._few is not None:
            return self._few.get(_new(RecordHash, record))
        number = self._number(record)
        return None if number is None else self._at[number]

    def are_at(self, *where: int) -> list[bool]:
        """Tell of each record, in order, whether it lies at one of some places."""
        return [at in where for at in (self._at if self._few is None else self._few.values())]

    def those_at(self, where: int) -> Set[RecordHash]:
        """Return the records that lie at one place now, in their order."""
        if self._few is None:
            return _LocatedAt(self, where)
        return {record: None for record, at in self._few.items() if at == where}.keys()

    def _number(self, record: tuple[str, bytes]) -> int | None:
        packed = self._numbers.get(record[1])
        number = int.from_bytes(packed, "little") if packed is not None else -1
        return number if number >= 0 and self._records.kind_at(number) == record[0] else None


class _LocatedAt(Set[RecordHash]):
    """Those of many records that lie at one place."""

    def __init__(self, located: Located, at: int) -> None:
        self._located, self._at = located, at

    def __len__(self) -> int:
        return sum(self._located.are_at(self._at))

    def __iter__(self) -> Iterator[RecordHash]:
        return compress(self._located.records, self._located.are_at(self._at))

    def __contains__(self, record: object) -> bool:
        return isinstance(record, tuple) and self._located.at(record) == self._at
