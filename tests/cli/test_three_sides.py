"""A conflict of three: every path and every side is named, also beyond the first two that clash (LAZ-39, LAZ-42)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.people import Person

_LINES = [f"{number}\n" for number in range(1, 13)]


def _song(*changed: tuple[int, str]) -> str:
    lines = list(_LINES)
    for number, text in changed:
        lines[number - 1] = f"{text}\n"
    return "".join(lines)


@pytest.fixture
def three(alice: Person, bob: Person, cara: Person, tmp_path: Path) -> tuple[Person, Person, Person]:
    """Alice, with two friends' releases that clash with hers in one song, and each in another one of its own."""
    alice.lace("init", "--name", "alice", "--group", "friends")
    for name in ("all.md", "bobs.md", "caras.md"):
        alice.write(name, _song())
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    for friend in (bob, cara):
        friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
        for person in (friend, alice, friend):
            person.run("sync", "stick")
        friend.lace("update")
    people = (alice, bob, cara)
    for version, person in zip(("2.0.0", "2.1.0", "2.2.0"), people, strict=True):
        own = {"alice": ("bobs.md", "caras.md"), "bob": ("bobs.md",), "cara": ("caras.md",)}[person.name]
        for name in ("all.md", *own):
            person.write(name, _song((3, person.name), *([(9, "only cara")] if person is cara else [])))
        person.lace("release", version)
    for person in (*people, *people):
        person.run("sync", "stick")
    assert alice.run("update").code == 1
    return people


_CLASHING = ["all.md", "bobs.md", "caras.md"]


def test_changes_and_regions_name_every_path_and_side(three: tuple[Person, ...]) -> None:
    """LAZ-39: both stopped at the first two heads that clash, so what the third had was decided unseen."""
    alice, *_ = three
    assert alice.lace("changes")["conflicted"] == _CLASHING
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    found: dict[tuple[str, str], Any] = {(one["path"], one["with"]): one["regions"] for one in conflict["regions"]}
    assert set(found) == {("all.md", "bob"), ("all.md", "cara"), ("bobs.md", "bob"), ("caras.md", "cara")}
    assert [(one["number"], one["theirs"]) for one in found["caras.md", "cara"]] == [(1, "cara\n")]
    told = alice.text("conflicts", "--regions")
    assert "    caras.md region 1 (> cara)\n" in told
    assert "    all.md region 1 (> bob)\n" in told


def test_a_draft_holds_what_every_side_made(three: tuple[Person, ...], tmp_path: Path) -> None:
    """LAZ-39: a draft of two sides, edited and released, would have taken back what the third did."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts", "--drafts", str(tmp_path / "merge"))["conflicts"]
    assert sorted(conflict["drafts"]) == _CLASHING
    text = (tmp_path / "merge" / "all.md").read_text()
    for line in ("alice", "bob", "cara", "only cara"):
        assert f"\n{line}\n" in text
    assert text.count("\nonly cara\n") == 1
    refused = alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--files", str(tmp_path / "merge"), expect=2)
    assert refused["error"]["code"] == "markers-left"


def test_what_would_be_taken_unedited_is_named_for_every_side(three: tuple[Person, ...]) -> None:
    """LAZ-42: a file that clashes with the third side alone was taken as it is here without a word."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts")["conflicts"]
    planned = alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--dry-run")
    assert [one["path"] for one in planned["unedited"]] == _CLASHING
    assert alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--yes")["status"] == "merged"
    assert all("alice\n" in (alice.folder / name).read_text() for name in _CLASHING)


def test_what_was_edited_is_the_decision_whichever_side_it_clashes_with(three: tuple[Person, ...]) -> None:
    """LAZ-42: of a file that clashed behind the first two sides a friend's lines came, and not those edited."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts")["conflicts"]
    for name in _CLASHING:
        alice.write(name, _song((12, "neither")))
    assert alice.lace("resolve", conflict["id"], "--merged", "3.0.0")["unedited"] == []
    for name in _CLASHING:
        assert (alice.folder / name).read_text() == _song((12, "neither"))
