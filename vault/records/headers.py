"""Header lines: `<Name>: <value>`, canonical to the byte (REC-13..23).

Nothing is repaired or trimmed here: text that breaks a rule is refused, so each accepted line has exactly one
spelling. Lines are split on LF alone; other characters that look like line ends are data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import is_normalized

from vault.records.errors import (
    CarriageReturnError,
    HeaderControlError,
    HeaderNameCharacterError,
    HeaderNameEmptyError,
    HeaderNotNfcError,
    HeaderSpaceError,
    HeaderSyntaxError,
    HeaderTooLongError,
    HeaderUtf8Error,
    HeaderValueEmptyError,
)
from vault.records.quoting import shown

__all__ = [
    "MAX_LINE_BYTES",
    "check_line",
    "check_name",
    "check_pair",
    "check_pairs",
    "check_value",
    "is_clean",
    "split_line",
]

MAX_LINE_BYTES = 1024  # without the LF (REC-22)

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BUT_LF = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")
_MARK_SIGN = "🖧".encode()  # composes with nothing
_NAME_FORBIDS = re.compile(r"[: \t]")


def _check_text(text: str, what: str) -> None:
    """Refuse what no header text may hold: control bytes, broken UTF-8, other forms than NFC."""
    if text.isascii() and text.isprintable():
        return
    found = _CONTROL.search(text)
    if found is not None:
        if found[0] == "\r" or "\r" in text:
            raise CarriageReturnError(f"the {what} {shown(text)} holds a carriage return")
        raise HeaderControlError(f"the {what} {shown(text)} holds the control byte 0x{ord(found[0]):02X}")
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HeaderUtf8Error(f"the {what} {shown(text)} cannot be written as UTF-8") from None
    if not is_normalized("NFC", text):
        raise HeaderNotNfcError(f"the {what} {shown(text)} is not in Unicode normalisation form C")


def check_name(name: str) -> None:
    """Refuse a header name that breaks REC-14, REC-15, REC-18 or REC-21.

    Raises:
        RecordError: the class says which rule.
    """
    if not name:
        raise HeaderNameEmptyError("a header has an empty name")
    if _NAME_FORBIDS.search(name):
        raise HeaderNameCharacterError(f"the header name {shown(name)} holds a colon, a space or a tab")
    _check_text(name, "header name")


def check_value(value: str) -> None:
    """Refuse a header value that breaks REC-16, REC-17, REC-18 or REC-21.

    A value that starts with a space would put two spaces after the colon, so it is refused (H-5); inner and
    trailing spaces are data (REC-23).

    Raises:
        RecordError: the class says which rule.
    """
    if not value:
        raise HeaderValueEmptyError("a header has an empty value")
    if value[0] == " ":
        raise HeaderSpaceError(f"the header value {shown(value)} starts with a space")
    _check_text(value, "header value")


@lru_cache(maxsize=256)
def _is_plain_name(name: str) -> bool:
    """Tell whether a name is what nearly every one is; records have few of them, so answers are remembered."""
    return bool(name) and name.isascii() and name.isprintable() and " " not in name and ":" not in name


def check_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Refuse headers of which one cannot be written as one valid line, as `check_pair` does.

    Raises:
        RecordError: the class says which rule.
    """
    values = "".join([value for _, value in pairs])
    is_plain = values.isascii() and values.isprintable()
    for name, value in pairs:
        is_short = len(name) + len(value) + 2 <= MAX_LINE_BYTES
        if not (is_plain and is_short and value and value[0] != " " and _is_plain_name(name)):
            check_pair(name, value)


def check_pair(name: str, value: str) -> None:
    """Refuse a header that cannot be written as one valid line (REC-13..22).

    Raises:
        RecordError: the class says which rule.
    """
    if (
        value
        and value.isascii()
        and value.isprintable()
        and value[0] != " "
        and _is_plain_name(name)
        and len(name) + len(value) + 2 <= MAX_LINE_BYTES
    ):
        return  # what nearly every header is; whatever is not is told by the checks one by one
    check_name(name)
    check_value(value)
    characters = len(name) + len(value) + 2
    if characters * 4 > MAX_LINE_BYTES:
        _check_length(len(name.encode()) + len(value.encode()) + 2, name)


def _check_length(length: int, start: str) -> None:
    if length > MAX_LINE_BYTES:
        raise HeaderTooLongError(
            f"the header line that starts with {shown(start)} is longer than {MAX_LINE_BYTES} bytes"
        )


def check_line(line: bytes) -> str:
    """Return one header line, given without its LF, as text after the checks that need no look at its parts.

    Raises:
        RecordError: REC-18, REC-20, REC-21 or REC-22 is broken.
    """
    _check_length(len(line), line[:40].decode(errors="replace"))
    try:
        text = line.decode()
    except UnicodeDecodeError:
        readable = line.decode(errors="replace")
        if b"\r" in line:
            raise CarriageReturnError(f"the header line {shown(readable)} holds a carriage return") from None
        raise HeaderUtf8Error(f"the header line {shown(readable)} is not UTF-8") from None
    _check_text(text, "header line")
    return text


def is_clean(block: bytes, text: str) -> bool:
    """Return whether every line of a block passes `check_line`; `text` is the block decoded.

    One look at the block instead of one at each line. Neither LF, colon nor space composes with a mark that
    follows, so a block is in NFC exactly when each of its names and values is.
    """
    if _CONTROL_BUT_LF.search(block) is not None:
        return False
    # Most heads are ASCII but for their marklines, and NFC is the dearest of the checks.
    if not block.replace(_MARK_SIGN, b"").isascii() and not is_normalized("NFC", text):
        return False
    return len(block) <= MAX_LINE_BYTES or max(map(len, block.split(b"\n"))) <= MAX_LINE_BYTES


def split_line(line: str) -> tuple[str, str]:
    """Return name and value of a line that passed `check_line` or `is_clean` (REC-13..17).

    Raises:
        RecordError: the class says which rule.
    """
    name, separator, value = line.partition(": ")
    if separator and name and value and value[0] != " " and ":" not in name and " " not in name:
        return name, value
    name, colon, rest = line.partition(":")
    if not colon:
        raise HeaderSyntaxError(f"the header line {shown(line)} has no colon")
    check_name(name)
    if rest[:1] != " ":
        raise HeaderSpaceError(f"no space follows the colon of the header line {shown(line)}")
    check_value(rest[1:])
    raise AssertionError(line)  # pragma: no cover - one of the checks above refuses
