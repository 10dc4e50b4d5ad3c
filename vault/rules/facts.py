"""Where base facts come from, and which of them may be seen (FAC-2, FAC-6, FAC-7, FAC-14).

A *source* is a store, given tuples, or both: a store answers the record facts itself, everything else is given. Given
tuples may be lazy: a function is called only when a program reads its predicate. A *view* restricts the record facts
of a store to some records, for rules that a peer wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol
from unicodedata import is_normalized

from vault.lacegram import CONTROL, quoted, split_line
from vault.plural import plural
from vault.rules.errors import BadRuleFact
from vault.rules.parse import MAX_CONSTANT_BYTES
from vault.rules.pool import ConnectionPool
from vault.rules.predicates import BASE, RECORD_FACTS

__all__ = ["FactSource", "Row", "StoreFacts", "TupleFacts", "View", "check_row", "format_facts", "parse_facts"]

Row = tuple[str, ...]
Given = Mapping[str, Iterable[Row] | Callable[[], Iterable[Row]]]

_NONE: Given = MappingProxyType({})


class FactSource(Protocol):
    """The base facts of one evaluation."""

    @property
    def store(self) -> Path | None:
        """The store's file that answers the record facts, or None if those are given too."""

    def given(self, predicate: str) -> Iterable[Row]:
        """Return the given tuples of a predicate; none if it is not given."""


@dataclass(frozen=True, slots=True)
class TupleFacts:
    """Facts given as tuples; what is not given does not hold.

    Args:
        rows: tuples, or a function that makes them, by predicate.
    """

    rows: Given = field(default_factory=lambda: _NONE)
    store: Path | None = field(default=None, init=False)

    def given(self, predicate: str) -> Iterable[Row]:
        """Return the tuples of a predicate."""
        rows = self.rows.get(predicate, ())
        return rows() if callable(rows) else rows


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """The record facts of a store, together with given facts.

    Facts of extra headers and links exist for sealed records only: nobody vouches for what an unsigned record
    says beside its content. Of unsigned records, `Field` answers Type, Group, App and Data-Length (of a beacon
    the Name too).

    Args:
        store: the store's file.
        rows: given tuples, or functions that make them, of other predicates.
        pool: keeps a connection to the store open between evaluations, where programs are run often.

    Raises:
        BadRuleFact: a record fact is given, which only the store can answer (FAC-2).
    """

    store: Path
    rows: Given = field(default_factory=lambda: _NONE)
    pool: ConnectionPool | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in self.rows:
            if name in RECORD_FACTS:
                raise BadRuleFact(f"{name} is answered by the store and cannot be given.")

    def given(self, predicate: str) -> Iterable[Row]:
        """Return the given tuples of a predicate."""
        rows = self.rows.get(predicate, ())
        return rows() if callable(rows) else rows


@dataclass(frozen=True, slots=True)
class View:
    """The records of a store that a program may see; every record fact of another one is as if it were not there.

    Args:
        visible_sql: an SQL query of ours that gives positions of records; never text that came from a peer.
        records: hash texts of records, instead of a query.

    Raises:
        ValueError: not exactly one of both is given.
    """

    visible_sql: str | None = None
    records: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if (self.visible_sql is None) == (self.records is None):
            raise ValueError("A view is either a query or a set of records.")


def check_row(predicate: str, row: Row, arity: int) -> Row:
    """Return a given tuple if it can be a fact (FAC-6).

    Raises:
        BadRuleFact: wrong number of values, or one that is no NFC text within the limit.
    """
    if len(row) != arity:
        raise BadRuleFact(f"{predicate} takes {plural(arity, 'value')}, not {len(row)}.")
    for value in row:
        if value.isascii():
            good = len(value) <= MAX_CONSTANT_BYTES and CONTROL.search(value) is None
        else:
            good = _is_text(value)
        if not good:
            raise BadRuleFact(f"{value[:40]!a} cannot be a value of {predicate}: it is not a short text in NFC.")
    return row


def _is_text(value: str) -> bool:
    try:
        short = len(value.encode()) <= MAX_CONSTANT_BYTES
    except UnicodeEncodeError:
        return False
    return short and CONTROL.search(value) is None and is_normalized("NFC", value)


def parse_facts(data: bytes) -> dict[str, list[Row]]:
    """Read lines of base facts: `Predicate('constant',...)`, each ended by LF and each once; empty lines are nothing.

    Raises:
        BadRuleFact: a line breaks a rule; the message has its number.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadRuleFact(f"Line {data.count(10, 0, error.start) + 1} of the facts is not UTF-8.") from error
    if text and not text.endswith("\n"):
        raise BadRuleFact("The last line of the facts is not ended by LF.")
    found: dict[str, list[Row]] = {}
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        fact = split_line(line)
        if fact is None:
            raise BadRuleFact(f"Line {number} of the facts is not of the form Predicate('constant',...).")
        if line in seen:
            raise BadRuleFact(f"Line {number} of the facts repeats an earlier line.")
        seen.add(line)
        name, row = fact
        if name not in BASE:
            raise BadRuleFact(f"Line {number} of the facts: no base fact is called {name[:64]}.")
        try:
            found.setdefault(name, []).append(check_row(name, row, BASE[name].arity))
        except BadRuleFact as error:
            raise BadRuleFact(f"Line {number} of the facts: {error.message}") from error
    return found


def format_facts(predicate: str, rows: Iterable[Row]) -> list[str]:
    """Return tuples as fact lines without LF, sorted by their bytes."""
    return sorted(f"{predicate}({','.join(quoted(value) for value in row)})" for row in rows)
