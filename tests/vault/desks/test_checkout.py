"""From trees to a real folder and back (CLAY-71, APP-12; faults 8, 16, 17, 31)."""

from __future__ import annotations

import errno
import itertools
import os
import random
import stat
import tempfile
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings

from tests.vault.desks.support import (
    GROUP,
    Desk,
    Model,
    check_out,
    empty,
    file,
    models,
    on_disk,
    started,
    tree_of,
)
from vault.desks.causes import Cause
from vault.desks.checkout import CheckoutResult, apply_plan, apply_tree
from vault.desks.cursor import DirectoryCursor
from vault.desks.edit import apply_changes
from vault.desks.filling import Filling
from vault.desks.pages import Entry
from vault.desks.plan import Skip, plan_checkout
from vault.desks.tree import build_directory
from vault.write_behind import BLOCK_BYTES


@pytest.fixture
def desk(desk_of_each_kind: Desk) -> Desk:
    return desk_of_each_kind


@settings(max_examples=150, deadline=None)
@given(models(), models())
def test_checkout_and_scan_are_inverse(one: Model, two: Model) -> None:
    # CLAY-71: the folder follows from any tree to any tree, and a scan gives the tree back.
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name))
        a, b = tree_of(desk.objects, one), tree_of(desk.objects, two)
        assert check_out(desk, None, a).skipped == ()
        assert on_disk(desk.root) == one
        assert desk.scan().root == a
        assert check_out(desk, a, b).skipped == ()
        assert on_disk(desk.root) == two
        found = desk.scan(a)
        assert (found.root, found.problems) == (b, ())
        assert check_out(desk, a, b) == ((), (), ())  # all of it is done already


@settings(max_examples=150, deadline=None)
@given(models(), models(), models())
def test_work_in_the_folder_is_never_lost(one: Model, two: Model, mine: Model) -> None:
    # APP-12, faults 31: whatever I changed is still there, and what is reported as done is done.
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name))
        a, b = tree_of(desk.objects, one), tree_of(desk.objects, two)
        check_out(desk, None, tree_of(desk.objects, mine))
        before = on_disk(desk.root)
        result = check_out(desk, a, b)
        if any(skip.blocking for skip in result.skipped):
            assert on_disk(desk.root) == before
            assert (result.written, result.deleted) == ((), ())
            result = check_out(desk, a, b, force=True)
        after = on_disk(desk.root)
        for path, content in mine.items():
            if content not in {one.get(path), two.get(path)}:
                assert after[path] == content
        for path in result.written:
            assert after[path] == two[path]
        for path in result.deleted:
            assert path not in after


def test_a_changed_file_stops_everything_before_anything_is_written(desk: Desk) -> None:
    before = started(desk, {"a": b"1", "b": b"1", "c": b"1"})
    (desk.root / "b").write_bytes(b"mine")
    after = tree_of(desk.objects, {"a": b"2", "b": b"2"})
    result = check_out(desk, before, after)
    assert result == ((), (), (Skip("b", "was changed here", blocking=True, cause=Cause.CHANGED),))
    assert on_disk(desk.root) == {"a": b"1", "b": b"mine", "c": b"1"}
    forced = check_out(desk, before, after, force=True)
    assert (forced.written, forced.deleted) == (("a",), ("c",))
    assert on_disk(desk.root) == {"a": b"2", "b": b"mine"}


def test_what_stands_in_the_way_is_named(desk: Desk) -> None:
    before = started(desk, {"gone": b"1", "dir/x": b"1"})
    (desk.root / "new").write_bytes(b"mine")
    (desk.root / "gone").unlink()
    (desk.root / "gone").mkdir()
    (desk.root / "dir/mine").write_bytes(b"mine")
    (desk.root / "place").write_bytes(b"mine")
    (desk.root / "readme").write_bytes(b"mine")
    (desk.root / "Docs").mkdir()
    model = {"new": b"2", "dir": b"2", "place/x": b"2", "README": b"2", "docs/x": b"2"}
    result = check_out(desk, before, tree_of(desk.objects, model))
    assert [(skip.path, skip.blocking) for skip in result.skipped] == [
        ("README", True),
        ("dir", True),
        ("docs/x", True),
        ("new", True),
        ("place/x", True),
    ]
    assert "dir/mine" in next(skip.reason for skip in result.skipped if skip.path == "dir")


def test_content_that_is_there_already_is_no_obstacle(desk: Desk) -> None:
    (desk.root / "a").write_bytes(b"1")
    result = check_out(desk, None, tree_of(desk.objects, {"a": b"1", "b": b"1"}))
    assert result == (("b",), (), ())


def test_a_deleted_file_whose_name_is_a_folder_of_mine_stays_mine(desk: Desk) -> None:
    before = started(desk, {"gone": b"1"})
    (desk.root / "gone").unlink()
    (desk.root / "gone").mkdir()
    assert check_out(desk, before, empty(desk.objects)) == ((), (), ())
    assert on_disk(desk.root) == {"gone/": b""}


def test_a_rename_in_case_is_no_obstacle(desk: Desk) -> None:
    before = started(desk, {"README": b"1", "Docs/x": b"1"})
    assert check_out(desk, before, tree_of(desk.objects, {"readme": b"1", "docs/x": b"1"})).skipped == ()
    assert on_disk(desk.root) == {"readme": b"1", "docs/x": b"1"}


def test_files_of_mine_in_a_deleted_folder_stay(desk: Desk) -> None:
    before = started(desk, {"d/e/x": b"1", "k": b"1"})
    (desk.root / "d/mine").write_bytes(b"mine")
    assert check_out(desk, before, tree_of(desk.objects, {"k": b"1"})).deleted == ("d/e/x",)
    assert on_disk(desk.root) == {"d/mine": b"mine", "k": b"1"}


def test_empty_directories_come_and_go(desk: Desk) -> None:
    objects = desk.objects
    nothing = Entry("d", "-", 0, empty(objects), "x")
    before = apply_changes(objects.of(GROUP), tree_of(objects, {"f": b"1"}), {"a/b": nothing, "e": nothing})
    assert check_out(desk, None, before).skipped == ()
    assert on_disk(desk.root) == {"a/b/": b"", "e/": b"", "f": b"1"}
    assert desk.scan().root == before
    after = apply_changes(objects.of(GROUP), before, {"a": None, "e": file(objects, b"2"), "f": nothing})
    assert check_out(desk, before, after) == (("e", "f"), ("a/b",), ())
    assert on_disk(desk.root) == {"e": b"2", "f/": b""}
    assert desk.scan().root == after


def test_modes_follow_and_links_are_made(desk: Desk) -> None:
    objects = desk.objects
    before = started(desk, {"run": b"1", "d/t": b"1"})
    after = apply_changes(
        objects.of(GROUP),
        before,
        {"run": file(objects, b"1", mode="x"), "d/l": file(objects, b"../run", kind="l")},
    )
    assert check_out(desk, before, after, durable=True).written == ("d/l", "run")
    assert os.access(desk.root / "run", os.X_OK)
    assert (desk.root / "d/l").readlink() == Path("../run")
    assert desk.scan().root == after
    assert check_out(desk, after, before).written == ("run",)
    assert not (desk.root / "run").stat().st_mode & 0o111


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_that_nobody_else_may_read_stays_so(desk: Desk, durable: bool) -> None:
    """CLAY-71, APP-12: a new version is read by whoever could read the former one, whatever the umask says."""
    objects = desk.objects
    before = started(desk, {"diary": b"1", "tool": b"1", "team": b"1"})
    for name, bits in (("diary", 0o600), ("tool", 0o640), ("team", 0o666)):
        (desk.root / name).chmod(bits)
    new = {"diary": file(objects, b"2"), "tool": file(objects, b"2", mode="x"), "team": file(objects, b"2")}
    after = apply_changes(objects.of(GROUP), before, new)
    assert check_out(desk, before, after, durable=durable).written == ("diary", "team", "tool")
    found = {name: stat.S_IMODE((desk.root / name).stat().st_mode) for name in new}
    assert found == {"diary": 0o600, "tool": 0o750, "team": 0o666}
    assert desk.scan().root == after


def test_hostile_trees_write_nothing_outside(desk: Desk, tmp_path: Path) -> None:
    # APP-12, faults 16, 17: links that lead out, names that reach the vault; the rest is written and they stay in
    # the tree at the next scan.
    objects = desk.objects
    (desk.root / ".vault").mkdir()
    (desk.root / ".vault/config.toml").write_bytes(b"mine")
    hostile = {
        "abs": file(objects, str(tmp_path).encode(), kind="l"),
        "up": file(objects, b"../..", kind="l"),
        "d/up": file(objects, b"x/../../..", kind="l"),
        "bytes": file(objects, b"\xff", kind="l"),
        "vault": file(objects, b".vault", kind="l"),
        ".vault/config.toml": file(objects, b"theirs"),
        "d/.VAULT/key": file(objects, b"theirs"),
        "good": file(objects, b"1"),
    }
    after = apply_changes(objects.of(GROUP), None, hostile)
    result = check_out(desk, None, after)
    assert result.written == ("good",)
    assert {skip.path for skip in result.skipped} == hostile.keys() - {"good"}
    assert not any(skip.blocking for skip in result.skipped)
    assert on_disk(desk.root) == {".vault/config.toml": b"mine", "good": b"1"}
    assert [path.name for path in tmp_path.iterdir()] == ["desk"]
    assert desk.scan(after).root == after


def test_a_directory_that_is_a_link_here_is_not_entered(desk: Desk, tmp_path: Path) -> None:
    # faults 17
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"1")
    before = tree_of(desk.objects, {"d/f": b"1", "d/g": b"1"})
    (desk.root / "d").symlink_to(outside)
    result = check_out(desk, before, tree_of(desk.objects, {"d/f": b"2", "d/h": b"2"}), force=True)
    assert {skip.path for skip in result.skipped} == {"d/f", "d/h"}
    assert on_disk(outside) == {"f": b"1"}


@pytest.mark.parametrize("deep", ["d", "d/e"])
def test_a_link_planted_between_plan_and_writing_leads_nowhere(desk: Desk, tmp_path: Path, deep: str) -> None:
    # faults 17: the plan saw a real directory
    outside = tmp_path / "outside"
    (outside / "e").mkdir(parents=True)
    for path in ["f", "g", "e/f", "e/g"]:
        (outside / path).write_bytes(b"1")
    start = on_disk(outside)
    before = started(desk, {f"{deep}/f": b"1", f"{deep}/g": b"1"})
    after = tree_of(desk.objects, {f"{deep}/f": b"2", f"{deep}/h": b"2"})
    plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
    assert not plan.is_blocked
    (desk.root / "d").rename(tmp_path / "moved")
    (desk.root / "d").symlink_to(outside)
    result = apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache)
    assert {skip.path for skip in result.skipped} == {f"{deep}/f", f"{deep}/h"}
    assert on_disk(outside) == start


def test_a_file_changed_between_plan_and_writing_is_kept(desk: Desk) -> None:
    before = started(desk, {"a": b"1", "b": b"1", "c/x": b"1"})
    after = tree_of(desk.objects, {"a": b"2", "n": b"2", "c": b"2"})
    plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
    for name in ["a", "b", "n", "c/mine"]:
        (desk.root / name).write_bytes(b"mine")
    result = apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache)
    assert {skip.path for skip in result.skipped if skip.blocking} == {"a", "b", "n", "c"}
    assert on_disk(desk.root) == {"a": b"mine", "b": b"mine", "n": b"mine", "c/mine": b"mine"}


@pytest.mark.parametrize("is_filled", [False, True])
def test_a_folder_that_goes_before_a_file_in_it_has_its_name_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, is_filled: bool
) -> None:
    """Faults 17, APP-12: left out without a word, its files would be deleted for everybody at the next commit."""
    before = started(desk, {"d/old": b"old\n"})
    after = tree_of(desk.objects, {"a": b"a\n", "d/b": b"b\n", "d/old": b"old\n"})
    plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
    real, go, calls = Filling.settle, DirectoryCursor.go, itertools.count()

    def settle(filling: Filling, root: int) -> None:
        real(filling, root)
        if next(calls) < is_filled:  # the first is for what is deleted
            return
        monkeypatch.setattr(DirectoryCursor, "go", lambda cursor, names: None if names else go(cursor, names))

    monkeypatch.setattr(Filling, "settle", settle)
    result = apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache, durable=True)
    assert result.written == ("a",)
    assert result.skipped == (Skip("d/b", "was changed here in the meantime", blocking=True),)


def test_a_file_that_goes_while_the_plan_is_made_is_written_all_the_same(desk: Desk) -> None:
    """CLAY-71: left out, it would count as deleted at the next commit, and with it what a friend wrote."""
    before = started(desk, {"a": b"1", "b": b"1", "c": b"1"})
    after = tree_of(desk.objects, {"a": b"2", "b": b"2"})
    looks: list[None] = []

    def going() -> None:
        looks.append(None)
        if len(looks) == 2:  # the folder was listed for the first
            (desk.root / "b").unlink()
            (desk.root / "c").unlink()

    plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects, cancel=going)
    assert not plan.is_blocked
    assert apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache).skipped == ()
    assert on_disk(desk.root) == {"a": b"2", "b": b"2"}


def test_a_link_in_place_of_a_file_is_replaced_and_not_written_through(desk: Desk, tmp_path: Path) -> None:
    # faults 17: hard link and symbolic link to a file outside
    outside = tmp_path / "outside"
    outside.write_bytes(b"1")
    before = tree_of(desk.objects, {"hard": b"1", "soft": b"1"})
    (desk.root / "hard").hardlink_to(outside)
    (desk.root / "soft").symlink_to(outside)
    result = check_out(desk, before, tree_of(desk.objects, {"hard": b"2", "soft": b"2"}), force=True)
    assert result.written == ("hard",)
    assert outside.read_bytes() == b"1"
    assert (desk.root / "soft").is_symlink()


def test_names_in_another_normal_form_are_followed(desk: Desk) -> None:
    # faults 8: the disk's own spelling is kept
    for name in ["é/ö", "é/ü"]:
        path = desk.root / normalize("NFD", name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"1")
    before = desk.scan().root
    after = tree_of(desk.objects, {"é/ö": b"2", "é/ä": b"2"})
    assert check_out(desk, before, after).skipped == ()
    assert on_disk(desk.root) == {normalize("NFD", "é/ö"): b"2", normalize("NFD", "é/") + "ä": b"2"}
    assert desk.scan(after).root == after


def test_a_folder_that_is_not_there_is_looked_for_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-71: the cost of a plan follows its files, not its files times the way to them."""
    root = tree_of(desk.objects, {f"far/away/{number}": b"1" for number in range(50)})
    opened: list[str] = []
    real = os.open

    def counting(path: str, *args: int, **named: int) -> int:
        opened.append(path)
        return real(path, *args, **named)

    monkeypatch.setattr(os, "open", counting)
    plan = plan_checkout(desk.root, before=None, after=root, source=desk.objects)
    assert len(plan.writes) == 50
    assert len(opened) < 5


def test_progress_counts_to_the_end(desk: Desk) -> None:
    told: list[tuple[int, int]] = []
    apply_tree(
        desk.root,
        before=None,
        after=tree_of(desk.objects, {"a": b"1", "b/c": b"2"}),
        source=desk.objects,
        cache=desk.cache,
        progress=lambda done, total, *_: told.append((done, total)),
    )
    assert told == [(1, 2), (2, 2)]


def test_progress_tells_the_bytes_of_a_large_file(desk: Desk) -> None:
    """APP-3: how much of it is written, of how much; then that the path is done."""
    size = 5 * BLOCK_BYTES + 7
    told: list[tuple[int, int, int, int, str]] = []
    apply_tree(
        desk.root,
        before=None,
        after=tree_of(desk.objects, {"large": bytes(size)}),
        source=desk.objects,
        cache=desk.cache,
        progress=lambda *far: told.append(far),
    )
    counts = [*(n * BLOCK_BYTES for n in range(1, 6)), size]
    assert told == [*((0, 1, count, size, "large") for count in counts), (1, 1, 0, 0, "large")]


def test_a_cursor_holds_few_directories_open(desk: Desk) -> None:
    model = {f"d{n}/e{n}/f": b"%d" % n for n in range(50)}
    started(desk, model)
    with DirectoryCursor(desk.root) as cursor:
        for n in range(50):
            assert cursor.go((f"d{n}", f"e{n}")) is not None
        assert cursor.go(("d1", "none")) is None
        assert cursor.go(()) is not None
    assert build_directory(GROUP, (), desk.objects)


def test_large_files_come_and_go_as_small_ones(desk: Desk) -> None:
    # CLAY-35, CLAY-71: written as a stream, compared as a stream, and never over somebody's work.
    one, two = random.Random(1).randbytes(2 << 20), random.Random(2).randbytes(2 << 20)
    before = started(desk, {"large": one, "a": b"1"})
    assert on_disk(desk.root)["large"] == one
    after = tree_of(desk.objects, {"large": two, "a": b"1"})
    assert check_out(desk, before, after).written == ("large",)
    assert on_disk(desk.root) == {"large": two, "a": b"1"}
    assert check_out(desk, before, after) == CheckoutResult((), (), ())
    for mine in (two[:-1] + b"?", b"?" + two[1:], two + b"?", two[:-1]):
        (desk.root / "large").write_bytes(mine)
        (skip,) = check_out(desk, after, before).skipped
        assert (skip.path, skip.reason) == ("large", "was changed here")
        assert (desk.root / "large").read_bytes() == mine


def test_a_link_to_a_bomb_is_no_link(desk: Desk) -> None:
    # APP-12: a target is a short text, whatever its entry says.
    link = file(desk.objects, b"a/" * 4_000, kind="l")
    after = apply_changes(desk.objects.of(GROUP), None, {"l": link, "a": file(desk.objects, b"")})
    (skip,) = check_out(desk, None, after).skipped
    assert (skip.path, skip.blocking) == ("l", False)
    assert skip.reason == "is a link that has a target of more than 4096 bytes"
    assert desk.scan(after).root == after


def test_a_file_that_cannot_be_read_is_not_called_changed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-12: who was told to commit it found nothing to commit."""
    before = started(desk, {"b": b"1"})

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("vault.desks.plan.same_content", denied)
    result = check_out(desk, before, tree_of(desk.objects, {"b": b"2"}))
    assert result == ((), (), (Skip("b", "cannot be read: permission denied", blocking=True),))
