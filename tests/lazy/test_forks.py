"""One key in two hands: a device copied whole, a backup of everything, and what friends see of it (LAZ-65, LAZ-73)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.belonging.adopting import adopt
from lazy.belonging.forks import fork_ends, forks
from lazy.belonging.reputation import reputation
from lazy.conflict_words import side_words
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.people import linked, members, node_of
from lazy.resolving.picks import NoSuchSide
from lazy.resolving.resolve import accept_resolution, resolve_merged, resolve_prefer
from lazy.status import status
from lazy.vectors import my_vector
from lazy.visits.carry import apply_bundle, create_bundle
from lazy.visits.needs import BundleNeedsMore
from lazy.visits.parcels import export, put
from tests.faults.circle import around, befriend, befriended, found, records_in, visit, write
from tests.people import Person
from tests.shelf import Shelf
from vault import releasing
from vault.audit.trail import verify_trail
from vault.folder import work
from vault.fsck.check import check
from vault.identity.mark import VaultForked
from vault.names import Version
from vault.nodelog import ForkProof
from vault.revisions.history import releases
from vault.vault import Vault


@pytest.fixture
def devices(tmp_path: Path, shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Alice, her device copied whole with its key, mark and machine id, and bob who knows her."""
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / "alice", tmp_path / "twin" / "alice")
    twin = Vault(tmp_path / "twin" / "alice" / "f", around(tmp_path / "twin", "alice"))
    yield alice, twin, bob
    for vault in (alice, twin, bob):
        vault.close()


def _release(vault: Vault, path: str, text: str, version: Version | None = None) -> str:
    write(vault, path, text)
    return releasing.release(vault, version, text).release.text


def _shown(vault: Vault) -> set[str]:
    return {release.hash.text for release in releases(vault.store)}


def test_two_devices_with_one_key_are_noticed_when_they_meet(devices: tuple[Vault, Vault, Vault]) -> None:
    """Nothing on either device can know before: the first meeting says it, one command each goes on, nothing is lost.

    LAZ-65, LAZ-66.
    """
    alice, twin, bob = devices
    key = alice.node.text
    common = my_vector(alice)[key].seq
    mine = _release(alice, "a.txt", "on the desk\n", Version(2, 0, 0))
    theirs = _release(twin, "b.txt", "on the road\n", Version(2, 1, 0))
    visit(alice)
    visit(bob)
    with pytest.raises(VaultForked, match=f"entry {common + 1} of your log"):
        visit(twin)  # it reads what the other wrote in its own mailbox before it says anything
    assert {mine, theirs} <= {record.text for record in records_in(twin)}
    with pytest.raises(VaultForked):
        work.commit(twin, "nothing is signed after a fork")
    held = status(twin).held_back
    assert held is not None
    assert held["code"] == "vault-forked"

    assert adopt(twin, name="alice-road")
    assert status(twin).held_back is None
    visit(twin)
    told = visit(bob).problems
    assert [problem.code for problem in told] == ["forked"]
    assert told[0].message.endswith("went on under a new key.")
    assert node_of(bob, "alice") == key  # no peer any more, and still called so
    mark = my_vector(bob)[key]
    assert (mark.seq, mark.forked) == (common, True)
    assert {mine, theirs} <= _shown(bob)  # the new log keeps both branches
    with pytest.raises(VaultForked):
        visit(alice)
    assert adopt(alice, name="alice-desk")
    for vault in (alice, twin, bob, alice, twin):
        assert visit(vault).problems == []  # told once
    for vault in devices:
        assert {mine, theirs} <= _shown(vault)
        assert my_vector(vault)[key].forked
        assert key not in {peer.node for peer in status(vault).peers}  # it says nothing more, so nothing waits for it
        assert {peer.state for peer in status(vault).peers} == {"synced"}
        assert {p.versions for p in status(vault).peers if p.name.startswith("alice")} == {"1.0.0-2.1.0"}
        assert linked(vault, key) == {key, alice.node.text, twin.node.text}
        assert len(reputation(vault, alice.node.text).forks) == 1
        assert verify_trail(vault).ok
        assert check(vault).ok
    update(bob)
    assert (bob.folder / "a.txt").read_text() == "on the desk\n"
    assert (bob.folder / "b.txt").read_text() == "on the road\n"
    again = _release(twin, "c.txt", "and on\n")
    visit(twin)
    visit(bob)
    assert again in _shown(bob)


def test_the_keys_of_one_person_are_told_apart_in_the_list_of_members(devices: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-65: after a fork and `adopt` two members were called alice, and nothing said which is which."""
    alice, twin, bob = devices
    key = alice.node.text
    for vault, text in ((alice, "desk\n"), (twin, "road\n")):
        _release(vault, "a.txt", text)
    visit(alice)
    with pytest.raises(VaultForked):
        visit(twin)
    adopt(twin)
    visit(twin)
    visit(bob)
    older = f"alice-{key[2:8]}"
    for vault in (twin, bob):
        found = {member.node: member for member in members(vault)}
        assert (found[key].name, found[key].older_key_of) == (older, "alice")
        assert (found[twin.node.text].name, found[twin.node.text].older_key_of) == ("alice", None)
        assert found[twin.node.text].admitted_by == older
        assert found[bob.node.text].admitted_by == older
        assert node_of(vault, older) == key
        assert node_of(vault, "alice") == twin.node.text


def test_what_both_branches_call_the_same_version_is_an_open_conflict(devices: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-65, LAZ-33: kept branches are judged like anybody's releases."""
    alice, twin, bob = devices
    sides = {_release(vault, "a.txt", text, Version(2, 0, 0)) for vault, text in ((alice, "desk\n"), (twin, "road\n"))}
    visit(alice)
    with pytest.raises(VaultForked):
        visit(twin)
    adopt(twin)
    visit(twin)
    visit(bob)
    (conflict,) = conflicts(bob)
    assert {str(side.release) for side in conflict.sides} == sides
    assert [side.word for side in conflict.sides] == ["alice:1", "alice:2"]
    assert side_words(conflict, bob.node.text) == "--prefer alice:1 or alice:2"
    with pytest.raises(NoSuchSide, match="fits several sides"):
        resolve_prefer(bob, conflict.id, "alice")
    done = resolve_prefer(bob, conflict.id, "alice:2")  # what is proposed is taken
    assert done.release == conflict.sides[1].release


def test_nobody_else_can_keep_a_branch(devices: tuple[Vault, Vault, Vault], tmp_path: Path) -> None:
    """LAZ-72: alice admitted bob, but not as herself, so that her branches stay hidden whatever he shares."""
    alice, twin, bob = devices
    hidden = {_release(vault, "a.txt", text) for vault, text in ((alice, "desk\n"), (twin, "road\n"))}
    visit(alice)
    visit(bob)
    with pytest.raises(VaultForked):
        visit(twin)
    ends = fork_ends(twin, twin.node.text)
    assert len(ends) == 2
    file = tmp_path / "branches.records"
    file.write_bytes(b"".join(export(twin, "shared")))
    put(bob, file)
    assert my_vector(bob)[alice.node.text].forked
    assert set(ends) <= records_in(bob).keys()
    assert not hidden & _shown(bob)
    with bob.writing() as w:
        w.log(ends)
    assert not hidden & _shown(bob)


def test_a_fork_reaches_third_parties_and_verifies_without_a_vault(
    devices: tuple[Vault, Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-65, LAZ-73: carol meets neither device; two records are the whole proof, for people outside, too."""
    alice, twin, bob = devices
    carol = befriend(tmp_path, bob, "carol")
    _release(alice, "a.txt", "desk\n")
    _release(twin, "a.txt", "road\n")
    visit(alice)
    with pytest.raises(VaultForked):
        visit(twin)
    adopt(twin)
    visit(twin)
    visit(bob)
    visit(carol)
    (proof,) = forks(carol)
    assert node_of(carol, alice.node.text) == alice.node.text  # the key that was left, by itself and by its name
    assert (proof.node.text, proof.seq) == (alice.node.text, my_vector(carol)[alice.node.text].seq + 1)
    assert ForkProof.of(proof.first.encode(), proof.second.encode()) == proof
    carol.close()

    person = Person("carol", tmp_path / "carol" / "home", tmp_path / "carol" / "f")
    person.environ["LACE_HOME"] = str(tmp_path / "carol" / "home")
    taken = person.run("record", "export", "forks")
    assert taken.code == 0, taken.err
    assert taken.out == proof.encode()
    assert person.run("record", "export", f"{proof.node}/forks").out == taken.out
    assert f"record export {proof.node}/forks" in person.text("peers", "alice")
    outside = Person("eve", tmp_path / "eve", tmp_path / "eve" / "f")
    (outside.folder / "proof.records").write_bytes(taken.out)
    lines = outside.stream("record", "verify", "proof.records")
    assert [line["fork"]["seq"] for line in lines] == [proof.seq, proof.seq]
    assert [line["fork"]["other"] for line in lines] == [line["hash"] for line in reversed(lines)]
    (outside.folder / "half.records").write_bytes(proof.first.encode())
    assert "fork" not in outside.stream("record", "verify", "half.records")[0]
    assert "sealed two entries" in outside.text("record", "verify", "proof.records")


def test_a_backup_of_everything_goes_on_as_the_same_node_after_a_sync(tmp_path: Path, shelf: Shelf) -> None:
    """Key, mark and vault went back together, so nothing here can know; the place does. LAZ-66: same node, no fork."""
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / "alice", tmp_path / "backup")
    released = _release(alice, "a.txt", "after the backup\n")
    visit(alice)
    key, seq = alice.node.text, my_vector(alice)[alice.node.text].seq
    alice.close()
    shutil.rmtree(tmp_path / "alice")
    (tmp_path / "backup").rename(tmp_path / "alice")
    with Vault(tmp_path / "alice" / "f", around(tmp_path, "alice")) as restored:
        assert my_vector(restored)[key].seq < seq
        assert visit(restored).problems == []
        assert my_vector(restored)[key].seq == seq
        assert released in _shown(restored)
        update(restored)
        again = _release(restored, "b.txt", "and on\n")
        visit(restored)
        assert visit(bob).problems == []
        assert {released, again} <= _shown(bob)
        assert not my_vector(bob)[key].forked
    bob.close()


def test_a_backup_that_pushes_first_reads_what_it_said_before(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-23, LAZ-66: also where only a push was asked for, its own entries come first."""
    alice = shelf.lay(found)
    shutil.copytree(tmp_path / "alice", tmp_path / "backup")
    released = _release(alice, "a.txt", "after the backup\n")
    visit(alice)
    alice.close()
    shutil.rmtree(tmp_path / "alice")
    (tmp_path / "backup").rename(tmp_path / "alice")
    with Vault(tmp_path / "alice" / "f", around(tmp_path, "alice")) as restored:
        visit(restored, pull=False)
        assert released in _shown(restored)
        assert not my_vector(restored)[restored.node.text].forked


def test_two_decisions_by_one_key_can_each_be_named(devices: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-39, LAZ-42, LAZ-65: two devices with one key decided differently; who accepts says which of the two."""
    alice, twin, bob = devices
    kept = _release(bob, "a.txt", "bob\n", Version(2, 0, 0))
    _release(alice, "a.txt", "alice\n", Version(2, 0, 0))
    for vault in (alice, bob, alice, twin):
        visit(vault)
    resolve_prefer(alice, "2.0.0", "bob")
    (twin.folder / "a.txt").write_text("both\n")
    merged = resolve_merged(twin, "2.0.0", Version(2, 1, 0)).release
    visit(alice)
    visit(bob)
    with pytest.raises(VaultForked):
        visit(twin)
    adopt(twin)
    visit(twin)
    visit(bob)
    (conflict,) = conflicts(bob)
    assert [(one.name, one.word) for one in conflict.proposals] == [("alice", "alice:1"), ("alice", "alice:2")]
    assert {str(one.chosen or one.release) for one in conflict.proposals} == {kept, str(merged)}
    assert conflict.accept_words() == "--accept alice:1 or alice:2"
    with pytest.raises(NoSuchSide) as refused:
        accept_resolution(bob, conflict.id, "alice")
    assert refused.value.hint == "Name whose: --accept alice:1 or alice:2 - what each decided: lace conflicts"
    taken = next(one for one in conflict.proposals if one.chosen is None)
    assert accept_resolution(bob, conflict.id, taken.word).release == merged
    assert conflicts(bob) == []
    assert (bob.folder / "a.txt").read_text() == "both\n"


def test_a_bundle_for_somebody_holds_the_branch_that_they_do_not_know(
    devices: tuple[Vault, Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-47, LAZ-65: what bob has of alice's log goes further than the other branch, which carol has published."""
    alice, twin, bob = devices
    carol = befriend(tmp_path, alice, "carol")
    _release(twin, "b.txt", "road\n")
    for number in range(2):
        _release(alice, "a.txt", f"desk {number}\n")
    for vault in (alice, bob, carol, bob, carol):
        visit(vault)
    file = tmp_path / "branch.records"
    file.write_bytes(b"".join(export(twin, "shared")))
    put(carol, file)
    visit(carol)
    bundle = tmp_path / "for-bob.lace"
    create_bundle(carol, bundle, peer="bob")
    apply_bundle(bob, bundle)
    assert my_vector(bob)[alice.node.text].forked
    carol.close()


def test_what_a_bundle_goes_on_from_is_told_by_digest_and_not_by_number(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-28, LAZ-65: bob has as many entries as carol, but of the other branch; what came would wait for ever."""
    alice = shelf.lay(found)
    bob, carol = (befriend(tmp_path, alice, name) for name in ("bob", "carol"))
    for vault in (alice, bob, carol, alice, bob):
        visit(vault)
    shutil.copytree(tmp_path / "alice", tmp_path / "twin" / "alice")
    twin = Vault(tmp_path / "twin" / "alice" / "f", around(tmp_path / "twin", "alice"))
    for number in range(2):
        _release(twin, "b.txt", f"road {number}\n")
    branch, bundle = tmp_path / "branch.records", tmp_path / "for-carol.lace"
    branch.write_bytes(b"".join(export(twin, "shared")))
    put(bob, branch)
    _release(alice, "a.txt", "desk\n")
    for vault in (alice, carol, alice):
        visit(vault)
    later = _release(alice, "a.txt", "desk again\n")
    create_bundle(alice, bundle, peer="carol")
    assert my_vector(bob)[alice.node.text].seq > my_vector(carol)[alice.node.text].seq
    assert not my_vector(bob)[alice.node.text].forked
    with pytest.raises(BundleNeedsMore, match="of alice's log, and the one that is here is another"):
        apply_bundle(bob, bundle)
    assert later not in {record.text for record in records_in(bob)}
    put(carol, branch)
    assert my_vector(carol)[alice.node.text].forked, "it counts less far now, and has all that the file goes on from"
    apply_bundle(carol, bundle)
    assert later in {record.text for record in records_in(carol)}
    for vault in (alice, bob, carol, twin):
        vault.close()
