"""Deciding by path, by region and through files: what a person types is what is released (LAZ-39, CLAY-76)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lazy.conflicts import conflicts
from tests.circle.world import open_vault
from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.desks.tree import lookup
from vault.revisions.history import commit_info

SONG = "".join(f"{number}\n" for number in range(1, 12))


def _changed(*lines: tuple[int, str]) -> str:
    parts = SONG.splitlines()
    for number, text in lines:
        parts[number - 1] = text
    return "\n".join(parts) + "\n"


@pytest.fixture
def clash(shelf: Shelf) -> tuple[Person, Person]:
    """Both released 2.0.0: two clashing regions in one song, a picture, and a file that does not clash."""
    return shelf.lay(_clash)


def _clash(root: Path) -> tuple[Person, Person]:
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    for name, content in (("song.md", SONG.encode()), ("logo.png", b"\0old"), ("free.md", b"1\n")):
        alice.write(name, content)
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (alice, bob, alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    for person in (alice, bob):
        name = person.name
        person.write("song.md", _changed((2, f"{name} two"), (9, f"{name} nine")))
        person.write("logo.png", b"\0" + name.encode())
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob


def _song(person: Person) -> list[str]:
    lines = (person.folder / "song.md").read_text().splitlines()
    return [line for line in lines if not line.isdigit()]


def _resolve(person: Person, *words: str, expect: int = 0) -> dict[str, Any]:
    return person.lace("resolve", "2.0.0", "--merged", "2.0.0-merged", *words, expect=expect)


def test_each_region_gets_its_side(clash: tuple[Person, Person]) -> None:
    """LAZ-39: regions are shown with numbers, and each number takes a side, both, or is asked for."""
    alice, _ = clash
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    (song,) = conflict["regions"]
    assert song["path"] == "song.md"
    assert [(r["number"], r["base"], r["ours"], r["theirs"]) for r in song["regions"]] == [
        (1, "2\n", "alice two\n", "bob two\n"),
        (2, "9\n", "alice nine\n", "bob nine\n"),
    ]
    assert "song.md region 2" in alice.text("conflicts", "--regions")
    picture = ("--path", "logo.png", "--take", "bob")
    before = (alice.folder / "song.md").read_text()
    for wrong, code in (
        (("--path", "song.md", "--region", "1", "--take", "bob"), "region-undecided"),
        (("--path", "song.md", "--region", "1", "--take", "bob", "--region", "3", "--take", "bob"), "region-undecided"),
        (("--path", "logo.png", "--region", "1", "--take", "bob"), "no-such-region"),
        (("--path", "free.md", "--region", "1", "--take", "bob"), "no-such-region"),
        (("--region", "1", "--take", "bob"), "bad-arguments"),
        (("--path", "song.md", "--region", "x", "--take", "bob"), "bad-arguments"),
        (("--path", "song.md"), "bad-arguments"),
    ):
        assert _resolve(alice, *wrong, expect=2)["error"]["code"] == code
    both = _resolve(alice, "--path", "logo.png", "--take", "both", expect=2)["error"]["hint"]
    assert "lace cat" in both, "a file without lines was said to have regions"
    assert "--regions" not in both
    regions = ("--path", "song.md", "--region", "1", "--take", "both", "--region", "2", "--take", "bob")
    planned = _resolve(alice, *regions, *picture, "--dry-run")
    assert planned["planned"]
    assert planned["written"] == ["logo.png", "song.md"]
    assert (alice.folder / "song.md").read_text() == before
    done = _resolve(alice, *regions, *picture)
    assert done["status"] == "merged"
    assert sorted(done["written"]) == planned["written"]
    assert _song(alice) == ["alice two", "bob two", "bob nine"]
    assert (alice.folder / "logo.png").read_bytes() == b"\0bob"


def test_a_merged_file_is_taken_when_no_marker_is_left(clash: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-39: drafts are written for an editor, and an unfinished one is refused before anything changes."""
    alice, _ = clash
    (conflict,) = alice.lace("conflicts", "--drafts", str(tmp_path / "merge"))["conflicts"]
    assert conflict["drafts"] == ["song.md"]
    draft = tmp_path / "merge" / "song.md"
    text = draft.read_text()
    assert text.count("<<<<<<< alice") == 2
    assert text.count(">>>>>>> bob") == 2
    assert _resolve(alice, "--files", str(tmp_path / "merge"), expect=2)["error"]["code"] == "markers-left"
    assert alice.lace("conflicts")["conflicts"]
    os.truncate(draft, 40 << 30)  # it takes no room, and would take as much memory
    assert _resolve(alice, "--files", str(tmp_path / "merge"), expect=40)["error"]["code"] == "file-too-large"
    draft.write_text(SONG + "together\n")
    missing = _resolve(alice, "--files", str(tmp_path / "nowhere"), expect=2)["error"]
    assert (missing["code"], "lace conflicts --drafts" in missing["hint"]) == ("folder-missing", True)
    _resolve(alice, "--files", str(tmp_path / "merge"), "--path", "logo.png", "--take", "local")
    assert _song(alice) == ["together"]
    assert (alice.folder / "logo.png").read_bytes() == b"\0alice"


def test_drafts_overwrite_nothing_and_say_how_they_decide(clash: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-39: what was edited where a draft would go stays, be it a draft or a file of the shared folder itself."""
    alice, _ = clash
    before = (alice.folder / "song.md").read_bytes()
    answer = alice.lace("conflicts", "--drafts", str(alice.folder), expect=2)
    assert answer["error"]["code"] == "folder-in-the-way"
    assert "song.md" in answer["error"]["message"]
    assert (alice.folder / "song.md").read_bytes() == before
    merge = str(tmp_path / "merge")
    said = alice.text("conflicts", "--drafts", merge)
    assert f"Drafts in {merge}: song.md" in said
    assert f"--merged 2.0.1 --files {merge}" in said
    alice.lace("conflicts", "--drafts", merge)  # as it was written: nothing is lost
    draft = tmp_path / "merge" / "song.md"
    draft.write_text("half done\n")
    assert alice.lace("conflicts", "--drafts", merge, expect=2)["error"]["code"] == "folder-in-the-way"
    assert draft.read_text() == "half done\n"


def test_a_folder_with_markers_is_not_released_by_accident(clash: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-39: the folder as edited counts, but not while a draft stands in it."""
    alice, _ = clash
    alice.lace("conflicts", "--drafts", str(tmp_path / "merge"))
    alice.write("song.md", (tmp_path / "merge" / "song.md").read_bytes())
    assert _resolve(alice, expect=2)["error"]["code"] == "markers-left"
    alice.write("song.md", SONG + "by hand\n")
    _resolve(alice)
    assert _song(alice) == ["by hand"]


def test_all_conflicts_are_decided_at_once(clash: tuple[Person, Person]) -> None:
    """LAZ-39: one side for everything, planned first; it ends when nothing is open."""
    alice, _ = clash
    planned = alice.lace("resolve", "--all", "--prefer", "remote", "--dry-run")
    assert [row["written"] for row in planned["resolved"]] == [["logo.png", "song.md"]]
    assert alice.lace("conflicts")["conflicts"]
    done = alice.lace("resolve", "--all", "--prefer", "remote")
    assert len(done["resolved"]) == 1
    assert _song(alice) == ["bob two", "bob nine"]
    assert alice.lace("resolve", "--all", "--prefer", "remote")["resolved"] == []
    assert alice.lace("resolve", "2.0.0", "--all", "--prefer", "remote", expect=2)["error"]["code"] == "bad-arguments"
    assert alice.lace("resolve", "--prefer", "remote", expect=2)["error"]["code"] == "bad-arguments"


def test_why_no_lines_are_shown_is_said(clash: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-39: where content was lost nothing was shown, or that no text clashes in it."""
    alice, _ = clash
    with open_vault(alice) as vault:
        side = next(side for side in conflicts(vault)[0].sides if not side.is_local)
        song = lookup(vault.store, commit_info(vault.store, side.commit).tree, "song.md")
        assert song is not None
        with vault.store.transaction():
            vault.store.run("DELETE FROM body WHERE digest = ?", song.hash.digest)
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    assert conflict["regions"] == []
    assert conflict["fault"]["code"] == "object-missing"
    for words in (("--regions",), ("--drafts", str(tmp_path / "drafts"))):
        told = alice.text("conflicts", *words)
        assert f"    Its lines cannot be shown: The content {song.hash} is not in this vault." in told
        assert "No text clashes" not in told
