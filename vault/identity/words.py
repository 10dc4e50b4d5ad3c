"""Bytes as pronounceable words, for comparing fingerprints aloud (docs/formats.md section 5).

Each pair of bytes, first byte first, makes one word of five letters: consonant, vowel, consonant, vowel,
consonant, which carry 4, 2, 4, 2 and 4 bits from the highest down.
"""

from __future__ import annotations

from blake3 import blake3

from vault.records.hashes import Verifier

__all__ = ["fingerprint_words", "words"]

_FINGERPRINT_WORDS = 8  # 128 bits: nobody finds a second key with the same words
_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aiou"
_PATTERN = (
    (_CONSONANTS, 12, 15),
    (_VOWELS, 10, 3),
    (_CONSONANTS, 6, 15),
    (_VOWELS, 4, 3),
    (_CONSONANTS, 0, 15),
)
_DOMAIN = b"lace-words/v1"


def words(data: bytes) -> list[str]:
    """Return one word for every two bytes, of which there is an even number."""
    return [_word(int.from_bytes(data[at : at + 2], "big")) for at in range(0, len(data), 2)]


def fingerprint_words(verifier: Verifier) -> str:
    """Return the eight words by which two people compare a key, joined by `-`."""
    digest = blake3(_DOMAIN + verifier.text.encode("ascii")).digest()
    return "-".join(words(digest[: 2 * _FINGERPRINT_WORDS]))


def _word(number: int) -> str:
    return "".join(letters[number >> shift & mask] for letters, shift, mask in _PATTERN)
