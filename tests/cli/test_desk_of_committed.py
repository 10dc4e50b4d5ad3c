"""A folder that becomes a desk after `main` committed it: its rules hold for what main still has (CLAY-3, CLAY-80)."""

from __future__ import annotations

import json
import shlex

from tests.people import Person
from vault.permits import NotPermitted


def test_what_main_committed_of_a_desk_is_not_given_away(pair: tuple[Person, Person]) -> None:
    """CLAY-80: the next release of main shared it with whom the new desk's rule keeps out, and nobody was told."""
    alice, bob = pair
    alice.write("notes/n.txt", "secret\n")
    alice.lace("commit", "-m", "wip")
    told = alice.text("desk", "add", "notes", "notes")
    assert "main still holds 1 file of it, which goes with its next release. Take it out of that: lace diff" in told
    assert alice.lace("desk", "add", "notes", "notes")["unshared"] == ["notes/n.txt"]
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    alice.write("a.txt", "for all\n")
    for words in (["--yes", "--dry-run"], ["--yes"]):
        error = alice.lace("release", *words, expect=2)["error"]
        assert error["code"] == NotPermitted.code
        assert "bob may not read what main still holds of the desk notes: notes/n.txt" in error["message"]
        assert "lace desk permit . --read --anyone --desk notes" in error["hint"]
    diff, commit = (shlex.split(part)[1:] for part in error["hint"].partition("take it out of main: ")[2].split("|"))
    changes = alice.run(*diff)
    taken = [word if word != "TEXT" else "not for all" for word in commit]
    assert alice.lace(*taken, stdin=changes.out)["deleted"] == ["notes/n.txt"]
    assert (alice.folder / "notes/n.txt").read_text() == "secret\n"
    assert alice.lace("release", "--yes")["added"] == ["a.txt"]
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    assert (bob.folder / "a.txt").exists()
    assert not (bob.folder / "notes").exists()


def test_what_everybody_has_already_keeps_no_release_back(pair: tuple[Person, Person]) -> None:
    """CLAY-80: a rule takes back nothing that was released; an edited file of it that was not waits."""
    alice, _ = pair
    alice.write("notes/n.txt", "known\n")
    alice.write("notes/m.txt", "known\n")
    alice.lace("release", "1.5.0")
    assert "still holds" not in alice.text("desk", "add", "notes", "notes")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    alice.write("a.txt", "one\n")
    assert alice.lace("release", "1.6.0")["added"] == ["a.txt"]


def test_of_a_new_desk_the_edited_files_alone_are_named(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3: of a folder that was released before only what changed since goes with the next release."""
    alice, _ = pair
    alice.write("notes/n.txt", "known\n")
    alice.write("notes/m.txt", "known\n")
    alice.lace("release", "1.5.0")
    alice.write("notes/m.txt", "secret\n")
    alice.write("b.txt", "work\n")
    alice.lace("commit", "-m", "wip")
    assert alice.lace("desk", "add", "notes", "notes")["unshared"] == ["notes/m.txt"]
    alice.lace("desk", "permit", "n.txt", "--read", "--not", "bob", "--desk", "notes")
    assert alice.lace("release", "1.6.0", "--dry-run")["planned"]
    alice.lace("desk", "permit", "m.txt", "--read", "--not", "bob", "--desk", "notes")
    hint = alice.lace("release", "1.6.0", expect=2)["error"]["hint"]
    diff, commit = (shlex.split(part)[1:] for part in hint.partition("take it out of main: ")[2].split("|"))
    assert alice.lace(*commit, stdin=alice.run(*diff).out)["changed"] == ["notes/m.txt"]
    assert (alice.folder / "b.txt").read_text() == "work\n"
    assert (alice.folder / "notes/m.txt").read_text() == "secret\n"
    assert alice.lace("release", "1.6.0")["files"] == 5


def test_a_change_set_may_be_of_one_path(pair: tuple[Person, Person]) -> None:
    """CLAY-37, CLAY-38: what leads from one revision to another at a path alone."""
    alice, _ = pair
    alice.write("a.txt", "one\n")
    alice.write("b.txt", "one\n")
    alice.lace("commit", "-m", "both")
    changes = alice.run("diff", "main", "main@1", "b.txt", "--changes").out
    assert alice.lace("commit", "-m", "without b", "--changes", "-", stdin=changes)["deleted"] == ["b.txt"]
    assert (alice.folder / "a.txt").exists()
    assert not (alice.folder / "b.txt").exists()


def test_what_the_first_revision_holds_can_be_taken_out(ann: Person, bob: Person) -> None:
    """CLAY-80, CLAY-4: no revision of the line is without it, and the refusal led to nothing but giving it away."""
    ann.lace("place", "add", "stick", str(ann.folder.parent / "stick"))
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    for person in (ann, bob, ann, bob):
        person.lace("sync", "stick")
    ann.write("notes/n.txt", "secret\n")
    ann.write("a.txt", "for all\n")
    ann.lace("commit", "-m", "both")
    assert "Take it out of that: lace diff main main@0 notes" in ann.text("desk", "add", "notes", "notes")
    ann.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    hint = ann.lace("release", "1.0.0", expect=2)["error"]["hint"]
    diff, commit = (shlex.split(part)[1:] for part in hint.partition("take it out of main: ")[2].split("|"))
    assert ann.lace(*commit, stdin=ann.run(*diff).out)["deleted"] == ["notes/n.txt"]
    assert (ann.folder / "notes/n.txt").read_text() == "secret\n"
    assert ann.lace("release", "1.0.0")["files"] == 1


def test_a_change_set_may_lead_to_or_from_the_empty_desk(ann: Person) -> None:
    """CLAY-4, CLAY-37: revision 0 holds nothing, of any desk; everywhere else it says so."""
    ann.write("docs/a.txt", "one\n")
    ann.write("b.txt", "one\n")
    ann.lace("commit", "-m", "both")
    nothing = ann.run("diff", "main", "main@0", "--changes").out
    assert ann.lace("commit", "-m", "none", "--changes", "-", stdin=nothing)["deleted"] == ["b.txt", "docs/a.txt"]
    found = json.loads(ann.run("diff", "main@0", "main@1", "docs", "--changes").out)
    assert (found["before"], list(found["changes"])) == (None, ["docs/a.txt"])
    assert json.loads(ann.run("diff", "other@0", "other@0", "--changes").out)["changes"] == {}
    assert ann.lace("diff", "bob/main@0", "main@1", "--changes", expect=2)["error"]["code"] == "no-such-peer"
    assert ann.lace("diff", "main@0", "main@1", "none.txt", "--changes", expect=2)["error"]["code"] == "no-such-path"
    assert ann.lace("diff", "main@0", "main@1", expect=2)["error"]["code"] == "never"


def test_what_was_shared_with_a_commit_keeps_nothing_back(pair: tuple[Person, Person]) -> None:
    """CLAY-80, H-29: where commits are shared friends have it already, whatever was released."""
    alice, _ = pair
    alice.lace("config", "set", "share", "commits")
    alice.write("notes/n.txt", "known\n")
    alice.lace("commit", "-m", "to all")
    assert "still holds" not in alice.text("desk", "add", "notes", "notes")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    alice.write("a.txt", "one\n")
    assert alice.lace("commit", "-m", "more", "a.txt")["added"] == ["a.txt"]
    assert alice.lace("release", "1.5.0")["files"] == 4


def test_what_lies_below_a_shared_commit_was_not_shared_with_it(pair: tuple[Person, Person]) -> None:
    """CLAY-80, H-29: friends got that commit, and of those before it no content."""
    alice, _ = pair
    alice.write("notes/n.txt", "secret\n")
    alice.lace("commit", "-m", "stays here")
    (alice.folder / "notes/n.txt").unlink()
    alice.lace("config", "set", "share", "commits")
    alice.lace("commit", "-m", "to all")
    alice.lace("config", "set", "share", "releases")
    alice.write("notes/n.txt", "secret\n")
    alice.lace("commit", "-m", "stays here again")
    assert alice.lace("desk", "add", "notes", "notes")["unshared"] == ["notes/n.txt"]
