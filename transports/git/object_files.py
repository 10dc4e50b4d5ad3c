"""Objects read from the files in which git keeps them, singly or in packs (decision 7a).

A git that answers questions takes longer to start than most visits take to ask them. So what lies in files as plain as
those that lace writes, and git for it, is read here, and the bytes of each object are proven by its name. Of anything
else git is asked: it knows what is wrong with it, or reads what else there is, such as deltas.
"""

from __future__ import annotations

import os
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from transports.git.packs import KINDS, NAME_BYTES, ends_of, index_names, index_offset, index_row
from transports.layout import MIB

__all__ = ["LEANS", "Info", "ObjectFiles", "is_oid", "object_id"]

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OID = re.compile(r"[0-9a-f]{40}", re.ASCII)
_HEAD = re.compile(rb"(commit|tree|blob) (0|[1-9][0-9]{0,9})\0")
_HEAD_BYTES = 32  # of a head, singly or in a pack
_OBJECT_BYTES = 2 * MIB  # of one that is read here
_SLACK = 64 * 1024  # bytes that a file may have beyond those of its object
_INDEX_BYTES = 4 * MIB  # of all indexes
_SHORT = 2048 * NAME_BYTES  # bytes of names that are searched together: it is quick while they are few
_PACK_HEAD = 12  # bytes that a pack begins with
_FIRST_BYTES = 8 * 1024
_SMALL = 64 * 1024  # bytes of a file that is read at once
_SMALL_PACK = MIB  # bytes of a pack that is
_KEPT_BYTES = 8 * MIB  # of small packs, kept while others are read
_AHEAD_BYTES = 2 * MIB  # of objects kept ahead
_MOST_PACKS = 1024
_FAR = 1 << 31  # an offset from which an index says it elsewhere
_KIND_OF = {number: kind for kind, number in KINDS.items()}
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # it is there for git though it lies nowhere
LEANS = "objects/info/alternates"  # a file that names other repositories in which objects are looked for


class Info(NamedTuple):
    """What is known of an object: its id, kind and bytes."""

    oid: str
    kind: str
    size: int


class _NotPlain(Exception):  # never leaves this module
    """A file is not as lace writes it."""


class ObjectFiles:
    """The files of one repository in which objects lie.

    Args:
        path: returns its directory.
    """

    def __init__(self, path: Callable[[], Path]) -> None:
        self._path = path
        self._root = ""
        self._packs: set[str] | None = set()  # those that are known; None where git is to be asked
        self._long: list[tuple[str, bytes]] = []  # packs with many objects and their indexes
        self._indexes: list[tuple[str, bytes]] = []  # of the others
        self._names = b""  # in those: to search few takes less than to sort them out
        self._first: list[int] = []  # where in them those of each index begin
        self._room = _INDEX_BYTES
        self._ahead: dict[str, bytes] = {}  # small objects that were proven to learn what they are, and not read yet
        self._ahead_size = 0
        self._small: dict[str, bytes] = {}  # packs that visits left, of which most objects are read; b"" of others
        self._kept = 0  # bytes of those
        self._ends: dict[str, tuple[set[bytes], bytes]] = {}  # of packs that nothing was read of yet

    def forget(self) -> None:
        """Look anew at the next question."""
        self._root, self._packs, self._room = "", set(), _INDEX_BYTES
        self._long, self._indexes, self._names, self._first = [], [], b"", []
        for kept in (self._small, self._ahead, self._ends):
            kept.clear()
        self._kept = self._ahead_size = 0

    def info(self, oids: Iterable[str]) -> dict[str, Info | None]:
        """Return what objects are, None for those that do not lie here; without those of which git is to be asked."""
        found: dict[str, Info | None] = {}
        left = [oid for oid in oids if is_oid(oid)]
        while left and (self._root or self._look()):
            before = self._packs
            if before is None:
                break
            for oid in left:
                found.pop(oid, None)  # it was not here before, and is not plain where it came meanwhile
                with suppress(_NotPlain):
                    found[oid] = self._info(oid)
            left = [oid for oid in left if oid in found and found[oid] is None]
            if not left or (self._look() and self._packs == before):
                if _EMPTY_TREE in left:
                    del found[_EMPTY_TREE]
                return found
            # a pack came since the last look, or another process put them into one meanwhile
        for oid in left:
            found.pop(oid, None)
        return found

    def read(self, oid: str) -> bytes | None:
        """Return the bytes of an object, which are what its name says; None where git is to be asked."""
        if not is_oid(oid) or not (self._packs is not None if self._root else self._look()):
            return None
        if (proven := self._ahead.pop(oid, None)) is not None:
            self._ahead_size -= len(proven)
            return proven
        try:
            kind, data = self._packed_bytes(oid) or self._single_bytes(oid)
        except _NotPlain:
            return None
        return data if object_id(kind, data) == oid else None

    def _look(self) -> bool:
        """Learn which packs there are now; tell whether all of them can be read here."""
        root = str(self._path())
        try:
            names = set(os.listdir(f"{root}/objects/pack"))  # noqa: PTH208 - names alone are wanted
        except FileNotFoundError:
            names = set()
        except OSError:
            names = {""}
        stems = {name[:-4] for name in names if name.endswith(".idx") and f"{name[:-4]}.pack" in names}
        if root != self._root or self._packs is None or not self._packs <= stems:
            self.forget()
            self._root = root
        is_plain = "" not in names and len(stems) <= _MOST_PACKS and not os.path.lexists(f"{root}/{LEANS}")
        new = stems - (self._packs or set())
        self._packs = stems if is_plain and self._take(new) else None
        return self._packs is not None

    def _take(self, stems: Iterable[str]) -> bool:
        """Learn what lies in packs; tell whether their indexes are sound."""
        parts = [self._names]
        at = len(self._names)
        for stem in stems:
            try:
                data = _part(f"{self._root}/objects/pack/{stem}.idx", 0, self._room)
            except _NotPlain:
                return False
            names = index_names(data) if data is not None and len(data) < self._room else None
            if data is None or names is None:
                return False
            self._room -= len(data)
            self._ends[stem] = ends_of(data)
            if at + len(names) > _SHORT:
                self._long.append((stem, data))
                continue
            self._indexes.append((stem, data))
            self._first.append(at)
            parts.append(names)
            at += len(names)
        self._names = b"".join(parts)
        return True

    def _found(self, oid: str) -> tuple[str, int] | None:
        """Return the pack in which an object lies, and where in it; None where it lies in none."""
        name, at = bytes.fromhex(oid), -1
        while (at := self._names.find(name, at + 1)) >= 0 and at % NAME_BYTES:
            pass
        if at >= 0:
            number = bisect_right(self._first, at) - 1
            return _located(*self._indexes[number], (at - self._first[number]) // NAME_BYTES)
        for stem, data in self._long:
            if (row := index_row(data, name)) is not None:
                return _located(stem, data, row)
        return None

    def _info(self, oid: str) -> Info | None:
        at = self._found(oid)
        if at is not None:
            kind, size, _ = _packed_head(self._pack_part(at[0], at[1], _HEAD_BYTES))
            return Info(oid, kind, size)
        part = _part(self._single(oid), 0, _SMALL)
        if part is None:
            return None
        if len(part) == _SMALL:
            kind, size, _ = _single_head(_unfolded(part, _HEAD_BYTES, is_whole=False))
            return Info(oid, kind, size)
        kind, data = _single_parts(part)
        if object_id(kind, data) != oid:
            raise _NotPlain
        self._keep_ahead(oid, data)
        return Info(oid, kind, len(data))

    def _keep_ahead(self, oid: str, data: bytes) -> None:
        """Keep a proven object until it is read; by its bytes, for two kilobytes unfold to as many megabytes."""
        if len(data) >= _SMALL:
            return
        self._ahead_size += len(data) - len(self._ahead.pop(oid, b""))
        if self._ahead_size > _AHEAD_BYTES:
            self._ahead.clear()
            self._ahead_size = len(data)
        self._ahead[oid] = data

    def _packed_bytes(self, oid: str) -> tuple[str, bytes] | None:
        """Return kind and bytes of an object in a pack; None where it lies in none."""
        at = self._found(oid)
        if at is None:
            return None
        kind, size, length = _packed_head(self._pack_part(at[0], at[1], _HEAD_BYTES))
        if size > _OBJECT_BYTES:
            raise _NotPlain
        data = _unfolded(self._pack_part(at[0], at[1] + length, size + size // 1024 + _HEAD_BYTES), size)
        if len(data) != size:  # who asked how large it is was told so
            raise _NotPlain
        return kind, data

    def _single_bytes(self, oid: str) -> tuple[str, bytes]:
        """Return kind and bytes of an object that lies singly."""
        part = _part(self._single(oid), 0, _SMALL)
        if part is not None and len(part) == _SMALL:
            part = _part(self._single(oid), 0, _OBJECT_BYTES + _SLACK)
        if part is None:
            raise _NotPlain
        return _single_parts(part)

    def _single(self, oid: str) -> str:
        return f"{self._root}/objects/{oid[:2]}/{oid[2:]}"

    def _pack_part(self, stem: str, offset: int, size: int) -> bytes:
        path = f"{self._root}/objects/pack/{stem}.pack"
        small = self._small.get(stem)
        if small is None:
            small = _whole(path, min(_SMALL_PACK, _KEPT_BYTES - self._kept))
            self._check_ends(stem, path, small)
            del self._ends[stem]
            self._small[stem] = small
            self._kept += len(small)
        part = small[offset : offset + size] if small else _part(path, offset, size)
        if part is None:
            raise _NotPlain
        return part

    def _check_ends(self, stem: str, path: str, small: bytes) -> None:
        """Refuse a pack that is not the one of its index, from which git takes nothing: it is torn, or another's."""
        heads, total = self._ends[stem]
        first = small or _part(path, 0, _PACK_HEAD) or b""
        last = small or _part(path, -len(total), len(total)) or b""
        if first[:_PACK_HEAD] not in heads or not last.endswith(total):
            raise _NotPlain


def _whole(path: str, limit: int) -> bytes:
    """Return a file of fewer bytes, and nothing of another one: of a large one not even the beginning is read."""
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - of hundreds a visit
    except OSError as error:
        raise _NotPlain from error
    return (_part(path, 0, size) or b"") if size < limit else b""


def _located(stem: str, index: bytes, row: int) -> tuple[str, int]:
    offset = index_offset(index, row)
    if offset >= _FAR:
        raise _NotPlain
    return stem, offset


def _part(path: str, offset: int, size: int) -> bytes | None:
    """Return a part of a file, less at its end; None where there is no such file. No pipe is waited for.

    Args:
        path: the file.
        offset: where the part begins; below 0 from the end.
        size: its bytes.
    """
    try:
        fd = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _NotPlain from error
    try:
        if offset:
            os.lseek(fd, offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        part = os.read(fd, min(size, _FIRST_BYTES))  # room for much costs more than to read a little
        if len(part) == _FIRST_BYTES < size:
            part += os.read(fd, size - _FIRST_BYTES)
    except OSError as error:
        raise _NotPlain from error
    finally:
        os.close(fd)
    return part


def _packed_head(part: bytes) -> tuple[str, int, int]:
    """Return kind and bytes of an object in a pack, and how long that is said."""
    if not part:
        raise _NotPlain
    kind, size, shift = _KIND_OF.get(part[0] >> 4 & 7), part[0] & 15, 4
    length = 1
    while part[length - 1] & 128:
        if length == len(part):
            raise _NotPlain
        size |= (part[length] & 127) << shift
        shift += 7
        length += 1
    if kind is None:
        raise _NotPlain
    return kind, size, length


def _single_head(part: bytes) -> tuple[str, int, int]:
    """As `_packed_head`, of an object that lies singly."""
    match = _HEAD.match(part)
    if match is None:
        raise _NotPlain
    return match[1].decode(), int(match[2]), match.end()


def _single_parts(part: bytes) -> tuple[str, bytes]:
    """Return kind and bytes of an object that lies singly."""
    whole = _unfolded(part, _OBJECT_BYTES + _HEAD_BYTES)
    kind, size, length = _single_head(whole)
    if len(whole) != length + size:
        raise _NotPlain
    return kind, whole[length:]


def _unfolded(part: bytes, limit: int, *, is_whole: bool = True) -> bytes:
    """Return what was compressed, of at most so many bytes; its beginning where it need not be whole."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(part, limit + 1 if is_whole else limit)
    except zlib.error as error:
        raise _NotPlain from error
    if is_whole and (not stream.eof or len(data) > limit):
        raise _NotPlain
    return data


def is_oid(text: str) -> bool:
    """Tell whether a text is the id of an object: a SHA-1 in hexadecimal, as git writes it."""
    return _OID.fullmatch(text) is not None


def object_id(kind: str, data: bytes) -> str:
    """Return the id of an object."""
    digest = sha1(b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
