"""Content and tree pages as records: one content is one record (docs/formats.md section 1).

A folder of ten thousand files makes ten thousand of these, so nothing is validated that is known by
construction: only the group comes from outside.
"""

from __future__ import annotations

from functools import lru_cache

from blake3 import blake3

from vault.records import MAX_BLOB_BYTES, Plex, RecordHash, Tai, b64a
from vault.records.coordinates import check_group
from vault.records.errors import BlobTooLargeError
from vault.records.headers import check_value
from vault.records.model import make_blob, make_plex

__all__ = ["DATA_APP", "MAX_CONTENT_BYTES", "TREE_APP", "data_plex", "tree_plex"]

DATA_APP = "lace/data"
TREE_APP = "lace/tree"
MAX_CONTENT_BYTES = MAX_BLOB_BYTES  # profile 0 has no manifests: one file is one Blob
_JOIN_BYTES = 65_536  # below this one joined hash call is cheaper than several
_TAIL = f"\nTAI: {Tai.ZERO.text}\n".encode()


@lru_cache(maxsize=64)
def _head(group: str, app: str) -> bytes:
    check_value(group)
    check_group(group)
    return f"Group: {group}\nApp: {app}\nName: ".encode()


def _plex(group: str, app: str, data: bytes) -> Plex:
    if len(data) > MAX_CONTENT_BYTES:
        raise BlobTooLargeError(f"a Blob holds at most {MAX_BLOB_BYTES} bytes, not {len(data)}")
    name = b64a.encode(blake3(data).digest())
    length = b"Data-Length: %d\n\n" % len(data)
    if len(data) <= _JOIN_BYTES:
        body = length + data
        blob_hash = RecordHash("B", blake3(body).digest())
        head = b"".join((_head(group, app), name.encode(), _TAIL, blob_hash.markline, body))
        digest = blake3(head).digest()
    else:
        blob_hash = RecordHash("B", blake3(length).update(data).digest())
        head = b"".join((_head(group, app), name.encode(), _TAIL, blob_hash.markline, length))
        digest = blake3(head).update(data).digest()
    return make_plex((group, app, name), Tai.ZERO, (), make_blob(data, blob_hash), RecordHash("P", digest))


def data_plex(group: str, content: bytes) -> Plex:
    """Return the data record of a content, at most 32 MiB (CLAY-12, CLAY-35).

    Raises:
        RecordError: the group is no group, or the content is too large.
    """
    return _plex(group, DATA_APP, content)


def tree_plex(group: str, body: bytes) -> Plex:
    """Return the tree record of a page body; see `vault.desks.tree`.

    Raises:
        RecordError: the group is no group, or the body is too large.
    """
    return _plex(group, TREE_APP, body)
