"""Settings of the store that private files rest on, read so that damage is refused and never taken for none of them.

Who may read and write, and what a desk holds of another one, stands in rows that no record carries (CLAY-80, APP-13).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from vault.errors import DataError, LaceError

__all__ = ["RulesDamaged", "kept_rows"]

T = TypeVar("T")


class RulesDamaged(DataError):
    """What the store notes of who may read and write rotted: nothing is shared or taken in by it."""

    code = "rules-damaged"
    exit_code = 41
    hint = "Run: lace fsck --repair"


def kept_rows(text: str, make: Callable[..., T], what: str) -> tuple[T, ...]:
    """Return what each row of a setting is made into.

    Args:
        text: of the setting: JSON, a list of lists; or empty for none.
        make: is given what stands in a row.
        what: is kept there, as an error names it.

    Raises:
        RulesDamaged: it cannot be read, or `make` refuses a row.
    """
    try:
        return tuple(make(*row) for row in json.loads(text or "[]"))
    except (ValueError, TypeError, AttributeError, RecursionError, LaceError) as error:
        raise RulesDamaged(f"{what} cannot be read: it is damaged in the store.") from error
