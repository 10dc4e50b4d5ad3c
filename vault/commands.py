"""Commands of lace as a person types them, for what an answer or a way out offers.

A name, path or address of somebody's may hold a space or a quote, and may begin with a dash: then a shell would take it
apart, or lace take it for an option. Whatever offers a command with such a word builds it here.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["as_either", "as_option", "as_typed", "as_words"]


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


def as_words(*named: str) -> str:
    """Return names, paths and addresses as a shell takes them; behind two dashes where one looks like an option.

    >>> as_words("main@1", "-dash")
    '-- main@1 -dash'
    """
    import shlex  # noqa: PLC0415 - most runs offer no command

    return shlex.join(("--", *named) if any(word.startswith("-") for word in named) else named)


def as_option(name: str, value: str) -> str:
    """Return an option with its value, in one word where the value looks like an option itself.

    >>> as_option("--desk", "a b"), as_option("--desk", "-x"), as_option("-m", "-x")
    ("--desk 'a b'", '--desk=-x', '-m-x')
    """
    import shlex  # noqa: PLC0415

    if value.startswith("-"):
        return f"{name}{'=' if name.startswith('--') else ''}{shlex.quote(value)}"
    return f"{name} {shlex.quote(value)}"


def as_either(name: str, values: Iterable[str]) -> str:
    """Return an option with each value it may have; with one the whole again where that looks like an option.

    >>> as_either("--prefer", ["bob", "cara"]), as_either("--prefer", ["bob", "-x"])
    ('--prefer bob or cara', '--prefer bob or --prefer=-x')
    """
    first, *others = dict.fromkeys(values)
    more = (as_option(name, one) if one.startswith("-") else as_words(one) for one in others)
    return " or ".join((as_option(name, first), *more))
