"""What a note is: a text of the store under a name, with all that a stranger asks of it (APP-13, APP-14).

A note is local: no record carries it, and no friend hears of it. Its text may rot as any cell may. So each says what
becomes of one that cannot be read, and none ends a command for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from vault.errors import LaceError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST", "BadNote", "Form", "Note", "Rotten"]

T = TypeVar("T")

LONGEST = 64 << 20
"""Characters of a note at most, where its form says no less; a longer text is none that lace wrote."""

_SENTENCE_ENDS = "."


class BadNote(ValueError):
    """The text of a note is not of its form. The store answers it as the note says; nobody else meets it."""


class Rotten(StrEnum):
    """What becomes of a note that cannot be read."""

    PASSED_OVER = "what cannot be read of it counts for nothing, and a repair drops that"
    REFUSED = "what needs it is refused until a repair"
    TOLD_AGAIN = "a repair tells it again by the records of the vault"
    WRITTEN_ANEW = "no record tells it: a repair writes another"


@dataclass(frozen=True, slots=True, eq=False)
class Form(Generic[T]):
    """How the text of a note is read and written.

    Args:
        words: what the text is, in words.
        none: what a note holds that is not there, or is empty.
        parse: returns what a text holds; raises whatever parsing raises.
        write: returns the text for it.
        rest: returns what can be read of a text that has rotted; without it that is `none`.
        longest: characters at most.
    """

    words: str
    none: T
    parse: Callable[[str], T]
    write: Callable[[T], str]
    rest: Callable[[str], T] | None = None
    longest: int = LONGEST


@dataclass(frozen=True, slots=True, eq=False)
class Note(Generic[T]):
    """One kind of note.

    Args:
        name: of its row in the table `meta`; vaults have it, so it stays.
        form: of its text.
        holds: what it tells, a sentence.
        ends: when it is let go of, a sentence.
        writers: the modules that write it.
        of: what each is about, where there is one for each: its row has that after the name and a space.
        rotten: what becomes of one that cannot be read.
        names_content: whether a prune leaves content that it names.
        apart: how names of other notes go on after this one's: such a row is theirs.

    Raises:
        ValueError: it says too little, or its name cannot be one.
    """

    name: str
    form: Form[T]
    holds: str
    ends: str
    writers: tuple[str, ...]
    of: str = ""
    rotten: Rotten = Rotten.PASSED_OVER
    names_content: bool = True
    apart: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name != " ".join(self.name.split()) or not self.name.isprintable() or "'" in self.name:
            raise ValueError(f"{self.name!r} is no name of a note")
        if not self.holds.endswith(_SENTENCE_ENDS) or not self.ends.endswith(_SENTENCE_ENDS) or not self.writers:
            raise ValueError(f"the note {self.name!r} says too little of itself")

    def key(self, about: str = "") -> str:
        """Return the name of its row.

        Args:
            about: what it is about; nothing else is empty, nor begins with a space.
        """
        if not self.of:
            return self.name
        is_theirs = any(about.startswith(f"{word} ") for word in self.apart)
        return f"{self.name} {' ' if is_theirs else ''}{about}"

    def about(self, key: str) -> str | None:
        """Return what the note in a row is about; None where the row is no such note."""
        if not self.of:
            return "" if key == self.name else None
        found = key.removeprefix(f"{self.name} ")
        if found == key or any(found.startswith(f"{word} ") for word in self.apart):
            return None
        return found.removeprefix(" ")

    def read(self, text: str) -> T:
        """Return what a text holds.

        Raises:
            BadNote: it is not of the form.
        """
        if not text:
            return self.form.none
        if len(text) > self.form.longest:
            raise BadNote(f"{self.name}: too long")
        try:
            return self.form.parse(text)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, LaceError) as error:
            raise BadNote(f"{self.name}: {error}") from error

    def rest(self, text: str) -> T:
        """Return what can be read of a text that is not of the form."""
        if self.form.rest is None or len(text) > self.form.longest:
            return self.form.none
        return self.form.rest(text)

    def write(self, value: T) -> str:
        """Return the text of a note that holds this; nothing for what a note holds that is not there."""
        return "" if value == self.form.none else self.form.write(value)
