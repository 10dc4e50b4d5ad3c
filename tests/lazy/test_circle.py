"""Belonging as acts: adopting, admitting, and what stays true when two do it at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.belonging import circle
from lazy.belonging.admitting import AlreadyMember, admit, consider
from lazy.belonging.adopting import adopt
from lazy.belonging.circle import accept, invite
from lazy.belonging.invitations import Invitation
from lazy.belonging.requests import requests
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.folder.undo import undo
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.registry import keep_place, place_named, remove_place
from lazy.places.roads import make_place, open_place
from lazy.sync import sync
from tests.vault import vaults
from transports.errors import PlaceUnreachable
from vault.folder.work import commit
from vault.fsck.check import check
from vault.records import Tai, parse_record
from vault.records.tai import MAX_SECONDS
from vault.releasing import NothingToRelease, release
from vault.revisions.history import releases, unreleased
from vault.vault import Vault


def interrupt_at(vault: Vault, look: int) -> None:
    """Stop the vault's next act, as Ctrl-C does, at the given look at the clock."""
    world, looks = vault.around, [0]

    def now_ns() -> int:
        looks[0] += 1
        if looks[0] == look:
            raise KeyboardInterrupt
        return world.now_ns()

    vault.around = replace(world, now_ns=now_ns)


def test_adopting_cut_off_anywhere_is_the_old_node_still(tmp_path: Path) -> None:
    """APP-13: the same call again goes on as a new node."""
    alice = vaults.found(tmp_path)
    vaults.write(alice, "a.txt", "one\n")
    release(alice, None, "first")
    old, world, look = alice.node, alice.around, 0
    while True:
        look += 1
        interrupt_at(alice, look)
        try:
            assert adopt(alice)
            break
        except KeyboardInterrupt:
            alice.around = world
            assert alice.node == old
            commit(alice, f"still the old node {look}")
    alice.around = world
    assert look > 4
    assert alice.node != old
    assert {str(row[0]) for row in alice.store.rows("SELECT node FROM member")} == {old.text, alice.node.text}
    vaults.write(alice, "a.txt", "two\n")
    assert release(alice, None, "second").seq == 2


def test_work_the_old_node_did_not_release_can_be_released_by_the_new_one(tmp_path: Path) -> None:
    """APP-13: the new line begins where the folder stands."""
    alice = vaults.found(tmp_path)
    vaults.write(alice, "a.txt", "one\n")
    release(alice, None, "first")
    vaults.write(alice, "a.txt", "two\n")
    made = commit(alice, "not released")
    assert made
    adopt(alice)
    assert unreleased(alice) == 1
    assert release(alice, None, "the old one's").commit == made.commit
    assert len(releases(alice.store)) == 2


def test_released_work_is_not_released_again_after_adopting(tmp_path: Path) -> None:
    """LAZ-57."""
    alice = vaults.found(tmp_path)
    vaults.write(alice, "a.txt", "one\n")
    release(alice, None, "first")
    adopt(alice)
    with pytest.raises(NothingToRelease):
        release(alice, None, "again")


def test_what_a_key_released_that_nobody_let_in_is_released_by_the_next(tmp_path: Path) -> None:
    """APP-13, LAZ-57: it counts for nobody once it is not mine, so there is something to release."""
    alice = vaults.found(tmp_path)
    bob, _ = accept(tmp_path / "bob", vaults.around(tmp_path, "bob"), invite(alice, "bob").encode(), name="bob")
    vaults.write(bob, "b.txt", "one\n")
    first = release(bob, None, "first")
    adopt(bob)
    assert check(bob).bad == ()
    assert (releases(bob.store), unreleased(bob)) == ([], 1)
    assert release(bob, None, "again").commit == first.commit
    assert check(bob).bad == ()


def in_between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let another process act after this one has looked, and before it takes the vault's lock."""
    writing = Vault.writing
    pending = [act]

    def late(self: Vault, *args: object, **named: object) -> object:
        if pending:
            pending.pop()()
        return writing(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Vault, "writing", late)


def test_one_invitation_admits_one_person_though_two_processes_look_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-50: the check and the admission are one act under the lock."""
    alice = vaults.found(tmp_path)
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    line = invite(alice, "bob").encode()
    bob, _ = accept(tmp_path / "bob", vaults.around(tmp_path, "bob"), line)
    mal, _ = accept(tmp_path / "mal", vaults.around(tmp_path, "mal"), line, name="mal")
    other = Vault(alice.folder, alice.around)
    medium = open_place(place_named(alice, "stick"))

    def ask(by: Vault, who: Vault) -> str | None:
        stored = medium.read_request(alice.group, who.node)
        assert stored is not None
        return consider(by, "stick", parse_record(stored), who.node)

    in_between(monkeypatch, lambda: ask(other, mal))
    assert ask(alice, bob) is None
    assert [row[0] for row in alice.store.rows("SELECT label FROM member ORDER BY label")] == ["alice", "mal"]
    (waiting,) = requests(alice)
    assert waiting.problem == "its invitation was already used by mal"


def test_a_used_invitation_lets_nobody_in_after_a_backup_was_restored(tmp_path: Path) -> None:
    """LAZ-50, CYB-18: the backup has it unused; the admission that comes back with the own log says by whom it is."""
    alice = vaults.found(tmp_path)
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    line = invite(alice, "bob").encode()
    shutil.copytree(tmp_path / "alice", tmp_path / "backup")
    bob, _ = accept(tmp_path / "bob", vaults.around(tmp_path, "bob"), line, name="bob")
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    alice.close()
    shutil.rmtree(tmp_path / "alice")
    (tmp_path / "backup").rename(tmp_path / "alice")
    with Vault(tmp_path / "alice", vaults.around(tmp_path, "alice")) as restored:
        sync(restored, ["stick"])
        assert restored.store.rows("SELECT used_by FROM invitation") == [(None,)]
        for name in ("mal", "eve"):  # also once bob, who may have kept the line, is cut
            with accept(tmp_path / name, vaults.around(tmp_path, name), line, name=name)[0] as other:
                sync(other, ["stick"])
            (result,) = sync(restored, ["stick"])
            assert result.came.admitted == []
            assert {request.problem for request in requests(restored)} == {"its invitation was already used by bob"}
            if name == "mal":
                revoke(restored, plan_revocation(restored, "bob"))
    bob.close()


def test_a_node_gets_one_member_record_though_two_processes_admit_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-50."""
    alice = vaults.found(tmp_path)
    other = Vault(alice.folder, alice.around)
    bob = vaults.found(tmp_path, "bob", group="elsewhere")
    in_between(monkeypatch, lambda: admit(other, "bob", bob.node.text))
    with pytest.raises(AlreadyMember):
        admit(alice, "bob", bob.node.text)
    assert alice.store.rows("SELECT count(*) FROM admission WHERE node = ?", bob.node.text) == [(1,)]


def test_sync_names_requests_only_while_somebody_waits(tmp_path: Path) -> None:
    """LAZ-55: whom somebody else admitted asks no more."""
    alice = vaults.found(tmp_path)
    bob = vaults.befriend(tmp_path, alice, "bob")
    cara, _ = accept(tmp_path / "cara", vaults.around(tmp_path, "cara"), invite(alice, "cara").encode())
    (seen,) = sync(bob, ["stick"])
    assert seen.next == "lace requests"
    for vault in (alice, cara, alice):
        sync(vault, ["stick"])
    (seen,) = sync(bob, ["stick"])
    assert seen.next == ""
    assert bob.store.rows("SELECT * FROM request") == []


def test_a_clock_at_the_end_of_time_stops_nobody(tmp_path: Path) -> None:
    """LAZ-16: one member's wild clock invites, commits and releases; a friend whose clock is right works on top."""
    alice = vaults.found(tmp_path)
    right = alice.around
    alice.around = replace(right, now_ns=lambda: 10**30)
    line = circle.invite(alice, "bob").encode()
    vaults.write(alice, "a.txt", "from the end of time\n")
    release(alice, None, "late")
    alice.around = replace(right, now_ns=lambda: -(10**30))
    vaults.write(alice, "a.txt", "from the beginning\n")
    release(alice, None, "early")
    alice.around = right
    bob = vaults.befriend(tmp_path, alice, "bob")
    update(bob)
    vaults.write(bob, "a.txt", "in between\n")
    made = release(bob, None, "on top")
    sync(bob, ["stick"])
    sync(alice, ["stick"])
    update(alice)
    assert (alice.folder / "a.txt").read_text() == "in between\n"
    assert made.release in {found.hash for found in releases(alice.store)}
    assert Invitation.decode(line).expires == Tai(MAX_SECONDS)


def test_a_place_whose_path_holds_an_at_sign_is_asked_forgotten_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was taken once stays a place, though what somebody types now could be a password."""
    alice = vaults.found(tmp_path)
    place = make_place(alice, "hub", "git@host.example:a@b/v.git", cwd=tmp_path, create=False)
    with alice.writing() as w:
        keep_place(w, place)
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    with pytest.raises(PlaceUnreachable):
        open_place(place)
    remove_place(alice, "hub")
    undo(alice)
    assert place_named(alice, "hub") == place
