"""A checkout that is cut off in the middle: the next action finishes it, and nobody's file is overwritten (APP-13)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lazy.folder.update import update
from tests.faults.circle import befriend, found, visit, write
from tests.shelf import Shelf
from vault import releasing
from vault.desks import writing
from vault.errors import LaceError
from vault.files import NotWritable
from vault.folder import unfinished, work
from vault.folder.meanwhile import SavedMeanwhile
from vault.fsck.check import check
from vault.revisions.history import Relation, line_head
from vault.vault import Vault

FILES = 40  # more than are flushed one by one


class Cut(BaseException):
    """The process ends here."""


def _names(vault: Vault) -> dict[str, str]:
    return {path.name: path.read_text() for path in vault.folder.iterdir() if path.is_file()}


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    """Two friends; bob has a release of alice's to take in, that changes, adds and deletes, and a file of his own."""
    return shelf.lay(_pair)


def _pair(root: Path) -> tuple[Vault, Vault]:
    alice = found(root)
    for number in range(FILES):
        write(alice, f"f{number}", f"old {number}\n")
    releasing.release(alice, None, "old")
    visit(alice)
    bob = befriend(root, alice, "bob")
    update(bob)
    for number in range(FILES):
        write(alice, f"f{number}", f"new {number}\n")
        write(alice, f"g{number}", "added\n")
    (alice.folder / "a.txt").unlink()
    releasing.release(alice, None, "new")
    visit(alice)
    visit(bob)
    write(bob, "mine.txt", "mine\n")
    return alice, bob


def _cut_after(monkeypatch: pytest.MonkeyPatch, calls: int, error: Callable[[], BaseException] = Cut) -> None:
    """End the process at a renaming or linking of the checkout."""
    left = [calls]
    for name in ("replace", "link", "rename"):
        real = getattr(os, name)

        def counted(*args: object, real: Callable[..., None] = real, **named: object) -> None:
            if "src_dir_fd" in named:
                left[0] -= 1
                if left[0] < 0:
                    raise error()
            real(*args, **named)

        monkeypatch.setattr(os, name, counted)


def _cut_update(monkeypatch: pytest.MonkeyPatch, vault: Vault, calls: int) -> None:
    with monkeypatch.context() as patch:
        _cut_after(patch, calls)
        with pytest.raises(Cut):
            update(vault)


@pytest.mark.parametrize("calls", [0, 1, FILES - 1, 2 * FILES - 1])
def test_the_same_command_finishes_and_makes_no_second_commit(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """APP-13: the line moved and the folder follows, without another merge."""
    alice, bob = pair
    _cut_update(monkeypatch, bob, calls)
    moved = line_head(bob.store, bob.node.text, "main")
    assert moved is not None
    assert {text for name, text in _names(bob).items() if name.startswith("f")} & {"old 0\n", "new 0\n"}
    again = update(bob)
    assert again.relation in {Relation.SAME, Relation.AHEAD}
    assert line_head(bob.store, bob.node.text, "main") == moved
    assert _names(bob) == {**_names(alice), "mine.txt": "mine\n"}
    assert work.changes(bob).items == ()
    assert check(bob).ok


@pytest.mark.parametrize("look", ["changes", "commit", "release"])
def test_every_action_that_looks_at_the_folder_finishes_it_first(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """APP-13: half of an update is never taken for somebody's work."""
    alice, bob = pair
    _cut_update(monkeypatch, bob, 7)
    write(bob, "later.txt", "later\n")
    acts: dict[str, Callable[[], work.Changes | work.Committed | work.Unchanged]] = {
        "changes": lambda: work.changes(bob),
        "commit": lambda: work.commit(bob, "later"),
        "release": lambda: releasing.release(bob, None, "later").committed,
    }
    found_items = acts[look]()
    assert found_items
    assert [item.path for item in found_items.items] == ["later.txt"]
    assert _names(bob) == {**_names(alice), "mine.txt": "mine\n", "later.txt": "later\n"}


@pytest.mark.parametrize("calls", [0, 7, FILES + 3])
def test_a_plan_finishes_nothing_and_foretells_what_is_done(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """APP-13: a dry run of an update writes no file, and names what is still to be written with what is new."""
    alice, bob = pair
    _cut_update(monkeypatch, bob, calls)
    write(alice, "f1", "newest\n")
    (alice.folder / "g2").unlink()
    (alice.folder / "g3").unlink()
    write(alice, "g3/in", "a folder now\n")
    releasing.release(alice, None, "newest")
    visit(alice)
    visit(bob)
    before = _names(bob)
    planned = update(bob, dry_run=True)
    assert _names(bob) == before
    assert ({"f1", "g3/in"} <= {*planned.moves.written}, planned.moves.deleted) == (True, ("g2", "g3"))
    done = update(bob)
    assert (done.moves.written, done.moves.deleted) == (planned.moves.written, planned.moves.deleted)
    assert _names(bob) == {**_names(alice), "mine.txt": "mine\n"}


def test_a_file_changed_meanwhile_is_kept_and_named(pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-12, APP-13: what a person wrote over half of an update is never overwritten, nor friends' work taken back."""
    alice, bob = pair
    _cut_update(monkeypatch, bob, 0)
    write(bob, "f3", "my own work\n")
    looked = work.changes(bob)
    assert [item.path for item in looked.items] == ["f3"]
    assert [(problem.path, problem.kind) for problem in looked.problems] == [("f3", "notice")]
    assert _names(bob) == {**_names(alice), "mine.txt": "mine\n", "f3": "my own work\n"}
    whole: list[Callable[[], object]] = [
        lambda: work.commit(bob, "everything"),
        lambda: work.commit(bob, "everything", [""]),
        lambda: releasing.release(bob),
    ]
    for act in whole:
        with pytest.raises(SavedMeanwhile, match="f3") as refused:
            act()
        assert "lace commit -m TEXT f3" in refused.value.hint
    write(bob, "other.txt", "other\n")
    assert work.commit(bob, "something else", ["other.txt"])
    with pytest.raises(SavedMeanwhile):
        work.commit(bob, "everything")
    made = work.commit(bob, "mine after all", ["f3"])
    assert made
    assert made.problems == ()
    assert work.changes(bob).problems == ()
    assert not work.commit(bob, "everything")
    assert check(bob).ok


def test_theirs_is_taken_by_moving_the_file_away(pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: the way out that the refusal names; nothing else of the update is done again."""
    _, bob = pair
    _cut_update(monkeypatch, bob, 0)
    write(bob, "f3", "my own work\n")
    assert work.changes(bob).problems
    (bob.folder / "f4").unlink()
    (bob.folder / "f3").rename(bob.folder / "f3.mine")
    looked = work.changes(bob)
    assert [(item.path, item.kind) for item in looked.items] == [("f3.mine", "added"), ("f4", "deleted")]
    assert looked.problems == ()
    assert (bob.folder / "f3").read_text() == "new 3\n"


@pytest.fixture
def lines(shelf: Shelf) -> tuple[Vault, Vault]:
    """Two friends; bob has a release of alice's to take in, with another last line of a file."""
    return shelf.lay(_lines)


def _lines(root: Path) -> tuple[Vault, Vault]:
    alice = found(root)
    write(alice, "a.txt", "1\n2\n3\n4\n5\n")
    write(alice, "b.txt", "b\n")
    write(alice, "c.txt", "c\n")
    releasing.release(alice, None, "base")
    visit(alice)
    bob = befriend(root, alice, "bob")
    update(bob)
    write(alice, "a.txt", "1\n2\n3\n4\nFIVE\n")
    write(alice, "b.txt", "new\n")
    write(alice, "c.txt", "new\n")
    releasing.release(alice, None, "five")
    visit(alice)
    visit(bob)
    return alice, bob


@pytest.mark.parametrize("text", ["ONE\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"])
@pytest.mark.parametrize("was_finished", [False, True])
def test_a_plan_knows_what_becomes_of_a_save_during_an_update(
    lines: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, text: str, was_finished: bool
) -> None:
    """APP-12, APP-13: what will be merged first counts as merged, and what will be refused is refused before."""
    alice, bob = lines
    _cut_update(monkeypatch, bob, 0)
    write(bob, "a.txt", text)
    write(alice, "a.txt", "1\n2\n3\n4\nFIVE\nsix\n")
    releasing.release(alice, None, "six")
    visit(alice)
    visit(bob)
    if was_finished:
        work.changes(bob)
    before = _names(bob)
    if "five" in text:
        for dry_run in (True, False):
            with pytest.raises(SavedMeanwhile, match=r"a\.txt"):
                update(bob, dry_run=dry_run)
            assert _names(bob) == (before if dry_run else {**_names(alice), "a.txt": text})
    else:
        planned = update(bob, dry_run=True)
        assert _names(bob) == before
        done = update(bob)
        assert (planned.moves.written, planned.merged, planned.relation) == (
            done.moves.written,
            done.merged,
            done.relation,
        )
        assert _names(bob)["a.txt"] == "ONE\n2\n3\n4\nFIVE\nsix\n"


@pytest.mark.parametrize("moment", ["while it wrote", "after it was cut off"])
def test_a_save_during_an_update_is_merged_with_what_came(
    lines: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """LAZ-39, APP-12: a release right after it gives friends both edits, and takes nothing back."""
    alice, bob = lines
    real = unfinished._write_folder

    def saved_late(*given: Any) -> Any:
        write(bob, "a.txt", "ONE\n2\n3\n4\n5\n")
        if moment == "after it was cut off":
            raise Cut
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", saved_late)
        if moment == "after it was cut off":
            with pytest.raises(Cut):
                update(bob)
        else:
            done = update(bob)
            assert (done.moves.written, done.moves.kept) == (("b.txt", "c.txt"), ("a.txt",))
            (bob.folder / "c.txt").unlink()
    released = releasing.release(bob, None, "one")
    assert (bob.folder / "a.txt").read_text() == "ONE\n2\n3\n4\nFIVE\n"
    assert released.committed
    deleted = [] if moment == "after it was cut off" else ["c.txt"]
    assert (released.committed.paths("changed"), released.committed.paths("deleted")) == (["a.txt"], deleted)
    visit(bob)
    visit(alice)
    assert update(alice).relation is Relation.BEHIND
    assert _names(alice) == _names(bob)
    assert work.changes(bob) == work.changes(bob)._replace(items=(), problems=())
    assert check(bob).ok


def test_a_disk_that_is_full_while_the_folder_is_written_is_named_and_gone_on_from(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13, fault 3: no half is left behind once there is room again."""
    alice, bob = pair
    with monkeypatch.context() as patch:
        _cut_after(patch, 5, lambda: OSError(5, "Input/output error"))
        with pytest.raises(NotWritable):
            update(bob)
        with pytest.raises(LaceError):
            work.commit(bob, "no half is committed")
        (problem,) = work.changes(bob).problems
        assert "half of an update" in problem.reason
        assert not list(bob.folder.glob("*.tmp"))
    update(bob)
    assert _names(bob) == {**_names(alice), "mine.txt": "mine\n"}


def test_what_a_cut_off_checkout_left_beside_the_files_goes(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: no temporary file stays for ever."""
    _, bob = pair
    _cut_update(monkeypatch, bob, 3)
    (bob.folder / ".lace-checkout-77.tmp").write_bytes(b"half")
    (bob.folder / ".lace-checkout-78.tmp/deep").mkdir(parents=True)
    (bob.folder / ".lace-checkout-78.tmp/deep/file").write_bytes(b"half")
    (bob.folder / ".lace-checkout-78.tmp/link").symlink_to(bob.folder / "mine.txt")
    work.changes(bob)
    assert (bob.folder / "mine.txt").read_text() == "mine\n"
    assert not [path for path in bob.folder.iterdir() if path.name.startswith(".lace-checkout")]


def test_a_new_folder_that_was_cut_off_is_written_again(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: killed before the folder has its name, nothing of it is taken for somebody's work, and nothing stays."""
    alice, bob = pair
    for path in ("new/a", "new/deep/b"):
        write(alice, path, f"{path}\n")
    releasing.release(alice, None, "newer")
    visit(alice)
    visit(bob)
    with monkeypatch.context() as patch:
        patch.setattr(writing.Writing, "discard", lambda _writer: None)  # a process that is killed removes nothing
        _cut_update(monkeypatch, bob, 2 * FILES)
    (left,) = (path for path in bob.folder.iterdir() if path.name.startswith(".lace-checkout"))
    assert (left / "deep/b").read_text() == "new/deep/b\n"
    assert not (bob.folder / "new").exists()
    assert update(bob).is_finished
    assert (bob.folder / "new/deep/b").read_text() == "new/deep/b\n"
    assert not list(bob.folder.rglob(".lace-checkout*"))
    assert work.changes(bob).items == ()
