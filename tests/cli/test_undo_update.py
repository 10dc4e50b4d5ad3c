"""`undo` of what brought others' work, an update or a merge: the folder goes back with the line (APP-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.cutting import cut_folder_off
from tests.cli.undoable import begin_together, files_of
from tests.people import Person
from vault.folder import unfinished


def test_an_update_is_taken_back_beside_other_work(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-4: any edited file kept it from that, and the way out took that file's edit out of the folder too."""
    alice.write("notes.txt", "notes\n")
    begin_together(alice, bob, tmp_path)
    alice.write("a.txt", "from alice\n")
    alice.write("new/c.txt", "from alice\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    for name in ("notes.txt", "new/mine.txt"):
        bob.write(name, "bob's\n")
    for text, lone in (("from alice\n", []), ("edited since\n", ["a.txt"])):
        bob.write("a.txt", text)
        planned, done = bob.lace("undo", "--dry-run"), bob.lace("undo")
        assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
        assert (done["written"], done["deleted"], done["lone"]) == (["a.txt"], ["new/c.txt"], lone)
        assert files_of(bob) == {"a.txt": "one\n", "notes.txt": "bob's\n", "new/mine.txt": "bob's\n"}
        bob.lace("update")
    assert bob.text("cat", "main@kept-1", "a.txt") == "edited since\n"
    assert bob.lace("fsck")["ok"]


def test_an_update_goes_back_with_the_folder(alice: Person, bob: Person, tmp_path: Path) -> None:
    begin_together(alice, bob, tmp_path)
    bob.write("b.txt", "bob\n")
    bob.lace("commit", "-m", "mine")
    alice.write("c.txt", "alice\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    merged = bob.lace("update")
    assert (bob.folder / "c.txt").exists()
    bob.write("c.txt", "edited\n")
    assert bob.lace("undo", "--dry-run")["lone"] == ["c.txt"]
    bob.write("c.txt", "alice\n")
    planned = bob.lace("undo", "--dry-run")
    assert (planned["written"], planned["deleted"]) == ([], ["c.txt"])
    assert "as it was before: 1 file would be deleted.\n- c.txt" in bob.text("undo", "--dry-run")
    undone = bob.lace("undo")
    assert (undone["revision"], undone["written"], undone["deleted"]) == (merged["revision"], [], ["c.txt"])
    assert not (bob.folder / "c.txt").exists()
    assert (bob.folder / "b.txt").read_text() == "bob\n"
    assert bob.lace("fsck")["ok"]
    assert bob.lace("update")["revision"] == merged["revision"]
    assert (bob.folder / "c.txt").read_text() == "alice\n"


def test_what_was_committed_before_a_merge_is_an_act_of_its_own(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-4: what was done before it is the next to be taken back; an update or a merge that made nothing is none."""
    begin_together(alice, bob, tmp_path)
    alice.write("a.txt", "alice\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    for words in (("update",), ("merge", "main", "--from", "alice/main@1.1.0", "--strategy", "mate")):
        bob.write("b.txt", "bob\n")
        bob.lace("commit", "-m", "mine")
        bob.write("a.txt", "bob\n")
        bob.lace(*words, expect=1)
        undone = [bob.lace("undo")["undone"] for _ in range(2)]
        kept = "is taken back; what it held is uncommitted work now"
        assert undone == [f"main revision 3 {kept}", f"main revision 2 {kept}"]
        assert files_of(bob) == {"a.txt": "bob\n", "b.txt": "bob\n"}
        assert bob.lace("undo", expect=2)["error"]["message"].startswith("main has one revision only")
        bob.write("a.txt", "one\n")
    bob.write("a.txt", "alice\n")  # by hand, so that there is nothing to take in
    (bob.folder / "b.txt").unlink()
    assert bob.lace("update")["written"] == []
    assert bob.lace("undo")["undone"] == f"main revision 2 {kept}"
    assert bob.lace("undo", expect=2)["error"]["message"].startswith("main has one revision only")


def test_a_merge_of_clashing_lines_is_taken_back_until_it_is_released(
    alice: Person, bob: Person, tmp_path: Path
) -> None:
    """APP-4: it is a commit that nobody else has; the conflict is open again, and can be decided otherwise."""
    begin_together(alice, bob, tmp_path)
    for person, version in ((alice, "1.1.0"), (bob, "1.2.0")):
        person.write("c.txt", f"{person.name}\n")
        person.lace("release", version)
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update", expect=1)
    (conflict,) = bob.lace("conflicts")["conflicts"]
    bob.lace("resolve", conflict["id"], "--prefer", "remote")
    assert (bob.folder / "c.txt").read_text() == "alice\n"
    assert bob.lace("undo")["written"] == ["c.txt"]
    assert (bob.folder / "c.txt").read_text() == "bob\n"
    assert [still["id"] for still in bob.lace("conflicts")["conflicts"]] == [conflict["id"]]
    bob.lace("resolve", conflict["id"], "--prefer", "local")
    assert bob.lace("conflicts")["conflicts"] == []
    assert bob.lace("fsck")["ok"]
    bob.lace("release", "--yes")
    assert bob.lace("undo", expect=2)["error"]["code"] == "nothing-to-undo"


def test_a_cut_off_undo_with_an_edit_in_its_way_takes_nothing_else_back(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: what the folder holds stays, and the act before the undo is not the next to go."""
    begin_together(alice, bob, tmp_path)
    bob.write("b.txt", "bob\n")
    bob.lace("commit", "-m", "mine")
    alice.write("a.txt", "from alice\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    bob.lace("update")
    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run("undo").code != 0
    planned = bob.lace("undo", "--dry-run")
    assert planned["would_undo"] == "main revision 3 would be taken back; the folder would be as it was before"
    assert (planned["undone"], planned["written"], planned["deleted"]) == (None, ["a.txt"], [])
    assert (bob.folder / "a.txt").read_text() == "from alice\n"
    bob.write("a.txt", "edited since\n")
    told = bob.lace("undo", "--dry-run", expect=2)["error"]
    assert bob.lace("undo", expect=2)["error"] == told
    assert told["message"] == "The last undo is not done yet: a.txt was edited since."
    assert "lace commit -m TEXT a.txt" in told["hint"]
    assert (bob.folder / "a.txt").read_text() == "edited since\n"
    assert bob.text("cat", "main", "b.txt") == "bob\n"
    assert bob.lace("commit", "-m", "kept", expect=2)["error"]["code"] == "saved-meanwhile"
    kept = bob.lace("commit", "-m", "kept", "a.txt")["revision"]
    assert bob.lace("undo")["revision"] == kept
    assert (bob.folder / "a.txt").read_text() == "edited since\n"
    assert bob.lace("fsck")["ok"]


def test_a_plan_leaves_an_update_that_was_cut_off_as_it_is(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4, APP-13: what would be taken back is said, and no file is written, made or deleted for it."""
    begin_together(alice, bob, tmp_path)
    for name in ("b.txt", "empty/b.txt"):
        bob.write(name, "bob\n")
    bob.lace("commit", "-m", "mine")
    alice.write("a.txt", "from alice\n")
    alice.write("new/c.txt", "from alice\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run("update").code != 0
    before = files_of(bob)
    planned = bob.lace("undo", "--dry-run")
    assert (planned["unfinished"], planned["revision"]) == (True, 3)
    assert (planned["written"], planned["deleted"]) == (["a.txt"], ["new/c.txt"])
    assert "was cut off, and would be finished first" in bob.text("undo", "--dry-run")
    assert files_of(bob) == before == {"a.txt": "one\n", "b.txt": "bob\n", "empty/b.txt": "bob\n"}
    bob.write("a.txt", "edited since\n")
    assert bob.lace("undo", "--dry-run", expect=2)["error"]["message"].startswith("Files were changed since")
    bob.write("a.txt", "one\n")
    done = bob.lace("undo")
    assert (done["written"], done["deleted"], done["unfinished"]) == (planned["written"], planned["deleted"], False)
    assert files_of(bob) == before
    assert not bob.lace("undo", "--dry-run")["unfinished"]
    assert bob.lace("fsck")["ok"]


def test_a_save_while_the_folder_is_written_is_listed_apart(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-12, APP-13: an update, an undo and a merge say what they wrote, and a person is needed for the rest."""
    begin_together(alice, bob, tmp_path)
    alice.write("a.txt", "from alice\n")
    alice.write("new.txt", "from alice\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    real = unfinished._write_folder

    def saved_late(*given: Any) -> Any:
        bob.write("a.txt", "saved by bob\n")
        return real(*given)

    for command, written, deleted in (
        (("update",), ["new.txt"], []),
        (("undo",), [], ["new.txt"]),
        (("merge", "main", "--from", "alice/main@1.1.0", "--strategy", "fine"), ["new.txt"], []),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(unfinished, "_write_folder", saved_late)
            done = bob.lace(*command, expect=1)
        assert (done["written"], done["deleted"], done["kept"]) == (written, deleted, ["a.txt"])
        assert (bob.folder / "a.txt").read_text() == "saved by bob\n"
        assert bob.lace("release", "2.0.0", expect=2)["error"]["code"] == "saved-meanwhile"
        assert bob.lace("release", "2.0.0", "--dry-run", expect=2)["error"]["code"] == "saved-meanwhile"
        if command == ("undo",):  # then there is something to take in again
            assert bob.lace("update", expect=2)["error"]["code"] == "saved-meanwhile"
        else:
            assert bob.lace("update", expect=1)["kept"] == ["a.txt"]
        (bob.folder / "a.txt").unlink()
        assert not any(bob.lace("changes")[kind] for kind in ("added", "changed", "deleted", "notices"))
    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", saved_late)
        done = bob.lace("checkout", "main@1", expect=1)
    assert (done["written"], done["deleted"]) == ([], ["new.txt"])
    assert [skip["path"] for skip in done["skipped"]] == ["a.txt"]
