"""One strict reader for every App of the profile, and what a value refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from vault.profile.content import DATA_APP, TREE_APP, Data, Manifest, Tree, read_data
from vault.profile.lines import Commit, LabelRecord, Release, Resolution, Revision
from vault.profile.log import AuditEntry, LogEntry
from vault.profile.people import Founding, Member, NodeCard, Request, Revocation
from vault.records import Blob, Record, RecordHash, Seal

__all__ = ["APPS", "ProfileValue", "Reference", "Role", "read", "recent", "references"]

ProfileValue = (
    Founding
    | NodeCard
    | Member
    | Request
    | Revocation
    | Data
    | Manifest
    | Tree
    | Commit
    | Revision
    | LabelRecord
    | Release
    | Resolution
    | LogEntry
    | AuditEntry
)

_READERS: dict[str, Callable[[Record], ProfileValue]] = {
    DATA_APP: read_data,
    TREE_APP: Tree.read,
    Founding.APP: Founding.read,
    NodeCard.APP: NodeCard.read,
    Member.APP: Member.read,
    Request.APP: Request.read,
    Revocation.APP: Revocation.read,
    Commit.APP: Commit.read,
    Revision.APP: Revision.read,
    LabelRecord.APP: LabelRecord.read,
    Release.APP: Release.read,
    Resolution.APP: Resolution.read,
    LogEntry.APP: LogEntry.read,
    AuditEntry.APP: AuditEntry.read,
}
APPS = frozenset(_READERS)

# Small values of one batch: what a record says follows from its hash alone.
_RECENT_VALUES, _RECENT_EXTRAS, _RECENT_BYTES = 4096, 32, 1024
_recent: dict[RecordHash, ProfileValue] = {}


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


def read(record: Record) -> ProfileValue | None:
    """Return the value of a validated record; None for a Blob and for an App the profile does not know.

    Snapshot heads (`lace/snapshot`) are read by who reads mailboxes; to the profile they are unknown.

    Raises:
        ProfileError: the App is known and the record breaks docs/formats.md section 1.
    """
    if isinstance(record, Blob):
        return None
    if not isinstance(record, Seal):
        reader = _READERS.get(record.app)
        return None if reader is None else reader(record)
    known = _recent.get(record.hash)
    if known is not None:
        return known
    reader = _READERS.get(record.plex.app)
    if reader is None:
        return None
    value = reader(record)
    if len(record.plex.extras) <= _RECENT_EXTRAS and len(record.plex.blob.data) <= _RECENT_BYTES:
        if len(_recent) >= _RECENT_VALUES:
            _recent.clear()
        _recent[record.hash] = value
    return value


def recent(record: RecordHash) -> ProfileValue | None:
    """Return the value of a sealed record that was read a moment ago, or None: a batch is read once, not thrice."""
    return _recent.get(record)


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
