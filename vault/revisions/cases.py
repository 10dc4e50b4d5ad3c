"""Names of content: `[PEER/]DESK[@CASE]`, as a person writes them (docs/formats.md section 1, CLAY-13).

A case says which revision of a line is meant: its number, a release version, a label or a date; or the hash of its
commit, where two have one number. Which of them a text is shows in its form, so no two kinds are ever confused: a label
starts with a letter, a number has digits only, a version has dots, a date or a hash has the form of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from vault.errors import CallerError
from vault.names import SELF, BadName, BadVersion, Version, check_label, check_name
from vault.records import RecordHash, Tai
from vault.records.errors import RecordError, TaiError
from vault.typed import holds_password, shown

__all__ = ["Address", "BadCase", "Case", "Date", "Hash", "Label", "Number", "parse_address", "parse_case"]
__all__ += ["parse_side"]

MAX_NUMBER = 2**31 - 1
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?Z?)?", re.ASCII | re.IGNORECASE
)


class BadCase(CallerError):
    """The part after the @ is not a revision number, version, label or date."""

    code = "bad-case"
    hint = "Write a number (main@3), a version (main@1.0.0), a label (main@draft) or a date in UTC (main@2026-05-01)."


@dataclass(frozen=True, slots=True)
class Number:
    """A revision number of a line; 0 is the empty revision (CLAY-14).

    Args:
        value: 0 to 2^31-1.

    Raises:
        BadCase: it is not in that range.
    """

    value: int

    def __post_init__(self) -> None:
        if not 0 <= self.value <= MAX_NUMBER:
            raise BadCase(f"There is no revision number {self.value}.")

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a revision (CLAY-15).

    Args:
        name: starts with a letter.

    Raises:
        BadName: it cannot be a label.
    """

    name: str

    def __post_init__(self) -> None:
        check_label(self.name)

    def __str__(self) -> str:
        return self.name


class Date(NamedTuple):
    """A moment; it means the newest revision not after it (CLAY-16).

    Args:
        text: as the person wrote it.
        tai: the moment; a day without a time means its first second in UTC.
    """

    text: str
    tai: Tai

    def __str__(self) -> str:
        return self.text


class Hash(NamedTuple):
    """A commit by its record's hash: the one word for it where a restored line gave its number twice.

    Args:
        commit: of a revision of the line.
    """

    commit: RecordHash

    def __str__(self) -> str:
        return self.commit.text


Case = Number | Version | Label | Date | Hash


@dataclass(frozen=True, slots=True)
class Address:
    """One desk of somebody's line, at some revision.

    Args:
        peer: whose line; None when nobody was named, `self` for this vault's own.
        desk: the desk's name.
        case: which revision; None for the head.

    Raises:
        BadName: the peer or desk cannot have such a name.
    """

    peer: str | None
    desk: str
    case: Case | None = None

    def __post_init__(self) -> None:
        if self.peer is not None and self.peer != SELF:
            check_name(self.peer, "name of a peer")
        check_name(self.desk, "name of a desk")

    @property
    def is_own(self) -> bool:
        """Whether `self` was named."""
        return self.peer == SELF

    def __str__(self) -> str:
        owner = f"{self.peer}/" if self.peer is not None else ""
        return f"{owner}{self.desk}" + (f"@{self.case}" if self.case is not None else "")


def parse_address(text: str) -> Address:
    """Read `[PEER/]DESK[@CASE]`.

    Raises:
        BadCase: what follows the @ is no case, or nothing follows it.
        BadName: the peer or desk cannot have such a name.
    """
    if holds_password(text):  # the address of a place, where a desk was asked for
        raise BadName(f"{shown(text)} names no desk.")
    name, at, case = text.partition("@")
    peer, slash, desk = name.partition("/")
    if not slash:
        return Address(None, name, parse_case(case) if at else None)
    if "/" in desk:
        raise BadName(f"{shown(text)} holds more than one slash.", hint="Write a path as an argument of its own.")
    return Address(peer, desk, parse_case(case) if at else None)


def parse_side(text: str) -> tuple[str, Case | None]:
    """Read `PEER[@CASE]`, for verbs that name the desk elsewhere; returns the peer and the case.

    Raises:
        BadCase, BadName: as `parse_address`.
    """
    peer, at, case = text.partition("@")
    if peer != SELF:
        check_name(peer, "name of a peer")
    return peer, parse_case(case) if at else None


def parse_case(text: str) -> Case:
    """Read one case.

    Raises:
        BadCase: it is none.
    """
    if _NUMBER.fullmatch(text) is not None:
        return Number(int(text))
    match = _DATE.fullmatch(text)
    if match is not None:
        return Date(text, _moment(text, match))
    try:
        return Hash(RecordHash.parse(text))
    except RecordError:
        pass
    try:
        return Version.parse(text)
    except BadVersion:
        pass
    try:
        return Label(text)
    except BadName as error:
        raise BadCase(f"{shown(text)} is not a revision number, version, label or date.") from error


def _moment(text: str, match: re.Match[str]) -> Tai:
    numbers = [int(part or 0) for part in match.groups()]
    try:
        moment = datetime(*numbers, tzinfo=UTC)  # type: ignore[arg-type,misc] # six numbers, then the zone
        return Tai.from_unix_ns(int(moment.timestamp()) * 10**9)
    except (ValueError, TaiError) as error:
        raise BadCase(f"{text!r} is not a date from 1970 to 2286.") from error
