"""Refusals: which records are not taken, why, and until when nobody asks for them again (architecture, decision 10).

Each is remembered by its hash in the table `refused` and stands in the audit. Most are for good. What nothing reached
may count once something arrives that reaches it, and what a stranger sealed once they belong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vault.records import RecordHash
from vault.writer import Writer

__all__ = [
    "AFTER_CUT",
    "LOOKED_AT",
    "MAY_COUNT_YET",
    "MISMATCH",
    "STRANGER",
    "UNPROVEN",
    "UNREACHED",
    "Refusal",
    "forget_stored",
    "forget_strangers",
    "remember",
]

STRANGER, UNREACHED, MISMATCH = "stranger", "unreached", "content-mismatch"
AFTER_CUT, UNPROVEN = "after-cut", "unproven-entry"
# What may count once something arrives that reaches it; the rest is never asked for again while trust stays.
MAY_COUNT_YET = frozenset({UNREACHED, UNPROVEN})
LOOKED_AT = 2  # in place of `whole`: of a stranger's mailbox what says who belongs was read, and nothing else


@dataclass(frozen=True, slots=True)
class Refusal:
    """One record that was refused: its hash, the code of the rule, and a sentence."""

    hash: RecordHash
    code: str
    reason: str


def remember(w: Writer, refusals: Iterable[Refusal], source: str) -> None:
    """Keep refusals, and tell the audit of those that are new."""
    tai = w.tai().text
    for refusal in refusals:
        known = w.store.run(
            "INSERT OR IGNORE INTO refused VALUES (?, ?, ?, ?, ?, ?)",
            refusal.hash.digest,
            refusal.hash.kind,
            refusal.code,
            refusal.reason,
            source,
            tai,
        )
        if known.rowcount:
            w.audit(
                "lace-refuse",
                refusal.hash.text,
                {"code": refusal.code, "source": source},
                motivation=refusal.reason,
            )


def forget_stored(w: Writer, *codes: str) -> None:
    """Forget refusals of these codes whose records are here by now."""
    w.store.run(
        f"DELETE FROM refused WHERE code IN ({', '.join('?' * len(codes))}) AND EXISTS"  # noqa: S608 - marks only
        " (SELECT 1 FROM body b WHERE b.digest = refused.digest AND b.kind = refused.kind)",
        *codes,
    )


def forget_strangers(w: Writer) -> None:
    """Ask again, at the next visit, for what was refused because its signer was no member: trust has changed."""
    w.store.run("UPDATE seen SET whole = 0 WHERE whole = ?", LOOKED_AT)
    strangers = w.store.rows("SELECT 1 FROM refused WHERE code = ? LIMIT 1", STRANGER)
    if strangers:
        # What is kept need not be fetched: the end of the next round judges it again.
        w.store.run(
            "DELETE FROM refused WHERE code = ? AND NOT EXISTS"
            " (SELECT 1 FROM quarantine q WHERE q.digest = refused.digest AND q.kind = refused.kind)",
            STRANGER,
        )
        w.store.run("UPDATE seen SET whole = 0")
        w.store.run("UPDATE live SET at = 0")
