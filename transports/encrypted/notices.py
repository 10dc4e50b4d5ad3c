"""What an encrypted mailbox tells who may read it no more: the records that say so, sealed to them alone.

They prove themselves, so whoever put them there need not be believed, and nothing else of the medium is told by them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from itertools import islice

from transports.errors import BadEnvelope
from vault.records.hashes import Verifier
from vault.suite import seal_box

__all__ = ["NOTICES_LIMIT", "open_notices", "seal_notice", "split_notices", "written_notices"]

NOTICES_LIMIT = 64  # in one envelope
_BOX_LIMIT = 64 * 1024  # bytes of one
_WRITTEN_LIMIT = 256 * 1024  # bytes of all in one envelope: a head that is larger than a reader takes tells nothing
_RECORDS_LIMIT = 8  # of one notice
_STEP = 1024  # a notice is as long as a multiple of it: its length does not tell what somebody wrote
_U16 = struct.Struct(">H")
_U32 = struct.Struct(">I")


def seal_notice(node: Verifier, records: Iterable[bytes]) -> bytes | None:
    """Return stored records sealed to a node; None when nothing can be sealed to its key, or they are too long."""
    plain = b"".join(_U32.pack(len(record)) + record for record in records)
    plain += bytes(-len(plain) % _STEP)
    sealed = seal_box(node, plain)
    return sealed if sealed is not None and len(sealed) <= _BOX_LIMIT else None


def written_notices(notices: Iterable[bytes]) -> bytes:
    """Return sealed notices as they stand in an envelope; those are left out that are too many or too long for it."""
    some: list[bytes] = []
    left = _WRITTEN_LIMIT
    for notice in islice(notices, NOTICES_LIMIT):
        left -= _U32.size + len(notice)
        if left < 0:
            break
        some.append(notice)
    return _U16.pack(len(some)) + b"".join(_U32.pack(len(notice)) + notice for notice in some)


def split_notices(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the sealed notices that bytes begin with, and what follows them.

    Raises:
        BadEnvelope: there are more, or longer ones, than an envelope may have, or they end too early.
    """
    if len(data) < _U16.size or _U16.unpack_from(data)[0] > NOTICES_LIMIT:
        raise BadEnvelope("The envelope has no number of notices, or too great a one.")
    found, at = [], _U16.size
    for _ in range(_U16.unpack_from(data)[0]):
        size = _U32.unpack_from(data, at)[0] if len(data) - at >= _U32.size else _BOX_LIMIT + 1
        at += _U32.size
        if size > _BOX_LIMIT or len(data) - at < size:
            raise BadEnvelope("A notice in the envelope is too long, or ends too early.")
        found.append(data[at : at + size])
        at += size
    return found, data[at:]


def open_notices(notices: Iterable[bytes], open_box: Callable[[bytes], bytes | None]) -> list[bytes]:
    """Return the stored records of the notices that are sealed to this node; nobody has looked at them yet."""
    return [record for notice in notices if (plain := open_box(notice)) is not None for record in _records(plain)]


def _records(plain: bytes) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    while len(plain) - at >= _U32.size and len(found) < _RECORDS_LIMIT:
        size = _U32.unpack_from(plain, at)[0]
        at += _U32.size
        if not 0 < size <= len(plain) - at:
            break
        found.append(plain[at : at + size])
        at += size
    return found
