"""A release says which files it takes out of friends' folders, whoever released them first (LAZ-45)."""

from __future__ import annotations

from tests.people import Person


def _merge(alice: Person, bob: Person, *names: str) -> None:
    """Let bob release new files, and alice merge them with a release of her own."""
    alice.write("alice.md", "hers\n")
    alice.lace("release", "1.1.0")
    for name in names:
        bob.write(name, f"bob's {name}\n")
    bob.lace("release", "1.2.0")
    for person in (alice, bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")


def test_it_tells_of_files_that_a_merged_release_had_added(pair: tuple[Person, Person]) -> None:
    """LAZ-45: neither her last release nor this one has them, so nothing told that they go from every folder."""
    alice, bob = pair
    _merge(alice, bob, "new/1.md", "new/2.md", "new/3.md", "kept.md")
    for number in (1, 2):
        (alice.folder / f"new/{number}.md").unlink()
    (alice.folder / "new/3.md").rename(alice.folder / "moved.md")
    alice.lace("commit", "-m", "cleanup")
    gone = ["new/1.md", "new/2.md", "new/3.md"]
    brought = {"added": ["moved.md", "new"], "changed": [], "deleted": gone}
    assert alice.lace("release", "--dry-run")["since_release"] == brought
    assert "2 added, 3 deleted, with " in alice.text("release", "--dry-run")
    assert alice.lace("release", "1.3.0")["since_release"] == brought
    alice.write("list.md", "bread\n")
    assert alice.lace("release", "1.4.0")["since_release"]["deleted"] == [], "that was told"


def test_it_warns_where_most_of_what_friends_have_goes(pair: tuple[Person, Person]) -> None:
    """LAZ-45: counted with what the merged release added; what was moved is not gone."""
    alice, bob = pair
    names = [f"new/{number}.md" for number in range(9)]
    _merge(alice, bob, *names)
    had = alice.lace("release", "--dry-run")["files"]
    for name in names:
        (alice.folder / name).unlink()
    alice.lace("commit", "-m", "cleanup")
    warning = f"! It deletes 9 of the {had} files released before, in every friend's folder."
    assert warning in alice.text("release", "--dry-run").splitlines()
    assert warning in alice.text("release", "1.3.0").splitlines()


def test_what_a_friend_took_away_again_is_not_told_of_mine(pair: tuple[Person, Person]) -> None:
    """LAZ-45: her release does not delete what his next one did."""
    alice, bob = pair
    _merge(alice, bob, "new.md", "kept.md")
    (bob.folder / "new.md").unlink()
    bob.lace("release", "1.2.1")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")
    (alice.folder / "kept.md").unlink()
    alice.write("list.md", "bread\n")
    brought = {"added": [], "changed": ["list.md"], "deleted": ["kept.md"]}
    assert alice.lace("release", "--dry-run")["since_release"] == brought


def test_a_first_release_tells_what_it_takes_from_a_merged_one(pair: tuple[Person, Person], cara: Person) -> None:
    """LAZ-45: it had none of mine to compare with, and said '3 earlier commits' of what goes from every folder."""
    alice, _ = pair
    cara.write("own.md", "hers\n")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, cara):
        person.run("sync", "stick")
    cara.lace("update")
    told = cara.lace("release", "--dry-run")["since_release"]
    assert told == {"added": ["own.md"], "changed": [], "deleted": []}
    (cara.folder / "list.md").unlink()
    cara.write("notes.md", "other\n")
    cara.lace("commit", "-m", "other")
    brought = {"added": ["own.md"], "changed": ["notes.md"], "deleted": ["list.md"]}
    assert cara.lace("release", "--dry-run")["since_release"] == brought
    assert cara.text("release", "--dry-run").startswith(
        "Would release main 1.0.1: 1 added, 1 changed, 1 deleted, with 3 earlier commits;"
    )
    (cara.folder / "notes.md").unlink()
    warning = "! It deletes 2 of the 2 files released before, in every friend's folder."
    assert warning in cara.text("release", "1.1.0").splitlines()


def test_what_was_kept_over_a_friend_s_change_is_told(pair: tuple[Person, Person]) -> None:
    """LAZ-45: it is as in my last release, and other than in every friend's folder."""
    alice, bob = pair
    (bob.folder / "list.md").unlink()
    bob.write("notes.md", "bob's\n")
    bob.lace("release", "1.1.0")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.write("new.md", "hers\n")
    alice.lace("update")
    alice.lace("checkout", "main@1", "notes.md")
    alice.lace("checkout", "main@1", "list.md")
    brought = {"added": ["list.md", "new.md"], "changed": ["notes.md"], "deleted": []}
    assert alice.lace("release", "--dry-run")["since_release"] == brought
    alice.lace("commit", "-m", "mine")
    assert alice.lace("release", "1.2.0")["since_release"] == brought


def test_what_a_merged_release_brought_and_was_edited_since_is_changed(pair: tuple[Person, Person]) -> None:
    """LAZ-45: every friend's folder has it, though my last release had not; it was said to be added."""
    alice, bob = pair
    (bob.folder / "list.md").rename(bob.folder / "lists.md")
    (bob.folder / "notes.md").unlink()
    _merge(alice, bob, "new.md")
    alice.write("lists.md", "edited\n")
    alice.write("new.md", "edited too\n")
    alice.write("notes.md", "written anew\n")
    brought = {"added": ["notes.md"], "changed": ["lists.md", "new.md"], "deleted": []}
    assert alice.lace("release", "--dry-run")["since_release"] == brought
    alice.lace("commit", "-m", "mine")
    assert alice.lace("release", "1.3.0")["since_release"] == brought
