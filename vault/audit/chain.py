"""Whether the audit trail is unbroken: a walk along the chain from its first entry to its last (CYB-10)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from typing import NamedTuple

from vault.audit.entries import AuditEntry, AuditError, read_audit
from vault.records.errors import RecordError
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Seal
from vault.records.parse import verify_seal

__all__ = ["ChainBreak", "ChainVerdict", "Damaged", "Fault", "told", "verify_chain"]

_END = 2**63  # above every number


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


class Damaged(NamedTuple):
    """An entry that cannot be read: its Seal, and the number that it had, as far as anybody knows."""

    record: RecordHash
    number: int

    @property
    def text(self) -> str:
        """What is wrong, as a sentence."""
        return f"Entry {self.number}, {self.record}, is damaged and cannot be read."


class ChainBreak(NamedTuple):
    """An entry that does not fit.

    Args:
        position: its place in the chain, from 1: the number it should have.
        record: its Seal.
        fault: what is wrong with it.
        number: the number it has; that of its place where none can be believed.
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


class ChainVerdict(NamedTuple):
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


def told(breaks: Sequence[ChainBreak]) -> list[tuple[ChainBreak, str]]:
    """Return breaks in sentences; one tells of entries one after the other that a key sealed which nobody vouches for.

    That is so before the entry of an adoption that was lost.
    """
    found: list[tuple[ChainBreak, str]] = []
    for (is_sealed_by_another, _), group in groupby(
        enumerate(breaks), lambda at: (at[1].fault is Fault.SIGNER, at[1].position - at[0])
    ):
        run = [one for _, one in group]
        if is_sealed_by_another and len(run) > 1:
            who = "no entry that is here and whole says that the key that sealed them was this vault's"
            found.append((run[0], f"Entries {run[0].position} to {run[-1].position} do not fit: {who}."))
        else:
            found += [(one, one.text) for one in run]
    return found


def verify_chain(
    entries: Iterable[Seal | Damaged],
    expected_signers: Collection[Verifier],
    proven: Container[RecordHash] = frozenset(),
) -> ChainVerdict:
    """Walk from the first entry to the last and note each that breaks the chain (CYB-10).

    Behind a gap the chain is taken up where it goes on. Behind an entry that cannot be believed nothing says which one
    the next should name, so that is judged by itself. Which number such an entry had is said by itself or by whoever
    stored it, and counts where it lies between those of the entries around it that can be believed.

    Args:
        entries: the chain in order of sequence.
        expected_signers: the nodes this vault has had; more than one after `lace adopt`.
        proven: Seals whose signature was verified a moment ago, which takes as long as all else of an entry.
    """
    walk = _Walk(expected_signers, proven)
    for entry in entries:
        walk.take(entry)
    walk.end()
    return ChainVerdict(walk.length, tuple(walk.breaks), walk.last, walk.behind)


class _Walk:
    """A walk along the chain, as far as it has come."""

    def __init__(self, expected: Collection[Verifier], proven: Container[RecordHash]) -> None:
        self._expected = expected
        self._proven = proven
        self._next = 1
        self._parent: RecordHash | None = None
        self._skipped: list[tuple[Damaged, Fault]] = []  # since the last entry that could be believed
        self.length = self.behind = 0
        self.last: RecordHash | None = None
        self.breaks: list[ChainBreak] = []

    def take(self, record: Seal | Damaged) -> None:
        """Judge the next record of the chain."""
        if isinstance(record, Damaged):
            self._skipped.append((record, Fault.FORM))
            return
        try:
            entry = read_audit(record)
        except AuditError:
            self._skip(record, Fault.FORM)
            return
        if (fault := self._untrue(record, entry)) is not None:
            self._skip(record, fault)
            return
        knows_parent = not self._skipped
        self._place_skipped(entry.sequence)
        if entry.sequence < self._next:
            self._note(record.hash, Fault.SEQUENCE, entry.sequence)
        elif entry.sequence > self._next:
            self._note(record.hash, Fault.SEQUENCE, entry.sequence)
            self._go_on(record, entry.sequence, fits=True)
        elif knows_parent and entry.parent != self._parent:
            self._note(record.hash, Fault.PARENT, entry.sequence)
            self._go_on(record, entry.sequence, fits=False)
        else:
            self._go_on(record, entry.sequence, fits=True)

    def end(self) -> None:
        """Place what cannot be believed at the end of the chain."""
        self._place_skipped(_END)

    def _untrue(self, seal: Seal, entry: AuditEntry) -> Fault | None:
        try:
            if seal.hash not in self._proven:
                verify_seal(seal)
        except RecordError:
            return Fault.SIGNATURE
        return Fault.SIGNER if entry.actor not in self._expected else None

    def _note(self, record: RecordHash, fault: Fault, number: int) -> None:
        self.breaks.append(ChainBreak(self._next, record, fault, number))

    def _skip(self, seal: Seal, fault: Fault) -> None:
        """Pass by what cannot be believed: neither its number, for now, nor what it says of the one before."""
        self._skipped.append((Damaged(seal.hash, _number_said(seal)), fault))

    def _place_skipped(self, end: int) -> None:
        """Note what was passed by, each at its number if those lie in order before `end`, else one behind the other."""
        skipped, self._skipped = self._skipped, []
        said = [damaged.number for damaged, _ in skipped]
        is_in_order = all(low < high for low, high in pairwise([self._next - 1, *said, end]))
        for (record, number), fault in skipped:
            if is_in_order and number > self._next:
                self._note(record, Fault.SEQUENCE, number)
                self._next = number
            self._note(record, fault, self._next)
            self._next += 1

    def _go_on(self, seal: Seal, number: int, *, fits: bool) -> None:
        self._next, self._parent = number + 1, seal.hash
        if not self.breaks:
            self.length += 1
            self.last = seal.hash
        else:
            self.behind += fits


def _number_said(seal: Seal) -> int:
    """Return the number that a record says it has, believed or not; 0 for none."""
    name = seal.plex.name
    return int(name) if name.isascii() and name.isdecimal() and len(name) < len(str(_END)) + 1 else 0
