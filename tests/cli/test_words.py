"""Whatever words a verb is given, it answers or says what is wrong with them: no words make a bug (APP-14)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from random import Random

import pytest

from lace_tui.cli.frame import build_parser
from lace_tui.cli.verbs import VERBS
from lace_tui.errors import EXIT_BUG
from tests.people import Person

_ODD = ("", "-", "--", "nope", "x" * 300, "a\nb", "\u202eevil", "é", "\udc80", "🖧", "*", "%", "'", "\x01", "~nobody/x")
_NUMBERS = ("0", "1", "-1", "1.0.0", "1.1.0", "9.9.9", "99999999999999999999", "1..2", "2026-01-01", "today")
_NAMES = ("alice", "bob", "stick", "main", "notes.md", "d", "d/x.bin", ".", "d/*", ".vault", ".vault/store.db", "new/x")
_ADDRESSES = ("bob/main@1", "main@2", "@", "main@", "main@1..2", "bob/", "https://127.0.0.1:1/#V.x", "git+file:nope")
_WORDS = (*_ODD, *_NUMBERS, *_NAMES, *_ADDRESSES)
_ENDLESS = ("--follow", "--wait")
_LONG = {"serve", "watch", "demo", "tui", "report"}  # they stay, or take their seconds to start
_COMMANDS = 120
_COUNTS: dict[str | int | None, tuple[int, ...]] = {
    None: (1,),
    0: (0,),
    1: (1,),
    "?": (0, 1, 1),
    "*": (0, 1, 2),
    "+": (1, 2),
    argparse.REMAINDER: (0, 1, 2),
}


def _drawn(draw: Random, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Draw words that a parser may take, and some that it may not."""
    for action in parser._actions:
        options = action.option_strings
        if "--help" in options or any(option in _ENDLESS for option in options):
            continue
        if options and not action.required and draw.random() > 0.25:
            continue
        if options:
            yield draw.choice(options)
        for _ in range(draw.choice(_COUNTS.get(action.nargs, (2,)))):
            fitting = [str(choice) for choice in action.choices or ()]
            yield draw.choice(fitting if fitting and draw.random() < 0.9 else _WORDS)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_words_make_a_bug(pair: tuple[Person, Person], seed: int) -> None:
    """Each command that failed so is printed, with what it said; the seed draws the same ones again."""
    draw = Random(seed)
    for person in pair:
        person.write("d/x.bin", b"\x00\x01")
        person.lace("release", "1.1.0")
    verbs = [verb for verb in VERBS if verb.name.split()[0] not in _LONG]
    bugs = []
    for _ in range(_COMMANDS):
        verb, person = draw.choice(verbs), draw.choice(pair)
        words = [*draw.choice(([], ["--json"])), *verb.name.split(), *_drawn(draw, build_parser(verb))]
        result = person.run(*words, stdin=draw.choice((b"", b"x\n", b"{}", b"\xff\xfe")))
        if result.code == EXIT_BUG:
            bugs.append((words, result.err))
    assert not bugs
