"""How many rows queries of a store give, for tests of what a question costs."""

from __future__ import annotations

import pytest

from vault.store import Store

__all__ = ["counted_rows"]


def counted_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows each query of any store gives from now on; the list goes on to grow."""
    real, found = Store.rows, list[int]()

    def counted(self: Store, sql: str, *values: object) -> list[tuple[object, ...]]:
        rows = real(self, sql, *values)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(Store, "rows", counted)
    return found
