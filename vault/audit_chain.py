"""Whether the audit trail is unbroken: a walk along the chain from its first entry (CYB-10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from vault.audit import AuditError, read_audit
from vault.records.errors import RecordError
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Seal
from vault.records.parse import verify_seal

__all__ = ["ChainBreak", "ChainVerdict", "Fault", "verify_chain"]


class Fault(StrEnum):
    """Why a chain breaks."""

    FORM = "form"
    """The record is not a well-formed audit entry."""
    SIGNATURE = "signature"
    """The signature is not the signer's."""
    SIGNER = "signer"
    """The signer is none of the vault's nodes."""
    SEQUENCE = "sequence"
    """The number is not one more than that of the entry before."""
    PARENT = "parent"
    """It names another entry as the one before."""


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first entry that does not fit.

    Args:
        position: its place in the chain, from 1: the number it should have.
        record: its Seal.
        fault: what is wrong with it.
    """

    position: int
    record: RecordHash
    fault: Fault


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What a walk along the chain found (CYB-10).

    Args:
        length: entries that fit, from the first one on.
        first_break: the first that does not, or None.
        last: Seal of the last entry that fits; None if there is none. Compared with what was noted down
            earlier, it shows a chain that lost its end.
    """

    length: int
    first_break: ChainBreak | None = None
    last: RecordHash | None = field(default=None)

    @property
    def ok(self) -> bool:
        """Whether every entry fits."""
        return self.first_break is None


def verify_chain(entries: Iterable[Seal], expected_signers: Collection[Verifier]) -> ChainVerdict:
    """Walk from the first entry and stop at the first that breaks the chain (CYB-10).

    Args:
        entries: the chain in order of sequence.
        expected_signers: the nodes this vault has had; more than one after `lace adopt`.
    """
    last: RecordHash | None = None
    length = 0
    for seal in entries:
        fault = _fault(seal, length + 1, last, expected_signers)
        if fault is not None:
            return ChainVerdict(length, ChainBreak(length + 1, seal.hash, fault), last)
        length += 1
        last = seal.hash
    return ChainVerdict(length, None, last)


def _fault(seal: Seal, sequence: int, parent: RecordHash | None, expected: Collection[Verifier]) -> Fault | None:
    try:
        entry = read_audit(seal)
    except AuditError:
        return Fault.FORM
    try:
        verify_seal(seal)
    except RecordError:
        return Fault.SIGNATURE
    if entry.actor not in expected:
        return Fault.SIGNER
    if entry.sequence != sequence:
        return Fault.SEQUENCE
    return None if entry.parent == parent else Fault.PARENT
