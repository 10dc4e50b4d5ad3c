"""Numbers of rows that no lace gives: what one bit makes of the number of a record or a frame (APP-13).

Each of them counts from 1. Whoever counts on after one that rotted comes to the end of what SQLite can number, so such
a number is passed over.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FURTHEST", "NEXT_POSITION"]

FURTHEST: Final = 1 << 62  # no row has this number
NEXT_POSITION: Final = f"SELECT ifnull(max(p), 0) + 1 FROM body WHERE p < {FURTHEST}"  # noqa: S608 - our own number
