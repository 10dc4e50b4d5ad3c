"""From header text to typed fields, strictly, and the two shapes that all kinds share.

A kind is a frozen value. It comes from a record by `read`, which turns the headers into fields; the value's
own `_check` holds the rules about the fields, so no value can exist that breaks one. `to_plex` goes the other
way and reads its result back before it returns it: what lace writes is what lace accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Self
from unicodedata import is_normalized, normalize

from vault.names import BadName, BadVersion
from vault.profile.errors import ProfileError
from vault.profile.groups import check_group_id
from vault.records import Blob, Plex, Record, RecordError, RecordHash, Seal, Tai, Verifier, b64a
from vault.records.links import parse_link

__all__ = [
    "NUMBER_LIMIT",
    "Origin",
    "Sealed",
    "ascending",
    "at_most_one",
    "check_number",
    "decimal",
    "describe",
    "exactly_one",
    "headers",
    "link_pairs",
    "links",
    "no_body",
    "plain_text",
    "raw",
    "required",
    "text_bytes",
    "text_of",
    "two_part_name",
]

NUMBER_LIMIT = 2**63  # Seq, Lamport and revision numbers stay below it, so they fit a signed 64-bit column
_LINK = "+Link"
# The signer and the Seal of a Plex that is checked before it is sealed.
_NOBODY = Verifier(bytes(32))
_NOTHING = RecordHash("S", bytes(32))

Origin = tuple[RecordHash, bytes, Verifier, str, Tai]


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)  # each kind makes its own
class Sealed:
    """What every sealed kind has.

    Args:
        hash: hash of the Seal: what links name.
        plex_digest: 32-byte digest of the Plex inside: what the signature covers.
        signer: who sealed it.
        group: the group id, unless the kind says otherwise.
        tai: when, by the signer's clock; no decision reads it.

    Raises:
        ProfileError: a field breaks a rule of docs/formats.md.
    """

    APP: ClassVar[str] = ""

    hash: RecordHash
    plex_digest: bytes
    signer: Verifier
    group: str
    tai: Tai

    def __post_init__(self) -> None:
        self._check_group()
        self._check()

    @classmethod
    def read(cls, record: Record) -> Self:
        """Return the value of a validated record of this kind.

        Raises:
            ProfileError: the record is of another App, is not sealed, or breaks a rule of its kind.
        """
        if not isinstance(record, Seal):
            raise ProfileError("a record of its App must be sealed", describe(record))
        plex = record.plex
        if plex.app != cls.APP:
            raise ProfileError(f"its App is not {cls.APP}", describe(record))
        try:
            return cls._of((record.hash, plex.hash.digest, record.signer, plex.group, plex.tai), plex)
        except ProfileError as fault:
            raise ProfileError(fault.rule, describe(record)) from fault
        except (BadName, BadVersion, RecordError) as fault:
            raise ProfileError(fault.message, describe(record)) from fault

    @classmethod
    def _checked(cls, plex: Plex, signer: Verifier = _NOBODY) -> Plex:
        """Return the Plex if it reads as this kind; a bad name stays the caller's error."""
        cls._of((_NOTHING, _NOTHING.digest, signer, plex.group, plex.tai), plex)
        return plex

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        raise NotImplementedError

    def _check_group(self) -> None:
        check_group_id(self.group)

    def _check(self) -> None:
        """Refuse fields that break a rule of the kind."""


def describe(record: Record) -> str:
    """Return how a message names a record: its App, if it has one, and its hash."""
    if isinstance(record, Blob):
        return f"Blob {record.hash.text}"
    plex = record.plex if isinstance(record, Seal) else record
    return f"{plex.app} record {record.hash.text}"


# Headers


def headers(plex: Plex, *named: str) -> dict[str, str]:
    """Return the headers of these names; other names are allowed and mean nothing.

    Raises:
        ProfileError: one of them stands twice.
    """
    found: dict[str, str] = {}
    for name, value in plex.extras:
        if name in named:
            if name in found:
                raise ProfileError(f"its header {name} stands twice")
            found[name] = value
    return found


def required(found: Mapping[str, str], name: str) -> str:
    """Return the value of a header that must be there.

    Raises:
        ProfileError: it is missing.
    """
    value = found.get(name)
    if value is None:
        raise ProfileError(f"its header {name} is missing")
    return value


def decimal(text: str, what: str, *, below: int = NUMBER_LIMIT) -> int:
    """Return a decimal number without sign and leading zero.

    Raises:
        ProfileError: the text is another one, or the number reaches `below`.
    """
    # The length comes first: int() of a long text takes quadratic time.
    if len(text) <= 19 and text.isdigit() and text.isascii() and (text[0] != "0" or text == "0"):
        number = int(text)
        if number < below:
            return number
    raise ProfileError(f"its {what} {text[:40]!r} is not a plain decimal number below {below}")


def check_number(number: int, what: str, *, least: int = 1) -> None:
    """Refuse a number outside `least` to 2^63 - 1.

    Raises:
        ProfileError: it is outside.
    """
    if not least <= number < NUMBER_LIMIT:
        raise ProfileError(f"its {what} {number} is not between {least} and {NUMBER_LIMIT - 1}")


def raw(text: str, size: int, what: str) -> bytes:
    """Return the bytes of a B64A text that must stand for exactly `size` bytes.

    Raises:
        ProfileError: the length is another one.
        RecordError: the text is not canonical B64A.
    """
    data = b64a.decode(text)
    if len(data) != size:
        raise ProfileError(f"its {what} stands for {len(data)} bytes and not {size}")
    return data


def two_part_name(name: str) -> tuple[str, str]:
    """Return both parts of a Name `<desk>/<something>`.

    Raises:
        ProfileError: there are not exactly two.
    """
    parts = name.split("/")
    if len(parts) != 2:
        raise ProfileError(f"its Name {name!r} does not have two parts")
    return parts[0], parts[1]


# Links


def links(plex: Plex, *words: tuple[str, str]) -> list[list[RecordHash]]:
    """Return the targets of the `+Link` headers, one list for each word.

    Args:
        plex: the record.
        words: each link word and the kind letter of its targets, in the order in which they must stand.

    Raises:
        ProfileError: another word, another kind of target, or a word out of order.
        RecordError: a target is not a hash text.
    """
    ranks = _ranks(words)
    targets: list[list[RecordHash]] = [[] for _ in words]
    last = 0
    for name, value in plex.extras:
        if name != _LINK:
            continue
        link = parse_link(value)
        word, target = (link.data, link.record) if link is not None else (value.rpartition(" ")[0], None)
        place = ranks.get(word)
        if place is None:
            raise ProfileError(f"it has a link {word!r}, which its kind does not know")
        rank, kind = place
        if rank < last:
            raise ProfileError(f"its link {word} stands too late")
        last = rank
        if target is None:
            target = RecordHash.parse(value.rpartition(" ")[2])  # which names what is wrong with it
        if target[0] != kind:
            raise ProfileError(f"its link {word} names a record of type {target.kind}")
        targets[rank].append(target)
    return targets


@lru_cache(maxsize=64)
def _ranks(words: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[int, str]]:
    return {word: (rank, kind) for rank, (word, kind) in enumerate(words)}


def link_pairs(word: str, targets: Iterable[RecordHash | None]) -> list[tuple[str, str]]:
    """Return the `+Link` headers of one word; absent targets give none."""
    return [(_LINK, f"{word} {target.text}") for target in targets if target is not None]


def exactly_one(targets: Sequence[RecordHash], word: str) -> RecordHash:
    """Return the only target.

    Raises:
        ProfileError: there is none, or there are several.
    """
    if len(targets) != 1:
        raise ProfileError(f"it needs exactly one link {word}, not {len(targets)}")
    return targets[0]


def at_most_one(targets: Sequence[RecordHash], word: str) -> RecordHash | None:
    """Return the only target, or None.

    Raises:
        ProfileError: there are several.
    """
    if len(targets) > 1:
        raise ProfileError(f"it needs at most one link {word}, not {len(targets)}")
    return targets[0] if targets else None


def ascending(targets: Sequence[RecordHash], word: str) -> None:
    """Refuse targets that are not sorted by hash text, each once; hashes sort as their texts.

    Raises:
        ProfileError: they are not.
    """
    for left, right in pairwise(targets):
        if not left < right:
            raise ProfileError(f"its links {word} are not sorted by hash, each once")


# Bodies


def no_body(plex: Plex) -> None:
    """Refuse data where the kind has none.

    Raises:
        ProfileError: there are data.
    """
    if plex.blob.data:
        raise ProfileError(f"it has {len(plex.blob.data)} bytes of data where its kind has none")


def text_of(plex: Plex) -> str:
    """Return the data as text: UTF-8 in NFC with LF line ends.

    Raises:
        ProfileError: they are something else.
    """
    try:
        text = plex.blob.data.decode()
    except UnicodeDecodeError:
        raise ProfileError("its text is not UTF-8") from None
    if "\r" in text:
        raise ProfileError("its text holds a carriage return")
    if not text.isascii() and not is_normalized("NFC", text):
        raise ProfileError("its text is not in Unicode normalisation form C")
    return text


def plain_text(typed: str) -> str:
    """Return what a person typed as records carry it: NFC, LF line ends."""
    return normalize("NFC", typed.replace("\r\n", "\n").replace("\r", "\n"))


def text_bytes(text: str) -> bytes:
    """Return the data of a text; lone surrogates become bytes that `text_of` refuses."""
    return text.encode("utf-8", "surrogatepass")
