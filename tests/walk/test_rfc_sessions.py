"""The seed's example sessions with our verbs: three people, three homes, one stick (LAZ-81, LAZ-82, LAZ-83)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.sexp import loads


@pytest.fixture
def circle(shelf: Shelf) -> tuple[Person, Person, Person, Path]:
    """Alice founded, bob and cara belong; everybody has 2.2.0 or what came before."""
    return shelf.lay(_circle)


def _circle(root: Path) -> tuple[Person, Person, Person, Path]:
    alice, bob, cara = (person_in(root, name) for name in ("alice", "bob", "cara"))
    stick = root / "stick"
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    for friend in (bob, cara):
        line = alice.lace("invite", friend.name)["invite"]
        alice.lace("sync", "stick")
        friend.lace("accept", line)
        alice.lace("sync", "stick")
    alice.write("notes.md", "one\n")
    alice.lace("release", "2.2.0")
    alice.lace("sync", "stick")
    for friend in (bob, cara):
        friend.lace("sync", "stick")
        friend.lace("update")
    alice.lace("sync", "stick")
    return alice, bob, cara, stick


def test_the_example_session(circle: tuple[Person, Person, Person, Path], people: Callable[[str], Person]) -> None:
    """LAZ-81: two commits and a release offline; sync with bob, then carol; third-party relay (LAZ-31)."""
    del people
    alice, bob, cara, stick = circle
    away = stick.with_name("pocket")
    # Bob released 2.2.1 at home and put it on the stick; cara has commits she did not release.
    bob.write("bob.md", "from bob\n")
    bob.lace("release", "2.2.1")
    bob.lace("sync", "stick")
    cara.lace("config", "set", "announce-unreleased", "true")
    cara.write("cara.md", "draft\n")
    cara.lace("commit", "-m", "a draft")
    stick.rename(away)  # everything below until the next rename happens offline (LAZ-1)
    alice.write("a.md", "a\n")
    alice.lace("commit", "-m", "Fix bug #1")
    alice.write("b.md", "b\n")
    alice.lace("commit", "-m", "Fix bug #2")
    assert alice.lace("release", "2.3.0")["version"] == "2.3.0"
    assert alice.lace("status")["ahead"] >= 1
    queued = alice.lace("push", "stick")
    assert queued["queued"] is True  # LAZ-24: the command succeeds, the entry waits
    away.rename(stick)

    with_bob = alice.lace("sync", "bob")
    assert with_bob["conflicts"] == []
    assert [r["version"] for r in with_bob["releases"]] == ["2.2.1"]
    assert with_bob["sent"] > 0

    # Cara meets only alice's state: bob's 2.2.1 reaches her through alice.
    bobs = {"name": "2.2.1"}
    cara.lace("sync", "stick")
    got = {(e["name"]) for e in cara.lace("log", "-n", "100")["entries"] if e["app"] == "lace/release"}
    assert {"main/2.2.1", "main/2.3.0"} <= got
    assert bobs
    answer = alice.text("sync", "stick")
    assert "no conflicts" in answer
    assert "none of our concern" in answer  # cara's unsynced commits (H-30)
    status = {p["name"]: p for p in alice.lace("status")["peers"]}
    assert status["cara"]["state"] == "synced"


def test_bobs_release_reaches_cara_through_alice_alone(
    circle: tuple[Person, Person, Person, Path], tmp_path: Path
) -> None:
    """A second stick that bob never touched carries his release (LAZ-31, H-31)."""
    alice, bob, cara, _ = circle
    bob.write("bob.md", "from bob\n")
    bob.lace("release", "2.2.1")
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    other = tmp_path / "other-stick"
    alice.lace("place", "add", "other", str(other))
    alice.lace("sync", "other")
    cara.lace("place", "remove", "stick")
    cara.lace("place", "add", "other", str(other))
    came = cara.lace("sync", "other")
    assert [(r["name"], r["version"]) for r in came["releases"]] == [("bob", "2.2.1")]
    cara.lace("update")
    assert (cara.folder / "bob.md").read_text() == "from bob\n"


def test_the_queue_example(circle: tuple[Person, Person, Person, Path]) -> None:
    """LAZ-82: releases made offline are listed, then sent by one sync (LAZ-46, LAZ-47, LAZ-48)."""
    alice, bob, _, _ = circle
    for version in ("2.3.0", "2.4.0"):
        alice.write("notes.md", f"{version}\n")
        alice.lace("release", version)
    waiting = [e for e in alice.lace("queue")["entries"] if e["peer"] == "bob"]
    assert [e["what"] for e in waiting] == ["release main 2.3.0", "release main 2.4.0"]
    assert "not pushed" in alice.text("queue")
    alice.lace("sync", "stick")
    states = {e["state"] for e in alice.lace("queue")["entries"] if e["peer"] == "bob"}
    assert states == {"on-medium"}  # nothing leaves without the peer's own evidence
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    assert [e for e in alice.lace("queue")["entries"] if e["peer"] == "bob"] == []


def test_the_conflict_example(circle: tuple[Person, Person, Person, Path]) -> None:
    """LAZ-83: both release one version; the report names both hashes and the ancestor (LAZ-33..38)."""
    alice, bob, cara, _ = circle
    alice.write("notes.md", "alice's\n")
    bob.write("notes.md", "bob's\n")
    mine = alice.lace("release", "2.3.0")["content_sha512"]
    theirs = bob.lace("release", "2.3.0")["content_sha512"]
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    alice.lace("sync", "stick", expect=1)
    cara.lace("sync", "stick", expect=1)
    for person in (alice, bob, cara):
        (conflict,) = person.lace("conflicts")["conflicts"]
        assert {side["content_sha512"] for side in conflict["sides"]} == {mine, theirs}
        assert conflict["ancestor"] == "2.2.0"
        assert conflict["status"] == "pending"
        assert conflict["detected"].endswith("Z")
        assert conflict["paths"] == ["notes.md"]
        (file,) = (person.folder / ".vault" / "lazy" / "conflicts").glob("*.sexp")  # LAZ-77, LAZ-79
        said = [
            loads(
                f'(conflict (version "2.3.0") (local-hash "{local}") (remote-hash "{remote}")'
                f' (common-ancestor "2.2.0") (detected "{conflict["detected"]}") (status pending))',
                1_000,
            )
            for local, remote in ((mine, theirs), (theirs, mine))
        ]
        written = loads(file.read_text(), 10_000)
        assert written in said if person is cara else written == said[person is bob]
    assert (alice.folder / "notes.md").read_text() == "alice's\n"  # LAZ-4, LAZ-72: nothing was applied
    # While it is open a bare @VERSION is ambiguous.
    assert "alice" in alice.run("cat", "main@2.3.0", "notes.md").err

    done = alice.lace("resolve", "2.3.0", "--prefer", "local", "-m", "mine is newer work")
    assert done["status"] == "resolved-local"
    assert alice.run("resolve", "2.3.0", "--prefer", "local").code == 2  # LAZ-43
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)  # proposed, not applied
    assert (bob.folder / "notes.md").read_text() == "bob's\n"
    assert bob.lace("resolve", "2.3.0", "--accept")["status"] == "resolved-remote"
    assert (bob.folder / "notes.md").read_text() == "alice's\n"
    cara.lace("sync", "stick", expect=1)
    cara.lace("resolve", "2.3.0", "--accept")
    for person in (alice, bob, cara):
        assert person.lace("conflicts")["conflicts"] == []
        assert not list((person.folder / ".vault" / "lazy" / "conflicts").iterdir())
        assert person.run("cat", "alice/main@2.3.0", "notes.md").out == b"alice's\n"  # LAZ-37
        assert person.run("cat", "bob/main@2.3.0", "notes.md").out == b"bob's\n"
