"""Who was let in by others, as the next visit tells it (LAZ-71, APP-13)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import lazy.visits.visit
from tests.people import Person

_KILLED = 9
_TOLD = [{"name": "dan", "by": "bob"}]


@pytest.fixture
def let_in(trio: tuple[Person, Person, Person], people: Callable[[str], Person]) -> tuple[Person, Person, Person]:
    """Alice, who has not heard yet that bob let dan in, and bob and cara, who has neither."""
    alice, bob, cara = trio
    _let(bob, people("dan"))
    return alice, bob, cara


def _let(host: Person, friend: Person) -> None:
    """Let a host let a friend in over the stick."""
    friend.lace("accept", host.lace("invite", friend.name)["invite"], "--name", friend.name)
    for person in (friend, host):
        person.lace("sync", "stick")


def _killed(person: Person, *words: str) -> None:
    """Run a command that is killed once all that came is stored, before its visit ends."""

    def die(*_: object, **__: object) -> None:
        os._exit(_KILLED)

    child = os.fork()
    if not child:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lazy.visits.visit, "finish", die)
            person.run(*words)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == _KILLED


def test_a_visit_to_a_stick_names_them_and_who_let_them_in(let_in: tuple[Person, Person, Person]) -> None:
    """LAZ-71: `received 4 records` was all, and `lace log` alone knew whom."""
    alice, bob, cara = let_in
    assert "  bob let dan in\n" in alice.text("sync", "stick")
    assert " in\n" not in alice.text("sync", "stick")
    assert cara.lace("sync", "stick")["places"][0]["newcomers"] == _TOLD
    assert bob.lace("sync", "stick")["newcomers"] == []


def test_a_bundle_names_them_too(let_in: tuple[Person, Person, Person], tmp_path: Path) -> None:
    """LAZ-71: on a road without a place as on any."""
    alice, bob, _ = let_in
    bob.lace("bundle", "create", str(tmp_path / "b.lace"))
    told = [alice.lace("bundle", "apply", str(tmp_path / "b.lace"))["newcomers"] for _ in range(2)]
    assert told == [_TOLD, []]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_a_killed_visit_brought_is_told_by_the_next(let_in: tuple[Person, Person, Person]) -> None:
    """APP-13: it was stored, and so it was new to no visit that could say so."""
    alice, _, cara = let_in
    _killed(alice, "sync", "stick")
    assert "dan" in {member["name"] for member in alice.lace("members")["members"]}
    told = [alice.lace("sync", "stick")["newcomers"] for _ in range(2)]
    assert told == [_TOLD, []]
    _killed(cara, "sync", "stick")
    alice.lace("revoke", "dan", "--yes")
    alice.lace("sync", "stick")
    came = cara.lace("sync", "stick")
    assert (came["newcomers"], came["revoked"]) == ([], [{"name": "dan", "by": "alice"}])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_whom_i_revoked_after_a_killed_visit_is_told_to_me_no_more(let_in: tuple[Person, Person, Person]) -> None:
    """LAZ-69: by the time it is told, nobody new belongs; and what I did myself is no news."""
    alice, _, _ = let_in
    _killed(alice, "sync", "stick")
    alice.lace("revoke", "dan", "--yes")
    came = alice.lace("sync", "stick")
    assert (came["newcomers"], came["revoked"]) == ([], [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_who_is_new_is_told_of_nobody_after_a_killed_visit_either(
    let_in: tuple[Person, Person, Person], people: Callable[[str], Person]
) -> None:
    """LAZ-71, APP-13: the visit that made them a member was cut off, and all others had belonged before."""
    alice, _, _ = let_in
    eve = people("eve")
    _let(alice, eve)
    _killed(eve, "sync", "stick")
    assert eve.lace("sync", "stick")["newcomers"] == []


def test_a_restored_vault_is_told_of_nobody_anew(let_in: tuple[Person, Person, Person], tmp_path: Path) -> None:
    """LAZ-65: it had heard of dan before the backup came back, and more from it went out since."""
    alice, _, _ = let_in
    shutil.copytree(alice.folder, tmp_path / "backup")
    assert alice.lace("sync", "stick")["newcomers"] == _TOLD
    alice.write("more.md", "more\n")
    alice.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    shutil.rmtree(alice.folder)
    shutil.copytree(tmp_path / "backup", alice.folder)
    assert "dan" not in {member["name"] for member in alice.lace("members")["members"]}
    assert alice.lace("sync", "stick")["newcomers"] == []
    assert "dan" in {member["name"] for member in alice.lace("members")["members"]}


def test_whom_i_let_in_is_not_told_to_a_restored_machine_of_mine(
    let_in: tuple[Person, Person, Person], people: Callable[[str], Person], tmp_path: Path
) -> None:
    """LAZ-65: with its key and mark as old as its vault it cannot know that it is behind, and meets what it did."""
    alice, _, _ = let_in
    parts = {alice.folder: tmp_path / "folder", alice.home: tmp_path / "home"}
    for part, backup in parts.items():
        shutil.copytree(part, backup)
    _let(alice, people("eve"))
    for part, backup in parts.items():
        shutil.rmtree(part)
        shutil.copytree(backup, part)
    assert alice.lace("sync", "stick")["newcomers"] == _TOLD
    assert "eve" in {member["name"] for member in alice.lace("members")["members"]}


def test_a_vault_that_adopts_is_told_of_nobody_anew_and_hears_of_others(let_in: tuple[Person, Person, Person]) -> None:
    """LAZ-65: whoever belonged with its old key is none who came."""
    alice, _, cara = let_in
    alice.lace("sync", "stick")
    for person in (alice, cara):
        person.lace("adopt", "--yes")
    assert alice.lace("sync", "stick")["newcomers"] == []
    assert _TOLD[0] in cara.lace("sync", "stick")["newcomers"]


def test_another_key_of_a_friend_is_named_as_one(let_in: tuple[Person, Person, Person], tmp_path: Path) -> None:
    """LAZ-65: bob did not let himself in."""
    alice, bob, cara = let_in
    cara.lace("sync", "stick")
    bob.lace("adopt", "--yes")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("bundle", "create", str(tmp_path / "b.lace"))  # at a stick his own mailbox asks for it
    said = cara.text("bundle", "apply", str(tmp_path / "b.lace"))
    (old,) = (one["name"] for one in cara.lace("members")["members"] if one["older_key_of"] == "bob")
    assert f"  {old} let bob in, another key of theirs\n" in said


def test_a_rebuilt_vault_is_told_of_nobody_anew(let_in: tuple[Person, Person, Person]) -> None:
    """APP-13: a repair writes the views anew from records that were here before."""
    alice, _, _ = let_in
    alice.lace("sync", "stick")
    alice.lace("fsck", "--repair")
    assert alice.lace("sync", "stick")["newcomers"] == []
