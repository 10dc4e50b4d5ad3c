"""Exactly one stored record from bytes, with everything about it verified (REC-1..61, REC-82, REC-83)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from vault.records.errors import DataTruncatedError, TrailingBytesError
from vault.records.hashes import payload_digest
from vault.records.head import BLANK, MAX_HEAD_BYTES, build, check_signature, judge, read_head
from vault.records.model import Plex, Record, Seal

__all__ = ["parse_record", "verify_seal"]


@cache
def _plainly() -> Callable[[bytes, int], Plex | Seal | None]:
    from vault.records.plain import plain_record  # its patterns are large, and a commit reads no record

    return plain_record


def parse_record(data: bytes, *, verify: bool = True) -> Record:
    """Return the record that `data` is the stored form of.

    The form, all digests and the signature are checked; whatever is returned encodes to `data` again
    (REC-83).

    Args:
        data: the whole stored record and nothing else.
        verify: False leaves out the signature, for bytes whose signature this vault verified before.

    Raises:
        RecordError: the bytes are not a valid record; the class says which rule they break.
    """
    end = data.find(BLANK, 0, MAX_HEAD_BYTES)
    if end < 0:
        head = read_head(data[:MAX_HEAD_BYTES], is_whole=False)
    else:
        found = _plainly()(data, end)
        if found is not None:
            if verify and isinstance(found, Seal):
                verify_seal(found)
            return found
        head = read_head(data[: end + len(BLANK)], is_whole=True)
    missing = head.size + head.length - len(data)
    if missing > 0:
        raise DataTruncatedError(f"{missing} of the {head.length} data bytes of {head.claimed[0].text} are missing")
    if missing < 0:
        raise TrailingBytesError(f"{-missing} bytes follow the record {head.claimed[0].text}")
    view = memoryview(data)
    judge(head, [payload_digest(view[offset:]) for offset in head.offsets], verify=verify)
    return build(head, data[head.size :])


def verify_seal(seal: Seal) -> None:
    """Refuse a Seal whose signature is not its signer's over its Plex (REC-39, REC-40).

    Raises:
        SignatureInvalidError: it is not.
    """
    check_signature(seal.signer, seal.signature, seal.plex.hash)
