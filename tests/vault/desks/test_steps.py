"""Of a checkout of many files the steps are walked anew, and are those that would be held (CLAY-71, APP-12)."""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings

from tests.vault.desks.support import GROUP, Desk, ManyObjects, Model, check_out, models, on_disk, tree_of
from vault.desks import plan as plan_module
from vault.desks import steps
from vault.desks.checkout import apply_plan
from vault.desks.pages import Entry, kept
from vault.desks.plan import plan_checkout
from vault.desks.steps import WalkedSteps
from vault.desks.tree import build_directory


@settings(max_examples=150, deadline=None)
@given(models(), models(), models())
def test_steps_that_are_walked_are_those_that_are_held(one: Model, two: Model, mine: Model) -> None:
    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name))
        a, b = tree_of(desk.objects, one), tree_of(desk.objects, two)
        check_out(desk, None, tree_of(desk.objects, mine))
        held = plan_checkout(desk.root, before=a, after=b, source=desk.objects)
        with patch.object(steps, "MAX_HELD", 0):
            plan = plan_checkout(desk.root, before=a, after=b, source=desk.objects)
        if any(step.disk is None for step in held.writes):  # files that come last of all are always held
            assert isinstance(plan.writes, WalkedSteps)
        assert tuple(plan.writes) == tuple(plan.writes) == held.writes
        assert (len(plan.writes), plan.bytes, plan[:3]) == (len(held.writes), held.bytes, held[:3])
        assert plan.writes[:2] == held.writes[:2]
        assert [plan.writes[at] for at in range(-len(held.writes), len(held.writes))] == [*held.writes, *held.writes]


def test_a_file_in_place_of_a_folder_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MAX_HELD", 0)
    desk = Desk(tmp_path)
    a = tree_of(desk.objects, {"a/one": b"1", "c": b"1"})
    check_out(desk, None, a)
    b = tree_of(desk.objects, {"a": b"2", "b": b"2", "c": b"2"})
    plan = plan_checkout(tmp_path, before=a, after=b, source=desk.objects)
    assert [step.change.path for step in plan.writes] == ["b", "c", "a"]
    apply_plan(tmp_path, plan, source=desk.objects, cache=desk.cache)
    assert on_disk(tmp_path) == {"a": b"2", "b": b"2", "c": b"2"}


def test_the_plan_of_many_new_files_takes_little_room(tmp_path: Path) -> None:
    """A friend's first update has as many steps as the folder has files (performance: peak memory)."""
    desk = Desk(tmp_path)
    nothing = build_directory(GROUP, [], desk.objects)[0]
    folders = [Entry("d", "-", 0, nothing, f"{number:04}") for number in range(1_000)]
    many = build_directory(GROUP, folders, desk.objects)[0]
    entries = [Entry("d", "-", 0, many, f"{number:03}") for number in range(60)]
    root = build_directory(GROUP, entries, desk.objects)[0]
    kept.forget()
    gc.collect()
    tracemalloc.start()
    try:
        plan = plan_checkout(tmp_path, before=None, after=root, source=desk.objects)
        gc.collect()
        assert len(plan.writes) == 60_000
        kept.forget()
        assert tracemalloc.get_traced_memory()[0] < 2 << 20
    finally:
        tracemalloc.stop()


def test_contents_that_are_written_next_are_kept_by_the_room_that_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of notes of some bytes each, what a note takes besides is most of it (performance: peak memory)."""
    desk = Desk(tmp_path)
    desk.objects = ManyObjects()
    files = {f"{number // 500}/{number % 500:03}": b"%d" % number for number in range(6_000)}
    root = tree_of(desk.objects, files)
    monkeypatch.setattr(plan_module, "_KEPT_BYTES", 1 << 19)
    plan = plan_checkout(tmp_path, before=None, after=root, source=desk.objects)
    assert 1_000 < len(plan.contents) < 3_200
    apply_plan(tmp_path, plan, source=desk.objects, cache=desk.cache)
    assert on_disk(tmp_path) == files
