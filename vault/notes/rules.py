"""The notes of rules that a person set for a desk."""

from __future__ import annotations

from typing import Final

from vault.desks.paths import split_path
from vault.notes.forms import rows, string, verifier
from vault.notes.note import Note, Rotten

__all__ = ["KEEPING", "MOST_RULES", "PERMITS"]

MOST_RULES = 1_000  # of one desk, of one kind


def _permit(path: object, act: object, is_white: object, nodes: list[object]) -> tuple[str, str, bool, tuple[str, ...]]:
    if not isinstance(is_white, bool):
        raise TypeError(is_white)
    # A verifier that is none would leave out nobody.
    return string(path), string(act), is_white, tuple(verifier(string(node)) for node in nodes)


PERMITS: Final = Note(
    "permits",
    rows(
        "path, `read` or `write`, whether only those listed may (else all but those), and the verifiers, sorted; sorted"
        " by path and act",
        _permit,
        list,
        MOST_RULES,
    ),
    f"Who may write and read where, at most {MOST_RULES} rules.",
    "Emptied with the last rule.",
    ("vault.permits",),
    of="desk",
    rotten=Rotten.REFUSED,
)


def _keep(path: object, newest: object) -> tuple[str, int | None]:
    split_path(string(path))
    if newest is not None and (type(newest) is not int or not 1 <= newest < 2**31):
        raise ValueError(newest)
    return string(path), newest


KEEPING: Final = Note(
    "keeping",
    rows("path and number, or null for all; sorted by path", _keep, list, MOST_RULES),
    f"How many of each person's newest releases keep their files where, at most {MOST_RULES} rules.",
    "Emptied with the last rule.",
    ("vault.content.keeping",),
    of="desk",
)
