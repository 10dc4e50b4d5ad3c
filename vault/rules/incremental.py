"""An evaluation that is kept, and goes on with what is new (FAC-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Self

from vault.rules.check import Checked
from vault.rules.engine import Engine
from vault.rules.facts import FactSource, Row, View
from vault.rules.limits import Limits

__all__ = ["Incremental"]

_NOTHING: Mapping[str, Iterable[Row]] = MappingProxyType({})


class Incremental:
    """Derived tables that follow a growing store.

    The result always equals that of a fresh evaluation. Facts only come, they never go: records are immutable. When
    the store's views were made anew, everything is computed from nothing.

    Args:
        checked: the program.
        facts: where base facts come from; its given tuples are read at the first run.
        view: the records of the store that may be seen; its query may only show more as the store grows.
        limits: bounds of each run; the tuples are those of the whole result.
        clock: seconds of a clock that never goes back, for the time limit.
        check: called now and then; what it raises ends a run.

    Raises:
        As `evaluate`.
    """

    def __init__(
        self,
        checked: Checked,
        facts: FactSource,
        *,
        view: View | None = None,
        limits: Limits = Limits(),
        clock: Callable[[], float] | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._engine = Engine(checked, facts, view, limits, clock, check)
        try:
            self._engine.run()
        except BaseException:
            self._engine.close()
            raise

    def refresh(self, given: Mapping[str, Iterable[Row]] = _NOTHING) -> bool:
        """Take in what came to the store since, and further given tuples.

        Returns:
            Whether what is new sufficed; False if a negated predicate gained tuples, so that its stratum and those
            above were computed from nothing.

        Raises:
            As `evaluate`. What the call gave is then forgotten, and the next call computes everything from nothing.
        """
        return self._engine.go_on(given)

    def tuples(self, predicate: str) -> set[Row]:
        """Return the tuples of a derived predicate.

        Raises:
            KeyError: the program does not define it.
        """
        return self._engine.rows(predicate)

    def close(self) -> None:
        """Drop the tables."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
