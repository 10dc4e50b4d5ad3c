"""Copies of one medium as places of their own: a stick, and what was copied of it to a web server (README)."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.looking import error_of
from tests.people import Person


def test_a_copy_that_lags_behind_is_no_medium_that_was_set_back(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-18, INT: it was told at each sync, with an exit code, and stood in the evidence against a friend."""
    ann, bob = pair
    shutil.copytree(tmp_path / "stick", tmp_path / "copy")
    bob.lace("place", "add", "copy", str(tmp_path / "copy"))
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    for _ in range(3):
        told = bob.lace("sync", "--all")
        assert [place["problems"] for place in told["places"]] == [[], []]
    assert "set back" not in bob.text("status")
    assert "1.1.0" in bob.text("log")


def test_one_medium_alone_that_was_set_back_is_told(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-18: also where another place is some other medium."""
    ann, bob = pair
    bob.lace("place", "add", "other", str(tmp_path / "other"))
    shutil.copytree(tmp_path / "stick", tmp_path / "before")
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    shutil.rmtree(tmp_path / "stick")
    shutil.copytree(tmp_path / "before", tmp_path / "stick")
    assert "The medium was set back" in bob.text("sync", "stick", expect=1)


@pytest.mark.parametrize("is_emptied", [False, True])
def test_my_own_mailbox_that_was_set_back_is_told_and_brought_forward(
    pair: tuple[Person, Person], tmp_path: Path, is_emptied: bool
) -> None:
    """CYB-18: a git host's was told; on a stick all was sent again without a word."""
    ann, _ = pair
    stick, before = tmp_path / "stick", tmp_path / "before"
    shutil.copytree(stick, before)
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    shutil.rmtree(stick)
    before.rename(stick)
    if is_emptied:
        (box,) = stick.glob(f"*/{ann.lace('id')['fingerprint']}")
        shutil.rmtree(box)
    said = f"Your mailbox on {stick} did not hold what was left there"
    (problem,) = [one for one in ann.lace("pull", "stick")["problems"] if one["code"] == "mailbox-set-back"]
    assert problem["message"].startswith(said)
    assert problem["hint"].endswith("lace sync stick")
    (problem,) = ann.lace("sync", "stick")["problems"]
    assert problem["message"].startswith(said)
    assert problem["hint"].startswith("What you share lies there again.")
    assert ann.lace("sync", "stick")["problems"] == []


@pytest.mark.parametrize("file", ["", "copy", "other"])
def test_a_copy_that_showed_a_newer_state_was_set_back(pair: tuple[Person, Person], tmp_path: Path, file: str) -> None:
    """CYB-18: what one copy showed is remembered of it, whatever the other one shows.

    Nor does a file change that which is called as the copy is, and nothing is remembered of what a file showed.
    """
    ann, bob = pair
    for number in range(2):
        ann.write("list.md", f"{number}\n")
        ann.lace("release", f"1.{number + 1}.0")
        ann.lace("sync", "stick")
        shutil.copytree(tmp_path / "stick", tmp_path / f"copy{number}")
    shutil.copytree(tmp_path / "copy1", tmp_path / "copy")
    bob.lace("place", "add", "copy", str(tmp_path / "copy"))
    bob.lace("pull", "copy")
    if file:
        (tmp_path / "mail").mkdir()
        ann.lace("bundle", "create", str(tmp_path / "mail" / file))
        bob.lace("bundle", "apply", str(tmp_path / "mail" / file))
        with closing(sqlite3.connect(bob.folder / ".vault" / "store.db")) as db:
            noted = "SELECT key FROM meta WHERE key LIKE 'shown at %' ORDER BY key"
            assert db.execute(noted).fetchall() == [("shown at copy",), ("shown at stick",)]
    shutil.rmtree(tmp_path / "copy")
    shutil.copytree(tmp_path / "copy0", tmp_path / "copy")
    assert "The medium was set back" in bob.text("pull", "copy", expect=1)
    bob.lace("sync", "stick")


def _forked(ann: Person, bob: Person, root: Path, ahead: int) -> None:
    """Let ann release so many times at the stick, and once more at a copy of it as she was before, restored."""
    for source, copied in ((root / "stick", "copy"), (ann.home, "home"), (ann.folder, "folder")):
        shutil.copytree(source, root / copied)
    bob.lace("place", "add", "copy", str(root / "copy"))
    for number in range(ahead):
        ann.write("list.md", f"tea {number}\n")
        ann.lace("release", f"1.1.{number}")
        ann.lace("sync", "stick")
    for copied, lost in (("home", ann.home), ("folder", ann.folder)):
        shutil.rmtree(lost)
        (root / copied).rename(lost)
    ann.lace("place", "remove", "stick")
    ann.lace("place", "add", "copy", str(root / "copy"))
    ann.write("list.md", "coffee\n")
    ann.lace("release", "1.2.0")
    ann.lace("sync", "copy")


def test_two_states_of_one_number_at_two_copies_are_read_and_told(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-18: the second one counted as a copy that lags: its release never came, and the fork was not noticed."""
    ann, bob = pair
    _forked(ann, bob, tmp_path, 1)
    bob.lace("sync", "stick")
    for options, codes in ((["--dry-run"], {"two-states"}), ([], {"two-states", "forked"}), ([], {"two-states"})):
        done = bob.run("--json", "sync", "copy", *options).json
        assert {problem["code"] for problem in done["problems"]} == codes
    assert "1.2.0" in bob.text("log")
    assert bob.lace("sync", "stick")["problems"] == []


def test_a_lower_number_at_a_copy_of_another_line_is_read(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-18, LAZ-65: it counted as a copy that lags: its release never came, and the fork was not noticed.

    Once it is read, it is one: nothing of it is read or told again.
    """
    ann, bob = pair
    _forked(ann, bob, tmp_path, 2)
    bob.lace("sync", "stick")
    assert bob.lace("sync", "copy", "--dry-run")["received"] > 0
    done = bob.run("--json", "sync", "copy").json
    assert [problem["code"] for problem in done["problems"]] == ["forked"]
    assert done["received"] > 0
    assert "1.2.0" in bob.text("log")
    for name in ("copy", "stick") * 2:
        done = bob.lace("sync", name)
        assert (done["problems"], done["received"]) == ([], 0)


def test_what_does_not_count_of_a_friend_is_not_read_again_at_a_copy_that_lags(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """CYB-18, W4: what was sealed beyond a cut never comes, so nothing is another line for that."""
    ann, bob = pair
    ann.lace("revoke", "bob", "--yes")
    for number in range(2):
        bob.write("list.md", f"{number}\n")
        bob.lace("release", f"1.{number + 1}.0")
        bob.lace("push", "stick")
        if not number:
            shutil.copytree(tmp_path / "stick", tmp_path / "copy")
    ann.lace("place", "add", "copy", str(tmp_path / "copy"))
    for name in ("stick", "copy"):
        ann.run("sync", name)
    read = [ann.lace("sync", name) for name in ("stick", "copy")]
    assert [(done["problems"], done["received"]) for done in read] == [([], 0)] * 2
    assert read[0]["bytes_received"] == read[1]["bytes_received"] < 1000


def test_another_way_to_a_place_is_no_other_place(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """By a link each sync visited one stick twice, and a friend's vault by its other name."""
    ann, bob = pair
    (tmp_path / "link").symlink_to("stick")
    error_of(ann.run("--json", "place", "add", "again", str(tmp_path / "link")), "place-known")
    ann.lace("place", "add", "beside", str(bob.folder), "--for", "bob")
    error_of(ann.run("--json", "place", "add", "again", str(bob.folder)), "place-known")


def _lose(stick: Path, size: int) -> None:
    """Damage the bundles of a drop that have at least so many bytes."""
    for bundle in stick.glob("*/*/*"):
        if bundle.stat().st_size >= size:
            bundle.write_bytes(bytes(bundle.stat().st_size))


@pytest.mark.parametrize("is_part", [False, True])
def test_a_copy_that_lags_gives_what_the_one_ahead_did_not(
    pair: tuple[Person, Person], tmp_path: Path, is_part: bool
) -> None:
    """CYB-18, INT-120: to sync where it lies whole, as is said, brought nothing, since a newer head had been seen.

    The one ahead is read in part where it is damaged, or for a path alone.
    """
    ann, bob = pair
    ann.write("song.wav", random.Random(1).randbytes(400_000))
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    shutil.copytree(tmp_path / "stick", tmp_path / "copy")
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    bob.lace("place", "add", "copy", str(tmp_path / "copy"))
    if not is_part:
        _lose(tmp_path / "stick", 300_000)
    bob.run("sync", "stick", *(["--path", "list.md"] if is_part else []))
    shutil.rmtree(tmp_path / "stick")
    bob.lace("update")
    assert not (bob.folder / "song.wav").exists()
    for _ in range(3):
        assert bob.lace("sync", "copy")["problems"] == []
    bob.lace("update")
    assert (bob.folder / "song.wav").stat().st_size == 400_000


def _lagging(ann: Person, bob: Person, root: Path) -> None:
    """Let bob know a stick and a copy of it that lags, and have read both."""
    shutil.copytree(root / "stick", root / "copy")
    bob.lace("place", "add", "copy", str(root / "copy"))
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    for place in ("stick", "copy"):
        bob.lace("sync", place)


@pytest.mark.parametrize("is_visited", [False, True])
def test_a_copy_that_lags_was_not_set_back_once_the_other_is_forgotten(
    pair: tuple[Person, Person], tmp_path: Path, is_visited: bool
) -> None:
    """CYB-18: the one left was judged by what the forgotten one showed; by what it shows itself it is judged still."""
    ann, bob = pair
    shutil.copytree(tmp_path / "stick", tmp_path / "before")
    ann.write("list.md", "cocoa\n")
    ann.lace("release", "1.0.1")
    ann.lace("sync", "stick")
    _lagging(ann, bob, tmp_path)
    bob.lace("place", "remove", "stick")
    for _ in range(2 * is_visited):
        assert bob.lace("sync", "copy")["problems"] == []
    shutil.rmtree(tmp_path / "copy")
    (tmp_path / "before").rename(tmp_path / "copy")
    assert "The medium was set back" in bob.text("sync", "copy", expect=1)


def test_a_new_directory_under_the_name_of_a_copy_was_not_set_back(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-18: what another directory of that name had shown was held against it at each sync."""
    ann, bob = pair
    shutil.copytree(tmp_path / "stick", tmp_path / "before")
    _lagging(ann, bob, tmp_path)
    bob.lace("place", "remove", "stick")
    (tmp_path / "before").rename(tmp_path / "new")
    bob.lace("place", "add", "stick", str(tmp_path / "new"))
    for _ in range(2):
        assert bob.lace("sync", "stick")["problems"] == []


def test_one_medium_alone_that_was_set_back_is_told_also_as_a_place_anew(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """CYB-18: to forget a place and add it again hides nothing where no other place ever was a copy of it."""
    ann, bob = pair
    shutil.copytree(tmp_path / "stick", tmp_path / "before")
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("place", "remove", "stick")
    bob.lace("place", "add", "stick", str(tmp_path / "before"))
    assert "The medium was set back" in bob.text("sync", "stick", expect=1)
