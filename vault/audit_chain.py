"""Whether the audit trail is unbroken: a walk along the chain from its first entry to its last (CYB-10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from vault.audit import AuditEntry, AuditError, read_audit
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
    """An entry that does not fit.

    Args:
        position: its place in the chain, from 1: the number it should have.
        record: its Seal.
        fault: what is wrong with it.
        number: the number it has; that of its place where none can be read.
    """

    position: int
    record: RecordHash
    fault: Fault
    number: int

    @property
    def missing(self) -> int:
        """How many entries are not here before it; 0 where something else is wrong."""
        return max(0, self.number - self.position) if self.fault is Fault.SEQUENCE else 0

    @property
    def text(self) -> str:
        """What is wrong, as a sentence."""
        if not self.missing:
            return f"Entry {self.position}, {self.record}, does not fit: its {self.fault} is wrong."
        if self.missing == 1:
            return f"Entry {self.position} is missing."
        return f"Entries {self.position} to {self.number - 1} are missing."


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What a walk along the chain found (CYB-10).

    Args:
        length: entries that fit, from the first one on.
        breaks: all that do not, in order.
        last: Seal of the last entry before the first break, or of all; None if there is none. Compared with what was
            noted down earlier, it shows a chain that lost its end.
        behind: entries behind the first break that are well-formed, sealed by a node of the vault, and chained to the
            ones before them, as far as these are here.
    """

    length: int
    breaks: tuple[ChainBreak, ...] = ()
    last: RecordHash | None = None
    behind: int = 0

    @property
    def ok(self) -> bool:
        """Whether every entry fits."""
        return not self.breaks

    @property
    def first_break(self) -> ChainBreak | None:
        """The first entry that does not fit, or None."""
        return self.breaks[0] if self.breaks else None


def verify_chain(entries: Iterable[Seal | RecordHash], expected_signers: Collection[Verifier]) -> ChainVerdict:
    """Walk from the first entry to the last and note each that breaks the chain (CYB-10).

    Behind a gap the chain is taken up where it goes on. Behind an entry that cannot be believed nothing says which one
    the next should name, so that is judged by itself.

    Args:
        entries: the chain in order of sequence; a hash stands for a record that is damaged.
        expected_signers: the nodes this vault has had; more than one after `lace adopt`.
    """
    walk = _Walk(expected_signers)
    for entry in entries:
        walk.take(entry)
    return ChainVerdict(walk.length, tuple(walk.breaks), walk.last, walk.behind)


class _Walk:
    """A walk along the chain, as far as it has come."""

    def __init__(self, expected: Collection[Verifier]) -> None:
        self._expected = expected
        self._next = 1
        self._parent: RecordHash | None = None
        self._knows_parent = True
        self.length = self.behind = 0
        self.last: RecordHash | None = None
        self.breaks: list[ChainBreak] = []

    def take(self, record: Seal | RecordHash) -> None:
        """Judge the next record of the chain."""
        if isinstance(record, RecordHash):
            self._skip(record, Fault.FORM)
            return
        try:
            entry = read_audit(record)
        except AuditError:
            self._skip(record.hash, Fault.FORM)
            return
        if (fault := self._untrue(record, entry)) is not None:
            self._skip(record.hash, fault)
        elif entry.sequence < self._next:
            self._note(record.hash, Fault.SEQUENCE, entry.sequence)
        elif entry.sequence > self._next:
            self._note(record.hash, Fault.SEQUENCE, entry.sequence)
            self._go_on(record, entry.sequence, fits=True)
        elif self._knows_parent and entry.parent != self._parent:
            self._note(record.hash, Fault.PARENT, entry.sequence)
            self._go_on(record, entry.sequence, fits=False)
        else:
            self._go_on(record, entry.sequence, fits=True)

    def _untrue(self, seal: Seal, entry: AuditEntry) -> Fault | None:
        try:
            verify_seal(seal)
        except RecordError:
            return Fault.SIGNATURE
        return Fault.SIGNER if entry.actor not in self._expected else None

    def _note(self, record: RecordHash, fault: Fault, number: int) -> None:
        self.breaks.append(ChainBreak(self._next, record, fault, number))

    def _skip(self, record: RecordHash, fault: Fault) -> None:
        """Pass by what cannot be believed: neither its number nor what it says of the one before."""
        self._note(record, fault, self._next)
        self._next += 1
        self._knows_parent = False

    def _go_on(self, seal: Seal, number: int, *, fits: bool) -> None:
        self._next, self._parent, self._knows_parent = number + 1, seal.hash, True
        if not self.breaks:
            self.length += 1
            self.last = seal.hash
        else:
            self.behind += fits
