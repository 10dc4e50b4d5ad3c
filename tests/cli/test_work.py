"""The writing verbs of "Work", through the real command line and real files."""

from __future__ import annotations

import os
import shutil
import stat
from unicodedata import normalize

import pytest

from tests.cli.looking import error_of
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


def test_changes_tells_what_is_no_edit(ann: Person) -> None:
    """CLAY-28: a file that became a program, or a link, looked like one that was edited."""
    for name in ("tool.sh", "was.sh", "link"):
        ann.write(name, "x\n")
    (ann.folder / "was.sh").chmod(0o755)
    ann.lace("commit", "-m", "x")
    (ann.folder / "tool.sh").chmod(0o755)
    (ann.folder / "was.sh").chmod(0o644)
    (ann.folder / "link").unlink()
    (ann.folder / "link").symlink_to("tool.sh")
    assert ann.text("changes").splitlines() == [
        "~ link (a link now)",
        "~ tool.sh (can be run as a program now)",
        "~ was.sh (can no longer be run as a program)",
    ]
    assert ann.lace("changes")["changed"] == ["link", "tool.sh", "was.sh"]


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
    assert (data["commit"], data["revision"], data["added"], data["pushed"]) == (None, None, [], [])


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


def test_what_the_rules_name_and_was_committed_before_is_told(ann: Person) -> None:
    """CLAY-71, APP-12: what was written into it later went to every friend without a word; the way out works."""
    for path in ("local.cfg", "built/deep/a.o", "built/deep/b.o", "kept.txt"):
        ann.write(path, "one\n")
    ann.lace("release", "1.0.0")
    ann.write(".laceignore", "local.cfg\nbuilt/\n")
    told = ann.lace("changes")["notices"]
    assert [(one["path"], one["kind"]) for one in told] == [("built", "notice"), ("local.cfg", "notice")]
    assert ann.lace("release", "1.1.0", "--dry-run")["notices"] == told
    assert ann.lace("release", "1.1.0")["notices"] == told
    ann.write("kept.txt", "two\n")
    assert ann.lace("commit", "-m", "another file")["notices"] == []
    ann.write("local.cfg", "SECRET\n")
    assert ann.lace("changes")["notices"] == told[1:]
    ann.environ["TERM"] = "xterm"
    asked = ann.run("release", tty=True, stdin=b"n\n").err
    words = "local.cfg is named in .laceignore and was committed before, so it goes on being shared."
    assert words in asked
    assert asked.index(words) < asked.index("Release main as")
    away = ann.folder.parent
    for path in ("local.cfg", "built"):
        (ann.folder / path).rename(away / path)
        ann.lace("commit", "-m", "no longer shared", path)
        (away / path).rename(ann.folder / path)
    ann.write("local.cfg", "SECRET TOO\n")
    assert ann.lace("release", "1.2.0")["notices"] == []
    error_of(ann.run("--json", "cat", "main@1.2.0", "local.cfg"), "no-such-path")
    assert (ann.folder / "local.cfg").read_text() == "SECRET TOO\n"


def test_rules_that_name_their_own_file_are_no_fault_of_theirs(ann: Person) -> None:
    """CLAY-71: a notice about that file means that a rule cannot be used, and then nothing new is taken."""
    ann.write(".laceignore", "*.o\n")
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "first")
    ann.write(".laceignore", "*.o\n.*\n")
    ann.write("b.txt", "new\n")
    assert ann.lace("commit", "-m", "second")["added"] == ["b.txt"]


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
    """LAZ-45: what was committed before and never released is new to friends too, before and after it is done.

    It said how many commits, and not what they held.
    """
    ann.write("a.txt", "1")
    ann.lace("release", "1.0.0")
    for text in ("2", "3"):
        ann.write("a.txt", text)
        ann.lace("commit", "-m", text)
    assert "main 1.0.1: 1 changed, with 2 earlier commits; 1 file" in ann.text("release", "--dry-run")
    ann.write("b.txt", "b")
    planned = ann.lace("release", "--dry-run")
    assert (planned["earlier_commits"], planned["added"], planned["changed"]) == (2, ["b.txt"], [])
    assert planned["since_release"] == {"added": ["b.txt"], "changed": ["a.txt"], "deleted": []}
    assert "Released main 1.0.1: 1 added, 1 changed, with 2 earlier commits; 2 files" in ann.text("release", "1.0.1")
    ann.write("b.txt", "c")
    done = ann.lace("release", "1.0.2")
    assert (done["earlier_commits"], done["changed"]) == (0, ["b.txt"])
    assert done["since_release"] == {"added": [], "changed": ["b.txt"], "deleted": []}


def test_a_release_says_what_an_earlier_commit_deleted(ann: Person) -> None:
    """LAZ-45: it said `1 earlier commit; 1 file`, and took the others out of every friend's folder."""
    for name in ("1", "2", "3", "4"):
        ann.write(f"p/{name}.txt", name)
    ann.write("kept.txt", "kept")
    assert ann.lace("release", "1.0.0")["since_release"] is None
    (ann.folder / "p").rename(ann.folder / "q")
    assert "! It deletes" not in ann.text("release", "--dry-run"), "moved is not gone"
    shutil.rmtree(ann.folder / "q")
    ann.lace("commit", "-m", "cleanup")
    warning = "! It deletes 4 of the 5 files released before, in every friend's folder."
    told = ann.text("release", "--dry-run")
    assert told.startswith("Would release main 1.0.1: 4 deleted, with 1 earlier commit; 1 file, ")
    assert told.splitlines()[1] == warning
    planned = ann.lace("release", "--dry-run")
    assert (planned["deleted"], len(planned["since_release"]["deleted"])) == ([], 4)
    ann.environ["TERM"] = "xterm"
    asked = ann.run("release", stdin=b"n\n", tty=True)
    assert warning in asked.err.replace("\r", "").splitlines()
    ann.environ["TERM"] = "dumb"
    told = ann.text("release", "1.0.1")
    assert told.startswith("Released main 1.0.1: 4 deleted, with 1 earlier commit; 1 file, ")
    assert told.splitlines()[1] == warning
    ann.write("kept.txt", "changed")
    assert "! It deletes" not in ann.text("release", "1.0.2")


def test_what_a_friend_released_is_not_told_of_my_release(pair: tuple[Person, Person]) -> None:
    """LAZ-45: what came by a merge, deletions too, was told of my release, though everybody has it from the friend."""
    alice, bob = pair
    for name in ("notes.md", "list.md"):
        (bob.folder / name).unlink()
    bob.write("bob.md", "bob")
    bob.lace("release", "1.1.0")
    alice.write("alice.md", "alice")
    alice.lace("commit", "-m", "alice's")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")
    told = alice.text("release", "1.2.0")
    assert told.startswith("Released main 1.2.0: 1 added, with 2 earlier commits; 2 files, ")
    assert "! It deletes" not in told


@pytest.mark.parametrize("edited", [[], ["a.md"]])
def test_what_a_friend_never_had_is_told_where_my_release_deletes_it(
    pair: tuple[Person, Person], edited: list[str]
) -> None:
    """LAZ-45: a merged release without my newer files hid that mine deletes them, and which text it takes back."""
    alice, bob = pair
    new = [f"new/{number}.md" for number in range(9)]
    for name in new:
        alice.write(name, name)
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.0.1")
    bob.write("notes.md", "bob\n")
    bob.lace("release", "1.0.2")
    for person in (alice, bob, alice):
        person.lace("sync", "stick")
    alice.lace("update")
    shutil.rmtree(alice.folder / "new")
    alice.write("list.md", "milk\n")  # as bob still has it
    for name in edited:  # without it the folder is as bob released it
        alice.write(name, "mine\n")
    brought = {"added": edited, "changed": ["list.md"], "deleted": new}
    warning = "! It deletes 9 of the 11 files released before, in every friend's folder."
    assert alice.lace("release", "--dry-run")["since_release"] == brought
    told = alice.text("release", "--dry-run")
    assert "1 changed, 9 deleted" in told
    assert told.splitlines()[1] == warning
    assert alice.lace("release", "1.0.3")["since_release"] == brought


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


def test_only_what_settles_a_conflict_is_called_merged(ann: Person) -> None:
    """CYB-2: any release could be called so, though only a resolved one may; the plan said nothing of it either."""
    ann.write("a.txt", "a")
    for options in ([], ["--dry-run"]):
        error = error_of(ann.run("--json", "release", "1.0.0-merged", *options), "bad-version")
        assert error["hint"].endswith("lace release 1.0.0")
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
    assert result.code == (0 if version else 1), "what follows && takes a no for no release"
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


def test_on_a_terminal_nobody_is_asked_for_what_is_then_refused(ann: Person) -> None:
    """CYB-5, APP-12: who had agreed to a release of an emptied folder was told only then that it is refused."""
    ann.environ["TERM"] = "xterm"
    ann.write("a.txt", "a")
    ann.lace("release", "1.0.0")
    (ann.folder / "a.txt").unlink()
    error_of(ann.run("--json", "release", "--dry-run"), "folder-emptied")
    result = ann.run("release", tty=True, stdin=b"y\n")
    assert (result.code, "[y/N]" in result.err) == (2, False)
    assert "The only file of main is gone" in result.err


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


def test_a_release_at_a_terminal_says_what_it_lacks_before_it_asks(pair: tuple[Person, Person]) -> None:
    """CYB-5, APP-12: only who had agreed was told that friends had released since."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.write("own.md", "own\n")
    bob.environ["TERM"] = "xterm"
    told = bob.run("release", tty=True, stdin=b"n\n").err
    question = told.index("Release main as 1.1.1? [y/N]")
    assert 0 <= told.find("! It does not hold what friends released since: lace update\n") < question


def test_what_was_moved_is_one_line_and_stays_among_added_and_deleted(ann: Person) -> None:
    """CLAY-74: a renamed folder was two lines for each file, far apart; an empty file is like any other."""
    for name in ("a.txt", "b.txt"):
        ann.write(f"old/{name}", name)
    ann.write("old/empty", "")
    ann.write("same.txt", "same")
    ann.lace("commit", "-m", "x")
    (ann.folder / "old").rename(ann.folder / "new")
    ann.write("new/b.txt", "other")
    ann.write("copy.txt", "same")
    data = ann.lace("changes")
    assert data["moved"] == [{"from": "old/a.txt", "to": "new/a.txt"}]
    assert data["added"] == ["copy.txt", "new/a.txt", "new/b.txt", "new/empty"]
    assert data["deleted"] == ["old/a.txt", "old/b.txt", "old/empty"]
    assert ann.text("changes").splitlines() == [
        "+ copy.txt",
        "> old/a.txt -> new/a.txt",
        "+ new/b.txt",
        "+ new/empty",
        "- old/b.txt",
        "- old/empty",
    ]


@pytest.mark.parametrize(
    "words", [("changes",), ("commit", "-m", "odd"), ("release", "1.0.0"), ("release", "--dry-run")]
)
def test_of_many_odd_names_a_few_of_each_reason_are_told(ann: Person, words: tuple[str, ...]) -> None:
    """APP-12: a dozen lines stood before each answer; JSON, -v and the status of the folder have all of them."""
    for number in range(8):
        ann.write(f"{number}:x", "odd")
    ann.write("con.txt", "odd")
    for name in ("one", "two"):
        (ann.folder / name).symlink_to("/nowhere")
    told = ann.run(*words).err.splitlines()
    reason = "holds :, which Windows and FAT do not allow"
    assert told[:6] == [*(f"{number}:x {reason}." for number in range(5)), "And 3 more of the same: lace status --tree"]
    assert told[6] == "con.txt is the name of a device on Windows."
    assert told[7:] == [f"{name} points to an absolute path; it was left out." for name in ("one", "two")]
    assert ann.text("status", "--tree").count(reason) == 8
    ann.write("con.txt", "odd again")
    again = ("changes",) if words[0] == "changes" else ("release", "--dry-run")
    assert len(ann.lace(*again)["notices"]) == 11
    assert ann.run("-v", *again).err.count(reason) == 8
