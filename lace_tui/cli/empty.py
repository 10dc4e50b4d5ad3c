"""An empty word where something has to stand, as of a shell's variable that is not set: it is no word left out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise

from lace_tui.errors import BadArguments

__all__ = ["EMPTY_HINT", "refuse_empty"]

_NEEDED_HINT = "Say it: perhaps a variable of your shell is not set."
EMPTY_HINT = "Say it, or leave it out: perhaps a variable of your shell is not set."
# What may be nothing: what is said to people, a setting's value, and whoever decided where only one did.
_FREE = frozenset({"message", "reason", "next", "value", "accept"})
# What some verb needs in any case, and refuses in words of its own.
_NEEDED = frozenset({"name", "address", "uri", "hash", "key", "selector"})


def refuse_empty(prog: str, actions: Sequence[argparse.Action], args: argparse.Namespace, words: Sequence[str]) -> None:
    """Refuse empty words that a verb would take for words left out.

    Args:
        prog: the command, as it is named to people.
        actions: what it takes.
        args: what was made of the words.
        words: behind the verb.

    Raises:
        BadArguments: there is one.
    """
    with_value = {option for action in actions if action.nargs != 0 for option in action.option_strings}
    of_options = {before for before, word in pairwise(words) if before in with_value and word == ""}
    of_options |= {word[:-1] for word in words if word[-1:] == "=" and word[:-1] in with_value}
    is_alone = any(word == "" and before not in with_value for before, word in pairwise(["", *words]))
    for action in actions:
        options = action.option_strings
        is_empty = not of_options.isdisjoint(options) if options else is_alone and _holds_empty(action, args)
        if is_empty and action.dest not in _FREE:
            name = options[-1] if options else action.metavar or action.dest
            raise BadArguments(f"{prog}: {name} is empty.", hint=_NEEDED_HINT if action.required else EMPTY_HINT)


def _holds_empty(action: argparse.Action, args: argparse.Namespace) -> bool:
    value = getattr(args, action.dest, None)
    if isinstance(value, list):
        return "" in value
    return value == "" and not (action.nargs is None and action.dest in _NEEDED)
