"""Coordinates: the Group, App and Name under which a record is indexed (REC-46..57).

They are paths of non-empty segments, read from the root. They are never identity: any number of records may
share a coordinate (REC-6). Lengths count UTF-8 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from vault.records.headers import shown

__all__ = ["MAX_APP_BYTES", "MAX_GROUP_BYTES", "MAX_NAME_BYTES", "MAX_SEGMENT_BYTES", "check_app"]
__all__ += ["check_coordinate", "check_group", "check_name_path"]

MAX_SEGMENT_BYTES = 128
MAX_GROUP_BYTES = 675
MAX_APP_BYTES = 128
MAX_NAME_BYTES = 675


@dataclass(frozen=True, slots=True)
class _Path:
    """The rules of one coordinate field and the error for each."""

    header: str
    max_bytes: int
    forbidden: re.Pattern[str]
    slash: type[RecordError]
    empty: type[RecordError]
    segment_long: type[RecordError]
    long: type[RecordError]
    character: type[RecordError]
    dot: type[RecordError]

    def check(self, value: str) -> None:
        if value[:1] == "/" or value[-1:] == "/":
            raise self.slash(f"the {self.header} {shown(value)} starts or ends with a slash")
        segments = value.split("/")
        if "" in segments:
            raise self.empty(f"the {self.header} {shown(value)} has an empty segment")
        if "." in segments or ".." in segments:
            raise self.dot(f"the {self.header} {shown(value)} has a segment that is . or ..")
        found = self.forbidden.search(value)
        if found is not None:
            raise self.character(f"the {self.header} {shown(value)} holds {found[0]!r}")
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
    re.compile(r"[{}|#]"),
    slash=GroupSlashError,
    empty=GroupEmptySegmentError,
    segment_long=GroupSegmentTooLongError,
    long=GroupTooLongError,
    character=GroupCharacterError,
    dot=GroupDotError,
)
_APP = _Path(
    "App",
    MAX_APP_BYTES,
    re.compile(r"[{}|]"),
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
    re.compile(r"[{}|]"),
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
