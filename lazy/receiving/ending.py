"""What the end of a round refuses: evidence whose signer does not belong, and what is not what it says (LAZ-71)."""

from __future__ import annotations

from lazy.people import label_of
from lazy.receiving.cuts import cuts_of, why_late
from lazy.receiving.quarantine import QUARANTINE_BYTES
from lazy.receiving.refusals import MISMATCH, STRANGER, UNJOINED
from lazy.receiving.round import Round
from vault.profile import FOUNDING_APP
from vault.records import RecordHash
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["note_mismatches", "refuse_strangers"]


def refuse_strangers(vault: Vault, of: Round) -> None:
    """Refuse the evidence that waits for its signer to become a member: at the round's end, or when it is much.

    What was only weighed is dropped without a word.
    """
    cuts = cuts_of(vault, vault.node)
    for record_hash, (seal, stored) in of.strangers.items():
        if record_hash in of.weighed:
            continue
        who = label_of(vault, seal.signer.text)
        reason = f"it is sealed by {who}, who is not a member"
        if vault.store.rows("SELECT 1 FROM request WHERE node = ?", seal.signer.text):
            reason += " yet; it comes again once they are"
            of.awaited.add(record_hash)
        if (cut := cuts.get(seal.signer)) is not None:
            of.refuse(record_hash, *why_late(seal, who, cut), seal.signer.text)
            continue
        if seal.plex.app == FOUNDING_APP:
            reason = "it founds another group"
        elif of.quarantined.total + len(stored) <= QUARANTINE_BYTES:
            of.quarantined.put(seal, stored)
        of.refuse(record_hash, STRANGER, reason, seal.signer.text)
    of.strangers.clear()
    of.weighed.clear()


def note_mismatches(w: Writer, vault: Vault, of: Round) -> None:
    """Name the releases and decisions that are wholly here and not what they say: kept as evidence, and no more."""
    w.store.settle(vault.node.text, vault.founding)
    for text, node in w.store.rows("SELECT hash, node FROM release WHERE visible = -1 ORDER BY p"):
        release = RecordHash.parse(str(text))
        if not of.was_refused(w.store, release):
            of.refuse(release, MISMATCH, "its content is not what it says; it is kept and not shown", str(node))
    unjoined = "SELECT hash, node, desk, version FROM resolution WHERE visible = -1 ORDER BY p"
    for text, node, desk, version in w.store.rows(unjoined):
        decision = RecordHash.parse(str(text))
        if not of.was_refused(w.store, decision):
            wrong = "has another result than it says; it is kept and not counted"
            what = f"what {label_of(vault, str(node))} decided on {desk} {version} {wrong}"
            of.refuse(decision, UNJOINED, what, str(node))
