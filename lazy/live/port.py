"""A port for a negotiation without a listing: nothing is asked for and nothing offered by it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lazy.interlace.ads import Fields
from vault.records import RecordHash

__all__ = ["SilentPort"]


class SilentPort:
    """It satisfies `RecordPort`."""

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return nothing."""
        del hashes
        return set()

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return nothing."""
        del hashes
        return set()

    def effective_send(self) -> Iterator[tuple[RecordHash, Fields]]:
        """Yield nothing."""
        return iter(())

    def may_send(self, record: RecordHash) -> bool:
        """Say no."""
        del record
        return False

    def load(self, record: RecordHash) -> bytes | None:
        """Return nothing."""
        del record
        return None

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        """Take nothing."""
        del records
        return {}
