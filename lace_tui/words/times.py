"""Times and durations as people read them."""

from __future__ import annotations

__all__ = ["duration_text", "moment"]


def moment(iso: str | None) -> str:
    """Return an ISO 8601 UTC time as people read it, to the minute; "never" for None."""
    return "never" if iso is None else f"{iso[:16].replace('T', ' ')} UTC"


def duration_text(seconds: float) -> str:
    """Return a duration for people: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
