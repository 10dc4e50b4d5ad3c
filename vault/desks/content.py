"""Small content and tree pages as records: one content is one record (docs/formats.md section 1).

A folder of ten thousand files makes ten thousand of these, so nothing is validated that is known by
construction: only the group comes from outside.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Self, cast

from blake3 import blake3

from vault.profile import DATA_APP, MAX_DIRECT_BYTES, TREE_APP
from vault.records import MAX_BLOB_BYTES, Plex, RecordHash, Tai, b64a
from vault.records.coordinates import check_group
from vault.records.errors import BlobTooLargeError
from vault.records.hashes import MARKLINE_BYTES, is_record
from vault.records.headers import check_value
from vault.records.model import make_blob, make_plex

__all__ = ["DATA_APP", "MAX_DIRECT_BYTES", "TREE_APP", "MadeHash", "data_plex", "known_data", "tree_plex"]

_JOIN_BYTES = 65_536  # below this one joined hash call is cheaper than several
_KEPT_BYTES = 16_384  # up to this what was joined is kept: it is stored next, and joined no second time
_DIGEST_TEXT = 43
_LENGTH_BYTES = 24  # of the line Data-Length, its two line ends included
_TAIL = f"\nTAI: {Tai.ZERO.text}\n".encode()


_new = tuple.__new__


class MadeHash(RecordHash):
    """The hash of a data record that was just made of its content, with what was worked out on the way.

    It equals the bare hash. Who hands it on with the bytes of the record saves `known_data` to work that out again.

    Attributes:
        name: what the record's `Name` says.
        blob: the digest of its Blob, which its bytes say too.
    """

    name: str
    blob: bytes

    @classmethod
    def of_content(cls, digest: bytes, name: str, blob: bytes) -> Self:
        """Return the hash with this digest, computed over all bytes of the record."""
        made = _new(cls, ("P", digest))
        made.name, made.blob = name, blob
        return made


@lru_cache(maxsize=64)
def _head(group: str, app: str) -> bytes:
    check_value(group)
    check_group(group)
    return f"Group: {group}\nApp: {app}\nName: ".encode()


def _plex(group: str, app: str, data: bytes, limit: int) -> Plex:
    if len(data) > limit:
        raise BlobTooLargeError(f"a record of kind {app} holds at most {limit} bytes, not {len(data)}")
    name = b64a.symbols(blake3(data).digest())
    length = b"Data-Length: %d\n\n" % len(data)
    stored = None
    if len(data) <= _JOIN_BYTES:
        body = length + data
        blob_hash = _new(RecordHash, ("B", blake3(body).digest()))
        payload = b"".join((_head(group, app), name, _TAIL, blob_hash.markline, body))
        record = _new(RecordHash, ("P", blake3(payload).digest()))
        if len(data) <= _KEPT_BYTES:
            stored = record.markline + payload
    else:
        blob_hash = _new(RecordHash, ("B", blake3(length).update(data).digest()))
        head = b"".join((_head(group, app), name, _TAIL, blob_hash.markline, length))
        record = _new(RecordHash, ("P", blake3(head).update(data).digest()))
    return make_plex((group, app, name.decode()), Tai.ZERO, (), make_blob(data, blob_hash), record, stored)


def data_plex(group: str, content: bytes) -> Plex:
    """Return the data record of a content of at most 256 KiB (CLAY-12, CLAY-35); see `vault.desks.cutting`.

    Raises:
        RecordError: the group is no group, or the content is too large.
    """
    return _plex(group, DATA_APP, content, MAX_DIRECT_BYTES)


def tree_plex(group: str, body: bytes) -> Plex:
    """Return the tree record of a page body; see `vault.desks.tree`.

    Raises:
        RecordError: the group is no group, or the body is too large.
    """
    return _plex(group, TREE_APP, body, MAX_BLOB_BYTES)


def known_data(group: str, record: RecordHash, stored: bytes, *, carried: bool) -> Plex | None:
    """Return the data record that these bytes are, if they are exactly the record of some content in this group.

    A sync brings a hundred thousand chunks. All but their bytes follows from the group and from two digests, so these
    are compared and nothing is parsed. What is anything else is left to the parser, which names the rule.

    Args:
        group: whose records are taken.
        record: its hash; what a `MadeHash` says counts where the bytes are known to carry it.
        stored: the bytes.
        carried: whether the bytes are known to carry the hash rightfully (`vault.records.hashes.is_record`).
    """
    head = _head(group, DATA_APP)
    if record.kind != "P" or not stored.startswith(head, MARKLINE_BYTES):
        return None
    blob_at = MARKLINE_BYTES + len(head) + _DIGEST_TEXT + len(_TAIL)
    length_at = blob_at + MARKLINE_BYTES
    start = stored.find(b"\n\n", length_at, length_at + _LENGTH_BYTES) + 2
    size = len(stored) - start
    if start < 2 or size > MAX_DIRECT_BYTES or not (carried or is_record(record, stored)):
        return None
    if carried and isinstance(record, MadeHash):  # bytes that carry the same hash are the same bytes
        content = make_blob(_inside(stored, start), _new(RecordHash, ("B", record.blob)))
        return make_plex((group, DATA_APP, record.name), Tai.ZERO, (), content, _new(RecordHash, record))
    view = memoryview(stored)
    blob = _new(RecordHash, ("B", blake3(view[length_at:]).digest()))
    name = b64a.encode(blake3(view[start:]).digest())
    made = b"".join((head, name.encode(), _TAIL, blob.markline, b"Data-Length: %d\n\n" % size))
    if stored[MARKLINE_BYTES:start] != made:
        return None
    return make_plex((group, DATA_APP, name), Tai.ZERO, (), make_blob(_inside(stored, start), blob), record)


def _inside(stored: bytes, start: int) -> bytes:
    """Return the data of a Blob; where they are many, without a copy beside the stored record that is kept anyhow."""
    if len(stored) <= _KEPT_BYTES:
        return stored[start:]
    return cast(bytes, memoryview(stored)[start:])  # it is read, digested and measured, and never changed or decoded
