"""What a member says of the keys of an encrypted place: it opens what it opens, and counts no more once they are gone.

Bob is a member who writes what his own lace never would, in the one format there is, and is revoked then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.places import place_named
from lazy.revoking import plan_revocation, revoke
from lazy.sealing import VaultKeys, set_encrypted
from lazy.sync import sync
from tests.vault import vaults
from transports.drop import Drop
from transports.errors import SealedToOthers
from transports.sealed import SealedPlace, WritingTerms
from transports.sealing import EpochKey, open_envelope
from vault.vault import Vault


class Telling(VaultKeys):
    """The keys of somebody who tells more than they should."""

    told: Sequence[EpochKey] = ()

    def terms(self) -> WritingTerms:
        terms = super().terms()
        told = {key.id: key for key in (*terms.ring, *self.told)}
        return replace(terms, ring=tuple(told.values()))


def sealed(vault: Vault, told: Sequence[EpochKey] = ()) -> SealedPlace:
    """Open the stick as one vault sees it."""
    drop = Drop.open(vault.folder.parent / "stick")
    keys = Telling(vault, drop.place_id, is_on=True)
    keys.told = told
    return SealedPlace(drop, vault.node, keys)


def tell(vault: Vault, told: Sequence[EpochKey]) -> None:
    """Write the own head anew with these keys beside it."""
    medium = sealed(vault, told)
    head = medium.read_head(vault.group, vault.node)
    assert head is not None
    medium.writer(vault.group, vault.node).publish_head(head)


def hers(vault: Vault) -> tuple[bytes, bytes]:
    """Return the own head as it lies there, and what it is bound to."""
    medium = sealed(vault)
    head = Drop.open(vault.folder.parent / "stick").read_head(medium.room(vault.group), medium.keys.alias())
    assert head is not None
    return head, medium.context(medium.keys.alias(), b"head")


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
        open_envelope(head, lambda name: made_up if name == made_up.id else None, bob.key().open_box, context)
