"""Adopting: a vault that was copied or restored goes on as a new node (architecture, Belonging)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lazy.belonging.forks import fork_ends, note_forks, tell_forks
from lazy.people import former, is_member, label_of
from lazy.places.published import forget_published
from vault.folder.checked_out import checkout_of
from vault.folder.work import adopt_commit
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
    name = check_person(name) if name else vault.name
    keys = KeyStore(around.data_root)
    passphrase = around.passphrase() if around.passphrase is not None and _is_protected(keys, vault.node) else None
    old = _old_node(vault, keys, passphrase)
    new_key = keys.create(around.entropy(32), passphrase)  # protected as the old one was
    vault.forget_key()
    try:
        with vault.writing(anew=_notes_of(vault, new_key, name, old)) as w:
            forget_published(w)
            entries = [_card(w, vault, name)]
            if old.key is not None and old.speaks:
                entries.append(_admit_myself(w, vault, name, old.key))
            entries += fork_ends(vault, old.node.text)[: MAX_ENTRIES - len(entries)]
            _go_on(w, vault)
            w.log(entries)
            note_forks(w, vault)
            tell_forks(w, vault)  # whoever goes on knows of it
            w.audit("lace-adopt", name, {"from": old.node.text, "to": vault.node.text})
            noted(w)
    except BaseException:
        vault.forget_key()
        raise
    return is_member(vault, vault.node.text)


@dataclass(frozen=True, slots=True)
class _OldNode:
    """The node that a copied vault was, and what its word is worth for the one that follows it.

    Args:
        node: who it is.
        key: its key; None where that is not here.
        is_cut: whether it was revoked.
        belonged: whether it is a member, or was one up to a cut.
        waits: whether it was adopted itself, and let in by nobody yet: its word is none.
        is_invited: whether it holds the invitation that it came with.
    """

    node: Verifier
    key: SigningKey | None
    is_cut: bool
    belonged: bool
    waits: bool
    is_invited: bool

    def __post_init__(self) -> None:
        """Refuse what no node can be.

        Raises:
            ValueError: it was cut off from where it never belonged, or waits to belong where it does.
        """
        if (self.is_cut and not self.belonged) or (self.waits and self.belonged):
            raise ValueError("no node is so")

    @property
    def speaks(self) -> bool:
        """Whether it may let the new node in."""
        return self.key is not None and not self.is_cut and not self.waits

    @property
    def is_followed_by_hand(self) -> bool:
        """Whether a member has to let the new node in: the word of the old one is none, and no invitation asks."""
        return self.waits or (not self.speaks and (self.belonged or not self.is_invited))


def _old_node(vault: Vault, keys: KeyStore, passphrase: bytes | None) -> _OldNode:
    """Return the node that a vault is, before it goes on as another one.

    Raises:
        KeyLocked, KeyFileDamaged: its key is here and does not open.
    """
    node, is_cut = vault.node, former(vault, vault.node.text) is not None
    belonged = is_cut or is_member(vault, node.text)
    key = None
    with suppress(KeyMissing):
        key = keys.load(node, None if passphrase is None else lambda: passphrase)
    waits = bool(vault.store.note(ASKS)) and not belonged
    return _OldNode(node, key, is_cut, belonged, waits, is_invited=bool(vault.store.note(INVITATION)))


def _is_protected(keys: KeyStore, node: Verifier) -> bool:
    try:
        return keys.is_protected(node)
    except KeyMissing:
        return False


def _notes_of(vault: Vault, key: SigningKey, name: str, old: _OldNode) -> dict[Note[Any], object]:
    """Return what the vault notes of itself from now on."""
    from lazy.belonging.invitations import SECRET_BYTES

    entropy = vault.around.entropy
    return {
        NODE: key.verifier.text,
        NAME: name,
        INSTANCE: entropy(16).hex(),
        ADMISSION: None,
        ASKS: b64a.encode(entropy(SECRET_BYTES)) if old.is_followed_by_hand else "",
    }


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
