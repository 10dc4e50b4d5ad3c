"""Names of groups, people, places and desks, and release versions (docs/formats.md section 1)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from vault.errors import CallerError
from vault.typed import shown

__all__ = [
    "NAME_LIMIT",
    "SELF",
    "SIDE_WORDS",
    "BadName",
    "BadVersion",
    "Version",
    "check_desk",
    "check_group_name",
    "check_label",
    "check_name",
    "check_person",
]

NAME_LIMIT = 64  # bytes: leaves room for "/<number>" inside a 128-byte coordinate segment
_GROUP_NAME_LIMIT = 64  # bytes
SELF = "self"  # names this node wherever a peer is named
SIDE_WORDS = frozenset({"local", "remote", "both"})  # words of a viewer for the sides of a conflict (LAZ-39)
_FORBIDDEN = frozenset("/@:{}|")
_RESERVED = frozenset({".", "..", SELF})
_PLAIN = re.compile(r"[0-9A-Za-z_.+-]+", re.ASCII)
_VERSION = r"(0|[1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,9})(-merged)?"
_LAST_NUMBER = 2**31 - 1  # of a version's three


class BadName(CallerError):
    """A name of a person, peer, place, desk or group that the formats cannot carry."""

    code = "bad-name"
    exit_code = 2
    hint = "Use 1 to 64 bytes without / @ : { } | and without control characters."


class BadVersion(CallerError):
    """A release version that is not X.Y.Z (CYB-2)."""

    code = "bad-version"
    exit_code = 2
    hint = "Write three numbers, for example 1.4.0; what lace resolve --merged makes may be called 1.4.0-merged."


def check_name(text: str, what: str = "name") -> str:
    """Return the text if it may name a person, peer, place or desk.

    Raises:
        BadName: naming the rule that was broken.
    """
    problem = _name_problem(text, NAME_LIMIT, _FORBIDDEN)
    if problem or text in _RESERVED:
        composed = unicodedata.normalize("NFC", text)
        way = f"Type its letters with their accents as one: {shown(composed)}" if composed != text else ""
        way = way or ("" if problem else "Choose another: lace itself means something by this one.")
        raise BadName(f"The {what} {shown(text)} {problem or 'is reserved'}.", hint=way)
    return text


def check_person(text: str) -> str:
    """Return the text if somebody may be given it as a name; records that name somebody otherwise are still read.

    Raises:
        BadName: naming the rule that was broken.
    """
    if check_name(text) in SIDE_WORDS:
        what = "both sides" if text == "both" else f"a side of a conflict, as in lace resolve --prefer {text}"
        raise BadName(f"The name {text!r} means {what}.", hint=f"Choose another, for example: {text}-1")
    return text


@lru_cache(maxsize=256)
def check_desk(text: str) -> str:
    """Return the text if it may name a desk. A vault has few of them, so answers are remembered.

    Raises:
        BadName: naming the rule that was broken.
    """
    return check_name(text, "desk")


def check_group_name(text: str) -> str:
    """Return the text if it may name a group; `local` is reserved for private records.

    Raises:
        BadName: naming the rule that was broken.
    """
    problem = _name_problem(text, _GROUP_NAME_LIMIT, _FORBIDDEN | {"#"})
    if problem or text in _RESERVED | {"local"}:
        raise BadName(f"The group name {shown(text)} {problem or 'is reserved'}.")
    return text


def check_label(text: str) -> str:
    """Return the text if it may label a revision: a name that starts with an ASCII letter.

    Raises:
        BadName: naming the rule that was broken.
    """
    check_name(text, "label")
    if not (text[0].isascii() and text[0].isalpha()):
        way = f"Begin it with one, for example: v-{text[:20]}"
        raise BadName(f"The label {text!r} does not start with a letter from A to Z.", hint=way)
    return text


def _name_problem(text: str, limit: int, forbidden: frozenset[str]) -> str:
    """Return the first rule a name breaks, as the end of a sentence; empty when it breaks none."""
    if len(text) <= limit and _PLAIN.fullmatch(text):  # nearly all of them, and each record has several
        return ""
    bad = sorted(forbidden & set(text))
    problems = (
        (not text, "is empty"),
        (any("\ud800" <= c <= "\udfff" for c in text), "is not text in UTF-8"),
        (not unicodedata.is_normalized("NFC", text), "is not in Unicode NFC form"),
        (len(text.encode("utf-8", "surrogatepass")) > limit, f"is longer than {limit} bytes"),
        (any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in text), "contains a control character"),
        (bool(bad), f"contains {' '.join(bad)}"),
        (text != text.strip(), "starts or ends with a space"),
    )
    return next((sentence for is_broken, sentence in problems if is_broken), "")


class Version(NamedTuple):
    """A release version X.Y.Z, ordered by its numbers; `X.Y.Z-merged` sorts after X.Y.Z (CYB-2).

    Args:
        major: first number.
        minor: second number.
        patch: third number.
        merged: the one suffix allowed, for a release that settled a conflict.
    """

    major: int
    minor: int
    patch: int
    merged: bool = False

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `X.Y.Z` or `X.Y.Z-merged`.

        Raises:
            BadVersion: for every other text.
        """
        match = re.fullmatch(_VERSION, text)
        if match is None:
            raise BadVersion(f"{shown(text)} is not a version.")
        if any(int(n) > _LAST_NUMBER for n in match.groups()[:3]):
            raise BadVersion(f"{shown(text)} is not a version: a number in it is higher than {_LAST_NUMBER}.")
        major, minor, patch, merged = match.groups()
        return cls(int(major), int(minor), int(patch), bool(merged))

    def following(self) -> Version | None:
        """Return the version proposed after this one: one patch higher, or the next minor or major where numbers end.

        None after the last that there can be.
        """
        if self.patch < _LAST_NUMBER:
            return Version(self.major, self.minor, self.patch + 1)
        if self.minor < _LAST_NUMBER:
            return Version(self.major, self.minor + 1, 0)
        return Version(self.major + 1, 0, 0) if self.major < _LAST_NUMBER else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}{'-merged' if self.merged else ''}"
