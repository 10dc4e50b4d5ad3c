"""Commands of lace as a person types them, for what an answer or a way out offers.

A name, path or address of somebody's may hold a space or a quote, and may begin with a dash: then a shell would take it
apart, or lace take it for an option. Whatever offers a command with such a word builds it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault.visible import visible

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

__all__ = ["as_either", "as_option", "as_typed", "as_word", "as_words", "words_of"]

# Compiled when they are needed: only the app reads commands back.
_ESCAPED = r"(?s)\$'((?:[^'\\]|\\.)*)'(?!\S)"  # such a word ends there; within quotes a quote goes on with two more
_ESCAPE = r"(?s)\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|x([0-9a-f]{2})|(.))"
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}


def as_typed(verb: str, *named: str, options: str = "") -> str:
    """Return a command whose arguments are names, paths or addresses, or placeholders for them.

    Args:
        verb: of one word or two.
        named: the arguments.
        options: as they are typed; they stand last, but before two dashes, which end what may be an option.

        >>> as_typed("admit", "bob", options="--key V..."), as_typed("admit", "-bob", options="--key V...")
        ('lace admit bob --key V...', 'lace admit --key V... -- -bob')
    """
    shown = as_words(*named)
    parts = (options, shown) if shown.startswith("-- ") else (shown, options)
    return " ".join(part for part in ("lace", verb, *parts) if part)


def as_word(text: str) -> str:
    r"""Return one name, path or address as a shell takes it, with nothing in it that a terminal does not show.

    An emoji that is joined of several holds such characters. They stand in escapes that bash, zsh and ksh read back.

    >>> as_word("our takes"), as_word("a\u200db")
    ("'our takes'", "$'a\\u200db'")
    """
    import shlex  # most runs offer no command

    if visible(text) == text:
        return shlex.quote(text)
    return "$'" + visible(text, also="\\'") + "'"


def as_words(*named: str) -> str:
    """Return names, paths and addresses as a shell takes them; behind two dashes where one looks like an option.

    >>> as_words("main@1", "-dash")
    '-- main@1 -dash'
    """
    return " ".join(map(as_word, ("--", *named) if any(word.startswith("-") for word in named) else named))


def words_of(command: str) -> list[str]:
    r"""Return the words of a command that was built here.

    >>> words_of("lace sync $'a\\u200db'")
    ['lace', 'sync', 'a\u200db']
    """
    import re
    import shlex

    return shlex.split(re.sub(_ESCAPED, lambda found: shlex.quote(re.sub(_ESCAPE, _meant, found[1])), command))


def _meant(found: re.Match[str]) -> str:
    short, long, byte, char = found.groups()
    if byte is not None:
        return chr(int(byte, 16) + (0xDC00 if int(byte, 16) >= 0x80 else 0))
    return _NAMED.get(char, char) if char else chr(int(short or long, 16))


def as_option(name: str, value: str) -> str:
    """Return an option with its value, in one word where the value looks like an option itself.

    >>> as_option("--desk", "a b"), as_option("--desk", "-x"), as_option("-m", "-x")
    ("--desk 'a b'", '--desk=-x', '-m-x')
    """
    if value.startswith("-"):
        return f"{name}{'=' if name.startswith('--') else ''}{as_word(value)}"
    return f"{name} {as_word(value)}"


def as_either(name: str, values: Iterable[str]) -> str:
    """Return an option with each value it may have; with one the whole again where that looks like an option.

    >>> as_either("--prefer", ["bob", "cara"]), as_either("--prefer", ["bob", "-x"])
    ('--prefer bob or cara', '--prefer bob or --prefer=-x')
    """
    first, *others = dict.fromkeys(values)
    more = (as_option(name, one) if one.startswith("-") else as_words(one) for one in others)
    return " or ".join((as_option(name, first), *more))
