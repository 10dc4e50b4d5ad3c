"""S-expressions, strict: the form of audit bodies and of the files people read (LAZ-79, CYB-13).

A value is a symbol, a string, a whole number or a tuple of values. The text is checked token by token before
the library parses it, so that nothing but these four comes out, and depth and size are bounded beforehand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from vault.errors import DataError

__all__ = [
    "MAX_DEPTH",
    "STRING",
    "Sexp",
    "SexpError",
    "Symbol",
    "clean_text",
    "dumps",
    "loads",
    "quoted",
    "unquoted",
]

MAX_DEPTH = 32  # nested lists; ours need six
MAX_NUMBER = 2**63  # numbers lie strictly between -MAX_NUMBER and MAX_NUMBER
STRING: Final = r'"[^"\\]*+(?:\\[\\"bfnrt][^"\\]*+)*+"'
"""What a string matches in a text, which may hold characters besides that no string holds; it never backtracks."""
_WIDTH = 100  # characters of a pretty line
_INDENT = 2

_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9._/+-]{0,63}")
# The library would read these as numbers.
_NOT_SYMBOLS = frozenset({"inf", "infinity", "nan"})
# What a string may not hold: control characters that have no escape, and halves of characters.
_UNPRINTABLE = r"[\x00-\x07\x0b\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_UNESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class SexpError(DataError):
    """Text that is not one well-formed S-expression of the kind lace writes."""

    code = "bad-sexp"
    hint = "The file or record was damaged or written by something else."


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bare word, such as `audit`.

    Args:
        name: a letter, then up to 63 letters, digits or `. _ / + -`; not a name of a number.

    Raises:
        SexpError: any other name.
    """

    name: str

    def __post_init__(self) -> None:
        if _SYMBOL.fullmatch(self.name) is None or self.name.lower() in _NOT_SYMBOLS:
            raise SexpError(f"{self.name!r} cannot be a symbol.")

    def __str__(self) -> str:
        return self.name


Sexp: TypeAlias = "Symbol | str | int | tuple[Sexp, ...]"


def dumps(value: Sexp, *, pretty: bool = True) -> str:
    """Return the text of a value, without a line end after it.

    Args:
        value: what to write.
        pretty: break what is wider than 100 characters into indented lines; else all stands on one line.

    Raises:
        SexpError: a string holds a control character without an escape (see `clean_text`), a number is out of
            range, or lists nest too deep.
    """
    return _pretty(_laid(value, 0), 0) if pretty else _flat(value, 0)


def loads(text: str, limit: int) -> Sexp:
    """Return the one value that a text holds; white space around it is allowed.

    Args:
        text: what to read.
        limit: characters allowed.

    Raises:
        SexpError: the text is longer, nests deeper than `MAX_DEPTH`, or is anything but one S-expression.
    """
    if len(text) > limit:
        raise SexpError(f"An S-expression of {len(text)} characters is longer than the {limit} allowed here.")
    _check_tokens(text)
    import sexpdata  # most commands only write

    return _from_library(sexpdata.loads(text, nil=None, true=None, false=None), sexpdata.Symbol)


def clean_text(text: str) -> str:
    """Return the text with each character that no string may hold replaced by U+FFFD."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, "\ufffd", text)


@cache
def _token() -> re.Pattern[str]:
    """Return what the tokens of a text match; who only writes needs it never."""
    return re.compile(
        r"""[ \n]+
        | (?P<open>\()
        | (?P<close>\))
        | (?P<string>"(?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\\[\\"bfnrt])*")(?=[ \n()]|\Z)
        | (?P<number>-?(?:0|[1-9][0-9]{0,18}))(?=[ \n()]|\Z)
        | (?P<symbol>[A-Za-z][A-Za-z0-9._/+-]{0,63})(?=[ \n()]|\Z)
        """,
        re.VERBOSE,
    )


def _check_tokens(text: str) -> None:
    token = _token()
    depth = at = values = 0
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            raise SexpError(f"Line {_line(text, at)} of an S-expression holds {text[at : at + 20]!r}.")
        kind = match.lastgroup
        if kind == "close":
            depth -= 1
        elif kind is not None:
            values += depth == 0
            depth += kind == "open"
        if depth < 0 or depth > MAX_DEPTH or values > 1:
            what = "has more than one value"
            if values <= 1:
                what = "closes too early" if depth < 0 else "nests too deep"
            raise SexpError(f"An S-expression {what} in line {_line(text, at)}.")
        if kind == "number" and (match[0] == "-0" or abs(int(match[0])) >= MAX_NUMBER):
            raise SexpError(f"Line {_line(text, at)} of an S-expression holds the number {match[0]}.")
        if kind == "symbol":
            Symbol(match[0])
        at = match.end()
    if depth or not values:
        raise SexpError("An S-expression is cut short." if depth else "An S-expression is empty.")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _from_library(found: object, symbol: type) -> Sexp:
    if isinstance(found, list):
        return tuple(_from_library(item, symbol) for item in found)
    if isinstance(found, symbol):
        return Symbol(str(found))
    if isinstance(found, int | str):
        return found
    raise SexpError(f"An S-expression holds {found!r}.")  # the token check lets nothing else through


def quoted(text: str) -> str:
    """Return a string as it stands in an S-expression.

    Raises:
        SexpError: it holds a control character without an escape.
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    if (found := re.search(_UNPRINTABLE, text)) is not None:
        raise SexpError(f"A string of an S-expression holds the character {found[0]!r}.")
    return f'"{text.translate(_ESCAPES)}"'


def unquoted(text: str) -> str:
    """Return what a string stands for that matches `STRING`."""
    if "\\" not in text:
        return text[1:-1]
    return re.sub(r"\\(.)", lambda found: _UNESCAPED.get(found[1], found[1]), text[1:-1])


def _flat(value: Sexp, depth: int) -> str:
    """Return a value on one line, checked on the way."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Symbol):
        return value.name
    if isinstance(value, tuple):
        if depth >= MAX_DEPTH:
            raise SexpError(f"An S-expression nests deeper than {MAX_DEPTH} lists.")
        below = depth + 1
        return f"({' '.join([item.name if isinstance(item, Symbol) else _flat(item, below) for item in value])})"
    if isinstance(value, bool) or not isinstance(value, int):
        raise SexpError(f"{value!r} cannot be written as an S-expression.")
    if abs(value) >= MAX_NUMBER:
        raise SexpError(f"The number {value} is too large for an S-expression.")
    return str(value)


_Laid: TypeAlias = "tuple[str, list[_Laid]]"
"""A value on one line, and what it holds likewise."""


def _laid(value: Sexp, depth: int) -> _Laid:
    """Lay a value out as `_flat` does, and all that it holds too: how wide that is decides which lines are broken."""
    if not isinstance(value, tuple):
        return _flat(value, depth), []
    if depth >= MAX_DEPTH:
        raise SexpError(f"An S-expression nests deeper than {MAX_DEPTH} lists.")
    held = [_laid(item, depth + 1) for item in value]
    return f"({' '.join([flat for flat, _ in held])})", held


def _pretty(laid: _Laid, indent: int) -> str:
    flat, held = laid
    if len(held) < 2 or indent + len(flat) <= _WIDTH:
        return flat
    inner = indent + _INDENT
    # The head stays beside the bracket when it is a word; the rest goes below it.
    lines = [_pretty(item, inner) for item in held[1:]]
    return f"({_pretty(held[0], indent + 1)}\n" + "\n".join([" " * inner + line for line in lines]) + ")"
