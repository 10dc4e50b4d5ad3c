"""Media and vaults that went back in time, heads in the wrong place, one key in two hands (CYB-18, LAZ-65)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lazy.belonging import circle
from lazy.belonging.adopting import adopt
from lazy.belonging.reputation import reputation
from lazy.folder import update as lazy_update
from lazy.interlace.scope import Scope
from lazy.people import members
from lazy.places import adding
from lazy.sync import sync
from lazy.vectors import my_vector
from tests.faults.circle import (
    PLACE,
    Hostile,
    around,
    befriend,
    befriended,
    found,
    listing_of,
    open_stick,
    records_in,
    release_text,
    replace_tree,
    visit,
    write,
)
from tests.shelf import Shelf
from vault import releasing
from vault.audit.entries import read_audit
from vault.audit.trail import entries_of, verify_trail
from vault.folder import work
from vault.fsck.check import check
from vault.identity.mark import OtherMachine, VaultBehindMark
from vault.names import Version
from vault.profile import NodeCard, Release
from vault.records import RecordHash, Seal
from vault.revisions.history import commit_info, line_head, releases
from vault.vault import Vault

# A medium that went back in time


def test_a_restored_medium_is_named_and_costs_nothing(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-18, LAZ-66: row 18
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / PLACE, tmp_path / "old")
    released = release_text(alice, "second")
    visit(alice)
    visit(bob)
    before = records_in(bob)
    vector = my_vector(bob)
    replace_tree(tmp_path / "old", tmp_path / PLACE)

    result = visit(bob)
    told = [(problem.code, problem.peer) for problem in result.problems]
    assert told == [("rolled-back", "alice"), ("mailbox-set-back", "")]
    assert "The medium was set back" in result.problems[0].message
    assert reputation(bob, alice.node.text).noted == (), "no signature says who put the older copy there"
    (noted,) = [read_audit(seal) for seal in entries_of(bob, "lace-evidence")]
    assert (noted.object, dict(noted.parameters)["kind"]) == (PLACE, "rollback")
    assert before.keys() <= records_in(bob).keys()
    assert all(my_vector(bob)[node].seq >= mark.seq for node, mark in vector.items())  # never down
    assert released in {release.hash for release in releases(bob.store)}

    third = release_text(alice, "third")
    assert visit(alice).sent > 0
    result = visit(bob)
    assert result.problems == []
    assert third in {release.hash for release in releases(bob.store)}


def test_two_heads_with_one_number_are_named(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-18: row 20
    alice, mallory = shelf.lay(befriended, "mallory")
    hostile = Hostile(mallory, open_stick(tmp_path))
    writer = hostile.drop.writer(mallory.group, mallory.node)
    writer.publish_head(hostile.head((), number=7_000).encode())
    assert visit(alice).problems == []
    writer.publish_head(hostile.head((), number=7_000, unreleased=3).encode())
    assert [problem.code for problem in visit(alice).problems] == ["two-states"]
    assert [item.code for item in reputation(alice, mallory.node.text).noted] == ["two-states"], "both are sealed"
    writer.publish_head(hostile.head((), number=7_001).encode())
    assert visit(alice).problems == []


# Heads in the wrong place


def test_heads_swapped_between_mailboxes_count_for_nobody(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-17: row 20
    alice, bob, carol = shelf.lay(befriended, "bob", "carol")
    visit(bob)
    drop = open_stick(tmp_path)
    mine, other = (drop.mailbox_path(alice.group, vault.node) / "head.rec" for vault in (alice, bob))
    first, second = mine.read_bytes(), other.read_bytes()
    mine.write_bytes(second)
    other.write_bytes(first)
    before = records_in(carol).keys()
    result = visit(carol)
    assert sorted((p.peer, p.code) for p in result.problems) == [("alice", "bad-snapshot"), ("bob", "bad-snapshot")]
    assert before <= records_in(carol).keys()
    for vault in (alice, bob):
        release_text(vault, f"{vault.name} again")
        visit(vault)
    result = visit(carol)
    assert result.problems == []
    assert sorted(release.name for release in result.came.releases) == ["alice", "bob"]


def test_a_damaged_head_is_named_as_one_and_written_anew(tmp_path: Path, shelf: Shelf) -> None:
    # APP-14: row 7; of a record, its digest and its markline nobody at a stick has heard
    alice, bob = shelf.lay(befriended, "bob")
    head = open_stick(tmp_path).mailbox_path(alice.group, alice.node) / "head.rec"
    whole = bytearray(head.read_bytes())
    whole[len(whole) // 2] ^= 4
    head.write_bytes(whole)
    (problem,) = visit(bob).problems
    assert (problem.peer, problem.code) == ("alice", "bad-snapshot")
    assert problem.message.startswith("The head of the mailbox is damaged: ")
    visit(alice)
    assert visit(bob).problems == []


def test_a_head_from_another_drop_is_refused(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-17: row 20
    alice, bob = shelf.lay(befriended, "bob")
    adding.add_place(alice, "other", str(tmp_path / "other"), cwd=tmp_path)
    sync(alice, ["other"])
    drop = open_stick(tmp_path)
    there = tmp_path / "other" / drop.mailbox_path(alice.group, alice.node).relative_to(drop.path)
    shutil.copytree(there, drop.mailbox_path(alice.group, alice.node), dirs_exist_ok=True)
    result = visit(bob)
    assert [(problem.peer, problem.code) for problem in result.problems] == [("alice", "bad-snapshot")]


# My own mailbox harmed by others


@pytest.mark.parametrize("harm", ["wiped", "rolled back", "no bundles", "no runs", "cut bundle"])
def test_my_own_mailbox_is_published_in_full_again(tmp_path: Path, shelf: Shelf, harm: str) -> None:
    # LAZ-66: rows 6, 7, 18
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / PLACE, tmp_path / "old")
    released = release_text(alice, "second")
    visit(alice)
    everything = {record for record, _ in listing_of(open_stick(tmp_path), alice).items()}
    mailbox = open_stick(tmp_path).mailbox_path(alice.group, alice.node)
    if harm == "wiped":
        shutil.rmtree(mailbox)
    elif harm == "rolled back":
        replace_tree(tmp_path / "old", tmp_path / PLACE)
    elif harm == "cut bundle":
        for file in mailbox.glob("*.bnd"):
            file.write_bytes(file.read_bytes()[:-1])
    else:
        for file in mailbox.glob("*.bnd" if harm == "no bundles" else "*.run"):
            file.unlink()
    visit(alice)
    assert everything <= {record for record, _ in listing_of(open_stick(tmp_path), alice).items()}

    carol = befriend(tmp_path, alice, "carol")
    assert released in {release.hash for release in releases(carol.store)}
    # Bob's mailbox named places in the bundles of alice that are gone: he notices too.
    visit(bob)
    dan, _ = circle.accept(tmp_path / "dan" / "f", around(tmp_path, "dan"), circle.invite(alice, "dan").encode())
    results = [visit(dan), visit(alice), visit(dan)]
    assert {code for result in results for code in result.problems} == set()
    exchanges = [exchange for result in results for exchange in result.came.exchanges]
    assert {"alice", "bob", "carol"} <= {exchange.peer for exchange in exchanges}
    assert [exchange.peer for exchange in exchanges if exchange.not_available] == []


def test_a_medium_put_back_and_forth_is_mended_by_its_owner(tmp_path: Path, shelf: Shelf) -> None:
    # CYB-18, LAZ-66: row 18; the owner adds nothing, and friends would be told of it at each visit, for ever
    alice, bob = shelf.lay(befriended, "bob")
    release_text(bob, "second")
    for vault in (bob, alice, bob):
        visit(vault)
    shutil.copytree(tmp_path / PLACE, tmp_path / "first")
    replace_tree(tmp_path / "first", tmp_path / PLACE)
    drop = open_stick(tmp_path)
    shutil.rmtree(drop.mailbox_path(bob.group, bob.node))
    visit(bob)  # the same again, under a higher number
    visit(alice)
    replace_tree(tmp_path / "first", tmp_path / PLACE)
    assert [problem.code for problem in visit(alice).problems] == ["rolled-back", "mailbox-set-back"]
    assert visit(bob).sent == 0
    assert [problem.code for problem in visit(alice).problems] == []
    assert [problem.code for problem in visit(alice).problems] == []


# One key in two hands


def test_equivocation_is_marked_and_both_branches_are_kept(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-65, LAZ-72: row 22
    alice, bob, mallory = shelf.lay(befriended, "bob", "mallory")
    visit(bob)
    release_text(mallory, "honest so far")
    for vault in (mallory, alice, bob):
        visit(vault)
    theirs = line_head(mallory.store, mallory.node.text, "main")
    assert theirs is not None
    hostile = Hostile(mallory, open_stick(tmp_path))
    seq, prev = hostile.tip()
    branches: list[set[RecordHash]] = []
    for label, friend in (("one", alice), ("two", bob)):
        card = Seal.sign(
            NodeCard.to_plex(
                group=mallory.group, node=mallory.node, label=label, machine=None, tai=mallory.around.tai()
            ),
            hostile.key,
        )
        release = Seal.sign(
            Release.to_plex(
                group=mallory.group,
                desk="main",
                version=Version(5, 0, 0),
                commit=theirs.commit,
                rev=theirs.rev,
                content_sha512=mallory.store.content_sum(commit_info(mallory.store, theirs.commit).tree),
                message=label,
                tai=mallory.around.tai(),
            ),
            hostile.key,
        )
        entry = hostile.log([card.hash, release.hash], seq=seq + 1, prev=prev)
        branches.append({card.hash, release.hash, entry.hash})
        shutil.copytree(tmp_path / PLACE, tmp_path / f"before-{label}")
        hostile.put_records([card, release, entry])
        # Each friend sees one branch only: the stick is shown to it and then put back.
        assert visit(friend, push=False).problems == []
        assert my_vector(friend)[mallory.node.text].seq == seq + 1
        assert not my_vector(friend)[mallory.node.text].forked
        assert release.hash in {shown.hash for shown in releases(friend.store)}
        replace_tree(tmp_path / f"before-{label}", tmp_path / PLACE)
    assert branches[0] <= records_in(alice).keys()
    assert not branches[1] & records_in(alice).keys()

    for vault in (alice, bob, alice, bob):
        visit(vault)
    for vault in (alice, bob):
        mark = my_vector(vault)[mallory.node.text]
        assert (mark.seq, mark.forked) == (seq, True)
        assert branches[0] | branches[1] <= records_in(vault).keys()
    # Nobody sees more than the other, in whichever order the branches came (LAZ-65).
    shown = [{release.hash for release in releases(vault.store)} for vault in (alice, bob)]
    assert shown[0] == shown[1]
    assert not shown[0] & (branches[0] | branches[1])
    for vault in (alice, bob):
        assert check(vault).ok  # the views are what a fresh look at the records gives
    vector = {node: mark for node, mark in my_vector(alice).items() if mark.forked}
    assert vector == {node: mark for node, mark in my_vector(bob).items() if mark.forked}
    release_text(alice, "all the same")
    visit(alice)
    assert [release.name for release in visit(bob).came.releases] == ["alice"]


def test_a_fork_at_the_first_entry_is_marked_too(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-65: row 22
    alice, bob, mallory = shelf.lay(befriended, "bob", "mallory")
    hostile = Hostile(mallory, open_stick(tmp_path))
    plex = NodeCard.to_plex(group=mallory.group, node=mallory.node, label="twin", tai=mallory.around.tai())
    card = Seal.sign(plex, hostile.key)
    entry = hostile.log([card.hash], seq=1, prev=None)
    hostile.put_records([card, entry])
    for vault in (alice, bob):
        visit(vault)
        mark = my_vector(vault)[mallory.node.text]
        assert (mark.seq, mark.forked) == (0, True)
        assert {card.hash, entry.hash} <= records_in(vault).keys()
        assert check(vault).ok
    released = release_text(alice, "all the same")
    visit(alice)
    visit(bob)
    assert released in {release.hash for release in releases(bob.store)}


def test_a_copied_vault_on_another_machine_signs_nothing(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32
    alice = shelf.lay(found)
    befriend(tmp_path, alice, "bob")
    shutil.copytree(alice.folder, tmp_path / "copy")
    stick = {p: p.read_bytes() for p in (tmp_path / PLACE).rglob("*") if p.is_file()}
    with Vault(tmp_path / "copy", around(tmp_path, "alice", machine="z")) as copy:
        before = records_in(copy)
        write(copy, "new.txt", "new\n")
        for act in (
            lambda: work.commit(copy, "no"),
            lambda: releasing.release(copy, None, "no"),
            lambda: circle.invite(copy, "eve"),
            lambda: visit(copy),
        ):
            with pytest.raises(OtherMachine):
                act()
        assert records_in(copy) == before
        assert {p: p.read_bytes() for p in (tmp_path / PLACE).rglob("*") if p.is_file()} == stick
    release_text(alice, "the real one goes on")


def test_two_copies_on_one_machine_take_turns(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32: the mark beside the key tells them apart
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(alice.folder, tmp_path / "copy")
    with Vault(tmp_path / "copy", alice.around) as copy:
        first = release_text(alice, "from the folder")
        visit(alice)
        before = records_in(copy)
        with pytest.raises(VaultBehindMark):
            work.commit(copy, "too early")
        assert records_in(copy) == before
        visit(copy)
        assert first in {release.hash for release in releases(copy.store)}
        lazy_update.update(copy)
        second = release_text(copy, "from the copy")
        visit(copy)
        with pytest.raises(VaultBehindMark):
            work.commit(alice, "too early")
        visit(alice)
        lazy_update.update(alice)
        release_text(alice, "from the folder again")
        visit(alice)
    visit(bob)
    assert {first, second} <= {release.hash for release in releases(bob.store)}
    assert not any(mark.forked for mark in my_vector(bob).values())


def test_a_restored_backup_fetches_its_own_entries_and_goes_on(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32, LAZ-66: same node, no fork
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(alice.dot, tmp_path / "backup")
    released = release_text(alice, "after the backup")
    visit(alice)
    seq = my_vector(alice)[alice.node.text].seq
    everything = {record for record, _ in listing_of(open_stick(tmp_path), alice).items()}
    alice.close()
    replace_tree(tmp_path / "backup", alice.dot)

    alice = Vault(alice.folder, alice.around)
    assert my_vector(alice)[alice.node.text].seq < seq
    before = records_in(alice)
    with pytest.raises(VaultBehindMark):
        work.commit(alice, "too early")
    assert records_in(alice) == before

    visit(alice)
    assert my_vector(alice)[alice.node.text].seq == seq
    assert everything <= records_in(alice).keys()
    assert released in {release.hash for release in releases(alice.store)}
    lazy_update.update(alice)
    again = release_text(alice, "and on")
    assert my_vector(alice)[alice.node.text].seq == seq + 1
    visit(alice)
    result = visit(bob)
    assert result.problems == []
    assert again in {release.hash for release in releases(bob.store)}
    mark = my_vector(bob)[alice.node.text]
    assert (mark.seq, mark.forked) == (seq + 1, False)
    assert verify_trail(alice).ok


def test_a_restored_backup_fetches_its_own_entries_from_a_friend(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32: the own mailbox is gone, the friend carries what it held
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(alice.dot, tmp_path / "backup")
    released = release_text(alice, "after the backup")
    visit(alice)
    visit(bob)
    seq = my_vector(alice)[alice.node.text].seq
    alice.close()
    replace_tree(tmp_path / "backup", alice.dot)
    alice = Vault(alice.folder, alice.around)
    (open_stick(tmp_path).mailbox_path(alice.group, alice.node) / "head.rec").unlink()
    visit(alice)
    assert my_vector(alice)[alice.node.text].seq == seq
    assert released in {release.hash for release in releases(alice.store)}
    lazy_update.update(alice)
    release_text(alice, "and on")
    assert not my_vector(alice)[alice.node.text].forked


def test_a_restored_backup_fetches_the_rest_of_its_own_content_after_a_sync_about_a_part(
    tmp_path: Path, shelf: Shelf
) -> None:
    # LAZ-66, FAC-20: what nobody has read yet lies in its own mailbox alone; it is fetched, and not put there again
    alice = shelf.lay(found)
    shutil.copytree(alice.dot, tmp_path / "backup")
    write(alice, "song.txt", "la la\n" * 20_000)
    released = release_text(alice, "after the backup")
    visit(alice)
    alice.close()
    replace_tree(tmp_path / "backup", alice.dot)
    alice = Vault(alice.folder, alice.around)
    (result,) = sync(alice, [PLACE], scope=Scope(paths=frozenset({"a.txt"})))
    assert result.came.left_out
    assert released not in {release.hash for release in releases(alice.store)}
    (planned,) = sync(alice, [PLACE], dry_run=True)
    assert planned.planned is not None
    assert (planned.planned.records_to_receive > 0, planned.sent) == (True, 0)
    result = visit(alice)
    assert (len(result.came.received), result.sent) == (planned.planned.records_to_receive, 0)
    assert released in {release.hash for release in releases(alice.store)}
    assert visit(alice).traffic.bytes_read < result.traffic.bytes_read / 10


def test_a_restored_backup_without_its_entries_adopts_a_new_key(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32: the new node is admitted by the old key, and friends take what it says
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(alice.dot, tmp_path / "backup")
    lost = release_text(alice, "never left the machine")
    alice.close()
    replace_tree(tmp_path / "backup", alice.dot)
    alice = Vault(alice.folder, alice.around)
    old = alice.node
    with pytest.raises(VaultBehindMark):
        visit(alice)
    assert lost not in records_in(alice)

    assert adopt(alice)
    assert alice.node != old
    released = release_text(alice, "with a new key")
    assert visit(alice).problems == []
    result = visit(bob)
    assert result.problems == []
    assert released in {release.hash for release in releases(bob.store)}
    assert not any(mark.forked for mark in my_vector(bob).values())
    release_text(bob, "bob answers")
    visit(bob)
    assert [release.name for release in visit(alice).came.releases] == ["bob"]
    assert verify_trail(alice).ok


def test_a_copy_on_another_machine_adopts_after_fetching(tmp_path: Path, shelf: Shelf) -> None:
    # Row 32: sync first, then adopt, as the hint says
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(alice.folder, tmp_path / "copy")
    released = release_text(bob, "news")
    visit(bob)
    with Vault(tmp_path / "copy", around(tmp_path, "alice", machine="z")) as copy:
        with pytest.raises(OtherMachine):
            visit(copy)
        assert released in records_in(copy)  # what others wrote was fetched
        assert adopt(copy)
        visit(copy)
        assert released in {release.hash for release in releases(copy.store)}
    assert visit(alice).problems == []  # the old machine goes on as before, and knows its copy
    assert len(members(alice)) == 3
