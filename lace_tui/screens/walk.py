"""A walk through one conflict: the file and the region in sight, and what was chosen so far; draws nothing (APP-4)."""

from __future__ import annotations

from collections.abc import Mapping

from lace_tui.words.inert import inert
from lazy.resolving.deciding import Pick, Worked, undecided, worked_out
from lazy.resolving.opening import Opened, OpenFile

__all__ = ["Walk"]


class Walk:
    """Where one is in a conflict. Before it was read there is no file, and every step leads nowhere."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        """The conflict, once it was read."""
        self.picks: dict[str, Pick] = {}
        """What was chosen, by path."""
        self.number = 0
        """Which file is in sight, from 0."""
        self.region = 0
        """Which region of it, from 1, or which side of one without lines; 0 for none."""

    def go_on_in(self, opened: Opened, draft: Mapping[str, Pick], since: Mapping[str, Pick]) -> None:
        """Take the conflict as it was read now: stay where one is if that is the same still, else go where to choose.

        Args:
            opened: the conflict.
            draft: what was chosen, as it is on the disk.
            since: what was chosen here after that was read, which counts before it.
        """
        was = self.file.path if self.file else ""
        keys = {file.path: file.key for file in self.opened.files} if self.opened else {}
        same = {file.path for file in opened.files if keys.get(file.path) == file.key}
        here = {path: pick for path, pick in since.items() if path in same}
        self.opened, self.picks = opened, dict(draft) | here
        still = undecided(opened, self.picks)
        paths = [file.path for file in opened.files]
        if was in paths:  # else a key meant for what is in sight would choose for another file
            self.number = paths.index(was)
        else:
            self.number = paths.index(still[0]) if still else 0
        if was not in same:
            self.region = 0
        if not self.region:
            self.go_to_open()

    # What is in sight

    @property
    def file(self) -> OpenFile | None:
        """The file in sight, if any is in conflict."""
        files = self.opened.files if self.opened else ()
        return files[self.number] if self.number < len(files) else None

    @property
    def pick(self) -> Pick:
        """What was chosen for it."""
        return self.picks.get(self.file.path, Pick()) if self.file else Pick()

    def worked(self) -> Worked | None:
        """Return what the choices for the file give; of one without lines, with the side in sight beside the left."""
        file = self.file
        if file is None:
            return None
        worked = worked_out(file, self.pick)
        if file.has_lines:
            return worked
        at = min(max(self.region, 1), len(file.rights))
        return worked._replace(right=file.rights[at - 1], step=at)

    def numbers(self, worked: Worked | None) -> list[int]:
        """Return the regions of the file; of one without lines, the sides that its left one is compared with."""
        if worked is None or self.file is None:
            return []
        if not self.file.has_lines:
            return [*range(1, len(self.file.rights) + 1)] if len(self.file.rights) > 1 else []
        return [piece.number for piece in worked.pieces if piece.number]

    def whose(self, number: int) -> str:
        """Return whose a side is, as a person says it."""
        origin = self.opened.sides[number] if self.opened else None
        return "" if origin is None else "yours" if origin.is_mine else f"{inert(origin.name)}'s"

    def names(self, file: OpenFile, worked: Worked) -> tuple[str, str]:
        """Return whose the two texts are that are compared; from the second step on the left one is the result."""
        if not file.has_lines:
            return (self.whose(file.left), self.whose(worked.right))
        return (self.whose(0) if worked.step == 1 else "so far", self.whose(worked.right))

    # Moving

    def go_to_open(self) -> None:
        """Go to the first open region of the file, else stay, or go to its first."""
        worked = self.worked()
        numbers = self.numbers(worked)
        if worked and worked.open:
            self.region = worked.open[0]
        elif self.region not in numbers:
            self.region = numbers[0] if numbers else 0

    def step(self, by: int) -> None:
        """Go on by one region, or back; at the end of a file to the next one, from the last to the first."""
        opened, worked = self.opened, self.worked()
        if opened is None or worked is None:
            return
        numbers = self.numbers(worked)
        at = numbers.index(self.region) + by if self.region in numbers else len(numbers) if by > 0 else -1
        if 0 <= at < len(numbers):
            self.region = numbers[at]
        elif len(opened.files) > 1:
            self.number = (self.number + by) % len(opened.files)
            numbers = self.numbers(self.worked())
            self.region = (numbers[-1] if by < 0 else numbers[0]) if numbers else 0
