"""Two friends decide one version differently, both as the same new one: a decision on that ends both (LAZ-42)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lazy.conflicts
from lazy.conflicts import conflict_of, conflicts
from lazy.contested import Status
from tests.circle.world import open_vault
from tests.cli.conftest import make_trio
from tests.people import Person
from tests.shelf import Shelf
from vault.revisions.history import releases


@pytest.fixture
def twice(shelf: Shelf) -> tuple[Person, Person, Person]:
    """Alice and bob, who each merged 2.0.0 as 2.1.0 in their own way, and cara, who has both merges."""
    return shelf.lay(_decided_twice)


def _decided_twice(root: Path) -> tuple[Person, Person, Person]:
    alice, bob, cara = make_trio(root)
    for person in (alice, bob):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    for person in (alice, bob):
        person.write("notes.md", f"both, says {person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("resolve", "2.0.0", "--merged", "2.1.0", "--yes")
    for person in (alice, bob, alice, cara):
        person.run("sync", "stick")
    return alice, bob, cara


@pytest.fixture
def again(twice: tuple[Person, Person, Person]) -> tuple[Person, Person, Person]:
    """Alice and bob, who then each merged 2.1.0 as 2.2.0 in their own way, and cara, who has none of it yet."""
    alice, bob, cara = twice
    for person in (alice, bob):
        person.write("notes.md", f"once more, says {person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("resolve", "2.1.0", "--merged", "2.2.0", "--yes")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob, cara


def _open(person: Person) -> list[str]:
    return [row["version"] for row in person.lace("conflicts")["conflicts"]]


@pytest.mark.parametrize("how", [("--prefer", "bob"), ("--merged", "2.2.0", "--path", "notes.md", "--take", "bob")])
def test_nobody_is_asked_again_once_the_two_decisions_were_decided(
    twice: tuple[Person, Person, Person], how: tuple[str, ...]
) -> None:
    """LAZ-42, LAZ-43: 2.0.0 stayed open for all of them, and to prefer a side there took back what came since."""
    alice, bob, cara = twice
    assert _open(alice) == ["2.0.0", "2.1.0"]
    alice.lace("resolve", "2.1.0", *how)
    assert _open(alice) == []
    assert alice.lace("resolve", "2.0.0", "--prefer", "alice", expect=2)["error"]["code"] == "no-such-conflict"
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    for person in (bob, cara):
        if _open(person):
            person.run("resolve", "2.1.0", "--accept")
        assert _open(person) == []
        assert (person.folder / "notes.md").read_text() == "both, says bob\ntwo\nthree\nfour\nfive\n"
        assert person.lace("update")["relation"] in {"same", "ahead"}
    assert cara.run("cat", "main@2.0.0", "notes.md").out == b"both, says bob\ntwo\nthree\nfour\nfive\n"


def test_who_changed_their_mind_since_is_asked(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-42: a decision on the first version that nobody saw when the second was decided is for a person."""
    alice, bob, _ = twice
    bob.lace("resolve", "2.0.0", "--prefer", "alice")
    alice.lace("resolve", "2.1.0", "--prefer", "bob")
    for person in (bob, alice):
        person.run("sync", "stick")
    assert "2.0.0" in _open(alice)


def test_an_update_that_ends_the_second_ends_the_first(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-43: it said how to decide the first one, which the update that it named ended."""
    alice, _, cara = twice
    alice.lace("resolve", "2.1.0", "--merged", "2.2.0", "--path", "notes.md", "--take", "bob")
    for person in (alice, cara):
        person.run("sync", "stick")
    rows = cara.lace("conflicts")["conflicts"]
    assert [(row["version"], row["ended_by"]["version"]) for row in rows] == [("2.0.0", "2.2.0"), ("2.1.0", "2.2.0")]
    cara.lace("update")
    assert _open(cara) == []


def test_the_last_of_several_ends_all_below_it(
    again: tuple[Person, Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-42, LAZ-39: of versions that stand on each other each one was judged anew with all of those above it."""
    alice, _, _ = again
    assert _open(alice) == ["2.0.0", "2.1.0", "2.2.0"]
    alice.lace("resolve", "2.2.0", "--prefer", "bob")
    assert _open(alice) == []
    judged: list[str] = []
    read: list[str] = []

    def noted(whole: Any, of: list[str], name: Callable[..., object]) -> Any:
        def counted(*some: Any, **more: Any) -> Any:
            of.append(str(name(*some, **more)))
            return whole(*some, **more)

        return counted

    monkeypatch.setattr(lazy.conflicts, "releases", noted(releases, read, lambda *_, version: version))
    each = noted(lazy.conflicts._version_conflict, judged, lambda _vault, _desk, version, *_: version)
    monkeypatch.setattr(lazy.conflicts, "_version_conflict", each)
    with open_vault(alice) as vault:
        found = conflicts(vault, include_settled=True)
        assert sorted(judged) == sorted(read) == ["2.0.0", "2.1.0", "2.2.0"]
        assert {one.results for one in found} == {found[-1].results}
        assert [conflict_of(vault, one.id).status for one in found[:2]] == [Status.MERGED] * 2


def test_an_update_that_ends_the_last_ends_all_below_it(again: tuple[Person, Person, Person]) -> None:
    """LAZ-43: of the lowest it said how to decide it, which the update that it named for the others ended."""
    alice, _, cara = again
    alice.lace("resolve", "2.2.0", "--merged", "2.3.0", "--path", "notes.md", "--take", "bob")
    for person in (alice, cara):
        person.run("sync", "stick")
    rows = cara.lace("conflicts")["conflicts"]
    ended = [(row["version"], (row["ended_by"] or {}).get("version")) for row in rows]
    assert ended == [("2.0.0", "2.3.0"), ("2.1.0", "2.3.0"), ("2.2.0", "2.3.0")]
    cara.lace("update")
    assert _open(cara) == []


def test_the_first_says_that_it_ends_with_the_second(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-33, LAZ-42: both are open, and each told how to decide it, though there is one thing to decide."""
    alice, _, cara = twice
    for person in (alice, cara):
        first, second = person.lace("conflicts")["conflicts"]
        assert first["ends_with"] == {"id": second["id"], "version": "2.1.0"}
        assert second["ends_with"] is None
        told = person.text("conflicts")
        assert told.startswith(f"- open, with 2.1.0  {first['id']}  ")
        assert "    ends with 2.1.0, whose sides are the decisions on it" in told
        assert f"lace resolve {first['id']}" not in told
        assert f"Decide: lace resolve {second['id']}" in told
        assert person.lace("status")["conflicts"] == 2
    told = cara.text("sync", "stick", expect=1)
    assert f"lace resolve {first['id']}" not in told


def test_each_of_several_says_that_it_ends_with_the_last(again: tuple[Person, Person, Person]) -> None:
    """LAZ-42: of versions that stand on each other the last one is to be decided."""
    alice, _, _ = again
    rows = alice.lace("conflicts")["conflicts"]
    assert [row["ends_with"] and row["ends_with"]["version"] for row in rows] == ["2.2.0", "2.2.0", None]


def test_a_decision_that_nobody_saw_is_asked_for_itself(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-42: who changed their mind on the first made it one that does not end with the second."""
    alice, bob, _ = twice
    bob.lace("resolve", "2.0.0", "--prefer", "alice")
    for person in (bob, alice):
        person.run("sync", "stick")
    assert [row["ends_with"] for row in alice.lace("conflicts")["conflicts"]] == [None, None]


def test_all_at_once_decides_what_the_others_end_with(again: tuple[Person, Person, Person]) -> None:
    """LAZ-42: it decided the lowest anew, which then ended with nothing: three were open after all had been decided."""
    alice, bob, cara = again
    last = alice.lace("conflicts")["conflicts"][-1]["id"]
    planned = alice.lace("resolve", "--all", "--prefer", "bob", "--dry-run")["resolved"]
    assert [row["conflict"] for row in planned] == [last]
    assert [row["conflict"] for row in alice.lace("resolve", "--all", "--prefer", "bob")["resolved"]] == [last]
    assert _open(alice) == []
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    for person in (alice, bob, cara):
        if _open(person):
            person.lace("resolve", "2.2.0", "--accept")
        assert _open(person) == []
        assert (person.folder / "notes.md").read_text().startswith("once more, says bob\n")


def test_an_update_to_the_first_alone_says_that_it_ends_with_the_second(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-42, H-18: it named a command that decides the first anew, where `conflicts` said to decide the second."""
    alice, _, cara = twice
    for person in (alice, cara):
        first, second = person.lace("conflicts")["conflicts"]
        asked = person.lace("update", "--from", "bob@2.0.0", expect=1)
        assert asked["waiting"] == [first["id"]]
        assert asked["asked"] == [first]
        assert asked["next"] == "lace conflicts"
        told = person.text("update", "--from", "bob@2.0.0", expect=1)
        assert f"lace resolve {first['id']}" not in told
        assert f"  {first['id']}: ends with 2.1.0" in told
        assert f"Next: lace resolve {second['id']} --prefer" in told


def test_a_sync_says_how_to_decide_the_one_that_the_others_end_with(twice: tuple[Person, Person, Person]) -> None:
    """LAZ-27, LAZ-42: of one conflict it says how to decide it; beside those that end with it it said nothing."""
    _, _, cara = twice
    _, second = cara.lace("conflicts")["conflicts"]
    told = cara.text("sync", "stick", expect=1)
    assert f"  Decide: lace resolve {second['id']} --prefer" in told
