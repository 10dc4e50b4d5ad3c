"""Refusals: which records are not taken, why, and until when nobody asks for them again (architecture, decision 10).

Each is remembered by its hash in the table `refused` and stands in the audit, and a person is told of it once. Most
are for good. What nothing reached may count once something arrives that reaches it. So may what a stranger sealed, also
once they belong, and what lies after a cut, also once the cut is elsewhere or falls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from lazy.receiving.mailbox_left import LOOKED_AT, UNREAD
from vault.records import RecordHash
from vault.vault import Vault
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
    "told_before",
]

STRANGER, UNREACHED, MISMATCH = "stranger", "unreached", "content-mismatch"
UNJOINED = "result-mismatch"
AFTER_CUT, UNPROVEN = "after-cut", "unproven-entry"
# What may count once something arrives that reaches it; the rest is never asked for again while trust stays.
MAY_COUNT_YET = frozenset({UNREACHED, UNPROVEN})
# What was refused for who belonged then, and how far: it is judged anew as soon as that changes.
BY_MEMBERSHIP = (STRANGER, AFTER_CUT, UNPROVEN)
_VERB = "lace-refuse"


class Refusal(NamedTuple):
    """One record that was refused: its hash, the code of the rule, a sentence, and who sealed it.

    The last is a verifier text; empty where there is no proven seal.
    """

    hash: RecordHash
    code: str
    reason: str
    signer: str = ""


def told_before(vault: Vault, refusals: Iterable[Refusal]) -> frozenset[RecordHash]:
    """Return what was refused for who belongs, and was refused under the same code and told before (LAZ-71).

    `ask_again` forgets such refusals whenever somebody is let in, so it is the audit trail that knows.
    """
    asked = {(each.hash.text, each.code): each.hash for each in refusals if each.code in BY_MEMBERSHIP}
    if not asked:
        return frozenset()
    from vault.audit.entries import read_audit  # most visits refuse nothing
    from vault.audit.trail import entries_of

    entries = map(read_audit, entries_of(vault, _VERB))
    told = {(entry.object, dict(entry.parameters).get("code", "")) for entry in entries}
    return frozenset(record for about, record in asked.items() if about in told)


def remember(w: Writer, refusals: Iterable[Refusal], source: str, told: Collection[RecordHash] = frozenset()) -> None:
    """Keep refusals, and tell the audit of those that are new.

    Args:
        w: of a transaction.
        refusals: what was refused.
        source: where it came from.
        told: what of it the audit was told before.
    """
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
        if known.rowcount and refusal.hash not in told:
            w.audit(
                _VERB,
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
