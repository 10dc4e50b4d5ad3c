"""Record links: what extra headers named `+Link` or `...+Link` say (REC-62..71).

A link header is an ordinary header first. A value that is no well-formed link leaves the record valid and
gives no link. The target's suffix names the record definition that rules its payload: of a target with suffix
`H3` the payload must be canonical B64A of 32 bytes, else the value is malformed (it could never be
satisfied); of any other suffix only the outer shape is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from vault.records.errors import B64AError, HashTextError
from vault.records.hashes import RecordHash

__all__ = ["LINK_SUFFIX", "Link", "parse_link", "parse_links", "parse_value"]

LINK_SUFFIX = "+Link"
_TARGET = re.compile(r"[BPS]\.[^ ]+\.([^ .]+)")
_SUPPORTED = "H3"


class Link(NamedTuple):
    """One well-formed link.

    Args:
        name: the header's name, such as `Chunk+Link`.
        data: free text of the application, never empty; may hold spaces.
        target: typed hash text; its format may be one this lace does not support (REC-70).
    """

    name: str
    data: str
    target: str

    @property
    def record_hash(self) -> RecordHash | None:
        """The target as a record hash, or None if its format is not supported (REC-71)."""
        try:
            return RecordHash.parse(self.target)
        except (HashTextError, B64AError):
            return None


def parse_link(name: str, value: str) -> Link | None:
    """Return the link that a header states, or None if name or value are not those of one (REC-63..69)."""
    if not name.endswith(LINK_SUFFIX):
        return None
    found = parse_value(value)
    return None if found is None else tuple.__new__(Link, (name, *found[:2]))


@lru_cache(maxsize=8192)
def parse_value(value: str) -> tuple[str, str, RecordHash | None] | None:
    """Return the data and the target that a link's value states, and the hash that this is; None if it is none.

    What a batch brings is named in it again and again, and each record is read by its profile and for its facts.
    """
    data, _, target = value.rpartition(" ")
    if not data:
        return None
    try:
        return data, target, RecordHash.parse(target)
    except (HashTextError, B64AError):
        match = _TARGET.fullmatch(target)
        return None if match is None or match[1] == _SUPPORTED else (data, target, None)


def parse_links(headers: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    """Return the well-formed links among headers, in order."""
    found = []
    for name, value in headers:
        link = parse_link(name, value) if name.endswith(LINK_SUFFIX) else None
        if link is not None:
            found.append(link)
    return tuple(found)
