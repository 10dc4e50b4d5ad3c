"""What differs between two large trees is gone through again and again without being held."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.vault.desks.support import GROUP
from vault.desks import differences as module
from vault.desks.diff import diff_trees
from vault.desks.differences import WalkedChanges, differences, net_of
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, kept
from vault.desks.tree import build_directory
from vault.records import RecordHash


def _folder(source: MemoryObjects, count: int, *, folders: int = 1) -> RecordHash:
    files = [Entry("f", "-", 5, RecordHash("P", number.to_bytes(32, "big")), f"{number:06}") for number in range(count)]
    root, size = build_directory(GROUP, files, source)
    above = [Entry("d", "-", size, root, f"{number:03}") for number in range(folders)]
    return build_directory(GROUP, above, source)[0]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 40])
def test_as_many_as_may_be_held_are_held_and_more_are_walked_anew(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HELD", 10)
    source = MemoryObjects()
    root = _folder(source, count)
    found, wanted = differences(source, None, root), tuple(diff_trees(source, None, root))
    assert isinstance(found, WalkedChanges) == (len(wanted) > 10)
    assert len(found) == len(wanted)
    assert tuple(found) == tuple(found) == wanted
    assert bool(found) == bool(wanted)
    assert net_of(found) == net_of(wanted) == (count, 5 * count)


@pytest.mark.parametrize("part", [slice(3), slice(5, 20, 3), slice(-4, None), slice(None, None, -1), slice(9, 2, -2)])
def test_a_part_of_what_is_walked_is_that_of_a_tuple(part: slice) -> None:
    source = MemoryObjects()
    root = _folder(source, 30)
    found, wanted = WalkedChanges(source, None, root, 30, (30, 150)), tuple(diff_trees(source, None, root))
    assert found[part] == wanted[part]
    assert [found[0], found[-1], found[29]] == [wanted[0], wanted[-1], wanted[29]]
    with pytest.raises(IndexError):
        found[30]


def test_a_hundred_thousand_changes_take_no_more_room_than_some_thousands() -> None:
    """A first release has as many changes as the folder has files (performance: peak memory)."""
    source = MemoryObjects()
    root = _folder(source, 1_000, folders=100)
    kept.forget()
    gc.collect()
    tracemalloc.start()
    try:
        found = differences(source, None, root)
        assert sum(1 for _ in found) == len(found) == 100_000
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 2 << 20
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
