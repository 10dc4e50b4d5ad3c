"""The records of a part of the exposure log, with where each is sought or was found: a first visit brings them all."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Set
from itertools import compress

from vault.records import RecordHash
from vault.records.hash_list import HashList
from vault.store.at_hand import DigestTable

__all__ = ["Located", "LocatedAt"]

_NUMBER_BYTES = 4


class Located:
    """Records in the order in which they came, each with a number that says where it lies; some 80 bytes each.

    Attributes:
        records: the same.
    """

    def __init__(self) -> None:
        self.records = HashList()
        self._at = array("i")
        self._numbers = DigestTable(_NUMBER_BYTES)

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, record: tuple[str, bytes]) -> bool:
        return self._numbers.get(record[1]) is not None

    def add(self, record: RecordHash, at: int) -> None:
        """Take a record that is not here yet."""
        self._numbers.put(record.digest, len(self._at).to_bytes(_NUMBER_BYTES, "little"))
        self.records.extend((record,))
        self._at.append(at)

    def move(self, record: RecordHash, at: int) -> None:
        """Say where a record lies that is here.

        Raises:
            KeyError: it is not.
        """
        number = self._number(record)
        if number is None:
            raise KeyError(record)
        self._at[number] = at

    def at(self, record: tuple[str, bytes]) -> int | None:
        """Return where a record lies; None for one that is not here."""
        number = self._number(record)
        return None if number is None else self._at[number]

    def are_at(self, *where: int) -> list[bool]:
        """Tell of each record, in order, whether it lies at one of some places."""
        return [at in where for at in self._at]

    def _number(self, record: tuple[str, bytes]) -> int | None:
        packed = self._numbers.get(record[1])
        number = int.from_bytes(packed, "little") if packed is not None else -1
        return number if number >= 0 and self.records.kind_at(number) == record[0] else None


class LocatedAt(Set[RecordHash]):
    """Those of some records that lie at one place now, in their order."""

    def __init__(self, located: Located, at: int) -> None:
        self._located, self._at = located, at

    def __len__(self) -> int:
        return sum(self._located.are_at(self._at))

    def __iter__(self) -> Iterator[RecordHash]:
        return compress(self._located.records, self._located.are_at(self._at))

    def __contains__(self, record: object) -> bool:
        return isinstance(record, tuple) and self._located.at(record) == self._at
