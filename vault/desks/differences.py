"""What differs between two trees, to be gone through more than once: in memory where it is little, else walked anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice
from typing import Final, overload

from vault.desks.diff import Change, diff_trees
from vault.desks.ports import Source
from vault.records import RecordHash

__all__ = ["MAX_HELD", "WalkedChanges", "differences", "net_of"]

MAX_HELD: Final = 32_768  # changes in memory, some 16 MB; a first release has as many as the folder has files


class WalkedChanges(Sequence[Change]):
    """How two trees differ, walked anew each time that it is gone through, in the order of `diff_trees`.

    Args:
        source: where both are read, and stay.
        before: the root page of the earlier one, or None.
        after: that of the later one, or None.
        size: how many changes there are.
        net: by how many files, and by how many of their bytes, the later tree holds more.
    """

    def __init__(
        self,
        source: Source,
        before: RecordHash | None,
        after: RecordHash | None,
        size: int,
        net: tuple[int, int],
    ) -> None:
        self._source, self._before, self._after, self._size = source, before, after, size
        self.net = net

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Change]:
        return diff_trees(self._source, self._before, self._after)

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...

    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        found = range(self._size)[index]
        if isinstance(found, int):
            return next(islice(self, found, None))
        if found.step < 0:
            return tuple(islice(self, found[-1], found[0] + 1, -found.step))[::-1] if found else ()
        return tuple(islice(self, found.start, found.stop, found.step))


def differences(source: Source, before: RecordHash | None, after: RecordHash | None) -> Sequence[Change]:
    """Return how two trees differ, in the order of `diff_trees`; None is no tree at all.

    Where that is more than `MAX_HELD`, it is walked once to be counted, and again by whoever goes through it: then
    `source` must keep both trees as long as it is used.

    Raises:
        MissingObject, TreeError: as `diff_trees`.
    """
    walk = diff_trees(source, before, after)
    held = tuple(islice(walk, MAX_HELD))
    if len(held) < MAX_HELD:
        return held
    more = next(walk, None)
    if more is None:
        return held
    rest, numbers = chain(held, [more], walk), count()
    del held, more  # as they are gone through
    net = net_of(change for change, _ in zip(rest, numbers, strict=False))
    return WalkedChanges(source, before, after, next(numbers), net)


def net_of(changes: Iterable[Change]) -> tuple[int, int]:
    """Return by how many files, and by how many of their bytes, a tree grew by these changes."""
    if isinstance(changes, WalkedChanges):
        return changes.net  # it was counted as it was walked
    files = size = 0
    for _, _, before, after in changes:
        if after is not None and after.kind != "d":
            files += 1
            size += after.size
        if before is not None and before.kind != "d":
            files -= 1
            size -= before.size
    return files, size
