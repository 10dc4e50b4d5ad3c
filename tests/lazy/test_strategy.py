"""Strategies: manual, on-release, on-commit, periodic (LAZ-5, LAZ-12, LAZ-58, LAZ-59, LAZ-60, LAZ-61)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person


@pytest.fixture
def sharing(alice: Person, tmp_path: Path) -> tuple[Person, Path]:
    """Alice with a stick."""
    stick = tmp_path / "stick"
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    alice.write("a.txt", "one\n")
    return alice, stick


def _heads(stick: Path) -> int:
    return len(list(stick.rglob("head.rec")))


def test_manual_touches_no_place(sharing: tuple[Person, Path]) -> None:
    """LAZ-5, LAZ-58: nothing is synced unless asked."""
    alice, stick = sharing
    alice.lace("commit", "-m", "one")
    alice.lace("release", "1.0.0")
    assert _heads(stick) == 0


def test_on_release_pushes_after_a_release_only(sharing: tuple[Person, Path]) -> None:
    """LAZ-61, LAZ-62: the setting survives, a commit pushes nothing, a release does."""
    alice, stick = sharing
    alice.lace("config", "set", "sync-strategy", "on-release")
    assert alice.lace("commit", "-m", "one")["pushed"] == []
    assert _heads(stick) == 0
    made = alice.lace("release", "1.0.0")
    assert (made["pushed"], made["next"]) == (["stick"], None), "it lies there, so no sync is asked for"
    assert _heads(stick) == 1


def test_what_a_friend_released_is_pushed_by_nobody_else(sharing: tuple[Person, Path], bob: Person) -> None:
    """DEL-4: what came by a sync goes on at the next one that is asked for; only what I release is pushed by itself."""
    alice, stick = sharing
    alice.lace("config", "set", "sync-strategy", "on-release")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    other = stick.with_name("other")
    alice.lace("place", "add", "other", str(other))
    bob.write("b.txt", "bob's\n")
    bob.lace("release", "1.0.0")
    bob.lace("sync", "stick")
    assert len(alice.lace("sync", "stick")["releases"]) == 1
    alice.lace("update")
    assert _heads(other) == 0
    alice.write("a.txt", "two\n")
    assert alice.lace("release", "1.1.0")["pushed"] == ["other", "stick"]
    assert _heads(other) == 1


def test_on_commit_pushes_the_commit_and_shares_it(sharing: tuple[Person, Path], bob: Person) -> None:
    """LAZ-60, H-29: each commit is shared and pushed; a friend can read the revision that nobody released."""
    alice, _ = sharing
    alice.lace("config", "set", "sync-strategy", "on-commit")
    line = alice.lace("invite", "bob")["invite"]
    assert alice.lace("commit", "-m", "one")["pushed"] == ["stick"]
    bob.lace("accept", line)
    bob.lace("sync", "stick")
    assert bob.run("cat", "alice/main@1", "a.txt").out == b"one\n"


def test_a_push_that_fails_never_fails_the_act(sharing: tuple[Person, Path]) -> None:
    """LAZ-24, LAZ-60: the stick is away; commit and release succeed and say that it is queued."""
    alice, stick = sharing
    alice.lace("config", "set", "sync-strategy", "on-commit")
    stick.rename(stick.with_name("pocket"))
    result = alice.run("release", "1.0.0")
    assert result.code == 0
    assert "stick: queued" in result.err
    assert alice.lace("status")["desks"][0]["version"] == "1.0.0"


def test_due_visits_what_the_interval_says(sharing: tuple[Person, Path]) -> None:
    """LAZ-59, H-32: `lace due` syncs a place once per interval and is silent otherwise."""
    alice, _ = sharing
    now = 1_795_000_000_000_000_000
    alice.world["now_ns"] = lambda: now
    assert alice.lace("due")["places"] == []  # manual is the default
    assert "sync-strategy is manual" in alice.text("due")
    alice.lace("config", "set", "sync-strategy", "periodic")
    alice.lace("config", "set", "sync-interval", "60")
    assert [place["name"] for place in alice.lace("due")["places"]] == ["stick"]
    for seconds, is_due in ((0, False), (59, False), (60, True), (61, False), (119, False), (121, True), (100, True)):
        alice.world["now_ns"] = lambda seconds=seconds: now + seconds * 10**9  # at the end the clock went back
        assert [place["name"] for place in alice.lace("due")["places"]] == ["stick"] * is_due, seconds
