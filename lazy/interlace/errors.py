"""What ends an interlace round: one class for each row of Lace-050's error table (INT-140..153).

Each class names its `reason`, the code that stands in results and audit entries. A class is raised by the
machine after it went to the phase `aborted`; `result` then holds what was reached, because records stored
before an abort stay stored (INT-156). Two rows of the table are no errors: a record that does not validate is
rejected (INT-154) and a record that can no longer be sent is answered by NotAvailable (INT-155).

A driver that calls a machine in a wrong order raises `MachineMisuse`, which is a bug in lace and not a peer's
fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from lazy.interlace.reasons import AbortReason, CloseReason
from vault.errors import DataError, PeerError

if TYPE_CHECKING:
    from vault.records import RecordHash

__all__ = [
    "BadFactValue",
    "EvaluationFailed",
    "InterlaceAbort",
    "ListRootMismatch",
    "ListingTooLarge",
    "MachineMisuse",
    "MalformedFactBlock",
    "MalformedModule",
    "MalformedPartitionSummary",
    "MalformedPreparedPolicy",
    "ModuleUnavailable",
    "NegotiationFailed",
    "OversizedFactBlock",
    "PeerVerifierMismatch",
    "PhaseTimeout",
    "PlanCompilationFailed",
    "PlanMismatch",
    "Reached",
    "TransferLimitExceeded",
    "UnexpectedResponse",
    "UnsupportedFieldSchema",
    "UnsupportedRecordFormat",
]

_AGAIN = "What was stored before stays. Sync again; if it happens again, ask this friend to update lace."


class Reached(Protocol):
    """What was reached when a round was aborted; `InterlaceResult` is the one there is."""

    @property
    def closed_by(self) -> CloseReason:
        """`ABORTED`."""

    @property
    def reason(self) -> AbortReason | None:
        """Why."""

    @property
    def received(self) -> tuple[RecordHash, ...]:
        """Records that were validated and stored, in order of arrival; they stay."""

    @property
    def bytes_received(self) -> int:
        """Record bytes taken in."""

    @property
    def cursor_updated(self) -> bool:
        """Whether a complete new state of the peer is held; an abort leaves none."""


class InterlaceAbort(PeerError):
    """A round of interlace was aborted; the classes below say why."""

    reason: ClassVar[AbortReason]
    hint = _AGAIN
    result: Reached | None = None


class PeerVerifierMismatch(InterlaceAbort):
    """The peer, or an operand it presents, is not who was proven (INT-140)."""

    reason, code, exit_code = AbortReason.VERIFIER_MISMATCH, "interlace-verifier-mismatch", 31
    hint = "Compare fingerprints with this friend before you sync again: somebody else may be answering."


class PlanMismatch(InterlaceAbort):
    """The two sides computed different exchange plans (INT-141)."""

    reason, code, exit_code = AbortReason.PLAN_MISMATCH, "interlace-plan-mismatch", 32


class UnsupportedRecordFormat(InterlaceAbort):
    """No record format is accepted by both sides (INT-142)."""

    reason, code, exit_code = AbortReason.RECORD_FORMAT, "interlace-record-format", 32


class UnsupportedFieldSchema(InterlaceAbort):
    """The fields both sides advertise are not those the plan needs (INT-143)."""

    reason, code, exit_code = AbortReason.FIELD_SCHEMA, "interlace-field-schema", 32


class MalformedFactBlock(InterlaceAbort):
    """A block of facts breaks the grammar or does not belong here (INT-144).

    Args:
        message: what is wrong.
        line: the number of the bad line, counted from 1; 0 if it is the block as a whole.
    """

    reason, code, exit_code = AbortReason.FACT_BLOCK, "interlace-fact-block", 33

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"Line {line} of a fact block: {message}" if line else message)
        self.line = line


class MalformedModule(InterlaceAbort):
    """A policy module is not canonical or not the one its identifier names (INT-145)."""

    reason, code, exit_code = AbortReason.MODULE, "interlace-module", 34


class ModuleUnavailable(InterlaceAbort):
    """A policy module was announced whose text is not here and did not come along (INT-56)."""

    reason, code, exit_code = AbortReason.MODULE_UNAVAILABLE, "interlace-module-unavailable", 34


class PlanCompilationFailed(InterlaceAbort):
    """The two operands do not make a plan that can be run here (INT-146)."""

    reason, code, exit_code = AbortReason.PLAN_COMPILATION, "interlace-plan-compilation", 34


class MalformedPreparedPolicy(InterlaceAbort):
    """A prepared policy belongs to another plan than the agreed one (INT-147)."""

    reason, code, exit_code = AbortReason.PREPARED_POLICY, "interlace-prepared-policy", 34


class MalformedPartitionSummary(InterlaceAbort):
    """A partition summary is malformed, repeated, or beyond the limits (INT-148)."""

    reason, code, exit_code = AbortReason.PARTITION_SUMMARY, "interlace-partition-summary", 35


class ListRootMismatch(InterlaceAbort):
    """The listed advertisements do not have the announced count and root (INT-149)."""

    reason, code, exit_code = AbortReason.LIST_ROOT, "interlace-list-root", 35


class ListingTooLarge(InterlaceAbort):
    """A listing or one of its partitions holds more records than is allowed (INT-158)."""

    reason, code, exit_code = AbortReason.LISTING_LIMIT, "interlace-listing-limit", 36


class PhaseTimeout(InterlaceAbort):
    """The peer was silent for longer than a phase may take (INT-150)."""

    reason, code, exit_code = AbortReason.PHASE_TIMEOUT, "interlace-phase-timeout", 37
    hint = "What was stored before stays. Check the connection and sync again."


class OversizedFactBlock(InterlaceAbort):
    """A block of facts is larger than allowed (INT-151)."""

    reason, code, exit_code = AbortReason.OVERSIZED_BLOCK, "interlace-block-limit", 36


class TransferLimitExceeded(InterlaceAbort):
    """The peer sent more bytes than a round may take; the result is partial (INT-152)."""

    reason, code, exit_code = AbortReason.TRANSFER_LIMIT, "interlace-transfer-limit", 36
    hint = "What was stored before stays. Sync again: another round goes on from there."


class UnexpectedResponse(InterlaceAbort):
    """The peer answered with a record that is not outstanding (INT-153)."""

    reason, code, exit_code = AbortReason.UNEXPECTED_RESPONSE, "interlace-unexpected-response", 38


class NegotiationFailed(InterlaceAbort):
    """A hello is incomplete or holds a value that cannot be accepted (INT-66, INT-69, INT-73)."""

    reason, code, exit_code = AbortReason.NEGOTIATION, "interlace-negotiation", 32


class EvaluationFailed(InterlaceAbort):
    """A policy could not be evaluated; the round ends (INT-108)."""

    reason, code, exit_code = AbortReason.EVALUATION, "interlace-evaluation", 39


class BadFactValue(DataError):
    """A value cannot be written as a constant of a fact (FAC-6)."""

    code, exit_code = "interlace-fact-value", 40
    hint = "Run: lace fsck - a validated record cannot hold such a value."


class MachineMisuse(RuntimeError):
    """A driver called the machine in a phase in which the call has no meaning; nothing was changed."""
