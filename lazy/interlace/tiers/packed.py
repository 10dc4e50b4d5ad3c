"""Offers and asks as tuples in bytes: digests raw, what is implied left out (INT-21; docs/formats.md, section 7).

Numbers are unsigned LEB128. Every reader is strict: there is one way to write a value, and nothing may follow it. What
is read takes memory in proportion to the bytes that came, which the driver bounds.
"""

from __future__ import annotations

from lazy.interlace.ads import EMPTY_ROOT, Advertisement, Fields, Summary
from lazy.interlace.errors import BadFactValue, MalformedFactBlock
from lazy.interlace.tiers.cost import DEPTH_LIMIT
from lazy.interlace.tiers.offer import Asks, Listing, Narrowed, Offer
from lazy.interlace.tiers.shelf import Entry
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

__all__ = ["pack_asks", "pack_offer", "read_asks", "read_offer"]

_STATE, _NARROWED, _LISTING = b"d", b"s", b"l"
_ROOT_BYTES = len(EMPTY_ROOT)
_DIGEST_BYTES = 32
_NUMBER_BYTES = 6
_TEXT_LIMIT = 1 << 20  # bytes
_PREFIXES_LIMIT = 16_384
_KINDS = "BPS"


def pack_asks(asks: Asks) -> bytes:
    """Return asks as bytes."""
    out = bytearray()
    for names in (asks.lists, asks.narrows):
        out += _number(len(names))
        for name in names:
            out += _prefix(name)
    return bytes(out)


def read_asks(data: bytes) -> Asks:
    """Read asks.

    Raises:
        MalformedFactBlock: they are malformed, or too many.
        MalformedPartitionSummary: a prefix is none.
    """
    reader = _Reader(data)
    found = []
    for _ in range(2):
        count = reader.number(_PREFIXES_LIMIT)
        found.append(tuple(reader.prefix() for _ in range(count)))
    reader.end()
    return Asks(*found)


def pack_offer(offer: Offer) -> bytes:
    """Return an offer as bytes."""
    out = bytearray(_STATE + offer.state if offer.state else b"")
    for narrowed in offer.narrowed:
        out += _pack_narrowed(narrowed)
    for listing in offer.listings:
        out += _pack_listing(listing)
    return bytes(out)


def read_offer(data: bytes) -> Offer:
    """Read an offer.

    Raises:
        MalformedFactBlock, MalformedPartitionSummary: it is malformed.
    """
    reader = _Reader(data)
    state = b""
    narrowed: list[Narrowed] = []
    listings: list[Listing] = []
    while reader.has_more:
        letter = reader.take(1)
        if letter == _STATE and not (state or narrowed or listings):
            state = reader.take(_ROOT_BYTES)
        elif letter == _NARROWED and not listings:
            narrowed.append(_read_narrowed(reader))
        elif letter == _LISTING:
            listings.append(_read_listing(reader))
        else:
            raise MalformedFactBlock("An offer holds something unknown, or out of its order.")
    return Offer(tuple(narrowed), tuple(listings), state)


def _pack_narrowed(narrowed: Narrowed) -> bytes:
    places = [ALPHABET.index(child.prefix[-1]) for child in narrowed.children]
    out = bytearray(_NARROWED + _prefix(narrowed.prefix))
    out += sum(1 << place for place in places).to_bytes(8, "big")
    for child in narrowed.children:
        out += _number(child.count)
    for child in narrowed.children:
        out += child.root
    return bytes(out)


def _read_narrowed(reader: _Reader) -> Narrowed:
    prefix = reader.prefix()
    bits = int.from_bytes(reader.take(8), "big")
    names = [prefix + character for place, character in enumerate(ALPHABET) if bits >> place & 1]
    counts = [reader.number() for _ in names]
    return Narrowed(prefix, tuple(map(Summary, names, counts, [reader.take(_ROOT_BYTES) for _ in names])))


def _pack_listing(listing: Listing) -> bytes:
    forms: dict[tuple[str, Fields], int] = {}
    indexes = [forms.setdefault((record.kind, fields), len(forms)) for record, fields in listing.entries]
    out = bytearray(_LISTING + _prefix(listing.prefix) + _number(len(forms)))
    for kind, fields in forms:
        out += kind.encode() + _number(len(fields))
        for name, index, value in fields:
            out += _text(name) + _number(index) + _text(value)
    out += _number(len(indexes))
    known = _known_bytes(listing.prefix)
    if len(forms) > 1:
        for index in indexes:
            out += _number(index)
    for record, _ in listing.entries:
        out += record.digest[known:]
    return bytes(out)


def _read_listing(reader: _Reader) -> Listing:
    prefix = reader.prefix()
    forms = [_read_form(reader) for _ in range(reader.number(1 << 20))]
    count = reader.number(1 << 24)
    if len(set(forms)) != len(forms) or len(forms) > count or (count and not forms):
        raise MalformedFactBlock("A listing has other sets of fields than its records.")
    known = _known_bytes(prefix)
    reader.need(count * (_DIGEST_BYTES - known))
    indexes = [reader.number(len(forms) - 1) for _ in range(count)] if len(forms) > 1 else [0] * count
    # Each set of fields gets its number when it is first used.
    if list(dict.fromkeys(indexes)) != list(range(len(forms))):
        raise MalformedFactBlock("The sets of fields of a listing are not in their order.")
    start = _start_of(prefix)[:known]
    entries: list[Entry] = []
    for index in indexes:
        kind, fields = forms[index]
        entries.append((RecordHash(kind, start + reader.take(_DIGEST_BYTES - known)), fields))
    return Listing(prefix, tuple(entries))


def _read_form(reader: _Reader) -> tuple[str, Fields]:
    kind = reader.take(1).decode("latin-1")
    if kind not in _KINDS:
        raise MalformedFactBlock("A listing names something that is not a record.")
    count = reader.number(1 << 16)
    fields = tuple((reader.text(), reader.number(), reader.text()) for _ in range(count))
    if fields:
        _check_fields(kind, fields)
    return kind, fields


def _check_fields(kind: str, fields: Fields) -> None:
    """Check fields as those of any advertisement are."""
    try:
        Advertisement(RecordHash(kind, bytes(_DIGEST_BYTES)).text, "anybody", fields).to_facts()
    except BadFactValue as error:
        raise MalformedFactBlock(f"A field of a listing cannot be: {error.message}") from error


def _known_bytes(prefix: str) -> int:
    """Return how many bytes of a digest its partition says."""
    return 6 * len(prefix) // 8


def _start_of(prefix: str) -> bytes:
    value = 0
    for character in prefix:
        value = value << 6 | ALPHABET.index(character)
    bits = 6 * len(prefix)
    return (value >> bits % 8).to_bytes(bits // 8, "big")


def _prefix(name: str) -> bytes:
    return bytes([len(name)]) + name.encode()


def _text(text: str) -> bytes:
    data = text.encode()
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Reader:
    """Bytes that nobody vouches for, from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def has_more(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) != size:
            raise MalformedFactBlock("A packed block ends in the middle.")
        self._at += size
        return found

    def need(self, size: int) -> None:
        """Check that so many bytes are left, before memory is taken for what they are to say."""
        if size > len(self._data) - self._at:
            raise MalformedFactBlock("A packed block ends in the middle.")

    def number(self, most: int | None = None) -> int:
        value = 0
        for place in range(_NUMBER_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                if (place and not byte) or (most is not None and value > most):
                    raise MalformedFactBlock("A number of a packed block is too large, or written in another way.")
                return value
        raise MalformedFactBlock("A number of a packed block is too long.")

    def prefix(self) -> str:
        size = self.take(1)[0]
        if not 1 <= size <= DEPTH_LIMIT:
            raise MalformedFactBlock("A packed block names no partition.")
        name = self.take(size).decode("latin-1")
        if any(character not in ALPHABET for character in name):
            raise MalformedFactBlock("A packed block names no partition.")
        return name

    def text(self) -> str:
        try:
            return self.take(self.number(_TEXT_LIMIT)).decode()
        except UnicodeDecodeError as error:
            raise MalformedFactBlock("A text of a packed block is not UTF-8.") from error

    def end(self) -> None:
        if self.has_more:
            raise MalformedFactBlock("Something follows the end of a packed block.")
