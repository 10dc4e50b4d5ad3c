"""Holes: what counted records reach and is missing here, so that it is asked for (LAZ-63; decision 10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from blake3 import blake3

from vault.log_gap import first_missing
from vault.records import RecordHash
from vault.store.database import select_in
from vault.vault import Vault

__all__ = ["Holes"]

# A log entry that names a stranger's record vouches for nothing: whoever writes it might name anything.
_BUILT_UPON = """SELECT DISTINCT k.t FROM link k JOIN shared x ON x.p = k.p JOIN rec r ON r.p = k.p
    JOIN sym y ON y.id = r.app AND y.s <> 'lace/log' WHERE k.t IN"""
_SUM_BYTES = 7  # so that the number fits into a column


class Holes:
    """The holes of a vault, but for what waits in memory already.

    Args:
        vault: whose they are.
        waiting: returns what waits.
    """

    def __init__(self, vault: Vault, waiting: Callable[[], Collection[RecordHash]]) -> None:
        self._vault, self._waiting = vault, waiting
        self._told: tuple[tuple[int, int], int | None] = ((-1, -1), None)  # what stood in the store, and the answer

    def any(self) -> bool:
        """Tell whether counted records reach anything that is missing here."""
        return self._vault.store.holes.any()

    def all(self) -> set[RecordHash]:
        """Return what counted records reach and is missing here."""
        return self._not_waiting(self._vault.store.holes.all())

    def all_up_to(self, most: int) -> set[RecordHash] | None:
        """Return what `all` returns, or None where that is more than `most`."""
        found = self._vault.store.holes.all_up_to(most)
        return None if found is None else self._not_waiting(found)

    def among(self, records: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of some records that counted records reach and that are missing here."""
        return self._not_waiting(self._vault.store.holes.among(records))

    def built_upon(self, records: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of some records that are missing here and that a release, or what it reaches, stands on."""
        named = {record.text: record for record in self.among(records)}
        rows = select_in(self._vault.store.db, _BUILT_UPON, list(named)) if named else ()
        return {named[str(text)] for (text,) in rows}

    def _not_waiting(self, wanted: Iterable[RecordHash]) -> set[RecordHash]:
        waiting = self._waiting()
        return {record for record in wanted if record not in waiting} if waiting else {*wanted}

    def is_anything_missing(self) -> bool:
        """Tell whether anything is missing here that any mailbox may have, mine too: content, an entry of my log."""
        return self.any() or first_missing(self._vault) is not None

    def sum_of_missing(self) -> int | None:
        """Return a sum over all that is missing here now, a number of 56 bits; None where nothing is.

        Each mailbox of a visit asks, so it is told once for what stands in the store.
        """
        stands = self._vault.store.data_version(), self._vault.store.db.total_changes
        if self._told[0] != stands:
            self._told = stands, self._sum()
        return self._told[1]

    def _sum(self) -> int | None:
        if not self.is_anything_missing():
            return None
        hasher = blake3(f"{first_missing(self._vault)}".encode())
        for (want,) in self._vault.store.db.execute("SELECT DISTINCT want FROM hole ORDER BY want"):
            hasher.update(f"\n{want}".encode())
        return int.from_bytes(hasher.digest(_SUM_BYTES), "big")
