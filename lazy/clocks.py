"""Clocks that are far from each other, as the dates of what came show them (LAZ-16).

No date decides anything. But a commit is never dated before those that it stands on, so one clock that is ahead dates
everybody's commits from then on, and nobody sees by whom. Which of two clocks is wrong no record can say.

It is told at the visit that brings a release, and from then on by what is stored: the audit trail dates each visit by
the clock here, so its first entry after a release says when that was first seen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from lazy.noted_times import noted_time
from lazy.people import label_of
from lazy.problems import Problem
from vault.names import Version
from vault.plural import plural
from vault.records import RecordHash, Tai
from vault.revisions.graph import is_ancestor, json_texts
from vault.store import Store
from vault.vault import Vault

__all__ = ["CLOCK_HINT", "ClockApart", "clocks_apart", "known_clocks"]

_FAR = 3_600 * 10**9  # ns; less than that confuses nobody who reads a log
_DAY, _HOUR = 86_400 * 10**9, 3_600 * 10**9
_CODE = "clock-apart"
CLOCK_HINT: Final = (
    "One of the two is wrong: compare the clocks of both machines. Nothing is decided by a date; what is committed on"
    " top is dated no earlier."
)
_LAST: Final = (
    "SELECT node, desk, version, commit_hash, tai, p, max(seq) FROM release WHERE {} GROUP BY node ORDER BY node"
)


class _Dated(NamedTuple):
    """A release by the clock of its maker, which no commit below it moves, and where it stands in the store."""

    node: str
    desk: str
    version: Version
    commit: RecordHash
    tai: Tai
    at: int


class ClockApart(NamedTuple):
    """Somebody's clock that was far from the one here, by their last release.

    Args:
        node: verifier text of whose it is.
        desk: of the release.
        version: of the release.
        ahead: nanoseconds; below zero where it was behind.
        beside: version of my release on which theirs stands and before which it is dated; None where theirs was ahead
            as it came.
    """

    node: str
    desk: str
    version: Version
    ahead: int
    beside: Version | None = None

    @property
    def text(self) -> str:
        """What is so, as a sentence without its end, for as long as it is their last release."""
        return self._said("was dated", "of the clock here as it came")

    @property
    def seconds_ahead(self) -> int:
        """How far it was ahead, in whole seconds; below zero where it was behind."""
        return round(self.ahead / 10**9)

    @property
    def news(self) -> str:
        """The same as a sentence, on the day that the release came."""
        return self._said("is dated", "of the clock here") + "."

    def _said(self, dated: str, of_clock: str) -> str:
        if self.beside is None:
            return f"{self.version} {dated} {_span(self.ahead)} ahead {of_clock}"
        return f"{self.version} is dated {_span(-self.ahead)} before your {self.beside}, on which it stands"


def clocks_apart(vault: Vault, came: Iterable[RecordHash]) -> list[Problem]:
    """Return whose clock is far from the one here, by the last release of each that came; nothing is written.

    That is who dated theirs after now, and who dated theirs long before one of mine on which it stands, while the
    clock here is still where it was for mine.

    Args:
        vault: whose clock they are laid beside.
        came: hashes of the releases that came.
    """
    of = _LAST.format("hash IN (SELECT value FROM json_each(?))")
    rows = vault.store.rows(of, json_texts(sorted(one.text for one in came)))
    now = vault.around.tai()
    found = (_apart(vault, _dated(row), now, now) for row in rows)
    return [Problem(_CODE, one.news, label_of(vault, one.node), CLOCK_HINT) for one in found if one is not None]


def known_clocks(vault: Vault) -> dict[str, ClockApart]:
    """Return by node whose clock was far from the one here, by their last release and when that was first seen.

    It is a function of the store alone. Who sets a clock right is in it until their next release; whose own clock went
    back since finds nobody in it for that.
    """
    found: dict[str, ClockApart] = {}
    latest = _entry_time(vault.store, "seq <= ? ORDER BY seq DESC", _last_entry(vault.store))
    for row in vault.store.rows(_LAST.format("visible = 1 AND node <> ?"), vault.node.text):
        theirs = _dated(row)
        seen = _first_seen(vault.store, theirs.at)
        if seen is None or latest is None:
            continue
        if (apart := _apart(vault, theirs, seen, min(seen, latest))) is not None:
            found[apart.node] = apart
    return found


def _apart(vault: Vault, theirs: _Dated, seen: Tai, still: Tai) -> ClockApart | None:
    """Return how far a release is dated from the clock here; None where that is near.

    Args:
        vault: whose clock it is.
        theirs: the release.
        seen: what the clock here showed as it came.
        still: the earliest that it showed since.
    """
    if (ahead := theirs.tai.total_ns - seen.total_ns) >= _FAR:
        return ClockApart(theirs.node, theirs.desk, theirs.version, ahead)
    mine = _mine_below(vault, theirs, still)
    if mine is None:
        return None
    before = theirs.tai.total_ns - mine.tai.total_ns
    return ClockApart(theirs.node, theirs.desk, theirs.version, before, mine.version)


def _first_seen(store: Store, at: int) -> Tai | None:
    """Return when a record was here by the clock here: the date of the first audit entry after it, or None.

    Each visit that brings something ends with an entry. They are looked up by halves: there are as many as visits.
    """

    def after(seq: int) -> int:
        return int(str(store.rows("SELECT p FROM audit WHERE seq >= ? ORDER BY seq LIMIT 1", seq)[0][0]))

    seq = bisect_right(range(_last_entry(store) + 1), at, key=after)
    return _entry_time(store, "seq >= ? ORDER BY seq", seq)


def _last_entry(store: Store) -> int:
    rows = store.rows("SELECT max(seq) FROM audit")
    return -1 if rows[0][0] is None else int(str(rows[0][0]))


def _entry_time(store: Store, which: str, seq: int) -> Tai | None:
    rows = store.rows(f"SELECT r.tai FROM audit JOIN rec r USING (p) WHERE {which} LIMIT 1", seq)  # noqa: S608 - ours
    return noted_time(rows[0][0]) if rows else None


def _mine_below(vault: Vault, theirs: _Dated, still: Tai) -> _Dated | None:
    """Return my last release if theirs stands on it, was dated long before it, and my clock had not gone back since."""
    rows = vault.store.rows(
        "SELECT node, desk, version, commit_hash, tai, p, seq FROM release WHERE node = ? AND desk = ? AND visible = 1"
        " AND p < ? ORDER BY seq DESC LIMIT 1",
        vault.node.text,
        theirs.desk,
        theirs.at,
    )
    for row in rows:
        mine = _dated(row)
        is_far = mine.tai.total_ns - theirs.tai.total_ns >= _FAR and still.total_ns >= mine.tai.total_ns
        if is_far and is_ancestor(vault.store, mine.commit, theirs.commit):
            return mine
    return None


def _dated(row: tuple[object, ...]) -> _Dated:
    node, desk, version, commit, tai, at, _ = (str(value) for value in row)
    return _Dated(node, desk, Version.parse(version), RecordHash.parse(commit), Tai.parse(tai), int(at))


def _span(ns: int) -> str:
    one, word = (_DAY, "day") if ns >= 2 * _DAY else (_HOUR, "hour")
    return plural((ns + one // 2) // one, word)
