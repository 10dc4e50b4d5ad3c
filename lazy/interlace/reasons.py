"""Why a round of interlace ended (INT-122), and why it was aborted (INT-140..153)."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["AbortReason", "CloseReason"]


class CloseReason(StrEnum):
    """Why a round ended (INT-122)."""

    FIXED_POINT = "fixed-point"
    LOOP_LIMIT = "loop-limit"
    DEFERRED = "deferred"  # what was asked for has no answer yet, and nothing more moves
    CANCELLED = "cancelled"
    CLOSED = "closed"
    ABORTED = "aborted"


class AbortReason(StrEnum):
    """Why a round was aborted."""

    VERIFIER_MISMATCH = "verifier-mismatch"
    PLAN_MISMATCH = "plan-mismatch"
    RECORD_FORMAT = "unsupported-record-format"
    FIELD_SCHEMA = "unsupported-field-schema"
    FACT_BLOCK = "malformed-fact-block"
    MODULE = "malformed-module"
    MODULE_UNAVAILABLE = "module-unavailable"
    PLAN_COMPILATION = "plan-compilation"
    PREPARED_POLICY = "malformed-prepared-policy"
    PARTITION_SUMMARY = "malformed-partition-summary"
    LIST_ROOT = "list-root-mismatch"
    PHASE_TIMEOUT = "phase-timeout"
    OVERSIZED_BLOCK = "oversized-fact-block"
    TRANSFER_LIMIT = "transfer-limit"
    UNEXPECTED_RESPONSE = "unexpected-response"
    NEGOTIATION = "negotiation"
    LISTING_LIMIT = "listing-limit"
    EVALUATION = "evaluation"
