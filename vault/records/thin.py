"""The thin form: a Plex or Seal whose inner record is named but left out (REC-72..74).

A thin Plex is its markline, its headers and the markline of its Blob; a thin Seal is its markline,
`Signed-By`, `Signature` and the markline of its Plex. It is a short way of writing a record whose inner
record the reader has, and is never trusted as it stands: the full bytes are put together first and then
verified like any others.
"""

from __future__ import annotations

from collections.abc import Callable

from vault.records.errors import RecordError, ThinInnerError, ThinShapeError
from vault.records.hashes import MARK, MARKLINE_BYTES, RecordHash
from vault.records.model import Blob, Record, Seal, plex_headers, seal_headers
from vault.records.parse import parse_record

__all__ = ["rebuild", "thin"]

_MARK_BYTES = MARK.encode()


def thin(record: Record) -> bytes:
    """Return the thin form of a Plex or Seal.

    Raises:
        ThinShapeError: the record is a Blob, which holds no other.
    """
    if isinstance(record, Blob):
        raise ThinShapeError(f"the Blob {record.hash.text} has no inner record, so it has no thin form")
    if isinstance(record, Seal):
        return record.hash.markline + seal_headers(record) + record.plex.hash.markline
    return record.hash.markline + plex_headers(record) + record.blob.hash.markline


def rebuild(thin_bytes: bytes, lookup: Callable[[RecordHash], bytes | None], *, verify: bool = True) -> Record:
    """Return the full record of a thin one, verified like any other (REC-74).

    Args:
        thin_bytes: one thin record.
        lookup: gives the stored bytes of the inner record, or None if they are not here.
        verify: False leaves out the signature, for bytes whose signature this vault verified before.

    Raises:
        ThinShapeError: the bytes are not a thin record.
        ThinInnerError: the inner record is not here, or what the lookup gave is not it.
        RecordError: the rebuilt record is not valid.
    """
    outer, inner = thin_bytes[:-MARKLINE_BYTES], thin_bytes[-MARKLINE_BYTES:]
    if not (outer.startswith(_MARK_BYTES) and outer.endswith(b"\n") and _is_markline(inner)):
        raise ThinShapeError("the bytes are not a thin record: a markline, headers and the inner record's markline")
    wanted = RecordHash.parse(inner[len(_MARK_BYTES) : -1].decode())
    full = lookup(wanted)
    if full is None:
        raise ThinInnerError(f"the inner record {wanted.text} of a thin record is not here")
    if not full.startswith(inner):
        raise ThinInnerError(f"what was found for the inner record {wanted.text} is another record")
    record = parse_record(outer + full, verify=verify)
    # A full record whose data happens to end in a markline would pass up to here; it is not thin.
    if isinstance(record, Blob) or thin(record) != thin_bytes:
        raise ThinShapeError("the bytes are not a thin record: they hold more than headers and a markline")
    return record


def _is_markline(line: bytes) -> bool:
    if not line.startswith(_MARK_BYTES) or not line.endswith(b"\n"):
        return False
    try:
        RecordHash.parse(line[len(_MARK_BYTES) : -1].decode("ascii", "replace"))
    except RecordError:
        return False
    return True
