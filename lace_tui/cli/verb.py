"""What a verb of the command line is; `lace_tui.cli.verbs` is the table of them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FAMILIES", "Verb"]

FAMILIES = ("Begin and belong", "Work", "Sync", "Look after, look into", "About lace")


class Verb(NamedTuple):
    """One verb of the command line.

    Args:
        name: one word or two.
        module: dotted module with `configure` and `run`.
        family: one of `FAMILIES`.
        sentence: what it does, shown in help; begins with a verb and ends with a full stop.
        arguments: synopsis of its own arguments.
        json: what it prints under `--json`: "object" (exactly one), "lines" (one object a line) or "bytes".
        examples: command lines worth showing, each starting with "lace".
        acts: whether its answer only tells what it did, which `-q` leaves out where all went well.
    """

    name: str
    module: str
    family: str
    sentence: str
    arguments: str = ""
    json: str = "object"
    examples: tuple[str, ...] = ()
    acts: bool = False
