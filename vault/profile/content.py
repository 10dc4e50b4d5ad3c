"""What is shared: data, manifests and trees, unsigned and named by digest (docs/formats.md section 1).

One content is exactly one record, so nothing in these records is free: `TAI` is all zero, and no header
beyond the named ones is allowed. Reading data costs one BLAKE3 over the content and little else, because a
sync reads a hundred thousand of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

from blake3 import blake3

from vault.profile.errors import ProfileError
from vault.profile.fields import NUMBER_LIMIT, Unsigned, decimal, describe, headers, no_body, raw, required
from vault.records import Plex, Record, RecordError, RecordHash, Tai, b64a

__all__ = [
    "DATA_APP",
    "MAX_CHUNKS",
    "MAX_DIRECT_BYTES",
    "MAX_LEVEL",
    "TREE_APP",
    "Chunk",
    "Data",
    "Manifest",
    "Tree",
    "check_data",
    "data_plex",
    "read_data",
]

DATA_APP = "lace/data"
TREE_APP = "lace/tree"
MAX_DIRECT_BYTES = 256 << 10  # above it a content is a manifest, and only a manifest
MAX_CHUNKS = 500  # links of one manifest level; a Plex has at most 512 extra headers
MAX_LEVEL = 8
_DIGEST_BYTES = 32
_CHUNK_LINK = "Chunk+Link"


@dataclass(frozen=True, slots=True)
class Data(Unsigned):
    """The bytes of one file or part of a file.

    Args:
        content: at most 256 KiB.
    """

    APP: ClassVar[str] = DATA_APP

    content: bytes = field(repr=False)

    @classmethod
    def to_plex(cls, *, group: str, content: bytes) -> Plex:
        """Return the one record of this content in this group.

        Raises:
            ProfileError: the content is larger than 256 KiB.
        """
        plex = _digest_plex(DATA_APP, group, content)
        _check_direct(plex)
        return plex

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated record with direct content.

        Raises:
            ProfileError: it is a manifest, or breaks a rule.
        """
        plex = _bare(record, DATA_APP)
        _check_direct(plex)
        return cls(plex.hash, plex.group, _content_digest(plex), plex.blob.data)


@dataclass(frozen=True, slots=True)
class Tree(Unsigned):
    """One page of a directory; `vault.desks` reads its lines.

    Args:
        body: the page (docs/formats.md section 2).
    """

    APP: ClassVar[str] = TREE_APP

    body: bytes = field(repr=False)

    @classmethod
    def to_plex(cls, *, group: str, body: bytes) -> Plex:
        """Return the one record of this page in this group.

        Raises:
            RecordError: the body is larger than 32 MiB.
        """
        return _digest_plex(TREE_APP, group, body)

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated record of a page, whose lines are not looked at.

        Raises:
            ProfileError: it breaks a rule.
        """
        plex = _bare(record, TREE_APP)
        return cls(plex.hash, plex.group, _content_digest(plex), plex.blob.data)


class Chunk(NamedTuple):
    """One part of a manifest's content: its bytes below, and the data or lower manifest that holds them."""

    length: int
    target: RecordHash


@dataclass(frozen=True, slots=True)
class Manifest(Unsigned):
    """Content in parts; `vault.desks.chunks` makes and reads them.

    Args:
        level: 1 when the chunks are data, one more than its chunks' level otherwise.
        chunks: 1 to 500, in the order of the content.
    """

    APP: ClassVar[str] = DATA_APP

    level: int
    chunks: tuple[Chunk, ...]

    @classmethod
    def to_plex(cls, *, group: str, digest: bytes, level: int, chunks: Sequence[Chunk]) -> Plex:
        """Return the record of a content with this BLAKE3 digest, cut into these chunks.

        Raises:
            ProfileError: the level, the number of chunks or one of them is not allowed.
        """
        extras = [(_CHUNK_LINK, f"{chunk.length} {chunk.target.text}") for chunk in chunks]
        extras += [("Content-Length", str(sum(chunk.length for chunk in chunks))), ("Level", str(level))]
        plex = Plex.build(group=group, app=DATA_APP, name=b64a.encode(digest), tai=Tai.ZERO, extras=extras)
        cls.read(plex)
        return plex

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated manifest.

        Raises:
            ProfileError: it breaks a rule.
        """
        plex = _bare(record, DATA_APP)
        try:
            return cls._of(plex)
        except ProfileError as fault:
            raise ProfileError(fault.rule, describe(plex)) from fault
        except RecordError as fault:
            raise ProfileError(fault.message, describe(plex)) from fault

    @classmethod
    def _of(cls, plex: Plex) -> Self:
        no_body(plex)
        found = headers(plex, "Content-Length", "Level")
        chunks = []
        for name, value in plex.extras:
            if name == _CHUNK_LINK:
                length, _, target = value.rpartition(" ")
                chunks.append(Chunk(decimal(length, "chunk length"), RecordHash.parse(target)))
            elif name not in found:
                raise ProfileError(f"it has a header {name}, which a manifest must not have")
        size = decimal(required(found, "Content-Length"), "Content-Length")
        if size != sum(chunk.length for chunk in chunks):
            raise ProfileError(f"its chunks do not add up to its Content-Length {size}")
        level = decimal(required(found, "Level"), "Level", below=MAX_LEVEL + 1)
        return cls(plex.hash, plex.group, raw(plex.name, _DIGEST_BYTES, "Name"), level, tuple(chunks))

    @property
    def size(self) -> int:
        """Bytes of the whole content."""
        return sum(chunk.length for chunk in self.chunks)

    def _check(self) -> None:
        if not 1 <= self.level <= MAX_LEVEL:
            raise ProfileError(f"its Level {self.level} is not between 1 and {MAX_LEVEL}")
        if not 1 <= len(self.chunks) <= MAX_CHUNKS:
            raise ProfileError(f"it has {len(self.chunks)} chunks, and 1 to {MAX_CHUNKS} are allowed")
        for length, target in self.chunks:
            if target.kind != "P" or not 1 <= length < NUMBER_LIMIT:
                raise ProfileError(f"its chunk of {length} bytes, {target.text}, is not a part of content")


def data_plex(group: str, content: bytes) -> Plex:
    """Return the one `lace/data` record of this content in this group.

    Raises:
        ProfileError: the content is larger than 256 KiB.
    """
    return Data.to_plex(group=group, content=content)


def check_data(plex: Plex) -> bytes:
    """Return the digest of a `lace/data` record with direct content, proven against the content.

    Raises:
        ProfileError: `Name` is not the digest, `TAI` is not zero, there is an extra header, or it is more than
            256 KiB.
    """
    _check_direct(plex)
    return _content_digest(_bare(plex, DATA_APP))


def read_data(record: Record) -> Data | Manifest:
    """Return the value of a `lace/data` record: content has no extra header, a manifest has no body.

    Raises:
        ProfileError: it breaks a rule.
    """
    if isinstance(record, Plex) and record.extras and not record.blob.data:
        return Manifest.read(record)
    return Data.read(record)


def _digest_plex(app: str, group: str, body: bytes) -> Plex:
    return Plex.build(group=group, app=app, name=b64a.encode(_digest(body)), tai=Tai.ZERO, data=body)


def _digest(body: bytes) -> bytes:
    digest: bytes = blake3(body).digest()
    return digest


def _bare(record: Record, app: str) -> Plex:
    """Refuse what no unsigned kind may have."""
    if not isinstance(record, Plex):
        raise ProfileError(f"a record of App {app} is a bare Plex", describe(record))
    if record.app != app:
        raise ProfileError(f"its App is not {app}", describe(record))
    if record.tai != Tai.ZERO:
        raise ProfileError("its TAI is not all zero", describe(record))
    return record


def _check_direct(plex: Plex) -> None:
    size = len(plex.blob.data)
    if size > MAX_DIRECT_BYTES:
        raise ProfileError(f"it holds {size} bytes, and above {MAX_DIRECT_BYTES} a manifest must", describe(plex))


def _content_digest(plex: Plex) -> bytes:
    if plex.extras:
        raise ProfileError(f"it has an extra header {plex.extras[0][0]}", describe(plex))
    digest = _digest(plex.blob.data)
    if b64a.encode(digest) != plex.name:
        raise ProfileError(f"its Name {plex.name!r} is not the digest of its content", describe(plex))
    return digest
