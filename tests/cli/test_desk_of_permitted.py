"""A folder with rules that becomes a desk: who may not read or write there may not so afterwards (CLAY-80, CLAY-3)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from lace_tui.acts.desk_rules import permit_words
from tests.people import Person
from tests.vault.vaults import befriend, found
from vault.permits import Act, NotPermitted, Permit


def test_who_may_not_read_a_folder_does_not_get_it_as_a_desk(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3: the way out of the refusal was to make it a desk, and that gave it to whom the rule names."""
    alice, _ = pair
    alice.lace("desk", "permit", "secret", "--read", "--not", "bob")
    alice.write("secret/s.txt", "mine\n")
    alice.lace("commit", "-m", "wip")
    assert alice.lace("release", "--yes", expect=2)["error"]["code"] == NotPermitted.code
    made = alice.lace("desk", "add", "secret", "secret")
    assert [(rule["path"], rule["act"], rule["list"], rule["names"]) for rule in made["permits"]] == [
        ("", "read", "not", ["bob"])
    ]
    told = alice.lace("release", "1.0.0", "--desk", "secret", expect=2)["error"]
    assert told["code"] == NotPermitted.code
    assert "bob may not read the whole desk" in told["message"]
    alice.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "secret")
    assert alice.lace("release", "1.0.0", "--desk", "secret")["added"] == ["s.txt"]


def test_the_rules_in_a_folder_go_with_it_and_those_beside_it_do_not(pair: tuple[Person, Person]) -> None:
    """CLAY-80, H-38: those at, above and below the folder, each by its path in the new desk; and they are named."""
    alice, _ = pair
    alice.write("work/plans/p.txt", "plan\n")
    alice.lace("desk", "permit", "work", "--write", "--only", "alice")
    alice.lace("desk", "permit", "work/plans/drafts", "--read", "--not", "bob")
    alice.lace("desk", "permit", "work/plans/open", "--write", "--anyone")
    alice.lace("desk", "permit", "work/plans2", "--read", "--not", "bob")
    told = alice.text("desk", "add", "plans", "work/plans")
    rules = [".  write  you alone", "drafts  read  everybody but bob", "open  write  everybody"]
    assert "Rules of the desk around it hold in it, until you change them with lace desk permit:" in told
    assert [line.strip() for line in told.splitlines() if line.startswith("  ")] == rules
    assert alice.text("desk", "permits", "plans").splitlines() == rules
    assert len(alice.lace("desk", "permits", "main")["permits"]) == 4
    noted = [entry["action"]["object"] for entry in alice.lace("audit", "list", "--verb", "lace-permit")["entries"]]
    assert {"plans", "plans/drafts", "plans/open"} <= set(noted)


def test_who_may_not_write_in_a_folder_may_not_so_in_the_desk(pair: tuple[Person, Person]) -> None:
    """CLAY-80: what bob releases of the new desk stays out, as it did while it was a folder of main."""
    alice, bob = pair
    alice.write("plans/p.txt", "plan\n")
    alice.lace("release", "1.5.0")
    alice.lace("desk", "permit", "plans", "--write", "--not", "bob")
    alice.lace("desk", "add", "plans", "plans")
    alice.lace("release", "1.0.0", "--desk", "plans")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("desk", "add", "plans", "plans")
    bob.lace("update", "plans")
    bob.write("plans/p.txt", "bob's plan\n")
    bob.lace("release", "1.1.0", "--desk", "plans")
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.run("update", "plans")
    assert (alice.folder / "plans/p.txt").read_text() == "plan\n"


def test_a_desk_with_rules_of_its_own_keeps_them_where_it_is_moved(pair: tuple[Person, Person]) -> None:
    """CLAY-80: its own rules are what its person wants; about what it has none, those of its new place hold."""
    alice, _ = pair
    alice.lace("desk", "permit", "private", "--read", "--not", "bob")
    alice.lace("desk", "permit", "private", "--write", "--not", "bob")
    for name in ("songs", "notes"):
        alice.write(f"{name}/x.txt", "x\n")
        assert alice.lace("desk", "add", name, name)["permits"] == []
    alice.lace("desk", "permit", "x.txt", "--read", "--only", "alice", "bob", "--desk", "songs")
    (alice.folder / "private").mkdir()
    for name in ("songs", "notes"):
        (alice.folder / name).rename(alice.folder / "private" / name)
        alice.lace("desk", "add", name, f"private/{name}")
    assert alice.text("desk", "permits", "songs").splitlines() == [
        ".  write  everybody but bob",
        "x.txt  read  you and bob",
    ]
    assert alice.text("desk", "permits", "notes").splitlines() == [
        ".  read  everybody but bob",
        ".  write  everybody but bob",
    ]


def test_the_rules_of_a_desks_new_place_hold_for_what_moved_along(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3, CLAY-71: the desk in a desk that was moved got neither its `.laceignore` nor its permits."""
    alice, _ = pair
    alice.write("p/y/song.txt", "la\n")
    alice.lace("desk", "add", "outer", "p")
    alice.lace("desk", "add", "inner", "p/y")
    alice.write(".laceignore", "*.key\n")
    alice.lace("desk", "permit", "q", "--read", "--not", "bob")
    (alice.folder / "p").rename(alice.folder / "q")
    alice.write("q/y/private.key", "mine\n")
    told = alice.text("desk", "add", "outer", "q")
    assert "inner was moved with it." in told
    assert "  .  read  everybody but bob\n  .  read  everybody but bob  in inner" in told
    assert alice.lace("release", "1.0.0", "--desk", "inner", expect=2)["error"]["code"] == NotPermitted.code
    alice.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "inner")
    assert alice.lace("release", "1.0.0", "--desk", "inner")["added"] == ["song.txt"]


def test_what_is_permitted_in_a_desk_stays_so_where_it_moves_along(pair: tuple[Person, Person]) -> None:
    """CLAY-80: a rule of the desk around that was taken back there does not come again with a move of both."""
    alice, _ = pair
    alice.write("p/y/song.txt", "la\n")
    alice.lace("desk", "add", "outer", "p")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "outer")
    assert [rule["desk"] for rule in alice.lace("desk", "add", "inner", "p/y")["permits"]] == ["inner"]
    alice.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "inner")
    (alice.folder / "p").rename(alice.folder / "q")
    assert alice.lace("desk", "add", "outer", "q")["permits"] == []
    assert alice.lace("desk", "permits", "inner")["permits"] == []


@pytest.mark.parametrize(
    ("about", "folder", "now"),
    [
        ("secret", "secret", "secret"),
        ("secret/deep", "secret", "secret"),
        ("secret", "secret/in", "secret/in"),
        ("secret", "secret", "moved"),
    ],
)
def test_what_main_has_of_the_new_desk_can_be_taken_out_of_it(
    pair: tuple[Person, Person], about: str, folder: str, now: str
) -> None:
    """CLAY-80, CLAY-4: the rule of main holds for it too, and no file of another desk can be moved out of main."""
    alice, _ = pair
    alice.write(f"{folder}/deep/s.txt", "mine\n")
    alice.lace("desk", "permit", about, "--read", "--not", "bob")
    alice.lace("commit", "-m", "wip")
    hint = alice.lace("release", "--yes", expect=2)["error"]["hint"]
    assert hint.endswith("or move it out of main.")
    alice.lace("desk", "add", "secret", folder)
    (alice.folder / folder).rename(alice.folder / now)
    alice.lace("desk", "add", "secret", now)
    hint = alice.lace("release", "--yes", expect=2)["error"]["hint"]
    back = hint.partition("or take out of main what is another desk's: ")[2]
    diff, commit = (shlex.split(part)[1:] for part in back.split("|"))
    assert alice.lace(*commit, stdin=alice.run(*diff).out)["deleted"] == [f"{folder}/deep/s.txt"]
    assert (alice.folder / now / "deep/s.txt").read_text() == "mine\n"
    assert alice.lace("release", "--yes")["files"] == 2


@pytest.mark.parametrize(
    ("path", "cwd", "words"),
    [
        ("songs", "", ["."]),
        ("songs/new/x.txt", "", ["new/x.txt"]),
        ("songs/songs", "", ["songs/songs"]),  # from here, the desk itself is songs
        (".", "songs", ["."]),
        ("x.txt", "songs/new", ["x.txt"]),
    ],
)
def test_a_rule_of_main_about_another_desk_is_refused(
    pair: tuple[Person, Person], path: str, cwd: str, words: list[str]
) -> None:
    """CLAY-80, CLAY-3: it was taken and confirmed, and the release of that desk gave all to whom it leaves out."""
    alice, _ = pair
    alice.write("songs/new/x.txt", "la\n")
    alice.lace("desk", "add", "songs", "songs")
    there = alice.folder / cwd
    asked = ("desk", "permit", path, "--read", "--not", "bob", "--desk", "main")
    error = alice.lace(*asked, expect=2, cwd=there)["error"]
    assert (error["code"], error["message"]) == ("outside-folder", f"{path} lies in the desk songs.")
    command = error["hint"].partition("Name that desk: ")[2].removesuffix(" - or go to its folder.")
    assert shlex.split(command)[1:] == ["desk", "permit", *words, "--read", "--not", "bob", "--desk", "songs"]
    assert alice.lace("desk", "permits", "main")["permits"] == []
    at = "/".join(path.split("/")[1:]) if not cwd else {".": "", "x.txt": "new/x.txt"}[path]
    assert alice.lace(*shlex.split(command)[1:], cwd=there)["path"] == at
    if at != "songs":  # there is such a thing
        error = alice.lace("release", "1.0.0", "--desk", "songs", expect=2)["error"]
        assert error["code"] == NotPermitted.code


def test_a_rule_from_before_a_folder_was_a_desk_is_taken_back(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3: where there is one; else the command for that desk is named, whose own rule holds on."""
    alice, _ = pair
    alice.write("songs/x.txt", "la\n")
    alice.lace("desk", "permit", "songs", "--read", "--not", "bob")
    alice.lace("desk", "add", "songs", "songs")
    error = alice.lace("desk", "permit", "songs", "--write", "--only", "bob", "alice", expect=2)["error"]
    assert "lace desk permit . --write --only bob alice --desk songs" in error["hint"]
    alice.lace("desk", "permit", "songs", "--read", "--anyone")
    assert alice.lace("desk", "permits", "main")["permits"] == []
    error = alice.lace("desk", "permit", "songs", "--read", "--anyone", expect=2)["error"]
    assert "lace desk permit . --read --anyone --desk songs" in error["hint"]
    assert [rule["names"] for rule in alice.lace("desk", "permits", "songs")["permits"]] == [["bob"]]
    alice.lace("desk", "permit", "songsbook", "--read", "--not", "bob")
    assert len(alice.lace("desk", "permits", "main")["permits"]) == 1


def test_a_rule_about_what_was_released_before_says_that_it_is_out(pair: tuple[Person, Person]) -> None:
    """CLAY-80: what bob had been sent stayed readable to him, and the rule that names him did not say so."""
    alice, bob = pair
    alice.write("private/diary.txt", "dear diary\n")
    assert alice.lace("desk", "permit", "private", "--read", "--not", "bob")["released"] == []
    alice.lace("desk", "permit", "private", "--read", "--anyone")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    asked = ("desk", "permit", "private", "--read", "--not", "bob")
    assert alice.lace(*asked)["released"] == ["1.1.0"]
    assert "! main 1.1.0 has it: what was released stays readable, for bob too." in alice.text(*asked)
    assert bob.run("cat", "alice/main@1.1.0", "private/diary.txt").out == b"dear diary\n"
    for other in (("--write", "--not", "bob"), ("--read", "--only", "bob"), ("--read", "--anyone")):
        assert alice.lace("desk", "permit", "private", *other)["released"] == []


def test_somebody_with_two_keys_is_named_once_by_a_refusal(pair: tuple[Person, Person]) -> None:
    """CLAY-80: whoever went on under a new key was said twice, as if two people were meant."""
    alice, bob = pair
    bob.lace("adopt", "--yes")
    for person in (bob, alice):
        person.lace("sync", "stick")
    assert len(alice.lace("members")["members"]) == 3
    (old,) = [each["name"] for each in alice.lace("members")["members"] if each["node"] != bob.lace("id")["node"]][1:]
    alice.lace("desk", "permit", "private", "--read", "--not", old)
    alice.write("private/diary.txt", "dear diary\n")
    told = alice.lace("release", "--yes", expect=2)["error"]
    assert told["message"] == "Friends get a release whole, and bob may not read private."


@pytest.mark.parametrize("name", ["self", "alice"])
def test_a_rule_against_oneself_is_refused(pair: tuple[Person, Person], name: str) -> None:
    """CLAY-80: it was taken, and nothing came of it, for one always may."""
    alice, _ = pair
    told = alice.lace("desk", "permit", "private", "--read", "--not", "bob", name, expect=2)["error"]
    assert told["message"] == f"{name} is you, and you always may write and read in a desk of yours."
    assert alice.lace("desk", "permits")["permits"] == []
    alice.lace("desk", "permit", "private", "--read", *told["hint"].partition(": ")[2].split())
    (rule,) = alice.lace("desk", "permits")["permits"]
    assert (rule["list"], rule["names"]) == ("only", ["alice"])


def test_a_rule_from_when_one_could_name_oneself_is_typed_without_that(tmp_path: Path) -> None:
    """CLAY-80: the app fills in what is typed to change a rule, and that was refused."""
    with found(tmp_path) as alice, befriend(tmp_path, alice, "bob") as bob:
        both = tuple(sorted((alice.node.text, bob.node.text)))
        words = [
            permit_words(alice, Permit("private", Act.READ, is_white=False, nodes=nodes)).options
            for nodes in (both, (alice.node.text,))
        ]
    assert words == ["--read --not bob", "--read --anyone"]
