"""Encryption to the members: epoch keys, files in authenticated chunks, envelopes (decision 5; docs/formats.md).

A file is encrypted under an epoch key in chunks (`transports.encrypted.cipher`), each authenticated with its position,
so that one record of a large bundle is read without the rest. An envelope carries a head or a request: the key sealed
to each member, then the keys its writer knows, signed by it, and the record. Nobody but a recipient learns more than
sizes.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import BinaryIO, Protocol, cast

from blake3 import blake3

from transports.encrypted.cipher import CHUNK, MAGICS, NEWEST, chunk_cipher
from transports.encrypted.member_keys import ID_BYTES, KEY_BYTES, Contents, EpochKey, Find, keys_bytes, read_keys
from transports.encrypted.notices import split_notices, written_notices
from transports.errors import BadEnvelope, SealedToOthers
from transports.positioned import PositionedFile
from vault.errors import DataError
from vault.records.hashes import SIGNATURE_BYTES, Verifier
from vault.suite import seal_box, verify_statement

__all__ = [
    "SealingSink",
    "UnsealingFile",
    "is_sealed",
    "key_of",
    "key_of_envelope",
    "notices_in",
    "open_envelope",
    "seal_bytes",
    "seal_envelope",
    "unseal_bytes",
]

_SALT_BYTES = 16
_MAGIC_BYTES = len(NEWEST)
_HEADER = _MAGIC_BYTES + ID_BYTES + _SALT_BYTES
_ENVELOPE = b"LACEENV0"
_TELLING = b"LACEENV1"  # one with notices
_BOX_BYTES = KEY_BYTES + 48
_BOXES_LIMIT = 4096  # members of a circle, as mailboxes of a group
_DOMAIN = "envelope"
_U16 = struct.Struct(">H")
_U32 = struct.Struct(">I")
_FILE = b"file"


class _Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


# Files


class SealingSink:
    """Encrypts what is written to it, and knows the digest and size of the file that comes of it.

    Args:
        sink: where the encrypted bytes go.
        key: the epoch key.
        entropy: gives each file its salt.
        context: what is authenticated with every chunk, so that no file stands for another kind of thing.

    The same bytes under the same key and salt make the same file, and others never share a nonce with them.
    """

    def __init__(self, sink: _Sink, key: EpochKey, entropy: Callable[[int], bytes], context: bytes = _FILE) -> None:
        self._sink = sink
        salt = entropy(_SALT_BYTES)
        self._cipher = chunk_cipher(NEWEST, key.key, salt, context + key.id)
        self._buffer = bytearray()
        self._number = 0
        self._hasher = blake3()
        self._size = 0
        self._put(NEWEST + key.id + salt)

    def write(self, data: bytes | memoryview, /) -> None:
        """Take plain bytes; full chunks leave at once."""
        self._buffer += data
        # One byte more than a chunk must be there: only then is it certain that the chunk is not the last one.
        count = (len(self._buffer) - 1) // CHUNK
        if count > 0:
            with memoryview(self._buffer) as view:
                chunks = [
                    self._chunk(bytes(view[at : at + CHUNK]), is_last=False) for at in range(0, count * CHUNK, CHUNK)
                ]
            del self._buffer[: count * CHUNK]
            self._put(b"".join(chunks))

    def finish(self) -> tuple[bytes, int]:
        """Write the last chunk; return BLAKE3 and size in bytes of the encrypted file."""
        self._put(self._chunk(bytes(self._buffer), is_last=True))
        self._buffer.clear()
        return self._hasher.digest(), self._size

    def _chunk(self, data: bytes, *, is_last: bool) -> bytes:
        sealed = self._cipher.seal(self._number, is_last, data)
        self._number += 1
        return sealed

    def _put(self, data: bytes) -> None:
        self._sink.write(data)
        self._hasher.update(data)
        self._size += len(data)


class _Collected:
    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes, /) -> None:
        self.parts.append(data)


def seal_bytes(data: bytes, key: EpochKey, entropy: Callable[[int], bytes], context: bytes = _FILE) -> bytes:
    """Return a small file encrypted."""
    collected = _Collected()
    sink = SealingSink(collected, key, entropy, context)
    sink.write(data)
    sink.finish()
    return b"".join(collected.parts)


def is_sealed(beginning: bytes) -> bool:
    """Tell whether bytes begin an encrypted file."""
    return beginning.startswith(MAGICS)


def key_of(beginning: bytes) -> bytes:
    """Return the id of the key under which a file is encrypted, from its first 24 bytes."""
    return beginning[_MAGIC_BYTES : _MAGIC_BYTES + ID_BYTES]


class UnsealingFile(PositionedFile):
    """Reads an encrypted file as what it holds, from any position, decrypting no more than the chunks it touches.

    Args:
        file: the encrypted file, seekable.
        find: returns the keys that an id may stand for.
        context: as the file was written with.

    Raises:
        BadEnvelope: it is not an encrypted file, or too short for one.
        SealedToOthers: its key is not known here.
    """

    def __init__(self, file: BinaryIO, find: Find, context: bytes = _FILE) -> None:
        self._file = file
        stored = file.seek(0, io.SEEK_END)
        file.seek(0)
        header = file.read(_HEADER)
        body = stored - _HEADER
        if not is_sealed(header) or len(header) < _HEADER:
            raise BadEnvelope("The file is not an encrypted one, or it ends too early.")
        keys = find(key_of(header))
        if not keys:
            raise SealedToOthers("The file is encrypted under a key that was not sealed to this node.")
        magic, salt, bound = header[:_MAGIC_BYTES], header[-_SALT_BYTES:], context + key_of(header)
        ciphers = [chunk_cipher(magic, key.key, salt, bound) for key in keys]
        self._cipher = ciphers[0]
        self._step = self._cipher.plain + self._cipher.extra
        self._chunks = max(1, -(-body // self._step))
        if body - (self._chunks - 1) * self._step < self._cipher.extra:
            raise BadEnvelope("The encrypted file ends too early.")
        super().__init__(body - self._chunks * self._cipher.extra)
        self._number = -1
        self._plain = b""
        for self._cipher in ciphers if len(ciphers) > 1 else ():
            with suppress(BadEnvelope):
                self._plain, self._number = self._opened(0), 0
                break

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with plain bytes, at most to the end of a chunk."""
        if self._at >= self._size or not len(buffer):
            return 0
        number, inside = divmod(self._at, self._cipher.plain)
        if number != self._number:
            self._plain = self._opened(number)
            self._number = number
        piece = self._plain[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        """Close the encrypted file too."""
        if not self.closed:
            super().close()
            self._file.close()

    def _opened(self, number: int) -> bytes:
        self._file.seek(_HEADER + number * self._step)
        sealed = bytearray()
        while len(sealed) < self._step:
            piece = self._file.read(self._step - len(sealed))
            if not piece:
                break
            sealed += piece
        return self._cipher.open(number, number == self._chunks - 1, bytes(sealed))


def unseal_bytes(data: bytes, find: Find, context: bytes = _FILE) -> bytes:
    """Return what a small encrypted file holds.

    Raises:
        BadEnvelope, SealedToOthers: as `UnsealingFile`.
    """
    file = UnsealingFile(cast(BinaryIO, io.BytesIO(data)), find, context)
    parts = []
    while piece := file.read(CHUNK):
        parts.append(piece)
    if not parts:
        file._opened(0)  # noqa: SLF001 - an empty file is authenticated too
    return b"".join(parts)


# Envelopes


def seal_envelope(
    record: bytes,
    key: EpochKey,
    *,
    owner: Verifier,
    recipients: Iterable[Verifier],
    keys: Sequence[EpochKey],
    sign: Callable[[str, bytes], bytes],
    entropy: Callable[[int], bytes],
    context: bytes,
    notices: Sequence[bytes] = (),
) -> bytes:
    """Return a record encrypted under a key that is sealed to each recipient.

    Args:
        record: the stored bytes of a head or a request.
        key: the key.
        owner: the node whose mailbox it is.
        recipients: who may open it.
        keys: the keys of this medium that the recipients may have.
        sign: signs a statement under a domain as the owner.
        entropy: gives randomness.
        context: the medium, the mailbox and what the record is, so that an envelope counts nowhere else.
        notices: what is told to others than the recipients (`transports.encrypted.notices`).
    """
    boxes = [box for node in sorted(set(recipients)) if (box := seal_box(node, key.key)) is not None]
    ring = keys_bytes(keys)
    proof = sign(_DOMAIN, _statement(context, ring, record))
    inside = b"".join((_U32.pack(len(ring)), ring, owner.key, proof, record))
    told = written_notices(notices) if notices else b""
    magic = _TELLING if notices else _ENVELOPE
    return b"".join((magic, _U16.pack(len(boxes)), *boxes, told, seal_bytes(inside, key, entropy, context)))


def notices_in(data: bytes) -> list[bytes]:
    """Return the sealed notices in an envelope.

    Raises:
        BadEnvelope: it is damaged.
    """
    return _parts(data)[1]


def key_of_envelope(data: bytes) -> bytes:
    """Return the id of the key that an envelope is under; nothing where it is damaged."""
    try:
        return key_of(_parts(data)[2])
    except BadEnvelope:
        return b""


def _parts(data: bytes) -> tuple[int, list[bytes], bytes]:
    """Return the number of boxes in an envelope, the notices, and the encrypted rest."""
    start = len(_ENVELOPE) + _U16.size
    if not data.startswith((_ENVELOPE, _TELLING)) or len(data) < start:
        raise BadEnvelope("The file is not an envelope.")
    count = _U16.unpack_from(data, len(_ENVELOPE))[0]
    body = data[start + count * _BOX_BYTES :]
    notices: list[bytes] = []
    if data.startswith(_TELLING):
        notices, body = split_notices(body)
    if count > _BOXES_LIMIT or len(body) < _HEADER:
        raise BadEnvelope("The envelope ends too early.")
    return count, notices, body


def open_envelope(
    data: bytes,
    find: Find,
    open_box: Callable[[bytes], bytes | None],
    context: bytes,
) -> Contents:
    """Return what an envelope holds.

    Args:
        data: the file.
        find: returns the keys that an id may stand for as far as is known already.
        open_box: opens what is sealed to this node; it is asked where none of these opens the rest.
        context: as `seal_envelope` had it.

    Raises:
        SealedToOthers: none of its boxes is for this node, and its key is not known.
        BadEnvelope: it is damaged, or from another mailbox or medium.
    """
    start = len(_ENVELOPE) + _U16.size
    count, _, body = _parts(data)
    identifier = key_of(body)
    boxes = (open_box(data[at : at + _BOX_BYTES]) for at in range(start, start + count * _BOX_BYTES, _BOX_BYTES))
    sealed = (EpochKey(identifier, secret) for secret in boxes if secret is not None)
    failed: DataError = SealedToOthers("The mailbox is encrypted, and not to this node.")
    for key in chain(find(identifier), sealed):
        try:
            inside = unseal_bytes(body, lambda _, key=key: (key,), context)  # type: ignore[misc]
            break
        except BadEnvelope as error:
            failed = error
    else:
        raise failed
    length = _U32.unpack_from(inside)[0] if len(inside) >= _U32.size else len(inside)
    end = _U32.size + length
    start = end + KEY_BYTES + SIGNATURE_BYTES
    if len(inside) < start:
        raise BadEnvelope("The envelope holds less than it says.")
    ring, owner, record = inside[_U32.size : end], Verifier(inside[end : end + KEY_BYTES]), inside[start:]
    statement = _statement(context, ring, record)
    if not verify_statement(owner, _DOMAIN, statement, inside[end + KEY_BYTES : start]):
        raise BadEnvelope("The envelope was not made by the owner of the mailbox.")
    return Contents(owner, record, read_keys(ring), key)


def _statement(context: bytes, ring: bytes, record: bytes) -> bytes:
    return b"".join((_U16.pack(len(context)), context, blake3(record).digest(), ring))
