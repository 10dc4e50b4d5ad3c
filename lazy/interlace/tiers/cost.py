"""What reconciling costs in bytes, and the choices that follow: list or narrow, and how far the budget reaches.

Figures are of the packed form (`packed`). Narrowing a partition of `count` advertisements costs the summaries of its
children, and then the list of the one or two of them that differ; listing it costs all its advertisements, and one
trip less.
"""

from __future__ import annotations

from typing import Final

__all__ = ["DEPTH_LIMIT", "should_list"]

_SUMMARY_BYTES: Final = 33
_ADVERTISEMENT_BYTES: Final = 33
DEPTH_LIMIT: Final = 12  # characters of a prefix (INT-160)
_FAN: Final = 64


def should_list(count: int) -> bool:
    """Tell whether a partition is listed rather than narrowed, of whose children one is expected to differ.

    Args:
        count: advertisements in it, on the side that has more.
    """
    children, below = min(_FAN, count), count / _FAN
    return count * _ADVERTISEMENT_BYTES <= children * _SUMMARY_BYTES + below * _ADVERTISEMENT_BYTES
