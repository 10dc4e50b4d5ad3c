"""Foreign text as a message quotes it."""

from __future__ import annotations

__all__ = ["shown"]


def shown(text: str, most: int = 60) -> str:
    """Return a text in quotes, cut after that many characters."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
