"""The three records as frozen values: Blob, Plex and Seal (REC-24..41, REC-58..61).

A value knows its canonical payload, its stored bytes and its hash. The hash is computed once, when first
asked for; a parsed record brings along the one that was verified. Nothing here says that a record is
authorised, selected or even claimed: a Seal tells who signed one version and no more (REC-35, REC-41).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Self

from blake3 import blake3

from vault.records import b64a
from vault.records.coordinates import check_coordinate
from vault.records.errors import (
    BlobTooLargeError,
    ExtraOrderError,
    ExtraReservedError,
    ExtraSplitError,
    ExtraTooManyError,
    SignatureTextError,
)
from vault.records.hashes import SIGNATURE_BYTES, RecordHash, Verifier
from vault.records.headers import check_pairs
from vault.records.quoting import shown
from vault.records.tai import Tai

if TYPE_CHECKING:
    from vault.suite import SigningKey

__all__ = [
    "MAX_BLOB_BYTES",
    "MAX_EXTRAS",
    "RESERVED_NAMES",
    "Blob",
    "Plex",
    "Record",
    "Seal",
    "check_extras",
    "make_blob",
    "make_plex",
    "make_seal",
    "plex_headers",
    "seal_headers",
]

MAX_BLOB_BYTES = 33_554_432  # 32 MiB (REC-27)
MAX_EXTRAS = 512  # REC-60
RESERVED_NAMES = frozenset({"Data-Length", "Group", "App", "Name", "TAI", "Signed-By", "Signature", "🖧", "⋯🖧"})

_set = object.__setattr__
_new = tuple.__new__
_name_of = itemgetter(0)  # of a header


def _hash_of(kind: str, parts: Iterable[bytes]) -> RecordHash:
    hasher = blake3()
    for part in parts:
        hasher.update(part)
    return _new(RecordHash, (kind, hasher.digest()))


@dataclass(frozen=True, slots=True)
class Blob:
    """Opaque bytes (REC-24, REC-28).

    Args:
        data: at most 32 MiB.

    Raises:
        BlobTooLargeError: the data is larger (REC-27).
    """

    data: bytes = field(repr=False)
    _hash: RecordHash | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.data) > MAX_BLOB_BYTES:
            raise BlobTooLargeError(f"a Blob holds at most {MAX_BLOB_BYTES} bytes, not {len(self.data)}")

    @property
    def hash(self) -> RecordHash:
        """The Blob's identity."""
        if self._hash is None:
            _set(self, "_hash", _hash_of("B", self.parts()))
        return self._hash  # type: ignore[return-value]

    @property
    def payload(self) -> bytes:
        """The canonical payload: Data-Length, a blank line, the data."""
        return b"".join(self.parts())

    def encode(self) -> bytes:
        """Return the stored record: the markline and the payload."""
        return b"".join((self.hash.markline, *self.parts()))

    def parts(self) -> tuple[bytes, ...]:
        """Return the payload in pieces, so that large data are hashed and written without a copy."""
        return (b"Data-Length: %d\n\n" % len(self.data), self.data)

    def __repr__(self) -> str:
        return f"Blob({len(self.data)} bytes)"


def check_extras(extras: Iterable[tuple[str, str]]) -> None:
    """Refuse extra headers that break REC-58..61; each is known to be a valid header.

    Raises:
        RecordError: the class says which rule.
    """
    previous = ""
    count = 0
    seen = []
    for name, _ in extras:
        count += 1
        if name == previous:
            continue
        if name < previous:  # text order is the order of the UTF-8 bytes
            if name in seen:
                raise ExtraSplitError(f"the extra headers named {shown(name)} do not stand together")
            raise ExtraOrderError(f"the extra header {shown(name)} stands after {shown(previous)}")
        if name in RESERVED_NAMES:
            raise ExtraReservedError(f"{shown(name)} is a reserved name and cannot be an extra header")
        seen.append(name)
        previous = name
    if count > MAX_EXTRAS:
        raise ExtraTooManyError(f"a Plex has at most {MAX_EXTRAS} extra headers, not {count}")


@dataclass(frozen=True, slots=True)
class Plex:
    """One version of something at a coordinate, with headers and a Blob (REC-29..36).

    Args:
        group: where in the circle, such as `friends/<tag>`.
        app: what kind of record, such as `lace/commit`.
        name: which one.
        tai: when; orders versions and proves nothing (REC-45).
        extras: further headers, sorted by name; those of one name keep the order given (REC-58, REC-59).
        blob: the embedded Blob.

    Raises:
        RecordError: a field breaks a rule; the class says which.
    """

    group: str
    app: str
    name: str
    tai: Tai
    extras: tuple[tuple[str, str], ...]
    blob: Blob
    _hash: RecordHash | None = field(default=None, init=False, repr=False, compare=False)
    _stored: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_pairs((("Group", self.group), ("App", self.app), ("Name", self.name), *self.extras))
        check_coordinate(self.group, self.app, self.name)
        check_extras(self.extras)

    @classmethod
    def build(
        cls,
        *,
        group: str,
        app: str,
        name: str,
        tai: Tai,
        extras: Iterable[tuple[str, str]] = (),
        data: bytes = b"",
    ) -> Self:
        """Return a Plex over `data`; `extras` may come in any order of names and are sorted here.

        Raises:
            RecordError: a field breaks a rule; the class says which.
        """
        return cls(group, app, name, tai, tuple(sorted(extras, key=_name_of)), Blob(data))

    @property
    def hash(self) -> RecordHash:
        """The Plex's identity; a Seal signs its digest."""
        if self._hash is None:
            _set(self, "_hash", _hash_of("P", self.parts()))
        return self._hash  # type: ignore[return-value]

    @property
    def payload(self) -> bytes:
        """The canonical payload: all headers, then the embedded Blob with its markline (REC-30)."""
        return b"".join(self.parts())

    def first(self, name: str) -> str | None:
        """Return the value of the first extra header of this name, or None."""
        for found, value in self.extras:
            if found == name:
                return value
        return None

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of all extra headers of this name, in order."""
        return tuple(value for found, value in self.extras if found == name)

    def encode(self) -> bytes:
        """Return the stored record: the markline and the payload."""
        if self._stored is not None:
            return self._stored
        return b"".join((self.hash.markline, *self.parts()))

    def parts(self) -> tuple[bytes, ...]:
        """Return the payload in pieces, so that large data are hashed and written without a copy."""
        return (plex_headers(self), self.blob.hash.markline, *self.blob.parts())


@dataclass(frozen=True, slots=True)
class Seal:
    """A signature over one Plex (REC-37..41).

    A parsed Seal was verified. One made here is as good as its arguments: `Seal.sign` makes valid ones, and
    `vault.records.verify_seal` checks any.

    Args:
        signer: whose signature it is.
        signature: 64 bytes over the Plex's digest.
        plex: the embedded Plex.

    Raises:
        SignatureTextError: the signature has not 64 bytes.
    """

    signer: Verifier
    signature: bytes = field(repr=False)
    plex: Plex
    _hash: RecordHash | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.signature) != SIGNATURE_BYTES:
            raise SignatureTextError(f"a signature has {SIGNATURE_BYTES} bytes, not {len(self.signature)}")

    @classmethod
    def sign(cls, plex: Plex, signing_key: SigningKey) -> Self:
        """Return the Plex sealed with a key (REC-39)."""
        return cls(signing_key.verifier, signing_key.sign_digest(plex.hash.digest), plex)

    @classmethod
    def sign_stored(cls, plex: Plex, signing_key: SigningKey) -> tuple[Self, bytes]:
        """Return the Plex sealed with a key, and the stored record; each part of it is written and hashed once."""
        body = plex.payload
        _set(plex, "_hash", _new(RecordHash, ("P", blake3(body).digest())))
        sealed = cls(signing_key.verifier, signing_key.sign_digest(plex.hash.digest), plex)
        payload = b"".join((seal_headers(sealed), plex.hash.markline, body))
        _set(sealed, "_hash", _new(RecordHash, ("S", blake3(payload).digest())))
        return sealed, sealed.hash.markline + payload

    @property
    def hash(self) -> RecordHash:
        """The Seal's identity."""
        if self._hash is None:
            _set(self, "_hash", _hash_of("S", self.parts()))
        return self._hash  # type: ignore[return-value]

    @property
    def payload(self) -> bytes:
        """The canonical payload: Signed-By, Signature, the embedded Plex with its markline."""
        return b"".join(self.parts())

    def encode(self) -> bytes:
        """Return the stored record: the markline and the payload."""
        return b"".join((self.hash.markline, *self.parts()))

    def parts(self) -> tuple[bytes, ...]:
        """Return the payload in pieces, so that large data are hashed and written without a copy."""
        return (seal_headers(self), self.plex.hash.markline, *self.plex.parts())


Record = Blob | Plex | Seal


def plex_headers(plex: Plex) -> bytes:
    """Return the header lines of a Plex, up to the embedded markline."""
    lines = [f"Group: {plex.group}\nApp: {plex.app}\nName: {plex.name}\nTAI: {plex.tai.text}\n"]
    lines += [f"{name}: {value}\n" for name, value in plex.extras]
    return "".join(lines).encode()


def seal_headers(seal: Seal) -> bytes:
    """Return the header lines of a Seal, up to the embedded markline."""
    return f"Signed-By: {seal.signer.text}\nSignature: {b64a.encode(seal.signature)}\n".encode()


# What sets one field of a frozen value, found once: a sync makes a hundred thousand of them from checked parts.
_plex_group, _plex_app, _plex_name, _plex_tai, _plex_extras, _plex_blob, _plex_hash, _plex_stored = (
    Plex.__dict__[name].__set__ for name in ("group", "app", "name", "tai", "extras", "blob", "_hash", "_stored")
)
_blob_data, _blob_hash = (Blob.__dict__[name].__set__ for name in ("data", "_hash"))
_seal_signer, _seal_signature, _seal_plex, _seal_hash = (
    Seal.__dict__[name].__set__ for name in ("signer", "signature", "plex", "_hash")
)


def make_blob(data: bytes, record_hash: RecordHash) -> Blob:
    """Return a Blob of checked parts under its verified hash; for the parser, which checked everything."""
    blob = object.__new__(Blob)
    _blob_data(blob, data)
    _blob_hash(blob, record_hash)
    return blob


def make_plex(
    coordinate: tuple[str, str, str],
    tai: Tai,
    extras: tuple[tuple[str, str], ...],
    blob: Blob,
    record_hash: RecordHash,
    stored: bytes | None = None,
) -> Plex:
    """Return a Plex of checked parts under its verified hash; for the parser, which checked everything.

    Args:
        coordinate: Group, App and Name.
        tai: when.
        extras: further headers.
        blob: the embedded Blob.
        record_hash: the hash of all of it.
        stored: the stored record, where it was put together for the hash and is asked for soon.
    """
    plex = object.__new__(Plex)
    group, app, name = coordinate
    _plex_group(plex, group)
    _plex_app(plex, app)
    _plex_name(plex, name)
    _plex_tai(plex, tai)
    _plex_extras(plex, extras)
    _plex_blob(plex, blob)
    _plex_hash(plex, record_hash)
    _plex_stored(plex, stored)
    return plex


def make_seal(signer: Verifier, signature: bytes, plex: Plex, record_hash: RecordHash) -> Seal:
    """Return a Seal of checked parts under its verified hash; for the parser, which checked everything."""
    seal = object.__new__(Seal)
    _seal_signer(seal, signer)
    _seal_signature(seal, signature)
    _seal_plex(seal, plex)
    _seal_hash(seal, record_hash)
    return seal
