"""Desks and labels by command: several desks in one vault, names for revisions, the same for friends."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from transports.drop.place import Drop
from vault.desk_folders import DeskTaken, NoSuchDesk
from vault.records import Verifier
from vault.revisions.labels import LabelTaken, NothingToLabel


@pytest.fixture
def band(shelf: Shelf, alice: Person, bob: Person) -> Callable[[], None]:
    """Alice and bob in one group with a stick; calling it syncs everybody twice."""
    shelf.lay(_band)
    return lambda: _meet(alice, bob)


def _band(root: Path) -> None:
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.write("song.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(root / "stick"))
    invite = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", invite, "--name", "bob")
    _meet(alice, bob)


def _meet(alice: Person, bob: Person) -> None:
    for person in (bob, alice, bob, alice):
        person.run("sync", "--all")


def test_a_label_names_a_revision_once(alice: Person) -> None:
    """CLAY-9, CLAY-15, CLAY-37: an unused label is not yet; a used one is never moved."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    assert alice.lace("label", "draft", expect=2)["error"]["code"] == NothingToLabel.code
    assert alice.lace("diff", "main@draft", "main@draft", expect=2)["error"]["code"] == "not-yet"
    alice.lace("commit", "-m", "first")
    made = alice.lace("label", "draft")
    assert (made["label"], made["desk"], made["revision"]) == ("draft", "main", 1)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    taken = alice.lace("label", "draft", expect=2)["error"]
    assert taken["code"] == LabelTaken.code
    assert "draft: 1" in alice.text(*shlex.split(taken["hint"].partition(": lace ")[2]))
    assert alice.run("cat", "main@draft", "a.txt").out == b"one\n"
    assert alice.lace("label", "1st", expect=2)["error"]["code"] == "bad-name"
    assert alice.lace("desks")["desks"][0]["labels"] == {"draft": 1}


def test_a_line_is_shown_by_its_last_release_and_what_came_after(
    alice: Person, bob: Person, band: Callable[[], None]
) -> None:
    """CYB-7: X.Y.Z, X.Y.Z+N after N commits, unversioned before any; the same whoever released."""

    def shown(person: Person) -> str:
        (row,) = person.lace("desks")["desks"]
        assert f"  {row['shown']}  " in person.text("desks")
        return str(row["shown"])

    assert (shown(alice), shown(bob)) == ("1.0.0", "unversioned")
    bob.lace("update")
    assert shown(bob) == "1.0.0"
    for number in (1, 2):
        bob.write("song.txt", f"{number}\n")
        bob.lace("commit", "-m", "on")
        assert shown(bob) == f"1.0.0+{number}"
    bob.lace("release", "1.1.0")
    assert shown(bob) == "1.1.0"
    band()
    alice.lace("update")
    assert shown(alice) == "1.1.0"


def test_labels_travel_with_what_is_shared(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-5, CLAY-58: bob reads alice's line by her label; one on unreleased work waits for its release."""
    alice.lace("label", "premiere")
    alice.write("song.txt", "two\n")
    alice.lace("commit", "-m", "not yet for you")
    alice.lace("label", "secret")
    band()
    assert bob.run("cat", "alice/main@premiere", "song.txt").out == b"one\n"
    assert bob.lace("diff", "alice/main@secret", "alice/main@1", expect=2)["error"]["code"] == "not-yet"
    alice.lace("release", "1.1.0")
    band()
    assert bob.run("cat", "alice/main@secret", "song.txt").out == b"two\n"
    assert alice.lace("fsck")["ok"]
    assert bob.lace("fsck")["ok"]


def test_a_desk_of_its_own(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-3, CLAY-4: own numbers, own versions, own folder; main neither sees nor touches it."""
    alice.write("words/verse.txt", "la la\n")
    alice.lace("desk", "add", "lyrics", "words")
    assert alice.lace("changes")["added"] == []
    made = alice.lace("release", "1.0.0", "--desk", "lyrics")
    assert (made["desk"], made["version"]) == ("lyrics", "1.0.0")
    band()
    assert bob.lace("update", "lyrics", expect=2)["error"]["code"] == NoSuchDesk.code
    assert bob.lace("desks")["unmapped"] == ["lyrics"]
    bob.lace("desk", "add", "lyrics", "texts")
    bob.lace("update", "lyrics")
    assert (bob.folder / "texts" / "verse.txt").read_text() == "la la\n"
    assert not (bob.folder / "words").exists()
    bob.write("texts/verse.txt", "la la la\n")
    assert bob.lace("changes")["changed"] == []
    assert bob.lace("changes", "lyrics")["changed"] == ["verse.txt"]
    bob.lace("release", "1.1.0", "--desk", "lyrics")
    band()
    alice.lace("update", "lyrics")
    assert (alice.folder / "words" / "verse.txt").read_text() == "la la la\n"
    assert [row["desk"] for row in alice.lace("status")["desks"]] == ["main", "lyrics"]
    assert alice.run("cat", "bob/lyrics@1.1.0", "verse.txt").out == b"la la la\n"
    assert alice.lace("fsck")["ok"]


def test_mapping_a_folder_deletes_nothing_of_main(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """What main had below the folder stays in main as it was, for everybody."""
    alice.write("words/old.txt", "from main\n")
    alice.lace("release", "1.1.0")
    band()
    bob.lace("update")
    alice.lace("desk", "add", "lyrics", "words")
    alice.write("song.txt", "three\n")
    alice.lace("release", "1.2.0")
    band()
    bob.lace("update")
    assert (bob.folder / "words" / "old.txt").read_text() == "from main\n"
    bob.write("words/old.txt", "bob's\n")
    bob.lace("release", "1.3.0")
    band()
    told = alice.lace("update")
    assert (alice.folder / "words" / "old.txt").read_text() == "from main\n", "it belongs to the desk lyrics here"
    assert told["relation"] in {"behind", "mergeable"}
    alice.write("song.txt", "four\n")
    alice.lace("release", "1.4.0")
    band()
    bob.lace("update")
    assert (bob.folder / "words" / "old.txt").read_text() == "bob's\n"


@pytest.mark.parametrize("is_made_again", [False, True])
def test_moving_the_folder_of_a_desk_deletes_nothing_of_main(
    alice: Person, bob: Person, band: Callable[[], None], is_made_again: bool
) -> None:
    """CLAY-3, APP-12: the next release of main deleted for everybody what it had in the former folder."""
    alice.write("words/old.txt", "from main\n")
    alice.write("words/deep/older\u2028.txt", "from main\n")
    alice.lace("release", "1.1.0")
    band()
    bob.lace("update")
    alice.lace("desk", "add", "lyrics", "words")
    alice.lace("commit", "-m", "first", "--desk", "lyrics")
    (alice.folder / "words").rename(alice.folder / "verses")
    alice.lace("desk", "add", "lyrics", "verses")
    if is_made_again:
        alice.write("words/new.txt", "of main again\n")
    assert alice.lace("changes")["deleted"] == []
    alice.write("song.txt", "three\n")
    alice.lace("release", "1.2.0")
    band()
    bob.lace("update")
    assert (bob.folder / "words/old.txt").read_text() == "from main\n"
    assert (bob.folder / "words/deep/older\u2028.txt").read_text() == "from main\n"
    assert (bob.folder / "words/new.txt").exists() == is_made_again
    assert alice.lace("changes", "lyrics")["deleted"] == []


@pytest.mark.parametrize("is_along", [True, False])
def test_desks_in_a_folder_that_is_moved_keep_what_is_theirs(alice: Person, is_along: bool) -> None:
    """CLAY-3, APP-12: main lost what lay there, and the outer desk took in, or lost, what is the inner one's."""
    for path in ("outer/1", "outer/inner/2"):
        alice.write(path, "from main\n")
    alice.lace("init", "--name", "alice")
    alice.lace("commit", "-m", "all")
    alice.lace("desk", "add", "outer", "outer")
    alice.lace("commit", "-m", "both", "--desk", "outer")
    alice.lace("desk", "add", "inner", "outer/inner")
    alice.write("outer/inner/private", "of the inner one alone\n")
    alice.lace("commit", "-m", "inner", "--desk", "inner")
    if not is_along:
        (alice.folder / "outer/inner").rename(alice.folder / "apart")
    (alice.folder / "outer").rename(alice.folder / "now")
    told = alice.text("desk", "add", "outer", "now")
    assert ("inner was moved with it.\n" in told) == is_along
    folder = "now/inner" if is_along else "apart"
    assert alice.lace("desk", "add", "inner", folder)["already"] == is_along
    for desk in ("main", "outer", "inner"):
        found = alice.lace("changes", desk)
        assert (desk, found["added"], found["changed"], found["deleted"]) == (desk, [], [], [])


@pytest.mark.parametrize(
    "words", [("main", "x"), ("two", "words"), ("lyrics", "other"), ("dot", ".vault"), ("up", "..")]
)
def test_what_cannot_be_a_desk(alice: Person, words: tuple[str, str]) -> None:
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("desk", "add", "lyrics", "words")
    told = alice.lace("desk", "add", *words, expect=2)
    assert told["error"]["code"] in {DeskTaken.code, "outside-folder", "bad-path"}


def test_the_shared_folder_itself_is_told_by_name(alice: Person) -> None:
    """The sentence began with nothing: ` is the desk 'main' already.`"""
    alice.lace("init", "--name", "alice")
    told = alice.lace("desk", "add", "songs", ".", expect=2)["error"]
    assert told["message"] == "The whole shared folder is the desk 'main' already."
    assert told["hint"] == "Name another sub-folder."


def test_reading_and_waiting_by_command(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-17..24, CLAY-43..49, CLAY-58: `read` and `watch`, of a friend's line too."""
    alice.write("song.txt", "two\n")
    alice.lace("release", "1.1.0")
    band()
    value = bob.lace("read", "x", "alice/main@1", "song.txt")
    assert (value["outcome"], value["number"], value["value"]["size"]) == ("value", 1, 4)
    assert bob.lace("read", "y", "alice/main@1.1.0")["number"] == 2
    assert bob.lace("read", "w", "alice/main@9", expect=1)["outcome"] == "not-yet"
    assert bob.lace("read", "w", "alice/main", "song.txt")["outcome"] == "never"
    assert bob.lace("read", "v", "alice/main@1")["value"]["head"] == 1
    told = bob.stream("watch", "alice/main", "song.txt", "--from", "1", "--to", "2")
    assert [line["number"] for line in told] == [1, 2]
    assert bob.stream("watch", "alice/main", "elsewhere", "--from", "1", "--to", "2")[0]["number"] == 1
    for start, end in (("2", "1"), ("1.1.0", "1.0.0"), ("9", "8"), ("2026-05-02", "2026-05-01")):
        never = ("watch", "alice/main", "--from", start, "--to", end)  # CLAY-47: at once, and people are told why
        assert bob.stream(*never) == [{"outcome": "never", "value": None}]
        assert "ends before it begins" in bob.text(*never)
    (one,) = bob.stream("watch", "alice/main", "song.txt", "--at", "1.1.0", "--care", "x")
    assert one["value"]["size"] == 4
    assert "song.txt" in bob.text("read", "z", "alice/main@1")


def test_watch_wakes_when_another_process_brings_something(alice: Person) -> None:
    """CLAY-52: a commit of another process, seen without a busy loop."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("commit", "-m", "first")
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        alice.world.pop("sleep", None)
        alice.write("a.txt", f"{len(slept)}\n")
        alice.lace("commit", "-m", "more")

    alice.world["sleep"] = sleep
    told = alice.stream("watch", "main", "a.txt", "--from", "1", "--to", "3")
    assert [line["number"] for line in told] == [1, 2, 3]
    assert len(slept) == 2


def test_a_range_is_handed_out_and_put_in(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-54, CLAY-56, CLAY-68, CLAY-69: exactly what is new; twice changes nothing; a line stays its owner's."""
    alice.write("song.txt", "two\n")
    alice.lace("release", "1.1.0")
    new = alice.run("record", "export", "main@1..2").out
    apps = [line for line in new.split(b"\n") if line.startswith(b"App: ")]
    assert sorted(apps) == [b"App: lace/commit", b"App: lace/data", b"App: lace/rev", b"App: lace/tree"]
    everything = alice.run("record", "export", "main@0..99").out
    assert len(everything) > len(new)
    (bob.folder / "range.records").write_bytes(new + alice.run("record", "export", "main@1.1.0").out)
    first = bob.lace("record", "put", "range.records")
    assert first["rejected_hashes"] == []
    assert bob.lace("record", "put", "range.records")["received"] == 0
    assert alice.lace("record", "export", "main@5..2", expect=2)["error"]["code"] == "bad-range"
    assert bob.lace("label", "mine", "--desk", "main", expect=2)["error"]["code"] == "nothing-to-label"


def test_equal_content_of_two_desks_is_stored_once(alice: Person) -> None:
    """CLAY-1, CLAY-10: one store for all desks; a commit holds references, never content."""
    alice.write("a.txt", "the same\n")
    alice.write("words/b.txt", "the same\n")
    alice.lace("init", "--name", "alice")
    alice.lace("desk", "add", "lyrics", "words")
    alice.lace("commit", "-m", "one")
    alice.lace("commit", "-m", "two", "--desk", "lyrics")
    ids = alice.lace("read", "u", "main")["value"]
    assert (len(ids["commits"]), len(ids["contents"])) == (2, 1)
    for commit in ids["commits"]:
        assert b"the same" not in alice.run("record", "show", commit).out


def test_rules_say_who_may_write_and_read_where(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-80: set, listed, felt by update and release, and taken back."""
    made = alice.lace("desk", "permit", "words", "--write", "--only", "alice")
    assert (made["path"], made["act"], made["list"], made["names"]) == ("words", "write", "only", ["alice"])
    bob.lace("update")
    bob.write("words/one.txt", "bob's\n")
    bob.lace("release", "1.0.1")
    band()
    done = alice.lace("update", expect=1)
    assert [(out["name"], out["paths"]) for out in done["refused"]] == [("bob", ["words/one.txt"])]
    assert not (alice.folder / "words").exists()
    assert b"bob changed what your desk's rules keep" in alice.run("update").out
    assert alice.lace("merge", "main", "--from", "bob/main", "--strategy", "fine", expect=2)["error"]["code"] == (
        "not-permitted"
    )
    alice.lace("desk", "permit", "words", "--write", "--anyone")
    assert alice.lace("update")["refused"] == []
    alice.lace("desk", "permit", "private", "--read", "--not", "bob")
    assert alice.run("desk", "permits").out == b"private  read  everybody but bob\n"
    alice.write("private/diary.txt", "dear diary\n")
    for words in (("--dry-run",), ("1.1.0",)):
        assert alice.lace("release", *words, expect=2)["error"]["code"] == "not-permitted"
    alice.lace("desk", "permit", "private", "--read", "--anyone")
    assert alice.lace("desk", "permits")["permits"] == []
    assert alice.lace("release", "1.1.0")["version"] == "1.1.0"
    assert alice.lace("desk", "permit", "x", "--read", "--not", "zoe", expect=2)["error"]["code"] == "no-such-peer"
    assert alice.lace("desk", "permit", "../x", "--read", "--anyone", expect=2)["error"]["code"] == "outside-folder"


def test_the_way_out_of_a_rule_names_its_desk(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-80, APP-14: what a refusal said to type took back a rule of main's, and the same was refused again."""
    alice.lace("desk", "add", "songs", "songs")
    alice.write("songs/private/diary.txt", "dear diary\n")
    alice.lace("desk", "permit", "private", "--desk", "songs", "--read", "--not", "bob")
    hint = alice.lace("release", "1.0.0", "--desk", "songs", expect=2)["error"]["hint"]
    typed = hint.removeprefix("Let them with: lace ").partition(" - ")[0]
    assert typed == "desk permit private --read --anyone --desk songs"
    alice.lace(*typed.split())
    assert alice.lace("release", "1.0.0", "--desk", "songs")["version"] == "1.0.0"


def test_old_releases_let_go_of_files_by_a_rule_and_fetch_brings_them_back(
    alice: Person, bob: Person, tmp_path: Path
) -> None:
    """CLAY-79: set, listed, followed by a prune that was agreed to, told when read, and fetched.

    A friend has it, or it lies in my own mailbox alone: a prune let go of it because it does.
    """
    alice.write("films/one.txt", "take 1\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    alice.write("films/one.txt", "take 2\n")
    alice.lace("release", "1.0.1")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    invite = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", invite, "--name", "bob")
    for person in (bob, alice):
        person.lace("sync", "stick")
    assert alice.lace("desk", "keep")["keeps"] == []
    assert alice.lace("desk", "keep", "films", "1")["newest"] == 1
    assert alice.lace("desk", "keep")["keeps"] == [{"path": "films", "newest": 1}]
    for wrong in ([], ["0"], ["some"]):
        alice.lace("desk", "keep", "films", *wrong, expect=2)
    assert alice.lace("prune", "--dry-run")["files"] == 1
    assert alice.lace("prune", expect=2)["error"]["code"] == "not-agreed"
    assert alice.lace("prune", "--yes")["files"] == 1
    assert alice.lace("cat", "main@1.0.0", "films/one.txt", expect=2)["error"]["code"] == "let-go"
    assert alice.lace("checkout", "main@1.0.0", "--to", str(tmp_path / "old"), expect=2)["error"]["code"] == "let-go"
    assert alice.lace("diff", "main@1.0.0", "main@1.0.1")["changed"] == ["films/one.txt"]
    assert alice.lace("read", "x", "main@1.0.0", "films/one.txt")["outcome"] == "pruned"
    assert alice.lace("fetch", "main@1.0.1")["asked"] == []
    assert "nothing" in alice.text("fetch", "main@1.0.0", "--cancel").lower()
    assert alice.lace("fetch", "main@1.0.0", "films")["asked"] == ["films/one.txt"]
    given = {"cancelled": ["films/one.txt"], "in_part": [], "next": None}
    assert alice.lace("fetch", "main@1.0.0", "films", "--cancel") == given
    assert alice.lace("sync", "stick")["received"] == 0
    assert alice.lace("fetch", "main@1.0.0", "films")["asked"] == ["films/one.txt"]
    alice.lace("sync", "stick")
    assert alice.run("cat", "main@1.0.0", "films/one.txt").out == b"take 1\n"
    assert alice.lace("prune", "--yes")["files"] == 1
    his = Drop.open(tmp_path / "stick").mailbox_path(alice.lace("id")["group"], Verifier.parse(bob.lace("id")["node"]))
    shutil.rmtree(his)
    alice.lace("fetch", "main@1.0.0", "films")
    for words in (("--dry-run",), ()):
        assert alice.lace("sync", "stick", *words)["received"] == 1, words
    assert alice.run("cat", "main@1.0.0", "films/one.txt").out == b"take 1\n"
    assert alice.lace("desk", "keep", "films", "all")["newest"] is None
    assert alice.lace("desk", "keep")["keeps"] == []


def test_commands_in_the_folder_of_a_desk_are_about_it(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """CLAY-3: who is inside the folder of a desk means that desk, and a friend is told how to take it."""
    alice.write("takes/first.txt", "one\n")
    alice.lace("desk", "add", "takes", "takes")
    inside = alice.folder / "takes"
    assert alice.run("--json", "changes", cwd=inside).json["added"] == ["first.txt"]
    assert alice.run("--json", "commit", "-m", "t", cwd=inside).json["desk"] == "takes"
    assert alice.run("--json", "release", "2.0.0", cwd=inside).json["desk"] == "takes"
    assert alice.run("--json", "changes", cwd=inside).json["desk"] == "takes"
    assert alice.lace("changes")["desk"] == "main"
    alice.lace("sync", "stick")
    assert bob.lace("sync", "stick")["next"] == "lace desk add takes DIR"
    bob.lace("update")
    assert "Nothing new" in bob.text("update")
    assert "takes was released too, and has no folder here: lace desk add takes DIR" in bob.text("update")
    assert "Next: lace update takes" in bob.text("desk", "add", "takes", "recordings")
    assert bob.lace("update", "takes")["written"] == ["first.txt"]
    assert bob.lace("update")["unmapped"] == []
    assert bob.lace("log", "--desk", "nope", expect=2)["error"]["code"] == NoSuchDesk.code


def test_a_dry_run_of_an_update_meets_what_stands_in_the_way(
    alice: Person, bob: Person, band: Callable[[], None]
) -> None:
    """CLAY-71: what is ignored is never overwritten, and planning says so as doing would."""
    bob.lace("update")
    bob.write(".laceignore", "*.log\n")
    bob.write("my.log", "mine\n")
    alice.write("my.log", "hers\n")
    alice.lace("release", "1.1.0")
    band()
    planned = bob.lace("update", "--dry-run", expect=2)["error"]
    assert (planned["code"], "my.log" in planned["message"]) == ("folder-in-the-way", True)
    assert bob.lace("update", expect=2)["error"] == planned
    assert (bob.folder / "my.log").read_text() == "mine\n"
    (bob.folder / "my.log").unlink()
    assert bob.lace("update", "--dry-run")["written"] == ["my.log"]


def test_every_desk_says_what_waits_for_it(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """LAZ-54, CLAY-3: a desk without a folder, one that is behind, and what changed in each folder; no word of another.

    A version is a version of one desk: those of two desks are no range.
    """
    alice.write("songs/a.txt", "la\n")
    alice.lace("desk", "add", "songs", str(alice.folder / "songs"))
    alice.lace("release", "0.1.0", "--desk", "songs")
    band()
    assert bob.lace("status")["unmapped"] == ["songs"]
    assert "songs: released by friends, no folder here: lace desk add songs DIR" in bob.text("status")
    bob.lace("desk", "add", "songs", str(bob.folder / "songs"))
    assert "songs: nothing released, revision 0, behind: lace update songs" in bob.text("status")
    done = bob.lace("update", "main")
    assert (done["news"], done["next"]) == (["songs"], "lace update songs")
    assert "songs has news too: lace update songs" in bob.text("update", "main")
    assert bob.lace("update", "songs")["news"] == []
    assert bob.lace("status")["peers"][0]["versions"] == "1.0.0, songs 0.1.0"
    bob.write("songs/a.txt", "lala\n")
    tree = bob.lace("status", "--tree")
    assert [desk["changes"]["changed"] for desk in tree["desks"]] == [[], ["a.txt"]]
    lines = bob.text("status", "--tree").splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:5]] == [
        "main",
        "nothing changed in the folder",
        "songs",
        "~ changed a.txt",
    ]


def test_a_release_says_what_it_does_not_hold(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """LAZ-29, LAZ-38: what friends released since, or a conflict that it leaves open."""
    bob.lace("update")
    bob.write("song.txt", "bob\n")
    bob.lace("release", "1.1.0")
    band()
    alice.write("other.txt", "alice\n")
    assert "! It does not hold what friends released since: lace update" in alice.text("release", "1.2.0")
    alice.write("song.txt", "alice\n")
    alice.lace("commit", "-m", "mine")
    alice.lace("update", expect=1)
    made = alice.lace("release", "1.3.0")
    assert made["relation"] == "conflicting"
    assert "stays open" in alice.text("release", "1.4.0")
    alice.lace("resolve", alice.lace("conflicts")["conflicts"][0]["id"], "--prefer", "local")
    assert alice.lace("release", "1.5.0")["relation"] in {"same", "ahead"}


def test_a_release_of_nothing_of_mine_says_so(alice: Person, bob: Person, band: Callable[[], None]) -> None:
    """LAZ-29: who never released anything has no last release."""
    bob.lace("update")
    told = bob.lace("release", "--yes", expect=2)["error"]
    assert told["message"] == "main holds nothing new: it is as your friends released it."
    told = alice.lace("release", "--yes", expect=2)["error"]
    assert told["message"] == "Nothing changed in main since your last release."
    alice.lace("desk", "add", "empty", str(alice.folder / "empty"))
    told = alice.lace("release", "1.0.0", "--desk", "empty", expect=2)["error"]
    assert (told["message"], told["hint"]) == (
        "There is nothing in empty yet.",
        "Put files into its folder first, and run the same command again.",
    )


def test_an_empty_desk_is_not_said_to_be_as_friends_released_it(alice: Person) -> None:
    """CLAY-3: nobody had released anything of it."""
    alice.lace("init", "--name", "alice")
    alice.lace("desk", "add", "songs", "songs")
    told = alice.lace("release", "--yes", "--desk", "songs", expect=2)["error"]
    assert told["message"] == "There is nothing in songs yet."


def test_what_comes_after_an_update_is_about_the_desk_that_was_updated(
    alice: Person, bob: Person, band: Callable[[], None]
) -> None:
    """APP-13, LAZ-4: `lace update lyrics` from the folder of main was followed by a release of main, typed as told."""
    alice.lace("desk", "add", "lyrics", "words")
    alice.write("words/a.txt", "one\n")
    alice.lace("release", "1.0.0", "--desk", "lyrics")
    band()
    bob.lace("desk", "add", "lyrics", "words")
    bob.lace("update", "lyrics")
    for version, inside in (("2.0.0", False), ("3.0.0", True)):
        alice.write("words/a.txt", f"{version}\n")
        alice.lace("release", version, "--desk", "lyrics")
        band()
        bob.write("words/b.txt", f"bob's beside {version}\n")
        bob.lace("commit", "-m", "mine", "--desk", "lyrics")
        typed = bob.run("--json", "update", "lyrics", cwd=bob.folder / "words" if inside else None).json["next"]
        assert typed == ("lace release" if inside else "lace release --desk lyrics")


def test_a_state_that_two_went_on_from_is_named_while_a_merge_may_need_it(pair: tuple[Person, Person]) -> None:
    """CLAY-79, CLAY-75: a film was kept for ever by where two lines had parted, also once both had met again."""
    alice, bob = pair
    alice.write("film.bin", b"\1\2\3" * 30_000)
    alice.lace("release", "3.0.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    for person in (alice, bob):
        (person.folder / "film.bin").unlink()
        person.write(f"{person.name}.txt", "at once\n")
        person.lace("release", f"3.1.{len(person.name)}")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.lace("desk", "keep", "film.bin", "1")
    told = alice.text("prune", "--dry-run")
    assert "1 old released file stays, since a release with it is needed: a coming merge may need it" in told
    assert "No file goes by lace desk keep" not in told
    assert alice.lace("prune", "--dry-run")["files_needed"] == 1
    alice.lace("update")
    alice.lace("release", "3.2.0")
    told = alice.text("prune", "--dry-run")
    assert "needed: a coming merge" not in told
    assert "The content of 1 old released file would go" in told
    alice.lace("prune", "--yes")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    assert (bob.folder / "alice.txt").read_text() == "at once\n"
