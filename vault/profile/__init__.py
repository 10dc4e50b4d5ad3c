"""The typed records of the profile: what each App means, read and written strictly.

docs/formats.md section 1 is the contract. A value comes from a validated record by `read`; `Kind.to_plex`
makes the Plex of a new one, which the caller seals. Both follow the same rules: what lace writes, lace
accepts.

| module | kinds |
|---|---|
| `content`, `contents` | data, manifests and trees: reading them, and their values |
| `lines`, `releases`, `log` | commits and revisions; labels, releases and resolutions; log entries |
| `people`, `audit` | founding, node cards, members, requests and revocations; audit entries |
| `apps`, `groups`, `fields`, `reading`, `errors` | what all kinds share: names, groups, fields, reader, what is wrong |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from vault.profile.apps import (
    AUDIT_APP,
    CARD_APP,
    COMMIT_APP,
    CONTENT_APPS,
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

if TYPE_CHECKING:
    from vault.profile.audit import AuditRecord
    from vault.profile.content import MAX_CHUNKS, MAX_DIRECT_BYTES, Chunk
    from vault.profile.contents import Data, Manifest, Tree, read_data
    from vault.profile.errors import ProfileError
    from vault.profile.fields import NUMBER_LIMIT, plain_text
    from vault.profile.groups import check_group_id, group_id, private_group
    from vault.profile.lines import MAX_PARENTS, Commit, Revision
    from vault.profile.log import MAX_ENTRIES, LogEntry
    from vault.profile.people import MAX_KEPT, Founding, Member, NodeCard, Request, Revocation
    from vault.profile.reading import APPS, ProfileValue, read, recent
    from vault.profile.releases import LabelRecord, Release, Resolution

__all__ = [
    "APPS",
    "AUDIT_APP",
    "CARD_APP",
    "COMMIT_APP",
    "CONTENT_APPS",
    "DATA_APP",
    "FOUNDING_APP",
    "LABEL_APP",
    "LOG_APP",
    "MAX_CHUNKS",
    "MAX_DIRECT_BYTES",
    "MAX_ENTRIES",
    "MAX_KEPT",
    "MAX_PARENTS",
    "MEMBER_APP",
    "NUMBER_LIMIT",
    "RELEASE_APP",
    "REQUEST_APP",
    "RESOLUTION_APP",
    "REVISION_APP",
    "REVOCATION_APP",
    "TREE_APP",
    "AuditRecord",
    "Chunk",
    "Commit",
    "Data",
    "Founding",
    "LabelRecord",
    "LogEntry",
    "Manifest",
    "Member",
    "NodeCard",
    "ProfileError",
    "ProfileValue",
    "Release",
    "Request",
    "Resolution",
    "Revision",
    "Revocation",
    "Tree",
    "check_group_id",
    "group_id",
    "plain_text",
    "private_group",
    "read",
    "read_data",
    "recent",
]

# Where each name stands. A command meets few kinds of records, and each kind takes as long to make as a small query:
# who names one only for what it hardly ever meets asks for it there, as `profile.Member`.
_OFFERED = {
    "audit": ("AuditRecord",),
    "content": (
        "MAX_CHUNKS",
        "MAX_DIRECT_BYTES",
        "Chunk",
    ),
    "contents": (
        "Data",
        "Manifest",
        "Tree",
        "read_data",
    ),
    "errors": ("ProfileError",),
    "fields": (
        "NUMBER_LIMIT",
        "plain_text",
    ),
    "groups": (
        "check_group_id",
        "group_id",
        "private_group",
    ),
    "lines": (
        "MAX_PARENTS",
        "Commit",
        "Revision",
    ),
    "log": (
        "MAX_ENTRIES",
        "LogEntry",
    ),
    "people": (
        "MAX_KEPT",
        "Founding",
        "Member",
        "NodeCard",
        "Request",
        "Revocation",
    ),
    "releases": (
        "LabelRecord",
        "Release",
        "Resolution",
    ),
    "reading": (
        "APPS",
        "ProfileValue",
        "read",
        "recent",
    ),
}
_WHERE = {name: module for module, names in _OFFERED.items() for name in names}


def __getattr__(name: str) -> object:
    """Return one of the names offered here, when it is first asked for."""
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found
