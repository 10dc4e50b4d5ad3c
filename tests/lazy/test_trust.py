"""How far a key is trusted is read off the membership, and said in four words (CYB-21, CYB-22)."""

from __future__ import annotations

from pathlib import Path

from lazy.belonging.circle import accept, invite, join
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.belonging.trust import SyncState, Trust, peer_record, trust_of
from lazy.people import linked
from lazy.sync import sync
from tests.people import Person
from tests.shelf import Shelf
from tests.vault.vaults import around, befriend, befriended, found, write
from vault.releasing import release
from vault.suite import SigningKey

_STRANGER = SigningKey.from_seed(b"\x07" * 32).verifier.text


def test_four_words_for_how_far_a_key_is_trusted(tmp_path: Path, shelf: Shelf) -> None:
    """CYB-21: unknown is refused, known needs approval, a member's member is verified, my own guest is trusted."""
    alice, bob = shelf.lay(befriended, "bob")
    cara = befriend(tmp_path, bob, "cara")
    for vault in (bob, alice):
        sync(vault, ["stick"])
    line = invite(bob, "dave")
    (tmp_path / "dave").mkdir()
    dave, _ = accept(tmp_path / "dave", around(tmp_path, "dave"), line.encode(), name="dave")
    sync(alice, ["stick"])
    words = {vault.name: trust_of(alice, vault.node.text) for vault in (alice, bob, cara, dave)}
    assert words == {"alice": "trusted", "bob": "trusted", "cara": "verified", "dave": "known"}
    assert trust_of(bob, alice.node.text) is Trust.VERIFIED
    assert trust_of(alice, _STRANGER) is Trust.UNKNOWN
    assert linked(alice, alice.node.text) == {alice.node.text}
    write(dave, "d.txt", "not yet\n")
    write(cara, "c.txt", "mine\n")
    mine = release(cara, None, "cara's")
    sync(cara, ["stick"])
    sync(dave, ["stick"])
    came = sync(alice, ["stick"])[0].came.received
    assert mine.release in came
    revoke(alice, plan_revocation(alice, "cara"), "she moved away")
    assert trust_of(alice, cara.node.text) is Trust.UNKNOWN
    for vault in (alice, bob, cara, dave):
        vault.close()


def test_a_key_that_is_joined_before_it_belongs_is_only_known(tmp_path: Path) -> None:
    """CYB-21: a peer's key written down by somebody who may admit nobody yet."""
    alice = found(tmp_path)
    (tmp_path / "bob").mkdir()
    bob, _ = accept(tmp_path / "bob", around(tmp_path, "bob"), invite(alice, "bob").encode(), name="bob")
    join(bob, "eve", str(tmp_path / "eves"), _STRANGER, cwd=tmp_path)
    assert trust_of(bob, _STRANGER) is Trust.KNOWN
    assert peer_record(bob, _STRANGER, "eve").state is SyncState.NEVER
    for vault in (alice, bob):
        vault.close()


def test_a_peers_record_is_shown(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CYB-22: id, key, address, trust, last seen, and how the last sync with it ended."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"), "--encrypt")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (bob, alice, bob, alice):
        person.lace("sync", "stick")
    node = bob.lace("id")["node"]
    (row,) = alice.lace("peers")["peers"]
    assert (row["peer"], row["key"], row["trust"], row["sync_state"]) == ("bob", node, "trusted", "idle")
    assert row["last_seen"] == alice.lace("status")["peers"][0]["last_sync"]
    assert "trusted, last met" in alice.text("peers", "bob")
    for head in (tmp_path / "stick").rglob("head.rec"):
        data = bytearray(head.read_bytes())
        data[-20] ^= 1
        head.write_bytes(data)
    alice.lace("pull", "stick", expect=1)
    assert alice.lace("peers", "bob")["sync_state"] == "error"
    assert "with a problem" in alice.text("peers")
