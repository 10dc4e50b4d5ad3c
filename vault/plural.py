"""Numbers with their words, for people."""

from __future__ import annotations

__all__ = ["plural"]


def plural(count: int, one: str, many: str = "") -> str:
    """Return the number with its word: `1 file`, `2 files`."""
    return f"{count} {one if count == 1 else many or one + 's'}"
