"""Coordinates: the Group, App and Name under which a record is indexed (REC-46..57).

They are paths of non-empty segments, read from the root. They are never identity: any number of records may
share a coordinate (REC-6). Lengths count UTF-8 bytes.
"""

from __future__ import annotations

from functools import lru_cache

from vault.records.errors import (
    AppPathError,
    AppSegmentError,
    AppTooLongError,
    GroupCharacterError,
    GroupDotError,
    GroupEmptySegmentError,
    GroupSegmentTooLongError,
    GroupSlashError,
    GroupTooLongError,
    NamePathError,
    NameSegmentError,
    NameTooLongError,
    RecordError,
)
from vault.records.quoting import shown

__all__ = ["MAX_GROUP_BYTES", "MAX_NAME_BYTES", "MAX_SEGMENT_BYTES", "check_app"]
__all__ += ["check_coordinate", "check_group", "check_name_path"]

MAX_SEGMENT_BYTES = 128
MAX_GROUP_BYTES = 675
_MAX_APP_BYTES = 128
MAX_NAME_BYTES = 675


class _Path:
    """The rules of one coordinate field and the error for each."""

    __slots__ = ("character", "dot", "empty", "forbidden", "header", "long", "max_bytes", "segment_long", "slash")

    def __init__(
        self,
        header: str,
        max_bytes: int,
        forbidden: str,
        *,
        slash: type[RecordError],
        empty: type[RecordError],
        segment_long: type[RecordError],
        long: type[RecordError],
        character: type[RecordError],
        dot: type[RecordError],
    ) -> None:
        self.header = header
        self.max_bytes = max_bytes
        self.forbidden = frozenset(forbidden)
        self.slash = slash
        self.empty = empty
        self.segment_long = segment_long
        self.long = long
        self.character = character
        self.dot = dot

    def check(self, value: str) -> None:
        if value[:1] == "/" or value[-1:] == "/":
            raise self.slash(f"the {self.header} {shown(value)} starts or ends with a slash")
        segments = value.split("/")
        if "" in segments:
            raise self.empty(f"the {self.header} {shown(value)} has an empty segment")
        if "." in segments or ".." in segments:
            raise self.dot(f"the {self.header} {shown(value)} has a segment that is . or ..")
        if not self.forbidden.isdisjoint(value):
            found = next(character for character in value if character in self.forbidden)
            raise self.character(f"the {self.header} {shown(value)} holds {found!r}")
        if len(value) * 4 <= MAX_SEGMENT_BYTES:  # no character has more than four bytes
            return
        for segment in segments:
            if len(segment.encode()) > MAX_SEGMENT_BYTES:
                raise self.segment_long(
                    f"a segment of the {self.header} {shown(value)} is longer than {MAX_SEGMENT_BYTES} bytes"
                )
        if len(value.encode()) > self.max_bytes:
            raise self.long(f"the {self.header} {shown(value)} is longer than {self.max_bytes} bytes")


_GROUP = _Path(
    "Group",
    MAX_GROUP_BYTES,
    "{}|#",
    slash=GroupSlashError,
    empty=GroupEmptySegmentError,
    segment_long=GroupSegmentTooLongError,
    long=GroupTooLongError,
    character=GroupCharacterError,
    dot=GroupDotError,
)
_APP = _Path(
    "App",
    _MAX_APP_BYTES,
    "{}|",
    slash=AppPathError,
    empty=AppPathError,
    segment_long=AppPathError,
    long=AppTooLongError,
    character=AppSegmentError,
    dot=AppSegmentError,
)
_NAME = _Path(
    "Name",
    MAX_NAME_BYTES,
    "{}|",
    slash=NamePathError,
    empty=NamePathError,
    segment_long=NamePathError,
    long=NameTooLongError,
    character=NameSegmentError,
    dot=NameSegmentError,
)


@lru_cache(maxsize=256)
def check_group(value: str) -> None:
    """Refuse a Group that breaks REC-46..51. A vault has few groups, so answers are remembered.

    Raises:
        RecordError: the class says which rule.
    """
    _GROUP.check(value)


@lru_cache(maxsize=256)
def check_app(value: str) -> None:
    """Refuse an App that breaks REC-52..54.

    Raises:
        RecordError: the class says which rule.
    """
    _APP.check(value)


def check_name_path(value: str) -> None:
    """Refuse a Name that breaks REC-55..57.

    Raises:
        RecordError: the class says which rule.
    """
    _NAME.check(value)


def check_coordinate(group: str, app: str, name: str) -> None:
    """Refuse a coordinate of which any part breaks its rules, Group first.

    Raises:
        RecordError: the class says which rule.
    """
    check_group(group)
    check_app(app)
    check_name_path(name)
