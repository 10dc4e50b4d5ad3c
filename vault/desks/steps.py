"""The steps of a checkout, of which a first one has as many as the folder gets files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, overload

from vault.desks.diff import Change, diff_trees
from vault.desks.differences import MAX_HELD
from vault.desks.folder import Signature
from vault.desks.ports import Source
from vault.records import RecordHash

__all__ = ["PathStep", "StepList", "WalkedSteps"]

_NONE, _BARE, _HELD = 0, 1, 2  # what a change is to a plan: no step, one where nothing stands, any other


class PathStep(NamedTuple):
    """One path to change; `disk` and `seen` are None where nothing stands yet."""

    change: Change
    disk: str | None
    seen: Signature | None


class WalkedSteps(Sequence[PathStep]):
    """Many steps in their order: of those where nothing stands the changes are walked anew, the others are held.

    Args:
        source: where both trees are read, and stay.
        before: the root page of the earlier one, or None.
        after: that of the later one.
        marks: for each change between them whether it is a step, and of which kind.
        held: the other steps; what comes after all the changes stands last.
    """

    def __init__(
        self,
        source: Source,
        before: RecordHash | None,
        after: RecordHash,
        marks: bytearray,
        held: Sequence[PathStep],
    ) -> None:
        self._trees = source, before, after
        self._marks, self._held = marks, held
        self._count = marks.count(_BARE) + len(held)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[PathStep]:
        held = iter(self._held)
        for change, mark in zip(diff_trees(*self._trees), self._marks, strict=True):
            if mark == _BARE:
                yield PathStep(change, None, None)
            elif mark == _HELD:
                yield next(held)
        yield from held

    @overload
    def __getitem__(self, index: int) -> PathStep: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[PathStep, ...]: ...

    def __getitem__(self, index: int | slice) -> PathStep | tuple[PathStep, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return next(islice(self, range(self._count)[index], None))


class StepList:
    """Takes the steps of a plan as it is made."""

    def __init__(self) -> None:
        self._marks = bytearray()
        self._steps: list[PathStep] = []
        self._is_held = True  # whether each step is

    def next_change(self) -> None:
        """Go on to the next change between the trees; at most one step is taken for it."""
        self._marks.append(_NONE)

    def take(self, step: PathStep) -> None:
        """Take a step of the change that was gone on to."""
        self._marks[-1] = _BARE if step.disk is None else _HELD
        if self._is_held or step.disk is not None:
            self._steps.append(step)
        if self._is_held and len(self._steps) > MAX_HELD:
            self._is_held = False
            self._steps = [one for one in self._steps if one.disk is not None]

    def take_last(self, step: PathStep) -> None:
        """Take a step, for what stands on the disk, that comes after all the changes."""
        self._steps.append(step)

    def planned(self, source: Source, before: RecordHash | None, after: RecordHash) -> Sequence[PathStep]:
        """Return the steps; `source` must keep both trees as long as they are used."""
        if self._is_held:
            return tuple(self._steps)
        return WalkedSteps(source, before, after, self._marks, self._steps)
