"""One strict reader for every App of the profile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from vault.profile.apps import (
    AUDIT_APP,
    CARD_APP,
    COMMIT_APP,
    DATA_APP,
    FOUNDING_APP,
    LABEL_APP,
    LOG_APP,
    MEMBER_APP,
    RELEASE_APP,
    REQUEST_APP,
    RESOLUTION_APP,
    REVISION_APP,
    REVOCATION_APP,
    TREE_APP,
)
from vault.records import Blob, Record, RecordHash, Seal

if TYPE_CHECKING:
    from vault.profile.audit import AuditRecord
    from vault.profile.contents import Data, Manifest, Tree
    from vault.profile.lines import Commit, Revision
    from vault.profile.log import LogEntry
    from vault.profile.people import Founding, Member, NodeCard, Request, Revocation
    from vault.profile.releases import LabelRecord, Release, Resolution

__all__ = ["APPS", "ProfileValue", "read", "recent"]

ProfileValue: TypeAlias = (
    "Founding | NodeCard | Member | Request | Revocation | Data | Manifest | Tree | Commit | Revision"
    " | LabelRecord | Release | Resolution | LogEntry | AuditRecord"
)

# Where the reader of each App stands: the class that has it, or the function itself.
_READERS: Final = {
    DATA_APP: ("contents", "read_data"),
    TREE_APP: ("contents", "Tree"),
    FOUNDING_APP: ("people", "Founding"),
    CARD_APP: ("people", "NodeCard"),
    MEMBER_APP: ("people", "Member"),
    REQUEST_APP: ("people", "Request"),
    REVOCATION_APP: ("people", "Revocation"),
    COMMIT_APP: ("lines", "Commit"),
    REVISION_APP: ("lines", "Revision"),
    LABEL_APP: ("releases", "LabelRecord"),
    RELEASE_APP: ("releases", "Release"),
    RESOLUTION_APP: ("releases", "Resolution"),
    LOG_APP: ("log", "LogEntry"),
    AUDIT_APP: ("audit", "AuditRecord"),
}
APPS = frozenset(_READERS)

# Small values of one batch: what a record says follows from its hash alone.
_RECENT_VALUES, _RECENT_EXTRAS, _RECENT_BYTES = 4096, 32, 1024
_recent: dict[RecordHash, ProfileValue] = {}


def read(record: Record) -> ProfileValue | None:
    """Return the value of a validated record; None for a Blob and for an App the profile does not know.

    Snapshot heads (`lace/snapshot`) are read by who reads mailboxes; to the profile they are unknown.

    Raises:
        ProfileError: the App is known and the record breaks docs/formats.md section 1.
    """
    if isinstance(record, Blob):
        return None
    if not isinstance(record, Seal):
        reader = _reader(record.app) if record.app in APPS else None
        return None if reader is None else reader(record)
    name = record.hash
    known = _recent.get(name)
    if known is not None:
        return known
    plex = record.plex
    reader = _reader(plex.app) if plex.app in APPS else None
    if reader is None:
        return None
    value = reader(record)
    if len(plex.extras) <= _RECENT_EXTRAS and len(plex.blob.data) <= _RECENT_BYTES:
        if len(_recent) >= _RECENT_VALUES:
            _recent.clear()
        _recent[name] = value
    return value


def recent(record: RecordHash) -> ProfileValue | None:
    """Return the value of a sealed record that was read a moment ago, or None: a batch is read once, not thrice."""
    return _recent.get(record)


@cache
def _reader(app: str) -> Callable[[Record], ProfileValue] | None:
    """Return what reads the records of an App; its module is loaded when the first one is met."""
    where = _READERS.get(app)
    if where is None:
        return None
    found = getattr(import_module(f"vault.profile.{where[0]}"), where[1])
    reader: Callable[[Record], ProfileValue] = getattr(found, "read", found)
    return reader
