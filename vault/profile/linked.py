"""What the value of a record refers to."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from vault.profile.audit import AuditEntry
from vault.profile.contents import Manifest
from vault.profile.lines import Commit, Revision
from vault.profile.log import LogEntry
from vault.profile.people import Revocation
from vault.profile.releases import LabelRecord, Release, Resolution
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.profile.reading import ProfileValue

__all__ = ["Reference", "Role", "references"]


class Role(StrEnum):
    """What a link says of its target: the link's word, or `chunk` for the parts of a manifest."""

    PARENT = "parent"
    TREE = "tree"
    COMMIT = "commit"
    REV = "rev"
    PREV = "prev"
    ENTRY = "entry"
    SIDE = "side"
    CHOSEN = "chosen"
    RELEASE = "release"
    RESULT = "result"
    CHUNK = "chunk"
    KEEP = "keep"


class Reference(NamedTuple):
    """One link from a value to a record."""

    role: Role
    target: RecordHash


def references(value: ProfileValue) -> tuple[Reference, ...]:
    """Return the record links in the headers of a value, in their order; a tree's body is not looked at."""
    links: list[tuple[Role, Iterable[RecordHash | None]]] = []
    match value:
        case Commit():
            links = [(Role.PARENT, value.parents), (Role.TREE, [value.tree])]
        case Revision():
            links = [(Role.COMMIT, [value.commit]), (Role.PREV, [value.prev])]
        case LabelRecord():
            links = [(Role.REV, [value.rev])]
        case Release():
            links = [(Role.COMMIT, [value.commit]), (Role.REV, [value.rev])]
        case Resolution():
            links = [(Role.CHOSEN, [value.chosen]), (Role.RELEASE, [value.release])]
            links += [(Role.RESULT, [value.result]), (Role.SIDE, value.sides)]
        case LogEntry():
            links = [(Role.PREV, [value.prev]), (Role.ENTRY, value.entries)]
        case Revocation():
            links = [(Role.KEEP, value.kept)]
        case AuditEntry():
            links = [(Role.PARENT, [value.parent])]
        case Manifest():
            links = [(Role.CHUNK, [chunk.target for chunk in value.chunks])]
        case _:
            pass
    return tuple(Reference(role, target) for role, targets in links for target in targets if target is not None)
