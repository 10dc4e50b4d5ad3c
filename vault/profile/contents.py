"""The values of what is shared: data, manifests and trees (docs/formats.md section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from vault.profile.apps import DATA_APP, TREE_APP
from vault.profile.content import (
    MAX_CHUNKS,
    Chunk,
    bare,
    check_direct,
    content_digest,
)
from vault.profile.errors import ProfileError
from vault.profile.fields import NUMBER_LIMIT, decimal, describe, headers, no_body, raw, required
from vault.profile.groups import check_group_id
from vault.records import Plex, Record, RecordError, RecordHash, Tai, b64a

__all__ = ["Data", "Manifest", "Tree", "Unsigned", "read_data"]

_MAX_LEVEL = 8
_DIGEST_BYTES = 32
_CHUNK_LINK = "Chunk+Link"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)  # each kind makes its own
class Unsigned:
    """What every unsigned kind has: equal content is one record, whoever made it.

    Args:
        hash: hash of the Plex.
        group: the group id.
        digest: 32 bytes, what the record's `Name` says.

    Raises:
        ProfileError: a field breaks a rule of docs/formats.md.
    """

    APP: ClassVar[str] = ""

    hash: RecordHash
    group: str
    digest: bytes

    def __post_init__(self) -> None:
        check_group_id(self.group)
        self._check()

    def _check(self) -> None:
        """Refuse fields that break a rule of the kind."""

    @property
    def signer(self) -> None:
        """Nobody: the record proves nothing by itself."""
        return

    @property
    def tai(self) -> Tai:
        """All zero, so that the record depends on its content alone."""
        return Tai.ZERO


@dataclass(frozen=True, slots=True)
class Data(Unsigned):
    """The bytes of one file or part of a file.

    Args:
        content: at most 256 KiB.
    """

    APP: ClassVar[str] = DATA_APP

    content: bytes = field(repr=False)

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated record with direct content.

        Raises:
            ProfileError: it is a manifest, or breaks a rule.
        """
        plex = bare(record, DATA_APP)
        check_direct(plex)
        return cls(plex.hash, plex.group, content_digest(plex), plex.blob.data)


@dataclass(frozen=True, slots=True)
class Tree(Unsigned):
    """One page of a directory; `vault.desks` reads its lines.

    Args:
        body: the page (docs/formats.md section 2).
    """

    APP: ClassVar[str] = TREE_APP

    body: bytes = field(repr=False)

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated record of a page, whose lines are not looked at.

        Raises:
            ProfileError: it breaks a rule.
        """
        plex = bare(record, TREE_APP)
        return cls(plex.hash, plex.group, content_digest(plex), plex.blob.data)


@dataclass(frozen=True, slots=True)
class Manifest(Unsigned):
    """Content in parts; `vault.desks.cutting` makes and `chunks` reads them.

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
        plex = bare(record, DATA_APP)
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
        level = decimal(required(found, "Level"), "Level", below=_MAX_LEVEL + 1)
        return cls(plex.hash, plex.group, raw(plex.name, _DIGEST_BYTES, "Name"), level, tuple(chunks))

    @property
    def size(self) -> int:
        """Bytes of the whole content."""
        return sum(chunk.length for chunk in self.chunks)

    def _check(self) -> None:
        if not 1 <= self.level <= _MAX_LEVEL:
            raise ProfileError(f"its Level {self.level} is not between 1 and {_MAX_LEVEL}")
        if not 1 <= len(self.chunks) <= MAX_CHUNKS:
            raise ProfileError(f"it has {len(self.chunks)} chunks, and 1 to {MAX_CHUNKS} are allowed")
        for length, target in self.chunks:
            if target.kind != "P" or not 1 <= length < NUMBER_LIMIT:
                raise ProfileError(f"its chunk of {length} bytes, {target.text}, is not a part of content")


def read_data(record: Record) -> Data | Manifest:
    """Return the value of a `lace/data` record: content has no extra header, a manifest has no body.

    Raises:
        ProfileError: it breaks a rule.
    """
    if isinstance(record, Plex) and record.extras and not record.blob.data:
        return Manifest.read(record)
    return Data.read(record)
