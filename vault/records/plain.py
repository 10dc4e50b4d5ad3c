"""Most records in one look: a whole Seal or bare Plex whose head is plain ASCII and breaks no rule.

A sync brings thousands of small sealed records and of chunks, and nearly all of them are plain in this sense.
`plain_record` compares each line with what it must be, so that one equality proves a markline, its digest and its
spelling at once. It accepts a part of what `vault.records.head` accepts and gives the same value for it; whatever is
not plain, and whatever breaks a rule, is left to the parser there, which names the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from blake3 import blake3

from vault.records import b64a
from vault.records.coordinates import MAX_SEGMENT_BYTES, check_app, check_group, check_name_path
from vault.records.errors import RecordError
from vault.records.hashes import MARK, MARKLINE_BYTES, RecordHash, Verifier
from vault.records.headers import MAX_LINE_BYTES
from vault.records.model import MAX_BLOB_BYTES, MAX_EXTRAS, Plex, Seal, check_extras, make_blob, make_plex, make_seal
from vault.records.tai import Tai

__all__ = ["plain_record"]

_SEAL_MARK, _PLEX_MARK, _BLOB_MARK = (f"{MARK}{kind}." for kind in "SPB")
_SIGNER, _SIGNATURE, _NAME = "Signed-By: ", "Signature: ", "Name: "
_SIGNATURE_LINE = len(_SIGNATURE) + 86
# Where the payload of the Plex begins: the lines before it have one length in each Seal.
_PLEX_AT = MARKLINE_BYTES + len(_SIGNER) + 48 + 1 + _SIGNATURE_LINE + 1 + MARKLINE_BYTES
_LEAST_LINES = 10  # three marklines, two headers of the Seal, four of the Plex, Data-Length
_SEAL_LINES = 3  # of these, what a bare Plex has not
_PLEX_START, _SEAL_START = _PLEX_MARK.encode(), _SEAL_MARK.encode()
_TAI = re.compile(r"TAI: ([0-9]{10}):([0-9]{9})")
# Segments that start with no dot are neither `.` nor `..`, and a short Name has none that is too long.
_SIMPLE = re.compile(r"[0-9A-Za-z_~+@-][0-9A-Za-z_~+@.-]*(?:/[0-9A-Za-z_~+@-][0-9A-Za-z_~+@.-]*)*")

_new = tuple.__new__
_encode = b64a.encode


def plain_record(data: bytes, end: int) -> Seal | Plex | None:
    """Return the Seal or Plex that `data` is the stored form of, if it is plain and all but its signature is right.

    Args:
        data: the whole stored record and nothing else.
        end: where the first blank line begins; the head is what stands before it.

    Returns:
        The record, every digest of it proven (REC-5, REC-36), or None when another parser must say what this is.
    """
    of_lines: Callable[[bytes, int, list[str]], Seal | Plex | None]
    if data.startswith(_PLEX_START):
        of_lines, least = _plex, _LEAST_LINES - _SEAL_LINES
    elif data.startswith(_SEAL_START):
        of_lines, least = _seal, _LEAST_LINES
    else:
        return None
    head = data[:end]
    try:
        if end > MAX_LINE_BYTES and max(map(len, head.split(b"\n"))) > MAX_LINE_BYTES:
            return None
        lines = head.decode().split("\n")
        if not least <= len(lines) <= least + MAX_EXTRAS:
            return None
        size = len(data) - end - 2
        if lines[-1] != f"Data-Length: {size}" or size > MAX_BLOB_BYTES:
            return None
        return of_lines(data, end, lines)
    except (UnicodeDecodeError, RecordError):
        return None


def _plex(data: bytes, end: int, lines: list[str]) -> Plex | None:
    view = memoryview(data)
    outer = blake3(view[MARKLINE_BYTES:]).digest()
    blob = blake3(view[end - len(lines[-1]) :]).digest()
    if lines[0] != f"{_PLEX_MARK}{_encode(outer)}.H3" or lines[-2] != f"{_BLOB_MARK}{_encode(blob)}.H3":
        return None
    origin = _origin("", lines[1], lines[2])
    if origin is None:
        return None
    return _rest(origin[1:], lines[3:-2], data[end + 2 :], outer, blob)


def _seal(data: bytes, end: int, lines: list[str]) -> Seal | None:
    view = memoryview(data)
    outer, inner = blake3(view[MARKLINE_BYTES:]).digest(), blake3(view[_PLEX_AT:]).digest()
    blob = blake3(view[end - len(lines[-1]) :]).digest()
    signature = lines[2]
    if (
        lines[0] != f"{_SEAL_MARK}{_encode(outer)}.H3"
        or lines[3] != f"{_PLEX_MARK}{_encode(inner)}.H3"
        or lines[-2] != f"{_BLOB_MARK}{_encode(blob)}.H3"
        or len(signature) != _SIGNATURE_LINE
        or not signature.startswith(_SIGNATURE)
    ):
        return None
    origin = _origin(lines[1], lines[4], lines[5])
    if origin is None or origin[0] is None:
        return None
    plex = _rest(origin[1:], lines[6:-2], data[end + 2 :], inner, blob)
    if plex is None:
        return None
    return make_seal(origin[0], b64a.decode(signature[len(_SIGNATURE) :]), plex, _new(RecordHash, ("S", outer)))


def _rest(where: tuple[str, str], lines: list[str], body: bytes, digest: bytes, blob: bytes) -> Plex | None:
    """Return the Plex of these lines, which are those from its Name to before the markline of its Blob."""
    name, when = lines[0], _TAI.fullmatch(lines[1])
    if when is None or not name.startswith(_NAME):
        return None
    name = name[len(_NAME) :]
    if len(name) > MAX_SEGMENT_BYTES or _SIMPLE.fullmatch(name) is None:
        if not _is_plain(name):
            return None
        check_name_path(name)
    extras = _extras(lines[2:])
    if extras is None:
        return None
    return make_plex(
        (*where, name),
        _new(Tai, (int(when[1]), int(when[2]))),
        extras,
        make_blob(body, _new(RecordHash, ("B", blob))),
        _new(RecordHash, ("P", digest)),
    )


@lru_cache(maxsize=1024)
def _origin(signer: str, group: str, app: str) -> tuple[Verifier | None, str, str] | None:
    """Return what these three lines say; a circle has few signers, and each writes few kinds of records."""
    if not (group.startswith("Group: ") and app.startswith("App: ")) or (signer and not signer.startswith(_SIGNER)):
        return None
    group, app = group[len("Group: ") :], app[len("App: ") :]
    if not _is_plain(group) or not _is_plain(app):
        return None
    check_group(group)
    check_app(app)
    return Verifier.parse(signer[len(_SIGNER) :]) if signer else None, group, app


def _is_plain(value: str) -> bool:
    """Return whether this is ASCII without control characters, and no empty value or one that starts with a space."""
    return value[:1] not in {"", " "} and value.isascii() and value.isprintable()


def _extras(lines: list[str]) -> tuple[tuple[str, str], ...] | None:
    """Return the extra headers."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(": ")
        if not (colon and name and value and value[0] != " " and line.isascii() and line.isprintable()):
            return None
        if ":" in name or " " in name:
            return None
        found.append((name, value))
    extras = tuple(found)
    if extras:
        check_extras(extras)
    return extras
