"""The branches of a git place by whose mailboxes they are (docs/formats.md section "Git remotes").

A host may show any number of them, of other groups and of nobody; so they are sorted once and not at each question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["REFS", "Branches", "generation"]

REFS = "refs/heads/lace/"  # what stands before each name at a host
_NAME = re.compile(r"([0-9a-f]{16})([0-9a-f]{64})(?:-([1-9][0-9]{0,3}))?", re.ASCII)
_ROOM = 16  # characters of a name that say which group it is of
_MAILBOX = 80  # ... and which mailbox


class Branches(dict[str, str]):
    """Names below lace/ with where they stand, as the remote was last asked."""

    def __init__(self, refs: Mapping[str, str]) -> None:
        super().__init__(refs)
        self._rooms: dict[str, dict[str, str]] = {}  # the youngest name of each mailbox, by group
        for name in refs:
            self._sort(name)

    def __setitem__(self, name: str, oid: str) -> None:
        """Take note of where a name stands."""
        if name not in self:
            self._sort(name)
        super().__setitem__(name, oid)

    def drop(self, name: str) -> None:
        """Take note that a name is gone."""
        if super().pop(name, None) is not None:
            self._rooms.get(name[:_ROOM], {}).pop(name[:_MAILBOX], None)
            for other in [other for other in self if other.startswith(name[:_MAILBOX])]:
                self._sort(other)

    def mailboxes(self, room: str) -> list[str]:
        """Return the keys of those who have a mailbox in a group, in hex."""
        return [first[_ROOM:] for first in self._rooms.get(room, {})]

    def youngest(self, first: str) -> str:
        """Return the name of a mailbox: of several generations the youngest, and the first where there is none."""
        return self._rooms.get(first[:_ROOM], {}).get(first, first)

    def generations(self, first: str) -> list[str]:
        """Return the names of all generations of a mailbox, the oldest first."""
        return sorted((name for name in self if name.startswith(first) and _NAME.fullmatch(name)), key=generation)

    def _sort(self, name: str) -> None:
        if _NAME.fullmatch(name) is not None:
            room, first = self._rooms.setdefault(name[:_ROOM], {}), name[:_MAILBOX]
            room[first] = max(room.get(first, name), name, key=generation)


def generation(name: str) -> int:
    """Return which generation of a mailbox a name is of."""
    return int(name.partition("-")[2] or 0)
