"""Foreign text made harmless: a name, message or path from somebody else may not drive the terminal.

Whatever a peer wrote goes through `inert` before a person sees it. Control characters, escape sequences,
bidirectional overrides, characters without width and bytes that are no UTF-8 become visible escapes, so a
name can neither move the cursor nor look like another name by hidden means.
"""

from __future__ import annotations

from vault.commands import as_word
from vault.visible import visible

__all__ = ["end_of", "inert", "inert_lines", "is_harmless", "typed", "width_of"]

_ELLIPSIS = "..."
_DRIVING = {"Cc", "Cs", "Zl", "Zp"}  # kinds of characters
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MOST = 8  # characters in a cell, as a letter and the marks on it that are let through


def inert(text: str, width: int | None = None) -> str:
    r"""Return the text as one harmless line.

    Args:
        text: what somebody else wrote, of any content.
        width: cut to at most this many terminal cells, the cut shown by "..."; None leaves it whole.

        >>> inert("safe\x1b[2Jname")
        'safe\\x1b[2Jname'
    """
    if width is not None:
        text = text[: _MOST * (max(0, width) + 1)]  # a message of 1 MB takes no longer than its beginning
    text = visible(text)
    if width is not None and width_of(text) > width:
        text = _cut(text, width)
    return text


def typed(text: str) -> str:
    r"""Return a name, path or address as one harmless word that a shell takes as it stands.

    >>> typed("o'neil's desk")
    '\'o\'"\'"\'neil\'"\'"\'s desk\''
    """
    return inert(as_word(text))


def inert_lines(text: str) -> list[str]:
    """Return the lines of a longer foreign text, each harmless; a line feed alone parts them."""
    return [inert(line.removesuffix("\r")) for line in text.split("\n")]


def is_harmless(text: str) -> bool:
    """Tell whether a text may be put into an editor as it is: nothing in it drives a terminal (APP-12).

    What only does not show, as the joiner of an emoji or a byte order mark, drives none. Control characters do, a tab
    and the ends of lines apart; so does what turns the direction of the rest of a line.
    """
    import unicodedata

    plain = text.replace("\r\n", "").replace("\n", "").replace("\t", "")
    return (plain.isascii() and plain.isprintable()) or not any(
        unicodedata.category(char) in _DRIVING or unicodedata.bidirectional(char) in _TURNING for char in set(plain)
    )


def width_of(text: str) -> int:
    """Return how many terminal cells a harmless text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def end_of(text: str, width: int) -> str:
    """Return a harmless text, or as much of its end as fits into that many cells: of a path the end says most."""
    if width_of(text) <= width:
        return text
    room = width - len(_ELLIPSIS)
    kept: list[str] = []
    for char in reversed(text):
        room -= _cells(char)
        if room < 0:
            break
        kept.append(char)
    return _ELLIPSIS + "".join(reversed(kept))


def _cells(char: str) -> int:
    import unicodedata

    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cut(text: str, width: int) -> str:
    ellipsis = _ELLIPSIS[: max(0, width)]
    room = width - len(ellipsis)
    kept = []
    for char in text:
        room -= _cells(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + ellipsis
