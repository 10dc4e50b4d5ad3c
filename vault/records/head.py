"""The head of a stored record: every line up to the blank line before the data.

Both parsers, the one for whole records and the one for streams, cut the head off their bytes and hand it to
`read_head`, so they cannot disagree about headers. A head is small (REC-22 and REC-60 bound it to about half
a MiB), only the data after it is large.

Errors come in the order of the lines. Within a record the outermost digest is compared first: if it fails the
bytes were damaged; if only an inner one fails, the record's writer embedded a wrong record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# By its full name, looked up when it is used: the suite imports vault.records.hashes, so either of the two
# may be half-loaded while the other one loads.
import vault.suite
from vault.records import b64a
from vault.records.coordinates import check_app, check_group, check_name_path
from vault.records.errors import (
    BlobShapeError,
    BlobTooLargeError,
    DataLengthError,
    DigestMismatchError,
    EmbeddedBlobDigestError,
    EmbeddedPlexDigestError,
    ExtraTooEarlyError,
    ExtraTooManyError,
    HeaderMissingError,
    HeaderOrderError,
    HeaderRepeatedError,
    HeaderUnterminatedError,
    MarklineError,
    PlexShapeError,
    RecordError,
    RecordTypeError,
    SealShapeError,
    SignatureInvalidError,
    SignatureTextError,
    ThinInnerError,
)
from vault.records.hashes import MARK, MARKLINE_BYTES, RecordHash, Verifier
from vault.records.headers import MAX_LINE_BYTES, check_line, is_clean, split_line
from vault.records.model import (
    MAX_BLOB_BYTES,
    MAX_EXTRAS,
    Blob,
    Plex,
    Record,
    Seal,
    check_extras,
    make_blob,
    make_plex,
    make_seal,
)
from vault.records.quoting import shown
from vault.records.tai import Tai

__all__ = ["BLANK", "MAX_HEAD_BYTES", "Head", "build", "check_signature", "judge", "read_head"]

BLANK = b"\n\n"  # no header line is empty, so the first one ends the head
# Three marklines, two Seal headers, four Plex headers, the extras, Data-Length, the blank line; one to spare.
MAX_HEAD_BYTES = (3 + 2 + 4 + MAX_EXTRAS + 1 + 1 + 1) * (MAX_LINE_BYTES + 1)

_MARK_BYTES = MARK.encode()
_REQUIRED = ("Group", "App", "Name", "TAI")
_REQUIRED_PREFIXES = tuple((name, name + ": ") for name in _REQUIRED)
_FIRST_NAMES = {"Data-Length": "B", "Signed-By": "S", **dict.fromkeys(_REQUIRED, "P")}
_SIGNATURE_SYMBOLS = 86  # characters of 64 bytes in B64A
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_END = "\n"  # stands for "no more lines"; no line can equal it


class Head(NamedTuple):
    """The parsed head of one record.

    Args:
        claimed: the hashes in the marklines, outermost first.
        offsets: where the payload that each of them covers begins, in bytes.
        size: bytes of the head, which is where the data begins.
        length: bytes of data.
        plex: coordinate, TAI and extras; None for a Blob.
        seal: signer and signature; None unless a Seal.
    """

    claimed: tuple[RecordHash, ...]
    offsets: tuple[int, ...]
    size: int
    length: int
    plex: tuple[tuple[str, str, str], Tai, tuple[tuple[str, str], ...]] | None
    seal: tuple[Verifier, bytes] | None


class _Lines:
    """The lines of a head in order, each checked for what does not depend on its meaning (REC-18..22)."""

    __slots__ = ("_fault", "_lines", "_next")

    def __init__(self, block: bytes, *, is_whole: bool) -> None:
        self._next = 0
        self._fault: RecordError | None = None
        if is_whole:
            try:
                text = block.decode()
            except UnicodeDecodeError:
                pass
            else:
                if is_clean(block, text):
                    self._lines = text[:-1].split("\n")
                    return
        # Something is wrong. The lines before it are still read, so that the first fault is the one reported.
        self._lines = []
        raw = block.split(b"\n")
        rest = raw.pop()
        try:
            for line in raw:
                self._lines.append(check_line(line))
            if rest:
                check_line(rest[: MAX_LINE_BYTES + 1] if len(rest) > MAX_LINE_BYTES else b"")
                raise HeaderUnterminatedError("the bytes end inside a header line")
        except RecordError as fault:
            self._fault = fault

    def take(self) -> str:
        """Return the next line, or `_END`; raise the fault of a line that cannot be read."""
        at = self._next
        if at < len(self._lines):
            self._next = at + 1
            return self._lines[at]
        if self._fault is not None:
            raise self._fault
        return _END

    def has_ahead(self, name: str) -> bool:
        """Return whether a header of this name follows before the embedded record."""
        for line in self._lines[self._next :]:
            if line.startswith(MARK):
                break
            if line.startswith(name + ": "):
                return True
        return False


def read_head(block: bytes, *, is_whole: bool) -> Head:
    """Return the parsed head.

    Args:
        block: the bytes up to and including the first blank line if `is_whole`; else all there is, of which
            `MAX_HEAD_BYTES` are enough.
        is_whole: whether the block ends with a blank line.

    Raises:
        RecordError: the head breaks a rule; the class says which.
    """
    if not block.startswith(_MARK_BYTES):
        raise MarklineError("the bytes do not start with a markline")
    lines = _Lines(block, is_whole=is_whole)
    outer = _markline(lines.take())
    claimed = [outer]
    offsets = [MARKLINE_BYTES]
    line = lines.take()
    _check_kind(outer, line)
    seal = plex = None
    if outer.kind == "S":
        seal, line = _seal_headers(line, lines, claimed)
    if claimed[-1].kind == "P":
        plex, line = _plex_headers(line, lines, claimed)
    while len(offsets) < len(claimed):
        offsets.append(block.find(b"\n" + _MARK_BYTES, offsets[-1] - 1) + 1 + MARKLINE_BYTES)
    length = _data_length(line)
    if lines.take() != "":
        raise BlobShapeError("no blank line follows Data-Length")
    return Head(tuple(claimed), tuple(offsets), len(block), length, plex, seal)


def _markline(line: str) -> RecordHash:
    return RecordHash.parse(line[len(MARK) :])


def _check_kind(claimed: RecordHash, line: str) -> None:
    """Compare the type in a markline with the type of the record that follows (REC-4)."""
    kind = _FIRST_NAMES.get(line.partition(":")[0])
    if kind is not None and kind != claimed.kind:
        raise RecordTypeError(f"the markline says type {claimed.kind} but a record of type {kind} follows")


def _embedded(line: str, lines: _Lines, claimed: list[RecordHash], kind: str) -> str:
    """Take an embedded markline and return the line after it (REC-74: there must be one)."""
    inner = _markline(line)
    if inner.kind != kind:
        error = PlexShapeError if kind == "B" else SealShapeError
        raise error(f"a record of type {inner.kind} is embedded where one of type {kind} belongs")
    claimed.append(inner)
    after = lines.take()
    if after is _END or after.startswith(MARK):
        raise ThinInnerError(f"the record is thin: its inner record {inner.text} is named but not here")
    _check_kind(inner, after)
    return after


def _seal_headers(line: str, lines: _Lines, claimed: list[RecordHash]) -> tuple[tuple[Verifier, bytes], str]:
    signer = _verifier(_seal_value(line, "Signed-By"))
    text = _seal_value(lines.take(), "Signature")
    if len(text) != _SIGNATURE_SYMBOLS:
        raise SignatureTextError(f"a signature has {_SIGNATURE_SYMBOLS} characters, not {len(text)}")
    signature = b64a.decode(text)
    line = lines.take()
    if not line.startswith(MARK):
        raise SealShapeError(f"an embedded Plex must follow Signature, not {_named(line)}")
    return (signer, signature), _embedded(line, lines, claimed, "P")


@lru_cache(maxsize=256)
def _verifier(text: str) -> Verifier:
    # A circle has few signers and each signs thousands of records.
    return Verifier.parse(text)


def _seal_value(line: str, wanted: str) -> str:
    if line.startswith(wanted + ": "):
        return _value(line, wanted + ": ")
    if line and line is not _END and not line.startswith(MARK):
        split_line(line)  # a malformed header is refused as that
    raise SealShapeError(f"a Seal needs {wanted} where {_named(line)} stands")


def _plex_headers(
    line: str, lines: _Lines, claimed: list[RecordHash]
) -> tuple[tuple[tuple[str, str, str], Tai, tuple[tuple[str, str], ...]], str]:
    values = []
    for wanted, prefix in _REQUIRED_PREFIXES:
        if not line.startswith(prefix):
            raise _required_fault(line, wanted, lines)
        values.append(_value(line, prefix))
        line = lines.take()
    group, app, name, tai = values
    check_group(group)
    check_app(app)
    check_name_path(name)
    when = Tai.parse(tai)
    extras: list[tuple[str, str]] = []
    while not line.startswith(MARK):
        if not line or line is _END:
            raise PlexShapeError(f"an embedded Blob must follow the headers of a Plex, not {_named(line)}")
        pair = split_line(line)
        if pair[0] in _REQUIRED:
            raise HeaderRepeatedError(f"the header {pair[0]} stands twice in a Plex")
        extras.append(pair)
        if len(extras) > MAX_EXTRAS:
            raise ExtraTooManyError(f"a Plex has at most {MAX_EXTRAS} extra headers")
        line = lines.take()
    checked = tuple(extras)
    if checked:
        check_extras(checked)
    return ((group, app, name), when, checked), _embedded(line, lines, claimed, "B")


def _value(line: str, prefix: str) -> str:
    """Return the value of a line that should start with this name, colon and space (REC-16, REC-17)."""
    value = line[len(prefix) :]
    if not line.startswith(prefix) or not value or value[0] == " ":
        return split_line(line)[1]  # which refuses it by its own rule
    return value


def _required_fault(line: str, wanted: str, lines: _Lines) -> RecordError:
    """Say why this line is not the required header that belongs here (REC-31..33)."""
    if line and line is not _END and not line.startswith(MARK):
        name, _ = split_line(line)
        if name in _REQUIRED and _REQUIRED.index(name) < _REQUIRED.index(wanted):
            return HeaderRepeatedError(f"the header {name} stands twice in a Plex")
        if lines.has_ahead(wanted):
            if name in _REQUIRED:
                return HeaderOrderError(f"the header {name} stands before {wanted}")
            return ExtraTooEarlyError(f"the extra header {shown(name)} stands before {wanted}")
    return HeaderMissingError(f"the required header {wanted} of a Plex is missing where {_named(line)} stands")


def _data_length(line: str) -> int:
    if not line.startswith("Data-Length:"):
        raise BlobShapeError(f"a Blob starts with Data-Length, not {_named(line)}")
    value = _value(line, "Data-Length: ")
    if _NUMBER.fullmatch(value) is None:
        raise DataLengthError(f"Data-Length {shown(value)} is not a plain base-10 number")
    length = int(value)
    if length > MAX_BLOB_BYTES:
        raise BlobTooLargeError(f"a Blob holds at most {MAX_BLOB_BYTES} bytes, not {shown(value)}")
    return length


def _named(line: str) -> str:
    if line is _END:
        return "the end of the bytes"
    return shown(line) if line else "a blank line"


def judge(head: Head, digests: Sequence[bytes], *, verify: bool = True) -> None:
    """Compare what a head claims with what its bytes are (REC-5, REC-36, REC-39, REC-40).

    Args:
        head: the parsed head.
        digests: BLAKE3-256 of the bytes from each of the head's offsets to the record's end.
        verify: whether to verify the signature too.

    Raises:
        RecordError: a digest or the signature is wrong.
    """
    for depth, (claimed, digest) in enumerate(zip(head.claimed, digests, strict=True)):
        if claimed.digest == digest:
            continue
        if depth == 0:
            raise DigestMismatchError(f"the bytes of {claimed.text} have another digest than their markline says")
        error = EmbeddedBlobDigestError if claimed.kind == "B" else EmbeddedPlexDigestError
        raise error(f"the bytes of the embedded record {claimed.text} have another digest than its markline says")
    if verify and head.seal is not None:
        check_signature(head.seal[0], head.seal[1], head.claimed[1])


def check_signature(signer: Verifier, signature: bytes, plex: RecordHash) -> None:
    """Refuse a signature that is not the signer's over the Plex's digest (REC-39, REC-40).

    Raises:
        SignatureInvalidError: it is not.
    """
    if not vault.suite.ED25519.verify(signer.key, plex.digest, signature):
        raise SignatureInvalidError(f"the signature over {plex.text} was not made by {signer.text}")


def build(head: Head, data: bytes) -> Record:
    """Return the record of a judged head and its data."""
    claimed = head.claimed
    blob: Blob = make_blob(data, claimed[-1])
    if head.plex is None:
        return blob
    coordinate, tai, extras = head.plex
    plex: Plex = make_plex(coordinate, tai, extras, blob, claimed[-2])
    if head.seal is None:
        return plex
    seal: Seal = make_seal(*head.seal, plex, claimed[0])
    return seal
