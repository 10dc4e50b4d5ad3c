"""A page of a directory is read once by whoever walks it: each reading proves its bytes anew (CLAY-28)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.vault.desks.support import tree_of
from vault.desks.diff import diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.sums import content_sha512
from vault.records import RecordHash


class _Sums(dict[RecordHash, str]):
    """A sum cache in memory."""

    def expect(self, records: Sequence[RecordHash], /) -> dict[RecordHash, str | None]:
        return {record: self.get(record) for record in records}

    def put(self, sums: Mapping[RecordHash, str], /) -> None:
        self.update(sums)


_FILES = {f"{folder}/{name}": b"text" for folder in "abc" for name in "xyz"}
_Walk = Callable[[MemoryObjects, RecordHash], object]
_WALKS: dict[str, _Walk] = {
    "added": lambda objects, root: list(diff_trees(objects, None, root)),
    "deleted": lambda objects, root: list(diff_trees(objects, root, None)),
    "summed": lambda objects, root: content_sha512(objects, root, _Sums()),
}


class _Counting(MemoryObjects):
    """Objects in memory that count how often each whole one is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[RecordHash] = Counter()

    def content(self, record: RecordHash, /) -> bytes | None:
        self.asked[record] += 1
        return super().content(record)


@pytest.mark.parametrize("walk", _WALKS.values(), ids=_WALKS)
def test_each_page_of_a_tree_is_read_once(walk: _Walk) -> None:
    objects = _Counting()
    root = tree_of(objects, _FILES | {"a/more": b"", "b/less": b"1"})
    objects.asked.clear()
    walk(objects, root)
    assert len(objects.asked) == 1 + 3
    assert set(objects.asked.values()) == {1}


def test_of_what_changed_each_page_is_read_once() -> None:
    objects = _Counting()
    before, after = tree_of(objects, _FILES), tree_of(objects, _FILES | {"b/x": b"other"})
    objects.asked.clear()
    assert [change.path for change in diff_trees(objects, before, after)] == ["b/x"]
    below = {record: count for record, count in objects.asked.items() if record not in {before, after}}
    assert list(below.values()) == [1, 1]
