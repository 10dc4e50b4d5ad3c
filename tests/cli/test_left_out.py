"""What came and is not written to the folder is said by whatever brought it (APP-12)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf

_WHY = "is a link that points to an absolute path"


@pytest.fixture
def hostile(shelf: Shelf) -> tuple[Person, Person]:
    """Bob, to whom alice released a link that leads out of the folder, where a file was."""
    return shelf.lay(_hostile)


def _hostile(root: Path) -> tuple[Person, Person]:
    alice, bob = make_pair(root)
    (alice.folder / "list.md").unlink()
    (alice.folder / "list.md").symlink_to("/etc/passwd")
    alice.write("notes.md", "new\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vault.desks.taker.link_problem", lambda *_: "")
        alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    return alice, bob


def test_an_update_says_which_link_it_does_not_make(hostile: tuple[Person, Person]) -> None:
    """APP-12: it was silent, and its plan said that the link would be written."""
    _, bob = hostile
    planned = bob.lace("update", "--dry-run")
    assert (planned["written"], planned["deleted"]) == (["notes.md"], ["list.md"])
    assert planned["skipped"] == [{"path": "list.md", "reason": _WHY}]
    told = bob.text("update", "--dry-run")
    assert f"! Not written to your folder: list.md {_WHY}.\n" in told
    done = bob.lace("update")
    assert {key: done[key] for key in ("written", "deleted", "skipped")} == {
        key: planned[key] for key in ("written", "deleted", "skipped")
    }
    assert (bob.folder / "notes.md").read_text() == "new\n"
    assert bob.lace("update")["skipped"] == []


def test_the_former_file_is_not_committed_as_bobs_own_work(hostile: tuple[Person, Person]) -> None:
    """CLAY-71: it stayed, and the next commit turned the link back for everybody, unasked."""
    _, bob = hostile
    told = bob.text("update")
    assert f"! Not written to your folder: list.md {_WHY}.\n" in told
    assert bob.text("changes") == "Nothing changed.\n"
    assert bob.lace("commit", "-m", "mine")["commit"] is None
    bob.write("list.md", "a file again\n")
    assert bob.lace("changes")["changed"] == ["list.md"]


def test_what_bob_made_of_the_former_file_is_his(hostile: tuple[Person, Person]) -> None:
    """APP-12: it clashes, as with anything else that alice made of it."""
    _, bob = hostile
    bob.write("list.md", "bobs\n")
    assert bob.lace("update", expect=1)["conflicts"][0]["path"] == "list.md"
    assert (bob.folder / "list.md").read_text() == "bobs\n"


@pytest.mark.parametrize("words", [("merge", "main", "--from", "alice/main@1.1.0", "--strategy", "fine")])
def test_a_merge_says_so_too(hostile: tuple[Person, Person], words: tuple[str, ...]) -> None:
    _, bob = hostile
    for more in (("--dry-run",), ()):
        done = bob.lace(*words, *more)
        assert done["skipped"] == [{"path": "list.md", "reason": _WHY}]
        assert (done["written"], done["deleted"]) == (["notes.md"], ["list.md"])


def test_a_decision_says_so_too(hostile: tuple[Person, Person]) -> None:
    _, bob = hostile
    bob.write("notes.md", "bobs\n")
    bob.lace("commit", "-m", "mine")
    conflict = bob.lace("update", expect=1)["conflict"]
    words = ("resolve", conflict, "--prefer", "alice")
    for more in (("--dry-run",), ()):
        assert f"! Not written to your folder: list.md {_WHY}.\n" in bob.text(*words, *more)
    assert not (bob.folder / "list.md").exists()


def test_a_decision_that_nobody_was_told_of_says_so_too(
    hostile: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-12, APP-13: the same command run again said that the link was written."""
    _, bob = hostile
    bob.write("notes.md", "bobs\n")
    bob.lace("commit", "-m", "mine")
    words = ("resolve", bob.lace("update", expect=1)["conflict"], "--prefer", "alice")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("lace_tui.verbs.deciding.write_lazy_files", killed)
        assert bob.run(*words).code == 130
    done = bob.lace(*words)
    assert done["already"] is True
    assert done["skipped"] == [{"path": "list.md", "reason": _WHY}]
    assert (done["written"], done["deleted"]) == (["notes.md"], ["list.md"])


def test_a_look_at_it_says_so_too(hostile: tuple[Person, Person]) -> None:
    _, bob = hostile
    assert f"! Not written to your folder: list.md {_WHY}." in bob.text("checkout", "alice/main@1.1.0", "list.md")


def test_an_undo_says_so_too(hostile: tuple[Person, Person]) -> None:
    """APP-4, APP-12: its plan said that the link would be written, and kept still that the file would go."""
    alice, bob = hostile
    bob.lace("update")
    (alice.folder / "list.md").unlink()
    alice.write("list.md", "a file again\n")
    alice.lace("release", "1.2.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    for more in (("--dry-run",), ()):
        done = bob.lace("undo", *more)
        assert done["skipped"] == [{"path": "list.md", "reason": _WHY}]
        assert (done["written"], done["deleted"]) == ([], ["list.md"])


def test_what_lies_in_the_folder_of_another_desk_says_so(pair: tuple[Person, Person]) -> None:
    """APP-12: it was said that the disk cannot hold it, which led to look for a fault where there was none."""
    alice, bob = pair
    bob.lace("desk", "add", "songs", "songs")
    alice.write("songs/new.md", "la\n")
    alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    reason = "lies in the folder of another desk"
    assert bob.lace("update")["skipped"] == [{"path": "songs/new.md", "reason": reason}]


def test_what_a_disk_cannot_carry_is_not_deleted_after_a_look_at_an_older_state(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-12, faults 8: a look at an older state and back deleted it for all with the next commit; so did a prune."""
    alice, bob = pair
    (alice.folder / "link").symlink_to("list.md")
    alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")

    def refuse(*_args: object, **_named: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "symlink", refuse)
    bob.lace("update")
    bob.lace("checkout", "main@1")
    bob.lace("checkout", "main")
    assert bob.lace("changes")["deleted"] == []
    for text in ("two", "three"):
        bob.write("list.md", text)
        assert bob.lace("commit", "-m", text)["deleted"] == []
    bob.lace("prune", "--keep", "1", "--yes")
    assert bob.lace("changes")["deleted"] == []


@pytest.fixture
def apart(shelf: Shelf) -> tuple[Person, Person]:
    """Alice, who released main without one file of a folder and the others otherwise, and bob, whose desk it is."""
    return shelf.lay(_apart)


def _apart(root: Path) -> tuple[Person, Person]:
    alice, bob = make_pair(root)
    for name in ("f", "g"):
        alice.write(f"sub/{name}.md", f"{name}\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    bob.lace("desk", "add", "sub", "sub")
    (alice.folder / "sub/f.md").unlink()
    alice.write("sub/g.md", "new\n")
    alice.write("sub/h.md", "new\n")
    alice.write("notes.md", "new\n")
    alice.write("list.md", "new\n")
    alice.lace("release", "1.2.0")
    return alice, bob


_APART = [{"path": f"sub/{name}.md", "reason": "lies in the folder of another desk"} for name in ("g", "h")]


def _same_told(bob: Person, *words: str) -> None:
    """Let a plan tell what the act does, and nothing go from the folder of the other desk."""
    planned, done = bob.lace(*words, "--dry-run"), bob.lace(*words)
    for told in (planned, done):
        assert (told["deleted"], told["skipped"]) == ([], _APART)
    assert planned["written"] == done["written"]
    assert [(bob.folder / f"sub/{name}.md").read_text() for name in ("f", "g")] == ["f\n", "g\n"]


def test_a_planned_update_deletes_nothing_of_another_desk(apart: tuple[Person, Person]) -> None:
    """APP-12, CLAY-3: it named deletions in the folder of a desk that no update makes, and not what is left out."""
    alice, bob = apart
    for person in (alice, bob):
        person.lace("sync", "stick")
    _same_told(bob, "update")


@pytest.mark.parametrize("side", ["alice", "local"])
def test_nor_does_a_planned_decision(apart: tuple[Person, Person], side: str) -> None:
    """APP-12, CLAY-3: of heads that clash."""
    alice, bob = apart
    bob.write("notes.md", "bob's\n")
    bob.lace("commit", "-m", "mine")
    for person in (alice, bob):
        person.lace("sync", "stick")
    _same_told(bob, "resolve", bob.lace("update", expect=1)["conflict"], "--prefer", side)


def test_nor_does_one_of_a_version(apart: tuple[Person, Person]) -> None:
    """APP-12, CLAY-3: of two releases of one version."""
    alice, bob = apart
    bob.write("bob.md", "bob's\n")
    bob.lace("release", "1.2.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    (conflict,) = bob.lace("conflicts")["conflicts"]
    _same_told(bob, "resolve", conflict["id"], "--merged", "1.2.1")
