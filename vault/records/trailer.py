"""The trailer-hash form: a transport form whose hash stands at the end (REC-75..81, H-6).

It lets a writer send data before it knows their length and digest. Where the seed leaves the inside of the
form open, lace decides:

* A Blob is the open marker, the data, LF, the close marker and LF. Nothing stands between marker and data.
* A Plex is the open marker, the header lines of the Plex, a blank line, the data, LF, the close marker and
  LF. A Seal has `Signed-By` and `Signature` before the headers of its Plex.
* Inner marklines and `Data-Length` are not written: both follow from the data, and a second open marker is
  forbidden (REC-77). The close marker names the outermost record.
* The coordinate in an open marker is `//<Group>//<App>//<Name>`. It is for people and filters; it must agree
  with the headers, is left out where the line would pass 1024 bytes, and never stands on a Blob.
* Every data line that starts with one or more `⋯` and then `🖧:` gets one more `⋯`, and loses one on the way
  back (H-6). The first line of the data counts as a line too.
"""

from __future__ import annotations

import re

from vault.records.errors import (
    DigestMismatchError,
    TrailerCoordinateError,
    TrailerMarkerError,
    TrailerNestedError,
    TrailerTypeError,
    TrailerUnclosedError,
    TrailingBytesError,
)
from vault.records.hashes import KINDS, RecordHash
from vault.records.head import BLANK, MAX_HEAD_BYTES
from vault.records.headers import MAX_LINE_BYTES, check_line
from vault.records.model import Blob, Plex, Record, Seal, plex_headers, seal_headers
from vault.records.parse import parse_record
from vault.records.quoting import shown

__all__ = ["escape", "from_trailer", "to_trailer", "unescape"]

_DOTS = "⋯".encode()
_MARKER = "⋯🖧:".encode()
_END = b"\n" + _MARKER
_TO_ESCAPE = re.compile("^(?=(?:⋯)+🖧:)".encode(), re.MULTILINE)
_ESCAPED = re.compile("^⋯(?=(?:⋯)+🖧:)".encode(), re.MULTILINE)
_OPEN = re.compile(r"⋯🖧: ([BPS])(?: (.+))?")


def escape(data: bytes) -> bytes:
    """Return data as it stands between the markers (REC-78, H-6)."""
    return _TO_ESCAPE.sub(_DOTS, data) if _MARKER in data else data


def unescape(data: bytes) -> bytes:
    """Return the data that `escape` was given."""
    return _ESCAPED.sub(b"", data) if _MARKER in data else data


def to_trailer(record: Record) -> bytes:
    """Return the trailer-hash form of a record."""
    headers = b""
    coordinate = ""
    blob = record
    if isinstance(blob, Seal):
        headers = seal_headers(blob)
        blob = blob.plex
    if isinstance(blob, Plex):
        headers += plex_headers(blob) + b"\n"
        coordinate = " " + _coordinate(blob)
        blob = blob.blob
    opened = f"⋯🖧: {record.hash.kind}{coordinate}".encode()
    if len(opened) > MAX_LINE_BYTES:
        opened = f"⋯🖧: {record.hash.kind}".encode()
    return b"".join((opened, b"\n", headers, escape(blob.data), b"\n", _DOTS, record.hash.markline))


def from_trailer(data: bytes) -> Record:
    """Return the record of one trailer-hash form, verified like any other (REC-81).

    Raises:
        TrailerMarkerError: a marker is malformed.
        TrailerCoordinateError: the open marker's coordinate is not the record's.
        TrailerTypeError: the type is unknown, or not that of the close marker.
        TrailerNestedError: a second open marker.
        TrailerUnclosedError: no close marker.
        RecordError: the restored record is not valid.
    """
    kind, coordinate, at = _read_open(data)
    headers, start = _read_headers(data, at) if kind != "B" else (b"", at)
    end = data.find(_END, start)
    if data.startswith(_MARKER, start):
        _read_close(data, start)
        raise TrailerMarkerError("no line feed separates the data from the close marker")
    if end < 0:
        raise TrailerUnclosedError("the bytes end before the close marker")
    closed = _read_close(data, end + 1)
    if closed.kind != kind:
        raise TrailerTypeError(f"the open marker says type {kind}, the close marker {closed.kind}")
    record = _restore(closed, headers, Blob(unescape(data[start:end])))
    plex = record.plex if isinstance(record, Seal) else record
    if coordinate is not None and (isinstance(plex, Blob) or coordinate != _coordinate(plex)):
        raise TrailerCoordinateError(f"the open marker's coordinate {shown(coordinate)} is not the record's")
    return record


def _coordinate(plex: Plex) -> str:
    return f"//{plex.group}//{plex.app}//{plex.name}"


def _read_open(data: bytes) -> tuple[str, str | None, int]:
    """Return type, coordinate and the offset after the open marker's line."""
    raw, lf, _ = data[: MAX_LINE_BYTES + 2].partition(b"\n")
    if not raw.startswith(_MARKER):
        raise TrailerMarkerError("the bytes do not start with an open marker")
    line = check_line(raw)
    if not lf:
        raise TrailerUnclosedError("the bytes end inside the open marker")
    match = _OPEN.fullmatch(line)
    if match is None:
        word = line[len("⋯🖧: ") :].partition(" ")[0]
        if line.startswith("⋯🖧: ") and word not in KINDS:
            raise TrailerTypeError(f"the open marker's type {shown(word)} is not B, P or S")
        raise TrailerMarkerError(f"the open marker {shown(line)} is malformed")
    return match[1], match[2], len(raw) + 1


def _read_headers(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the header lines of a Plex or Seal and the offset of the data after their blank line."""
    end = data.find(BLANK, at, at + MAX_HEAD_BYTES)
    headers = data[at : end + 1] if end >= 0 else data[at : at + MAX_HEAD_BYTES]
    if headers.startswith(_MARKER) or _END in headers:
        raise TrailerNestedError("a marker stands among the headers")
    if end < 0:
        raise TrailerUnclosedError("the bytes end before the blank line after the headers")
    return headers, end + len(BLANK)


def _read_close(data: bytes, at: int) -> RecordHash:
    """Return the hash of the close marker that starts at `at` and must end the bytes."""
    raw, lf, rest = data[at : at + MAX_LINE_BYTES + 2].partition(b"\n")
    line = check_line(raw)
    if _OPEN.fullmatch(line) is not None:
        if not rest and not lf:
            raise TrailerUnclosedError("the bytes end inside the close marker")
        raise TrailerNestedError("a second open marker stands inside the record")
    if not lf:
        raise TrailerUnclosedError("the bytes end inside the close marker")
    if not line.startswith("⋯🖧: "):
        raise TrailerMarkerError(f"the close marker {shown(line)} is malformed")
    closed = RecordHash.parse(line[len("⋯🖧: ") :])
    if rest:
        raise TrailingBytesError(f"bytes follow the close marker of {closed.text}")
    return closed


def _restore(closed: RecordHash, headers: bytes, blob: Blob) -> Record:
    """Return the verified record: marklines and length put back around headers and data."""
    payload = blob.payload
    if closed.kind != "B":
        cut = 0
        if closed.kind == "S":
            cut = headers.find(b"\n", headers.find(b"\n") + 1) + 1
        payload = headers[cut:] + blob.hash.markline + payload
        if closed.kind == "S":
            payload = headers[:cut] + RecordHash.of("P", payload).markline + payload
    elif blob.hash != closed:
        raise DigestMismatchError(f"the data have another digest than the close marker {closed.text} says")
    return parse_record(closed.markline + payload)
