"""The reading verbs of "Work", through the real command line and real files."""

from __future__ import annotations

import random
import shlex
import time

import pytest

from lace_tui.screens.files import cat_command
from lace_tui.screens.old_revisions import files_at
from tests.circle.world import open_vault
from tests.cli.looking import error_of
from tests.people import Person
from vault.records import RecordHash, Tai, Verifier

# log


def test_log_is_newest_first_and_complete(pair: tuple[Person, Person]) -> None:
    """Every entry has the promised keys; TAI and ISO time agree."""
    ann, bob = pair
    bob.write("x.md", "x")
    bob.lace("commit", "-m", "bob's title\n\nand more")
    entries = bob.lace("log", "-n", "100")["entries"]
    for entry in entries:
        assert {"hash", "app", "name", "node", "seq", "lamport", "tai", "message"} <= set(entry)
        assert Tai.parse(entry["tai"]).to_utc_iso() == entry["time"]
        RecordHash.parse(entry["hash"])
        Verifier.parse(entry["node"])
    assert [e["tai"] for e in entries] == sorted((e["tai"] for e in entries), reverse=True)
    assert (entries[0]["app"], entries[0]["message"], entries[0]["who"]) == (
        "lace/commit",
        "bob's title\n\nand more",
        "bob",
    )
    assert {e["app"] for e in entries} == {"lace/commit", "lace/release", "lace/member", "lace/node", "lace/founding"}
    assert bob.text("log", "-n", "1").rstrip().endswith("  bob committed main@2: bob's title ...")
    told = [line.partition("  ")[2] for line in bob.text("log", "-n", "100").splitlines()]
    assert {"alice founded the group friends", "alice joined as alice", "alice let bob in"} <= set(told)
    assert bob.text("log", "-v", "-n", "1").splitlines()[1] == f"    {entries[0]['hash']}"
    assert ann.lace("log", "-n", "2")["entries"] == ann.lace("log", "-n", "100")["entries"][:2]


def _told(person: Person, *words: str) -> list[tuple[str, str, list[str]]]:
    """Return who, what they wrote and which paths, of each entry of a log about paths."""
    return [(e["who"], e["message"], e["paths"]) for e in person.lace("log", *words)["entries"]]


def test_log_of_a_path_tells_who_changed_it(pair: tuple[Person, Person]) -> None:
    """CLAY-28, LAZ-6: who changed a file could not be asked; a friend's commits and its former name belong to it."""
    ann, bob = pair
    bob.write("notes.md", "one\n")
    bob.write("deep/er/x.md", "x\n")
    bob.lace("commit", "-m", "shorter")
    bob.write("list.md", "milk, bread\n")
    bob.lace("release", "1.1.0", "-m", "a list")
    for person in (bob, ann):
        person.lace("sync", "stick")
    ann.lace("update")
    (ann.folder / "notes.md").rename(ann.folder / "-names.md")
    ann.lace("commit", "-m", "another name")
    first = ("alice", "Release 1.0.0", ["notes.md"])
    # What bob did not release by itself came with what he released next.
    assert _told(ann, "--", "-names.md") == [
        ("alice", "another name", ["-names.md"]),
        ("bob", "a list", ["notes.md"]),
        first,
    ]
    assert _told(bob, "notes.md") == [("bob", "shorter", ["notes.md"]), first]
    assert _told(bob, "deep") == [("bob", "shorter", ["deep"])]
    assert _told(bob, "list.md", "deep/er/x.md", "-n", "2") == [
        ("bob", "a list", ["list.md"]),
        ("bob", "shorter", ["deep/er/x.md"]),
    ]
    assert _told(bob, "--node", "alice", "list.md") == [("alice", "Release 1.0.0", ["list.md"])]
    assert [message for _, message, _ in _told(bob, ".")] == ["a list", "shorter", "Release 1.0.0"]
    assert (
        ann.text("log", "--", "-names.md")
        .splitlines()[-1]
        .endswith("  alice committed main@1: Release 1.0.0  (notes.md)")
    )
    assert bob.run("-C", str(bob.folder / "deep"), "log", "er/x.md").out.count(b"\n") == 1
    error_of(bob.run("--json", "log", "nothing.md"), "no-such-path")
    error_of(bob.run("--json", "log", "--desk", "songs", "a.md"), "no-such-desk")


def test_log_of_a_path_tells_who_edited_it_while_somebody_else_renamed_it(pair: tuple[Person, Person]) -> None:
    """CLAY-28: the edit was made under the former name after the renaming, and whoever made it was not told."""
    ann, bob = pair
    (ann.folder / "notes.md").rename(ann.folder / "names.md")
    ann.lace("release", "1.1.0", "-m", "another name")
    bob.write("notes.md", "edited by bob\n")
    bob.lace("release", "1.2.0", "-m", "an edit")
    for person in (bob, ann, bob):
        person.lace("sync", "stick")
    for person in (ann, bob):
        person.lace("update")
        assert (person.folder / "names.md").read_text() == "edited by bob\n"
        assert [who for who, message, _ in _told(person, "names.md") if message == "an edit"] == ["bob"]


def test_log_of_a_path_lists_a_merge_only_for_what_is_its_own(pair: tuple[Person, Person]) -> None:
    """CLAY-28: what a merge took from one of its sides was changed there; a deletion is a change, too."""
    ann, bob = pair
    ann.write("notes.md", "ours\n")
    (ann.folder / "list.md").unlink()
    ann.lace("release", "1.1.0")
    bob.write("new.md", "x\n")
    bob.lace("commit", "-m", "something new")
    for person in (ann, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    assert _told(bob, "new.md") == [("bob", "something new", ["new.md"])]
    told = [("alice", "Release 1.1.0"), ("alice", "Release 1.0.0")]
    assert [entry[:2] for entry in _told(bob, "notes.md")] == told
    assert [entry[:2] for entry in _told(bob, "list.md")] == told


def test_log_of_a_path_of_another_desk_names_that_desk(ann: Person) -> None:
    """CLAY-3: main knows nothing of what lies there."""
    ann.write("songs/a.md", "la\n")
    ann.lace("desk", "add", "songs", "songs")
    ann.lace("commit", "-m", "la", "--desk", "songs")
    told = error_of(ann.run("--json", "log", "songs/a.md"), "outside-folder")
    assert "lace log --desk songs songs/a.md" in told["hint"]
    assert _told(ann, "--desk", "songs", "songs/a.md") == [("alice", "la", ["a.md"])]
    assert ann.run("-C", str(ann.folder / "songs"), "log", "a.md").out


def test_log_of_a_path_of_a_desk_that_only_friends_have(pair: tuple[Person, Person]) -> None:
    """CLAY-3: its paths are as that desk calls them."""
    ann, bob = pair
    bob.write("songs/of/a.md", "la\n")
    bob.lace("desk", "add", "songs", "songs")
    bob.lace("release", "0.1.0", "--desk", "songs")
    for person in pair[::-1]:
        person.lace("sync", "stick")
    assert _told(ann, "--desk", "songs", "of/a.md") == [("bob", "Release 0.1.0", ["of/a.md"])]


def test_log_of_a_person_or_a_desk(pair: tuple[Person, Person]) -> None:
    _, bob = pair
    key = bob.lace("id")["node"]
    assert {e["node"] for e in bob.lace("log", "--node", "self")["entries"]} == {key}
    theirs = bob.lace("log", "--node", "alice")["entries"]
    assert theirs
    assert key not in {e["node"] for e in theirs}
    assert {e["app"] for e in bob.lace("log", "--desk", "main")["entries"]} == {"lace/commit", "lace/release"}
    error_of(bob.run("--json", "log", "--desk", "songs"), "no-such-desk")
    error_of(bob.run("--json", "log", "--node", "eve"), "no-such-peer")
    error_of(bob.run("--json", "log", "-n", "0"), "bad-arguments")
    error_of(bob.run("--json", "log", "-n", "x"), "bad-arguments")


def test_what_a_clock_ahead_dated_stands_in_the_log_where_it_came(pair: tuple[Person, Person]) -> None:
    """Fault 21: for a year it stood above everything, also above what was made of it."""
    ann, bob = pair
    year = 365 * 86_400 * 10**9
    ann.world["now_ns"] = lambda: time.time_ns() + year
    ann.write("list.md", "milk, from the year to come\n")
    ann.lace("release", "2.0.0", "-m", "ahead")
    ann.lace("sync", "stick")
    ann.world.clear()
    bob.lace("sync", "stick")
    bob.lace("update")
    bob.write("list.md", "milk, made of it\n")
    bob.lace("release", "2.1.0", "-m", "after")
    bob.lace("sync", "stick")
    ann.lace("sync", "stick")
    for who in (ann, bob):
        entries = who.lace("log", "--desk", "main")["entries"]
        assert [e["message"] for e in entries if e["app"] == "lace/release"][:2] == ["after", "ahead"]
        assert who.lace("log", "-n", "1", "--desk", "main")["entries"] == entries[:1]


def test_commits_of_a_clock_ahead_that_came_together_stand_newest_first(pair: tuple[Person, Person]) -> None:
    """Fault 21: they came with what they were released by, the oldest last, and were listed the wrong way round."""
    ann, bob = pair
    year = 365 * 86_400 * 10**9
    ann.world["now_ns"] = lambda: time.time_ns() + year
    ann.write("list.md", "milk, from the year to come\n")
    ann.lace("commit", "-m", "ahead")
    ann.world.clear()
    words = [f"change {number}" for number in range(5)]
    for each in words:
        ann.write("list.md", f"{each}\n")
        ann.lace("commit", "-m", each)
    ann.lace("release", "2.0.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    for who in (ann, bob):
        entries = who.lace("log", "--desk", "main")["entries"]
        told = [e["message"] for e in entries if e["app"] == "lace/commit"]
        assert told[:6] == [*reversed(words), "ahead"]
    told = [e["message"] for e in ann.lace("log", "list.md")["entries"]]
    assert told[:6] == [*reversed(words), "ahead"]


# cat


def test_cat_hands_out_a_large_file(pair: tuple[Person, Person]) -> None:
    """CLAY-35: content in chunks comes out as it went in, here and at a friend's."""
    ann, bob = pair
    raw = random.Random(1).randbytes(1 << 20)
    (ann.folder / "large.bin").write_bytes(raw)
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert ann.run("cat", "main", "large.bin").out == raw
    assert bob.run("cat", "alice/main", "large.bin").out == raw


def test_cat_hands_out_bytes(pair: tuple[Person, Person]) -> None:
    """Bytes as they are, with and without --json, of any revision or friend."""
    ann, bob = pair
    raw = bytes(range(256)) * 300
    ann.write("sub/pic.bin", raw)
    ann.lace("commit", "-m", "x")
    ann.write("sub/pic.bin", b"")
    ann.lace("commit", "-m", "y")
    assert ann.run("cat", "main@2", "sub/pic.bin").out == raw
    assert ann.run("--json", "cat", "main@2", "sub/pic.bin").out == raw
    assert ann.run("-C", "sub", "cat", "main@2", "pic.bin").out == raw
    assert ann.run("cat", "main", "sub/pic.bin").out == b""
    assert bob.run("cat", "alice/main", "list.md").out == b"milk\n"
    error_of(bob.run("--json", "cat", "alice/main", "nope"), "no-such-path")
    error_of(ann.run("--json", "cat", "main", "sub"), "no-such-path")
    error_of(ann.run("--json", "cat", "main", "."), "no-such-path")
    error_of(ann.run("--json", "cat", "main", "../x"), "outside-folder")
    error_of(ann.run("--json", "cat", "main@7", "x"), "not-yet")
    error_of(ann.run("--json", "cat", "main@0", "x"), "never")
    error_of(ann.run("--json", "cat", "main@draft", "x"), "not-yet")
    error_of(ann.run("--json", "cat", "main@1.x", "x"), "bad-case")


def test_a_command_about_a_file_called_like_an_option_is_one_that_works(ann: Person) -> None:
    """What the app shows and copies, and what a hint offers, is taken as it stands."""
    ann.write("-dash", "x\n")
    ann.write("-d/e", "e\n")
    ann.lace("commit", "-m", "x")
    with open_vault(ann) as vault:
        found = files_at(vault, "main")
    assert ann.run(*shlex.split(cat_command(found, "-dash", str(ann.folder)))[1:]).out == b"x\n"
    hint = error_of(ann.run("--json", "cat", "main", "--", "-d"), "no-such-path")["hint"]
    assert "e" in ann.text(*shlex.split(hint.partition(": lace ")[2]))


def test_cat_of_a_state_between_releases_is_not_shared(pair: tuple[Person, Person]) -> None:
    """LAZ-57: its own outcome, not "not yet"."""
    ann, bob = pair
    ann.write("list.md", "draft\n")
    ann.lace("commit", "-m", "draft")
    ann.write("list.md", "done\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    error_of(bob.run("--json", "cat", "alice/main@2", "list.md"), "not-shared")
    error_of(bob.run("--json", "cat", "alice/main@4", "list.md"), "not-yet")
    assert bob.run("cat", "alice/main@3", "list.md").out == b"done\n"


# diff


def test_diff_of_the_folder(ann: Person) -> None:
    ann.write("a.txt", "one\ntwo\n")
    ann.write("pic.bin", b"\0\1")
    ann.lace("commit", "-m", "x")
    assert ann.text("diff") == "Nothing differs.\n"
    ann.write("a.txt", "one\n2\t2\n")
    ann.write("pic.bin", b"\0\2\3")
    (ann.folder / "a.txt").chmod(0o755)
    text = ann.text("diff")
    assert "--- a.txt (main@1)\n+++ a.txt (folder)\n" in text
    assert "It can be run as a program now." in text
    assert "\n-two\n+2      2\n" in text
    assert "binary or large: 2 bytes before, 3 bytes after" in text
    data = ann.lace("diff")
    assert (data["changed"], data["before"], data["after"]) == (["a.txt", "pic.bin"], "main@1", "folder")
    assert "+2\t2" in data["files"][0]["lines"]
    assert ann.lace("changes")["changed"] == ["a.txt", "pic.bin"]


def test_diff_of_links_empty_and_large_files(ann: Person) -> None:
    ann.write("a.txt", "target\n")
    (ann.folder / "link").symlink_to("a.txt")
    ann.write("empty", b"")
    ann.write("large", b"x" * (3 << 20))
    (ann.folder / "dir").mkdir()
    lines = {row["path"]: row["lines"] for row in ann.lace("diff")["files"]}
    assert "+a.txt" in lines["link"]
    assert lines["empty"][2:] == ["A new empty file."]
    assert lines["large"][2:] == [f"A new file, too large to compare: {3 << 20} bytes."]
    assert lines["dir"][2:] == ["A new empty folder."]


def test_diff_tells_what_is_new_from_what_changed_and_what_is_gone_without_lines(ann: Person) -> None:
    """CLAY-70: of three large files, one new, one edited and one deleted, the same sentence was told."""
    for name in ("edited", "gone"):
        ann.write(name, b"x" * (3 << 20))
    ann.write("none", b"")
    ann.write("dir/left.md", "alone\n")
    (ann.folder / "bare").mkdir()
    ann.lace("commit", "-m", "x")
    ann.write("edited", b"y" * (3 << 20) + b"y")
    ann.write("new", b"z" * (3 << 20))
    for name in ("gone", "none", "dir/left.md"):
        (ann.folder / name).unlink()
    (ann.folder / "bare").rmdir()
    lines = {row["path"]: row["lines"][2:] for row in ann.lace("diff")["files"]}
    assert lines["new"] == [f"A new file, too large to compare: {3 << 20} bytes."]
    assert lines["edited"] == [f"Too large to compare: {3 << 20} bytes before, {(3 << 20) + 1} bytes after."]
    assert lines["gone"] == [f"A deleted file, too large to compare: {3 << 20} bytes."]
    assert lines["none"] == ["A deleted empty file."]
    assert (lines["bare"], lines["dir"]) == (["A deleted empty folder."], ["An empty folder now."])


def test_a_folder_that_was_left_empty_is_told_from_a_file_that_changed(ann: Person) -> None:
    """CLAY-28: where the last file of a folder went, a line said that something called like the folder was edited."""
    ann.write("docs/trip.md", "x\n")
    ann.lace("commit", "-m", "x")
    (ann.folder / "docs" / "trip.md").unlink()
    assert ann.text("changes") == "~ docs/ (an empty folder)\n- docs/trip.md\n"
    (ann.folder / "docs").rmdir()
    assert ann.text("changes") == "- docs/trip.md\n"
    assert ann.lace("changes")["deleted"] == ["docs/trip.md"]


def test_diff_of_two_revisions(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    ann.write("list.md", "milk\nbread\n")
    ann.write("sub/x.md", "x\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    data = bob.lace("diff", "main", "alice/main@1.1.0")
    assert (data["changed"], data["added"], data["deleted"]) == (["list.md"], ["sub/x.md"], [])
    assert bob.lace("diff", "alice/main@1.1.0", "main")["deleted"] == ["sub/x.md"]
    text = bob.text("diff", "main@1", "alice/main", "list.md")
    assert text.splitlines()[:2] == ["--- list.md (self/main@1)", "+++ list.md (alice/main@2)"]
    assert "+bread" in text
    assert "x.md" not in text
    assert bob.lace("diff", "main", "alice/main", "sub")["added"] == ["sub/x.md"]
    assert bob.text("diff", "main@1", "alice/main@1") == "Nothing differs.\n"
    error_of(bob.run("--json", "diff", "main"), "bad-arguments")
    error_of(bob.run("--json", "diff", "main", "main@9"), "not-yet")


def test_diff_drives_no_terminal(ann: Person) -> None:
    """APP-14: escape sequences in somebody's file are shown, not obeyed."""
    ann.write("a.txt", "\x1b[2Jgone\u202e\n")
    text = ann.text("diff")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "+\\x1b[2Jgone\\u202e" in text


# desks


def test_desks(ann: Person) -> None:
    (row,) = ann.lace("desks")["desks"]
    assert (row["desk"], row["revision"], row["version"], row["unreleased"]) == ("main", 0, None, 0)
    assert "unversioned" in ann.text("desks")
    ann.write("a.txt", "a")
    ann.lace("release", "1.2.3")
    ann.write("a.txt", "b")
    ann.lace("commit", "-m", "b")
    (row,) = ann.lace("desks")["desks"]
    assert (row["revision"], row["version"], row["unreleased"], row["folder"]) == (2, "1.2.3", 1, str(ann.folder))
    assert "1.2.3" in ann.text("desks")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("export", "{}"), "history"),
        (("bundle", "create", "{}"), "for-bob.lace"),
        (("archive", "main@1.0.0", "{}"), "songs.tar"),
        (("checkout", "main@1.0.0", "--to", "{}"), "copy"),
    ],
)
def test_what_is_written_into_the_shared_folder_is_told_to_be_shared(
    alice: Person, words: tuple[str, ...], name: str
) -> None:
    """CLAY-71: a release takes in what lies in the folder, so a command that writes there says so."""
    alice.write("a.md", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")

    def told(where: str) -> str:
        done = alice.run(*(word.replace("{}", where) for word in words))
        assert done.code == 0
        return done.err

    assert f"{name} lies in your shared folder, so a release would share it" in told(name)
    assert "shared folder" not in told(f"../{name}")
    assert any(path.startswith(name) for path in alice.lace("changes")["added"])
    alice.write(".laceignore", "left/\n")
    (alice.folder / "left").mkdir()
    assert "shared folder" not in told(f"left/{name}")


@pytest.mark.parametrize(
    "words",
    [
        ("export", "{}/x"),
        ("checkout", "main@1", "--to", "{}/x"),
        ("archive", "main@1", "{}/x.tar"),
        ("bundle", "create", "{}/x"),
        ("conflicts", "--drafts", "{}/x"),
        ("report", "all", "--html", "{}/x.html"),
        ("report", "chains", "--csv", "{}/x.csv"),
    ],
)
def test_nothing_is_written_into_the_vault_itself(ann: Person, words: tuple[str, ...]) -> None:
    """CLAY-71: it holds what lace keeps and nothing else, by whatever link it is named."""
    ann.write("notes.md", "one\n")
    ann.lace("release", "1.0.0")
    (ann.folder / "door").symlink_to(".vault")
    before = set((ann.folder / ".vault").rglob("*"))
    for where in (".vault", "door"):
        error = ann.run("--json", *(word.replace("{}", where) for word in words)).lines[-1]["error"]
        assert error["code"] == "in-the-vault"
        assert "lies in the .vault" in error["message"]
    assert set((ann.folder / ".vault").rglob("*")) == before


def test_a_file_that_is_named_by_two_dashes_is_one(ann: Person) -> None:
    """APP-14: argparse drops two dashes for each argument; the whole folder went back where one file was asked for."""
    ann.write("--", "one\n")
    ann.write("other.txt", "one\n")
    ann.lace("commit", "-m", "one")
    ann.write("--", "two\n")
    ann.write("other.txt", "two\n")
    ann.lace("commit", "-m", "two")
    assert ann.text("cat", "main@2", "--", "--") == "two\n"
    ann.lace("checkout", "main@1", "--", "--")
    assert (ann.folder / "--").read_text() == "one\n"
    assert (ann.folder / "other.txt").read_text() == "two\n"
