"""The notes of the states of a desk that are kept, and of lines that do not contain all of themselves."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

from vault.errors import LaceError
from vault.notes.forms import a_number, flag, json_of, string, verifier, words
from vault.notes.note import Form, Note
from vault.records import RecordHash

__all__ = [
    "CROSSED",
    "DOUBLED",
    "KEPT_STATES",
    "MOST_KEPT",
    "PARTED",
    "PATH_UNDER_WAY",
    "KeptState",
    "KeptStates",
    "PathUnderWay",
]

MOST_KEPT = 32
"""States of one desk that are kept under a name."""


# States that an act wrote over


class KeptState(NamedTuple):
    """What a folder held when an act wrote over it, and no revision has.

    Args:
        number: counted for the desk, and given once.
        tree: what it stood on, with what was written over in it.
    """

    number: int
    tree: RecordHash

    @property
    def label(self) -> str:
        """What it is named in an address, where a revision has its number or label."""
        return f"kept-{self.number}"


class KeptStates(NamedTuple):
    """The states of a desk that are kept.

    Args:
        last: the number last given.
        states: the oldest first.
    """

    last: int
    states: tuple[KeptState, ...]

    def was_given(self, label: str) -> bool:
        """Tell whether a name was given to a state once, be it kept still or not."""
        head, _, number = label.rpartition("-")
        is_number = number.isascii() and number.isdecimal() and len(number) < 19
        return head == "kept" and is_number and 0 < int(number) <= self.last


def _kept_state(number: object, tree: object) -> KeptState:
    if type(number) is not int or number < 1:
        raise ValueError(number)
    return KeptState(number, RecordHash.parse(string(tree)))


def _kept_states(found: Any) -> KeptStates:
    last, kept = found
    states = tuple(_kept_state(*one) for one in kept)
    if type(last) is not int or len(states) > MOST_KEPT or any(one.number > last for one in states):
        raise ValueError(found)
    return KeptStates(last, states)


_LAST_GIVEN = re.compile(r"\[([0-9]{1,18}), \[")
_ONE_KEPT = re.compile(r'\[([0-9]{1,18}), "([^"]*)"\]')


def _kept_rest(text: str) -> KeptStates:
    """Return the states that can be read; numbers go on after all that are seen, so that none is given twice."""
    states = {}
    for number, tree in _ONE_KEPT.findall(text):
        with suppress(ValueError, LaceError):
            states[int(number)] = _kept_state(int(number), tree)
    given = _LAST_GIVEN.match(text)
    last = max([int(given[1]) if given else 0, *states])
    return KeptStates(last, tuple(states.values())[-MOST_KEPT:])


_KEPT_FORM: Final = json_of(
    "a list of the number last given, and a list of number and tree of each, the oldest first",
    KeptStates(0, ()),
    _kept_states,
    lambda kept: [kept.last, [[one.number, one.tree.text] for one in kept.states]],
)
KEPT_STATES: Final = Note(
    "kept states",
    replace(_KEPT_FORM, rest=_kept_rest),
    f"States that an act wrote over and no revision has, at most {MOST_KEPT}: each has a name, and stays for it.",
    "The oldest go for newer ones, and with a prune.",
    ("vault.revisions.kept_states",),
    of="desk",
    names_content=False,
)


class PathUnderWay(NamedTuple):
    """A checkout of a path that has begun to write its files.

    Args:
        last: the number of the last entry of the audit trail before it.
        words: what tells the same command again.
        found: the tree of the state that it keeps; None where the path was as the folder stands on it.
    """

    last: int
    words: tuple[str, ...]
    found: RecordHash | None


def _path_under_way(found: Any) -> PathUnderWay:
    last, *words, tree = found
    if type(last) is not int:
        raise ValueError(found)
    return PathUnderWay(last, tuple(map(string, words)), RecordHash.parse(string(tree)) if tree else None)


_PATH_UNDER_WAY: Form[PathUnderWay | None] = json_of(
    "a list of the last number of the audit trail, what tells the same command again, and the tree of the state that it"
    " keeps, or an empty text",
    None,
    _path_under_way,
    lambda one: [one.last, *one.words, one.found.text if one.found else ""] if one else None,
)
PATH_UNDER_WAY: Final = Note(
    "path under way",
    _PATH_UNDER_WAY,
    "A checkout of a path that has begun to write: the same one goes on there.",
    "Dropped once all is written.",
    ("lazy.folder.keeping",),
    of="desk",
)


# Lines that do not contain all of themselves

PARTED: Final = Note(
    "parted",
    words("verifiers, sorted", verifier),
    "The nodes of which a later release came that does not contain the one before; an update takes all of theirs, not"
    " the last alone.",
    "Never.",
    ("vault.folder.divergence",),
    of="desk",
)
DOUBLED: Final = Note(
    "doubled",
    a_number(),
    "The first number of my line that two revisions have, or whose revision the next one does not contain, as after a"
    " backup was restored.",
    "Dropped once a folder that contains all of them is committed or released.",
    ("vault.folder.divergence",),
    of="desk",
)
CROSSED: Final = Note(
    "crossed",
    flag("1"),
    "Given from then until the release: meanwhile numbers do not tell which of my revisions contain which.",
    "Emptied by that release.",
    ("vault.folder.divergence",),
    of="desk",
)
