"""Adopting: a vault that was copied or restored goes on as a new node (architecture, Belonging)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazy.belonging.forks import fork_ends, note_forks, tell_forks
from lazy.people import former, is_member, label_of
from lazy.places.published import forget_published
from vault.folder.work import adopt_commit, checkout_of
from vault.identity.keys import KeyMissing, KeyStore
from vault.names import check_person
from vault.notes.note import Note
from vault.notes.own import INSTANCE, NAME, NODE
from vault.notes.people import ADMISSION, ASKS, INVITATION
from vault.profile import MAX_ENTRIES, Member, NodeCard
from vault.records import Plex, RecordHash, Seal, Verifier, b64a
from vault.suite import SigningKey
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["adopt", "out_of_reach"]


def out_of_reach(vault: Vault, was: Verifier) -> tuple[str, ...]:
    """Return the names of the members whom a key of this vault's owner let in, but for the one that followed it.

    A key that follows it is not above them, so what it revokes of them waits (architecture, Belonging).

    Args:
        vault: whose members.
        was: the key that was adopted from, or that is about to be.
    """
    rows = vault.store.rows("SELECT node FROM member WHERE admitted_by = ? AND node <> ?", was.text, vault.node.text)
    return tuple(sorted(label_of(vault, str(node)) for (node,) in rows))


def adopt(vault: Vault, *, name: str = "", noted: Callable[[Writer], None] = lambda _w: None) -> bool:
    """Go on as a new node, after this vault was copied or restored and its own newest entries cannot be had.

    With the old key here, and not revoked, the old node admits the new one, so that nobody has to; else, and where the
    old one waits to be admitted by hand itself, the new node is an ordinary request. Nothing that was stored is lost,
    and the line goes on where the folder stands. Where the old log forked, the new one links the end of each branch
    that is here, so that what was released on any of them counts again. Cut off, the vault is the old node still, and
    the same call begins anew.

    Args:
        vault: the copy.
        name: what friends call it; as before if empty.
        noted: called at the end of the write.

    Returns:
        Whether the new node is a member by the word of the old key.

    Raises:
        BadName: nobody can be called so.
        KeyLocked, KeyFileDamaged: the old key is here and does not open.
    """
    around = vault.around
    old = vault.node
    name = check_person(name) if name else vault.name
    keys = KeyStore(around.data_root)
    passphrase = None
    try:
        if around.passphrase is not None and keys.is_protected(old):
            passphrase = around.passphrase()
        old_key = keys.load(old, None if passphrase is None else lambda: passphrase)
    except KeyMissing:
        old_key = None
    is_cut = former(vault, old.text) is not None
    was_member = is_cut or is_member(vault, old.text)
    waits = bool(vault.store.note(ASKS)) and not was_member  # adopted, and let in by nobody: its word is none
    speaks = old_key is not None and not is_cut and not waits
    by_hand = waits or (not speaks and (was_member or not vault.store.note(INVITATION)))
    new_key = keys.create(around.entropy(32), passphrase)  # protected as the old one was
    vault.forget_key()
    anew: dict[Note[Any], object] = {
        NODE: new_key.verifier.text,
        NAME: name,
        INSTANCE: around.entropy(16).hex(),
        ADMISSION: None,
    }
    from lazy.belonging.invitations import SECRET_BYTES  # noqa: PLC0415

    anew[ASKS] = b64a.encode(around.entropy(SECRET_BYTES)) if by_hand else ""
    try:
        with vault.writing(anew=anew) as w:
            forget_published(w)
            entries = [_card(w, vault, name)]
            if old_key is not None and speaks:
                entries.append(_admit_myself(w, vault, name, old_key))
            entries += fork_ends(vault, old.text)[: MAX_ENTRIES - len(entries)]
            _go_on(w, vault)
            w.log(entries)
            note_forks(w, vault)
            tell_forks(w, vault)  # whoever goes on knows of it
            w.audit("lace-adopt", name, {"from": old.text, "to": vault.node.text})
            noted(w)
    except BaseException:
        vault.forget_key()
        raise
    return is_member(vault, vault.node.text)


def _card(w: Writer, vault: Vault, name: str) -> RecordHash:
    plex: Plex = NodeCard.to_plex(
        group=vault.group, node=vault.node, label=name, machine=vault.around.host, tai=w.tai()
    )
    return w.seal(plex).hash


def _admit_myself(w: Writer, vault: Vault, name: str, old_key: SigningKey) -> RecordHash:
    """Let the old node admit the new one."""
    plex: Plex = Member.to_plex(group=vault.group, node=vault.node, label=name, same_person=True, tai=w.tai())
    sealed = Seal.sign(plex, old_key)
    w.put([sealed])
    w.store.set_note(ADMISSION, sealed.hash)
    return sealed.hash


def _go_on(w: Writer, vault: Vault) -> None:
    """Begin the new node's line where the folder stands, so that work the old one did not release can be."""
    for (desk,) in vault.store.rows("SELECT desk FROM checkout ORDER BY desk"):
        base = checkout_of(vault, str(desk))
        if base is not None:
            adopt_commit(w, vault, str(desk), base.commit, base.tree, base.also)
