"""Folders that one friend renamed or moved while another worked in them: nothing that both have is lost (LAZ-39)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.people import Person
from tests.vault.desks.support import on_disk


def _both_have(alice: Person, bob: Person, *names: str) -> None:
    """Let both have some more files by a release of hers."""
    for name in names:
        alice.write(name, f"{name}\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")


def _meet(alice: Person, bob: Person, version: str = "1.2.0") -> None:
    alice.lace("release", version, "--yes")
    for person in (alice, bob):
        person.run("sync", "stick")


def _files(person: Person) -> list[str]:
    return sorted(name for name in on_disk(person.folder) if not name.startswith(".vault") and not name.endswith(".md"))


def test_a_folder_spelt_otherwise_is_no_conflict(pair: tuple[Person, Person]) -> None:
    """CLAY-74, APP-12: a new file in it made one, and whoever kept the own side deleted all others for everybody."""
    alice, bob = pair
    _both_have(alice, bob, "trips/a", "trips/b", "trips/Rome/c")
    (alice.folder / "trips").rename(alice.folder / "Trips")
    bob.write("trips/new", "new\n")
    bob.write("trips/b", "edited\n")
    _meet(alice, bob)
    bob.lace("update")
    assert _files(bob) == ["Trips/Rome/c", "Trips/a", "Trips/b", "Trips/new"]
    assert (bob.folder / "Trips/b").read_text() == "edited\n"
    bob.lace("release", "1.3.0")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")
    assert on_disk(alice.folder).items() >= {(name, on_disk(bob.folder)[name]) for name in _files(bob)}


def test_what_was_moved_into_a_folder_that_was_passed_over_stays(pair: tuple[Person, Person]) -> None:
    """LAZ-39: it was deleted for everybody, since only the other half of the rename clashed."""
    alice, bob = pair
    _both_have(alice, bob, "plan")
    (alice.folder / "trips").mkdir()
    (alice.folder / "plan").rename(alice.folder / "trips/plan")
    bob.write("trips", "bob's\n")
    _meet(alice, bob)
    met = bob.lace("update", expect=1)
    (clash,) = met["conflicts"]
    assert (clash["path"], clash["kind"]) == ("trips", "directory/file")
    decided = bob.lace("resolve", met["conflict"], "--merged", "1.3.0")
    assert (decided["written"], decided["deleted"]) == ([], [])
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")
    assert _files(alice) == _files(bob) == ["plan", "trips"]


def _spelt_twice(pair: tuple[Person, Person]) -> tuple[Person, Sequence[str]]:
    """Let both spell one folder otherwise, each differently, and bob meet it; return him and how he decides it."""
    alice, bob = pair
    _both_have(alice, bob, "dir/w", "dir/z")
    (alice.folder / "dir").rename(alice.folder / "Dir")
    (bob.folder / "dir").rename(bob.folder / "DIR")
    bob.write("DIR/y", "bob's\n")
    _meet(alice, bob)
    return bob, ("resolve", bob.lace("update", expect=1)["conflict"], "--merged", "1.3.0")


def _chosen(**sides: str) -> Sequence[str]:
    return [word for path, side in sides.items() for word in ("--path", path.replace("_", "/"), "--take", side)]


def test_choices_for_a_folder_and_what_lies_in_it_may_not_contradict(pair: tuple[Person, Person]) -> None:
    """LAZ-39: a file was nowhere, though it had just been chosen."""
    bob, decide = _spelt_twice(pair)
    before = on_disk(bob.folder)
    refused = bob.run(*decide, *_chosen(Dir="remote", DIR_w="remote", DIR_z="local"))
    assert refused.code == 2
    assert refused.err.startswith("DIR/z cannot be as you chose")
    assert on_disk(bob.folder).items() >= {(name, before[name]) for name in _files(bob)}
    assert _files(bob) == ["DIR/w", "DIR/y", "DIR/z"]


def test_it_says_what_else_to_choose_for_one_of_two_names_of_a_folder(pair: tuple[Person, Person]) -> None:
    """APP-14: to rename or delete one of them was no way out: the folder has only one."""
    bob, decide = _spelt_twice(pair)
    refused = bob.run(*decide, *_chosen(Dir="remote"))
    assert refused.code == 2
    assert "Choose the same side for these too: --path DIR/w --take SIDE --path DIR/z --take SIDE." in refused.err
    bob.lace(*decide, *_chosen(Dir="remote", DIR_w="remote", DIR_z="remote"))
    assert _files(bob) == ["Dir/w", "Dir/z"]


def test_what_lies_below_a_path_that_was_chosen_is_not_released_beside_it(pair: tuple[Person, Person]) -> None:
    """LAZ-39: it was said to be released, and had just been deleted."""
    alice, bob = pair
    _both_have(alice, bob, "dir/1")
    (alice.folder / "dir/1").unlink()
    (alice.folder / "dir").rmdir()
    alice.write("dir", "hers\n")
    bob.write("dir/1", "bob's\n")
    bob.lace("commit", "-m", "mine")
    _meet(alice, bob)
    met = bob.lace("update", expect=1)
    words = ("resolve", met["conflict"], "--merged", "1.3.0", *_chosen(dir="remote"))
    for told in (bob.text(*words, "--dry-run"), bob.text(*words)):
        assert "dir/1" in told
        assert "yours alone" not in told


def test_what_lies_below_a_clashing_path_is_no_other_file(pair: tuple[Person, Person]) -> None:
    """LAZ-39: it was said to differ beside, and a merge to have it."""
    alice, bob = pair
    alice.write("new/1", "hers\n")
    bob.write("new", "bob's\n")
    bob.lace("release", "1.2.0")
    _meet(alice, bob)
    (row,) = bob.lace("conflicts")["conflicts"]
    assert (row["paths"], row["other_paths"], row["both"]) == (["new"], [], None)
    assert "differ" not in bob.text("conflicts")
