"""Clocks that are far from each other, as the dates of what came show them (LAZ-16).

No date decides anything. But a commit is never dated before those that it stands on, so one clock that is ahead dates
everybody's commits from then on, and nobody sees by whom. Which of two clocks is wrong no record can say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lazy.people import label_of
from lazy.problems import Problem
from vault.names import Version
from vault.plural import plural
from vault.records import RecordHash, Tai
from vault.revisions.graph import is_ancestor, json_texts
from vault.vault import Vault

__all__ = ["clocks_apart"]

_FAR = 3_600 * 10**9  # ns; less than that confuses nobody who reads a log
_DAY, _HOUR = 86_400 * 10**9, 3_600 * 10**9
_CODE = "clock-apart"
_HINT = (
    "One of the two is wrong: compare the clocks of both machines. Nothing is decided by a date; what is committed on"
    " top is dated no earlier."
)


class _Dated(NamedTuple):
    """A release by the clock of its maker, which no commit below it moves."""

    node: str
    desk: str
    version: Version
    commit: RecordHash
    tai: Tai


def clocks_apart(vault: Vault, came: Iterable[RecordHash]) -> list[Problem]:
    """Return whose clock is far from the one here, by the last release of each that came; nothing is written.

    That is who dated theirs after now, and who dated theirs long before one of mine on which it stands, while the
    clock here is still where it was for mine.

    Args:
        vault: whose clock they are laid beside.
        came: hashes of the releases that came.
    """
    now, told = vault.around.tai(), []
    for theirs in _last_of_each(vault, came):
        name = label_of(vault, theirs.node)
        if (ahead := theirs.tai.total_ns - now.total_ns) >= _FAR:
            told.append(
                Problem(_CODE, f"{theirs.version} is dated {_span(ahead)} ahead of the clock here.", name, _HINT)
            )
        elif (mine := _mine_below(vault, theirs, now)) is not None:
            before = _span(mine.tai.total_ns - theirs.tai.total_ns)
            text = f"{theirs.version} is dated {before} before your {mine.version}, on which it stands."
            told.append(Problem(_CODE, text, name, _HINT))
    return told


def _last_of_each(vault: Vault, came: Iterable[RecordHash]) -> list[_Dated]:
    rows = vault.store.rows(
        "SELECT node, desk, version, commit_hash, tai, max(seq) FROM release"
        " WHERE hash IN (SELECT value FROM json_each(?)) GROUP BY node ORDER BY node",
        json_texts(sorted(one.text for one in came)),
    )
    return [_dated(row) for row in rows]


def _mine_below(vault: Vault, theirs: _Dated, now: Tai) -> _Dated | None:
    """Return my last release if theirs stands on it, was dated long before it, and my clock did not go back since."""
    rows = vault.store.rows(
        "SELECT node, desk, version, commit_hash, tai, seq FROM release WHERE node = ? AND desk = ? AND visible = 1"
        " ORDER BY seq DESC LIMIT 1",
        vault.node.text,
        theirs.desk,
    )
    for row in rows:
        mine = _dated(row)
        is_far = mine.tai.total_ns - theirs.tai.total_ns >= _FAR and now.total_ns >= mine.tai.total_ns
        if is_far and is_ancestor(vault.store, mine.commit, theirs.commit):
            return mine
    return None


def _dated(row: tuple[object, ...]) -> _Dated:
    node, desk, version, commit, tai, _ = (str(value) for value in row)
    return _Dated(node, desk, Version.parse(version), RecordHash.parse(commit), Tai.parse(tai))


def _span(ns: int) -> str:
    one, word = (_DAY, "day") if ns >= 2 * _DAY else (_HOUR, "hour")
    return plural((ns + one // 2) // one, word)
