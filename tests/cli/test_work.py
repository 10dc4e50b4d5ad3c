"""The writing verbs of "Work", through the real command line and real files."""

from __future__ import annotations

import os
import stat
from unicodedata import normalize

import pytest

from tests.cli.looking import error_of, tree_of
from tests.people import Person
from vault.records import RecordHash

# changes


def test_changes_names_each_path_once(ann: Person) -> None:
    """CLAY-70: added, changed, deleted; nothing is written (a second look says the same)."""
    ann.write("keep.txt", "k")
    ann.write("edit.txt", "1")
    ann.write("gone.txt", "g")
    ann.lace("commit", "-m", "start")
    ann.write("edit.txt", "2")
    (ann.folder / "gone.txt").unlink()
    ann.write("sub/new.txt", "n")
    expected = {"added": ["sub/new.txt"], "changed": ["edit.txt"], "deleted": ["gone.txt"], "conflicted": []}
    for _ in range(2):
        data = ann.lace("changes")
        assert {key: data[key] for key in expected} == expected
    assert ann.text("changes").splitlines() == ["~ edit.txt", "- gone.txt", "+ sub/new.txt"]
    assert ann.lace("changes", "main")["desk"] == "main"


def test_changes_of_nothing(ann: Person) -> None:
    assert ann.text("changes") == "Nothing changed.\n"
    error_of(ann.run("--json", "changes", "songs"), "no-such-desk")


def test_what_cannot_be_taken_is_always_said(ann: Person) -> None:
    """APP-12: names that cannot travel are reported on stderr and in JSON, and the rest is taken."""
    ann.write("good.txt", "x")
    ann.write("aux.txt", "a device on Windows")
    os.mkfifo(ann.folder / "pipe")
    (ann.folder / "bad\nname").write_text("x")
    for words in (["changes"], ["commit", "-m", "x"]):
        result = ann.run("--json", *words)
        kinds = {notice["path"]: notice["kind"] for notice in result.json["notices"]}
        assert kinds["pipe"] == "skipped"
        assert kinds["aux.txt"] == "notice"
        assert kinds["bad\nname"] == "skipped"
        assert "pipe" in result.err
        assert "it was left out" in result.err
        assert result.json["added"] == ["aux.txt", "good.txt"]


# commit


def test_commit_keeps_what_changed(ann: Person) -> None:
    """LAZ-45, LAZ-57: no network, nothing shared; the answer names commit, number and paths."""
    ann.write("a.txt", "a")
    data = ann.lace("commit", "-m", "first")
    assert RecordHash.parse(data["commit"]).kind == "S"
    assert (data["desk"], data["revision"], data["added"]) == ("main", 1, ["a.txt"])
    (entry,) = [line for line in ann.lace("log")["entries"] if line["app"] == "lace/commit"]
    assert (entry["hash"], entry["message"], entry["seq"]) == (data["commit"], "first", None)


def test_commit_of_nothing_is_no_error(ann: Person) -> None:
    ann.write("a.txt", "a")
    assert "revision 1: 1 added" in ann.text("commit", "-m", "first")
    assert ann.text("commit", "-m", "again") == "Nothing changed.\n"
    data = ann.lace("commit", "-m", "again")
    assert (data["commit"], data["revision"], data["added"]) == (None, None, [])


def test_commit_only_some_paths(ann: Person) -> None:
    """Paths are those of the folder one is in."""
    ann.write("a.txt", "a")
    ann.write("sub/b.txt", "b")
    ann.write("sub/c.txt", "c")
    assert ann.lace("-C", "sub", "commit", "-m", "b", "b.txt")["added"] == ["sub/b.txt"]
    assert ann.lace("changes")["added"] == ["a.txt", "sub/c.txt"]
    assert ann.lace("-C", "sub", "commit", "-m", "c", ".")["added"] == ["sub/c.txt"]
    assert ann.lace("commit", "-m", "a", str(ann.folder))["added"] == ["a.txt"]
    error_of(ann.run("--json", "commit", "-m", "x", "nowhere.txt"), "no-such-path")
    error_of(ann.run("--json", "commit", "-m", "x", "../other"), "outside-folder")


def test_nothing_new_is_taken_while_a_rule_cannot_be_used(ann: Person) -> None:
    """CLAY-71: what the rule may mean is not shared; what is named, or known already, is taken all the same."""
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "first")
    ann.write(".laceignore", "*-*-*-*.key\n")
    ann.write("a.txt", "two\n")
    assert sorted(ann.lace("commit", "-m", "rules")["added"]) == [".laceignore"]
    ann.write("a-b-c-d.key", "secret\n")
    assert ann.lace("changes")["added"] == ["a-b-c-d.key"]
    for words in (["commit", "-m", "x"], ["release", "1.0.0"], ["release", "1.0.0", "--dry-run"]):
        told = ann.lace(*words, expect=2)["error"]
        assert told["code"] == "rules-unclear"
        assert "rule 1 has too many wildcards" in told["message"]
        assert "a-b-c-d.key" in told["message"]
    ann.write("b.txt", "mine to share\n")
    assert ann.lace("commit", "-m", "by name", "b.txt")["added"] == ["b.txt"]
    ann.write("sub/deep/c.txt", "mine too\n")
    assert ann.lace("commit", "-m", "a folder by name", "sub")["added"] == ["sub/deep/c.txt"]
    (ann.folder / "a-b-c-d.key").rename(ann.folder.parent / "away.key")
    (ann.folder / "empty").mkdir()
    assert ann.lace("commit", "-m", "no file at all")["added"] == ["empty"]
    (ann.folder.parent / "away.key").rename(ann.folder / "a-b-c-d.key")
    ann.write(".laceignore", "*.key\n")
    assert ann.lace("release", "1.0.0")["files"] == 4


def test_a_name_is_found_however_its_accents_are_spelled(ann: Person) -> None:
    """APP-12: a shell completes a name as the disk spells it; a name that no desk can hold is the caller's slip."""
    spelled = normalize("NFD", "café.txt")
    ann.write(spelled, "one\n")
    assert ann.lace("commit", "-m", "x", spelled)["added"] == ["café.txt"]
    assert ann.run("cat", "main", spelled).out == b"one\n"
    told = ann.lace("commit", "-m", "x", "a\tb", expect=2)["error"]
    assert "control character" in told["message"]


@pytest.mark.parametrize("words", [[], ["-m", ""], ["-m", "  \n"]])
def test_commit_needs_a_message(ann: Person, words: list[str]) -> None:
    ann.write("a.txt", "a")
    ann.environ["EDITOR"] = "/bin/false"
    assert "-m TEXT" in error_of(ann.run("--json", "commit", *words), "message-needed")["hint"]
    assert ann.lace("changes")["added"] == ["a.txt"]


def editor(person: Person, script: str) -> None:
    """Make a real program the person's editor."""
    file = person.home / "my editor"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    person.environ.update(EDITOR=f"'{file}'", TERM="xterm")


def test_on_a_terminal_the_editor_asks(ann: Person) -> None:
    ann.write("a.txt", "a")
    editor(ann, 'printf "title\\n\\nmore\\n# left out\\n" > "$1"')
    assert ann.run("commit", tty=True).code == 0
    (entry,) = [line for line in ann.lace("log")["entries"] if line["app"] == "lace/commit"]
    assert entry["message"] == "title\n\nmore"
    assert not (ann.folder / ".vault/message.txt").exists()


@pytest.mark.parametrize(
    ("script", "says"),
    [("exit 3", "ended with 3"), ("true", "there is none"), ("gone", "cannot be started: no such file")],
)
def test_an_editor_that_fails_stops_the_commit(ann: Person, script: str, says: str) -> None:
    ann.write("a.txt", "a")
    editor(ann, script)
    if script == "gone":
        ann.environ["EDITOR"] = str(ann.home / "no such editor")
    result = ann.run("commit", tty=True)
    assert result.code in {2, 19}
    assert says in result.err
    assert ann.lace("changes")["added"] == ["a.txt"]


# release


def test_release_commits_numbers_and_shares(ann: Person) -> None:
    """LAZ-45, CYB-2: one act, offline; the first release says what goes."""
    ann.write("a.txt", "12345")
    ann.write("sub/b.txt", "1234567")
    data = ann.lace("release", "1.0.0", "-m", "first")
    assert {"release", "version", "desk", "commit", "seq", "content_sha512"} <= set(data)
    assert (data["version"], data["files"], data["bytes"], data["first"]) == ("1.0.0", 2, 12, True)
    assert data["content_sha512"].startswith("sha512:")
    assert data["added"] == ["a.txt", "sub/b.txt"]
    ann.write("a.txt", "new")
    text = ann.text("release", "1.0.1")
    assert "Released main 1.0.1: 1 changed; 2 files" in text
    assert "Next: lace place add" in text
    (entry,) = [line for line in ann.lace("log")["entries"] if line["name"] == "main/1.0.0"]
    assert (entry["hash"], entry["seq"]) == (data["release"], data["seq"])


def test_a_release_says_which_earlier_commits_go_with_it(ann: Person) -> None:
    """LAZ-45: what was committed before and never released is new to friends too, before and after it is done."""
    ann.write("a.txt", "1")
    ann.lace("release", "1.0.0")
    for text in ("2", "3"):
        ann.write("a.txt", text)
        ann.lace("commit", "-m", text)
    assert "main 1.0.1: 2 earlier commits; 1 file" in ann.text("release", "--dry-run")
    ann.write("b.txt", "b")
    assert ann.lace("release", "--dry-run")["earlier_commits"] == 2
    assert "Released main 1.0.1: 1 added and 2 earlier commits; 2 files" in ann.text("release", "1.0.1")
    ann.write("b.txt", "c")
    done = ann.lace("release", "1.0.2")
    assert (done["earlier_commits"], done["changed"]) == (0, ["b.txt"])


def test_a_planned_release_refuses_what_the_release_refuses(ann: Person) -> None:
    """CYB-5: a dry run promises no version that is taken, and nothing where there is nothing."""
    error_of(ann.run("--json", "release", "--dry-run"), "nothing-to-release")
    ann.write("a.txt", "1")
    assert ann.lace("release", "--dry-run")["version"] == "1.0.0"
    ann.lace("release", "1.0.0")
    for words in (("1.0.0",), ()):
        planned, done = (ann.run("--json", "release", *words, *more) for more in (("--dry-run",), ("--yes",)))
        assert planned.json == done.json
        assert planned.code == done.code == 2
    assert ann.lace("release", "1.1.0", "--dry-run")["version"] == "1.1.0"  # the same content again may be named
    ann.write("a.txt", "2")
    error_of(ann.run("--json", "release", "1.0.0", "--dry-run"), "version-taken")


def test_the_first_release_says_that_all_of_it_goes(ann: Person) -> None:
    ann.write("a.txt", "12345")
    assert "all of it goes to your friends, 1 file, 5 B" in ann.text("release", "1.0.0")


@pytest.mark.parametrize("version", ["1", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc1", "01.0.0", "1.0.x", ""])
def test_another_form_of_version_is_refused(ann: Person, version: str) -> None:
    """CYB-2: X.Y.Z; -merged is the one suffix."""
    ann.write("a.txt", "a")
    result = ann.run("--json", "release", version)
    error_of(result, "bad-version" if version else "bad-arguments")
    assert ann.lace("log")["entries"][0]["app"] not in {"lace/release", "lace/commit"}


def test_a_released_version_is_immutable(ann: Person) -> None:
    """CYB-5: releasing it again is refused, and the next free one is named."""
    ann.write("a.txt", "a")
    before = ann.lace("release", "1.0.0")
    ann.write("a.txt", "b")
    assert "1.0.1" in error_of(ann.run("--json", "release", "1.0.0"), "version-taken")["hint"]
    assert ann.run("cat", "main@1.0.0", "a.txt").out == b"a"
    assert ann.lace("changes")["changed"] == ["a.txt"]
    (entry,) = [line for line in ann.lace("log")["entries"] if line["app"] == "lace/release"]
    assert entry["hash"] == before["release"]


def test_on_a_pipe_the_number_is_proposed_and_not_taken(ann: Person) -> None:
    """The error names the number and the command."""
    ann.write("a.txt", "a")
    error = error_of(ann.run("--json", "release"), "version-needed")
    assert "1.0.0" in error["message"]
    assert "lace release 1.0.0" in error["hint"]
    assert ann.lace("release", "--yes")["version"] == "1.0.0"
    ann.write("a.txt", "b")
    assert ann.lace("release", "-y")["version"] == "1.0.1"
    error_of(ann.run("--json", "release", "--yes"), "nothing-to-release")


@pytest.mark.parametrize(("answer", "version"), [(b"y\n", "1.0.0"), (b"YES\n", "1.0.0"), (b"\n", ""), (b"n\n", "")])
def test_on_a_terminal_the_person_agrees(ann: Person, answer: bytes, version: str) -> None:
    ann.environ["TERM"] = "xterm"
    ann.write("a.txt", "a")
    result = ann.run("release", tty=True, stdin=answer)
    assert result.code == 0
    assert "Release main as 1.0.0? [y/N]" in result.err
    assert [line["name"] for line in ann.lace("log")["entries"] if line["app"] == "lace/release"] == (
        ["main/1.0.0"] if version else []
    )


def test_on_a_terminal_nothing_new_is_said_before_asking(ann: Person) -> None:
    ann.environ["TERM"] = "xterm"
    ann.write("a.txt", "a")
    ann.lace("release", "1.0.0")
    result = ann.run("release", tty=True, stdin=b"y\n")
    assert (result.code, "[y/N]" in result.err) == (2, False)


def test_a_dry_run_says_what_would_go_and_does_nothing(ann: Person) -> None:
    ann.write("a.txt", "12345")
    ann.write("b.txt", "1")
    ann.lace("commit", "-m", "x")
    ann.write("a.txt", "1234567")
    (ann.folder / "b.txt").unlink()
    data = ann.lace("release", "--dry-run")
    assert (data["planned"], data["version"], data["files"], data["bytes"]) == (True, "1.0.0", 1, 7)
    assert (data["changed"], data["deleted"], data["first"]) == (["a.txt"], ["b.txt"], True)
    assert "Would release main 2.0.0" in ann.text("release", "2.0.0", "--dry-run")
    assert ann.lace("changes")["changed"] == ["a.txt"]


# update


def test_update_brings_a_release_into_the_folder(pair: tuple[Person, Person]) -> None:
    """LAZ-1: update itself needs no place; the dry run writes nothing."""
    ann, bob = pair
    ann.write("notes.md", "changed\n")
    ann.write("sub/new.md", "new\n")
    (ann.folder / "list.md").unlink()
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    planned = bob.lace("update", "--dry-run")
    assert (planned["planned"], planned["relation"]) == (True, "behind")
    assert tree_of(bob.folder) == before
    done = bob.lace("update")
    assert (done["relation"], done["revision"], done["conflicts"], done["merged"]) == ("behind", 2, [], [])
    assert sorted(done["written"]) == sorted(planned["written"]) == ["notes.md", "sub/new.md"]
    assert done["deleted"] == planned["deleted"] == ["list.md"]
    assert (done["sources"], done["versions"]) == (["alice"], ["1.1.0"])
    assert tree_of(bob.folder) == tree_of(ann.folder)
    assert "Nothing new" in bob.text("update")
    assert bob.lace("update")["relation"] == "same"


def test_what_is_deleted_is_never_called_written(pair: tuple[Person, Person]) -> None:
    """A moved folder is so many files and so many deleted, in the sync, the plan and the update."""
    ann, bob = pair
    (ann.folder / "notes.md").rename(ann.folder / "words.md")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    said = bob.text("sync", "stick")
    assert "alice released 1.1.0: 1 file, 1 deleted\n" in said
    paths = "  words.md\n- notes.md\n"
    assert bob.text("update", "--dry-run") == f"alice 1.1.0: 1 file would be written, 1 deleted.\n{paths}"
    assert bob.text("update") == f"alice 1.1.0: 1 file written, 1 deleted.\n{paths}"
    (ann.folder / "words.md").unlink()
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    (came,) = bob.lace("sync", "stick")["releases"]
    assert (came["files"], came["deleted"]) == (0, 1)
    assert bob.text("update") == "alice 1.2.0: 1 file deleted.\n- words.md\n"


def test_a_first_release_of_my_own_on_a_friend_s_work_is_not_all_mine(pair: tuple[Person, Person]) -> None:
    """All of it goes to friends only where nothing that somebody released is below it."""
    _, bob = pair
    bob.write("list.md", "one line more\n")
    assert bob.lace("release", "--dry-run")["first"] is False
    assert bob.text("release", "--yes").startswith("Released main 1.0.1: 1 changed; 2 files, ")


def test_update_merges_what_does_not_touch(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    ann.write("notes.md", "ONE\ntwo\nthree\nfour\nfive\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.write("notes.md", "one\ntwo\nthree\nfour\nFIVE\n")
    bob.lace("sync", "stick")
    text = bob.text("update")
    assert "committed first" in text
    assert "alice 1.1.0 merged with yours" in text
    assert "1 merged line by line" in text
    assert "Next: lace release" in text
    assert (bob.folder / "notes.md").read_text() == "ONE\ntwo\nthree\nfour\nFIVE\n"


def test_a_look_at_an_older_state_is_never_committed_by_an_update(pair: tuple[Person, Person]) -> None:
    """LAZ-1, CLAY-24: it would take back for everybody what came since; work that takes nothing back is committed."""
    ann, bob = pair
    ann.write("list.md", "milk\ntea\n")
    ann.lace("commit", "-m", "mine")
    bob.write("notes.md", "one\ntwo\nthree\nfour\nfive\nsix\n")
    bob.lace("release", "1.1.0")
    for person in (bob, ann):
        person.lace("sync", "stick")
    ann.lace("checkout", "main@1")
    looking = tree_of(ann.folder)
    merge = ["merge", "main", "--from", "bob/main", "--strategy", "meet"]
    for words in (["update", "--dry-run"], ["update"], [*merge, "--dry-run"], merge):
        told = ann.lace(*words, expect=2)["error"]
        assert told["code"] == "uncommitted-changes"
        assert "lace checkout main - or" in told["hint"]
        assert tree_of(ann.folder) == looking
    ann.lace("checkout", "main")
    ann.write("notes.md", (bob.folder / "notes.md").read_text())
    ann.write("list.md", "milk\n")
    ann.lace("update", "--dry-run", expect=2)  # bob's state, without what alice did
    ann.write("list.md", "milk\ntea\n")
    done = ann.lace("update")
    assert done["saved"]
    assert done["revision"] == 4, "nothing was committed by what was refused"


def test_a_decision_commits_no_look_at_an_older_state_but_a_side_that_was_checked_out(
    pair: tuple[Person, Person],
) -> None:
    """LAZ-1, LAZ-39: what came since the older state would be gone for everybody, whoever's side was taken."""
    ann, bob = pair
    for person, text in ((ann, "tea\n"), (bob, "coffee\n")):
        person.write("list.md", text)
        person.lace("release", "1.1.0")
    for person in (ann, bob, ann):
        person.run("sync", "stick")
    (conflict,) = ann.lace("conflicts")["conflicts"]
    ann.lace("checkout", "main@1")
    looking = tree_of(ann.folder)
    for words in (["--prefer", "local", "--dry-run"], ["--prefer", "local"], ["--merged", "1.2.0"]):
        told = ann.lace("resolve", conflict["id"], *words, expect=2)["error"]
        assert told["code"] == "uncommitted-changes", words
        assert tree_of(ann.folder) == looking
    ann.lace("checkout", "bob/main@1.1.0")
    done = ann.lace("resolve", conflict["id"], "--prefer", "bob")
    assert done["status"] == "resolved-remote"
    assert (ann.folder / "list.md").read_text() == "coffee\n"


def test_update_that_clashes_changes_nothing_and_names_the_way(pair: tuple[Person, Person]) -> None:
    """Exit 1, the paths, and the next command; `changes` names the paths too."""
    ann, bob = pair
    ann.write("notes.md", "alice's\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.write("notes.md", "bob's\n")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    data = bob.lace("update", expect=1)
    assert tree_of(bob.folder) == before
    assert data["relation"] == "conflicting"
    assert data["conflicts"] == [{"path": "notes.md", "kind": "content", "is_text": True}]
    assert f"lace resolve {data['conflict']}" in data["next"]
    text = bob.text("update", expect=1)
    assert "  notes.md (content)" in text
    assert f"lace resolve {data['conflict']} --prefer" in text
    assert bob.lace("changes")["conflicted"] == ["notes.md"]
    assert "! notes.md" in bob.text("changes")
    bob.lace("resolve", data["conflict"], "--prefer", "remote")
    assert bob.lace("changes")["conflicted"] == []
    assert bob.lace("update")["conflicts"] == []


def test_update_waits_for_a_version_that_people_disagree_about(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    data = bob.lace("update", expect=1)
    (waiting,) = data["waiting"]
    assert waiting in data["next"]
    assert "lace conflicts" in bob.text("update", expect=1)
    assert (bob.folder / "list.md").read_text() == "bob\n"


def test_update_from_one_friend(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    for version in ("1.1.0", "1.2.0"):
        ann.write("list.md", version)
        ann.lace("release", version)
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update", "--from", "alice@1.1.0")["versions"] == ["1.1.0"]
    assert (bob.folder / "list.md").read_text() == "1.1.0"
    bob.lace("update", "main", "--from", "alice")
    assert (bob.folder / "list.md").read_text() == "1.2.0"
    error_of(bob.run("--json", "update", "--from", "alice@9.0.0"), "nothing-from-peer")
    error_of(bob.run("--json", "update", "--from", "alice@3"), "bad-arguments")
    error_of(bob.run("--json", "update", "--from", "eve"), "no-such-peer")
    error_of(bob.run("--json", "update", "songs"), "no-such-desk")


def test_update_overwrites_no_file_that_was_never_committed(pair: tuple[Person, Person]) -> None:
    """A new file of the same name is committed first and then clashes; its bytes stay."""
    ann, bob = pair
    ann.write("new.md", "alice's\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.write("new.md", "bob's\n")
    assert bob.lace("update", expect=1)["conflicts"][0]["path"] == "new.md"
    assert (bob.folder / "new.md").read_text() == "bob's\n"


@pytest.mark.parametrize(
    "words",
    [
        *(["changes"], ["commit", "-m", "x"], ["release", "1.0.0"], ["update"], ["log"]),
        *(["cat", "main", "x"], ["diff"], ["checkout", "main"], ["desks"]),
    ],
)
def test_without_a_vault(alice: Person, words: list[str]) -> None:
    """APP-14: every verb of the family ends with 10 and names the way to a vault."""
    error_of(alice.run("--json", *words), "no-vault", 10)


@pytest.mark.parametrize("look", [("changes",), ("status", "--tree"), ("release", "2.0.0", "--dry-run")])
def test_a_look_at_folders_that_hold_nothing_of_the_desk_stops_no_commit(alice: Person, look: tuple[str, ...]) -> None:
    """APP-12: it was kept by the hash of a tree that nobody stored, and each commit after it failed for ever."""
    alice.write("a.txt", "one\n")
    alice.write(".laceignore", "*.log\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    alice.write("deep/er/logs/today.log", "x\n")
    alice.lace("desk", "add", "songs", "music/of/songs")
    alice.write("music/of/songs/a.txt", "la\n")
    for _ in range(2):
        alice.lace(*look)
        assert not any(alice.lace("changes")[kind] for kind in ("added", "changed", "deleted", "notices"))
    alice.write("a.txt", "two\n")
    alice.lace(*look)
    assert alice.lace("commit", "-m", "more")["changed"] == ["a.txt"]
    assert alice.lace("release", "1.1.0")["version"] == "1.1.0"
    assert alice.lace("fsck")["ok"]
