"""What every benchmark gives: a figure of ours, one of a peer or a limit from the same run, and their ratio."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Figure", "rows"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured promise.

    Attributes:
        work: The workload (`W2`) or area it belongs to.
        what: What was measured, in a few words.
        value: Our figure.
        unit: Of both figures, such as `s`, `CPU s`, `MB`, `records/s`.
        against: Who or what it is held against; empty for a bare figure.
        peer: Their figure in the same run.
        limit: The ratio (ours / theirs) that was promised, if any.
        floor: Whether the ratio shall be at least, not at most, the limit.
    """

    work: str
    what: str
    value: float
    unit: str
    against: str = ""
    peer: float | None = None
    limit: float | None = None
    floor: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None for a bare figure."""
        return self.value / self.peer if self.peer else None

    @property
    def kept(self) -> bool | None:
        """Whether the promise holds; None where none was made."""
        if self.ratio is None or self.limit is None:
            return None
        return self.ratio >= self.limit if self.floor else self.ratio <= self.limit


def rows(figures: Iterable[Figure]) -> Iterable[str]:
    """Each figure as a line of the table, the head first."""
    yield f"{'work':<8} {'what':<44} {'lace':>12} {'peer':>12}  {'ratio':>7} {'limit':>8}  against"
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3f}"
        limit = "" if figure.limit is None else f"{'>=' if figure.floor else '<='} {figure.limit:g}"
        peer = "" if figure.peer is None else f"{figure.peer:.4g} {figure.unit}"
        sign = {True: "", False: "  MISSED", None: ""}[figure.kept]
        mine = f"{figure.value:.4g} {figure.unit}"
        yield f"{figure.work:<8} {figure.what:<44} {mine:>12} {peer:>12}  {ratio:>7} {limit:>8}  {figure.against}{sign}"
