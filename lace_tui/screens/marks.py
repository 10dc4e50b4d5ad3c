"""How things look: a sign, a word, and only then a colour.

Everything foreign passes through `inert` here, on its way into Textual's `Content`, which never reads it as markup.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.style import Style

from lace_tui.words.inert import inert, width_of

__all__ = [
    "BAD",
    "GOOD",
    "NOTE",
    "PLAIN",
    "QUIET",
    "STRONG",
    "cell",
    "column",
    "fitted",
    "mark",
    "pressable",
    "rows",
    "together",
]

PLAIN = ""
STRONG = "bold"
QUIET = "$foreground 70%"
GOOD = "$text-success"
NOTE = "$text-primary"
BAD = "bold $text-warning"
_GAP = "   "  # between two parts
_LEAST_OF_IT = 8  # cells of a part that was cut; fewer tell nothing


def mark(text: str, style: str = PLAIN) -> Content:
    """Return foreign or own text as one harmless line in a style."""
    return Content.styled(inert(text), style) if style else Content(inert(text))


def cell(text: str, width: int) -> str:
    """Return foreign or own text in exactly that many cells of the terminal: filled up, or cut with dots."""
    shown = inert(text, width - 1)
    return shown + " " * (width - width_of(shown))


def column(texts: Iterable[str], least: int, most: int) -> int:
    """Return how many cells `cell` takes for foreign or own texts one below the other: the widest whole, in bounds.

    Args:
        texts: them.
        least: cells that are taken anyway.
        most: cells beyond which a text is cut, however much room there is; no fewer than `least` count.
    """
    return max(least, min(most, 1 + max((width_of(inert(text)) for text in texts), default=0)))


def rows(*lines: Content) -> Content:
    """Return the lines one below the other."""
    return Content("\n").join(lines)


def fitted(parts: list[tuple[int, Content]], width: int, yields: int = -1) -> Content:
    """Return the parts in a row, leaving out those with the highest number until they fit into `width` cells.

    Args:
        parts: each with its number.
        width: cells.
        yields: number of a part that is cut where enough of it finds room, and left out only where it does not.
    """
    kept = list(parts)
    while len(kept) > 1 and (over := sum(width_of(part.plain) + len(_GAP) for _, part in kept) - len(_GAP) - width) > 0:
        number, part = last = max(kept, key=lambda entry: entry[0])
        room = width_of(part.plain) - over
        if number == yields and room >= _LEAST_OF_IT:
            kept[kept.index(last)] = (number, part.truncate(room, ellipsis=True))
        else:
            kept.remove(last)
    return Content(_GAP).join(part for _, part in kept)


def together(parts: list[tuple[int, Content]], width: int, least: int = 1) -> Content | None:
    """Return the parts in a row, so close together that all of them fit into `width` cells; None where they do not.

    Args:
        parts: as `fitted` takes them.
        width: cells.
        least: cells between two of them.
    """
    taken = sum(width_of(part.plain) for _, part in parts)
    gaps = (" " * cells for cells in range(3, least - 1, -1) if taken + cells * (len(parts) - 1) <= width)
    gap = next(gaps, "")
    return Content(gap).join(part for _, part in parts) if gap else None


def pressable(*parts: tuple[str, str]) -> Content:
    """Return keys with what they do, each of which the mouse can press too.

    Args:
        parts: text and Textual action.
    """
    return Content("   ").join(Content(text).stylize(Style.from_meta({"@click": call})) for text, call in parts)
