"""`commit --keep-out`: a file that was committed before `.laceignore` named it is shared no more, and stays here."""

from __future__ import annotations

import errno
import os

import pytest

from tests.cli.looking import error_of, tree_of
from tests.people import Person


def _named(person: Person) -> None:
    for path in ("local.cfg", "built/deep/a.o", "built/b.o", "kept.txt"):
        person.write(path, "one\n")
    person.lace("commit", "-m", "all of it")
    person.write(".laceignore", "local.cfg\nbuilt/\n*.log\n")


def test_it_goes_from_friends_folders_and_stays_in_mine(pair: tuple[Person, Person]) -> None:
    """CLAY-71, APP-12: it took three steps by hand, in which the file was in no folder; now the notice's command does.

    It may have edits that are in no commit, for nothing of it is written.
    """
    alice, bob = pair
    _named(alice)
    alice.lace("release", "1.1.0")
    for person in pair:
        person.lace("sync", "stick")
    bob.lace("update")
    assert (bob.folder / "built/deep/a.o").exists()
    alice.write("local.cfg", "SECRET\n")
    (notice,) = alice.lace("changes")["notices"]
    assert "lace commit -m TEXT --keep-out PATH" in notice["reason"]
    before = tree_of(alice.folder)
    text = alice.text("commit", "-m", "mine alone", "--keep-out", "local.cfg", "built")
    assert "built/b.o, built/deep/a.o, local.cfg are shared no more and stay here." in text
    assert "They go from your friends' folders with the next release: lace release" in text
    assert tree_of(alice.folder) == before
    found = alice.lace("changes")
    assert (found["added"], found["changed"], found["deleted"], found["notices"]) == ([], [], [], [])
    alice.write("local.cfg", "SECRET TOO\n")
    assert alice.lace("release", "1.2.0")["notices"] == []
    for person in pair:
        person.lace("sync", "stick")
    bob.lace("update")
    assert set(tree_of(bob.folder)) == {".laceignore", "kept.txt", "list.md", "notes.md"}
    assert (alice.folder / "local.cfg").read_text() == "SECRET TOO\n"
    assert alice.lace("update")["relation"] == "same"
    assert (alice.folder / "built/deep/a.o").exists()


def test_only_what_is_named_is_committed_and_a_second_time_changes_nothing(ann: Person) -> None:
    """CLAY-71, APP-13: other edits wait, the rules' own file too; whoever says it again is not refused."""
    _named(ann)
    ann.write("kept.txt", "two\n")
    words = ("commit", "-m", "mine alone", "--keep-out", "local.cfg", "built")
    made = ann.lace(*words)
    assert (made["revision"], made["added"], made["changed"]) == (2, [], [])
    assert made["deleted"] == ["built/b.o", "built/deep/a.o", "local.cfg"]
    again = ann.lace(*words)
    assert (again["commit"], again["deleted"]) == (None, [])
    found = ann.lace("changes")
    assert (found["added"], found["changed"], found["deleted"]) == ([".laceignore"], ["kept.txt"], [])
    assert ann.lace("commit", "-m", "the rest")["deleted"] == []
    assert (ann.folder / "built/deep/a.o").exists()


def test_what_would_come_back_or_is_not_there_is_refused(ann: Person) -> None:
    """CLAY-71, APP-14: what no rule names would be added again at once; the way out is told, nothing is changed."""
    _named(ann)
    ann.write("built/new.o", "never committed\n")
    ann.write("x.log", "never committed\n")
    before = ann.lace("log", "-n", "1")["entries"]
    keep_out = ("--json", "commit", "-m", "x", "--keep-out")
    told = error_of(ann.run(*keep_out, "local.cfg", "kept.txt"), "not-named")
    assert told["message"].startswith("kept.txt is named by no rule of .laceignore")
    assert ".laceignore" in error_of(ann.run(*keep_out, "."), "not-named")["message"]
    assert "Name it there first" in told["hint"]
    error_of(ann.run(*keep_out, "none.log"), "no-such-path")
    error_of(ann.run(*keep_out, "none.txt"), "no-such-path")
    assert ann.lace("commit", "-m", "x", "--keep-out", "x.log", "built/new.o")["commit"] is None
    error_of(ann.run(*keep_out), "bad-arguments")
    error_of(ann.run(*keep_out, "--changes", "-"), "bad-arguments")
    error_of(ann.run("--json", "commit", "-m", "x", "--dry-run"), "bad-arguments")
    (ann.folder / ".laceignore").unlink()
    error_of(ann.run(*keep_out, "local.cfg"), "not-named")
    assert ann.lace("log", "-n", "1")["entries"] == before


def test_a_folder_that_was_emptied_is_not_given_up_by_it(ann: Person) -> None:
    """APP-12: with the files the rules are gone, so nothing is kept out, and the next commit of all is refused."""
    _named(ann)
    ann.lace("commit", "-m", "rules")
    for path in sorted(ann.folder.rglob("*"), reverse=True):
        if ".vault" not in path.parts:
            path.rmdir() if path.is_dir() else path.unlink()
    error_of(ann.run("--json", "commit", "-m", "x", "--keep-out", "."), "not-named")
    error_of(ann.run("--json", "commit", "-m", "x"), "folder-emptied")


def test_a_dry_run_says_what_would_go(ann: Person) -> None:
    """APP-12: the same paths as the commit itself, and nothing is written; no message is asked for."""
    _named(ann)
    before = ann.lace("changes")
    planned = ann.lace("commit", "--keep-out", "--dry-run", "built")
    assert (planned["planned"], planned["commit"]) == (True, None)
    assert planned["deleted"] == ["built/b.o", "built/deep/a.o"]
    assert ann.lace("changes") == before
    assert ann.lace("commit", "-m", "x", "--keep-out", "built")["deleted"] == planned["deleted"]


def test_an_undo_shares_it_again(ann: Person) -> None:
    """APP-4: the folder is as it was, an edit made since too, and it counts as a change of what is shared again."""
    _named(ann)
    ann.lace("commit", "-m", "rules")
    ann.lace("commit", "-m", "mine alone", "--keep-out", "local.cfg")
    ann.write("local.cfg", "two\n")
    assert "what it kept out is part of main again" in ann.lace("undo")["undone"]
    assert ann.lace("changes")["changed"] == ["local.cfg"]
    assert ann.lace("commit", "-m", "mine alone", "--keep-out", "local.cfg")["deleted"] == ["local.cfg"]
    assert ann.lace("changes")["added"] == []


def test_a_desk_has_its_own_rules(ann: Person) -> None:
    """CLAY-3, CLAY-71: the rules around say nothing of a desk, and what they name around it stays what it is there."""
    ann.write("songs/one.md", "one\n")
    ann.write("songs/draft/two.md", "two\n")
    ann.write("songs/old/three.md", "three\n")
    ann.lace("commit", "-m", "all of it")
    ann.lace("desk", "add", "drafts", "songs/draft")
    ann.write("songs/draft/my.key", "secret\n")
    ann.lace("commit", "-m", "drafts", "--desk", "drafts")
    ann.write(".laceignore", "songs/\n")
    told = error_of(ann.run("--json", "commit", "-m", "x", "--keep-out", "songs/draft/my.key"), "outside-folder")
    assert "lace commit -m TEXT --desk drafts --keep-out songs/draft/my.key" in told["hint"]
    refused = ann.run("--json", "commit", "-m", "x", "--desk", "drafts", "--keep-out", "songs/draft/my.key")
    error_of(refused, "not-named")
    gone = ann.lace("commit", "-m", "x", "--keep-out", "songs")["deleted"]
    assert gone == ["songs/old/three.md", "songs/one.md"]
    assert ann.run("cat", "main", "songs/draft/two.md").out == b"two\n"
    ann.write("songs/draft/.laceignore", "*.key\n")
    text = ann.text("commit", "-m", "x", "--desk", "drafts", "--keep-out", "songs/draft/my.key")
    assert "my.key is shared no more and stays here." in text
    assert "lace release --desk drafts" in text
    assert ann.lace("changes", "drafts")["added"] == [".laceignore"]
    assert ann.lace("changes")["deleted"] == []


def test_what_this_disk_cannot_hold_can_be_kept_out_too(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-71, APP-12: a path that no checkout wrote here is in the tree, and goes from it."""
    alice, bob = pair
    alice.write("logs/a.log", "one\n")
    (alice.folder / "logs/last.log").symlink_to("a.log")
    alice.lace("release", "1.1.0")
    for person in pair:
        person.lace("sync", "stick")

    def refuse(*_args: object, **_named: object) -> None:
        raise OSError(errno.EPERM, "this disk has no links")

    monkeypatch.setattr(os, "symlink", refuse)
    bob.lace("update")
    assert not os.path.lexists(bob.folder / "logs/last.log")
    bob.write(".laceignore", "logs/\n")
    assert bob.lace("changes")["deleted"] == []
    assert bob.lace("commit", "-m", "x", "--keep-out", "logs")["deleted"] == ["logs/a.log", "logs/last.log"]
    assert bob.lace("changes")["added"] == [".laceignore"]
    assert (bob.folder / "logs/a.log").exists()


def test_commits_that_are_shared_tell_friends_at_once(pair: tuple[Person, Person]) -> None:
    """LAZ-57, H-29: then no release is waited for, and the answer says so."""
    alice, _ = pair
    alice.lace("config", "set", "share", "commits")
    alice.write(".laceignore", "list.md\n")
    text = alice.text("commit", "-m", "x", "--keep-out", "list.md")
    assert text.rstrip().endswith("It goes from your friends' folders")
    assert alice.lace("sync", "stick")["sent"] > 0
