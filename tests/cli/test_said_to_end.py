"""What is said to end a conflict ends it, or is not said (LAZ-43)."""

from __future__ import annotations

from tests.people import Person


def test_a_release_that_clashes_with_mine_is_not_said_to_end_a_version(pair: tuple[Person, Person]) -> None:
    """LAZ-43: `lace update` was named beside the clash that it had just told, and told the same again."""
    alice, bob = pair
    for person in pair:
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    alice.lace("resolve", "2.0.0", "--merged", "2.1.0", "--path", "notes.md", "--take", "alice")
    alice.write("list.md", "milk, says alice\n")
    alice.lace("release", "2.2.0")
    alice.run("sync", "stick")
    bob.write("list.md", "milk, says bob\n")
    bob.lace("commit", "-m", "bob's list")
    bob.run("sync", "stick")
    (row,) = bob.lace("conflicts")["conflicts"]
    assert row["ended_by"]["version"] == "2.2.0", "nobody tried it yet"
    assert [clash["path"] for clash in bob.lace("update", expect=1)["conflicts"]] == ["list.md"]
    rows = bob.lace("conflicts")["conflicts"]
    assert [(row["kind"], row["ended_by"]) for row in rows] == [("version", None), ("head", None)]
    bob.lace("resolve", rows[1]["id"], "--prefer", "remote")
    assert bob.lace("conflicts")["conflicts"] == []
