"""Whose vault it is, told by its own records where the note that says so has rotted (APP-13).

Node, name, group and founding record stand in notes of the store, and in records as well: the audit trail is sealed
by the node and never leaves the vault, the mark beside the key names the node of one instance, the node's card carries
name and group, and the founding record proves both. A note is written anew only where they leave one answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from vault.audit.entries import read_audit
from vault.errors import DataError, LaceError
from vault.files import Unreadable
from vault.identity.mark import MarkDamaged
from vault.identity.markfile import MarkFile, mark_path
from vault.notes.own import FOUNDING, FOUNDING_PLEX, GROUP, INSTANCE, NAME, NODE
from vault.profile import group_id
from vault.records import Seal, Verifier, b64a, parse_record
from vault.store.database import BEYOND, StoreDamaged

if TYPE_CHECKING:
    from vault.notes.note import Note
    from vault.vault import Vault

__all__ = ["require_node", "settle_identity", "settle_instance"]

_AUDIT, _CARD, _FOUNDING = "lace/audit", "lace/node", "lace/founding"
_BY = "SELECT CAST(bytes AS BLOB) FROM body WHERE kind = 'S' AND instr(substr(bytes, 1, 1024), ?)"
_OF = f"{_BY} ORDER BY p DESC"
_WHOSE = (
    "If its key lies on a disk that is not here now, or LACE_HOME names another folder, bring that back and run: lace"
    f" fsck --repair. Otherwise: {BEYOND[:1].lower()}{BEYOND[1:]}"
)


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
            if group_id(founding.plex.group, founding.plex.hash.digest) == group:
                _set(vault, FOUNDING_PLEX, b64a.encode(founding.plex.hash.digest))
                _set(vault, FOUNDING, founding.hash.text)


def require_node(vault: Vault) -> None:
    """Refuse a vault of which nothing tells whose it is: made anew for nobody, its own log would count for nothing.

    Raises:
        StoreDamaged: so it is, with the ways out.
    """
    if _node(vault) is None and (_named(vault) is None or _trail(vault)):
        raise StoreDamaged(f"The store of the vault in {vault.folder} has lost whose vault it is.", hint=_WHOSE)


def _node(vault: Vault) -> Verifier | None:
    """Return whose vault it is; None where its records and what lies beside the key do not tell it alike.

    The note is right about a node that sealed something here: one that rotted names none. Else whoever wrote the
    trail's last entry is the node, if the mark of the vault's instance says so too, or its key is here where the mark
    is not: the entry that tells of an adoption may be what was lost.
    """
    named = _named(vault)
    if named is not None and _has_sealed(vault, named):
        return named
    signers = _trail(vault)
    marked = _marked(vault)
    if len(signers) != 1 or (marked is None and not vault.keys_here.path(*signers).is_file()):
        return None
    return signers.pop() if marked is None or marked in signers else None


def _named(vault: Vault) -> Verifier | None:
    with suppress(DataError):
        return Verifier.parse(vault.store.note(NODE))
    return None


def _has_sealed(vault: Vault, node: Verifier) -> bool:
    # Closed, and not left: what says that a record is damaged holds on to all this, and no table could be made anew.
    with closing(vault.store.db.execute(_BY, (f"\nSigned-By: {node.text}\n".encode(),))) as found:
        for (stored,) in found:
            with suppress(DataError):
                record = parse_record(bytes(stored))
                if isinstance(record, Seal) and record.signer == node:
                    return True
    return False


def _trail(vault: Vault) -> set[Verifier]:
    """Return who sealed the entry of the trail with the highest number: more than one where copies wrote both."""
    last, signers = 0, set[Verifier]()
    for seal in _sealed(vault, _AUDIT):
        with suppress(DataError):
            number = read_audit(seal).sequence
            signers = {*(signers if number == last else ()), seal.signer} if number >= last else signers
            last = max(number, last)
    return signers


def _marked(vault: Vault) -> Verifier | None:
    """Return the node that the mark of this instance names: an adoption gives a vault another instance."""
    with suppress(LaceError, ValueError):
        state = vault.mark.load()
        return state.node if state is not None else None
    return None


def _sealed(vault: Vault, app: str) -> Iterator[Seal]:
    """Yield the sealed records of a kind that are whole, the newest first."""
    for (stored,) in vault.store.db.execute(_OF, (f"\nApp: {app}\n".encode(),)):
        with suppress(DataError):
            record = parse_record(bytes(stored))
            if isinstance(record, Seal) and record.plex.app == app:
                yield record


def settle_instance(vault: Vault) -> None:
    """Find the mark of this vault where its instance has none: the one of its node that ends where the log does.

    Inside a transaction, once the view of the log was made anew.
    """
    store, node = vault.store, _named(vault)
    if node is None:
        return
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
