"""What is shared: data, manifests and trees, unsigned and named by digest (docs/formats.md section 1).

One content is exactly one record, so nothing in these records is free: `TAI` is all zero, and no header
beyond the named ones is allowed. Reading data costs one BLAKE3 over the content and little else, because a
sync reads a hundred thousand of them. `vault.desks.content` makes them; their values stand in
`vault.profile.contents`, which a commit needs not.
"""

from __future__ import annotations

from typing import NamedTuple

from blake3 import blake3

from vault.profile.errors import ProfileError
from vault.profile.fields import describe
from vault.records import Plex, Record, RecordHash, Tai, b64a

__all__ = [
    "MAX_CHUNKS",
    "MAX_DIRECT_BYTES",
    "Chunk",
    "bare",
    "check_direct",
    "content_digest",
]

MAX_DIRECT_BYTES = 256 << 10  # above it a content is a manifest, and only a manifest
MAX_CHUNKS = 500  # links of one manifest level; a Plex has at most 512 extra headers


class Chunk(NamedTuple):
    """One part of a manifest's content: its bytes below, and the data or lower manifest that holds them."""

    length: int
    target: RecordHash


def _digest(body: bytes) -> bytes:
    digest: bytes = blake3(body).digest()
    return digest


def bare(record: Record, app: str) -> Plex:
    """Return the record as a Plex of that App.

    Raises:
        ProfileError: it has what no unsigned kind may have.
    """
    if not isinstance(record, Plex):
        raise ProfileError(f"a record of App {app} is a bare Plex", describe(record))
    if record.app != app:
        raise ProfileError(f"its App is not {app}", describe(record))
    if record.tai != Tai.ZERO:
        raise ProfileError("its TAI is not all zero", describe(record))
    return record


def check_direct(plex: Plex) -> None:
    """Refuse content that must be a manifest.

    Raises:
        ProfileError: it is larger than 256 KiB.
    """
    size = len(plex.blob.data)
    if size > MAX_DIRECT_BYTES:
        raise ProfileError(f"it holds {size} bytes, and above {MAX_DIRECT_BYTES} a manifest must", describe(plex))


def content_digest(plex: Plex) -> bytes:
    """Return the digest of a record's body, proven against it.

    Raises:
        ProfileError: its name is another, or it has an extra header.
    """
    if plex.extras:
        raise ProfileError(f"it has an extra header {plex.extras[0][0]}", describe(plex))
    digest = _digest(plex.blob.data)
    if b64a.encode(digest) != plex.name:
        raise ProfileError(f"its Name {plex.name!r} is not the digest of its content", describe(plex))
    return digest
