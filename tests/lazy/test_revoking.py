"""Revocations between real vaults: who may say so, what counts from then on, what stays (architecture, Belonging)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.belonging import circle
from lazy.belonging.admitting import AlreadyMember, admit
from lazy.belonging.adopting import adopt
from lazy.belonging.circle import accept, invite, join
from lazy.belonging.reputation import reputation
from lazy.belonging.requests import requests
from lazy.belonging.revoking import AlreadyRevoked, NoSuchEntry, RevokerNotMember, plan_revocation, revoke, waiting
from lazy.conflicts import conflicts
from lazy.folder.heads import heads_to_update
from lazy.folder.update import update
from lazy.log import log_lines
from lazy.people import NoSuchPeer, formers, members, peers
from lazy.places.adding import add_place
from lazy.places.media import open_medium, set_encrypted
from lazy.places.registry import place_named
from lazy.places.sealing import VaultKeys
from lazy.queue import queue
from lazy.receiving.quarantine import quarantined
from lazy.resolving.resolve import resolve_prefer
from lazy.status import status
from lazy.sync import sync
from lazy.vectors import my_vector
from tests.lazy.three import cut, meet, released, sound, three
from tests.shelf import Shelf
from tests.vault import vaults
from tests.vault.vaults import trail
from transports.drop.place import Drop
from transports.encrypted.member_keys import EpochKey
from transports.encrypted.notices import seal_notice
from transports.encrypted.sealed import SealedPlace
from transports.encrypted.sealing import seal_envelope
from vault.audit.entries import read_audit
from vault.folder.work import commit
from vault.names import Version
from vault.records import Verifier
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault


def test_who_brings_what_was_cut_meanwhile_is_visited_all_the_same(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-69: each visit to a friend who had not heard of a revocation ended in a fault of lace itself, for good."""
    alice, bob, carol = shelf.lay(three)
    add_place(alice, "beside", str(bob.folder), cwd=tmp_path)
    sync(alice, ["beside"])
    cut(alice, "carol")
    vaults.write(carol, "c.txt", "late\n")
    late = release(carol, None, "late")
    sync(carol, ["stick"], pull=False)
    sync(bob, ["stick"])
    vaults.write(bob, "b.txt", "his\n")
    release(bob, Version(1, 1, 0), "his")
    (result,) = sync(alice, ["beside"])
    assert [shown.version for shown in result.came.releases] == [Version(1, 1, 0)]
    assert (late.release, "after-cut") in {(name, code) for name, code, _ in result.came.rejected}
    refused = [entry.object for entry in map(read_audit, trail(alice)) if entry.verb == "lace-refuse"]
    assert refused.count(late.release.text) == 1
    sound(alice, bob, carol)
    for vault in (alice, bob, carol):
        vault.close()


def test_what_comes_after_the_cut_is_refused_named_and_remembered(shelf: Shelf) -> None:
    """LAZ-71, CYB-11: faults of a revoked member's mailbox; its own entries within the cut are taken still."""
    alice, bob, carol = shelf.lay(three)
    cut(alice, "carol", reason="her laptop was stolen")
    meet(alice, bob)
    assert [(gone.name, gone.by) for gone in formers(bob)] == [("carol", "alice")]
    vaults.write(carol, "carol.txt", "two\n")
    late = release(carol, None, "after the cut")
    # Carol has not heard of it and publishes; what she puts on the stick counts for nobody.
    sync(carol, ["stick"], pull=False)
    (result,) = sync(bob, ["stick"])
    codes = {code for _, code, _ in result.came.rejected}
    assert codes == {"after-cut"}
    assert late.release not in {found.hash for found in releases(bob.store)}
    assert late.release.text in {one.hash for one in quarantined(bob)}
    verbs = {str(row[0]) for row in bob.store.rows("SELECT verb FROM audit")}
    assert "lace-refuse" in verbs
    (again,) = sync(bob, ["stick"])
    assert again.came.rejected == []
    assert released(alice) == released(bob)
    # She learns of it herself at her next visit, and her own folder goes on.
    (told,) = sync(carol, ["stick"])
    (problem,) = told.problems
    assert (problem.code, "alice revoked" in problem.message, "lace adopt" in problem.hint) == ("revoked", True, True)
    (me,) = status(carol).revoked
    assert (me.me, me.by, status(carol).member) == (True, "alice", False)
    assert late.release in {found.hash for found in releases(carol.store)}
    sound(alice, bob, carol)


def test_what_comes_after_the_cut_speaks_against_whoever_carried_it(shelf: Shelf) -> None:
    """LAZ-73, CYB-11: whosever mailbox was read last on that stick, it is no fault of theirs."""
    alice, bob, carol = shelf.lay(three)
    cut(alice, "carol")
    meet(alice, bob)
    for vault in (alice, bob, carol):
        vaults.write(vault, f"{vault.name}.txt", "two\n")
        release(vault, None, "new")
        sync(vault, ["stick"], pull=False)
    for vault, friend in ((alice, bob), (bob, alice)):
        (result,) = sync(vault, ["stick"])
        assert {exchange.peer for exchange in result.came.exchanges} == {friend.name, "carol"}
        assert {exchange.peer for exchange in result.came.exchanges if exchange.rejected} == {"carol"}
        assert reputation(vault, friend.node.text).noted == ()
        assert {one.code for one in reputation(vault, carol.node.text).noted} == {"after-cut"}


def test_who_carried_nothing_is_blamed_for_what_somebody_revoked_brings_under_a_new_key(tmp_path: Path) -> None:
    """LAZ-73, CYB-11: the new key's mailbox has the old log too, so nobody was known to have brought its entries."""
    alice, hugo, bob = vaults.gathered(tmp_path, "hugo", "bob")
    old = hugo.node
    cut(alice, "hugo")
    vaults.write(hugo, "hugo.txt", "two\n")
    release(hugo, None, "new")
    sync(hugo, ["stick"], pull=False)
    adopt(hugo)
    sync(hugo, ["stick"], pull=False)
    meet(alice, bob, alice)
    folder = tmp_path / "gus"
    folder.mkdir()
    gus, _ = accept(folder, vaults.around(tmp_path, "gus"), invite(alice, "gus").encode(), name="gus")
    assert gus.node.key < old.key < bob.node.key, "mailboxes are read in this order: bob's last"
    sync(gus, ["stick"])
    (result,) = sync(alice, ["stick"])  # what was refused is judged anew once somebody belongs
    assert result.came.admitted == ["gus"]
    assert {exchange.peer_verifier for exchange in result.came.exchanges if exchange.rejected} == {old.text}
    assert reputation(alice, bob.node.text).noted == ()
    gus.close()


def test_what_was_accepted_before_stays_and_is_marked(shelf: Shelf) -> None:
    """LAZ-66, CLO-56: a revocation does not undo history."""
    alice, bob, carol = shelf.lay(three)
    before = my_vector(alice)[carol.node.text].seq
    vaults.write(carol, "carol.txt", "two\n")
    late = release(carol, None, "accepted, then cut away")
    meet(carol, bob, alice)
    assert late.release in {found.hash for found in releases(bob.store)}
    cut(alice, "carol", before)
    meet(alice, bob, alice)
    for vault in (alice, bob):
        assert late.release not in {found.hash for found in releases(vault.store)}
        assert my_vector(vault)[carol.node.text].seq == before
        assert resolve(vault, f"carol/main@{late.version}").commit == late.commit
        (line,) = [line for line in log_lines(vault, limit=99) if line.hash == late.release]
        assert line.after_cut
        early = [line for line in log_lines(vault, limit=99) if line.node == carol.node.text and not line.after_cut]
        assert {line.app for line in early} >= {"lace/release", "lace/node"}
        assert late.commit not in heads_to_update(vault).heads
    # It can still be taken by whoever wants it, by name.
    assert update(bob, peer="carol", version=late.version).commit is not None
    sound(alice, bob)


def test_who_did_not_hear_comes_to_the_same_answer(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-65: one accepted it before, one never saw it, one joins later: same members, same vectors, same releases."""
    alice, bob, carol = shelf.lay(three)
    cut(alice, "carol")
    sync(alice, ["stick"], pull=False)
    vaults.write(carol, "carol.txt", "two\n")
    release(carol, None, "late")
    sync(carol, ["stick"], pull=False)
    dave = vaults.befriend(tmp_path, alice, "dave")
    meet(bob, dave, alice, bob, dave, alice)
    everybody = (alice, bob, dave)
    assert len({tuple(sorted(member.node for member in members(vault))) for vault in everybody}) == 1
    marks = [{node: (mark.seq, mark.digest) for node, mark in my_vector(vault).items()} for vault in everybody]
    assert marks[0] == marks[1] == marks[2]
    assert released(alice) == released(bob) == released(dave)
    sound(*everybody)


def test_what_others_build_upon_comes_with_their_records(shelf: Shelf) -> None:
    """LAZ-31: refused is only what late entries alone reach; what a member's release reaches is fetched."""
    alice, bob, carol = shelf.lay(three)
    before = my_vector(alice)[carol.node.text].seq
    vaults.write(carol, "carol.txt", "two\n")
    late = release(carol, None, "bob builds on this")
    meet(carol, bob)
    update(bob)
    vaults.write(bob, "bob.txt", "on top\n")
    mine = release(bob, None, "with carol's work in it")
    cut(alice, "carol", before)
    meet(alice, bob, alice)
    assert alice.store.rows("SELECT 1 FROM commits WHERE hash = ?", late.commit.text)
    assert mine.release in {found.hash for found in releases(alice.store)}
    assert late.release not in {found.hash for found in releases(alice.store)}
    update(alice)
    assert (alice.folder / "carol.txt").read_text() == "two\n"
    sound(alice, bob)


def test_only_oneself_and_who_is_below_can_be_revoked_at_once(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-69: any other revocation waits, has no effect, and is agreed to by somebody above."""
    alice, bob, carol = shelf.lay(three)
    dave = vaults.befriend(tmp_path, alice, "dave")
    meet(dave, bob, carol)
    plan = plan_revocation(dave, "carol")
    assert (plan.waits, plan.above) == (True, ("carol", "bob", "alice"))
    revoke(dave, plan, "she is gone")
    meet(dave, bob, carol, alice)
    for vault in (dave, bob, carol, alice):
        assert formers(vault) == []
        (one,) = waiting(vault)
        assert (one.name, one.by, one.reason, one.mine) == ("carol", "dave", "she is gone", vault is not dave)
        assert status(vault).revocations == 1
    assert sync(alice, ["stick"])[0].next == "lace requests"
    cut(bob, "carol")  # agrees: the entry that dave named is what counts
    meet(bob, alice, dave)
    assert {formers(vault)[0].last_seq for vault in (alice, bob, dave)} == {plan.last_seq}
    assert [waiting(vault) for vault in (alice, bob, dave)] == [[], [], []]
    sound(alice, bob, dave)


def cut_at_nothing(by: Vault, name: str) -> None:
    """Revoke somebody up to an entry that nobody has, as a changed lace can."""
    revoke(by, plan_revocation(by, name)._replace(last_seq=2**40, digest=b"x" * 32, not_here=0))


def marks(vault: Vault, who: Vault) -> object:
    """Return how much counts somewhere of somebody's log, and which releases are shown there."""
    mark = my_vector(vault).get(who.node.text)
    return (mark.seq, mark.digest) if mark else None, released(vault)


def test_who_agrees_to_a_revocation_names_an_entry_that_is_here(shelf: Shelf) -> None:
    """LAZ-69, LAZ-71: it was copied unchecked, and what leads to an entry that nobody has never comes."""
    alice, bob, carol = shelf.lay(three)
    cut_at_nothing(carol, "bob")
    meet(carol, alice, bob)
    (one,) = waiting(alice)
    assert (one.name, one.last_seq) == ("bob", 2**40)
    plan = plan_revocation(alice, "bob")
    last = my_vector(alice)[bob.node.text].seq
    assert (plan.last_seq, plan.not_here) == (last, 2**40)
    assert plan_revocation(alice, "bob", last=last).not_here == 0
    revoke(alice, plan)
    meet(alice, carol)
    assert [(gone.name, gone.last_seq) for gone in formers(carol)] == [("bob", last)]
    assert marks(alice, bob) == marks(carol, bob)
    sound(alice, carol)


def test_a_cut_at_an_entry_that_nobody_has_leaves_all_at_one_answer_and_a_lower_one_ends_it(
    tmp_path: Path, shelf: Shelf
) -> None:
    """LAZ-65, LAZ-69, LAZ-71: one had more of the log when it heard of the cut, and went on showing it for good."""
    alice, bob, carol = shelf.lay(three)
    dave = vaults.befriend(tmp_path, alice, "dave")
    meet(dave, bob, alice)
    before = my_vector(alice)[carol.node.text].seq
    vaults.write(carol, "carol.txt", "two\n")
    late = release(carol, None, "dave alone has it")
    meet(carol, dave)
    cut_at_nothing(alice, "carol")
    meet(alice)
    for _ in range(4):
        meet(bob, dave, alice)
    erin = vaults.befriend(tmp_path, alice, "erin")
    meet(erin, dave)
    everybody = (alice, bob, dave, erin)
    assert {str(marks(vault, carol)) for vault in everybody} == {str(marks(alice, carol))}
    assert my_vector(dave).get(carol.node.text) is None
    assert resolve(dave, f"carol/main@{late.version}").commit == late.commit  # it stays readable
    sound(*everybody)
    with pytest.raises(AlreadyRevoked, match="is not here"):
        plan_revocation(alice, "carol")
    with pytest.raises(AlreadyRevoked):
        plan_revocation(dave, "carol", last=before)  # who is not above her
    cut(alice, "carol", before)
    for _ in range(2):
        meet(alice, bob, dave, erin)
    assert {str(marks(vault, carol)) for vault in everybody} == {str(marks(alice, carol))}
    assert {formers(vault)[0].last_seq for vault in everybody} == {before}
    assert my_vector(erin)[carol.node.text].seq == before
    assert f"{carol.node} 1.0.2" in released(erin)
    assert late.release not in {found.hash for found in releases(dave.store)}
    sound(*everybody)


def test_a_founder_is_revoked_by_nobody_else(shelf: Shelf) -> None:
    """LAZ-69."""
    alice, bob, _ = shelf.lay(three)
    cut(bob, "alice")
    meet(bob, alice)
    assert (formers(alice), formers(bob)) == ([], [])
    (one,) = waiting(bob)
    assert one.above == ("alice",)


def test_two_that_revoke_each_other_end_the_same_everywhere(tmp_path: Path, shelf: Shelf) -> None:
    """Belonging: in order of depth, Lamport and node; what comes after one's own cut is void."""
    alice, bob, carol = shelf.lay(three)
    dave = vaults.befriend(tmp_path, alice, "dave")
    meet(dave, bob, carol, alice)
    cut(bob, "carol")
    cut(carol, "bob")
    meet(carol, bob, alice, dave, alice)
    for vault in (alice, dave):
        assert [gone.name for gone in formers(vault)] == ["carol"]
    # Her word waits, for she is below him; it was sealed after the cut, so it does not even wait.
    assert [waiting(vault) for vault in (alice, dave)] == [[], []]
    sound(alice, dave)


def test_one_leaves_for_good_by_revoking_oneself(tmp_path: Path, shelf: Shelf) -> None:
    """Belonging: the entry that says so counts, so everybody learns of it from anybody."""
    alice, bob, carol = shelf.lay(three)
    cut(carol, "self", reason="I got a new laptop")
    meet(carol, alice)
    sync(bob, ["stick"])
    dave = vaults.befriend(tmp_path, bob, "dave")
    for vault in (alice, bob, dave):
        (gone,) = formers(vault)
        assert (gone.name, gone.by) == ("carol", "carol")
        assert my_vector(vault)[carol.node.text].seq == gone.last_seq
    with pytest.raises(RevokerNotMember):
        plan_revocation(carol, "bob")
    assert status(carol).revoked[0].me
    sound(alice, bob, carol, dave)


def test_a_stolen_key_lets_nobody_in_after_the_cut(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-71: whom it admits after its cut is a stranger, to those who had accepted that as well."""
    alice, bob, carol = shelf.lay(three)
    before = my_vector(alice)[carol.node.text].seq
    mal = vaults.befriend(tmp_path, carol, "mal")
    meet(carol, mal, bob)
    assert "mal" in {member.name for member in members(bob)}
    cut(alice, "carol", before)
    meet(alice, bob)
    vaults.write(mal, "mal.txt", "evil\n")
    release(mal, None, "by a stranger")
    sync(mal, ["stick"], pull=False)
    meet(bob, alice, bob)
    for vault in (alice, bob):
        assert {member.name for member in members(vault)} == {"alice", "bob"}
        assert [person.name for person in peers(vault)] == [("bob" if vault is alice else "alice")]
        assert mal.node.text not in my_vector(vault)
    sound(alice, bob)


def test_a_key_that_was_replaced_is_retired_and_the_new_one_stays(shelf: Shelf) -> None:
    """APP-13, LAZ-69: a rotated key: the old admits the new in `adopt`, then the new revokes the old."""
    alice, bob, carol = shelf.lay(three)
    old = carol.node
    assert adopt(carol)
    meet(carol, alice, bob, carol)
    assert bob.store.rows("SELECT admitted_by FROM member WHERE node = ?", carol.node.text) == [(old.text,)]
    plan = plan_revocation(alice, old.text)
    assert len(plan.kept) == 1
    revoke(alice, plan, "she has a new key")
    meet(alice, bob, carol)
    vaults.write(carol, "carol.txt", "under the new key\n")
    new = release(carol, None, "goes on")
    meet(carol, bob, alice)
    for vault in (alice, bob, carol):
        assert {member.node for member in members(vault)} == {alice.node.text, bob.node.text, carol.node.text}
        assert new.release in {found.hash for found in releases(vault.store)}
    sound(alice, bob, carol)


def _admissions(vault: Vault) -> int:
    return sum(read_audit(entry).verb == "lace-admit" for entry in trail(vault))


def test_who_revoked_a_new_key_is_not_told_that_it_is_a_member_now(shelf: Shelf) -> None:
    """LAZ-69: the admission that a new node left in its mailbox lets nobody in once its key is cut."""
    alice, bob, carol = shelf.lay(three)
    assert adopt(carol)
    meet(carol, alice, bob)
    revoke(alice, plan_revocation(alice, carol.node.text))
    for vault in (alice, bob, carol, alice):
        before = _admissions(vault)
        [result] = sync(vault, ["stick"])
        assert result.came.admitted == []
        assert _admissions(vault) == before
    assert requests(alice) == []
    sound(alice, bob)


def test_a_revoked_node_comes_back_only_with_a_new_key(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-50: its key stays cut; its request, its admission by hand and its name by hand are refused with the way."""
    alice, _, carol = shelf.lay(three)
    cut(alice, "carol")
    meet(alice, carol)
    with pytest.raises(AlreadyRevoked) as refused:
        admit(alice, "carol", carol.node.text)
    assert "lace adopt" in refused.value.hint
    with pytest.raises(AlreadyRevoked):
        join(alice, "carol", str(tmp_path / "elsewhere"), carol.node.text, cwd=tmp_path)
    with pytest.raises(AlreadyRevoked):
        plan_revocation(alice, "carol")
    assert not circle.wants_in(carol)
    adopt(carol)
    meet(carol)
    assert {member.name for member in members(alice)} == {"alice", "bob"}
    admit(alice, "carol", carol.node.text)
    meet(alice, carol, alice)
    vaults.write(carol, "carol.txt", "back\n")
    new = release(carol, None, "back again")
    meet(carol, alice)
    assert new.release in {found.hash for found in releases(alice.store)}
    with pytest.raises(AlreadyMember):
        admit(alice, "carol", carol.node.text)
    sound(alice, carol)


def test_a_plan_changes_nothing_and_names_what_it_means(shelf: Shelf) -> None:
    """LAZ-66: --dry-run."""
    alice, bob, carol = shelf.lay(three)
    seq = my_vector(alice)[carol.node.text].seq
    count = alice.store.rows("SELECT count(*) FROM body")
    plan = plan_revocation(alice, "carol", last=seq - 1)
    assert (plan.after, plan.releases, plan.waits, plan.record) == (1, ("main 1.0.2",), False, None)
    assert plan_revocation(alice, "bob").admitted == ("carol",)
    assert alice.store.rows("SELECT count(*) FROM body") == count
    with pytest.raises(NoSuchEntry, match=f"Entry {seq + 1}"):
        plan_revocation(alice, "carol", last=seq + 1)
    with pytest.raises(NoSuchPeer):
        plan_revocation(alice, "nobody")
    assert (formers(alice), waiting(alice)) == ([], [])
    del bob


def test_a_revoked_peer_waits_for_nothing_and_gives_no_news(shelf: Shelf) -> None:
    """LAZ-46, LAZ-47, LAZ-54: nothing is queued for who was revoked, and conflicts with them need nobody."""
    alice, bob, carol = shelf.lay(three)
    before = my_vector(alice)[carol.node.text].seq
    for vault in (alice, carol):
        update(vault)
        vaults.write(vault, "same.txt", f"by {vault.name}\n")
        release(vault, None, "same version, other content")
    meet(carol, alice, bob)
    assert len(conflicts(alice)) == 1
    cut(alice, "carol", before)
    assert conflicts(alice) == []
    assert {entry.peer for entry in queue(alice)} == {"bob"}
    assert [peer.name for peer in status(alice).peers] == ["bob"]
    sound(alice)


def test_a_revocation_begins_a_new_epoch_key(shelf: Shelf) -> None:
    """Decision 5: what is written after it is sealed to who belongs then; the old was theirs anyway."""
    alice, bob, carol = shelf.lay(three)
    for vault in (alice, bob, carol):
        set_encrypted(vault, place_named(vault, "stick"), rebase=True)
    meet(alice, bob, carol, alice, bob, carol)
    cut(alice, "carol")
    meet(alice, bob, alice)
    vaults.write(alice, "secret.txt", "not for carol\n")
    secret = release(alice, None, "after she left")
    meet(alice)
    (seen,) = sync(carol, ["stick"])
    assert secret.release not in {found.hash for found in releases(carol.store)}
    assert any(problem.code == "closed-to-you" for problem in seen.problems)
    meet(bob)
    assert secret.release in {found.hash for found in releases(bob.store)}


def test_who_was_invited_by_a_revoked_member_is_told_apart(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-50: an invitation of hers that is used after her cut leads nowhere."""
    alice, bob, carol = shelf.lay(three)
    line = invite(carol, "erin").encode()
    cut(alice, "carol")
    meet(alice, bob, carol)
    erin, _ = accept(tmp_path / "erin", vaults.around(tmp_path, "erin"), line)
    meet(erin, carol, alice, bob)
    assert {member.name for member in members(alice)} == {"alice", "bob"}
    assert [request.problem for request in requests(alice)] == ["it proves no invitation of mine"]


def test_what_a_revoked_node_said_after_its_cut_is_cut_for_its_owner_too_once_they_go_on(shelf: Shelf) -> None:
    """LAZ-50, LAZ-31: a node's own log goes on past its cut only while it is the vault's own node."""
    alice, _, carol = shelf.lay(three)
    old = carol.node.text
    cut(carol, "self")
    vaults.write(carol, "carol.txt", "still writing\n")
    release(carol, None, "after I revoked myself")
    adopt(carol)
    sound(carol)
    meet(carol, alice)
    admit(alice, "carol", carol.node.text)
    meet(alice, carol, alice, carol)
    sound(alice, carol)
    assert my_vector(carol)[old].seq == my_vector(alice)[old].seq


def test_a_medium_full_of_notices_costs_little_memory(tmp_path: Path, shelf: Shelf) -> None:
    """FAC-30: anybody can seal what they like to a node, in as many mailboxes as a medium holds."""
    alice, *_ = shelf.lay(three)
    place = place_named(alice, "stick")
    sync(alice, ["stick"])
    inner = open_medium(alice, place)
    assert isinstance(inner, SealedPlace)
    hers = VaultKeys(alice, inner.place_id, is_on=True)
    key = EpochKey(bytes(16), bytes(32))
    drop = Drop.open(tmp_path / "stick")
    room = f"{alice.group}\n{drop.place_id}"
    for box in range(30):
        notices = [seal_notice(alice.node, [bytes([box, number]) * 30_000]) for number in range(4)]
        sealed = seal_envelope(
            b"",
            key,
            owner=alice.node,
            recipients=[],
            keys=[],
            sign=hers.sign,
            entropy=bytes,
            context=b"",
            notices=[notice for notice in notices if notice is not None],
        )
        path = drop.mailbox_path(room, Verifier(bytes([box]) * 32))
        path.mkdir(parents=True)
        (path / "head.rec").write_bytes(sealed)
    medium = open_medium(alice, place)
    assert isinstance(medium, SealedPlace)
    medium.nodes(alice.group)
    assert len(medium.boxes.closed) == 30
    assert 60_000 * 60 < sum(map(len, medium.boxes.notices)) <= 4 << 20
    assert not sync(alice, ["stick"])[0].came.rejected


def test_a_conflict_with_a_head_that_counts_no_more_is_over(tmp_path: Path) -> None:
    """LAZ-38, LAZ-50: it stood for the head below that counts, whose content could not be taken, only the revoked."""
    alice = vaults.found(tmp_path)
    bob = vaults.befriend(tmp_path, alice, "bob")
    for number in (1, 2, 3):
        vaults.write(bob, "a.txt", f"bob's {number}\n")
        release(bob, Version(number, 0, 0), f"{number}")
        meet(bob, alice)
        if number == 1:
            update(alice)
            vaults.write(alice, "a.txt", "alice's\n")
            commit(alice, "of my own")
        if number == 2:
            ((counts,),) = bob.store.rows("SELECT max(seq) FROM log WHERE node = ?", bob.node.text)
    newer = update(alice).conflict
    assert newer is not None
    assert [found.id for found in conflicts(alice)] == [newer.id]
    cut(alice, "bob", int(counts))
    assert conflicts(alice) == []
    older = update(alice).conflict
    assert older is not None
    assert older.id != newer.id
    assert [found.id for found in conflicts(alice)] == [older.id]
    resolve_prefer(alice, older.id, "bob")
    assert (alice.folder / "a.txt").read_text() == "bob's 2\n"
    assert conflicts(alice) == []
    assert update(alice).conflict is None
    alice.close()
    bob.close()
