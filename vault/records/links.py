"""Record links: what extra headers named `+Link` or `...+Link` say (REC-62..71).

A link header is an ordinary header first. A value that is no well-formed link leaves the record valid and
gives no link. The target's suffix names the record definition that rules its payload: of a target with suffix
`H3` the payload must be canonical B64A of 32 bytes, else the value is malformed (it could never be
satisfied); of any other suffix only the outer shape is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from vault.records import b64a
from vault.records.errors import B64AError, HashTextError
from vault.records.hashes import RecordHash

__all__ = ["LINK_SUFFIX", "Link", "parse_link", "parse_links"]

LINK_SUFFIX = "+Link"
_TARGET = re.compile(r"[BPS]\.[^ ]+\.([^ .]+)")
_SUPPORTED = "H3"
# What `RecordHash.parse` accepts, told without decoding it: the last symbol of 43 holds four bits only.
_HASH = re.compile(rf"[BPS]\.[{b64a.ALPHABET}]{{42}}[{b64a.ALPHABET[::4]}]\.H3")


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
    data, _, target = value.rpartition(" ")
    if not data:
        return None
    if _HASH.fullmatch(target) is None:
        match = _TARGET.fullmatch(target)
        if match is None or match[1] == _SUPPORTED:
            return None
    return tuple.__new__(Link, (name, data, target))


def parse_links(headers: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    """Return the well-formed links among headers, in order."""
    found = []
    for name, value in headers:
        link = parse_link(name, value) if name.endswith(LINK_SUFFIX) else None
        if link is not None:
            found.append(link)
    return tuple(found)
