"""Disks that take other names for the same one, or drop the end of a name: nothing is lost there for anybody."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.vault.desks.odd_disks import fold_names
from tests.vault.desks.support import GROUP, Desk, check_out, file, model_of, on_disk, started, tree_of, write
from tests.vault.vaults import found
from vault.desk_folders import add_desk, within
from vault.desks.edit import apply_changes
from vault.desks.folder import signature
from vault.desks.tree import lookup

_TIMES = ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")


@pytest.fixture
def desk(desk_of_each_kind: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    fold_names(monkeypatch)
    return desk_of_each_kind


@pytest.mark.parametrize("durable", [False, True])
def test_a_folder_renamed_to_another_case_keeps_its_files(desk: Desk, *, durable: bool) -> None:
    """APP-12, faults 8: its files were found under the former name, and deleted by it, for everybody."""
    before = started(desk, {"Docs/deep/soup": b"1", "Docs/cake": b"1", "a": b"1"})
    model = {"docs/Deep/soup": b"1", "docs/cake": b"2", "a": b"1"}
    after = tree_of(desk.objects, model)
    result = check_out(desk, before, after, durable=durable)
    assert (result.skipped, on_disk(desk.root)) == ((), model)
    assert desk.scan(after).root == after
    assert check_out(desk, after, before, durable=durable).skipped == ()
    assert desk.scan(before).root == before


def test_what_a_person_has_in_a_renamed_folder_goes_with_it(desk: Desk) -> None:
    """APP-12: under its former name the next commit would have renamed the folder back for everybody."""
    before = started(desk, {"Docs/soup": b"1"})
    (desk.root / "Docs" / "own").write_bytes(b"mine")
    after = tree_of(desk.objects, {"docs/soup": b"2"})
    assert check_out(desk, before, after).skipped == ()
    assert on_disk(desk.root) == {"docs/soup": b"2", "docs/own": b"mine"}


def test_a_folder_of_a_persons_own_is_no_friends_folder(desk: Desk) -> None:
    """APP-12: it stands in the way, and is named."""
    (desk.root / "Docs").mkdir()
    (desk.root / "Docs" / "soup").write_bytes(b"mine")
    result = check_out(desk, None, tree_of(desk.objects, {"docs/soup": b"mine", "docs/cake": b"2"}))
    assert [skip.path for skip in result.skipped] == ["docs/cake", "docs/soup"]
    assert on_disk(desk.root) == {"Docs/soup": b"mine"}


def test_a_desk_gets_its_folder_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-3: by its name in another case `main` went on to take in what the desk holds."""
    with found(tmp_path) as vault:
        (vault.folder / "Docs" / "songs").mkdir(parents=True)
        fold_names(monkeypatch)
        assert add_desk(vault, "songs", "docs/Songs").dir == "Docs/songs"
        assert add_desk(vault, "songs", "DOCS/songs").already
        assert add_desk(vault, "new", "docs/New/x").dir == "Docs/New/x"
        assert within(vault, "main") == {"Docs/songs", "Docs/New/x"}


def test_a_name_of_which_the_disk_drops_the_end_is_named(
    desk_of_each_kind: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-12, faults 8: `end.` stood as `end`, and the next commit renamed it for everybody."""
    desk = desk_of_each_kind
    fold_names(monkeypatch, lambda name: name.rstrip("."))
    model = {"end.": b"1", "end": b"2", "dir./a": b"1", "new/deep./b": b"1", "new/c": b"1"}
    after = tree_of(desk.objects, model)
    for _ in range(2):
        result = check_out(desk, None, after)
        assert [skip.path for skip in result.skipped] == ["dir./a", "end.", "new/deep./b"]
        assert not any(skip.blocking for skip in result.skipped)
        assert on_disk(desk.root) == {"end": b"2", "new/c": b"1"}
        assert desk.scan(after).root == after


def test_a_disk_that_keeps_the_end_of_a_name_has_it(desk_of_each_kind: Desk) -> None:
    """APP-12: nothing is left out where it can be."""
    desk = desk_of_each_kind
    model = {"end.": b"1", "end": b"2", "dir /a": b"1"}
    assert check_out(desk, None, tree_of(desk.objects, model)).skipped == ()
    assert on_disk(desk.root) == model


def _mounted(monkeypatch: pytest.MonkeyPatch, *, is_all: bool) -> None:
    """Play a disk without executable bits, which calls everything a program, or nothing."""

    def shown(status: os.stat_result) -> os.stat_result:
        if not stat.S_ISREG(status.st_mode):
            return status
        mode = status.st_mode | 0o111 if is_all else status.st_mode & ~0o111
        return os.stat_result((mode, *status[1:10]), {name: getattr(status, name) for name in _TIMES})

    for name in ("stat", "fstat", "lstat"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, real=real, **named: shown(real(*args, **named)))
    monkeypatch.setattr("vault.desks.choosing.signature", lambda status: signature(shown(status)))


@pytest.mark.parametrize("is_all", [True, False])
def test_a_friend_makes_a_file_a_program_on_a_disk_without_modes(
    desk_of_each_kind: Desk, monkeypatch: pytest.MonkeyPatch, *, is_all: bool
) -> None:
    """CLAY-71, faults 8: a stick, as desktops mount it, showed it as changed back, for everybody at the next commit."""
    desk = desk_of_each_kind
    objects = desk.objects
    _mounted(monkeypatch, is_all=is_all)
    write(desk, ".vault/.gitignore")
    plain = apply_changes(objects.of(GROUP), None, {"run": file(objects, b"1"), "a": file(objects, b"2")})
    program = apply_changes(objects.of(GROUP), plain, {"run": file(objects, b"1", mode="x")})
    assert check_out(desk, None, plain).skipped == ()
    assert desk.scan(plain).root == plain
    for before, after in ((plain, program), (program, plain)):
        assert check_out(desk, before, after).skipped == ()
        assert desk.scan(after).root == after
        write(desk, "a", after.digest)  # beside it, so that the folder is gone through again
        assert dict(model_of(objects, desk.scan(after).root))["a"] == after.digest
        entry = lookup(objects, desk.scan(after).root, "run")
        assert entry is not None
        assert entry.mode == ("x" if after == program else "-")
        write(desk, "a", b"2")
    assert not list(desk.root.rglob("*.tmp"))
