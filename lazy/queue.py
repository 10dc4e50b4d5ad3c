"""The queue: what I shared that a peer has not confirmed (LAZ-46 to LAZ-49).

An entry is `queued`, then `on-medium` once a place that serves the peer holds it, and it leaves only when the peer's
own sealed vector shows it. Nothing is kept for this: it follows from my log, what I published where, and the vectors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from lazy.noted_visits import noted_summary, sync_command
from lazy.people import label_of, peers
from lazy.places.published import published, published_seqs
from lazy.places.registry import Place, hopeful, is_mine, known_faults, places
from vault import profile
from vault.persons import newer_keys
from vault.profile import read
from vault.records import RecordHash, Tai
from vault.revisions.history import sealed_record
from vault.vault import Vault

__all__ = [
    "MANY",
    "QueueEntry",
    "QueueState",
    "next_sync",
    "queue",
    "takers",
    "waiting_counts",
    "waiting_records",
    "without_place",
]

MANY = 10_000  # waiting records are not counted further
_MAILBOXES = frozenset({"drop", "git"})  # kinds of places where this vault leaves what it shares
_ONLY_READ = "http"  # the kind of place that a plain web server makes of a drop
_TAKES_NOTHING = "only-read"  # the code of the error `transports.errors.OnlyRead`


class QueueState(StrEnum):
    """Where an entry waits; a confirmed one is gone from the queue."""

    QUEUED = "queued"
    ON_MEDIUM = "on-medium"


class QueueEntry(NamedTuple):
    """One thing I shared that waits for one peer.

    Args:
        peer: its name.
        seq: number of my log entry.
        record: what is shared.
        what: the same, for people: `release main 2.4.0`.
        since: ISO 8601 UTC, for display.
        state: where it waits.
        places: names of the places that hold it, or that could carry it.
        reason: why it is still here, for people.
    """

    peer: str
    seq: int
    record: RecordHash
    what: str
    since: str
    state: QueueState
    places: tuple[str, ...]
    reason: str


def takers(vault: Vault) -> list[Place]:
    """Return the places that what is mine can go to by a visit.

    Those where friends were met last come first, and those that failed last come behind all others. A vault beside mine
    that could only be read at the last visit, or took no push, is none.
    """
    met = {str(place) for (place,) in vault.store.rows("SELECT place FROM met")}
    found = sorted(places(vault), key=lambda place: place.name not in met)
    visits = vault.store.rows("SELECT place, result FROM last_sync")
    closed = {str(name) for name, told in visits if noted_summary(told).get("only_read")}
    closed |= {name for name, fault in known_faults(vault).items() if fault.code == _TAKES_NOTHING}
    return [
        place
        for place in hopeful(vault, found)
        if place.kind != _ONLY_READ and place.name not in closed and not is_mine(vault, place)
    ]


def without_place(vault: Vault, peer: str = "") -> str:
    """Return the command that brings what is mine to friends where no place takes it.

    Serving it is for those who came to this vault's own server before, or where its address is a place of mine.

    Args:
        vault: whose log it is.
        peer: the node that it is for; without one, any.
    """
    met = vault.store.rows("SELECT node, place FROM met WHERE ?1 IN ('', node)", peer)
    came = any(str(place) == label_of(vault, str(node)) for node, place in met)  # it was met at no place
    return "lace serve" if came or any(is_mine(vault, place) for place in places(vault)) else "lace place add NAME DIR"


def queue(vault: Vault, most: int | None = None) -> list[QueueEntry]:
    """Return what waits, by peer and then in the order shared; works offline from stored state (LAZ-56).

    What several peers lack is read once.

    Args:
        vault: whose log it is.
        most: entries of each peer, the oldest; all of them if it is None.
    """
    confirmed = _confirmed(vault)
    known = peers(vault)
    starts = {confirmed.get(person.node, 0) for person in known}
    if most is None:
        everything = _shared(vault, min(starts)) if starts else []
        shared = {start: [one for one in everything if one.seq > start] for start in starts}
    else:
        shared = {start: _shared(vault, start, most) for start in starts}
    on_medium = published_seqs(vault)
    configured = takers(vault)
    entries: list[QueueEntry] = []
    for person in known:
        serving = [place for place in configured if place.peer in {None, person.node}]
        way = "" if serving else without_place(vault, person.node)
        for one in shared[confirmed.get(person.node, 0)]:
            holding = tuple(place.name for place in serving if on_medium.get(place.name, 0) >= one.seq)
            entries.append(_entry(person.name, one, holding, tuple(place.name for place in serving), way))
    return entries


def next_sync(vault: Vault) -> str:
    """Return the command by which what I shared last leaves this vault; empty when it waits for nobody or lies there.

    What lies on a medium that serves a peer is on its way; a place that answers holds nothing until it has confirmed.
    """
    top = int(str(vault.store.rows("SELECT ifnull(max(seq), 0) FROM log WHERE node = ?", vault.node.text)[0][0]))
    confirmed = _confirmed(vault)
    on_medium = published_seqs(vault)
    configured, command = takers(vault), ""
    for person in peers(vault):
        if confirmed.get(person.node, 0) >= top:
            continue
        serving = [place for place in configured if place.peer in {None, person.node}]
        if not serving:
            command = command or without_place(vault, person.node)
        elif not any(on_medium.get(place.name, 0) >= top for place in serving):
            return sync_command(serving[0].name)
    return command


def waiting_counts(vault: Vault) -> tuple[int, int]:
    """Return how many entries wait, over all peers, and how many releases of mine some peer has not confirmed.

    As `queue` lists them, but counted from the tables: nothing is read for each entry.
    """
    confirmed = _confirmed(vault)
    marks = [confirmed.get(person.node, 0) for person in peers(vault)]
    if not marks:
        return 0, 0
    waiting = unconfirmed = 0
    counted = (
        "SELECT l.seq, count(*), count(r.hash) FROM log l JOIN link k ON k.p = l.p JOIN sym s ON s.id = k.data"
        " AND s.s = 'entry' LEFT JOIN release r ON r.hash = k.t WHERE l.node = ? AND l.seq > ? GROUP BY l.seq"
    )
    for seq, entries, released in vault.store.rows(counted, vault.node.text, min(marks)):
        lacking = sum(mark < int(seq) for mark in marks)
        waiting += lacking * int(entries)
        unconfirmed += int(released)
    return waiting, unconfirmed


def waiting_records(vault: Vault) -> dict[str, int]:
    """Return by name how many records wait for each place that takes a mailbox: at most `MANY`, and none that is 0.

    It follows from what was put there last; what somebody did to the medium since is found by a visit. A repair begins
    another epoch, by whose cursors a visit compares all; but the log gives no number twice, so what it says here holds.
    """
    if vault.founding is None:
        return {}
    found = {}
    for place in places(vault):
        if place.kind in _MAILBOXES:
            left = published(vault, place.place_id, place.name)
            asked = "SELECT count(*) FROM (SELECT 1 FROM exposure WHERE at > ? LIMIT ?)"
            found[place.name] = int(vault.store.rows(asked, left.at if left is not None else 0, MANY)[0][0])
    return {name: count for name, count in found.items() if count}


class _Shared(NamedTuple):
    """One thing in my log: the entry's number, what it shares, the same for people, and since when."""

    seq: int
    record: RecordHash
    what: str
    since: str


def _confirmed(vault: Vault) -> dict[str, int]:
    """Return up to which number each node said that it has my log; an older key has what its newer ones have."""
    rows = vault.store.rows("SELECT node, seq FROM peer_vector WHERE of_node = ?", vault.node.text)
    said = {str(node): int(seq) for node, seq in rows}
    with_mine = said | {vault.node.text: sys.maxsize}  # what was mine before lacks nothing of mine
    for older, newer in newer_keys(vault.store).items():
        said[older] = max(with_mine.get(node, 0) for node in (older, *newer))
    return said


def _shared(vault: Vault, after: int, most: int = -1) -> list[_Shared]:
    """Return what my log shares after a number, in order, and at most so many if `most` is no less than 0."""
    rows = vault.store.rows(
        "SELECT l.seq, k.t, r.tai FROM log l JOIN link k ON k.p = l.p JOIN sym s ON s.id = k.data AND s.s = 'entry'"
        " JOIN rec r ON r.p = k.p WHERE l.node = ? AND l.seq > ? ORDER BY l.seq, l.p, k.idx LIMIT ?",
        vault.node.text,
        after,
        most,
    )
    found = []
    for seq, target, tai in rows:
        record = RecordHash.parse(str(target))
        found.append(_Shared(int(seq), record, _what(vault, record), Tai.parse(str(tai)).to_utc_iso()))
    return found


def _entry(peer: str, one: _Shared, holding: tuple[str, ...], serving: tuple[str, ...], way: str) -> QueueEntry:
    state = QueueState.ON_MEDIUM if holding else QueueState.QUEUED
    if holding:
        reason = f"on {', '.join(holding)}; {peer} has not confirmed it yet"
    elif serving:
        reason = f"local, not pushed; send it with: {sync_command(serving[0])}"
    else:
        reason = f"local, not pushed; no place serves {peer}: {way}"
    return QueueEntry(
        peer=peer,
        seq=one.seq,
        record=one.record,
        what=one.what,
        since=one.since,
        state=state,
        places=holding or serving,
        reason=reason,
    )


def _what(vault: Vault, record: RecordHash) -> str:
    stored = vault.store.stored(record)
    value = read(sealed_record(stored)) if stored else None
    named: dict[type, Callable[..., str]] = {
        profile.Commit: lambda v: f"commit {v.desk}",
        profile.Founding: lambda _: "founding",
        profile.LabelRecord: lambda v: f"label {v.label} of {v.desk}",
        profile.Member: lambda v: f"admission of {v.label}",
        profile.NodeCard: lambda v: f"card of {v.label}",
        profile.Release: lambda v: f"release {v.desk} {v.version}",
        profile.Resolution: lambda v: f"resolution {v.desk} {v.version}",
        profile.Revision: lambda v: f"revision {v.number} of {v.desk}",
        profile.Revocation: lambda v: f"revocation of {label_of(vault, v.node.text)}",
    }
    say = named.get(type(value))
    return say(value) if say is not None else "record"
