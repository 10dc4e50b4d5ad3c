"""What `argparse` says of wrong words, in the words of all other errors; no password is repeated (APP-14)."""

from __future__ import annotations

import re
from collections.abc import Callable

from vault.typed import masked

__all__ = ["plain"]

_NAME = r"argument (?P<name>.+?): "
_NUMBERS = {"int": "a whole number", "float": "a number"}


def _missing(missing: str) -> str:
    return f"{missing} {'are' if ', ' in missing else 'is'} missing"


def _unknown(words: str) -> str:
    options = [word for word in words.split() if word.startswith("-") and word != "-"]
    more = " ".join(word for word in words.split() if word not in options)
    told = [f"there is no option {', '.join(options)}"] if options else []
    more = more or ("" if options else "''")
    return ", and ".join([*told, *([f"too much is said: {more}"] if more else [])])


def _either(name: str) -> str:
    return " or ".join(name.split("/")) if name.startswith("-") else name


def _is_none(name: str, kind: str, value: str) -> str:
    return f"{_either(name)} is {_NUMBERS.get(kind, f'a {kind}')}, and {value} is none"


def _other_choice(name: str, value: str, choices: str) -> str:
    return f"{_either(name)} is one of {choices.replace(chr(39), '')}, and not {value}"


_SHAPES: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = tuple(
    (re.compile(shape, re.DOTALL), told)
    for shape, told in (
        (r"the following arguments are required: (?P<missing>.+)", _missing),
        (r"one of the arguments (?P<those>.+) is required", lambda those: f"say one of {', '.join(those.split())}"),
        (r"unrecognized arguments: (?P<words>.*)", _unknown),
        (_NAME + r"expected .+ arguments?", lambda name: f"a value is missing behind {_either(name)}"),
        (_NAME + r"invalid (?P<kind>\w+) value: (?P<value>.+)", _is_none),
        (_NAME + r"invalid choice: (?P<value>.+) \(choose from (?P<choices>.+)\)", _other_choice),
        (
            _NAME + r"not allowed with argument (?P<other>.+)",
            lambda name, other: f"{_either(name)} and {_either(other)} do not go together",
        ),
        (
            _NAME + r"ignored explicit argument (?P<value>.+)",
            lambda name, value: f"{_either(name)} takes no value, and {value} stands behind it",
        ),
    )
)


def plain(message: str) -> str:
    """Return argparse's message in plain words, where it has a shape that is known."""
    said, colon, words = message.partition(": ")
    message = f"{said}{colon}{masked(words)}"
    for shape, told in _SHAPES:
        if found := shape.fullmatch(message):
            return told(**found.groupdict())
    return message
