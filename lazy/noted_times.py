"""Times that the store notes of visits and people, read as none where they rotted: the next visit writes them anew."""

from __future__ import annotations

from vault.records import Tai
from vault.records.errors import TaiError

__all__ = ["noted_time", "noted_utc"]


def noted_time(text: object) -> Tai | None:
    """Return the instant that a cell of a local table holds, or None where none can be read off it (APP-13).

    >>> noted_time("0000000001:000000000")
    Tai(0000000001:000000000)
    >>> noted_time(b"rotten")
    """
    try:
        return Tai.parse(str(text))
    except TaiError:
        return None


def noted_utc(text: object) -> str | None:
    """Return the same as ISO 8601 UTC."""
    time = noted_time(text)
    return None if time is None else time.to_utc_iso()
