"""The forms that notes have: each reads its text strictly and in bounds, and writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from vault.notes.note import LONGEST, Form
from vault.records import RecordHash
from vault.records.hashes import is_verifier

__all__ = ["a_count", "a_hash", "a_number", "a_text", "counts", "flag", "json_of", "lines", "one_of", "rows", "string"]
__all__ += ["verifier", "words"]

T = TypeVar("T")

_DIGITS = 19  # of a number that SQLite holds
_HASH_CHARACTERS = 48


def string(value: object) -> str:
    """Return a text as it is.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def verifier(text: str) -> str:
    """Return the text of a verifier as it is.

    Raises:
        ValueError: it is none.
    """
    if not is_verifier(text):
        raise ValueError(text)
    return text


def a_count(text: str) -> int:
    """Return a decimal number that SQLite holds, without a sign and without a zero before it.

    Raises:
        ValueError: it is none.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS or str(int(text)) != text:
        raise ValueError(text)
    if int(text) >= 2**63:
        raise ValueError(text)
    return int(text)


def a_text(words: str = "a text", check: Callable[[str], str] = str, longest: int = LONGEST) -> Form[str]:
    """Return the form of a text that `check` returns, or refuses."""
    return Form(words, "", check, str, longest=longest)


def one_of(*choices: str) -> Form[str]:
    """Return the form of one of some words."""
    known = {choice: choice for choice in choices}
    return Form(" or ".join(f"`{choice}`" for choice in choices), "", known.__getitem__, str, longest=_HASH_CHARACTERS)


def flag(word: str) -> Form[bool]:
    """Return the form of one word that stands for yes."""
    return Form(f"`{word}`", none=False, parse=lambda text: {word: True}[text], write=lambda _: word, longest=len(word))


def a_number() -> Form[int | None]:
    """Return the form of a decimal number."""
    return Form("a decimal number", None, a_count, str, longest=_DIGITS)


def a_hash(kind: str) -> Form[RecordHash | None]:
    """Return the form of a hash text of one kind of record."""

    def parse(text: str) -> RecordHash:
        found = RecordHash.parse(text)
        if found.kind != kind:
            raise ValueError(text)
        return found

    return Form("a hash text", None, parse, str, longest=_HASH_CHARACTERS)


def words(
    what: str, read: Callable[[str], T], write: Callable[[T], str] = str, most: int = LONGEST
) -> Form[tuple[T, ...]]:
    """Return the form of words with one space between; of some that rotted the others count.

    Args:
        what: each is, for a person.
        read: returns what one word says, or refuses it.
        write: returns the word for it.
        most: how many.
    """
    return _parted(f"{what}, one space between", " ", read, write, most)


def lines(what: str, read: Callable[[str], T], write: Callable[[T], str] = str) -> Form[tuple[T, ...]]:
    """Return the form of lines; of some that rotted the others count. The arguments are those of `words`."""
    return _parted(f"{what}, one a line", "\n", read, write, LONGEST)


def _parted(
    what: str, between: str, read: Callable[[str], T], write: Callable[[T], str], most: int
) -> Form[tuple[T, ...]]:
    def parse(text: str) -> tuple[T, ...]:
        found = tuple(read(part) for part in text.split(between))
        if len(found) > most:
            raise ValueError(len(found))
        return found

    def rest(text: str) -> tuple[T, ...]:
        return tuple(_readable(read, text.split(between)))[-most:]

    return Form(what, (), parse, lambda value: between.join(map(write, value)), rest)


def _readable(read: Callable[[str], T], parts: Iterable[str]) -> Iterable[T]:
    from vault.errors import DataError  # hardly any note ever rots

    for part in parts:
        try:
            yield read(part)
        except (ValueError, LookupError, DataError):  # this one rotted
            continue


def json_of(
    what: str, none: T, make: Callable[[Any], T], plain: Callable[[T], object] = lambda value: value, **style: bool
) -> Form[T]:
    """Return the form of JSON.

    Args:
        what: it is, for a person.
        none: what an empty note holds.
        make: returns what a JSON value says, or refuses it.
        plain: returns the JSON value for it.
        style: of `json.dumps`.
    """

    def parse(text: str) -> T:
        import json  # many commands read no such note

        found = json.loads(text)
        if "\\ud" in text:  # one letter of a pair that rotted leaves half a character, which is no text
            json.dumps(found, ensure_ascii=False).encode()
        return make(found)

    def write(value: T) -> str:
        import json

        return json.dumps(plain(value), **style)  # type: ignore[arg-type]

    return Form(f"JSON, {what}", none, parse, write)


def rows(
    what: str, make: Callable[..., T], plain: Callable[[T], object], most: int, *, ensure_ascii: bool = False
) -> Form[tuple[T, ...]]:
    """Return the form of a JSON list of lists.

    Args:
        what: each list is, for a person.
        make: is given what stands in one, and returns what that says, or refuses it.
        plain: returns the list for it.
        most: how many.
        ensure_ascii: as `json.dumps` has it.
    """

    def all_of(found: Any) -> tuple[T, ...]:
        if not isinstance(found, list) or len(found) > most:
            raise ValueError(found)
        return tuple(make(*row) for row in found)

    return json_of(f"a list of {what}", (), all_of, lambda value: [*map(plain, value)], ensure_ascii=ensure_ascii)


def counts(what: str, most: int) -> Form[Mapping[str, int]]:
    """Return the form of a JSON object of numbers from 0, in the order in which they were noted."""

    def make(found: Any) -> Mapping[str, int]:
        if not isinstance(found, dict) or len(found) > most:
            raise ValueError(found)
        if any(type(number) is not int or not 0 <= number < 2**63 for number in found.values()):
            raise ValueError(found)
        return found

    return json_of(f"an object of {what}", {}, make, dict)
