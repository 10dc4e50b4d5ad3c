"""Records found again in a store's file by what their rows look like, where SQLite finds no way to them (APP-13).

One page that rotted may be the only way to all the pages below it, in which nothing is wrong. A row of `body` begins as
no other does and has its record's name in it, so it is found wherever it lies, and the record proves itself by that
name. Only names that the store's index has are looked for: what was let go of stays so, though its bytes may lie there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from vault.records import RecordHash
from vault.records.hashes import is_record

__all__ = ["BLOB", "PAGE", "carve", "varint"]

PAGE: Final = 4096
_NEXT: Final = 4  # bytes of the number of the page that a row goes on in
_MOST_IN_PAGE: Final = PAGE - 35  # bytes of a row (SQLite's file format, section 1.6)
_LEAST_IN_PAGE: Final = (PAGE - 12) * 32 // 255 - 23
# How long the head is, no value for the number, a text of one byte, 32 bytes, and how many more; then the first two.
_ROW: Final = re.compile(rb"([\x05-\x08])\x00\x0f\x4c([\x80-\xff]{0,3}[\x00-\x7f])([PS])(.{32})", re.DOTALL)
BLOB: Final = 12  # a blob of n bytes has the type 12 + 2n


def carve(path: Path, wanted: Collection[bytes]) -> Iterator[tuple[RecordHash, bytes]]:
    """Yield records by their digests with their stored bytes, each proven; none for one that rests in a pack.

    Args:
        path: a store's file, whole: nobody writes there, and no log belongs to it.
        wanted: the digests.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        pages = path.stat().st_size // PAGE
        for number in range(pages):
            file.seek(number * PAGE)
            page = file.read(PAGE)
            for found in _ROW.finditer(page):
                if found[4] not in wanted:
                    continue
                record = RecordHash(found[3].decode(), found[4])
                stored = _value(file, pages, page[found.start() :], found[0], varint(found[2]) - BLOB)
                if stored == b"" or (stored is not None and is_record(record, stored)):
                    yield record, stored


def varint(data: bytes) -> int:
    """Return the number that stands in seven bits a byte, the highest first (SQLite's file format, section 1.6)."""
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
    return number


def _value(file: BinaryIO, pages: int, row: bytes, before: bytes, twice: int) -> bytes | None:
    """Return the last value of a row, which may go on in other pages; None where it does not lie there.

    Args:
        file: the store.
        pages: how many it has.
        row: from where it begins to the end of its page.
        before: what of it is before the value.
        twice: two times how many bytes the value has.
    """
    size = len(before) + twice // 2
    if twice < 0 or twice % 2 or size > pages * PAGE:
        return None
    here = size
    if size > _MOST_IN_PAGE:
        here = _LEAST_IN_PAGE + (size - _LEAST_IN_PAGE) % (PAGE - _NEXT)
        here = here if here <= _MOST_IN_PAGE else _LEAST_IN_PAGE
    data, following = bytearray(row[:here]), row[here : here + _NEXT]
    while len(data) < size:
        number = int.from_bytes(following, "big")
        if not 0 < number <= pages:
            return None
        file.seek((number - 1) * PAGE)
        page = file.read(PAGE)
        following = page[:_NEXT]
        data += page[_NEXT:][: size - len(data)]
    return bytes(data[len(before) :])
