r"""How lacegrams are written: constants, facts on a line, and the identifier of a canonical text (H-4, FAC-6, FAC-11).

Rules and the fact blocks of an exchange share this grammar. A fact is `Predicate('constant','constant')`: the predicate
is an ASCII capital followed by letters and digits; constants stand in single quotes, with `\'` and `\\` as the only
escapes; no space stands outside them.
"""

from __future__ import annotations

import re
from typing import Final

from blake3 import blake3

from vault.records import b64a

__all__ = ["CONTROL", "PREDICATE", "module_id", "quoted", "split_line", "unquoted"]

PREDICATE: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")  # no constant holds one
_CONSTANT: Final = r"'[^'\\]*(?:\\['\\][^'\\]*)*'"
_LINE: Final = re.compile(rf"({PREDICATE.pattern})\(((?:{_CONSTANT}(?:,{_CONSTANT})*)?)\)")
_ONE: Final = re.compile(_CONSTANT)
_ESCAPE: Final = re.compile(r"\\(['\\])")
_DOMAIN: Final = b"lace-module/v1\n"


def quoted(text: str) -> str:
    r"""Return the text as a constant; only `\'` and `\\` are escapes (H-4)."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def unquoted(constant: str) -> str:
    """Return the text of a constant, which is of the right form."""
    return _ESCAPE.sub(r"\1", constant[1:-1])


def split_line(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Return predicate and constants of a fact line without LF; None if it is none."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    name, inner = match.groups()
    if "\\" in inner:
        return name, tuple(unquoted(constant) for constant in _ONE.findall(inner))
    return name, tuple(constant[1:-1] for constant in _ONE.findall(inner))


def module_id(text: str) -> str:
    """Return the identifier `R.<43>` of a canonical text: BLAKE3 of a domain line and the text (FAC-11)."""
    return f"R.{b64a.encode(blake3(_DOMAIN + text.encode()).digest())}"
