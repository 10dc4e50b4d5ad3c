"""What `fsck` says of the places that it did not look at (APP-13)."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.people import Person
from tests.transports.git_hosts import bare_repository, git


def test_fsck_names_the_places_where_it_did_not_look(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """APP-13: it said that all is whole, of a git host and a stick in a drawer as of what it had read."""
    alice, _ = pair
    assert alice.lace("fsck")["notes"] == []
    alice.lace("place", "add", "host", str(bare_repository(tmp_path / "host.git")))
    alice.lace("place", "add", "unused", str(tmp_path / "unused"))
    assert alice.lace("fsck")["notes"] == []  # nothing lies there yet
    alice.lace("sync", "host")
    (tmp_path / "stick").rename(tmp_path / "drawer")
    for words in (("fsck",), ("fsck", "--repair")):
        found = alice.lace(*words)
        assert found["ok"]
        assert [(note["name"], note["code"]) for note in found["notes"]] == [
            ("host", "not-looked-at"),
            ("stick", "not-looked-at"),
        ]
    told = alice.text("fsck")
    assert "note host is a git place, which this does not look at: lace sync host finds what is lost there" in told
    assert "note stick was not looked at: " in told
    (tmp_path / "drawer").rename(tmp_path / "stick")
    assert [note["name"] for note in alice.lace("fsck")["notes"]] == ["host"]


def test_the_branch_that_says_which_place_a_host_is_is_written_anew(alice: Person, tmp_path: Path) -> None:
    """APP-13, CYB-15: once it was deleted, everybody had to remove the place and to add it under a new id."""
    alice.lace("init", "--name", "alice")
    bare = bare_repository(tmp_path / "host.git")
    alice.lace("place", "add", "host", str(bare))
    alice.lace("sync", "host")
    git(bare, "update-ref", "-d", "refs/heads/lace/place")
    error = alice.lace("sync", "host", expect=21)["error"]
    assert error["code"] == "place-unmarked"  # it was told from another place by a piece of its sentence
    assert "lace fsck --repair" in error["hint"]
    (note,) = alice.lace("fsck")["notes"]
    assert "holds no place" in note["message"]  # it was said that a sync finds what is lost there
    assert "lace fsck --repair" in note["message"]
    done = alice.lace("fsck", "--repair")
    assert "host/lace/place" in {one["name"] for one in done["repaired"]}
    assert ["lace sync host" in note["message"] for note in done["notes"]] == [True]
    assert alice.lace("sync", "host")["problems"] == []


def _met_at(path: Path, *people: Person) -> Path:
    """Return a bare repository that is made there, at which these have synced one after the other."""
    bare = bare_repository(path)
    for person in people:
        person.lace("place", "add", "host", str(bare))
        person.lace("sync", "host")
    return bare


def test_who_only_fetched_the_branch_that_says_which_place_a_host_is_writes_it_anew_too(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """APP-13, CYB-15: whoever syncs there was told that a repair does, and only the one who made the place could."""
    alice, bob = pair
    bare = _met_at(tmp_path / "host.git", alice, bob)
    for _ in range(2):
        git(bare, "update-ref", "-d", "refs/heads/lace/place")
        assert bob.lace("sync", "host", expect=21)["error"]["code"] == "place-unmarked"
        assert "host/lace/place" in {one["name"] for one in bob.lace("fsck", "--repair")["repaired"]}
        for person in (bob, alice):
            assert person.lace("sync", "host")["problems"] == []


def test_who_did_not_meet_the_loss_is_told_what_to_do_before_a_repair(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """APP-13, CYB-15: a friend who is told that a repair does has not met the loss, and a repair alone did nothing."""
    alice, bob = pair
    bare = _met_at(tmp_path / "host.git", alice, bob)
    git(bare, "update-ref", "-d", "refs/heads/lace/place")
    hint = alice.lace("sync", "host", expect=21)["error"]["hint"]
    assert "by a sync there and then: lace fsck --repair" in hint
    assert bob.lace("sync", "host", expect=21)["error"]["hint"] == hint
    assert "host/lace/place" in {one["name"] for one in bob.lace("fsck", "--repair")["repaired"]}
    for person in (alice, bob):
        assert person.lace("sync", "host")["problems"] == []


def test_of_an_emptied_repository_no_repair_is_promised(alice: Person, tmp_path: Path) -> None:
    """APP-13, CYB-15: nothing is left there to prove it by, and a repair named itself as the way out, each time."""
    alice.lace("init", "--name", "alice")
    bare = bare_repository(tmp_path / "host.git")
    alice.lace("place", "add", "host", str(bare))
    alice.lace("sync", "host")
    for ref in git(bare, "for-each-ref", "--format=%(refname)").split():
        git(bare, "update-ref", "-d", ref)
    error = alice.lace("sync", "host", expect=21)["error"]
    assert (error["code"], "fsck" in error["hint"]) == ("place-unmarked", False)
    notes = alice.lace("fsck", "--repair")["notes"]
    assert [("host" in note["message"], "fsck" in note["message"]) for note in notes] == [(True, False)]
    for command in error["hint"].partition("To go on with this one: ")[2].split("; "):
        alice.lace(*shlex.split(command)[1:])
    assert alice.lace("sync", "host")["sent"] > 0


def test_a_repair_says_why_it_did_not_write_that_branch_anew(alice: Person, tmp_path: Path) -> None:
    """APP-13: it named itself as the way out, each time again, and not what the host had said to it."""
    alice.lace("init", "--name", "alice")
    bare = bare_repository(tmp_path / "host.git")
    alice.lace("place", "add", "host", str(bare))
    alice.lace("sync", "host")
    git(bare, "update-ref", "-d", "refs/heads/lace/place")
    assert alice.lace("sync", "host", expect=21)["error"]["code"] == "place-unmarked"
    git(bare, "config", "receive.hideRefs", "refs/heads/lace/place")
    notes = alice.lace("fsck", "--repair")["notes"]
    assert any("hidden ref" in note["message"] for note in notes), notes
    git(bare, "config", "--unset", "receive.hideRefs")
    assert "host/lace/place" in {one["name"] for one in alice.lace("fsck", "--repair")["repaired"]}
