"""Bob's vault in the states that a plan may meet: each is made by a function, below an empty directory (APP-12)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.cli.cutting import cut_folder_off
from tests.people import Person, person_in
from vault.folder import unfinished

__all__ = ["STATES", "made"]

_SONG = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def _three(root: Path) -> Person:
    """Alice and bob with three revisions each of the same files, from alice's releases, and a stick between them."""
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write("song.txt", _SONG)
    alice.write("list.txt", "milk\n")
    alice.write("deep/old.txt", "old\n")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    _meet(bob, alice, bob)
    bob.lace("update")
    bob.write("list.txt", "milk\nbread\n")
    bob.write("deep/mine.txt", "mine\n")
    bob.lace("commit", "-m", "bread")
    bob.write("song.txt", f"{_SONG}eight\n")
    (bob.folder / "deep/old.txt").unlink()
    bob.lace("commit", "-m", "eight")
    return bob


def _meet(*people: Person) -> None:
    for person in people:
        person.run("sync", "stick")


def _news(bob: Person, **files: str) -> None:
    """Let alice release files, and bob fetch them."""
    alice = _alice(bob)
    for name, text in files.items():
        alice.write(f"{name}.txt", text)
    alice.lace("release", "--yes")
    _meet(alice, bob)


def _alice(bob: Person) -> Person:
    return person_in(bob.folder.parent, "alice")


def _cut(bob: Person, *words: str) -> None:
    """Let a command of bob be cut off before it writes a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run(*words).code != 0


# States


def clean(bob: Person) -> None:
    """Nothing is new."""


def news(bob: Person) -> None:
    _news(bob, song=f"zero\n{_SONG}", new="new\n")


def edits(bob: Person) -> None:
    news(bob)
    bob.write("list.txt", "milk\nbread\neggs\n")
    bob.write("extra.txt", "extra\n")


def edits_on_nothing_new(bob: Person) -> None:
    bob.write("list.txt", "milk\nbread\neggs\n")
    (bob.folder / "deep/mine.txt").unlink()


def edits_that_clash(bob: Person) -> None:
    news(bob)
    bob.write("new.txt", "mine\n")
    bob.write("song.txt", f"null\n{_SONG}eight\n")


def looked(bob: Person) -> None:
    news(bob)
    bob.lace("checkout", "main@2")


def looked_and_edited(bob: Person) -> None:
    looked(bob)
    bob.write("list.txt", "milk\nbread\neggs\n")


def looked_new_edit(bob: Person) -> None:
    bob.lace("checkout", "main@1")
    bob.write("song.txt", "other\n")
    bob.write("extra.txt", "extra\n")


def path_brought(bob: Person) -> None:
    bob.lace("checkout", "main@1", "song.txt")


def path_brought_and_edited(bob: Person) -> None:
    path_brought(bob)
    bob.write("song.txt", f"nought\n{_SONG}")


def path_brought_over_edits(bob: Person) -> None:
    bob.write("song.txt", f"{_SONG}nine\n")
    bob.lace("checkout", "main@1", "song.txt", "--keep-edits")


def updated(bob: Person) -> None:
    news(bob)
    bob.lace("update")


def updated_and_edited(bob: Person) -> None:
    updated(bob)
    bob.write("song.txt", "all new\n")


def cut_update(bob: Person) -> None:
    news(bob)
    _cut(bob, "update")


def cut_update_half(bob: Person) -> None:
    cut_update(bob)
    bob.write("new.txt", "new\n")


def cut_update_beside_edit(bob: Person) -> None:
    cut_update(bob)
    bob.write("list.txt", "milk\nbread\neggs\n")


def cut_update_merging(bob: Person) -> None:
    cut_update(bob)
    bob.write("song.txt", _SONG.replace("four", "vier") + "eight\n")


def cut_update_clashing(bob: Person) -> None:
    cut_update(bob)
    bob.write("song.txt", f"null\n{_SONG}eight\n")


def cut_update_new_clashing(bob: Person) -> None:
    cut_update(bob)
    bob.write("new.txt", "mine\n")


def left_update(bob: Person) -> None:
    cut_update_clashing(bob)
    bob.run("changes")


def looked_and_left(bob: Person) -> None:
    """A look at another state, back from which an undo was cut off, and a file was saved then."""
    bob.lace("checkout", "main@1")
    _cut(bob, "checkout", "main@2")
    bob.write("song.txt", "late\n")
    bob.run("changes")


def path_brought_and_left(bob: Person) -> None:
    """What an update left waits, and beside it a path was brought."""
    left_update(bob)
    bob.lace("checkout", "main@1", "deep")


def cut_update_more_news(bob: Person) -> None:
    cut_update(bob)
    _news(bob, list="milk\nbutter\n", more="more\n")


def left_update_more_news(bob: Person) -> None:
    left_update(bob)
    _news(bob, more="more\n")


def cut_look(bob: Person) -> None:
    _cut(bob, "checkout", "main@2")


def cut_look_edited(bob: Person) -> None:
    cut_look(bob)
    bob.write("song.txt", "other\n")


def cut_keep_edits(bob: Person) -> None:
    bob.write("song.txt", f"{_SONG}nine\n")
    _cut(bob, "checkout", "main@1", "song.txt", "--keep-edits")


def cut_keep_edits_edited(bob: Person) -> None:
    cut_keep_edits(bob)
    bob.write("song.txt", f"{_SONG}nine\nten\n")


def cut_undo(bob: Person) -> None:
    updated(bob)
    _cut(bob, "undo")


def cut_undo_edited(bob: Person) -> None:
    cut_undo(bob)
    bob.write("song.txt", "other\n")


def cut_undo_new_edited(bob: Person) -> None:
    cut_undo(bob)
    bob.write("new.txt", "other\n")


def cut_undo_of_look(bob: Person) -> None:
    bob.lace("checkout", "main@1")
    _cut(bob, "undo")


def cut_undo_of_path(bob: Person) -> None:
    path_brought_and_edited(bob)
    _cut(bob, "undo")


def cut_undo_of_path_edited(bob: Person) -> None:
    cut_undo_of_path(bob)
    bob.write("song.txt", "late\n")


def undone(bob: Person) -> None:
    updated(bob)
    bob.lace("undo")


def undone_commit(bob: Person) -> None:
    news(bob)
    bob.lace("undo")


def undone_look(bob: Person) -> None:
    bob.lace("checkout", "main@1")
    bob.lace("undo")


def head_conflict(bob: Person) -> None:
    edits_that_clash(bob)
    bob.lace("update", expect=1)


def head_conflict_edited(bob: Person) -> None:
    head_conflict(bob)
    bob.write("list.txt", "milk\nbread\neggs\n")
    bob.write("song.txt", "in between\n")


def version_conflict(bob: Person) -> None:
    """Both released one version with other content."""
    alice = _alice(bob)
    alice.write("song.txt", f"zero\n{_SONG}")
    alice.write("more.txt", "alice\n")
    alice.lace("release", "1.1.0")
    bob.write("song.txt", f"null\n{_SONG}")
    bob.lace("release", "1.1.0")
    _meet(alice, bob)


def version_conflict_edited(bob: Person) -> None:
    version_conflict(bob)
    bob.write("song.txt", f"nil\n{_SONG}")
    bob.write("list.txt", "milk\nbread\neggs\n")


def version_conflict_cut(bob: Person) -> None:
    cut_update(bob)
    alice = _alice(bob)
    alice.write("more.txt", "alice\n")
    alice.lace("release", "3.0.0")
    bob.write("more.txt", "bob\n")
    bob.lace("release", "3.0.0")
    _meet(alice, bob)


def version_conflict_left(bob: Person) -> None:
    version_conflict(bob)
    _news(bob, new="new\n")
    _cut(bob, "update")
    bob.write("new.txt", "other\n")
    bob.run("changes")


def proposed_decision(bob: Person) -> None:
    """Alice decided what bob has still to accept."""
    version_conflict(bob)
    alice = _alice(bob)
    _meet(bob, alice)
    found = alice.lace("conflicts")["conflicts"][0]["id"]
    alice.lace("resolve", found, "--prefer", "local")
    _meet(alice, bob)


def proposed_decision_edited(bob: Person) -> None:
    proposed_decision(bob)
    bob.write("song.txt", f"nil\n{_SONG}")


def draft(bob: Person) -> None:
    """Regions of a decision wait in a draft."""
    version_conflict(bob)
    found = bob.lace("conflicts")["conflicts"][0]["id"]
    bob.run("resolve", found, "--merged", "1.2.0", "--path", "more.txt", "--take", "alice", "--dry-run")


def stick_gone(bob: Person) -> None:
    edits(bob)
    shutil.rmtree(bob.folder.parent / "stick")


def place_removed(bob: Person) -> None:
    bob.lace("place", "remove", "stick")


def place_removed_and_gone(bob: Person) -> None:
    place_removed(bob)
    shutil.rmtree(bob.folder.parent / "stick")


def place_added(bob: Person) -> None:
    bob.lace("place", "add", "other", str(bob.folder.parent / "other"))


def desk_of_friend(bob: Person) -> None:
    """A friend's desk came that has no folder here."""
    alice = _alice(bob)
    alice.write("songs/la.txt", "la\n")
    alice.lace("desk", "add", "songs", "songs")
    alice.lace("release", "1.0.0", "--desk", "songs")
    _meet(alice, bob)


def desk_mapped(bob: Person) -> None:
    desk_of_friend(bob)
    bob.lace("desk", "add", "songs", "songs")


def desk_mapped_filled(bob: Person) -> None:
    desk_of_friend(bob)
    bob.write("songs/la.txt", "mine\n")
    bob.lace("desk", "add", "songs", "songs")


def emptied(bob: Person) -> None:
    news(bob)
    for path in bob.folder.iterdir():
        if path.name != ".vault":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def mostly_gone(bob: Person) -> None:
    news(bob)
    shutil.rmtree(bob.folder / "deep")
    (bob.folder / "list.txt").unlink()


def file_for_folder(bob: Person) -> None:
    news(bob)
    shutil.rmtree(bob.folder / "deep")
    bob.write("deep", "a file\n")


def folder_for_file(bob: Person) -> None:
    news(bob)
    (bob.folder / "song.txt").unlink()
    bob.write("song.txt/in.txt", "in\n")


def ruled_out(bob: Person) -> None:
    news(bob)
    bob.write(".laceignore", "new.txt\nsong.txt\n")
    bob.write("new.txt", "kept out\n")


def ruled_out_committed(bob: Person) -> None:
    bob.write(".laceignore", "song.txt\n")
    bob.write("song.txt", "private\n")
    bob.lace("commit", "-m", "keep out", "--keep-out", "song.txt")
    news(bob)


def rules_unclear(bob: Person) -> None:
    news(bob)
    bob.write(".laceignore", "[\n")
    bob.write("extra.txt", "extra\n")


def pruned(bob: Person) -> None:
    bob.lace("prune", "--yes", "--keep", "1")


def restored(bob: Person) -> None:
    """A backup was brought back, and nothing was fetched since."""
    shutil.copytree(bob.folder / ".vault", bob.folder.parent / "backup")
    bob.write("song.txt", "lost\n")
    bob.lace("release", "--yes")
    _meet(bob, _alice(bob))
    shutil.rmtree(bob.folder / ".vault")
    shutil.copytree(bob.folder.parent / "backup", bob.folder / ".vault")


def restored_conflict(bob: Person) -> None:
    """The backup holds a conflict that is not decided."""
    version_conflict(bob)
    restored(bob)


def restored_and_met(bob: Person) -> None:
    restored(bob)
    _meet(bob)


def restored_and_met_edited(bob: Person) -> None:
    restored_and_met(bob)
    bob.write("list.txt", "milk\nbread\neggs\n")


def revoked(bob: Person) -> None:
    alice = _alice(bob)
    alice.lace("revoke", "bob", "--yes")
    _meet(alice, bob)


def labelled(bob: Person) -> None:
    bob.lace("label", "here")


def released(bob: Person) -> None:
    bob.lace("release", "--yes")


def shared_commits(bob: Person) -> None:
    bob.lace("config", "set", "share", "commits")
    bob.write("list.txt", "milk\nbread\neggs\n")


def part_fetched(bob: Person) -> None:
    """Of alice's release only a part came."""
    alice = _alice(bob)
    alice.write("big/one.txt", "one\n")
    alice.write("two.txt", "two\n")
    alice.lace("release", "--yes")
    _meet(alice)
    bob.run("sync", "stick", "--path", "big")


def merged_by_name(bob: Person) -> None:
    news(bob)
    bob.lace("merge", "main", "--from", "alice/main", "--strategy", "mate")


def cut_merge(bob: Person) -> None:
    news(bob)
    _cut(bob, "merge", "main", "--from", "alice/main", "--strategy", "only-that")


def cut_merge_edited(bob: Person) -> None:
    cut_merge(bob)
    bob.write("list.txt", "flour\n")


def unpermitted(bob: Person) -> None:
    bob.lace("desk", "permit", "song.txt", "--write", "--only", "bob")
    bob.lace("release", "--yes")
    _meet(bob)
    news(bob)


STATES: Final[dict[str, Callable[[Person], None]]] = {
    made.__name__: made
    for made in list(globals().values())
    if callable(made) and getattr(made, "__module__", "") == __name__ and not made.__name__.startswith("_")
}
"""Every state by its name."""


def made(root: Path, name: str) -> Person:
    """Make a state; return bob."""
    bob = _three(root)
    STATES[name](bob)
    return bob
