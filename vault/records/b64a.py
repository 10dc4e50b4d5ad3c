"""B64A, the text form of bytes in records: sortable, without padding, one text for each value (REC-7..12).

The alphabet stands in ASCII order, so texts of equal length sort as the bytes they stand for. Symbol n of
B64A and symbol n of standard base64 mean the same six bits in the same order; that is why both directions are
one table look-up around the C codec.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence

from vault.records.errors import B64ALengthError, B64ASymbolError, B64ATailError
from vault.records.quoting import shown

__all__ = ["ALPHABET", "decode", "encode", "encode_digests", "symbols", "unchecked", "unchecked_digests"]

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
_STANDARD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

_ENCODE = bytes.maketrans(_STANDARD, ALPHABET.encode())
_OUTSIDE = b"!"  # any byte that is no base64 symbol; every byte outside our alphabet is mapped to it
_DECODE = bytes(_STANDARD[ALPHABET.index(chr(byte))] if chr(byte) in ALPHABET else _OUTSIDE[0] for byte in range(256))
# By length mod 4: the symbols the last place may hold, and the padding the C codec wants.
_TAILS = {2: frozenset(ALPHABET[::16]), 3: frozenset(ALPHABET[::4])}
_PADDING = (b"", b"", b"==", b"=")
_LONGEST = 90  # characters of a text in a message: a signature has 86
_NOT_WRITTEN = b"=\n"  # of what the C codec writes


def encode(data: bytes) -> str:
    """Return the B64A text of `data`: ceil(8N/6) characters (REC-7, REC-8)."""
    return b2a_base64(data).translate(_ENCODE, _NOT_WRITTEN).decode()


def symbols(data: bytes) -> bytes:
    """Return the B64A text of `data` as ASCII bytes."""
    return b2a_base64(data).translate(_ENCODE, _NOT_WRITTEN)


def encode_digests(digests: Sequence[bytes]) -> list[str]:
    """Return the B64A texts of many values of 32 bytes each, written in one pass."""
    joined = b"\0".join([*digests, b""])  # six bits of nothing end each text, as in `unchecked_digests`
    found = b2a_base64(joined).translate(_ENCODE, _NOT_WRITTEN).decode()
    return [found[start : start + 43] for start in range(0, len(found), 44)]


def unchecked(text: bytes) -> bytes:
    """Return what a text stands for that is known to be one that `symbols` writes."""
    return a2b_base64(text.translate(_DECODE) + _PADDING[len(text) & 3])


def unchecked_digests(texts: Sequence[str]) -> list[bytes]:
    """Return what texts stand for that are known to be those of 32 bytes; thousands are read in one pass."""
    found = a2b_base64("0".join([*texts, ""]).encode().translate(_DECODE))  # each is followed by six bits of nothing
    return [found[start : start + 32] for start in range(0, len(found), 33)]


def decode(text: str) -> bytes:
    """Return the bytes that `text` stands for, accepting only what `encode` writes.

    Raises:
        B64ASymbolError: a character outside the alphabet, or padding (REC-9).
        B64ALengthError: the length modulo 4 is 1 (REC-10).
        B64ATailError: unused bits of the last symbol are not zero (REC-10).
    """
    # A non-ASCII character becomes "?", which is outside the alphabet like itself.
    mapped = text.encode("ascii", "replace").translate(_DECODE)
    if _OUTSIDE in mapped:
        raise B64ASymbolError(f"{shown(text, _LONGEST)} holds a character that is not in the B64A alphabet")
    rest = len(mapped) & 3
    if rest:
        if rest == 1:
            raise B64ALengthError(f"{shown(text, _LONGEST)} has a length that no B64A text has")
        if text[-1] not in _TAILS[rest]:
            raise B64ATailError(f"{shown(text, _LONGEST)} ends in bits that B64A leaves zero")
    return a2b_base64(mapped + _PADDING[rest])
