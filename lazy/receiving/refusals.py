"""Refusals: which records are not taken, why, and until when nobody asks for them again (architecture, decision 10).

Each is remembered by its hash in the table `refused` and stands in the audit. Most are for good. What nothing reached
may count once something arrives that reaches it. So may what a stranger sealed, also once they belong, and what lies
after a cut, also once the cut is elsewhere or falls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lazy.receiving.left import LOOKED_AT, UNREAD
from vault.records import RecordHash
from vault.writer import Writer

__all__ = [
    "AFTER_CUT",
    "BY_MEMBERSHIP",
    "MAY_COUNT_YET",
    "MISMATCH",
    "STRANGER",
    "UNJOINED",
    "UNPROVEN",
    "UNREACHED",
    "Refusal",
    "ask_again",
    "remember",
]

STRANGER, UNREACHED, MISMATCH = "stranger", "unreached", "content-mismatch"
UNJOINED = "result-mismatch"
AFTER_CUT, UNPROVEN = "after-cut", "unproven-entry"
# What may count once something arrives that reaches it; the rest is never asked for again while trust stays.
MAY_COUNT_YET = frozenset({UNREACHED, UNPROVEN})
# What was refused for who belonged then, and how far: it is judged anew as soon as that changes.
BY_MEMBERSHIP = (STRANGER, AFTER_CUT, UNPROVEN)


class Refusal(NamedTuple):
    """One record that was refused: its hash, the code of the rule, a sentence, and who sealed it.

    The last is a verifier text; empty where there is no proven seal.
    """

    hash: RecordHash
    code: str
    reason: str
    signer: str = ""


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


def ask_again(w: Writer) -> bool:
    """Ask again, at the next visit, for what was refused by who belonged, and how far: that has changed.

    Members who heard of it in another order took what is refused here, so all come to the same only if this is done.

    Returns:
        Whether something was refused for that.
    """
    w.store.run("UPDATE seen SET whole = ? WHERE whole = ?", UNREAD.code, LOOKED_AT.code)
    marks = ", ".join("?" * len(BY_MEMBERSHIP))
    if not w.store.rows(f"SELECT 1 FROM refused WHERE code IN ({marks}) LIMIT 1", *BY_MEMBERSHIP):  # noqa: S608 - marks
        return False
    # What is kept need not be fetched: the end of the next round judges it again.
    w.store.run(
        f"DELETE FROM refused WHERE code IN ({marks}) AND NOT EXISTS"  # noqa: S608 - marks only
        " (SELECT 1 FROM quarantine q WHERE q.digest = refused.digest AND q.kind = refused.kind)",
        *BY_MEMBERSHIP,
    )
    w.store.run("UPDATE seen SET whole = ?", UNREAD.code)
    w.store.run("UPDATE live SET at = 0")
    return True
