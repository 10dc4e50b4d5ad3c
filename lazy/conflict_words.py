"""In which words a conflict is told of, and the commands that decide it or have it otherwise (LAZ-37, LAZ-39)."""

from __future__ import annotations

from typing import Final

from lazy.contested import Conflict, Side
from vault.commands import as_either, as_typed, as_words
from vault.desk_folders import MAIN
from vault.errors import DataError
from vault.records import Tai
from vault.vault import Vault

__all__ = [
    "OVERTAKEN",
    "deciding_command",
    "deciding_words",
    "detected_iso",
    "next_to_decide",
    "other_side",
    "side_names",
    "side_words",
    "update_command",
    "update_desk",
]

OVERTAKEN: Final = "A later state has all sides: whichever is kept, your folder stays as it is."
"""What is said of a contested version that `lazy.overtaken` is about."""


def side_words(conflict: Conflict, me: str) -> str:
    """Return how `resolve` is told to keep a side of this conflict.

    Whoever gives the line to a shell as it stands decides nothing by that: a bar would take the first side.

    The words local and remote are a viewer's (LAZ-39): they are offered where each means one side, else the names are.
    """
    if len(conflict.sides) == 2 and _mine(conflict, me) is not None:
        return "--prefer local or remote"
    return as_either("--prefer", (side.word for side in conflict.sides))


def side_names(conflict: Conflict, me: str) -> list[str]:
    """Return the sides in words for their viewer: `you`, and everybody else's as `resolve --prefer` calls it."""
    mine = _mine(conflict, me)
    return ["you" if side is mine else side.word for side in conflict.sides]


def _mine(conflict: Conflict, me: str) -> Side | None:
    local = [side for side in conflict.sides if side.is_local]
    return local[0] if len(local) == 1 and local[0].node == me else None


def deciding_command(vault: Vault, conflict: Conflict) -> str:
    """Return the command that decides an open conflict."""
    return f"lace resolve {conflict.id} {deciding_words(conflict, vault.node.text)}"


def deciding_words(conflict: Conflict, me: str) -> str:
    """Return how `resolve` is told to decide an open conflict: to accept what is proposed, else to keep a side."""
    return conflict.accept_words() if conflict.proposals else side_words(conflict, me)


def next_to_decide(conflict: Conflict) -> str:
    """Return the command to run next for an open conflict, which runs as it stands.

    One thing proposed is accepted. Else the conflict is shown with how each side is kept, for that is a person's choice
    (LAZ-42): a line with a choice left in it cannot be run.
    """
    if conflict.proposals and not conflict.differ:
        return f"lace resolve {conflict.id} {conflict.accept_words()}"
    return "lace conflicts"


def update_command(conflict: Conflict) -> str:
    """Return the command that brings what was released into the desk of a conflict."""
    return update_desk(conflict.desk)


def update_desk(desk: str) -> str:
    """Return the command that brings what was released into a desk."""
    return "lace update" if desk == MAIN else as_typed("update", desk)


def other_side(decided: Conflict) -> str:
    """Return how to have another content after a decision: a side is brought back, and released (LAZ-37, LAZ-43)."""
    if decided.version is None:
        return "Make the folder as you want it, then: lace release"
    names = sorted({one.name for one in decided.sides if one.word == one.name})
    sides = [as_words(f"{name}/{decided.desk}@{decided.version}") for name in names] or ["DESK@CASE"]
    return f"Bring a side back with: lace checkout {' or '.join(sides)} - then: lace release"


def detected_iso(conflict: Conflict) -> str:
    """Return when the conflict was first seen here, as ISO 8601 UTC (LAZ-35); empty where nobody knows it any more."""
    try:
        return Tai.parse(conflict.detected).to_utc_iso() if conflict.detected else ""
    except DataError:
        return ""  # it rotted, and decides nothing
