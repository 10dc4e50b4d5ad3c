"""Addresses of records, and the candidates that a coordinate names (Lace-110; FAC-26, FAC-27, FAC-29).

`////<hash>` is one record. `//<group>//<app>//<name>[selector]` is a coordinate: any number of records may stand at
one, whoever signed them, so it names candidates and decides nothing. The selector is in brackets: `*` for all of them,
a number for one from the tip (0), or a record's hash text for one version. Without one all are meant. A name may itself
end in a bracket; then a selector has to follow it, so that no address has two meanings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from vault.errors import CallerError
from vault.profile import CONTENT_APPS
from vault.records import RecordHash
from vault.records.coordinates import check_coordinate
from vault.records.errors import RecordError
from vault.store import Store
from vault.typed import shown

__all__ = ["BadAddress", "Coordinate", "candidates", "parse_record_address"]

_HASH_MARK: Final = "////"
_MARK: Final = "//"
_PARTS: Final = 3
_MAX_BYTES: Final = 2_048  # group, app, name and a hash text need less
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


class BadAddress(CallerError):
    """A text that starts with `//` and addresses no record."""

    code = "bad-address"
    hint = "Write ////HASH for one record, or //GROUP//APP//NAME for all at a coordinate, with [0] for the newest."


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate and which of its candidates are meant.

    Args:
        group: the whole Group of the records, such as `friends/0123456789ABCDEF`.
        app: their App.
        name: their Name.
        selector: None for all, a number counted from the tip, or a record's hash.

    Raises:
        BadAddress: a part breaks the rules of coordinates.
    """

    group: str
    app: str
    name: str
    selector: int | RecordHash | None = None

    def __post_init__(self) -> None:
        try:
            check_coordinate(self.group, self.app, self.name)
        except RecordError as error:
            raise BadAddress(f"That is not the coordinate of a record: {error.message}.") from error

    def __str__(self) -> str:
        chosen = "*" if self.selector is None else str(self.selector)
        return f"{_MARK}{self.group}{_MARK}{self.app}{_MARK}{self.name}[{chosen}]"


def parse_record_address(text: str) -> RecordHash | Coordinate:
    """Read an address; a hash address is tried before a coordinate (FAC-26).

    Raises:
        BadAddress: it is neither.
    """
    try:
        is_short = len(text.encode()) <= _MAX_BYTES
    except UnicodeEncodeError:  # bytes of a command line that are no UTF-8
        is_short = False
    if not is_short or not text.startswith(_MARK):
        raise BadAddress(f"{text[:60]!a} is not the address of a record.")
    if text.startswith(_HASH_MARK):
        return _hash(text[len(_HASH_MARK) :])
    body, selector = text[len(_MARK) :], None
    if body.endswith("]"):
        body, _, chosen = body[:-1].rpartition("[")
        selector = _selector(chosen)
    parts = body.split(_MARK)
    if len(parts) != _PARTS:
        raise BadAddress(f"{text[:60]!r} has {len(parts)} parts between // instead of a group, an app and a name.")
    group, app, name = parts
    return Coordinate(group, app, name, selector)


def _hash(text: str) -> RecordHash:
    try:
        return RecordHash.parse(text)
    except RecordError as error:
        raise BadAddress(f"{shown(text)} is not a record's hash text.") from error


def _selector(text: str) -> int | RecordHash | None:
    if text == "*":
        return None
    return int(text) if _NUMBER.fullmatch(text) else _hash(text)


def candidates(store: Store, coordinate: Coordinate) -> list[RecordHash]:
    """Return the stored records that an address means, the raw tip first (FAC-27, FAC-29).

    The order is TAI, then hash text, both from the highest down; an unsigned record stands at the end, since nobody
    vouches for its TAI. It is an order for looking at candidates and says nothing about which of them is right.

    Raises:
        BadAddress: content is asked for, which is found by hash alone.
    """
    if coordinate.app in CONTENT_APPS:
        raise BadAddress(f"Records of {coordinate.app} are not found by their name, but by their hash alone.")
    rows = store.rows(
        "SELECT b.kind, b.digest, r.tai FROM rec r JOIN body b USING (p)"
        " WHERE r.app = (SELECT id FROM sym WHERE s = ?) AND r.name = ? AND r.grp = (SELECT id FROM sym WHERE s = ?)",
        coordinate.app,
        coordinate.name,
        coordinate.group,
    )
    ordered = sorted(((str(tai or ""), RecordHash(str(kind), bytes(digest))) for kind, digest, tai in rows), key=_order)
    found = [record for _, record in reversed(ordered)]
    match coordinate.selector:
        case None:
            return found
        case int(number):
            return found[number : number + 1]
        case chosen:
            return [record for record in found if record == chosen]


def _order(candidate: tuple[str, RecordHash]) -> tuple[str, str]:
    return candidate[0], candidate[1].text
