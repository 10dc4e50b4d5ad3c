"""Differences between two trees as a terminal shows them (CLAY-70)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lace_tui.words.inert import inert

if TYPE_CHECKING:
    from lace_tui.cli.output import Paint
    from lace_tui.words.difftext import Difference

__all__ = ["shown_differences"]


def shown_differences(differences: Sequence[Difference], paint: Paint) -> str:
    """Return the differences as harmless text; tabs are widened, because they are no letters of a terminal."""
    return "\n".join(_painted(line, paint) for difference in differences for line in difference.lines)


def _painted(line: str, paint: Paint) -> str:
    safe = inert(line.expandtabs())
    if line.startswith(("--- ", "+++ ")):
        return paint.strong(safe)
    if line.startswith("+"):
        return paint.good(safe)
    if line.startswith("-"):
        return paint.warn(safe)
    return paint.faint(safe) if line.startswith("@@") else safe
