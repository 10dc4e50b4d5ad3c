"""Judging a quarantined record again, because a person says so (LAZ-71, architecture decision 10)."""

from __future__ import annotations

from collections.abc import Callable

from lazy.conflicts import note_version_conflicts
from lazy.receiving.mailbox_left import UNREAD
from lazy.receiving.quarantine import Quarantined, SignerStillStrange, find, stored_of
from lazy.receiving.receive import Receiver
from vault.records import RecordHash
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["readmit"]


def readmit(
    vault: Vault, text: str, *, noted: Callable[[Writer, Quarantined], None] = lambda _w, _found: None
) -> tuple[Quarantined, bool]:
    """Judge a refused record again, as if it arrived now.

    A record whose bytes are not kept is forgotten as refused instead, so that the next visit fetches it again.

    Args:
        vault: where it was refused.
        text: its hash, or the beginning of it.
        noted: called at the end of the write.

    Returns:
        The record, and whether it was stored now.

    Raises:
        NotInQuarantine: no refused record has this hash.
        SignerStillStrange: who sealed it is no member yet; nothing changed.
    """
    found = find(vault, text)
    record, stored = RecordHash.parse(found.hash), stored_of(vault, found)
    if stored is None:
        with vault.writing() as w:
            w.store.run("DELETE FROM refused WHERE digest = ? AND kind = ?", record.digest, record.kind)
            w.store.run("UPDATE seen SET whole = ?", UNREAD.code)
            w.audit("lace-quarantine", found.hash, {"act": "admit", "code": found.code, "source": found.source})
            noted(w, found)
        return found, False
    receiver = Receiver(vault, found.source)
    receiver.take([(record, stored)])
    if record not in receiver.received:
        raise SignerStillStrange(f"The record {found.hash} is sealed by {found.signer}, who is not a member.")
    with vault.writing() as w:
        w.store.run("DELETE FROM refused WHERE digest = ? AND kind = ?", record.digest, record.kind)
        receiver.finish(w)
        w.store.settle(vault.node.text, vault.founding)
        note_version_conflicts(w, vault)
        w.audit("lace-quarantine", found.hash, {"act": "admit", "code": found.code, "source": found.source})
        noted(w, found)
    return found, True
