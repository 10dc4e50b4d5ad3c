"""Most records in one look: a whole Seal or bare Plex whose head is plain ASCII and breaks no rule.

A sync brings thousands of small sealed records and of chunks, and nearly all of them are plain in this sense. One
expression takes such a head apart, and each digest is compared as the text that it must have, which proves the digest
and its spelling at once. `plain_record` accepts a part of what `vault.records.head` accepts and gives the same value
for it; whatever is not plain, and whatever breaks a rule, is left to the parser there, which names the rule.
"""

from __future__ import annotations

import re
from functools import lru_cache

from blake3 import blake3

from vault.records import b64a
from vault.records.coordinates import MAX_SEGMENT_BYTES, check_app, check_group, check_name_path
from vault.records.errors import RecordError
from vault.records.hashes import MARK, MARKLINE_BYTES, RecordHash, Verifier
from vault.records.headers import MAX_LINE_BYTES
from vault.records.model import MAX_BLOB_BYTES, Blob, Plex, Seal, check_extras, make_blob, make_plex, make_seal
from vault.records.tai import Tai

__all__ = ["plain_record"]

_SEAL_START, _PLEX_START, _BLOB_START = (f"{MARK}{kind}.".encode() for kind in "SPB")
_SIGNED, _SIGNATURE = b"Signed-By: ", b"\nSignature: "
# Where the payload of the Plex begins: the lines before it have one length in each Seal.
_PLEX_AT = MARKLINE_BYTES + len(_SIGNED) + 48 + len(_SIGNATURE) + 86 + 1 + MARKLINE_BYTES
# A dot is many times faster than a set of characters, and how a digest is spelled shows when it is compared.
_SYMBOL, _LAST = f"[{b64a.ALPHABET}]".encode(), f"[{b64a.ALPHABET[::16]}]".encode()  # 64 bytes leave four bits over
_DIGEST = rb"(.{43})\.H3\n"
_OF_PLEX = (
    re.escape(_PLEX_START) + _DIGEST + rb"(Group: [!-~][ -~]*\nApp: [!-~][ -~]*)\nName: ([!-~][ -~]*)\n"
    rb"TAI: ([0-9]{10}):([0-9]{9})\n"
    rb"((?:[!-9;-~]+: [!-~][ -~]*\n)*+)" + re.escape(_BLOB_START) + _DIGEST + rb"Data-Length: ([0-9]{1,8})"
)
_OF_SEAL = (
    re.escape(_SEAL_START) + _DIGEST + b"(" + _SIGNED + rb"[!-~]{48})" + _SIGNATURE
    + b"(" + _SYMBOL + b"{85}" + _LAST + rb")\n" + _OF_PLEX
)  # fmt: skip
_PLEX, _SEAL = re.compile(_OF_PLEX), re.compile(_OF_SEAL)
# Segments that start with no dot are neither `.` nor `..`, and a short Name has none that is too long.
_SIMPLE = re.compile(r"[0-9A-Za-z_~+@-][0-9A-Za-z_~+@.-]*(?:/[0-9A-Za-z_~+@-][0-9A-Za-z_~+@.-]*)*")

_Parts = tuple[bytes, ...]
_new = tuple.__new__
_symbols = b64a.symbols
_NOTHING = Blob(b"")  # what most sealed records hold
_OF_NOTHING = _symbols(_NOTHING.hash.digest)


def plain_record(data: bytes, end: int) -> Seal | Plex | None:
    """Return the Seal or Plex that `data` is the stored form of, if it is plain and all but its signature is right.

    Args:
        data: the whole stored record and nothing else.
        end: where the first blank line begins; the head is what stands before it.

    Returns:
        The record, every digest of it proven (REC-5, REC-36), or None when another parser must say what this is.
    """
    if data.startswith(_SEAL_START):
        match = _SEAL.fullmatch(data, 0, end)
    elif data.startswith(_PLEX_START):
        match = _PLEX.fullmatch(data, 0, end)
    else:
        return None
    if match is None or (end > MAX_LINE_BYTES and max(map(len, data[:end].split(b"\n"))) > MAX_LINE_BYTES):
        return None
    try:
        parts = match.groups()
        return _seal(data, end, parts) if len(parts) > _PLEX.groups else _plex(data, end, parts)
    except RecordError:
        return None


def _seal(data: bytes, end: int, parts: _Parts) -> Seal | None:
    claimed, signed, signature = parts[:3]
    outer = blake3(memoryview(data)[MARKLINE_BYTES:]).digest()
    if claimed != _symbols(outer):
        return None
    plex = _plex(data, end, parts[3:], _PLEX_AT)
    if plex is None:
        return None
    return make_seal(_signer(signed), b64a.unchecked(signature), plex, _new(RecordHash, ("S", outer)))


def _plex(data: bytes, end: int, parts: _Parts, start: int = MARKLINE_BYTES) -> Plex | None:
    """Return the Plex of these parts of a head, whose payload begins at `start`."""
    claimed, where, name, seconds, nanos, extras, claimed_blob, length = parts
    digest = blake3(memoryview(data)[start:]).digest()
    if claimed != _symbols(digest):
        return None
    blob = _blob(data, end, claimed_blob, length)
    if blob is None:
        return None
    group, app = _origin(where)
    return make_plex(
        (group, app, _name(name.decode())),
        _new(Tai, (int(seconds), int(nanos))),
        _extras(extras.decode()) if extras else (),
        blob,
        _new(RecordHash, ("P", digest)),
    )


def _blob(data: bytes, end: int, claimed: bytes, length: bytes) -> Blob | None:
    size = len(data) - end - 2
    if length != b"%d" % size or size > MAX_BLOB_BYTES:
        return None
    if not size:
        return _NOTHING if claimed == _OF_NOTHING else None
    digest = blake3(memoryview(data)[end - len(length) - len(b"Data-Length: ") :]).digest()
    return make_blob(data[end + 2 :], _new(RecordHash, ("B", digest))) if claimed == _symbols(digest) else None


@lru_cache(maxsize=1024)
def _signer(line: bytes) -> Verifier:
    """Return whom this line names; a circle has few signers."""
    return Verifier.parse(line[len(_SIGNED) :].decode())


@lru_cache(maxsize=1024)
def _origin(lines: bytes) -> tuple[str, str]:
    """Return the Group and App of these lines; a vault has one group and few kinds of records."""
    group, _, app = lines.decode()[len("Group: ") :].partition("\nApp: ")
    check_group(group)
    check_app(app)
    return group, app


def _name(name: str) -> str:
    if len(name) > MAX_SEGMENT_BYTES or _SIMPLE.fullmatch(name) is None:
        check_name_path(name)
    return name


def _extras(lines: str) -> tuple[tuple[str, str], ...]:
    """Return the extra headers, of which each is known to be a valid one."""
    name, _, value = lines[:-1].partition(": ")
    if name == "+Link" and "\n" not in value:  # most records have this one
        return ((name, value),)
    extras = tuple([(name, value) for name, _, value in [line.partition(": ") for line in lines[:-1].split("\n")]])
    check_extras(extras)
    return extras
