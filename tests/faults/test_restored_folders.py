"""A folder restored from a backup, or a copy that went on: what its owner did since is taken in first (LAZ-65)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lazy.belonging.adopting import adopt
from lazy.conflicts import conflicts
from lazy.folder import update as lazy_update
from lazy.folder.undo import undo
from lazy.interlace.scope import Scope
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.faults.circle import (
    PLACE,
    befriended,
    found,
    open_stick,
    release_text,
    replace_tree,
    visit,
    write,
)
from tests.shelf import Shelf
from vault import releasing
from vault.desk_folders import MAIN
from vault.folder import work
from vault.folder.divergence import OwnWorkApart, apart, away
from vault.names import Version
from vault.notes.revisions import CROSSED, DOUBLED
from vault.revisions.graph import is_ancestor
from vault.revisions.history import shown_version, unreleased
from vault.vault import Vault


@pytest.mark.parametrize("meanwhile", [0, 1, 3])
def test_a_restored_folder_takes_back_in_what_was_released_before_it_goes_on(
    tmp_path: Path, shelf: Shelf, meanwhile: int
) -> None:
    # LAZ-65, LAZ-66: else 2.0.0 would be in nobody's folder who had not taken it, and no conflict would say so
    alice, bob = shelf.lay(befriended, "bob")
    lazy_update.update(bob)
    release_text(bob, "first")
    visit(bob)
    for part in ("f", "home"):
        shutil.copytree(tmp_path / "bob" / part, tmp_path / "backup" / part)
    write(bob, "song.txt", "la la\n")
    work.commit(bob, "a commit between")
    write(bob, "more.txt", "more\n")
    lost = releasing.release(bob, Version(2, 0, 0), "second")
    visit(bob)
    bob.close()
    restored = ("f", "home") if meanwhile else ("f",)  # without the mark nothing is known of it until a visit
    for part in restored:
        replace_tree(tmp_path / "backup" / part, tmp_path / "bob" / part)
    with Vault(tmp_path / "bob" / "f", bob.around) as back:
        for number in range(meanwhile):
            write(back, f"new-{number}.txt", "new\n")
            work.commit(back, f"after {number}")
        write(back, "new.txt", "new\n")
        assert visit(back).next == "lace update"
        assert apart(back) == [lost.commit]
        assert unreleased(back) == meanwhile
        for act in (lambda: work.commit(back, "no"), lambda: releasing.release(back, None, "no")):
            with pytest.raises(OwnWorkApart):
                act()
        done = lazy_update.update(back)
        assert set(done.moves.written) == {"song.txt", "more.txt"}
        assert apart(back) == []
        assert shown_version(back) == f"2.0.0+{meanwhile + 2}", "what was saved first, and what merges it"
        after = releasing.release(back, None, "third")
        assert is_ancestor(back.store, lost.commit, after.commit)
        visit(back)
    visit(alice)
    lazy_update.update(alice)
    shown = {file.name for file in alice.folder.iterdir()} - {".vault"}
    new = {f"new-{number}.txt" for number in range(meanwhile)} | {"new.txt"}
    assert shown == {"a.txt", "bob.txt", "song.txt", "more.txt"} | new


def test_a_restored_folder_misses_commits_that_were_shared_and_never_released(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-65, H-29: of two revisions with one number the one that the folder has not is known by that
    alice = shelf.lay(found)
    alice.settings.set("share", "commits").save()
    for part in ("f", "home"):
        shutil.copytree(tmp_path / "alice" / part, tmp_path / "backup" / part)
    write(alice, "song.txt", "la la\n")
    lost = work.commit(alice, "shared")
    assert lost
    visit(alice)
    alice.close()
    for part in ("f", "home"):
        replace_tree(tmp_path / "backup" / part, tmp_path / "alice" / part)
    with Vault(alice.folder, alice.around) as back:
        back.settings.set("share", "releases").save()
        for number in range(3):
            write(back, f"new-{number}.txt", "new\n")
            work.commit(back, f"after {number}")
        visit(back)
        assert apart(back) == [lost.commit]


def test_saving_work_before_several_updates_hides_nothing_of_a_restored_line(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-65, LAZ-66: what is uncommitted lengthens the line, and what was released before is apart all the same
    alice = shelf.lay(found)
    write(alice, "b.txt", "base\n")
    releasing.release(alice, None, "before")
    visit(alice)
    for part in ("f", "home"):
        shutil.copytree(tmp_path / "alice" / part, tmp_path / "backup" / part)
    write(alice, "b.txt", "released\n")
    write(alice, "song.txt", "la la\n")
    lost = releasing.release(alice, None, "released")
    visit(alice)
    alice.close()
    replace_tree(tmp_path / "backup" / "f", tmp_path / "alice" / "f")
    with Vault(tmp_path / "alice" / "f", alice.around) as back:
        write(back, "b.txt", "mine again\n")
        visit(back)
        for number in range(3):
            assert lazy_update.update(back).conflict
            write(back, f"new-{number}.txt", "new\n")
            assert apart(back) == [lost.commit]
            for act in (lambda: work.commit(back, "no"), lambda: releasing.release(back, Version(2, 0, 0), "no")):
                with pytest.raises(OwnWorkApart):
                    act()


def test_a_restored_folder_that_clashes_with_what_was_released_is_decided(tmp_path: Path, shelf: Shelf) -> None:
    # LAZ-65: what is decided holds both, and is what friends get
    _, bob = shelf.lay(befriended, "bob")
    lazy_update.update(bob)
    shutil.copytree(bob.folder, tmp_path / "backup")
    write(bob, "a.txt", "mine\n")
    lost = releasing.release(bob, Version(2, 0, 0), "as it was")
    visit(bob)
    bob.close()
    replace_tree(tmp_path / "backup", bob.folder)
    with Vault(bob.folder, bob.around) as back:
        write(back, "a.txt", "other\n")
        visit(back)
        assert [clash.path for clash in lazy_update.update(back).clashes] == ["a.txt"]
        with pytest.raises(OwnWorkApart):
            releasing.release(back, None, "no")
        (conflict,) = conflicts(back)
        resolve_prefer(back, conflict.id, lost.commit.text)
        assert conflicts(back) == []
        assert (back.folder / "a.txt").read_text() == "mine\n"
        assert is_ancestor(back.store, lost.commit, releasing.release(back, None, "third").commit)


@pytest.mark.parametrize("version", [Version(2, 0, 0), Version(2, 1, 0)])
def test_a_restored_folder_takes_in_its_own_work_before_a_conflict_with_a_friend_is_decided(
    tmp_path: Path, shelf: Shelf, version: Version
) -> None:
    # LAZ-65: one version released twice, or clashing changes; what is my own waits for nobody
    alice, bob = shelf.lay(befriended, "bob")
    lazy_update.update(bob)
    shutil.copytree(bob.folder, tmp_path / "backup")
    write(bob, "a.txt", "bob's\n")
    lost = releasing.release(bob, Version(2, 0, 0), "as it was")
    visit(bob)
    bob.close()
    write(alice, "a.txt", "alice's\n")
    releasing.release(alice, version, "hers")
    visit(alice)
    replace_tree(tmp_path / "backup", bob.folder)
    with Vault(bob.folder, bob.around) as back:
        write(back, "new.txt", "new\n")
        visit(back)
        done = lazy_update.update(back)
        assert (done.moves.written, done.conflict, done.taken.sources) == (("a.txt",), None, ())
        write(back, "new.txt", "newer\n")
        assert work.commit(back, "saved while the conflict is open")
        noted = back.store.note(DOUBLED, MAIN), back.store.note(CROSSED, MAIN)
        assert noted == (None, True), "each commit until a release would look at all of them"
        assert not back.store.has_note(DOUBLED, MAIN), "each commit would empty it again"
        again = lazy_update.update(back)
        assert again.not_taken.waiting or [clash.path for clash in again.clashes] == ["a.txt"]
        assert len(conflicts(back)) == 1
        assert is_ancestor(back.store, lost.commit, releasing.release(back, Version(3, 0, 0), "on").commit)


@pytest.mark.parametrize("comes", [True, False])
def test_a_restored_folder_goes_on_while_the_content_of_its_own_work_is_not_here(
    tmp_path: Path, shelf: Shelf, comes: bool
) -> None:
    # LAZ-65, LAZ-66: work is saved; a release waits for the content, or for a new key where nobody has it any more
    alice, bob = shelf.lay(befriended, "bob")
    lazy_update.update(bob)
    shutil.copytree(bob.folder, tmp_path / "backup")
    write(bob, "song.txt", "la la\n")
    lost = releasing.release(bob, Version(2, 0, 0), "second")
    visit(bob)
    mailbox = open_stick(tmp_path).mailbox_path(bob.group, bob.node)
    bob.close()
    part = Scope(paths=frozenset({"a.txt"}))
    sync(alice, [PLACE], scope=part)
    mailbox.rename(tmp_path / "mailbox")
    sync(alice, [PLACE], scope=part)
    replace_tree(tmp_path / "backup", bob.folder)
    with Vault(bob.folder, bob.around) as back:
        assert visit(back).next == ""
        assert (apart(back), away(back)) == ([lost.commit], "main 2.0.0")
        for number in range(2):
            write(back, f"new-{number}.txt", "new\n")
            assert work.commit(back, "kept")
        assert undo(back).revision == 4
        assert work.commit(back, "kept after all")
        assert lazy_update.update(back).moves.written == ()
        with pytest.raises(OwnWorkApart, match=r"content is not here: main 2\.0\.0") as refusal:
            releasing.release(back, None, "no")
        assert "lace adopt" in refusal.value.hint
        if comes:
            replace_tree(tmp_path / "mailbox", mailbox)
            assert visit(back).next == "lace update"
            assert lazy_update.update(back).moves.written == ("song.txt",)
        else:
            assert adopt(back)
        after = releasing.release(back, None, "third")
        assert is_ancestor(back.store, lost.commit, after.commit) is comes
        visit(back)
    visit(alice)
    lazy_update.update(alice)
    assert {"new-0.txt", "new-1.txt"} <= {file.name for file in alice.folder.iterdir()}
    assert (alice.folder / "song.txt").exists() is comes


def test_what_a_later_release_left_out_is_taken_in_all_the_same(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    # LAZ-64: an earlier version went on from a restored folder without what was released before
    alice, bob, carol = shelf.lay(befriended, "bob", "carol")
    lazy_update.update(bob)
    shutil.copytree(bob.folder, tmp_path / "backup")
    write(bob, "song.txt", "la la\n")
    releasing.release(bob, Version(2, 0, 0), "second")
    visit(bob)
    visit(carol)  # who gets both one after the other, and takes in neither yet
    bob.close()
    replace_tree(tmp_path / "backup", bob.folder)
    with Vault(bob.folder, bob.around) as back:
        visit(back)
        with monkeypatch.context() as earlier:
            for name in ("check_apart", "refuse_apart"):
                earlier.setattr(releasing, name, lambda *_: None)
            for text in ("third", "fourth"):
                release_text(back, text)
        visit(back)
    for vault in (alice, carol):
        visit(vault)
        lazy_update.update(vault)
        assert {file.name for file in vault.folder.iterdir()} == {".vault", "a.txt", "bob.txt", "song.txt"}
