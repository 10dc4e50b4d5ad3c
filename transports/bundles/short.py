"""Records without what follows from the rest: content travels as its bytes alone (docs/formats.md section 3).

One content is exactly one record, so its headers and its three digests need not travel: who receives the bytes makes
the record of them anew, and has computed its hash by that. A record is shortened only where that gives the same bytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from blake3 import blake3

from vault.desks.content import MadeHash
from vault.errors import DataError
from vault.profile import DATA_APP, TREE_APP
from vault.records import RecordHash, Tai, b64a
from vault.records.hashes import MARK, MARKLINE_BYTES

__all__ = ["MAX_GROUP_BYTES", "Part", "Parts", "claimed", "read_parts", "shortened", "shortest"]

MAX_GROUP_BYTES: Final = 255
_WHOLE, _DATA, _TREE = 0, 1, 2
_APPS: Final = {_DATA: DATA_APP, _TREE: TREE_APP}
_FORM_BITS: Final = 2
_NUMBER_BYTES: Final = 5  # of one number at most
_PLEX_MARK: Final = f"{MARK}P.".encode()
_HASH_END: Final = b".H3\n"
_NAME_BYTES: Final = 43
_BETWEEN: Final = f"\nTAI: {Tai.ZERO.text}\n{MARK}B.".encode()
_LENGTH: Final = b"Data-Length: %d\n\n"
_LENGTH_LINE: Final = 32  # bytes in which the line of a length ends
_GROUP: Final = b"Group: "
_new = tuple.__new__


class Part(NamedTuple):
    """One record in its shortest form.

    Attributes:
        form: which.
        group: of a short one.
        body: what travels.
    """

    form: int
    group: bytes
    body: bytes

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.form == _WHOLE

    def made(self) -> bytes:
        """Return the whole record, made of this."""
        return _made(*self)[0]


@lru_cache(maxsize=64)
def _head(group: bytes, form: int) -> bytes:
    """Return what stands between the markline and the Name."""
    return b"".join((_GROUP, group, b"\nApp: ", _APPS[form].encode(), b"\nName: "))


def shortest(stored: bytes) -> Part:
    """Return a record in its shortest form: the whole of it, unless it can be made of its body alone.

    Args:
        stored: a valid record; its digests are not proven again.
    """
    if stored.startswith(_PLEX_MARK):
        end = stored.find(b"\n", MARKLINE_BYTES, MARKLINE_BYTES + len(_GROUP) + MAX_GROUP_BYTES + 1)
        group = stored[MARKLINE_BYTES + len(_GROUP) : end]
        for form in _APPS if end > 0 else ():
            head = _head(group, form)
            if not stored.startswith(head, MARKLINE_BYTES):
                continue
            blob_at = MARKLINE_BYTES + len(head) + _NAME_BYTES + len(_BETWEEN)
            length_at = blob_at + _NAME_BYTES + len(_HASH_END)
            body_at = stored.find(b"\n\n", length_at, length_at + _LENGTH_LINE) + 2
            body = stored[body_at:]
            name, blob = b64a.symbols(blake3(body).digest()), stored[blob_at : blob_at + _NAME_BYTES]
            made = b"".join((head, name, _BETWEEN, blob, _HASH_END, _LENGTH % len(body)))
            if stored[MARKLINE_BYTES:body_at] == made:
                return _new(Part, (form, group, body))
    return Part(_WHOLE, b"", stored)


def shortened(parts: Sequence[Part]) -> bytes | None:
    """Return what says how to make these records again of their bodies; None where none is short.

    Args:
        parts: records in order; the short ones of one group.
    """
    groups = {part.group for part in parts if part.form != _WHOLE}
    if len(groups) != 1:
        return None
    (group,) = groups
    said = bytearray((len(group), *group))
    _put(said, len(parts))
    for part in parts:
        _put(said, len(part.body) << _FORM_BITS | part.form)
    return bytes(said)


class Parts:
    """How records are made again of their bodies, as somebody said it.

    Args:
        group: of the short ones.
        forms: of each record, in order.
        wholes: where each record begins when all are whole, and where the last one ends.
        bodies: where each body begins when they lie one after the other, and where the last one ends.
    """

    def __init__(self, group: bytes, forms: bytearray, wholes: array[int], bodies: array[int]) -> None:
        self._group, self._forms = group, forms
        self._wholes, self._bodies = wholes, bodies

    def __len__(self) -> int:
        return len(self._forms)

    @property
    def body_bytes(self) -> int:
        """Bytes of all bodies together."""
        return self._bodies[-1]

    @property
    def whole_bytes(self) -> int:
        """Bytes of all records together when each is whole."""
        return self._wholes[-1]

    def one(self, bodies: memoryview, offset: int, length: int) -> tuple[bytes, RecordHash | None]:
        """Return the record that lies somewhere when all are whole, and its hash where it was computed.

        No bytes where none lies there.

        Args:
            bodies: one after the other.
            offset: where it begins.
            length: its bytes.
        """
        wholes = self._wholes
        count = len(self._forms)
        number = bisect_left(wholes, offset, 0, count)
        if number == count or wholes[number] != offset or wholes[number + 1] - offset != length:
            return b"", None
        return self._made(number, bodies)

    def all(self, bodies: memoryview) -> Iterator[tuple[bytes, RecordHash | None]]:
        """Yield every record, and its hash where it was computed."""
        for number in range(len(self)):
            yield self._made(number, bodies)

    def apps(self) -> Iterator[str]:
        """Yield the App of each record; nothing where it is whole."""
        for form in self._forms:
            yield _APPS.get(form, "")

    def _made(self, number: int, bodies: memoryview) -> tuple[bytes, RecordHash | None]:
        body = bodies[self._bodies[number] : self._bodies[number + 1]]
        return _made(self._forms[number], self._group, body)


def _made(form: int, group: bytes, body: bytes | memoryview) -> tuple[bytes, RecordHash | None]:
    if form == _WHOLE:
        return bytes(body), None
    inner = b"".join((_LENGTH % len(body), body))
    name, blob = b64a.symbols(blake3(body).digest()), blake3(inner).digest()
    payload = b"".join((_head(group, form), name, _BETWEEN, b64a.symbols(blob), _HASH_END, inner))
    digest = blake3(payload).digest()
    record = MadeHash.of_content(digest, name.decode(), blob, len(body)) if form == _DATA else RecordHash("P", digest)
    return b"".join((_PLEX_MARK, b64a.symbols(record.digest), _HASH_END, payload)), record


def _around(group: bytes, form: int) -> int:
    """Return the bytes of a whole record besides its body and the digits of its length."""
    names = 3 * _NAME_BYTES + 2 * len(_HASH_END) + len(_PLEX_MARK) + len(_BETWEEN)
    return names + len(_head(group, form)) + len(_LENGTH) - len(b"%d")


def read_parts(data: memoryview, error: type[DataError], limit: int) -> tuple[Parts, memoryview]:
    """Return how records are made again, and what follows.

    Args:
        data: begins with what `shortened` said.
        error: is raised.
        limit: bytes that all records may have when they are whole.

    Raises:
        DataError: `error`, where it says something that nobody says.
    """
    if not data or len(data) <= data[0]:
        raise error("What says how records are made again ends too early.")
    group, at = bytes(data[1 : 1 + data[0]]), 1 + data[0]
    numbers = _numbers(data, at, error)
    count, at = next(numbers)
    if not 0 < count <= len(data):
        raise error("What says how records are made again names more of them than it holds, or none.")
    forms, wholes, bodies = bytearray(), array("Q", (0,)), array("Q", (0,))
    around = {form: _around(group, form) for form in _APPS}
    whole = body = 0
    for value, at in islice(numbers, count):  # noqa: B007 - what follows begins where the last one ends
        form, size = value & ((1 << _FORM_BITS) - 1), value >> _FORM_BITS
        if form not in around and (form != _WHOLE or size < MARKLINE_BYTES):
            raise error("A short record has an unknown form, or is shorter than any record.")
        body += size
        whole += size if form == _WHOLE else around[form] + len(b"%d" % size) + size
        if whole > limit:  # asked of each: a record that travels as nothing takes room here all the same
            raise error("Short records come to more bytes than they may.")
        forms.append(form)
        wholes.append(whole)
        bodies.append(body)
    return Parts(group, forms, wholes, bodies), data[at:]


def _put(to: bytearray, number: int) -> None:
    while number > 0x7F:
        to.append(number & 0x7F | 0x80)
        number >>= 7
    to.append(number)


def _numbers(data: memoryview, start: int, error: type[DataError]) -> Iterator[tuple[int, int]]:
    """Yield numbers that stand one after the other, each with where it ends."""
    value = shift = 0
    for at, byte in enumerate(data[start:], start + 1):
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if not byte and shift:
                break
            yield value, at
            value = shift = 0
        elif (shift := shift + 7) == 7 * _NUMBER_BYTES:
            break
    raise error("A number of short records is none.")


def claimed(stored: bytes | memoryview) -> RecordHash | None:
    """Return the hash that the first line of a record claims; None where that is none."""
    try:
        return RecordHash.parse(bytes(stored[: MARKLINE_BYTES - 1]).decode().removeprefix(MARK))
    except (UnicodeDecodeError, DataError):
        return None
