"""A verb's words taken apart by `argparse`, with its help and with the words for all that can be wrong about them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from lace_tui.cli.errors import BadArguments
from lace_tui.cli.plainly import EVERYWHERE, HelpAsked
from lace_tui.cli.verb import Verb

__all__ = ["Parser", "build_parser", "parse"]


class Parser(argparse.ArgumentParser):
    """An argument parser that raises lace's own errors and never prints or exits."""

    def error(self, message: str) -> NoReturn:
        """Raise `BadArguments` as a sentence that names the verb."""
        raise BadArguments(f"{self.prog}: {_plain(message)}.", hint=f"See: lace help {self.prog.removeprefix('lace ')}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise `HelpAsked`: argparse leaves on its own only after printing help."""
        raise HelpAsked(message or "")


def _plain(message: str) -> str:
    """Return argparse's message in plainer words, where it has a shape that is met every day."""
    lacks, one_of = "the following arguments are required: ", "one of the arguments "
    if message.startswith(lacks):
        missing = message.removeprefix(lacks)
        return f"{missing} {'are' if ', ' in missing else 'is'} missing"
    if message.startswith(one_of) and message.endswith(" is required"):
        return f"say one of {', '.join(message.removeprefix(one_of).removesuffix(' is required').split())}"
    return message


class _AskHelp(argparse.Action):
    def __call__(self, *_: Any, **__: Any) -> None:
        raise HelpAsked


def build_parser(verb: Verb, columns: int = 80) -> Parser:
    """Return the whole parser of one verb; imports that verb's module."""
    parser = Parser(
        prog=f"lace {verb.name}",
        usage=f"lace {verb.name} {verb.arguments}".rstrip(),
        description=verb.sentence,
        epilog="examples:\n" + "\n".join(f"  {line}" for line in verb.examples) if verb.examples else None,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=min(columns, 100)),
        add_help=False,
        allow_abbrev=False,
    )
    import_module(verb.module).configure(parser, verb.name)
    group = parser.add_argument_group("everywhere")
    for names, how in EVERYWHERE:
        group.add_argument(*names, default=argparse.SUPPRESS, **how)
    group.add_argument("-h", "--help", action=_AskHelp, nargs=0, default=argparse.SUPPRESS, help="explain this verb")
    return parser


def parse(verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    """Return the values that the words give the arguments of a verb.

    Raises:
        BadArguments: a sentence says what is wrong.
        HelpAsked: somebody asks for help.
    """
    parser, rest = build_parser(verb), list(words)
    if "--" in rest:  # the intermixed form forgets what the two dashes say
        return parser.parse_args(rest)
    try:
        return parser.parse_intermixed_args(rest)
    except TypeError:  # a verb whose arguments have an order of their own
        return parser.parse_args(rest)
