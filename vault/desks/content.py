"""Small content and tree pages as records: one content is one record (docs/formats.md section 1).

A folder of ten thousand files makes ten thousand of these, so nothing is validated that is known by
construction: only the group comes from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Self, cast

from blake3 import blake3

from vault.profile import DATA_APP, MAX_DIRECT_BYTES, TREE_APP
from vault.records import MAX_BLOB_BYTES, Plex, RecordHash, Tai, b64a
from vault.records.coordinates import check_group
from vault.records.errors import BlobTooLargeError
from vault.records.hashes import MARK, MARKLINE_BYTES, is_record
from vault.records.headers import check_value
from vault.records.model import make_blob, make_plex

__all__ = ["MAX_SMALL_BYTES", "Contents", "MadeHash"]
__all__ += ["data_plex", "known_data", "tree_plex"]

MAX_SMALL_BYTES = 3_072  # of a content whose record rests in a row: some hundred bytes more
_JOIN_BYTES = 65_536  # below this one joined hash call is cheaper than several
_KEPT_BYTES = 16_384  # up to this what was joined is kept: it is stored next, and joined no second time
_DIGEST_TEXT = 43  # characters of a digest in B64A
_LENGTH_BYTES = 24  # of the line Data-Length, its two line ends included
_TAIL = f"\nTAI: {Tai.ZERO.text}\n".encode()
_TO_BLOB, _TO_PLEX, _MARK_END = _TAIL + f"{MARK}B.".encode(), f"{MARK}P.".encode(), b".H3\n"  # around 43 symbols


_new = tuple.__new__


class MadeHash(RecordHash):
    """The hash of a data record that was just made of its content, with what was worked out on the way.

    It equals the bare hash. Who hands it on with the bytes of the record saves `known_data` to work that out again.

    Attributes:
        name: what the record's `Name` says.
        blob: the digest of its Blob, which its bytes say too.
        size: bytes of the content.
    """

    name: str
    blob: bytes
    size: int

    @classmethod
    def of_content(cls, digest: bytes, name: str, blob: bytes, size: int) -> Self:
        """Return the hash with this digest, computed over all bytes of the record."""
        made = _new(cls, ("P", digest))
        made.name, made.blob, made.size = name, blob, size
        return made


@lru_cache(maxsize=64)
def _head(group: str, app: str) -> bytes:
    check_value(group)
    check_group(group)
    return f"Group: {group}\nApp: {app}\nName: ".encode()


def _joined(group: str, app: str, data: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Return Name, the digest of the Blob, the digest of the record and its stored bytes, for data of little size."""
    name = b64a.symbols(blake3(data).digest())
    body = b"Data-Length: %d\n\n%b" % (len(data), data)
    blob = blake3(body).digest()
    payload = b"".join((_head(group, app), name, _TO_BLOB, b64a.symbols(blob), _MARK_END, body))
    digest = blake3(payload).digest()
    return name, blob, digest, b"".join((_TO_PLEX, b64a.symbols(digest), _MARK_END, payload))


def _plex(group: str, app: str, data: bytes, limit: int) -> Plex:
    if len(data) > limit:
        raise BlobTooLargeError(f"a record of kind {app} holds at most {limit} bytes, not {len(data)}")
    if len(data) <= _KEPT_BYTES:
        name, blob, digest, stored = _joined(group, app, data)
        return _made(group, app, name, data, blob, digest, stored)
    name = b64a.symbols(blake3(data).digest())
    length = b"Data-Length: %d\n\n" % len(data)
    # Below some size one joined hash call is cheaper than several.
    first, rest = (length + data, b"") if len(data) <= _JOIN_BYTES else (length, data)
    blob = blake3(first).update(rest).digest()
    head = b"".join((_head(group, app), name, _TO_BLOB, b64a.symbols(blob), _MARK_END, first))
    return _made(group, app, name, data, blob, blake3(head).update(rest).digest(), None)


def _made(group: str, app: str, name: bytes, data: bytes, blob: bytes, digest: bytes, stored: bytes | None) -> Plex:
    content = make_blob(data, _new(RecordHash, ("B", blob)))
    record = _new(RecordHash, ("P", digest))
    return make_plex((group, app, name.decode()), Tai.ZERO, (), content, record, stored)


class Contents:
    """Data records of small contents of one group, as columns: of thousands of files none becomes an object.

    Args:
        group: the full group id.

    Attributes:
        group: the same.
        records: the hashes.
        stored: the stored bytes, which end with the content.
        sizes: bytes of the contents.
    """

    __slots__ = ("group", "records", "sizes", "stored")

    def __init__(self, group: str) -> None:
        self.group = group
        self.records: list[RecordHash] = []
        self.stored: list[bytes] = []
        self.sizes: list[int] = []

    def __len__(self) -> int:
        return len(self.records)

    def chosen(self, which: Sequence[bool]) -> Self:
        """Return some of them."""
        some = type(self)(self.group)
        some.records = list(compress(self.records, which))
        some.stored = list(compress(self.stored, which))
        some.sizes = list(compress(self.sizes, which))
        return some

    def take(self, record: RecordHash, stored: bytes) -> bool:
        """Take a data record that came as its content alone, if it is small and of this group; tell whether.

        Args:
            record: its hash; of a `MadeHash` alone it is known that the record is one of content and nothing else.
            stored: its bytes, which carry that hash.
        """
        size = record.size if isinstance(record, MadeHash) else -1
        if not 0 <= size <= MAX_SMALL_BYTES or not stored.startswith(_head(self.group, DATA_APP), MARKLINE_BYTES):
            return False
        self.records.append(_new(RecordHash, record))
        self.stored.append(stored)
        self.sizes.append(size)
        return True

    def add(self, content: bytes) -> RecordHash:
        """Take a content of at most `MAX_SMALL_BYTES`; return the hash of its data record, as `data_plex` makes it."""
        _, _, digest, stored = _joined(self.group, DATA_APP, content)
        record = _new(RecordHash, ("P", digest))
        self.records.append(record)
        self.stored.append(stored)
        self.sizes.append(len(content))
        return record


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
