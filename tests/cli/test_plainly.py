"""What is understood of a verb's words without `argparse` is what `argparse` makes of them, or nothing (APP-4)."""

from __future__ import annotations

from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from lace_tui.cli.errors import BadArguments
from lace_tui.cli.parsing import build_parser, parse
from lace_tui.cli.plainly import ABSENT, EVERYWHERE, HelpAsked, NotPlain, PlainParser
from lace_tui.cli.verbs import VERBS, Verb
from tests.people import Person

_VALUES = ("-", "--", "-1", "-x", "--nope", "", "1", "notes.md", "a b", "- a", "é", "bob/main@1", "1.0.0", "y", "list")
_DRAWS = 120
_NEVER = {"desk permit", "resolve"}  # options that take many words, or that say more together


def _plainly(verb: Verb, words: list[str]) -> SimpleNamespace | None:
    parser = PlainParser()
    try:
        import_module(verb.module).configure(parser, verb.name)
        for names, how in EVERYWHERE:
            parser.add_argument(*names, default=ABSENT, **how)
        return parser.parse(words)
    except NotPlain:
        return None


def _by_argparse(verb: Verb, words: list[str]) -> dict[str, Any] | None:
    try:
        return vars(parse(verb, words))
    except (BadArguments, HelpAsked):
        return None


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_it_gives_what_argparse_gives_or_leaves_the_words_to_it(verb: Verb) -> None:
    draw, actions = Random(verb.name), build_parser(verb)._actions
    plain = 0
    for _ in range(_DRAWS):
        words = []
        for action in actions:
            fitting = [str(choice) for choice in action.choices or ()] or _VALUES[5:]
            if action.option_strings and draw.random() < (0.8 if action.required else 0.2):
                words.append(draw.choice(action.option_strings))
            elif action.option_strings:
                continue
            if action.nargs != 0 and draw.random() < 0.8:
                words.append(draw.choice(fitting if draw.random() < 0.8 else _VALUES))
        if draw.random() < 0.2:
            words.insert(draw.randrange(len(words) + 1), draw.choice(_VALUES))
        found = _plainly(verb, words)
        if found is not None:
            plain += 1
            assert vars(found) == _by_argparse(verb, words), words
    assert plain or verb.name in _NEVER


@pytest.mark.parametrize(
    "line",
    [
        ["commit", "-m", "First"],
        ["commit", "-m", "only this", "notes.md", "d/x", "--json"],
        ["status"],
        ["release", "1.0.0", "-m", "First"],
        ["sync", "stick", "-q"],
        ["update"],
    ],
    ids=" ".join,
)
def test_what_is_typed_every_day_is_plain(line: list[str]) -> None:
    verb = next(verb for verb in VERBS if verb.name == line[0])
    found = _plainly(verb, line[1:])
    assert found is not None
    assert vars(found) == _by_argparse(verb, line[1:])


@pytest.mark.parametrize(
    "line",
    [
        ["commit", "-h"],
        ["commit", "-mFirst"],
        ["commit", "--message=First"],
        ["commit", "-m"],
        ["commit", "-m", "-x"],
        ["commit", "--", "-x"],
        ["status", "--nope"],
        ["init", "too", "many"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_argparse(line: list[str]) -> None:
    verb = next(verb for verb in VERBS if verb.name == line[0])
    assert _plainly(verb, line[1:]) is None


def test_words_mean_the_same_either_way(ann: Person) -> None:
    """CYB-2: a message that begins with a dash takes the long way, and is the same message."""
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "one")
    ann.write("a.txt", "two\n")
    ann.lace("commit", "-m- two")
    said = ann.text("log")
    assert "- two" in said
    assert "one" in said
