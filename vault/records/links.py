"""Record links: what extra headers named `+Link` or `...+Link` say (REC-62..71).

A link header is an ordinary header first. A value that is no well-formed link leaves the record valid and
gives no link. The target's suffix names the record definition that rules its payload: of a target with suffix
`H3` the payload must be canonical B64A of 32 bytes, else the value is malformed (it could never be
satisfied); of any other suffix only the outer shape is known.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from vault.records.errors import B64AError, HashTextError
from vault.records.hashes import RecordHash

__all__ = ["LINK_SUFFIX", "Link", "parse_link"]

LINK_SUFFIX = "+Link"
"""What the name of each link header ends in (REC-62)."""
_TARGET = re.compile(r"[BPS]\.[^ ]+\.([^ .]+)")
_SUPPORTED = "H3"


class Link(NamedTuple):
    """What one well-formed value says.

    Args:
        data: free text of the application, never empty; may hold spaces.
        target: typed hash text; its format may be one this lace does not support (REC-70).
        record: the record that the target names, or None if its format is not supported (REC-71).
    """

    data: str
    target: str
    record: RecordHash | None


@lru_cache(maxsize=8192)
def parse_link(value: str) -> Link | None:
    """Return the link that the value of a link header states, or None if it is malformed (REC-63..69).

    What a batch brings is named in it again and again, and each record is read by its profile and for its facts.
    """
    data, _, target = value.rpartition(" ")
    if not data:
        return None
    try:
        return Link(data, target, RecordHash.parse(target))
    except (HashTextError, B64AError):
        match = _TARGET.fullmatch(target)
        return None if match is None or match[1] == _SUPPORTED else Link(data, target, None)
