"""How many files a release that came is said to change (CLAY-28)."""

from __future__ import annotations

from tests.people import Person


def test_what_was_released_under_another_version_before_changes_nothing(pair: tuple[Person, Person]) -> None:
    """CLAY-28: its commit was counted once more, and the update said that nothing was new."""
    alice, bob = pair
    alice.write("new.md", "new\n")
    alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    assert "alice released 1.1.0: 1 file\n" in bob.text("sync", "stick")
    bob.lace("update")
    alice.lace("release", "1.2.0", "--yes")
    alice.lace("sync", "stick")
    assert "alice released 1.2.0: no file changed\n" in bob.text("sync", "stick")
    assert "Nothing new" in bob.text("update")


def test_what_counts_no_more_is_nothing_to_compare_with(pair: tuple[Person, Person], cara: Person) -> None:
    """CLAY-28, LAZ-53: whoever had a release after the cut was told of fewer files than the update brought."""
    alice, bob = pair
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, cara):
        person.run("sync", "stick")
    cara.lace("update")
    bob.write("list.md", "bob's\n")
    bob.lace("release", "1.1.0")
    for person in (bob, cara):  # it is here, and counts until she hears of the cut
        person.lace("sync", "stick")
    alice.lace("revoke", "bob", "--yes", "-m", "lost")
    for person in (alice, cara, bob):
        person.run("sync", "stick")
    bob.write("notes.md", "bob's\n")
    bob.lace("release", "1.2.0")
    bob.lace("adopt", "--yes", "--name", "bob2")
    for person in (bob, alice):
        person.run("sync", "stick")
    alice.lace("admit", "bob2")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("release", "1.3.0", "--yes")
    bob.run("sync", "stick")
    for person in (alice, cara):
        assert "bob2 released 1.3.0: 2 files\n" in person.run("sync", "stick").out.decode()
    assert len(cara.lace("update")["written"]) == 2
