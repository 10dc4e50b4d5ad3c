"""Who wants only a part of what friends share: it is had, kept up to date, and completed by a later update."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import make_ann
from tests.cli.looking import tree_of
from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.records import RecordHash
from vault.store import Store

_PHOTOS = {f"photos/{number}.jpg": f"\0photo {number}\n" for number in range(4)}
_PART = ("checkout", "alice/main", "photos")


def _give(ann: Person, version: str, *gone: str, **changed: str) -> None:
    for path in gone:
        (ann.folder / "photos" / f"{path}.jpg").unlink()
    for number, text in changed.items():
        ann.write(f"photos/{number.removeprefix('p')}.jpg", f"\0{text}\n")
    ann.write("notes.md", f"of {version}\n")
    ann.lace("release", version)
    ann.lace("sync", "stick")


@pytest.fixture(params=["empty", "filled", "older"])
def parted(request: pytest.FixtureRequest, shelf: Shelf) -> tuple[Person, Person]:
    """Alice with photos, and bob who has only these of them; his folder stands on nothing, or on what was before."""
    return shelf.lay(_parted, request.param)


def _parted(root: Path, stands_on: str) -> tuple[Person, Person]:
    ann, bob = make_ann(root), person_in(root, "bob")
    ann.lace("place", "add", "stick", str(root / "stick"))
    ann.write("list.md", "milk\n")
    if stands_on == "older":
        for path in ("photos/0.jpg", "photos/1.jpg", "photos/gone.jpg"):
            ann.write(path, "\0older\n")
    ann.lace("release", "0.9.0")
    bob.lace("accept", ann.lace("invite", "bob")["invite"], "--name", "bob")
    first = ("--path", "nothing/at/all") if stands_on == "empty" else ()
    for person in (ann, bob, ann, bob):
        person.lace("sync", "stick", *(first if person is bob else ()))
    (ann.folder / "photos/gone.jpg").unlink(missing_ok=True)
    if stands_on != "empty":
        bob.lace("update")
    for path, text in _PHOTOS.items():
        ann.write(path, text)
    _give(ann, "1.0.0")
    bob.lace("sync", "stick", "--path", "photos")
    assert len(bob.lace(*_PART)["written"]) == len(_PHOTOS)
    return ann, bob


def test_so_many_paths_do_not_fit_into_one_sync(pair: tuple[Person, Person]) -> None:
    """INT-136: it said that a program has too many rules, and to split it; the person wrote none."""
    paths = [word for number in range(300) for word in ("--path", f"p{number}")]
    told = pair[1].lace("sync", "stick", *paths, expect=2)["error"]
    assert told["code"] == "scope-too-large"
    assert "rule" not in told["message"] + told["hint"]


def test_what_is_here_and_what_brings_the_rest_is_named(parted: tuple[Person, Person]) -> None:
    """FAC-20, DWN-37: update waits for all of a release; it said so, and no way to have the part."""
    ann, bob = parted
    assert bob.lace("update")["parts"] == [], "the folder has it already"
    _give(ann, "1.1.0", p1="new")
    said = bob.text("sync", "stick", "--path", "photos")
    (command,) = bob.lace("update", "--dry-run")["parts"]
    assert command == "lace checkout alice/main photos"
    assert f"  what is here of it comes with: {command}\n" in said
    assert bob.text("update").endswith(
        f" not all here: lace links\n  what is here of it comes with: {command}\n"
        "  the rest comes with: lace sync - then lace update takes in all of it\n"
    )
    for words in (["alice/main", "notes.md"], ["alice/main", "--to", "../copy"], ["alice/main@1.1.0"]):
        told = bob.lace("checkout", *words, expect=2)["error"]
        assert (told["code"], "lace sync" in told["hint"]) == ("not-yet", True), "it was told by hashes, as damage"
    bob.lace("checkout", "alice/main", expect=2)
    bob.lace("sync", "stick")
    done = bob.lace("update")
    assert (done["lacking"], done["parts"]) == (0, [])
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_what_no_sync_brings_of_a_release_is_not_said_to_come_with_one(shelf: Shelf) -> None:
    """FAC-20, CLO-39: what links calls refused, update said comes with the next sync."""
    ann, bob = shelf.lay(_parted, "older")
    _give(ann, "1.1.0", p1="new")
    bob.lace("sync", "stick", "--path", "photos")
    waits = bob.lace("links")["links"][0]["missing"]
    assert {one["code"] for one in waits} == {"content-missing"}
    with Store(bob.folder / ".vault" / "store.db") as store, store.transaction():
        for one in waits:
            digest = RecordHash.parse(one["missing"]).digest
            store.run("INSERT OR IGNORE INTO refused VALUES (?, 'P', 'bad-tree', 'a name', 'stick', '')", digest)
    assert bob.text("update").endswith(
        "  what is here of it comes with: lace checkout alice/main photos\n"
        "  the rest was refused here, and no sync brings it: lace links\n"
    )


def _texts(person: Person) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((person.folder / "photos").iterdir())}


def test_a_part_is_kept_up_to_date(parted: tuple[Person, Person]) -> None:
    """FAC-20, CLAY-24: a newer state of it was refused for changes that nobody had made."""
    ann, bob = parted
    _give(ann, "1.1.0", "3", p1="new")
    bob.lace("sync", "stick", "--path", "photos")
    done = bob.lace(*_PART)
    assert (done["written"], done["deleted"]) == (["photos/1.jpg"], ["photos/3.jpg"])
    assert _texts(bob) == _texts(ann)
    bob.write("photos/0.jpg", "\0bob's\n")
    _give(ann, "1.2.0", p2="newer")
    bob.lace("sync", "stick", "--path", "photos")
    before = tree_of(bob.folder)
    assert bob.lace(*_PART, expect=2)["error"]["code"] == "uncommitted-changes"
    assert tree_of(bob.folder) == before, "what bob made is never overwritten"


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_later_update_completes_a_part(parted: tuple[Person, Person], is_committed: bool) -> None:
    """CLAY-73, CLAY-76: what came with a part is no change of mine; all that its owner changed since clashed."""
    ann, bob = parted
    if is_committed:
        bob.lace("commit", "-m", "photos")
    bob.write("photos/own.jpg", "\0bob's\n")
    had = _texts(bob)
    _give(ann, "1.1.0", "3", p1="new")
    bob.lace("sync", "stick")
    planned = bob.lace("update", "--dry-run")
    done = bob.lace("update")
    assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
    assert ("photos/1.jpg" in done["written"], done["deleted"]) == (True, ["photos/3.jpg"])
    assert _texts(bob) == {**_texts(ann), "own.jpg": "\0bob's\n"}
    assert bob.lace("changes")["added"] == bob.lace("changes")["changed"] == []
    bob.lace("undo")
    assert _texts(bob) == had


def test_what_went_back_is_never_taken_for_a_change_of_mine(parted: tuple[Person, Person]) -> None:
    """CLAY-73, APP-4: the folder had an older state after an undo; what came later was taken back unsaid."""
    ann, bob = parted
    bob.lace("commit", "-m", "photos")
    _give(ann, "1.1.0", p1="new")
    bob.lace("sync", "stick")
    bob.lace("update")
    assert bob.lace(*_PART)["written"] == []
    bob.lace("undo")
    _give(ann, "1.2.0", p2="newer")
    bob.lace("sync", "stick")
    bob.lace("update")
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_a_folder_that_was_brought_back_whole_takes_in_all(pair: tuple[Person, Person]) -> None:
    """CLAY-73: a part that is all of a release may be left by a checkout of what was there before."""
    ann, bob = pair
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("checkout", "alice/main", "list.md")
    bob.lace("checkout", "main")
    assert (bob.folder / "list.md").read_text() == "milk\n"
    ann.write("notes.md", "new\n")
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.write("own.md", "bob's\n")
    assert sorted(bob.lace("update")["written"]) == ["list.md", "notes.md"]


def test_a_part_that_is_all_of_a_release_is_no_look_at_it(parted: tuple[Person, Person]) -> None:
    """LAZ-1, CLAY-24: the folder was as a release that my line did not contain, and update refused to go on from it."""
    ann, bob = parted
    bob.lace("sync", "stick")
    bob.lace("update")
    ann.write("photos/1.jpg", "\0new\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick", "--path", "photos")
    bob.lace(*_PART)
    assert tree_of(bob.folder) == tree_of(ann.folder)
    _give(ann, "1.2.0", p2="newer")
    bob.lace("sync", "stick")
    assert bob.lace("update", "--dry-run")["written"] == bob.lace("update")["written"] == ["notes.md", "photos/2.jpg"]
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_a_part_that_was_completed_and_taken_back_is_one_again(parted: tuple[Person, Person]) -> None:
    """APP-4, CLAY-73: what was brought again while my line contained it clashed after an undo."""
    ann, bob = parted
    bob.lace("sync", "stick")
    bob.lace("update")
    assert bob.lace(*_PART)["written"] == []
    bob.lace("checkout", "main", "photos/2.jpg")
    bob.lace("undo")
    _give(ann, "1.1.0", p1="new")
    bob.lace("sync", "stick")
    bob.lace("update")
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_what_both_changed_of_a_part_is_for_a_person(parted: tuple[Person, Person]) -> None:
    """LAZ-39: nothing is decided where both touched it, and what I let lie is taken from nobody."""
    ann, bob = parted
    bob.write("photos/0.jpg", "\0bob's\n")
    (bob.folder / "photos/2.jpg").unlink()
    _give(ann, "1.1.0", p0="alice's")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    for words in (["update", "--dry-run"], ["update"]):
        data = bob.lace(*words, expect=1)
        assert [clash["path"] for clash in data["conflicts"]] == ["photos/0.jpg"]
        assert tree_of(bob.folder) == before
    assert bob.lace("changes")["conflicted"] == bob.lace("conflicts")["conflicts"][0]["paths"] == ["photos/0.jpg"]
    bob.lace("resolve", data["conflict"], "--prefer", "local")
    assert _texts(bob) == {**_texts(ann), "0.jpg": "\0bob's\n"}


def test_a_state_that_was_chosen_before_a_newer_one_is_kept_until_a_person_decides(pair: tuple[Person, Person]) -> None:
    """LAZ-39: alice's newest was here when bob took what was before it, alone or over a part that was the newest."""
    ann, bob = pair
    for version in ("1.1.0", "1.2.0"):
        ann.write("songs/a.md", f"{version}\n")
        ann.write("songs/b.md", f"{version}\n")
        ann.lace("release", version)
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("checkout", "alice/main", "songs")
    bob.lace("checkout", "alice/main@1.1.0", "songs/a.md")
    ann.write("songs/a.md", "1.3.0\n")
    ann.write("songs/b.md", "1.3.0\n")
    ann.lace("release", "1.3.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert [clash["path"] for clash in bob.lace("update", expect=1)["conflicts"]] == ["songs/a.md"]
    bob.lace("checkout", "alice/main", "songs", expect=0)
    assert (bob.folder / "songs/a.md").read_text() == "1.3.0\n", "it was committed before the update that clashed"


_LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
_ADDED = _LINES.replace("one\n", "one\nalice's\n")


def _brought(pair: tuple[Person, Person]) -> tuple[Person, Person]:
    """Let bob bring a file to which alice added a line, which she took back in a release after that."""
    ann, bob = pair
    for version, text in (("1.1.0", _LINES), ("1.2.0", _ADDED)):
        ann.write("song.md", text)
        ann.lace("release", version)
        ann.lace("sync", "stick")
        bob.lace("sync", "stick")
        if version == "1.1.0":
            bob.lace("update")
    bob.lace("checkout", "alice/main", "song.md")
    return ann, bob


_MERGES = [("update",), ("merge", "main", "--from", "alice/main", "--strategy", "mate")]


@pytest.mark.parametrize("words", _MERGES, ids=["update", "merge"])
@pytest.mark.parametrize("last", [_LINES, _LINES.replace("five", "FIVE")], ids=["as before", "otherwise"])
@pytest.mark.parametrize("is_committed", [False, True], ids=["", "committed"])
def test_a_part_goes_back_with_the_line_it_came_from(
    pair: tuple[Person, Person], words: tuple[str, ...], last: str, is_committed: bool
) -> None:
    """CLAY-73, LAZ-39: a release with the content that my line has was nothing new, and its part a change of mine."""
    ann, bob = _brought(pair)
    if is_committed:
        bob.lace("commit", "-m", "part")
    ann.write("song.md", last)
    ann.lace("release", "1.3.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    planned = bob.lace(*words, "--dry-run")
    assert planned["written"] == bob.lace(*words)["written"] == ["song.md"]
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_an_edited_part_brings_back_nothing_that_its_owner_took_back(pair: tuple[Person, Person]) -> None:
    """LAZ-39: bob's line came to the end of the file, and with it what alice had taken out of hers."""
    ann, bob = _brought(pair)
    bob.write("song.md", f"{_ADDED}bob's\n")
    ann.write("song.md", _LINES.replace("five", "FIVE"))
    ann.lace("release", "1.3.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    for words in (["update", "--dry-run"], ["update"]):
        assert [clash["path"] for clash in bob.lace(*words, expect=1)["conflicts"]] == ["song.md"]
        assert (bob.folder / "song.md").read_text() == f"{_ADDED}bob's\n"


def test_an_edited_part_takes_in_what_was_changed_beside_it(pair: tuple[Person, Person]) -> None:
    """CLAY-76: where it is the same whichever state bob went on from, nobody is asked."""
    ann, bob = _brought(pair)
    bob.write("song.md", f"{_ADDED}bob's\n")
    ann.write("song.md", _ADDED.replace("five", "FIVE"))
    ann.lace("release", "1.3.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update")["merged"] == ["song.md"]
    assert (bob.folder / "song.md").read_text() == f"{_ADDED.replace('five', 'FIVE')}bob's\n"
