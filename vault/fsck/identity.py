"""Whose vault it is, told by its own records where the note that says so has rotted (APP-13).

Node, name, group and founding record stand in notes of the store, and in records as well: the audit trail is sealed
by the node and never leaves the vault, the node's card carries name and group, and the founding record proves both. A
note is written anew only where they leave one answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from vault.errors import DataError, LaceError
from vault.files import Unreadable
from vault.identity.mark import MarkDamaged
from vault.identity.markfile import MarkFile, mark_path
from vault.notes.own import FOUNDING, FOUNDING_PLEX, GROUP, INSTANCE, NAME, NODE
from vault.profile import group_id
from vault.records import Seal, Verifier, b64a, parse_record

if TYPE_CHECKING:
    from vault.notes.note import Note
    from vault.vault import Vault

__all__ = ["settle_identity"]

_AUDIT, _CARD, _FOUNDING = "lace/audit", "lace/node", "lace/founding"
_OF = "SELECT CAST(bytes AS BLOB) FROM body WHERE kind = 'S' AND instr(substr(bytes, 1, 1024), ?) ORDER BY p DESC"


def settle_identity(vault: Vault) -> None:
    """Write the notes anew that say whose vault it is, where its records say otherwise; inside a transaction."""
    node = _node(vault)
    if node is None:
        return
    store = vault.store
    _set(vault, NODE, node.text)
    cards = [seal for seal in _sealed(vault, _CARD) if seal.signer == node]
    labels = [seal.plex.first("Label") or "" for seal in cards]
    if labels and store.note(NAME) not in labels:
        _set(vault, NAME, labels[0])
    groups = {seal.plex.group for seal in cards}
    if len(groups) == 1:
        (group,) = groups
        _set(vault, GROUP, group)
        for founding in _sealed(vault, _FOUNDING):
            if group_id(founding.plex) == group:
                _set(vault, FOUNDING_PLEX, b64a.encode(founding.plex.hash.digest))
                _set(vault, FOUNDING, founding.hash.text)
    _instance(vault, node)


def _node(vault: Vault) -> Verifier | None:
    """Return the node that wrote the trail here: the one that is named, or the newest whose key is here."""
    signers = [seal.signer for seal in _sealed(vault, _AUDIT)]
    with suppress(DataError):
        named = Verifier.parse(vault.store.note(NODE))
        if named in signers:
            return named
    return signers[0] if signers and vault.keys_here.path(signers[0]).is_file() else None


def _sealed(vault: Vault, app: str) -> Iterator[Seal]:
    """Yield the sealed records of a kind that are whole, the newest first."""
    for (stored,) in vault.store.db.execute(_OF, (f"\nApp: {app}\n".encode(),)):
        with suppress(DataError):
            record = parse_record(bytes(stored))
            if isinstance(record, Seal) and record.plex.app == app:
                yield record


def _instance(vault: Vault, node: Verifier) -> None:
    """Find the mark of this vault where its instance has none: the one of its node that ends where the log does."""
    store = vault.store
    try:
        with suppress(DataError, MarkDamaged, ValueError):
            if vault.mark.load() is not None:
                return
    except Unreadable:
        return  # it may be the right one
    last = store.rows("SELECT seq, plex FROM log WHERE node = ? ORDER BY seq DESC, hash LIMIT 1", node.text)
    found = []
    for path in sorted(mark_path(vault.around.data_root, "").parent.glob("*.mark")):
        with suppress(LaceError, ValueError):
            state = MarkFile(path, path.stem).load()
            if state is not None and (state.node, state.machine) == (node, vault.around.machine):
                found += [path.stem] if last and (state.done_seq, state.done_digest) == last[0] else []
    if len(found) == 1:
        _set(vault, INSTANCE, found[0])


def _set(vault: Vault, note: Note[str], value: str) -> None:
    if vault.store.note(note) != value:
        vault.store.set_note(note, value)
