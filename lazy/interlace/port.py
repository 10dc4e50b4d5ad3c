"""The only way from the machine to records (INT-2, INT-9, INT-91, INT-118)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from lazy.interlace.ads import Fields
from vault.records import RecordHash

__all__ = ["RecordPort"]


class RecordPort(Protocol):
    """What a machine may ask of the vault it works for; never more than the peer's exposure allows out.

    All of it works on what is stored at the time of the call: an exchange pins nothing (INT-95). No method
    fetches anything (INT-9).
    """

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return those that are stored here."""

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return those that were refused before and are not to be fetched again."""

    def effective_send(self) -> Iterable[tuple[RecordHash, Fields]]:
        """Yield what may be sent to this peer and is here, with its validated fields (INT-91, INT-96)."""

    def may_send(self, record: RecordHash) -> bool:
        """Whether this record may be sent to this peer now (INT-4)."""

    def load(self, record: RecordHash) -> bytes | None:
        """Return the stored bytes, or None if they are not here."""

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        """Validate each fully and store what is valid (INT-8, INT-118, INT-119).

        Bytes whose hash is another one than asked for are invalid.

        Returns:
            The error's code for each record that was refused.
        """
