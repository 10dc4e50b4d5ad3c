"""The store: records, facts and views in one SQLite file."""

from __future__ import annotations

from vault.store.store import Store

__all__ = ["Store"]
