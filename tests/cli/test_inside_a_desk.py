"""Commands given inside the folder of a desk: a path is typed from where one stands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf


@pytest.fixture
def singer(shelf: Shelf) -> Person:
    """Alice with a desk in a sub-folder: two revisions of it, and a file that changed since."""
    return shelf.lay(_singer)


def _singer(root: Path) -> Person:
    alice = person_in(root, "alice")
    alice.write("songs/deep/b.txt", "b\n")
    alice.lace("init", "--name", "alice")
    alice.lace("desk", "add", "songs", "songs")
    for text in ("one\n", "two\n", "three\n"):
        alice.write("songs/a.txt", text)
        if text != "three\n":
            alice.lace("commit", "-m", text.strip(), "--desk", "songs")
    return alice


@pytest.mark.parametrize(
    ("folder", "path"),
    [(".", "songs/a.txt"), (".", "a.txt"), ("songs", "a.txt"), ("songs/deep", "../a.txt"), ("elsewhere", "a.txt")],
)
def test_a_path_is_typed_from_where_one_stands(singer: Person, folder: str, path: str) -> None:
    """CLAY-3: as a shell has it, for every command; outside the folder of a desk also as the desk calls it."""
    cwd = singer.folder / folder
    cwd.mkdir(exist_ok=True)
    assert singer.run("cat", "songs@1", path, cwd=cwd).out == b"one\n"
    assert singer.lace("diff", "songs@1", "songs@2", path, cwd=cwd)["changed"] == ["a.txt"]
    assert singer.lace("read", "x", "songs@1", path, cwd=cwd)["value"]["size"] == 4
    assert singer.stream("-C", str(cwd), "watch", "songs", path, "--from", "1", "--to", "2")[1]["number"] == 2
    assert singer.lace("fetch", "songs@1", path, cwd=cwd)["asked"] == []
    told = singer.lace("checkout", "songs@1", path, cwd=cwd, expect=2)["error"]
    assert told["code"] == "uncommitted-changes"
    keep = told["hint"].removeprefix("Keep it: ").partition(" - or")[0]
    assert singer.lace(*shlex.split(keep)[1:], cwd=cwd)["changed"] == ["a.txt"]
    assert singer.lace("checkout", "songs@1", path, cwd=cwd)["written"] == ["a.txt"]
    assert (singer.folder / "songs/a.txt").read_text() == "one\n"


def test_inside_the_folder_of_a_desk_a_path_is_never_one_above(singer: Person) -> None:
    """CLAY-3: what leads out is refused, and a name is not looked for in another folder than the one it is typed in."""
    inside = singer.folder / "songs"
    for path, code in (("../a.txt", "outside-folder"), ("deep/a.txt", "no-such-path")):
        assert singer.lace("cat", "songs@1", path, cwd=inside, expect=2)["error"]["code"] == code
    assert singer.lace("cat", "songs@1", "a.txt", cwd=inside / "deep", expect=2)["error"]["code"] == "no-such-path"
    told = singer.lace("cat", "songs@1", "../a.txt", expect=2)["error"]
    assert (told["code"], told["hint"]) == ("outside-folder", "Name files in the folder of that desk.")


def test_a_path_in_the_folder_of_another_desk_is_told_as_that(singer: Person) -> None:
    """CLAY-3: it was said to be in no folder, or not to have changed, and an edited file to be as it was in main."""
    singer.write("tunes/s.txt", "one\n")
    singer.lace("commit", "-m", "tunes")
    singer.lace("desk", "add", "tunes", "tunes")
    singer.lace("commit", "-m", "t", "--desk", "tunes")
    singer.write("tunes/s.txt", "two\n")
    for words in (
        ("commit", "-m", "y", "songs/a.txt"),
        ("commit", "-m", "y", "tunes/s.txt"),
        ("commit", "-m", "y", "tunes"),
        ("checkout", "main@1", "tunes/s.txt"),
        ("diff", "main@1", "main@1", "songs/a.txt"),
    ):
        told = singer.lace(*words, expect=2)["error"]
        name = words[-1].partition("/")[0]
        assert (told["code"], told["message"]) == ("outside-folder", f"{words[-1]} lies in the desk {name}.")
        assert f"Name that desk: lace {words[0]} " in told["hint"]
    told = singer.lace("commit", "-m", "y", "tunes/s.txt", expect=2)["error"]
    way = told["hint"].removeprefix("Name that desk: lace ").partition(" - ")[0]
    assert singer.lace(*way.split())["changed"] == ["s.txt"]
    way = singer.lace("checkout", "main@1", "tunes/s.txt", expect=2)["error"]["hint"].partition(": lace ")[2]
    assert "as in self/tunes@2 already" in singer.text(*way.partition(" - ")[0].split())
    assert singer.lace("diff", "main@1", "main@1", "tunes/s.txt")["changed"] == [], "what main had stays to be seen"


def test_diff_in_the_folder_of_a_desk_is_about_it(singer: Person) -> None:
    """CLAY-70: what `changes` lists is what `diff` shows."""
    inside = singer.folder / "songs"
    found = singer.lace("diff", cwd=inside)
    assert (found["changed"], found["before"]) == (["a.txt"], "songs@2")
    assert "+three" in singer.run("diff", cwd=inside / "deep").text
    assert singer.lace("diff")["changed"] == []


def test_a_path_that_no_revision_has_is_no_path_that_does_not_differ(singer: Person) -> None:
    """CLAY-70: a slip of the pen is told, with the command that lists what is there."""
    for words in (("diff", "songs@1", "songs@2"), ("cat", "songs@1"), ("fetch", "songs@1"), ("checkout", "songs@1")):
        told = singer.lace(*words, "nosuchfile", expect=2)["error"]
        assert (told["code"], "nosuchfile" in told["message"]) == ("no-such-path", True)
        listed = singer.run(*shlex.split(told["hint"].partition(": lace ")[2]))
        assert (listed.code, "a.txt" in listed.text) == (0, True)
    assert singer.lace("diff", "songs@1", "songs@2", "songs/deep")["changed"] == []
    singer.lace("checkout", "songs@1", expect=2)
    singer.lace("commit", "-m", "three", "--desk", "songs")
    assert "keep them with lace commit -m TEXT --desk songs" in singer.text("checkout", "songs@1")


@pytest.mark.parametrize(("folder", "option"), [(".", " --desk songs"), ("songs/deep", "")])
def test_the_next_step_is_about_the_desk_that_was_named(singer: Person, folder: str, option: str) -> None:
    """CLAY-3: a command that is offered is typed where one stands; without the desk it was about `main`."""
    cwd = singer.folder / folder
    told = singer.lace("checkout", "songs@1", cwd=cwd, expect=2)["error"]
    keep = told["hint"].removeprefix("Commit them first: ").partition(" - or")[0]
    assert keep == f"lace commit -m TEXT{option}"
    done = singer.run(*shlex.split(keep)[1:], cwd=cwd)
    assert done.text.splitlines()[-1] == f"It stays with you until a release: lace release{option}"
    assert singer.lace("release", "1.0.0", *option.split(), cwd=cwd)["desk"] == "songs"
    assert singer.lace("checkout", "songs@1", cwd=cwd)["written"] == ["a.txt"]


def test_a_path_of_two_desks_is_none(singer: Person) -> None:
    """CLAY-70: what one path would be in the folder of either is not guessed, and all of both can be compared."""
    singer.write("b.txt", "b\n")
    singer.lace("commit", "-m", "all")
    told = singer.lace("diff", "main@1", "songs@1", "songs/a.txt", expect=2)["error"]
    assert told["code"] == "bad-arguments"
    assert "self/main@1 and self/songs@1 are of two" in told["message"]
    assert singer.run(*shlex.split(told["hint"].partition(": lace ")[2])).code == 0
