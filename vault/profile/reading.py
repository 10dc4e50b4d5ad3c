"""One strict reader for every App of the profile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

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
    "lace/data": ("contents", "read_data"),
    "lace/tree": ("contents", "Tree"),
    "lace/founding": ("people", "Founding"),
    "lace/node": ("people", "NodeCard"),
    "lace/member": ("people", "Member"),
    "lace/request": ("people", "Request"),
    "lace/revocation": ("people", "Revocation"),
    "lace/commit": ("lines", "Commit"),
    "lace/rev": ("lines", "Revision"),
    "lace/label": ("releases", "LabelRecord"),
    "lace/release": ("releases", "Release"),
    "lace/resolution": ("releases", "Resolution"),
    "lace/log": ("log", "LogEntry"),
    "lace/audit": ("audit", "AuditRecord"),
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
