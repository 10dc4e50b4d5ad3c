"""Cuts: of a revoked node counts what its log holds up to one entry, and nothing that it sealed after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy.receiving.refusals import AFTER_CUT, UNPROVEN
from vault import profile
from vault.nodelog import reaches
from vault.profile import read
from vault.records import RecordHash, Seal, Verifier
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.membership import Cut

__all__ = ["cuts_of", "leading_to", "who_counts", "why_late", "with_reached"]


def cuts_of(at: Writer | Vault, me: Verifier) -> dict[Verifier, Cut]:
    """Map the revoked nodes to their cuts; my own records are mine here, whoever cut me."""
    rows = at.store.rows("SELECT node, seq, plex FROM former WHERE node <> ?", me.text)
    if not rows:
        return {}
    from vault.membership import Cut  # hardly anybody was ever cut

    return {Verifier.parse(str(node)): Cut(int(seq), bytes(plex)) for node, seq, plex in rows}


def who_counts(at: Writer | Vault) -> set[tuple[object, ...]]:
    """Return who belongs, and how much counts of whom: what may be refused hangs on it."""
    return set(at.store.rows("SELECT node, NULL, NULL FROM member UNION ALL SELECT node, seq, plex FROM former"))


def leading_to(w: Writer, cuts: dict[Verifier, Cut], waiting: dict[RecordHash, Seal]) -> set[RecordHash]:
    """Return the waiting entries that lead to the cut of their node: from its digest down, each naming the next."""
    found = set()
    values = {record: read(seal) for record, seal in waiting.items() if seal.plex.app == profile.LOG_APP}
    entries = {record: value for record, value in values.items() if isinstance(value, profile.LogEntry)}
    for node, cut in cuts.items():
        last = {r for r, e in entries.items() if e.signer == node and (e.seq, e.plex_digest) == cut}
        # Entries here lead on from where the chain that came earlier ends.
        here = w.store.chain(node.text, cut)
        steps = list(last) + [RecordHash.parse(prev) for _, _, prev in here if prev is not None]
        while steps:
            step = steps.pop()
            entry = entries.get(step)
            if entry is not None and entry.signer == node and step not in found:
                found.add(step)
                steps += [entry.prev] if entry.prev is not None else []
    return found


def with_reached(records: set[RecordHash], waiting: dict[RecordHash, Seal]) -> set[RecordHash]:
    """Return records of those that wait, and what of the rest each of them reaches, one by way of another."""
    found = set(records)
    following = list(records)
    while following:
        value = read(waiting[following.pop()])
        more = {record for record, _ in reaches(value, with_content=False)} if value is not None else set()
        fresh = (more & waiting.keys()) - found
        found |= fresh
        following += fresh
    return found


def why_late(seal: Seal, who: str, cut: Cut) -> tuple[str, str]:
    """Return code and reason of refusing what a revoked node sealed and nothing that counts reaches."""
    value = read(seal)
    if isinstance(value, profile.LogEntry) and value.seq <= cut.seq:
        reason = f"it is entry {value.seq} of {who}, who was revoked, and does not lead to the entry that counts last"
        return UNPROVEN, reason
    last = f"entry {cut.seq}" if cut.seq else "the first entry"
    return AFTER_CUT, f"it is sealed by {who}, whose log was cut {'after' if cut.seq else 'before'} {last}"
