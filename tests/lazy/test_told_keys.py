"""What a member says of the keys of an encrypted place: it opens what it opens, and counts no more once they are gone.

Bob is a member who writes what his own lace never would, in the one format there is, and is revoked then.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import pytest

from lazy.belonging.revoking import plan_revocation, revoke
from lazy.places.media import set_encrypted
from lazy.places.registry import place_named
from lazy.places.sealing import VaultKeys
from lazy.sync import sync
from tests.vault import vaults
from transports.drop.place import Drop
from transports.encrypted.member_keys import EpochKey, WritingTerms
from transports.encrypted.sealed import SealedPlace
from transports.encrypted.sealing import open_envelope, seal_envelope
from transports.errors import SealedToOthers
from vault.records import RecordHash, Verifier
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault


class Telling(VaultKeys):
    """The keys of somebody who tells more than they should."""

    told: Sequence[EpochKey] = ()
    is_first = False

    def alias(self) -> Verifier:
        return Verifier(bytes(32)) if self.is_first else super().alias()

    def terms(self) -> WritingTerms:
        terms = super().terms()
        return terms._replace(ring=(terms.key, *self.told)) if self.told else terms


def sealed(vault: Vault, told: Sequence[EpochKey] = (), *, is_first: bool = False) -> SealedPlace:
    """Open the stick as one vault sees it."""
    drop = Drop.open(vault.folder.parent / "stick")
    keys = Telling(vault, drop.place_id, is_on=True)
    keys.told, keys.is_first = told, is_first
    return SealedPlace(drop, vault.node, keys)


def tell(vault: Vault, told: Sequence[EpochKey], *, is_first: bool = False) -> None:
    """Write the own head anew with these keys beside it; it may lie where it is opened before all others."""
    medium = sealed(vault, told, is_first=is_first)
    head = sealed(vault).read_head(vault.group, vault.node)
    assert head is not None
    medium.writer(vault.group, vault.node).publish_head(head)


def written_under(vault: Vault) -> EpochKey:
    """Return the key that the own head is encrypted under now."""
    head, context = hers(vault)
    return open_envelope(head, lambda _: [], vault.key().open_box, context).key


def hers(vault: Vault) -> tuple[bytes, bytes]:
    """Return the own head as it lies there, and what it is bound to."""
    medium = sealed(vault)
    head = Drop.open(vault.folder.parent / "stick").read_head(medium.boxes.room(vault.group), medium.boxes.keys.alias())
    assert head is not None
    return head, medium.boxes.context(medium.boxes.keys.alias(), b"head")


def goes_on(vault: Vault, text: str) -> RecordHash:
    """Release something new, and put it on the stick."""
    vaults.write(vault, f"{vault.name}.txt", text)
    made = release(vault, None, text)
    meet(vault)
    return made.release


def has(vault: Vault, made: RecordHash) -> bool:
    return made in {found.hash for found in releases(vault.store)}


def box_of(vault: Vault) -> Path:
    """Return where the own mailbox lies on the stick."""
    medium, root = sealed(vault), vault.folder.parent / "stick"
    return Drop.open(root).mailbox_path(medium.boxes.room(vault.group), medium.boxes.keys.alias()).relative_to(root)


def meet(*people: Vault) -> None:
    for vault in people:
        (result,) = sync(vault, ["stick"])
        assert result.problems == []


@pytest.fixture
def alice(tmp_path: Path) -> Vault:
    return vaults.found(tmp_path)


@pytest.fixture
def bob(alice: Vault) -> Vault:
    bob = vaults.befriend(alice.folder.parent, alice, "bob")
    for vault in (alice, bob):
        set_encrypted(vault, place_named(vault, "stick"))
    meet(alice, bob, alice)
    return bob


def test_a_key_that_a_revoked_member_made_up_is_not_written_under(alice: Vault, bob: Vault) -> None:
    """CYB-17: of the holders he named none, so that everybody who holds it seems a member after he is cut off."""
    made_up = EpochKey(bytes(16), b"K" * 32)
    tell(bob, [made_up])
    assert sealed(alice).nodes(alice.group) == sorted([alice.node, bob.node])
    revoke(alice, plan_revocation(alice, "bob"))
    sync(alice, ["stick"])
    head, context = hers(alice)
    with pytest.raises(SealedToOthers):
        open_envelope(head, lambda name: [made_up] if name == made_up.id else [], bob.key().open_box, context)


def test_a_wrong_key_takes_nobody_elses_mailbox_away(alice: Vault, bob: Vault) -> None:
    """CYB-17: bob tells another secret under the id of carol's new key, where alice reads it before carol's own."""
    carol = vaults.befriend(alice.folder.parent, alice, "carol")
    meet(bob)
    place = place_named(carol, "stick")
    set_encrypted(carol, place, rebase=True)
    made = goes_on(carol, "one")
    right = written_under(carol)
    tell(bob, [EpochKey(right.id, b"W" * 32)], is_first=True)
    meet(alice)
    assert has(alice, made)
    again = goes_on(carol, "two")
    meet(alice)
    assert has(alice, again)


def test_what_a_member_tells_never_fills_what_others_hand_on(alice: Vault, bob: Vault) -> None:
    """FAC-30: thousands of keys, and thousands of holders of the key that everybody writes under."""
    under = written_under(alice)
    for number in range(2):
        made_up = [
            EpochKey(blake2b(bytes([n % 256, n // 256, number]), digest_size=16).digest(), bytes(32))
            for n in range(1000)
        ]
        nobody = frozenset(Verifier(blake2b(key.id).digest()[:32]) for key in made_up)
        tell(bob, made_up)
        meet(alice)
        tell(bob, [EpochKey(under.id, under.key, nobody)])
        meet(alice)
    made = goes_on(alice, "one")
    assert len(hers(alice)[0]) < 100_000
    meet(bob)
    assert has(bob, made)
    assert written_under(alice) != under


def test_epochs_begun_at_once_end_in_one_and_everybody_reads_all(alice: Vault, bob: Vault, tmp_path: Path) -> None:
    """Decision 5: carol was away for both, and dave is admitted by bob while alice is not there."""
    carol = vaults.befriend(alice.folder.parent, alice, "carol")
    meet(bob, carol)
    made = [goes_on(carol, "before")]
    stick, before = place_named(alice, "stick"), tmp_path / "before"
    shutil.copytree(tmp_path / "stick", before)
    set_encrypted(alice, stick, rebase=True)
    set_encrypted(bob, stick, rebase=True)
    made.append(goes_on(alice, "anew"))
    (tmp_path / "stick").rename(tmp_path / "after")
    before.rename(tmp_path / "stick")
    made.append(goes_on(bob, "anew"))
    his = box_of(bob)
    shutil.rmtree(tmp_path / "after" / his)
    shutil.copytree(tmp_path / "stick" / his, tmp_path / "after" / his)
    (tmp_path / "stick").rename(before)
    (tmp_path / "after").rename(tmp_path / "stick")
    assert written_under(alice) != written_under(bob)
    made += [goes_on(vault, "on") for vault in (alice, bob)]
    assert written_under(alice) == written_under(bob)
    meet(carol)
    dave = vaults.befriend(alice.folder.parent, bob, "dave")
    meet(dave, alice)
    for vault in (alice, bob, carol, dave):
        assert all(has(vault, one) for one in made)
    revoke(bob, plan_revocation(bob, "dave"))
    made.append(goes_on(bob, "without dave"))
    under = written_under(bob)
    meet(carol, alice)
    made.append(goes_on(alice, "without dave"))
    assert written_under(alice) == under
    sync(dave, ["stick"])
    assert not has(dave, made[-1])
    meet(carol)
    assert all(has(carol, one) for one in made)


def test_what_lies_beside_a_head_closes_nobodys_mailbox(alice: Vault, bob: Vault) -> None:
    """CYB-17, FAC-30: whoever can write on the medium can leave something there under the name of a request."""
    path = alice.folder.parent / "stick" / box_of(alice) / "request.rec"
    his = sealed(bob)
    of_bob = seal_envelope(
        b"please",
        EpochKey(bytes(16), bytes(32)),
        owner=bob.node,
        recipients=[alice.node, bob.node],
        keys=(),
        sign=his.boxes.keys.sign,
        entropy=his.boxes.keys.entropy,
        context=his.boxes.context(sealed(alice).boxes.keys.alias(), b"request"),
    )
    for data in (b"please", of_bob):
        made = goes_on(alice, f"beside {len(data)} bytes")
        path.write_bytes(data)
        meet(bob)
        assert has(bob, made)
    made = goes_on(alice, "beside a directory")
    path.mkdir()
    meet(bob)
    assert has(bob, made)
