"""The values a rule program is made of (FAC-10).

    program   = { rule }
    rule      = head [ ":-" literal { "," literal } ] "."
    literal   = [ "not" ] atom | builtin
    atom      = Name "(" [ term { "," term } ] ")"
    term      = 'constant' | Variable | "_"

Places (line and column, from 1) travel along for messages and take no part in comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["ANY", "Anonymous", "Atom", "Constant", "Literal", "Program", "Rule", "SourceLocation", "Term", "Variable"]


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where something stands in a text: line and character, both from 1; zeros if it stands nowhere."""

    line: int = 0
    column: int = 0


class Constant(NamedTuple):
    """A text in single quotes."""

    text: str


class Variable(NamedTuple):
    """A capitalised name that means one value throughout its rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Anonymous:
    """The sign `_`: some value, a different one at each place."""


Term = Constant | Variable | Anonymous
ANY = Anonymous()


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate with its terms.

    Args:
        predicate: an ASCII capital, then letters and digits.
        terms: its arguments.
        place: where its name begins.
    """

    predicate: str
    terms: tuple[Term, ...]
    place: SourceLocation = field(default=SourceLocation(), compare=False)

    @property
    def variables(self) -> Iterator[str]:
        """The names of its variables, in order, with repetitions."""
        return (term.name for term in self.terms if isinstance(term, Variable))


class Literal(NamedTuple):
    """An atom of a body, possibly negated."""

    atom: Atom
    negated: bool = False


class Rule(NamedTuple):
    """A head that holds whenever its whole body does."""

    head: Atom
    body: tuple[Literal, ...] = ()


class Program(NamedTuple):
    """Rules in the order they were written."""

    rules: tuple[Rule, ...]
