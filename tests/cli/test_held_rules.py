"""Former rules of `.laceignore`: what they keep out of commits, and until when, through the real command line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.cutting import cut_folder_off
from tests.cli.looking import error_of
from tests.people import Person
from vault.files import NotWritable
from vault.folder import unfinished
from vault.folder.dir_cache import StoredDirCache


def _drops_the_rules(friend: Person, me: Person) -> None:
    """A friend releases what I released, without the `.laceignore` in it, and I take that in."""
    for person in (me, friend):
        person.lace("sync", "stick")
    friend.lace("update")
    (friend.folder / ".laceignore").unlink()
    friend.lace("release", "1.2.0")
    for person in (friend, me):
        person.lace("sync", "stick")
    me.lace("update")


def test_what_was_kept_out_stays_so_when_a_friend_drops_the_rule(pair: tuple[Person, Person]) -> None:
    """CLAY-71: a friend's release without `.laceignore` shares nothing of mine; whoever means to names the file."""
    ann, bob = pair
    ann.write(".laceignore", "secret.txt\nbuild/\n")
    ann.lace("release", "1.1.0")
    ann.write("secret.txt", "1234\n")
    ann.write("build/deep/x.o", "o\n")
    _drops_the_rules(bob, ann)
    assert not (ann.folder / ".laceignore").exists()
    ann.write("list.md", "tea\n")
    told = ann.run("release", "1.3.0")
    assert told.code == 0
    assert "build is kept out by what .laceignore said here before" in told.err
    assert ann.run("cat", "main@1.3.0", "secret.txt").code != 0
    assert ann.lace("commit", "-m", "no secret", "secret.txt")["added"] == ["secret.txt"]
    nothing = ann.lace("commit", "-m", "the rest of it is mine still")
    assert (nothing["revision"], [notice["path"] for notice in nothing["notices"]]) == (None, ["build"])
    ann.write(".laceignore", "build/\n")
    assert ann.lace("commit", "-m", "said again")["added"] == [".laceignore"]
    (ann.folder / ".laceignore").unlink()
    assert ann.lace("changes")["added"] == ["build/deep/x.o"], "I took the rule away myself"


def test_a_look_at_a_state_before_the_rules_shares_nothing_and_leads_back(ann: Person) -> None:
    """CLAY-71, CLAY-24: the older state has no `.laceignore`; what is private stays so, and no way is closed."""
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "first")
    ann.write(".laceignore", "secret.txt\n")
    ann.lace("commit", "-m", "second")
    ann.write("secret.txt", "1234\n")
    ann.lace("checkout", "main@1")
    assert ann.lace("changes")["added"] == []
    ann.lace("checkout", "main")
    assert (ann.folder / ".laceignore").read_text() == "secret.txt\n"
    assert "secret.txt" not in ann.text("changes")
    ann.lace("checkout", "main@1")
    assert ann.lace("release", "1.0.0")["files"] == 1
    assert ann.run("cat", "main", "secret.txt").code != 0


def test_former_rules_keep_out_nothing_of_the_state_looked_at(pair: tuple[Person, Person]) -> None:
    """CLAY-71, CLAY-24, LAZ-1: what is private stays out, and what a checkout wrote does not."""
    ann, bob = pair
    bob.write("notes.md", "one\ntwo\n")
    bob.lace("release", "1.1.0")
    ann.write("logs/a.log", "versioned\n")
    ann.lace("commit", "-m", "without rules")
    (ann.folder / "logs/a.log").unlink()
    ann.write(".laceignore", "*.log\nlogs/\n")
    ann.lace("commit", "-m", "with rules")
    ann.write("private.log", "1234\n")
    for person in (bob, ann):
        person.lace("sync", "stick")
    ann.lace("checkout", "main@2")
    assert ann.lace("update", "--dry-run", expect=2)["error"]["code"] == "uncommitted-changes"
    assert ann.lace("update", expect=2)["error"]["code"] == "uncommitted-changes"
    ann.lace("checkout", "main")
    assert not (ann.folder / "logs/a.log").exists()
    ann.lace("checkout", "main@2")
    ann.lace("commit", "-m", "back to it")
    assert ann.run("cat", "main", "logs/a.log").out == b"versioned\n"
    assert ann.run("cat", "main", "private.log").code != 0
    (ann.folder / "logs/a.log").unlink()
    ann.lace("commit", "-m", "without it")
    ann.write("logs/a.log", "private now\n")
    assert ann.lace("changes")["added"] == [], "nothing is looked at any more"


def _secret_kept_out_once(ann: Person) -> None:
    """Let revision 1 keep out `secret.txt`, and revision 2 drop that rule on purpose."""
    ann.write(".laceignore", "secret.txt\n")
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "with the rule")
    ann.write(".laceignore", "other.txt\n")
    ann.lace("commit", "-m", "without it")


def test_what_is_held_back_is_told_where_nothing_else_changed(ann: Person) -> None:
    """CLAY-71: who commits or releases because of such a file alone is told why it is not taken."""
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    ann.write(".laceignore", "secret.txt\n")
    ann.lace("release", "1.1.0")
    ann.write("secret.txt", "1234\n")
    ann.lace("checkout", "main@1")
    ann.lace("commit", "-m", "as it was first")
    told = "secret.txt is kept out by what .laceignore said here before"
    for words in (["commit", "-m", "x"], ["release", "1.2.0"], ["release", "1.3.0"]):
        done = ann.run("--json", *words)
        assert [notice["path"] for notice in done.json["notices"]] == ["secret.txt"], words
        assert told in done.err
    for words in (["release", "--yes"], ["release", "--dry-run"]):
        assert told in error_of(ann.run("--json", *words), "nothing-to-release")["hint"]
    ann.environ["TERM"] = "xterm"
    assert told in ann.run("release", tty=True).err


@pytest.mark.parametrize("way", ["checkout", "two looks", "a commit by name", "by hand"])
def test_a_look_brings_back_no_rule_that_was_dropped_on_purpose(ann: Person, way: str) -> None:
    """CLAY-71, CLAY-24: back from a look those former rules hold that held at its beginning, and no others."""
    _secret_kept_out_once(ann)
    ann.lace("checkout", "main@1")
    if way != "checkout":
        ann.write("two.txt", "2\n")
        ann.lace("commit", "-m", "beside the look", "two.txt")
        (ann.folder / "two.txt").unlink()
    if way == "two looks":
        ann.lace("checkout", "main@2")
    if way == "by hand":
        ann.write(".laceignore", "other.txt\n")
        ann.write("two.txt", "2\n")
        ann.lace("commit", "-m", "nothing")
    else:
        ann.lace("checkout", "main")
    ann.write("secret.txt", "not secret any more\n")
    assert ann.lace("changes")["added"] == ["secret.txt"]
    assert ann.lace("commit", "-m", "taken in")["added"] == ["secret.txt"]


def test_a_look_at_a_state_with_less_takes_nothing_of_the_rules_along(ann: Person) -> None:
    """CLAY-71, CLAY-24: the way back that writes nothing but what is gone ends the look as well."""
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "first")
    ann.write(".laceignore", "secret.txt\n")
    ann.lace("commit", "-m", "second")
    ann.lace("checkout", "main@1")
    ann.lace("checkout", "main")
    (ann.folder / ".laceignore").unlink()
    ann.write("secret.txt", "1234\n")
    assert ann.lace("changes")["added"] == ["secret.txt"], "I took the rule away myself"


def test_what_a_commit_of_a_look_held_stays_work_when_it_is_taken_back(ann: Person) -> None:
    """CLAY-71, LAZ-66: undo leaves the files of that commit as uncommitted work, and no rule hides one of them."""
    ann.write("kept.md", "kept\n")
    ann.write("logs/a.log", "from before the rule\n")
    ann.lace("commit", "-m", "no rules")
    (ann.folder / "logs/a.log").unlink()
    ann.write(".laceignore", "*.log\n")
    ann.lace("commit", "-m", "rules")
    ann.write("private.log", "1234\n")
    ann.lace("checkout", "main@1")
    ann.lace("commit", "-m", "back")
    ann.lace("undo")
    assert ann.lace("changes")["added"] == ["logs/a.log"]
    ann.lace("commit", "-m", "again")
    assert "from before" in ann.text("cat", "main", "logs/a.log")
    assert ann.run("cat", "main", "private.log").code


def test_former_rules_of_before_a_look_hold_after_it(pair: tuple[Person, Person]) -> None:
    """CLAY-71, CLAY-24: what a friend's release would have given away stays out also when a look came between."""
    ann, bob = pair
    ann.write(".laceignore", "secret.txt\n")
    ann.lace("release", "1.1.0")
    ann.write("secret.txt", "1234\n")
    _drops_the_rules(bob, ann)
    ann.lace("checkout", "main@2")
    (ann.folder / "secret.txt").unlink()
    ann.lace("commit", "-m", "while nothing is held", "notes.md")
    ann.lace("checkout", "main")
    ann.write("secret.txt", "1234\n")
    assert ann.lace("changes")["added"] == []


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_rules_that_are_brought_back_by_name_take_none_away(
    ann: Person, monkeypatch: pytest.MonkeyPatch, is_cut_off: bool
) -> None:
    """CLAY-71, CLAY-24: the next release gave away what the rules kept out that stood there before."""
    ann.write("a.txt", "one\n")
    for rules in ("tmp\n", "tmp\nsecret.txt\n"):
        ann.write(".laceignore", rules)
        ann.lace("commit", "-m", "rules")
    ann.write("secret.txt", "1234\n")
    if is_cut_off:
        with monkeypatch.context() as patch:
            patch.setattr(StoredDirCache, "keep", cut_folder_off)
            assert ann.run("checkout", "main@1", ".laceignore").code == NotWritable.exit_code
    ann.lace("checkout", "main@1", ".laceignore")
    assert (ann.folder / ".laceignore").read_text() == "tmp\n"
    assert ann.lace("changes")["added"] == []
    assert ann.lace("release", "2.0.0")["files"] == 2
    assert ann.run("cat", "main", "secret.txt").code != 0


def test_a_friends_rules_that_are_brought_by_name_take_none_away(pair: tuple[Person, Person]) -> None:
    """CLAY-71, CLAY-24: the file that a friend released with fewer rules gave away what is private here."""
    ann, bob = pair
    bob.write(".laceignore", "tmp\n")
    bob.lace("release", "1.1.0")
    ann.write(".laceignore", "secret.txt\n")
    ann.write("secret.txt", "1234\n")
    ann.lace("commit", "-m", "rules")
    for person in (bob, ann):
        person.lace("sync", "stick")
    ann.lace("checkout", "bob/main", ".laceignore")
    assert ann.lace("changes")["changed"] == [".laceignore"]
    assert ann.lace("changes")["added"] == []


def test_rules_that_are_saved_while_an_update_is_written_hold_on_once_it_is_merged(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-71, APP-12: what came took in again what a rule kept out that was saved meanwhile."""
    ann, bob = pair
    ann.write(".laceignore", "a\nb\nc\n")
    ann.lace("release", "1.1.0")
    for person in (ann, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    ann.write(".laceignore", "a\nb\nc\n!*.txt\n")
    ann.lace("release", "1.2.0")
    for person in (ann, bob):
        person.lace("sync", "stick")
    real = unfinished._write_folder

    def late(*given: Any) -> Any:
        bob.write(".laceignore", "secret.txt\na\nb\nc\n")
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", late)
        bob.lace("update", expect=1)
    bob.write("secret.txt", "1234\n")
    assert bob.lace("changes")["added"] == []
    assert (bob.folder / ".laceignore").read_text() == "secret.txt\na\nb\nc\n!*.txt\n"


_SONGS = {"t.txt", "my.key", "deep/an.key", "draft/a.txt", "out.txt"}


def _write_songs(me: Person, folder: str) -> None:
    me.write(".laceignore", "*.key\nson?s/draft/\n/songs/out.txt\n")
    for path in _SONGS:
        me.write(f"{folder}/{path}", "mine\n")


def _kept_out(me: Person, desk: str) -> set[str]:
    assert not {notice["reason"].partition(" by ")[0] for notice in me.lace("changes", desk)["notices"]} - {
        "is kept out"
    }
    return {notice["path"] for notice in me.lace("changes", desk)["notices"]}


@pytest.mark.parametrize("is_asked_first", [True, False])
def test_what_main_keeps_out_of_a_folder_stays_out_when_it_becomes_a_desk(ann: Person, is_asked_first: bool) -> None:
    """CLAY-71, CLAY-3: the first release of the new desk gave private files away, without a word."""
    _write_songs(ann, "songs")
    ann.lace("commit", "-m", "t.txt alone")
    told = ann.text("desk", "add", "songs", "songs")
    assert "What .laceignore of main keeps out stays out of it too, until you commit it by name.\n" in told
    if is_asked_first:
        assert _kept_out(ann, "songs") == {"my.key", "deep/an.key", "draft", "out.txt"}
    assert ann.lace("release", "1.0.0", "--desk", "songs")["files"] == 1
    ann.write("songs/late.key", "2\n")
    assert "late.key" in _kept_out(ann, "songs"), "the desk has no rules of its own"
    given = ann.lace("commit", "-m", "mine to give", "my.key", cwd=ann.folder / "songs")
    assert given["added"] == ["my.key"]
    ann.write("songs/.laceignore", "draft/\nout.txt\n")
    for path in ("deep/an.key", "late.key"):
        (ann.folder / "songs" / path).unlink()
    ann.lace("commit", "-m", "rules of its own", "--desk", "songs")
    ann.write("songs/new.key", "3\n")
    assert ann.lace("changes", "songs")["added"] == ["new.key"]


def test_a_desk_in_a_desk_keeps_out_what_both_around_it_do(ann: Person) -> None:
    """CLAY-71, CLAY-3: the desk around it counts, with what holds there; not that its folder is left out."""
    ann.write(".laceignore", "*.key\nprivate/\n")
    ann.lace("commit", "-m", "rules")
    ann.lace("desk", "add", "outer", "private")
    ann.write("private/.laceignore", "in/*.tmp\n")
    for path in ("a.txt", "a.key", "a.tmp"):
        ann.write(f"private/in/{path}", "mine\n")
    ann.lace("desk", "add", "inner", "private/in")
    assert ann.lace("changes", "inner")["added"] == ["a.txt"]
    assert _kept_out(ann, "inner") == {"a.key", "a.tmp"}


def test_what_main_keeps_out_stays_out_where_a_desk_moves_into_it(ann: Person) -> None:
    """CLAY-71, CLAY-3: the folder that a desk is said to have now may hold what is private."""
    ann.write("music/t.txt", "one\n")
    ann.lace("desk", "add", "songs", "music")
    ann.lace("release", "1.0.0", "--desk", "songs")
    (ann.folder / "music/t.txt").unlink()
    (ann.folder / "music").rmdir()
    _write_songs(ann, "songs")
    ann.lace("desk", "add", "songs", "songs")
    assert _kept_out(ann, "songs") == {"my.key", "deep/an.key", "draft", "out.txt"}


def test_no_desk_is_made_while_what_is_kept_out_there_cannot_be_told(ann: Person) -> None:
    """CLAY-71: nothing is given away because the rules around it cannot be read."""
    _write_songs(ann, "songs")
    (ann.folder / ".laceignore").write_bytes("*.key\n".encode("utf-16"))
    assert "what stays yours" in ann.lace("desk", "add", "songs", "songs", expect=13)["error"]["hint"]
    assert [row["desk"] for row in ann.lace("desks")["desks"]] == ["main"]
