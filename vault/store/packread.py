"""Reading packs: from the position of a record to its stored bytes (docs/formats.md section 7).

What a writer of the same store has taken and not yet named or written is read as if it rested already. Nothing is
proven here: who asks compares what is read with the record's own hash.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from vault.errors import DataError
from vault.frames import MAX_DEPTH, MAX_FRAME_BYTES, MAX_PREFIX_BYTES, RAW, BadFrame, decode, decode_beginning
from vault.store.database import select_in
from vault.store.numbers import FURTHEST
from vault.store.packio import PackIO

__all__ = ["OpenFrame", "PackDamaged", "PackReader", "numbers_of"]

_CACHED_BYTES: Final = 8 << 20
_WHERE: Final = (
    "SELECT k.frame, k.at, k.size, f.form, f.pack, f.at FROM packed k LEFT JOIN frame f ON f.id = k.frame WHERE k.p = ?"
)
_OPEN_PACKS: Final = 8  # files open at once
_LONGEST: Final = 2 * MAX_FRAME_BYTES  # bytes that are ever read at once: a frame, or records that lie side by side


class PackDamaged(DataError):
    """A record's bytes, in a pack or in a row, are gone or are not that record's."""

    code = "pack-damaged"
    exit_code = 41
    hint = "Run: lace fsck --repair, and sync; friends who have the content give it back."


class _Row(NamedTuple):
    """A frame as the store names it."""

    id: int
    pack: int
    at: int
    stored: int
    raw: int
    form: int
    depth: int
    bases: bytes


@dataclass(slots=True, eq=False, repr=False)
class OpenFrame:
    """The frame that is being filled."""

    id: int
    bases: tuple[int, ...] = ()
    prefix: bytes = b""
    depth: int = 0
    parts: list[bytes] = field(default_factory=list)
    raw: int = 0


class PackReader:
    """Reads the packs of one store connection.

    Args:
        db: the store's connection.
        directory: `.vault/packs`.
        io: the file calls.
    """

    def __init__(self, db: sqlite3.Connection, directory: Path, io: PackIO | None = None) -> None:
        self._db = db
        self._directory = directory
        self._io = io or PackIO()
        # What a writer took: none of it is here where packs are only read.
        self._open: OpenFrame | None = None
        self._rows: dict[int, tuple[int, int, int]] = {}  # not written yet: frame, offset, size by position
        self._here: dict[int, bytes] = {}  # frames that are not yet all on the disk, and read all the same
        self._readers: dict[int, int] = {}
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._cached = 0

    def close(self) -> None:
        """Close every file."""
        for fd in self._readers.values():
            self._io.close(fd)
        self._readers.clear()

    def path(self, pack: int) -> Path:
        """Return where a pack lies."""
        return self._directory / f"{pack:08d}.pack"

    def read(self, p: int) -> bytes | None:
        """Return the stored bytes of the record at position `p`, unproven; None when they do not rest in a pack.

        Raises:
            PackDamaged: they are gone.
            BadFrame: their frame does not decode.
        """
        row = self._rows.get(p) or self._db.execute(_WHERE, (p,)).fetchone()
        while row is not None:
            try:
                return self._rested(p, *row)
            except PackDamaged:
                was, row = row, self._db.execute(_WHERE, (p,)).fetchone()
                if row == was:  # nor did a prune just write it elsewhere
                    raise
        return None

    def _rested(self, p: int, frame: int, at: int, size: int, *rests: int) -> bytes:
        is_raw = bool(rests) and rests[0] == RAW
        _require_numbers(frame, at, size, *(rests if is_raw else ()))
        found = self._bytes(rests[1], rests[2] + at, size) if is_raw else self._slice(frame, at, size)
        if len(found) != size:
            raise PackDamaged(f"The bytes of the record at position {p} are not whole in its pack.")
        return found

    def _slice(self, frame: int, at: int, size: int) -> bytes:
        if self._open is not None and frame == self._open.id:
            return b"".join(self._open.parts)[at : at + size]
        data = self._here.get(frame) or self._cache.get(frame)
        if data is not None:
            return data[at : at + size]
        row = self._row(frame)
        if row.form == RAW:
            return self._bytes(row.pack, row.at + at, size)
        data = self._decoded(row, MAX_DEPTH)
        return data[at : at + size]

    def _decoded(self, row: _Row, depth: int) -> bytes:
        known = self._cache.get(row.id)
        if known is not None:
            self._cache.move_to_end(row.id)
            return known
        if depth <= 0 or row.depth >= MAX_DEPTH:
            raise BadFrame(f"The frame {row.id} rests on more than {MAX_DEPTH} others.")
        prefix = self._prefix(_positions_in(row.bases), depth - 1, row.depth) if row.bases else b""
        data = decode(row.form, self._bytes(row.pack, row.at, row.stored), row.raw, prefix)
        self._cache[row.id] = data
        self._cached += len(data)
        while self._cached > _CACHED_BYTES and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])
        return data

    def _prefix(self, bases: Sequence[int], depth: int = MAX_DEPTH, below: int = MAX_DEPTH) -> bytes:
        """Return the bytes of a frame's bases together; each must lie in a frame that is less deep."""
        parts = []
        size = 0
        for p in bases:
            if p >= FURTHEST:
                raise BadFrame("A frame is said to rest on a record that cannot be.")
            row = self._db.execute(
                "SELECT k.frame, k.at, k.size, b.bytes FROM body b LEFT JOIN packed k USING (p) WHERE b.p = ?", (p,)
            ).fetchone()
            if row is None:
                raise PackDamaged(f"The record at position {p}, on which others rest, is gone.")
            if row[0] is None:
                part = row[3] if isinstance(row[3], bytes) else b""
            else:
                _require_numbers(*row[:3])
                frame = self._row(int(row[0]))
                if frame.depth >= below:
                    raise BadFrame(f"The frame {frame.id} is deeper than what rests on it.")
                if frame.form == RAW:
                    part = self._bytes(frame.pack, frame.at + int(row[1]), int(row[2]))
                else:
                    part = self._decoded(frame, depth)[int(row[1]) : int(row[1]) + int(row[2])]
            size += len(part)
            if size > MAX_PREFIX_BYTES:
                raise BadFrame("A frame rests on more bytes than any frame may.")
            parts.append(part)
        return b"".join(parts)

    def _row(self, frame: int) -> _Row:
        row = self._db.execute(
            "SELECT id, pack, at, stored, raw, form, depth, bases FROM frame WHERE id = ?", (frame,)
        ).fetchone()
        if row is None:
            raise PackDamaged(f"The frame {frame} is not named in the store.")
        _require_numbers(*row[:-1])
        if not isinstance(row[-1], bytes):
            raise PackDamaged(f"What the frame {frame} is said to rest on cannot be.")
        return _Row(*row)

    def _bytes(self, pack: int, at: int, size: int) -> bytes:
        found = self.remainder(pack, at, size)
        if len(found) != size:
            raise PackDamaged(f"The pack {self.path(pack).name} ends before byte {at + size}.")
        return found

    def remainder(self, pack: int, at: int, size: int) -> bytes:
        """Return what is there of a stretch of a pack as it rests, unproven; less where the pack was cut off.

        Raises:
            PackDamaged: the pack cannot be read, or no pack has such a stretch.
        """
        if not (0 <= at < FURTHEST and 0 <= size <= _LONGEST):  # before memory is taken
            raise PackDamaged(f"What is said of {size} bytes in the pack {self.path(pack).name} cannot be.")
        fd = self._readers.get(pack)
        try:
            if fd is None:
                fd = self._readers[pack] = self._io.open_read(self.path(pack))
                if len(self._readers) > _OPEN_PACKS:
                    self._io.close(self._readers.pop(next(iter(self._readers))))
            return self._io.read(fd, at, size)
        except OSError as error:
            raise PackDamaged(f"The pack {self.path(pack).name} cannot be read: {error.strerror or error}.") from error

    def stretch(self, pack: int, at: int, size: int) -> bytes:
        """Return a stretch of a pack as it rests, unproven.

        Raises:
            PackDamaged: it is not all there.
        """
        return self._bytes(pack, at, size)

    def there(self) -> dict[int, int]:
        """Return how many bytes each pack file has that lies here, by its number, whatever the store says of it."""
        found = {}
        for path in sorted(self._directory.glob("*.pack")):
            # A stray `1.pack` is no pack, and must not stand for the one of that number.
            if path.stem.isascii() and path.stem.isdigit() and path == self.path(int(path.stem)) and path.is_file():
                found[int(path.stem)] = path.stat().st_size
        return {pack: size for pack, size in found.items() if pack < FURTHEST}

    def part(self, frame: int, at: int, size: int) -> bytes:
        """Return a part of a frame as it decodes, unproven; less where it ends.

        Raises:
            PackDamaged: its bytes are gone, or it is not named.
            BadFrame: it does not decode.
        """
        return self._slice(frame, at, size)

    def whole(self, frame: int) -> bytes:
        """Return a frame as it decodes, unproven.

        Raises:
            PackDamaged, BadFrame: as `part`.
        """
        return self._slice(frame, 0, self._row(frame).raw)

    def beginning(self, frame: int) -> bytes:
        """Return a frame as it decodes up to where it was cut off or rotted, unproven.

        Raises:
            PackDamaged, BadFrame: as `part`, or what it rests on cannot be read.
        """
        row = self._row(frame)
        stored = self.remainder(row.pack, row.at, row.stored)
        return decode_beginning(row.form, stored, row.raw, self._prefix(_positions_in(row.bases)))

    def decoded_on(self, frame: int, bases: Sequence[int]) -> bytes:
        """Return a frame as it decodes if it rests on these records and not on those that are named, unproven.

        Raises:
            PackDamaged, BadFrame: as `part`, or a base cannot be read.
        """
        row = self._row(frame)
        return decode(row.form, self._bytes(row.pack, row.at, row.stored), row.raw, self._prefix(bases))

    def bases_of(self, frame: int) -> list[int]:
        """Return the positions of the records that a frame is said to rest on, as they are named."""
        row = self._db.execute("SELECT bases FROM frame WHERE id = ?", (frame,)).fetchone()
        return _positions_in(row[0]) if row is not None else []

    def prefix_of(self, frame: int) -> bytes:
        """Return the bytes of the records that a frame rests on, one after the other, unproven.

        Raises:
            PackDamaged, BadFrame: one of them cannot be read.
        """
        return self._prefix(self.bases_of(frame))

    def bases(self, p: int) -> list[int]:
        """Return the positions of the records that the one at position `p` is compressed against."""
        row = self._db.execute("SELECT f.bases FROM packed k JOIN frame f ON f.id = k.frame WHERE k.p = ?", (p,))
        found = row.fetchone()
        positions = _positions_in(found[0]) if found else []
        return [] if any(p >= FURTHEST for p in positions) else positions

    def resting_on(self, positions: Collection[int]) -> list[int]:
        """Return the positions of the records whose frames were compressed against one of these."""
        gone = set(positions)
        found: list[int] = []
        for frame, bases in self._db.execute("SELECT id, bases FROM frame WHERE length(bases) > 0").fetchall():
            if gone.intersection(_positions_in(bases)):
                found += [int(row[0]) for row in self._db.execute("SELECT p FROM packed WHERE frame = ?", (frame,))]
        return found

    def frames_below(self) -> dict[int, list[int]]:
        """Return the numbers of the frames that each frame with bases rests on; a base in a row of its own has none."""
        found: dict[int, list[int]] = {}
        for frame, bases in self._db.execute("SELECT id, bases FROM frame WHERE length(bases) > 0").fetchall():
            positions = [p for p in _positions_in(bases) if p < FURTHEST]
            rows = select_in(self._db, "SELECT frame FROM packed WHERE p IN", positions)
            found[int(frame)] = [int(row[0]) for row in rows]
        return found

    def read_anew(self) -> None:
        """Forget what was decoded: what lies in a file, or is said of it, may be another by now."""
        self._cache.clear()
        self._cached = 0

    def open_once(self, pack: int) -> None:
        """Open a pack to read it, and close it.

        Raises:
            OSError: it cannot be opened.
        """
        self._io.close(self._io.open_read(self.path(pack)))


def numbers_of(positions: Sequence[int]) -> bytes:
    """Return positions as the store holds the bases of a frame."""
    return b"".join(p.to_bytes(8, "little") for p in positions)


def _require_numbers(*values: object) -> None:
    """Refuse what is no number any more, where each says where bytes rest (APP-13)."""
    for value in values:
        if not isinstance(value, int):
            raise PackDamaged("What is said of where a record rests cannot be.")


def _positions_in(numbers: object) -> list[int]:
    """Return the positions that `numbers_of` wrote down; none where the bytes of them became something else."""
    if not isinstance(numbers, bytes):
        return []
    return [int.from_bytes(numbers[at : at + 8], "little") for at in range(0, len(numbers), 8)]
