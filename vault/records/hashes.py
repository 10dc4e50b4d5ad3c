"""Names of records and of signers: `T.<43>.H3` and `V.<43>.H3` over 32 raw bytes (REC-2, REC-3, REC-38).

Both are tuples underneath, because a sync handles sets of a hundred thousand of them: equality, order and
hashing run in C. Their order is the order of their texts (REC-11). The text is made when asked for and not
kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Self

from blake3 import blake3

from vault.records import b64a
from vault.records.errors import HashTextError, RecordError, VerifierTextError
from vault.records.quoting import shown

__all__ = [
    "DIGEST_BYTES",
    "KINDS",
    "MARK",
    "MARKLINE_BYTES",
    "SIGNATURE_BYTES",
    "RecordHash",
    "Verifier",
    "is_record",
    "is_verifier",
    "payload_digest",
    "texts_of",
]

KINDS = frozenset("BPS")
DIGEST_BYTES = 32
SIGNATURE_BYTES = 64
MARK = "🖧: "
_MARKS = {kind: f"{MARK}{kind}.".encode() for kind in KINDS}
_TEXT_CHARACTERS = 48  # T . 43 symbols . H3
# The last symbol of 43 holds four bits only.
_TEXT = re.compile(rf"([BPS])\.([{b64a.ALPHABET}]{{42}}[{b64a.ALPHABET[::4]}])\.H3")
MARKLINE_BYTES = len(MARK.encode()) + _TEXT_CHARACTERS + 1


def payload_digest(payload: bytes | memoryview) -> bytes:
    """Return BLAKE3-256 of a canonical payload: every byte after the markline's LF (REC-3)."""
    return blake3(payload).digest()


def texts_of(records: Sequence[RecordHash]) -> list[str]:
    """Return the `text` of each of some hashes; of thousands it costs half as much as one by one."""
    symbols = b64a.encode_digests([digest for _, digest in records])
    return [f"{kind}.{text}.H3" for (kind, _), text in zip(records, symbols, strict=True)]


class _HashFields(NamedTuple):
    kind: str
    digest: bytes


class RecordHash(_HashFields):
    """The durable identity of one record (REC-2, REC-6).

    Args:
        kind: "B", "P" or "S".
        digest: 32 raw bytes.

    Raises:
        HashTextError: the kind or the digest's length is wrong.
    """

    __slots__ = ()

    def __new__(cls, kind: str, digest: bytes) -> Self:  # noqa: D102 - the class says it
        if kind not in KINDS or len(digest) != DIGEST_BYTES:
            raise HashTextError(f"a record hash needs kind B, P or S and 32 bytes, not {kind!r} and {len(digest)}")
        return tuple.__new__(cls, (kind, digest))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the hash that `text` names.

        Raises:
            HashTextError: the text is not `T.<43>.H3` with T one of B, P, S.
            B64AError: the 43 characters are not canonical B64A.
        """
        match = _TEXT.fullmatch(text)
        if match is not None:  # else it is told below what is wrong
            return tuple.__new__(cls, (match[1], b64a.unchecked(match[2].encode())))
        if len(text) != _TEXT_CHARACTERS or text[0] not in KINDS or text[1] != "." or text[45:] != ".H3":
            raise HashTextError(f"{shown(text)} is not a record hash of the form T.<43 characters>.H3")
        return tuple.__new__(cls, (text[0], b64a.decode(text[2:45])))

    @classmethod
    def of(cls, kind: str, payload: bytes | memoryview) -> Self:
        """Return the hash of the record of type `kind` that has this canonical payload."""
        return cls(kind, payload_digest(payload))

    @property
    def text(self) -> str:
        """The hash as text, such as `P.<43>.H3`."""
        kind, digest = self
        return f"{kind}.{b64a.encode(digest)}.H3"

    @property
    def markline(self) -> bytes:
        """The first line of the record's stored form, LF included (REC-1)."""
        return b"%b%b.H3\n" % (_MARKS[self.kind], b64a.symbols(self.digest))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"RecordHash({self.text})"


class _VerifierFields(NamedTuple):
    key: bytes


class Verifier(_VerifierFields):
    """A signer's public key, written `V.<43>.H3` (REC-38, H-1).

    Args:
        key: 32 raw bytes. Whether they are a usable key shows when a signature is verified.

    Raises:
        VerifierTextError: the key has not 32 bytes.
    """

    __slots__ = ()

    def __new__(cls, key: bytes) -> Self:  # noqa: D102 - the class says it
        if len(key) != DIGEST_BYTES:
            raise VerifierTextError(f"a verifier needs a key of 32 bytes, not {len(key)}")
        return tuple.__new__(cls, (key,))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the verifier that `text` names.

        Raises:
            VerifierTextError: the text is not `V.<43>.H3`.
            B64AError: the 43 characters are not canonical B64A.
        """
        if len(text) != _TEXT_CHARACTERS or text[:2] != "V." or text[45:] != ".H3":
            raise VerifierTextError(f"{shown(text)} is not a verifier of the form V.<43 characters>.H3")
        return tuple.__new__(cls, (b64a.decode(text[2:45]),))

    @property
    def text(self) -> str:
        """The verifier as text, such as `V.<43>.H3`."""
        return _verifier_text(self.key)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Verifier({self.text})"


def is_verifier(text: str) -> bool:
    """Tell whether a text names a verifier, as what is kept of people may not where it rotted (APP-13).

    >>> is_verifier(Verifier(bytes(32)).text), is_verifier("V.")
    (True, False)
    """
    try:
        Verifier.parse(text)
    except RecordError:
        return False
    return True


@lru_cache(maxsize=1024)
def _verifier_text(key: bytes) -> str:
    # A circle has few signers, and each of their records is asked for its signer's text.
    return f"V.{b64a.encode(key)}.H3"


def is_record(record_hash: RecordHash, record: bytes | memoryview) -> bool:
    """Return whether stored bytes carry this hash rightfully: markline and digest (REC-5).

    It is the cheap half of validation; `vault.records.parse_record` is the whole of it.
    """
    view = memoryview(record)
    return view[:MARKLINE_BYTES] == record_hash.markline and payload_digest(view[MARKLINE_BYTES:]) == record_hash.digest
