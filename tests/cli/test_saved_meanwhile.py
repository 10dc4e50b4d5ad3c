"""Files that were saved while the folder was written: the way out that is told is a command that works as it is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from lace_tui.model.deeds import updates
from lace_tui.screens.written import updates_card
from lazy.folder.update import update
from tests.circle.world import open_vault
from tests.cli.cutting import cut_folder_off
from tests.people import Person
from vault.folder import unfinished
from vault.watch import Watch


def _saved_late(patch: pytest.MonkeyPatch, folder: Path, files: dict[str, str]) -> None:
    """Let these files be saved just before the folder is written."""
    real = unfinished._write_folder

    def late(*given: Any) -> Any:
        for name, text in files.items():
            (folder / name).write_text(text)
        return real(*given)

    patch.setattr(unfinished, "_write_folder", late)


def _begin_songs(alice: Person, bob: Person, root: Path, name: str) -> None:
    """Give both the desk `songs`, and bob a newer release of one of its files to take in."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write(f"songs/{name}", "1\n2\n3\n4\n5\n")
    alice.lace("desk", "add", "songs", "songs")
    alice.lace("release", "1.0.0", "--desk", "songs")
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    bob.lace("desk", "add", "songs", "songs")
    bob.lace("update", "songs")
    alice.write(f"songs/{name}", "1\n2\n3\n4\nFIVE\n")
    alice.lace("release", "1.1.0", "--desk", "songs")
    alice.run("sync", "stick")
    bob.run("sync", "stick")


@pytest.mark.parametrize(
    ("where", "name"), [(".", "f.txt"), ("songs", "-x"), ("songs/deep", "-x"), ("elsewhere", "f.txt")]
)
def test_the_way_out_is_spelled_for_where_it_is_typed(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, name: str
) -> None:
    """APP-12: the refusal, the notice and the next command name the desk and the file as they are typed there."""
    _begin_songs(alice, bob, tmp_path, name)
    here = bob.folder / where
    here.mkdir(exist_ok=True)
    with monkeypatch.context() as patch:
        _saved_late(patch, bob.folder / "songs", {name: "1\n2\n3\n4\nby bob\n"})
        done = bob.lace("update", "songs", expect=1, cwd=here)
    refused = bob.lace("commit", "-m", "all", "--desk", "songs", expect=2, cwd=here)["error"]
    assert refused["code"] == "saved-meanwhile"
    (notice,) = bob.lace("changes", "songs", cwd=here)["notices"]
    keep = refused["hint"].partition("in the file: ")[2].partition(" - or")[0]
    assert f"until {keep} - or until it is moved away" in notice["reason"]
    assert done["next"].startswith(f"{keep}, or move away")
    lace, *words = shlex.split(keep)
    assert lace == "lace"
    assert bob.lace(*words, cwd=here)["changed"] == [name]
    assert bob.lace("changes", "songs", cwd=here)["notices"] == []


def test_a_file_that_was_saved_late_can_be_kept_out(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-71, LAZ-39: it keeps what it holds, and no longer waits for a person."""
    _begin_songs(alice, bob, tmp_path, "f.txt")
    with monkeypatch.context() as patch:
        _saved_late(patch, bob.folder / "songs", {"f.txt": "1\n2\n3\n4\nby bob\n"})
        bob.lace("update", "songs", expect=1)
    bob.write("songs/.laceignore", "f.txt\n")
    made = bob.lace("commit", "-m", "mine", "--desk", "songs", "--keep-out", "songs/f.txt")
    assert (made["deleted"], made["notices"]) == (["f.txt"], [])
    found = bob.lace("changes", "songs")
    assert (found["added"], found["changed"], found["notices"]) == ([".laceignore"], [], [])
    assert (bob.folder / "songs/f.txt").read_text().endswith("by bob\n")


def test_the_next_command_follows_from_whether_it_merges(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-39, APP-12: who does what comes next is done; a file that does not merge is not said to."""
    _begin_songs(alice, bob, tmp_path, "f.txt")
    with monkeypatch.context() as patch:
        _saved_late(patch, bob.folder / "songs", {"f.txt": "ONE\n2\n3\n4\n5\n"})
        assert "Next: lace changes songs\n" in bob.text("update", "songs", expect=1)
    assert "what came is merged into it" in bob.lace("changes", "songs")["notices"][0]["reason"]
    bob.lace("commit", "-m", "one", "--desk", "songs")
    alice.write("songs/f.txt", "1\n2\n3\nFOUR\nFIVE\n")
    alice.lace("release", "1.2.0", "--desk", "songs")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    with monkeypatch.context() as patch:
        _saved_late(patch, bob.folder / "songs", {"f.txt": "ONE\n2\n3\nvier\nFIVE\n"})
        told = bob.text("update", "songs", expect=1)
    assert "left as they are, for they do not merge with what came:\n" in told
    assert "Next: lace commit -m TEXT --desk songs songs/f.txt, or move away" in told
    assert bob.text("update", "songs", expect=1).splitlines()[-1] == told.splitlines()[-1]


def test_a_decision_and_the_app_tell_the_same_next_command(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-39, APP-1, APP-12: whoever syncs first would share the decision without what was saved meanwhile."""
    _begin_songs(alice, bob, tmp_path, "f.txt")
    bob.write("songs/f.txt", "1\n2\n3\n4\nfuenf\n")
    bob.lace("release", "1.2.0", "--desk", "songs")
    conflict = bob.lace("update", "songs", expect=1)["conflict"]
    with monkeypatch.context() as patch:
        _saved_late(patch, bob.folder / "songs", {"f.txt": "1\n2\n3\n4\ncinq\n"})
        told = bob.lace("resolve", conflict, "--prefer", "alice", expect=1)
    assert told["kept"] == ["f.txt"]
    assert told["next"].startswith("lace commit -m TEXT --desk songs songs/f.txt, or move away")
    bob.lace("commit", "-m", "five", "--desk", "songs", "songs/f.txt")
    alice.write("songs/g.txt", "by alice\n")
    alice.lace("release", "1.3.0", "--desk", "songs")
    for person in (alice, bob):
        person.run("sync", "stick")
    with monkeypatch.context() as patch, open_vault(bob) as vault:
        plan = update(vault, "songs", dry_run=True)
        _saved_late(patch, bob.folder / "songs", {"g.txt": "by bob\n"})
        done = updates(vault, {"songs": plan}, Watch())
        assert isinstance(done, dict)
        card = updates_card(done, {})
    first, path, following = [line.plain for line in card.lines][-3:]
    assert (card.is_bad, path) == (True, "  g.txt")
    assert (
        first
        == "! Saved by you while the folder was written, so left as they are, for they do not merge with what came:"
    )
    assert following.startswith("next: lace commit -m TEXT --desk songs songs/g.txt, or move away")


def test_a_cut_off_undo_names_what_ends_it_and_what_it_merged(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4, APP-13: no pasted line takes back the commit that it advised; what was merged is listed, also planned."""
    _begin_songs(alice, bob, tmp_path, "f.txt")
    bob.write("songs/mine.txt", "mine\n")
    bob.lace("commit", "-m", "mine", "--desk", "songs")
    bob.lace("update", "songs")
    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run("undo").code != 0
    bob.write("songs/f.txt", "1\n2\n3\n4\nby bob\n")
    told = bob.lace("undo", "--dry-run", expect=2)["error"]
    assert bob.lace("undo", expect=2)["error"] == told
    keep = "lace commit -m TEXT --desk songs songs/f.txt"
    assert told["hint"] == f"Keep it, which ends the undo: {keep} - or bring it back as it was, then: lace undo"
    bob.write("songs/f.txt", "ONE\n2\n3\n4\nFIVE\n")
    planned = bob.lace("undo", "--dry-run", expect=1)
    assert (planned["kept"], (bob.folder / "songs/f.txt").read_text()) == (["f.txt"], "ONE\n2\n3\n4\nFIVE\n")
    done = bob.run("undo")
    assert (done.code, (bob.folder / "songs/f.txt").read_text()) == (1, "ONE\n2\n3\n4\n5\n")
    assert "as it was before, but for what was edited since.\n" in done.text
    assert "! Saved by you while the folder was written, and merged with what was written:\n  f.txt" in done.text
