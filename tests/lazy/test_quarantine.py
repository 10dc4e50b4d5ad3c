"""Refused records are remembered, strangers' are kept within bounds, and a person can judge them again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lazy.receiving.quarantine
from lazy.belonging import circle
from lazy.belonging.admitting import admit, consider
from lazy.receiving.quarantine import NotInQuarantine, SignerStillStrange, drop, quarantined
from lazy.receiving.readmit import readmit
from lazy.receiving.receive import Receiver
from tests.vault.vaults import around, found, write
from vault.desks.content import data_plex
from vault.profile import NodeCard, Request
from vault.records import RecordHash, Seal
from vault.releasing import release
from vault.suite import SigningKey
from vault.vault import Vault

EVE, MAX = (SigningKey.from_seed(bytes([n]) * 32) for n in (8, 9))


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    """A vault with nobody else in it."""
    vault = found(tmp_path)
    yield vault
    vault.close()


def card(vault: Vault, label: str, key: SigningKey) -> Seal:
    plex = NodeCard.to_plex(group=vault.group, node=key.verifier, label=label, machine=None, tai=vault.around.tai())
    return Seal.sign(plex, key)


def take(vault: Vault, *records: tuple[RecordHash, bytes]) -> Receiver:
    """Let records arrive in one round."""
    receiver = Receiver(vault, "stick")
    receiver.take(list(records))
    with vault.writing() as w:
        receiver.finish(w)
    return receiver


def arrive(vault: Vault, *seals: Seal) -> Receiver:
    return take(vault, *((seal.hash, seal.encode()) for seal in seals))


def test_a_strangers_record_is_kept_and_counts_for_nothing(alice: Vault) -> None:
    """LAZ-71, decision 10: it is named with its reason, not stored, and not asked for again."""
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    (one,) = quarantined(alice)
    assert (one.hash, one.code, one.source, one.size) == (strange.hash.text, "stranger", "stick", len(strange.encode()))
    assert one.app == "lace/node"
    assert not alice.store.have([strange.hash])
    assert strange.hash in Receiver(alice, "stick").refused_before()


def test_who_asked_to_belong_is_told_from_any_other_stranger(alice: Vault) -> None:
    """LAZ-71: nothing is wrong with a friend's friend who is not admitted yet."""
    asked = Request.to_plex(
        group=alice.group, node=EVE.verifier, label="eve", invitation="0" * 22, proof=bytes(32), tai=alice.around.tai()
    )
    consider(alice, "stick", Seal.sign(asked, EVE), EVE.verifier)
    arrive(alice, card(alice, "eve", EVE), card(alice, "max", MAX))
    said = {one.reason.partition("who is ")[2] for one in quarantined(alice)}
    assert said == {"not a member yet; it comes again once they are", "not a member"}


def test_what_breaks_a_rule_leaves_only_its_name(alice: Vault) -> None:
    """LAZ-70: bytes that are no record are gone; the refusal is remembered."""
    plex = data_plex(alice.group, b"x")
    take(alice, (plex.hash, b"not it"))
    (one,) = quarantined(alice)
    assert (one.hash, one.size) == (plex.hash.text, 0)


def test_trust_brings_it_in_without_another_visit(alice: Vault) -> None:
    """LAZ-71, decision 10: when trust changes, what is kept is judged at the next round's end."""
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    with pytest.raises(SignerStillStrange):
        readmit(alice, strange.hash.text)
    assert len(quarantined(alice)) == 1
    admit(alice, "eve", EVE.verifier.text)
    take(alice)
    assert alice.store.have([strange.hash])
    assert quarantined(alice) == []


def test_what_is_kept_stays_listed_and_is_told_once(alice: Vault) -> None:
    """LAZ-71, decision 10: it comes again, and somebody else is let in."""
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    arrive(alice, strange)
    admit(alice, "max", MAX.verifier.text)
    take(alice)
    assert [one.hash for one in quarantined(alice)] == [strange.hash.text]
    assert alice.store.rows("SELECT count(*) FROM audit WHERE verb = 'lace-refuse'") == [(1,)]


def test_a_person_judges_one_again(alice: Vault) -> None:
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    admit(alice, "eve", EVE.verifier.text)
    found_again, stored = readmit(alice, strange.hash.text[:12])
    assert (found_again.hash, stored) == (strange.hash.text, True)
    assert alice.store.have([strange.hash])
    assert quarantined(alice) == []


def test_a_round_that_was_killed_leaves_no_bytes_of_what_it_stored(alice: Vault) -> None:
    """APP-13, LAZ-71: nobody would let them go, for the refusal that names them is forgotten with the same write."""
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    admit(alice, "eve", EVE.verifier.text)
    Receiver(alice, "stick").take([(strange.hash, strange.encode())])  # and no end of the round
    assert alice.store.have([strange.hash])
    assert alice.store.rows("SELECT count(*) FROM quarantine") == [(0,)]


def test_a_refusal_without_bytes_is_forgotten_so_that_it_is_fetched(alice: Vault) -> None:
    plex = data_plex(alice.group, b"x")
    take(alice, (plex.hash, b"not it"))
    _, stored = readmit(alice, plex.hash.text)
    assert not stored
    assert quarantined(alice) == []
    assert plex.hash not in Receiver(alice, "stick").refused_before()


def test_what_is_dropped_stays_refused(alice: Vault) -> None:
    strange = card(alice, "eve", EVE)
    arrive(alice, strange)
    drop(alice, strange.hash.text)
    (one,) = quarantined(alice)
    assert one.size == 0
    assert strange.hash in Receiver(alice, "stick").refused_before()


@pytest.mark.parametrize("text", ["", "S.", "S.nothing", "'; --"])
def test_a_hash_that_is_not_there(alice: Vault, text: str) -> None:
    arrive(alice, *(card(alice, f"eve{n}", EVE) for n in range(2)))
    with pytest.raises(NotInQuarantine):
        drop(alice, text)


def test_no_flood_fills_it(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decision 10: bytes are bounded, and one stranger leaves room for another."""
    size = len(card(alice, "n0", EVE).encode())
    monkeypatch.setattr(lazy.receiving.quarantine, "QUARANTINE_BYTES", 12 * size)
    arrive(alice, *(card(alice, f"n{n}", EVE) for n in range(9)))
    arrive(alice, *(card(alice, f"m{n}", MAX) for n in range(2)))
    kept = [one for one in quarantined(alice) if one.size]
    assert len(quarantined(alice)) == 11
    assert sum(one.size for one in kept) <= 12 * size
    assert len(kept) == 5


def test_memory_of_refusals_is_bounded(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decision 10: the oldest are forgotten first, with what was kept of them."""
    monkeypatch.setattr(lazy.receiving.quarantine, "MAX_REMEMBERED", 3)
    seals = [card(alice, f"n{n}", EVE) for n in range(5)]
    for seal in seals:
        arrive(alice, seal)
    assert {one.hash for one in quarantined(alice)} == {seal.hash.text for seal in seals[2:]}
    assert alice.store.rows("SELECT count(*) FROM quarantine") == [(3,)]


def test_what_nothing_reaches_is_gone_when_the_round_ends(alice: Vault, tmp_path: Path) -> None:
    """Decision 10: unsigned orphans leave nothing behind, and are taken once evidence reaches them."""
    write(alice, "a.txt", "reached")
    made = release(alice).release
    shared = [(record, stored) for _, record, stored in alice.store.bodies() if _is_shared(alice, record)]
    unsigned = [(record, stored) for record, stored in shared if record.kind == "P"]
    sealed = [(record, stored) for record, stored in shared if record.kind == "S"]
    assert len(unsigned) == 2
    (tmp_path / "bob").mkdir()
    bob, _ = circle.accept(tmp_path / "bob", around(tmp_path, "bob"), circle.invite(alice, "bob").encode(), name="bob")
    with bob:
        for keeps in (False, True):
            receiver = Receiver(bob, "stick", keeps_content=keeps)
            receiver.take(unsigned)
            waited = receiver.waits
            with bob.writing() as w:
                receiver.finish(w)
            assert (waited, receiver.waits) == (True, False)
            assert not bob.store.have([record for record, _ in unsigned])
            assert not {record for record, _ in unsigned} & Receiver(bob, "stick").refused_before()
        take(bob, *sealed)
        assert Receiver(bob, "stick").holes.all() == {record for record, stored in unsigned if b"lace/tree" in stored}
        receiver = Receiver(bob, "stick", keeps_content=True)
        receiver.take(unsigned)
        assert bob.store.have([record for record, _ in unsigned]) == {record for record, _ in unsigned}
        assert bob.store.have([made])


def _is_shared(vault: Vault, record: RecordHash) -> bool:
    p = vault.store.position(record)
    return bool(vault.store.rows("SELECT 1 FROM shared WHERE p = ?", p))


def test_trust_clears_the_memory_of_what_was_not_kept(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decision 10: what found no room is forgotten when its signer belongs, and so fetched again."""
    monkeypatch.setattr(lazy.receiving.quarantine, "QUARANTINE_BYTES", 0)
    strange, other = card(alice, "eve", EVE), card(alice, "max", MAX)
    arrive(alice, strange, other)
    assert [one.size for one in quarantined(alice)] == [0, 0]
    assert {strange.hash, other.hash} <= Receiver(alice, "stick").refused_before()
    admit(alice, "eve", EVE.verifier.text)
    assert strange.hash not in Receiver(alice, "stick").refused_before()
    arrive(alice, strange, other)
    assert alice.store.have([strange.hash, other.hash]) == {strange.hash}
    assert other.hash in Receiver(alice, "stick").refused_before()
