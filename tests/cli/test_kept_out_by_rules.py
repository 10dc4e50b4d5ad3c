"""What my rules of who may write keep out is said so, with the command that lets it in (CLAY-80, LAZ-54)."""

from __future__ import annotations

import shlex
from typing import Any

from tests.people import Person


def _main(person: Person) -> Any:
    return person.lace("status")["desks"][0]


def _is_kept_out(alice: Person, bob: Person) -> None:
    """Let bob release what alice's rules keep out, and share it."""
    alice.lace("desk", "permit", "list.md", "--write", "--not", "bob")
    bob.write("list.md", "bread\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")


def test_a_release_that_my_rules_keep_out_is_nothing_to_update_to(pair: tuple[Person, Person]) -> None:
    """CLAY-80, LAZ-54: status said for ever that the desk was behind, and an update took nothing in."""
    alice, bob = pair
    _is_kept_out(alice, bob)
    alice.lace("sync", "stick")
    desk = _main(alice)
    assert desk["relation"] == "same"
    (out,) = desk["kept_out"]
    assert (out["name"], out["version"], out["paths"]) == ("bob", "1.1.0", ["list.md"])
    assert out["let_in"] == ["lace desk permit list.md --write --anyone"]
    told = alice.text("status")
    assert "main: nothing released" not in told
    assert "with all that your rules let in of what friends released" in told
    assert "! your rules of who may write keep out bob 1.1.0, for it changes list.md" in told
    assert "to let it in: lace desk permit list.md --write --anyone; lace update" in told
    update = alice.lace("update", expect=1)
    assert update["refused"][0]["let_in"] == out["let_in"]
    ways = "  To let it in: lace desk permit list.md --write --anyone; lace update"
    assert ways in alice.text("update", expect=1).splitlines(), "as status says it"
    alice.lace(*shlex.split(out["let_in"][0])[1:])
    assert (_main(alice)["relation"], _main(alice)["kept_out"]) == ("behind", [])
    assert alice.lace("update")["written"] == ["list.md"]


def test_the_command_says_of_everybody_else_what_the_rule_says(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-80: who lets one in does not let in another, and of several rules each is named."""
    alice, bob, _ = trio
    alice.lace("desk", "permit", "list.md", "--write", "--not", "bob", "cara")
    alice.lace("desk", "permit", "notes", "--write", "--only", "cara")
    bob.write("list.md", "bread\n")
    bob.write("notes/own.md", "bob's\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    (out,) = _main(alice)["kept_out"]
    assert out["let_in"] == [
        "lace desk permit list.md --write --not cara",
        "lace desk permit notes --write --only bob cara",
    ]
    for command in out["let_in"]:
        alice.lace(*shlex.split(command)[1:])
    assert alice.lace("update")["refused"] == []


def test_what_may_come_in_still_comes(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-80, LAZ-54: one friend's release is kept out, and the desk is behind another's all the same."""
    alice, bob, cara = trio
    alice.lace("desk", "permit", "list.md", "--write", "--not", "bob")
    bob.write("list.md", "bread\n")
    bob.lace("release", "1.1.0")
    cara.write("notes.md", "cara's\n")
    cara.lace("release", "1.2.0")
    for person in (bob, cara, alice):
        person.lace("sync", "stick")
    desk = _main(alice)
    assert desk["relation"] == "behind"
    assert [out["name"] for out in desk["kept_out"]] == ["bob"]


def test_the_command_is_spelled_for_where_it_is_typed(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3: in a sub-folder it made a rule about another file, and the release stayed out."""
    alice, bob = pair
    _is_kept_out(alice, bob)
    alice.lace("sync", "stick")
    deep = alice.folder / "deep"
    deep.mkdir()
    assert "lace desk permit list.md --write --anyone; lace update" in alice.text("status")
    way = "lace desk permit ../list.md --write --anyone"
    assert f"to let it in: {way}; lace update" in alice.run("status", cwd=deep).text
    assert f"To let it in: {way}; lace update" in alice.run("update", cwd=deep).text
    alice.run(*shlex.split(way)[1:], cwd=deep)
    assert alice.run("update", cwd=deep).code == 0
    assert (alice.folder / "list.md").read_text() == "bread\n"


def test_of_releases_that_stand_on_each_other_the_last_one_is_told(pair: tuple[Person, Person]) -> None:
    """CLAY-80, LAZ-54: with each release another one was told, each with the same command, for as long as it stood."""
    alice, bob = pair
    alice.lace("desk", "permit", "list.md", "--write", "--not", "bob")
    for minor in (1, 2, 3):
        bob.write("list.md", f"bread {minor}\n")
        bob.lace("release", f"1.{minor}.0")
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    assert [out["version"] for out in _main(alice)["kept_out"]] == ["1.3.0"]
    refused = alice.lace("update", expect=1)["refused"]
    assert len(refused) == 1
    alice.lace(*shlex.split(refused[0]["let_in"][0])[1:])
    alice.lace("update")
    assert _main(alice)["kept_out"] == []


def test_what_one_more_rule_keeps_out_above_is_told_beside(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-80: who would let cara in and not bob, who took in what she made, is told of both."""
    alice, bob, cara = trio
    alice.lace("desk", "permit", "list.md", "--write", "--only", "alice")
    cara.write("list.md", "cara's\n")
    cara.lace("release", "1.1.0")
    for person in (cara, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    bob.write("notes.md", "bob's\n")
    bob.lace("release", "1.2.0")
    for person in (bob, alice):
        person.lace("sync", "stick")
    assert [(out["name"], out["version"]) for out in _main(alice)["kept_out"]] == [("bob", "1.2.0"), ("cara", "1.1.0")]


def test_the_sync_that_brings_it_says_where_it_is_told(pair: tuple[Person, Person]) -> None:
    """CLAY-80, LAZ-27: it told of a release and of no next step, as of one that the folder has."""
    alice, bob = pair
    _is_kept_out(alice, bob)
    assert alice.lace("sync", "stick")["next"] == "lace status"
    assert alice.lace("sync", "stick")["next"] == "", "it is no news any more"
    bob.write("new.md", "bob's\n")
    bob.lace("release", "1.2.0")
    bob.lace("sync", "stick")
    assert "Next: lace status" in alice.text("sync", "stick")
