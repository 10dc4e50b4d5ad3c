"""Directories that a checkout makes: filled under another name, and given their own with all that they hold."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.vault.desks.support import GROUP, Desk, check_out, file, on_disk, started, tree_of
from vault.desks import plan
from vault.desks.checkout import apply_plan, apply_tree
from vault.desks.edit import apply_changes
from vault.desks.filling import Filling
from vault.desks.paths import twin_key
from vault.desks.plan import Skip, plan_checkout
from vault.desks.temporary import remove_temporary
from vault.files import DiskFull, NotWritable
from vault.records import RecordHash

MODEL = {"new/a": b"a", "new/deep/b": b"b", "new/deep/er/c": b"c", "new/z": b"z", "top": b"t"}


@pytest.fixture
def desk(desk_of_each_kind: Desk) -> Desk:
    return desk_of_each_kind


def count(monkeypatch: pytest.MonkeyPatch, *names: str) -> dict[str, int]:
    """Count calls of `os`."""
    counts = dict.fromkeys(names, 0)
    for name in names:

        def counting(*args: Any, name: str = name, real: Callable[..., Any] = getattr(os, name), **named: Any) -> Any:
            counts[name] += 1
            return real(*args, **named)

        monkeypatch.setattr(os, name, counting)
    return counts


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen once the files are written, and before they have their names."""
    real, calls = Filling.settle, itertools.count()

    def settle(filling: Filling, root: int) -> None:
        real(filling, root)
        if next(calls) == 1:  # the first is for what is deleted
            act()

    monkeypatch.setattr(Filling, "settle", settle)


def write_all(desk: Desk, after: RecordHash, *, durable: bool = True) -> tuple[Skip, ...]:
    planned = plan_checkout(desk.root, before=None, after=after, source=desk.objects)
    return apply_plan(desk.root, planned, source=desk.objects, cache=desk.cache, durable=durable).skipped


@pytest.mark.parametrize("durable", [False, True])
def test_a_new_folder_takes_its_name_with_all_that_it_holds(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    """CLAY-71: a file of it costs one name, and one that joins others a name beside its place too."""
    objects = desk.objects
    entries = {path: file(objects, content) for path, content in MODEL.items()}
    entries |= {"new/link": file(objects, b"a", kind="l"), "new/run": file(objects, b"r", mode="x")}
    after = apply_changes(objects.of(GROUP), None, entries)
    counts = count(monkeypatch, "link", "unlink", "rename")
    result = apply_tree(desk.root, before=None, after=after, source=objects, cache=desk.cache, durable=durable)
    assert counts == {"link": 1, "unlink": 1, "rename": 1}
    assert (result.written, result.skipped) == (tuple(sorted(entries)), ())
    assert on_disk(desk.root) == {**MODEL, "new/link": b"a", "new/run": b"r"}
    assert desk.scan(after).root == after


def test_nothing_has_its_name_before_it_is_whole(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: what is under way lies where no scan takes it for somebody's work."""
    after = tree_of(desk.objects, MODEL)
    met: list[tuple[list[str], RecordHash]] = []
    meanwhile(monkeypatch, lambda: met.append(([path.name for path in desk.root.iterdir()], desk.scan().root)))
    assert write_all(desk, after) == ()
    ((names, root),) = met
    assert names
    assert all(name.startswith(".lace-checkout-") for name in names)
    assert root == tree_of(desk.objects, {})


@pytest.mark.parametrize(("state", "is_told"), [("folder", True), ("file", True), ("link", True), ("empty", False)])
def test_a_folder_that_somebody_makes_meanwhile_is_joined(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: str, is_told: bool
) -> None:
    """APP-12: what stands there is never overwritten, and everything else is written."""
    after = tree_of(desk.objects, MODEL)
    (tmp_path / "outside").mkdir()

    def make() -> None:
        place = desk.root / "new"
        if state == "file":
            place.write_bytes(b"mine")
        elif state == "link":
            place.symlink_to(tmp_path / "outside")
        else:
            place.mkdir()
        if state == "folder":
            (place / "a").write_bytes(b"mine")
            (place / "own").write_bytes(b"mine")

    meanwhile(monkeypatch, make)
    skipped = write_all(desk, after)
    found = {path: content for path, content in on_disk(desk.root).items() if ".vault" not in path}
    if state == "folder":
        assert skipped == (Skip("new/a", "appeared here in the meantime", blocking=True),)
        assert found == {**MODEL, "new/a": b"mine", "new/own": b"mine"}
    elif state == "empty":
        assert (skipped, found) == ((), MODEL)
    else:
        assert [skip.path for skip in skipped] == [path for path in sorted(MODEL) if path != "top"]
        assert {skip.reason for skip in skipped} == {"was changed here in the meantime"}
        assert sorted(found) == ["new", "top"]
    assert bool(skipped) == is_told
    assert not any((tmp_path / "outside").iterdir())


def test_a_disk_that_names_no_folder_anew_has_its_files_written_in_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # faults 8: what some network file systems do
    def refuse(*_args: object, **_named: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "rename", refuse)
    after = tree_of(desk.objects, MODEL)
    assert write_all(desk, after) == ()
    assert on_disk(desk.root) == MODEL


@pytest.mark.parametrize(("name", "number", "error"), [("write", 3, errno.ENOSPC), ("rename", 1, errno.EIO)])
def test_a_fault_leaves_nothing_of_a_folder_that_has_not_arrived(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, number: int, error: int
) -> None:
    """Faults 3, APP-13: on a full disk it would take the room that is missing."""
    real, calls = getattr(os, name), itertools.count(1)

    def fail(*args: Any, **named: Any) -> Any:
        if next(calls) >= number:
            raise OSError(error, os.strerror(error))
        return real(*args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        if name == "rename":
            patch.setattr(os, "mkdir", fail)
        with pytest.raises((DiskFull, NotWritable)):
            write_all(desk, tree_of(desk.objects, MODEL))
    assert on_disk(desk.root) == {}
    assert write_all(desk, tree_of(desk.objects, MODEL)) == ()
    assert on_disk(desk.root) == MODEL


def test_what_a_crash_left_under_such_a_name_is_no_obstacle(desk: Desk) -> None:
    # APP-13: the vault's own commands remove it first; a plain checkout leaves it alone
    left = desk.root / ".lace-checkout-0.tmp"
    left.mkdir()
    (left / "a").write_bytes(b"half")
    assert write_all(desk, tree_of(desk.objects, MODEL)) == ()
    assert (left / "a").read_bytes() == b"half"
    assert desk.scan().root == tree_of(desk.objects, MODEL)


def test_many_new_folders_cost_no_listing_each(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-71: a folder is not listed anew, and its names not folded anew, for each that comes."""
    started(desk, {f"old {number}": b"1" for number in range(50)})
    folded: list[str] = []

    def folding(name: str) -> str:
        folded.append(name)
        return twin_key(name)

    monkeypatch.setattr(plan, "twin_key", folding)
    counts = count(monkeypatch, "listdir")
    before = desk.scan().root
    after = tree_of(
        desk.objects,
        {f"old {n}": b"1" for n in range(50)}
        | {f"d{n}/f": b"1" for n in range(50)}
        | {f"n{n}": b"1" for n in range(50)},
    )
    counts["listdir"] = 0
    assert check_out(desk, before, after).skipped == ()
    assert counts["listdir"] < 10
    assert len(folded) < 200


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_that_takes_the_place_of_an_empty_folder_goes_with_its_new_folder(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    """APP-12: it was told as written, and went with the folder that could not get its name."""
    before = started(desk, {"k": b"1"})
    after = tree_of(desk.objects, {"k": b"1", "d/z": b"2", "d/y": b"3"})
    (desk.root / "d" / "z").mkdir(parents=True)
    planned = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
    shutil.rmtree(desk.root / "d")

    def make() -> None:
        (desk.root / "d").mkdir()
        (desk.root / "d" / "mine").write_bytes(b"m")

    meanwhile(monkeypatch, make)
    done = apply_plan(desk.root, planned, source=desk.objects, cache=desk.cache, durable=durable)
    assert (done.written, done.skipped) == (("d/y", "d/z"), ())
    assert on_disk(desk.root) == {"k": b"1", "d/mine": b"m", "d/y": b"3", "d/z": b"2"}


@pytest.mark.parametrize("name", [".lace-checkout-0.tmp", ".LACE-checkout-9.tmp"])
def test_a_friends_tree_brings_nothing_under_the_names_of_what_is_not_whole(desk: Desk, name: str) -> None:
    """APP-12: no scan would take it in, so it would count as deleted; or lie in another folder that is on its way."""
    objects = desk.objects
    wanted = {"!new/a": b"a", "z/f": b"z"}
    entries = {path: file(objects, content) for path, content in wanted.items()}
    entries |= {f"{name}/smuggled": file(objects, b"s"), f"z/{name}": file(objects, b"s")}
    after = apply_changes(objects.of(GROUP), None, entries)
    skipped = write_all(desk, after)
    assert {(skip.path, skip.blocking) for skip in skipped} == {(f"{name}/smuggled", False), (f"z/{name}", False)}
    assert all("not whole yet" in skip.reason for skip in skipped)
    assert on_disk(desk.root) == wanted


def test_many_folders_that_go_cost_no_listing_each(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-71: as many that come do not."""
    before = started(desk, {f"d{number}/f": b"1" for number in range(50)} | {"k": b"1"})
    planned = plan_checkout(desk.root, before=before, after=tree_of(desk.objects, {"k": b"1"}), source=desk.objects)
    counts = count(monkeypatch, "listdir")
    assert apply_plan(desk.root, planned, source=desk.objects, cache=desk.cache, durable=True).skipped == ()
    assert on_disk(desk.root) == {"k": b"1"}
    assert counts["listdir"] < 10


def test_a_persons_file_whose_name_differs_in_case_is_theirs(desk: Desk) -> None:
    """APP-12: only what a checkout itself wrote is passed over and removed."""
    mine = {".LACE-checkout-9.tmp": b"mine", "a": b"a"}
    for name, content in mine.items():
        (desk.root / name).write_bytes(content)
    remove_temporary(desk.root, ["a"])
    assert on_disk(desk.root) == mine
    assert desk.scan().root == tree_of(desk.objects, mine)
