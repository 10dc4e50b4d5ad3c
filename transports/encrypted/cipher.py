"""How the chunks of an encrypted file are encrypted (decision 5; docs/formats.md section 4, "Encrypted file").

A file that was cut off is gone on with, so its chunks may be encrypted twice, and the second time their bytes may be
others. No nonce may go with two of them: it is a keyed digest of the bytes themselves and of where they stand. Equal
bytes at one place of one file give equal chunks, which is what makes going on possible, and nothing else is told.
"""

from __future__ import annotations

import struct
from typing import Protocol

from blake3 import blake3

from transports.errors import BadEnvelope

__all__ = ["CHUNK", "MAGICS", "NEWEST", "ChunkCipher", "chunk_cipher", "fixed_salt"]

CHUNK = 8 * 1024  # bytes of plain text that are authenticated together: what a look at one record costs at most
NEWEST = b"LACESEA1"
_FORMER = b"LACESEA0"
_FORMER_CHUNK = 64 * 1024  # bytes
MAGICS = (NEWEST, _FORMER)
_SALT_BYTES = 16
_TAG_BYTES = 16
_NONCE_BYTES = 24
_POSITION = struct.Struct(">Q")
_U32 = struct.Struct(">I")
_KEYS_CONTEXT = "lace 1 keys of encrypted files"
_SALT_CONTEXT = "lace 1 salt of encrypted files"


class ChunkCipher(Protocol):
    """What encrypts the chunks of one file, and opens them.

    Attributes:
        plain: bytes of plain text in each chunk but the last.
        extra: bytes that a chunk takes beside its plain text.
    """

    plain: int
    extra: int

    def seal(self, number: int, is_last: bool, data: bytes) -> bytes:
        """Return a chunk as it is stored."""

    def open(self, number: int, is_last: bool, stored: bytes) -> bytes:
        """Return the plain text of a chunk.

        Raises:
            BadEnvelope: a byte of it was changed, or it stands elsewhere.
        """


def chunk_cipher(magic: bytes, key: bytes, salt: bytes, context: bytes) -> ChunkCipher:
    """Return what opens the chunks of a file that begins so; only the newest form is written.

    Args:
        magic: the first 8 bytes, one of `MAGICS`.
        key: the epoch key.
        salt: of the file.
        context: what is authenticated with every chunk.
    """
    return _Newest(key, salt, context) if magic == NEWEST else _Former(key, salt, context)


def fixed_salt(key: bytes, *parts: bytes) -> bytes:
    """Return the salt of files that must come out alike when they are written again under the same circumstances."""
    hasher = blake3(derive_key_context=_SALT_CONTEXT)
    for part in (key, *parts):
        hasher.update(_U32.pack(len(part)) + part)
    return hasher.digest()[:_SALT_BYTES]


class _Newest:
    plain, extra = CHUNK, _NONCE_BYTES + _TAG_BYTES

    def __init__(self, key: bytes, salt: bytes, context: bytes) -> None:
        both = blake3(key, derive_key_context=_KEYS_CONTEXT).digest(length=64)
        self._key, self._nonces = both[:32], both[32:]
        self._salt = salt
        self._context = salt + context

    def seal(self, number: int, is_last: bool, data: bytes) -> bytes:
        bound = self._bound(number, is_last)
        nonce = blake3(_U32.pack(len(bound)) + bound + data, key=self._nonces).digest(length=_NONCE_BYTES)
        return nonce + _encrypt(self._key, nonce, bound, data)

    def open(self, number: int, is_last: bool, stored: bytes) -> bytes:
        return _decrypt(self._key, stored[:_NONCE_BYTES], self._bound(number, is_last), stored[_NONCE_BYTES:])

    def _bound(self, number: int, is_last: bool) -> bytes:
        return self._context + _POSITION.pack(number) + bytes([is_last])


class _Former:
    """What was written before a cut file was gone on with: the nonce is the salt and the number of the chunk."""

    plain, extra = _FORMER_CHUNK, _TAG_BYTES

    def __init__(self, key: bytes, salt: bytes, context: bytes) -> None:
        self._key, self._salt, self._context = key, salt, context

    def seal(self, number: int, is_last: bool, data: bytes) -> bytes:
        raise BadEnvelope("Nothing is encrypted in this form any more.")

    def open(self, number: int, is_last: bool, stored: bytes) -> bytes:
        return _decrypt(self._key, self._salt + _POSITION.pack(number), self._context + bytes([is_last]), stored)


def _encrypt(key: bytes, nonce: bytes, bound: bytes, data: bytes) -> bytes:
    from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt  # loads libsodium

    sealed: bytes = encrypt(data, bound, nonce, key)
    return sealed


def _decrypt(key: bytes, nonce: bytes, bound: bytes, data: bytes) -> bytes:
    from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt as decrypt
    from nacl.exceptions import CryptoError

    try:
        opened: bytes = decrypt(data, bound, nonce, key)
    except (CryptoError, ValueError, TypeError) as error:
        raise BadEnvelope("An encrypted part of the file is damaged.") from error
    return opened
