"""The keys of encrypted media, as a vault keeps them (decision 5).

A key is good for writing while everybody it was ever sealed to is a member. So an admission only adds seals, by
whoever has the key, and when somebody is no member any more the next writer begins a new epoch by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from blake3 import blake3

from vault.notes.people import INVITER
from vault.notes.places import OWNERS, REBASE, REBASED, RING, USED, RingKey
from vault.records import RecordHash, Verifier
from vault.vault import Vault

if TYPE_CHECKING:
    from transports.encrypted.member_keys import Contents, EpochKey, WritingTerms
    from vault.writer import Writer

__all__ = [
    "VaultKeys",
    "has_keys",
    "is_under_new_key",
    "rebased",
    "want_rebase",
    "wants_rebase",
]

_REVOKED = "SELECT f.node, r.signer, r.hash FROM former f JOIN revocation r ON r.hash = f.revocation ORDER BY r.p DESC"
_COPIES = "SELECT name FROM place WHERE place_id = ? AND kind <> 'http'"  # there, nobody writes
_SHARING = """
SELECT g.hash FROM link k JOIN log g ON g.p = k.p JOIN sym s ON s.id = k.data
WHERE s.s = 'entry' AND k.t = ? AND g.node = ? ORDER BY g.seq, g.lamport, g.hash LIMIT 1"""


def has_keys(vault: Vault, place_id: str) -> bool:
    """Tell whether keys of a medium are known here: it was met encrypted, or mine was encrypted there."""
    return bool(vault.store.note(RING, place_id))


def want_rebase(w: Writer, place_id: str) -> None:
    """Take note, inside a write, that the own mailbox is to be written anew under a new key, at every copy."""
    w.store.set_note(REBASE, "yes", place_id)
    w.store.drop_note(REBASED, place_id)


def wants_rebase(vault: Vault, place_id: str, name: str) -> bool:
    """Tell whether the own mailbox at the place of that name is to be written anew under a new key."""
    return bool(vault.store.note(REBASE, place_id)) and name not in _rebased(vault, place_id)


def is_under_new_key(vault: Vault, place_id: str) -> Callable[[bytes], bool]:
    """Return what tells by its first bytes whether a file is one that is written anew, or one from before."""
    from transports.encrypted.sealing import is_sealed, key_of  # a vault without encrypted media needs none of it

    anew = vault.store.note(REBASE, place_id)
    return lambda beginning: is_sealed(beginning) and key_of(beginning).hex() == anew


def rebased(vault: Vault, place_id: str, name: str) -> None:
    """Take note that it was at the place of that name; of places that are one medium, the others still wait."""
    with vault.writing(receiving=True) as w:
        done = {*_rebased(vault, place_id), name}
        if {str(one) for (one,) in w.store.rows(_COPIES, place_id)} <= done:
            w.store.set_note(REBASE, "", place_id)
            w.store.drop_note(REBASED, place_id)
        else:
            w.store.set_note(REBASED, tuple(sorted(done)), place_id)


def _rebased(vault: Vault, place_id: str) -> tuple[str, ...]:
    return vault.store.note(REBASED, place_id)


class VaultKeys:
    """What one vault knows about one medium; it satisfies `transports.encrypted.member_keys.MemberKeys`.

    Args:
        vault: whose keys they are.
        place_id: id of the medium.
        is_on: whether the person wants their own mailbox there encrypted.
        audience: the one member who may read it besides this node; None for all.
    """

    def __init__(self, vault: Vault, place_id: str, *, is_on: bool, audience: Verifier | None = None) -> None:
        from lazy.places.told_keys import ToldKeys  # a vault without encrypted media needs none of it

        self._vault = vault
        self._audience = audience
        self._is_on = is_on
        self._place_id = place_id
        ring, owners = vault.store.note(RING, place_id), vault.store.note(OWNERS, place_id)
        self._ring = {key.id: key for key in map(_as_kept, ring)}
        self._owners = dict(owners)
        self._used = [*vault.store.note(USED, place_id)]
        self._told = ToldKeys()
        self._mailbox: dict[Verifier, Verifier] = {}  # the first one of each owner: nobody has two
        self._proven: dict[Verifier, bytes] = {}  # what a member's mailbox is encrypted under, as was seen
        self._alias: Verifier | None = None

    def is_on(self) -> bool:
        """Tell whether the person wants their own mailbox here encrypted."""
        return self._is_on

    def alias(self) -> Verifier:
        """Return the name of the own mailbox here: to everybody else 32 random bytes, to this node always the same."""
        if self._alias is None:
            proof = self.sign("mailbox-name", self._place_id.encode())
            self._alias = Verifier(blake3(proof, derive_key_context="lace 0 name of an encrypted mailbox").digest())
        return self._alias

    def owner(self, alias: Verifier) -> Verifier | None:
        """Return whose mailbox a name was when it was last opened."""
        known = self._owners.get(alias.key.hex())
        return Verifier(bytes.fromhex(known)) if known else None

    def mailboxes(self) -> dict[Verifier, Verifier]:
        """Return the names of the mailboxes that were opened, each with whose it was."""
        return {Verifier(bytes.fromhex(alias)): Verifier(bytes.fromhex(owner)) for alias, owner in self._owners.items()}

    def find(self, identifier: bytes) -> list[EpochKey]:
        """Return what an id may stand for: the key that I keep, and what others tell in this visit."""
        known = [self._ring[identifier]] if identifier in self._ring else []
        return list({key.key: key for key in (*known, *self._told.named(identifier))}.values())

    def open_box(self, box: bytes) -> bytes | None:
        """Open what is sealed to this node."""
        return self._vault.key().open_box(box)

    def sign(self, domain: str, message: bytes) -> bytes:
        """Sign a statement as this node."""
        return self._vault.key().sign_statement(domain, message)

    def entropy(self, size: int) -> bytes:
        """Return random bytes."""
        return self._vault.around.entropy(size)

    def learn(self, alias: Verifier, found: Contents) -> None:
        """Take note of an opened mailbox.

        What its owner tells serves this visit. Kept is only what a member's own mailbox is encrypted under, and of my
        own mailbox everything. Whoever tells a key knows it, whatever they say of its holders: their word counts for
        nothing once they are revoked, and a key that they made up beforehand must not be written under then.
        """
        from lazy.places.told_keys import held  # a vault without encrypted media needs none of it

        owner, members = found.owner, self._members()
        is_member, known = owner in members, self._known(members)
        self._told.take(owner, found.keys, is_member=is_member)
        ring = dict(self._ring)
        for key in (*found.keys, found.key):
            kept = ring.get(key.id)
            if kept is not None and kept.key == key.key:
                ring[key.id] = held(kept, {owner, *(key.holders if is_member else ())}, known)
        if not is_member or self._mailbox.setdefault(owner, alias) != alias:
            self._keep(ring)
            return
        proven = {key.id for key in found.keys if (key.id, key.key) == (found.key.id, found.key.key)}
        for key in found.keys if owner == self._vault.node else [key for key in found.keys if key.id in proven]:
            kept = ring.get(key.id)
            if kept is None or (kept.key != key.key and not self._is_certain(key.id)):
                ring[key.id] = held(key, self._told.holders(key), known)
        if proven:
            self._proven[owner] = found.key.id
        self._keep(ring, (alias.key.hex(), owner.key.hex()))

    def terms(self) -> WritingTerms:
        """Return how to write now; what it will tell whom is kept first."""
        from lazy.places.told_keys import chosen, held
        from transports.encrypted.member_keys import EpochKey, WritingTerms  # as above

        members = {self._audience, self._vault.node} if self._audience else self._members()
        anew = self._vault.store.note(REBASE, self._place_id)
        good = sorted(key.id for key in self._ring.values() if key.holders <= members)
        if anew:  # under the key of the first try, so that what a cut left of it is gone on with
            good = [identifier for identifier in good if identifier.hex() == anew]
        key = self._ring[good[0]] if good else EpochKey(self.entropy(16), self.entropy(32))
        known = self._known(members)
        ring = {one.id: held(one, members, known) for one in (*self._ring.values(), key)}
        used = [name for name in self._used if name != key.id.hex()] + [key.id.hex()]
        ring = chosen(ring, (*map(bytes.fromhex, reversed(used)), *self._proven.values()))
        self._keep(ring, used=[name for name in used if bytes.fromhex(name) in ring])
        if anew and anew != key.id.hex():
            with self._vault.writing(receiving=True) as w:
                w.store.set_note(REBASE, key.id.hex(), self._place_id)
        holders = frozenset[Verifier]().union(*(one.holders for one in ring.values()))
        notices = () if self._audience else self._notices(holders)
        return WritingTerms(ring[key.id], tuple(sorted(members)), tuple(ring.values()), notices)

    def is_for_all_who_may(self) -> bool:
        """Tell whether just those who are to read my mailbox here have the key that it is encrypted under."""
        members = {self._audience, self._vault.node} if self._audience else self._members()
        key = self._ring.get(self._proven.get(self._vault.node, b""))
        return key is not None and key.holders == members

    def forget(self) -> None:
        """Drop what is kept of this medium: a file that is finished, or read, is not written to again."""
        with self._vault.writing(receiving=True) as w:
            w.store.drop_note(RING, self._place_id)
            w.store.drop_note(OWNERS, self._place_id)
            w.store.drop_note(USED, self._place_id)

    def request_terms(self) -> WritingTerms:
        """Return how to leave a request: to the members I know, and to whoever invited me."""
        from transports.encrypted.member_keys import EpochKey, WritingTerms  # as above

        inviter = self._vault.store.note(INVITER)
        asked = {*self._members(), *([Verifier.parse(inviter)] if inviter else []), self._vault.node}
        return WritingTerms(EpochKey(self.entropy(16), self.entropy(32)), tuple(sorted(asked)), ())

    def _notices(self, holders: Collection[Verifier]) -> tuple[bytes, ...]:
        """Return what tells everybody who could read here, and was revoked, that they were."""
        from transports.encrypted.notices import NOTICES_LIMIT, seal_notice  # few were ever revoked

        store = self._vault.store
        notices: list[bytes] = []
        for node, signer, text in store.rows(_REVOKED):
            revoked = Verifier.parse(str(node))
            if revoked not in holders or revoked == self._vault.node or len(notices) >= NOTICES_LIMIT:
                continue
            names = [str(text), *(str(entry) for (entry,) in store.rows(_SHARING, str(text), str(signer)))]
            records = [stored for name in names if (stored := store.stored(RecordHash.parse(name))) is not None]
            notice = seal_notice(revoked, records) if len(records) == len(names) > 1 else None
            notices += [notice] if notice is not None else []
        return tuple(notices)

    def _members(self) -> set[Verifier]:
        """Return the members I know, and myself."""
        rows = self._vault.store.rows("SELECT node FROM member")
        return {self._vault.node, *(Verifier.parse(str(row[0])) for row in rows)}

    def _known(self, members: set[Verifier]) -> set[Verifier]:
        rows = self._vault.store.rows("SELECT node FROM former")
        return {self._vault.node, *members, *(Verifier.parse(str(row[0])) for row in rows)}

    def _is_certain(self, identifier: bytes) -> bool:
        """Tell whether a key that I keep is the right one of its id: I wrote, or read a mailbox, with it."""
        return identifier.hex() in self._used or identifier in self._proven.values()

    def _keep(
        self, ring: dict[bytes, EpochKey], owner: tuple[str, str] | None = None, used: list[str] | None = None
    ) -> None:
        """Keep these keys and no others, and remember whose mailbox one is."""
        owners = self._owners | dict([owner] if owner else [])
        used = self._used if used is None else used
        if (ring, owners, used) == (self._ring, self._owners, self._used):
            return
        self._ring, self._owners, self._used = ring, owners, used
        with self._vault.writing(receiving=True) as w:
            w.store.set_note(RING, _to_keep(ring.values()), self._place_id)
            w.store.set_note(OWNERS, tuple(sorted(owners.items())), self._place_id)
            w.store.set_note(USED, tuple(used), self._place_id)


def _to_keep(keys: Iterable[EpochKey]) -> tuple[RingKey, ...]:
    return tuple(RingKey(key.id, key.key, tuple(sorted(key.holders))) for key in sorted(keys, key=lambda key: key.id))


def _as_kept(kept: RingKey) -> EpochKey:
    from transports.encrypted.member_keys import EpochKey  # a vault without encrypted media needs none of it

    return EpochKey(kept.id, kept.key, frozenset(kept.holders))
