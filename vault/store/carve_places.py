"""Where records rest in packs, found again in a store's file by what the rows look like that say so (APP-13).

One page of `packed` or `frame` that rotted may be the only way to all below it, and then nothing in packs is read any
more, though every byte of it is there. A frame proves itself by the sum in its row, a record by its name.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from vault.errors import DataError
from vault.store.carve import BLOB, PAGE, varint
from vault.store.packfind import is_proven
from vault.store.packmend import sum_of
from vault.store.packs import Packs

__all__ = ["carve_places"]

_Place = tuple[int, ...]  # the numbers of a row

# How long the head of a row is, no value for its number, and the types of the others (SQLite's file format, section 2).
_NUMBERS: Final = rb"[\x01-\x06\x08\x09]"
_PLACE: Final = re.compile(rb"\x05\x00(" + _NUMBERS + rb"{3})")
_FRAME: Final = re.compile(
    rb"[\x0a-\x0c]\x00(" + _NUMBERS + rb"{6})([\x80-\xff]{0,2}[\x00-\x7f])\x2c", re.DOTALL
)  # the last one has 16 bytes
_BYTES: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # of a number by its type; the last two are 0 and 1 themselves
_SUM: Final = 16
_LACKING: Final = "SELECT p FROM body WHERE bytes = x'' AND p NOT IN (SELECT p FROM packed)"
_HOLD: Final = "INSERT OR IGNORE INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_REST: Final = "INSERT OR REPLACE INTO packed VALUES (?, ?, ?, ?)"
_UNNAMED: Final = "SELECT 1 FROM packed WHERE frame NOT IN (SELECT id FROM frame) LIMIT 1"


def carve_places(db: sqlite3.Connection, packs: Packs, whole: Path) -> None:
    """Bring back what a store says of places in packs, where SQLite finds no way to it; inside a transaction.

    Args:
        db: the store made anew, with all else that could be read.
        packs: those of the vault, read by it.
        whole: the damaged store's file, whole: nobody writes there, and no log belongs to it.

    Raises:
        OSError: it cannot be read.
    """
    lacking = {int(p) for (p,) in db.execute(_LACKING)}
    if not lacking and db.execute(_UNNAMED).fetchone() is None:
        return
    here = {int(frame) for (frame,) in db.execute("SELECT id FROM frame")}
    places = _found(db, packs, whole, lacking)
    for p, found in places.items():
        db.execute(_REST, (p, *found[-1]))
    packs.read_anew()
    for p, found in sorted(places.items()):  # what others rest on comes before them
        for place in found[:-1]:  # there is more than one where a prune wrote packs anew
            if is_proven(db, packs, p):
                break
            db.execute(_REST, (p, *place))
    for (number,) in db.execute("SELECT id FROM frame WHERE id NOT IN (SELECT frame FROM packed)").fetchall():
        if number not in here:
            db.execute("DELETE FROM frame WHERE id = ?", (number,))


def _found(db: sqlite3.Connection, packs: Packs, whole: Path, lacking: Collection[int]) -> dict[int, list[_Place]]:
    """Bring back the rows of frames that prove themselves, and return where some positions may rest, each once."""
    places: dict[int, list[_Place]] = {}
    for page in _pages(whole):
        for p, place in _places(page):
            if p in lacking and place not in (known := places.setdefault(p, [])):
                known.append(place)
        for number, row, bases, total in _frames(page):
            if _is_there(packs, row, total):
                db.execute(_HOLD, (number, *row, bases, total))
    return places


def _is_there(packs: Packs, row: _Place, known: bytes) -> bool:
    with suppress(DataError):
        return sum_of(packs, *row[:3]) == known
    return False


def _pages(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while page := file.read(PAGE):
            yield page


def _places(page: bytes) -> Iterator[tuple[int, _Place]]:
    """Yield what may be rows of `packed`: a position with its frame, offset and size."""
    for found in _PLACE.finditer(page):
        place, end = _numbers(page, found.end(), found[1])
        number = _number_before(page, found.start(), end - found.start())
        if number is not None and min(place) >= 0:
            yield number, place


def _frames(page: bytes) -> Iterator[tuple[int, _Place, bytes, bytes]]:
    """Yield what may be rows of `frame`: its number, the numbers of it, its bases and its sum."""
    for found in _FRAME.finditer(page):
        row, at = _numbers(page, found.end(), found[1])
        twice = varint(found[2]) - BLOB
        end = at + twice // 2 + _SUM
        if twice < 0 or twice % 2 or min(row) < 0 or end > len(page) or page[found.start()] != len(found[0]):
            continue
        number = _number_before(page, found.start(), end - found.start())
        if number is not None:
            yield number, row, page[at : end - _SUM], page[end - _SUM : end]


def _numbers(page: bytes, at: int, types: bytes) -> tuple[tuple[int, ...], int]:
    """Return the numbers of some types that begin at a place, and where they end."""
    found = []
    for kind in types:
        size = _BYTES[kind]
        found.append(int.from_bytes(page[at : at + size], "big", signed=True) if size else kind - 8)
        at += size
    return tuple(found), at


def _number_before(page: bytes, at: int, size: int) -> int | None:
    """Return the number of a row of some bytes that begins at a place; None where none stands before it.

    Before a row stand its length and its number, each in seven bits a byte.
    """
    length = bytes([size]) if size < 0x80 else bytes([size >> 7 | 0x80, size & 0x7F])
    for width in range(1, 10):
        number = page[max(0, at - width) : at]
        if len(number) == width and page[: at - width].endswith(length) and _is_varint(number):
            return varint(number)
    return None


def _is_varint(data: bytes) -> bool:
    return data[-1] < 0x80 and all(byte >= 0x80 for byte in data[:-1])
