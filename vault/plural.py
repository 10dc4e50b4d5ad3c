"""Numbers with their words, for people."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["FEW", "bytes_text", "few", "more_lines", "plural"]

FEW = 5  # names that a sentence tells before it counts the rest


def plural(count: int, one: str, many: str = "") -> str:
    """Return the number with its word: `1 file`, `2 files`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def few(names: Sequence[str], most: int = FEW) -> str:
    """Return the first names, and how many there are beside them: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def more_lines(count: int, told: int) -> list[str]:
    """Return the line that ends a list of which only the first were told: `  and 3 more`; none where all were."""
    return [f"  and {count - told} more"] if count > told else []


def bytes_text(count: float) -> str:
    """Return a number of bytes for people, in binary units: `4.1 MiB`."""
    if count < 1024:
        return f"{int(count)} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1023.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TiB"
