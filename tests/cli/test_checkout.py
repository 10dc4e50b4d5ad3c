"""`checkout`: an old state, or one path of it, in the folder again (CYB-8, CLAY-24)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lazy.folder import had_again
from tests.cli.looking import error_of, tree_of
from tests.people import Person


def test_checkout_brings_an_old_state_into_the_folder(ann: Person) -> None:
    """CYB-8: going back is a step forward with the old content; main itself does not move."""
    ann.write("a.txt", "one")
    ann.write("b.txt", "b")
    ann.lace("commit", "-m", "1")
    ann.write("a.txt", "two")
    (ann.folder / "b.txt").unlink()
    ann.write("c.txt", "c")
    ann.lace("commit", "-m", "2")
    data = ann.lace("checkout", "main@1")
    assert (sorted(data["written"]), data["deleted"], data["skipped"]) == (["a.txt", "b.txt"], ["c.txt"], [])
    assert tree_of(ann.folder) == {"a.txt": b"one", "b.txt": b"b"}
    changed = ann.lace("changes")
    assert (changed["changed"], changed["added"], changed["deleted"]) == (["a.txt"], ["b.txt"], ["c.txt"])
    assert ann.lace("commit", "-m", "back")["revision"] == 3
    assert "already" in ann.text("checkout", "main@1")
    assert "uncommitted changes" in ann.text("checkout", "main@2")


def test_a_checkout_leads_back_from_what_a_revision_holds(ann: Person) -> None:
    """CYB-8, CLAY-24: what an earlier checkout wrote stops no other one; what no revision holds does."""
    for text in ("one", "two", "three"):
        ann.write("a.txt", text)
        ann.lace("commit", "-m", text)
    first = ann.text("checkout", "main@1")
    assert "lace checkout main" in first.splitlines()[-1]
    ann.lace("checkout", "main@2")
    assert "Nothing is uncommitted in main." in ann.text("checkout", "main")
    assert ann.lace("changes")["changed"] == []
    ann.lace("checkout", "main@1")
    ann.write("a.txt", "four")
    assert "move a file away" in error_of(ann.run("--json", "checkout", "main"), "uncommitted-changes")["hint"]
    assert (ann.folder / "a.txt").read_text() == "four"
    hint = error_of(ann.run("--json", "checkout", "main", "a.txt"), "uncommitted-changes")["hint"]
    assert "lace commit -m TEXT a.txt" in hint
    (ann.folder / "a.txt").unlink()
    ann.lace("checkout", "main", "a.txt")
    assert (ann.folder / "a.txt").read_text() == "three"


def test_a_number_that_is_too_high_is_answered_with_the_newest(ann: Person) -> None:
    """APP-14: to commit is no way out for who wants to look back."""
    ann.write("a.txt", "one")
    ann.lace("commit", "-m", "one")
    told = error_of(ann.run("--json", "checkout", "main@99"), "not-yet")
    assert told["hint"].startswith("The newest is main@1;")
    ann.lace("desk", "add", "empty", str(ann.folder / "empty"))
    assert "lace commit" in error_of(ann.run("--json", "checkout", "empty"), "not-yet")["hint"]


def test_a_checkout_rests_on_no_content_that_was_let_go(ann: Person) -> None:
    """CYB-8, CLAY-79: a folder as a pruned revision had it holds the only copy, so nothing is written over it."""
    for text in ("one", "two", "three"):
        ann.write("a.txt", text)
        ann.lace("commit", "-m", text)
    ann.lace("prune", "--yes")
    assert ann.lace("read", "x", "self/main@1", "a.txt")["outcome"] == "pruned"
    ann.write("a.txt", "one")
    error_of(ann.run("--json", "checkout", "main"), "uncommitted-changes")
    assert (ann.folder / "a.txt").read_text() == "one"


def test_checkout_refuses_a_dirty_folder(pair: tuple[Person, Person]) -> None:
    _, bob = pair
    bob.write("list.md", "mine\n")
    assert "lace commit" in error_of(bob.run("--json", "checkout", "alice/main@1.0.0"), "uncommitted-changes")["hint"]
    assert (bob.folder / "list.md").read_text() == "mine\n"


def test_checkout_before_the_first_commit(pair: tuple[Person, Person], cara: Person, tmp_path: Path) -> None:
    ann, _ = pair
    cara.lace("accept", ann.lace("invite", "cara")["invite"])
    for person in (ann, cara, ann, cara):
        person.lace("sync", "stick")
    assert "lace update" in error_of(cara.run("--json", "checkout", "alice/main"), "uncommitted-changes")["hint"]
    error_of(cara.run("--json", "checkout", "main"), "not-yet")
    assert len(cara.lace("checkout", "alice/main", "--to", str(tmp_path / "copy"))["written"]) == 2


def test_checkout_writes_a_copy_elsewhere(pair: tuple[Person, Person], tmp_path: Path) -> None:
    ann, bob = pair
    bob.write("list.md", "dirty is fine here\n")
    target = tmp_path / "copy" / "deep"
    data = bob.lace("checkout", "alice/main@1.0.0", "--to", "../copy/deep")
    assert data["to"] == str(target)
    assert sorted(data["written"]) == ["list.md", "notes.md"]
    assert tree_of(target) == tree_of(ann.folder)
    assert "files of alice/main@1.0.0 written" in bob.text("checkout", "alice/main@1.0.0", "--to", "../other")
    (target / "list.md").write_text("somebody's own")
    (target / "notes.md").unlink()
    error = error_of(bob.run("--json", "checkout", "alice/main@1.0.0", "--to", str(target)), "folder-in-the-way")
    assert error["hint"].startswith("Name a folder that does not exist yet")  # nothing there can be committed
    assert tree_of(target) == {"list.md": b"somebody's own"}
    bob.write("file", "x")
    error_of(bob.run("--json", "checkout", "main", "--to", "file/below"), "folder-not-made", 15)


def test_checkout_brings_one_path_back(ann: Person) -> None:
    """CLAY-24: a deleted file or folder is written again, others stay as they are, and no change is lost."""
    ann.write("deep/run.sh", "#!/bin/sh\n").chmod(0o755)
    ann.write("deep/b.txt", "b\n")
    ann.lace("commit", "-m", "scripts")
    (ann.folder / "deep/run.sh").unlink()
    ann.write("deep/b.txt", "mine\n")
    assert ann.lace("checkout", "main", "deep/run.sh")["written"] == ["deep/run.sh"]
    assert (ann.folder / "deep/run.sh").stat().st_mode & 0o100
    assert "already" in ann.text("checkout", "main", "deep/run.sh")
    error_of(ann.run("--json", "checkout", "main", "deep"), "uncommitted-changes")
    error_of(ann.run("--json", "checkout", "main", "gone"), "no-such-path")
    error_of(ann.run("--json", "checkout", "main", "deep", "--to", "x"), "bad-arguments")
    assert (ann.folder / "deep/b.txt").read_text() == "mine\n"
    ann.lace("commit", "-m", "mine")
    for path in (["deep"], ["."], []):  # all that is gone comes back, where nothing else changed
        shutil.rmtree(ann.folder / "deep")
        assert ann.lace("checkout", "main", *path)["written"] == ["deep/b.txt", "deep/run.sh"]
    for name in ("b.txt", "run.sh"):  # and an empty directory holds nothing that could be lost
        (ann.folder / "deep" / name).unlink()
    assert ann.lace("checkout", "main")["written"] == ["deep/b.txt", "deep/run.sh"]
    assert ann.lace("changes")["added"] == ann.lace("changes")["deleted"] == []


def _thrice(ann: Person) -> None:
    """Let ann commit a file in three states, and another one with each."""
    for text in ("one", "two", "three"):
        ann.write("soup.md", text)
        ann.write("other.md", text)
        ann.lace("commit", "-m", text)


def test_a_path_that_a_checkout_brought_stops_no_other_one(ann: Person) -> None:
    """CYB-8, CLAY-24: after one old version of a file none came any more, not even the newest: it held changes."""
    _thrice(ann)
    for address, text in (("main@1", "one"), ("main@2", "two"), ("main@1", "one"), ("main", "three")):
        assert ann.lace("checkout", address, "soup.md")["written"] == ["soup.md"]
        assert (ann.folder / "soup.md").read_text() == text
    assert ann.lace("changes")["changed"] == []
    ann.lace("checkout", "main@1")
    assert ann.lace("checkout", "main", "soup.md")["written"] == ["soup.md"], "a look at all of it brought it"
    ann.lace("checkout", "main@1", "soup.md")
    ann.write("soup.md", "one, and mine")
    error_of(ann.run("--json", "checkout", "main", "soup.md"), "uncommitted-changes")
    assert (ann.folder / "soup.md").read_text() == "one, and mine"


def test_paths_of_several_states_are_left_for_the_newest_of_all(ann: Person) -> None:
    """CYB-8, CLAY-24: after a path of an older state the whole folder found no way back; what is mine shuts it."""
    _thrice(ann)
    ann.lace("checkout", "main@1", "soup.md")
    ann.lace("checkout", "main@2", "other.md")
    (ann.folder / "soup.md").write_text("mine")
    error_of(ann.run("--json", "checkout", "main"), "uncommitted-changes")
    (ann.folder / "soup.md").unlink()
    ann.lace("checkout", "main@1", "soup.md")
    error_of(ann.run("--json", "checkout", "main@2"), "uncommitted-changes")
    assert ann.lace("checkout", "main", "--dry-run")["written"] == ["other.md", "soup.md"]
    assert ann.lace("checkout", "main")["written"] == ["other.md", "soup.md"]
    assert tree_of(ann.folder) == {"soup.md": b"three", "other.md": b"three"}
    ann.lace("checkout", "main@1")
    ann.lace("checkout", "main@2", "soup.md")
    assert ann.lace("checkout", "main")["written"] == ["other.md", "soup.md"]
    ann.write("soup.md", "four")
    ann.lace("commit", "-m", "four")
    assert ann.lace("update")["saved"] is None, "nothing is looked at any more"


def test_a_path_that_came_from_long_ago_stops_no_checkout(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-8, CLAY-24: where it came from is noted, so that no long history is gone through."""
    monkeypatch.setattr(had_again, "_ASKED", 1)
    _thrice(ann)
    ann.write("soup.md", "two")
    error_of(ann.run("--json", "checkout", "main", "soup.md"), "uncommitted-changes")
    ann.lace("commit", "-m", "two again")
    ann.lace("checkout", "main@1", "soup.md")
    assert ann.lace("checkout", "main@3", "soup.md")["written"] == ["soup.md"]


def test_a_path_that_only_the_folder_still_has_is_written_over_by_no_checkout(ann: Person) -> None:
    """CLAY-79, CLAY-24: of what was let go the folder has the only copy, though it came by a checkout."""
    _thrice(ann)
    ann.lace("checkout", "main@1", "soup.md")
    ann.lace("prune", "--yes")
    assert ann.lace("read", "x", "self/main@1", "soup.md")["outcome"] == "pruned"
    error_of(ann.run("--json", "checkout", "main", "soup.md"), "uncommitted-changes")
    assert (ann.folder / "soup.md").read_text() == "one"


def test_an_older_state_of_a_friend_s_file_stops_no_checkout(pair: tuple[Person, Person]) -> None:
    """CLAY-24, FAC-20: what bob took before alice's newest was no change of his."""
    ann, bob = pair
    for version in ("1.1.0", "1.2.0"):
        ann.write("song.md", version)
        ann.lace("release", version)
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    for version in ("1.1.0", "1.2.0", "1.1.0"):
        assert bob.lace("checkout", f"alice/main@{version}", "song.md")["written"] == ["song.md"]
        assert (bob.folder / "song.md").read_text() == version


def test_what_is_gone_comes_back_beside_what_is_new(ann: Person) -> None:
    """LAZ-1, CLAY-24: the way out of an emptied folder with a stray file in it was refused for that very file."""
    for name in ("a.txt", "b.txt", "deep/c.txt"):
        ann.write(name, name)
    ann.lace("release", "1.0.0")
    shutil.rmtree(ann.folder / "deep")
    for name in ("a.txt", "b.txt"):
        (ann.folder / name).unlink()
    ann.write(".directory", "[Desktop Entry]\n")
    assert "lace checkout main" in error_of(ann.run("--json", "release", "--yes"), "folder-emptied")["hint"]
    gone = ["a.txt", "b.txt", "deep/c.txt"]
    planned = ann.lace("checkout", "main", "--dry-run")
    assert (planned["written"], planned["deleted"]) == (gone, [])
    assert "What is new there beside that stays" in ann.text("checkout", "main", "--dry-run")
    told = ann.text("checkout", "main")
    assert told.splitlines()[1] == "What is new there beside that stays as it is, uncommitted."
    assert (ann.folder / ".directory").read_text() == "[Desktop Entry]\n"
    assert {name: (ann.folder / name).read_text() for name in gone} == {name: name for name in gone}
    assert {kind: ann.lace("changes")[kind] for kind in ("added", "changed", "deleted")} == {
        "added": [".directory"],
        "changed": [],
        "deleted": [],
    }


def test_what_cannot_stand_beside_what_comes_back_stops_a_checkout(ann: Person) -> None:
    """CLAY-24, CLAY-27: an edit, what lies where a file was, and its name in other letters; nothing is changed."""
    for name in ("a.txt", "b.txt", "c"):
        ann.write(name, name)
    ann.lace("commit", "-m", "three")
    for name in ("b.txt", "c"):
        (ann.folder / name).unlink()
    for name in ("a.txt", "c/new.txt", "B.TXT"):
        ann.write(name, "mine")
        for option in ([], ["--dry-run"]):
            error_of(ann.run("--json", "checkout", "main", *option), "uncommitted-changes")
        assert (ann.folder / name).read_text() == "mine"
        assert not (ann.folder / "b.txt").exists()
        (ann.folder / name).unlink()
        (ann.folder / "c").rmdir() if name == "c/new.txt" else None
        ann.lace("checkout", "main", "a.txt")


def test_what_a_look_brought_goes_and_what_is_new_beside_it_stays(ann: Person) -> None:
    """CLAY-24: the state that was looked at is not left in part beside the newest."""
    ann.write("old.txt", "old")
    ann.lace("commit", "-m", "one")
    (ann.folder / "old.txt").rename(ann.folder / "now.txt")
    ann.lace("commit", "-m", "two")
    ann.lace("checkout", "main@1")
    ann.write("mine.txt", "mine")
    ann.lace("checkout", "main")
    assert tree_of(ann.folder) == {"now.txt": b"old", "mine.txt": b"mine"}
    assert ann.lace("changes")["added"] == ["mine.txt"]
