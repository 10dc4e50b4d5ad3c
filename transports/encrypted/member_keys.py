"""The keys of an encrypted medium: what they are, how they stand in envelopes, and what a vault does with them.

docs/formats.md section 4, "Encrypted mailboxes".
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from transports.errors import BadEnvelope
from vault.records.hashes import Verifier

__all__ = [
    "ID_BYTES",
    "KEYS_LIMIT",
    "KEY_BYTES",
    "Contents",
    "EpochKey",
    "Find",
    "MemberKeys",
    "WritingTerms",
    "keys_bytes",
    "read_keys",
]

KEY_BYTES = 32
ID_BYTES = 16
KEYS_LIMIT = 1024  # of an envelope
_HOLDERS_LIMIT = 4096  # nodes that may have one key
_U16 = struct.Struct(">H")


@dataclass(frozen=True, slots=True)
class EpochKey:
    """A key under which members write to one medium.

    Args:
        id: 16 random bytes that name it.
        key: 32 random bytes.
        holders: everybody it is known to have been sealed to.

    Raises:
        BadEnvelope: a length is wrong.
    """

    id: bytes
    key: bytes = field(repr=False)
    holders: frozenset[Verifier] = frozenset()

    def __post_init__(self) -> None:
        if len(self.id) != ID_BYTES or len(self.key) != KEY_BYTES or len(self.holders) > _HOLDERS_LIMIT:
            raise BadEnvelope("A key of the mailbox has the wrong size.")


class Contents(NamedTuple):
    """What an envelope holds: whose mailbox it is in, the record, and the keys its owner knows; the owner signed it.

    `key` is what opened it, of which the owner signed nothing.
    """

    owner: Verifier
    record: bytes
    keys: tuple[EpochKey, ...]
    key: EpochKey


Find = Callable[[bytes], Sequence[EpochKey]]
"""Returns what may be the key of an id: somebody may have told a wrong one, and the file says which it is."""


class WritingTerms(NamedTuple):
    """How to write now.

    Args:
        key: the epoch key.
        recipients: who gets it.
        ring: every key of this medium that the recipients may have.
        notices: what the head tells who may read here no more, sealed to them.
    """

    key: EpochKey
    recipients: tuple[Verifier, ...]
    ring: tuple[EpochKey, ...]
    notices: tuple[bytes, ...] = ()


class MemberKeys(Protocol):
    """What a vault knows and can do about one encrypted medium."""

    def is_on(self) -> bool:
        """Tell whether the person wants their own mailbox here encrypted."""

    def alias(self) -> Verifier:
        """Return the random name of the own mailbox here, in the form of a node."""

    def owner(self, alias: Verifier) -> Verifier | None:
        """Return whose mailbox a name was when it was last opened."""

    def find(self, identifier: bytes) -> Sequence[EpochKey]:
        """Return what an id may stand for, as far as is known: more than one key where somebody tells a wrong one."""

    def open_box(self, box: bytes) -> bytes | None:
        """Open what is sealed to this node."""

    def sign(self, domain: str, message: bytes) -> bytes:
        """Sign a statement as this node."""

    def entropy(self, size: int) -> bytes:
        """Return random bytes."""

    def learn(self, alias: Verifier, found: Contents) -> None:
        """Take note of an opened mailbox, of what opened it, and of the keys its owner tells."""

    def terms(self) -> WritingTerms:
        """Return how to write now, a new epoch begun where somebody left; it is remembered before it is used."""

    def request_terms(self) -> WritingTerms:
        """Return how to leave a request: under a key of its own, to whoever may admit."""


def keys_bytes(keys: Collection[EpochKey]) -> bytes:
    """Return keys as they stand in an envelope."""
    parts = [_U16.pack(len(keys))]
    for key in sorted(keys, key=lambda key: key.id):
        holders = sorted(key.holders)
        parts += [key.id, key.key, _U16.pack(len(holders)), *(holder.key for holder in holders)]
    return b"".join(parts)


def read_keys(data: bytes) -> tuple[EpochKey, ...]:
    """Return the keys that stand in an envelope.

    Raises:
        BadEnvelope: they are too many, or not written as they must be.
    """
    reader = io.BytesIO(data)

    def exactly(size: int) -> bytes:
        piece = reader.read(size)
        if len(piece) != size:
            raise BadEnvelope("The keys in the envelope end too early.")
        return piece

    count = _U16.unpack(exactly(_U16.size))[0]
    if count > KEYS_LIMIT:
        raise BadEnvelope(f"The envelope holds more than {KEYS_LIMIT} keys.")
    keys = []
    for _ in range(count):
        identifier, secret = exactly(ID_BYTES), exactly(KEY_BYTES)
        holders = _U16.unpack(exactly(_U16.size))[0]
        if holders > _HOLDERS_LIMIT:
            raise BadEnvelope(f"A key in the envelope has more than {_HOLDERS_LIMIT} holders.")
        keys.append(EpochKey(identifier, secret, frozenset(Verifier(exactly(32)) for _ in range(holders))))
    if reader.read(1) or [key.id for key in keys] != sorted({key.id for key in keys}):
        raise BadEnvelope("The keys in the envelope are not written in the one way they may be.")
    return tuple(keys)
