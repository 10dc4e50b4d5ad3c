"""Text of which every character shows: what is invisible, or drives a terminal, becomes an escape that can be read.

Control characters, escape sequences, bidirectional overrides, characters without width and bytes that are no UTF-8 can
neither move a cursor nor make one name look like another.
"""

from __future__ import annotations

__all__ = ["escape", "visible"]

_MARKS_IN_A_ROW = 6  # more combining marks than any script stacks; piles of them paint over other lines
# Invisible, though Unicode calls them letters, marks or symbols: joiner, Hangul fillers, empty Braille cell,
# Mongolian and Khmer invisible vowels.
_HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, also: str = "") -> str:
    r"""Return the text with an escape in place of each character that does not show.

    Args:
        text: of any content.
        also: characters that get a backslash before them, as where escapes are read back.

        >>> visible("safe\x1b[2Jname"), visible("it's", also="'")
        ('safe\\x1b[2Jname', "it\\'s")
    """
    if text.isascii() and text.isprintable() and not also:
        return text
    import unicodedata  # most texts never need it

    parts = []
    marks = 0
    for char in text:
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        shows = char.isprintable() or kind == "Zs"
        if shows and char not in _HIDDEN and not "\U000e0100" <= char <= "\U000e01ef" and marks <= _MARKS_IN_A_ROW:
            parts.append("\\" + char if char in also else char)
        else:
            parts.append(escape(char))
    return "".join(parts)


def escape(char: str) -> str:
    r"""Return a character as shells and programs write it; a byte that is no UTF-8 is told from the character.

    >>> escape("\u200d"), escape("\x1b"), escape("\n")
    ('\\u200d', '\\x1b', '\\n')
    """
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as Python carries it in names of files
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
