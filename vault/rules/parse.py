"""Read a rule program strictly and within bounds; faults name their line and column (FAC-10, FAC-12).

White space (space, tab, LF, CR LF) may stand between tokens, and `#` begins a comment that runs to the end of its
line. Neither is part of the program: its canonical text has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, NoReturn
from unicodedata import is_normalized

from vault.lacegram import CONTROL, PREDICATE, unquoted
from vault.rules.errors import RuleSyntaxError, RuleTooLarge
from vault.rules.syntax import ANY, Atom, Constant, Literal, Program, Rule, SourceLocation, Term, Variable

__all__ = [
    "MAX_ARITY",
    "MAX_CONSTANT_BYTES",
    "MAX_LITERALS",
    "MAX_NAME",
    "MAX_PROGRAM_BYTES",
    "MAX_RULES",
    "parse_program",
]

MAX_RULES: Final = 256
MAX_LITERALS: Final = 16  # of one body
MAX_ARITY: Final = 16
MAX_CONSTANT_BYTES: Final = 1024  # a header line has no more (REC-16), so a longer constant equals nothing
MAX_PROGRAM_BYTES: Final = 256 * 1024
MAX_NAME: Final = 64  # characters of a predicate or variable

_TOKEN = re.compile(
    r"""
    (?P<space> (?: [ \t\n] | \r\n | \#[^\n]* )+ )
  | (?P<constant> '[^'\\\n]*(?:\\['\\][^'\\\n]*)*' )
  | (?P<name> [A-Z][A-Za-z0-9_]* )
  | (?P<not> not(?![A-Za-z0-9_]) )
  | (?P<if> :- )
  | (?P<sign> [(),.] )
  | (?P<any> _(?![A-Za-z0-9_]) )
    """,
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    place: SourceLocation


def parse_program(source: str | bytes) -> Program:
    """Read a program.

    Args:
        source: its text, or the UTF-8 bytes of it.

    Raises:
        RuleSyntaxError: it is not written in the rule language; says where.
        RuleTooLarge: it breaks a bound.
    """
    text = _text(source)
    reader = _Reader(text)
    rules: list[Rule] = []
    while not reader.at_end:
        place = reader.token.place
        rules.append(reader.rule())
        if len(rules) > MAX_RULES:
            raise RuleTooLarge(f"A program has at most {MAX_RULES} rules.", place.line, place.column)
    if not rules:
        raise RuleSyntaxError("The program has no rule.", 1, 1)
    return Program(tuple(rules))


def _text(source: str | bytes) -> str:
    if len(source) > MAX_PROGRAM_BYTES:
        raise RuleTooLarge(f"A program has at most {MAX_PROGRAM_BYTES} bytes.")
    try:
        data = source.encode() if isinstance(source, str) else source
        source = data.decode()
    except UnicodeEncodeError as error:
        where = _position(error.object, error.start)
        raise RuleSyntaxError("Here stands half of a character, which no text may hold.", *where) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        raise RuleSyntaxError("Here stand bytes that are not UTF-8.", *_position(before, len(before))) from error
    if len(data) > MAX_PROGRAM_BYTES:
        raise RuleTooLarge(f"A program has at most {MAX_PROGRAM_BYTES} bytes.")
    if not is_normalized("NFC", source):
        lines = source.split("\n")
        number = next((n for n, line in enumerate(lines, 1) if not is_normalized("NFC", line)), 1)
        raise RuleSyntaxError("This line is not in Unicode's normal form NFC.", number, 1)
    return source


def _position(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


class _Reader:
    """Tokens with one of them in sight."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self.token = next(self._tokens)

    @property
    def at_end(self) -> bool:
        return self.token.kind == "end"

    def _take(self) -> _Token:
        token = self.token
        self.token = next(self._tokens)
        return token

    def _expect(self, text: str, after: str) -> None:
        if self.token.text != text or self.token.kind not in {"sign", "if"}:
            self._wrong(f"{text!r} is missing after {after}")
        self._take()

    def _wrong(self, what: str) -> NoReturn:
        found = "the program ends here" if self.at_end else f"here stands {_shown(self.token.text)}"
        raise RuleSyntaxError(f"{what[0].upper() + what[1:]}; {found}.", self.token.place.line, self.token.place.column)

    def rule(self) -> Rule:
        head = self._atom("a rule begins with a predicate")
        body: list[Literal] = []
        if self.token.kind == "if":
            self._take()
            body.append(self._literal())
            while self.token.text == ",":
                self._take()
                place = self.token.place
                if len(body) == MAX_LITERALS:
                    raise RuleTooLarge(f"A rule has at most {MAX_LITERALS} literals.", place.line, place.column)
                body.append(self._literal())
        self._expect(".", "the rule")
        return Rule(head, tuple(body))

    def _literal(self) -> Literal:
        negated = self.token.kind == "not"
        if negated:
            self._take()
        return Literal(self._atom("a literal begins with a predicate"), negated)

    def _atom(self, rule: str) -> Atom:
        if self.token.kind != "name":
            self._wrong(rule)
        if not PREDICATE.fullmatch(self.token.text):
            self._wrong("the name of a predicate has only letters and digits")
        name = self._take()
        self._expect("(", "the predicate")
        terms: list[Term] = []
        if self.token.text != ")" or self.token.kind != "sign":
            terms.append(self._term())
            while self.token.kind == "sign" and self.token.text == ",":
                self._take()
                place = self.token.place
                if len(terms) == MAX_ARITY:
                    raise RuleTooLarge(f"An atom has at most {MAX_ARITY} terms.", place.line, place.column)
                terms.append(self._term())
        self._expect(")", "the terms")
        return Atom(name.text, tuple(terms), name.place)

    def _term(self) -> Term:
        kind = self.token.kind
        if kind not in {"constant", "name", "any"}:
            self._wrong("a term is a constant in single quotes, a capitalised variable or _")
        text = self._take().text
        if kind == "constant":
            return Constant(unquoted(text))
        return Variable(text) if kind == "name" else ANY


def _tokens(text: str) -> Iterator[_Token]:
    offset, line, start = 0, 1, 0
    while offset < len(text):
        place = SourceLocation(line, offset - start + 1)
        match = _TOKEN.match(text, offset)
        if match is None:
            raise RuleSyntaxError(_why_not(text, offset), place.line, place.column)
        kind, found = match.lastgroup or "", match[0]
        offset = match.end()
        if kind == "space":
            if "\n" in found:
                line += found.count("\n")
                start = match.start() + found.rfind("\n") + 1
            control = CONTROL.search(found.replace("\r\n", "").replace("\n", "").replace("\t", ""))
            if control:
                raise RuleSyntaxError("A comment holds a control character.", place.line, place.column)
            continue
        _check_token(kind, found, place)
        yield _Token(kind, found, place)
    end = _Token("end", "", SourceLocation(line, offset - start + 1))
    while True:
        yield end


def _check_token(kind: str, found: str, place: SourceLocation) -> None:
    if kind == "name" and len(found) > MAX_NAME:
        raise RuleTooLarge(f"A name has at most {MAX_NAME} characters.", place.line, place.column)
    if kind == "constant":
        control = CONTROL.search(found)
        if control:
            column = place.column + control.start()
            raise RuleSyntaxError("A constant holds a control character.", place.line, column)
        if len(unquoted(found).encode()) > MAX_CONSTANT_BYTES:
            raise RuleTooLarge(f"A constant has at most {MAX_CONSTANT_BYTES} bytes.", place.line, place.column)


def _why_not(text: str, offset: int) -> str:
    if text[offset] == "'":
        return "This constant is not closed on its line, or holds a backslash that escapes neither ' nor \\."
    if text[offset].isascii() and text[offset].isalpha():
        return "Names begin with a capital letter; the only other word is not."
    return f"The character {_shown(text[offset])} cannot stand here."


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else text[:40] + "...")
