"""The worker processes of a sync, on a second processor: signatures and large contents are proven there.

Each begins once there is enough for it to do. None of them holds anything: what a process did not answer is worked out
by the sync itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lazy.receiving.judging import large_files
from vault.proofs import LEAST, Proofs
from vault.records import Plex, RecordHash, Seal
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.receiving.proving import Proving

__all__ = ["Workers"]


class Workers:
    """The workers of one sync, and what they proved.

    Args:
        vault: whose sync it is.

    Attributes:
        proven: the SHA-512 of large contents, 128 hex digits each, from when `gather` took them.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._proofs: Proofs | None = None
        self._proving: Proving | None = None
        self.proven: dict[RecordHash, str] = {}

    def proofs(self, seals: int) -> Proofs | None:
        """Return what verifies signatures, if there is a second processor and that many are enough of them."""
        vault = self._vault
        if seals < LEAST or vault.around.processors < 2 or vault.store.db.in_transaction:
            return None
        if self._proofs is None:
            self._proofs = Proofs()
        return None if self._proofs.is_gone() else self._proofs

    def expect(self, records: Iterable[Seal | Plex]) -> None:
        """Have the large contents that pages among these name proven, as they become whole."""
        if self._vault.around.processors < 2:
            return
        large = [entry for record in records for entry in large_files(record)]
        if large:  # a page names all files of a directory, and most were proven when they came
            unproven = self._vault.store.not_summed([entry.hash for entry in large])
            large = [entry for entry in large if entry.hash in unproven]
        if large and self._proving is None:
            from lazy.receiving.proving import Proving  # a sync of small files needs none

            self._proving = Proving(self._vault.store.path)
        if large and self._proving is not None:
            self._proving.expect(large)

    def stored(self) -> None:
        """Say that something was stored. Never waits."""
        if self._proving is not None:
            self._proving.stored()

    def gather(self, watch: Watch) -> None:
        """End the processes and take what they proved; outside a transaction, for one may stand still.

        Args:
            watch: tells whether the person asked to stop.
        """
        if self._proofs is not None:
            self._proofs.close()
            self._proofs = None
        if self._proving is not None:
            self.proven |= self._proving.end(watch.is_stopped)
            self._proving = None
