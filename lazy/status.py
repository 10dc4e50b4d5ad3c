"""`status`: where I stand and whether anything needs me, from stored state only (LAZ-54 to LAZ-56)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from lazy.belonging.beacon import SeenBeacon, known_beacons
from lazy.belonging.reputation import counts
from lazy.belonging.revoking import waiting as waiting_revocations
from lazy.clocks import ClockApart, known_clocks
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.folder.permitted import KeptOut, kept_out
from lazy.lacking import waiting_in, waiting_of, waiting_releases
from lazy.noted_times import noted_utc
from lazy.noted_visits import noted_summary
from lazy.people import FormerMember, Person, formers, is_member, label_of, left, linked, peers, waits_by_name
from lazy.places.registry import known_faults, places, way_back
from lazy.queue import waiting_counts, waiting_records
from lazy.relation import standing_beside
from lazy.vectors import ahead_behind, person_vectors, vector_here
from vault.desk_folders import MAIN, desks
from vault.errors import EnvironmentFault, LaceError
from vault.files import Unreadable
from vault.folder.checkout_journal import is_unfinished
from vault.folder.meanwhile import left_to_person
from vault.identity.mark import MarkMissing, OtherMachine, check, require_writable
from vault.log_gap import first_missing
from vault.names import Version
from vault.nodelog import VersionVector
from vault.notes.own import HELD_BACK
from vault.notes.places import PlaceFault
from vault.persons import OWN_NODES
from vault.records import Verifier
from vault.revisions.history import Relation, line_head, unreleased
from vault.revisions.versions import Span, released_versions
from vault.store import Store
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.resolving.left_texts import LeftText

__all__ = [
    "DeskStatus",
    "PeerStatus",
    "PlaceStatus",
    "Status",
    "refused_by_mark",
    "status",
]

_DESKS_TOLD = 3  # of one peer, beside main
_SILENCE = timedelta(days=7)  # friends are lazy: a word of yesterday is as good as one of now


class DeskStatus(NamedTuple):
    """One desk: my newest release, my revision, how I stand to the friends' heads, commits not released.

    `waiting` are the friends' releases of it that are not shown yet, as something is missing here. `is_unfinished`
    tells whether an update of its folder was cut off, or left files that were saved meanwhile; `left` are these files
    where they are all that it left, and wait for a person. `kept_out` is what my rules of who may write keep out.
    """

    desk: str
    version: Version | None
    revision: int
    relation: Relation
    unreleased: int
    highest: Version | None
    waiting: int = 0
    is_unfinished: bool = False
    left: tuple[str, ...] = ()
    kept_out: tuple[KeptOut, ...] = ()


class PeerStatus(NamedTuple):
    """One peer, as its last seen head says.

    Args:
        name: its name.
        node: verifier text.
        state: `synced`, `behind` (it has what I lack), `ahead` (I have what it lacks), or `not synced`.
        last_sync: ISO 8601 UTC of the last visit that read it, or None.
        versions: the range of its releases held here, such as `1.0.0-2.1.0`, or `none`; those of other desks than
            main each with its desk, such as `1.0.0-2.1.0, songs 0.1.0`.
        behind: log entries it has that I lack.
        ahead: log entries I have that it lacks.
        unreleased: commits it says it has not released.
        evidence: how much was met that speaks against it (LAZ-73); `lace peers NAME` shows it.
        beacon: what it last said of itself, unproven, if it says anything (LAZ-18).
        waiting: releases of it that are not shown yet, as something is missing here.
        heard: ISO 8601 UTC of when it said what this is read off; None where that is not known. A visit to a place
            where it has written nothing since does not move it.
        clock: how far its clock was from the one here by its last release, if it was (LAZ-16).
    """

    name: str
    node: str
    state: str
    last_sync: str | None
    versions: str
    behind: int
    ahead: int
    unreleased: int
    evidence: int = 0
    beacon: SeenBeacon | None = None
    waiting: int = 0
    heard: str | None = None
    clock: ClockApart | None = None

    @property
    def is_silent(self) -> bool:
        """Whether its word was old already when it was last read, so that nobody knows how it stands by now."""
        if self.last_sync is None or self.heard is None:
            return False
        return datetime.fromisoformat(self.last_sync[:19]) - datetime.fromisoformat(self.heard[:19]) >= _SILENCE


@dataclass(frozen=True, slots=True)
class PlaceStatus:
    """One place and its last visit.

    Args:
        name: its name.
        kind: its kind.
        uri: where it lies.
        peer: verifier text of the one peer it is for, or None.
        last_sync: ISO 8601 UTC of the last visit, or None.
        last: what that visit came to.
        waiting: records that the next visit would put there, as far as this vault knows; at most `MANY`.
        fault: what it refused when it was last tried, or None.
    """

    name: str
    kind: str
    uri: str
    peer: str | None
    last_sync: str | None
    last: dict[str, object] = field(default_factory=dict)
    waiting: int = 0
    fault: PlaceFault | None = None


class Status(NamedTuple):
    """Everything `lace status` says.

    Args:
        ahead: releases of mine that no peer has confirmed.
        queue: entries waiting, over all peers.
        conflicts: open ones that need me.
        revocations: revocations that wait for somebody above.
        revoked: everybody who was revoked, me included.
        unmapped: desks that somebody released and that have no folder here.
        waits_by_name: whether somebody has to admit me by hand: I have no invitation, or of somebody who was revoked.
        spent_on: who came in by the invitation that I hold, where it let in somebody else; else empty.
        left: while I am no member, each member whom I left and what ends that: by their word I am not let in.
        held_back: code, message and hint of why this vault may sign nothing, as far as is known; else None.
        is_empty: whether the group has no member, as far as is known here.
        missing_entry: number of the first entry of my own log that is missing here while a later one is, else None.
        texts: that I wrote for a conflict and that are in no draft.
    """

    vault: str
    node: str
    name: str
    group: str
    member: bool
    desks: tuple[DeskStatus, ...]
    peers: tuple[PeerStatus, ...]
    places: tuple[PlaceStatus, ...]
    ahead: int
    queue: int
    conflicts: int
    requests: int
    records: int
    revocations: int = 0
    revoked: tuple[FormerMember, ...] = ()
    waits_by_name: bool = False
    spent_on: str = ""
    left: tuple[tuple[str, str], ...] = ()
    is_empty: bool = False
    held_back: Mapping[str, str] | None = None
    unmapped: tuple[str, ...] = ()
    missing_entry: int | None = None
    texts: tuple[LeftText, ...] = ()


def refused_by_mark(vault: Vault) -> EnvironmentFault | None:
    """Return why this vault may sign nothing: it is a copy or was restored, or its key was moved (APP-13).

    It is what the next write would be refused for, asked without a lock and without writing anything.
    """
    me = vault.node
    top = "SELECT seq, plex FROM log WHERE node = ?1 AND seq <= ifnull(?2, seq) ORDER BY seq DESC, hash LIMIT 1"

    def newest(upto: int | None) -> tuple[int, bytes | None]:
        rows = vault.store.rows(top, me.text, upto)
        return (int(rows[0][0]), bytes(rows[0][1])) if rows else (0, None)

    try:
        state = vault.mark.load()
        seq, plex = newest(None)
        at, digest = newest(state.done_seq) if state is not None else (0, None)
        at_done = digest if state is not None and at == state.done_seq else None
        verdict = check(state, seq, plex, vault.around.machine, node=me, digest_at_done=at_done)
        require_writable(verdict, seq, state)
    except EnvironmentFault as error:
        return error
    return None


def status(vault: Vault, refusal: EnvironmentFault | None = None) -> Status:
    """Return the state as stored; nothing outside `.vault` is touched.

    Args:
        vault: whose.
        refusal: what `refused_by_mark` said before; without it only what was refused once is known.
    """
    store = vault.store
    with store.reading():
        waiting, unconfirmed = waiting_counts(vault)
        known, mapped = _known(vault), desks(vault)
        named = {desk for of_node in known.released.values() for desk in of_node}
        return Status(
            vault=str(vault.folder),
            node=vault.node.text,
            name=vault.name,
            group=vault.group,
            member=is_member(vault, vault.node.text),
            desks=tuple(_desk(vault, known, desk.name) for desk in mapped),
            peers=tuple(_peer(vault, known, person) for person in peers(vault)),
            places=_places(vault),
            ahead=unconfirmed,
            queue=waiting,
            conflicts=len(known.conflicts),
            requests=_number(store, "SELECT count(*) FROM request WHERE node NOT IN (SELECT node FROM member)"),
            records=_number(store, "SELECT ifnull(sum(records), 0) FROM counts"),
            revocations=len(waiting_revocations(vault)),
            revoked=known.revoked,
            waits_by_name=waits_by_name(vault),
            spent_on=_spent_on(vault),
            left=_left(vault),
            held_back=_held_back(vault, refusal),
            is_empty=vault.founding is not None and not store.rows("SELECT 1 FROM member LIMIT 1"),
            unmapped=tuple(sorted(named - {desk.name for desk in mapped})),
            missing_entry=first_missing(vault),
            texts=_texts(vault),
        )


class _Known(NamedTuple):
    """What is asked of the store once, for all desks and all peers.

    Args:
        conflicts: open ones.
        released: the versions of each desk, by node and desk.
        hidden: releases that count and are not shown, by node and desk.
        evidence: counts against each node.
        beacons: last seen, by node.
        clocks: those far from the one here, by node.
        mine: how far each log counts here.
        vectors: the same of each peer, as last seen, by node.
        revoked: everybody who was.
        cut: the same by their nodes.
        has_more_keys: whether somebody has more than one.
    """

    conflicts: list[Conflict]
    released: Mapping[str, Mapping[str, Span]]
    hidden: Mapping[str, Counter[str]]
    evidence: Mapping[str, int]
    beacons: Mapping[str, SeenBeacon]
    clocks: Mapping[str, ClockApart]
    mine: VersionVector
    vectors: Mapping[str, VersionVector]
    revoked: tuple[FormerMember, ...]
    cut: Set[Verifier]
    has_more_keys: bool


def _known(vault: Vault) -> _Known:
    revoked = tuple(formers(vault))
    return _Known(
        conflicts=conflicts(vault),
        released=released_versions(vault.store),
        hidden=waiting_releases(vault),
        evidence=counts(vault),
        beacons=known_beacons(vault),
        clocks=known_clocks(vault),
        mine=vector_here(vault),
        vectors=person_vectors(vault),
        revoked=revoked,
        cut={Verifier.parse(gone.node) for gone in revoked},
        has_more_keys=bool(vault.store.rows(f"{OWN_NODES} LIMIT 1")),
    )


def _number(store: Store, asked: str) -> int:
    return int(str(store.rows(asked)[0][0]))


def _texts(vault: Vault) -> tuple[LeftText, ...]:
    if not any(vault.dot.glob("edit-*")):  # as a rule
        return ()
    from lazy.resolving.left_texts import left_texts  # hardly any text is left

    return left_texts(vault.dot)


def _left(vault: Vault) -> tuple[tuple[str, str], ...]:
    if is_member(vault, vault.node.text):
        return ()
    found = [(label_of(vault, node), node) for node in sorted(left(vault)) if is_member(vault, node)]
    return tuple((name, way_back(vault, name, node)) for name, node in found)


def _spent_on(vault: Vault) -> str:
    """Return who came in by the invitation that I hold, where I am no member."""
    if is_member(vault, vault.node.text):
        return ""
    from lazy.belonging.admitting import spent_on  # hardly anybody waits

    return spent_on(vault)


def _held_back(vault: Vault, refusal: EnvironmentFault | None) -> Mapping[str, str] | None:
    """Return why the vault may sign nothing: by its mark, else as it was refused last.

    The latter may be by what only friends know, such as a log that forked; it is told no more where all that was away
    is here again.
    """
    if refusal is not None:
        return {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
    told = vault.store.note(HELD_BACK)  # none also where it rotted: whoever signs next is told anew
    code = told["code"] if told is not None else ""
    if code in {MarkMissing.code, Unreadable.code, OtherMachine.code}:
        with suppress(LaceError, ValueError):
            mark = vault.mark.load()
            is_back = mark is not None and mark.machine == vault.around.machine
            return told if not is_back and (mark is None or code == OtherMachine.code) else None
    return told


def _places(vault: Vault) -> tuple[PlaceStatus, ...]:
    """Return each place with how its last sync went, what waits for it, and what was wrong with it."""
    last = {
        str(p): (str(t), noted_summary(r)) for p, t, r in vault.store.rows("SELECT place, tai, result FROM last_sync")
    }
    left, faults = waiting_records(vault), known_faults(vault)
    return tuple(
        PlaceStatus(
            name=place.name,
            kind=place.kind,
            uri=place.uri,
            peer=place.peer,
            last_sync=noted_utc(last[place.name][0]) if place.name in last else None,
            last=last[place.name][1] if place.name in last else {},
            waiting=left.get(place.name, 0),
            fault=faults.get(place.name),
        )
        for place in places(vault)
    )


def _released(held: Mapping[str, Mapping[str, Span]], nodes: set[str]) -> str:
    """Return the versions that a person released with all keys: main's, then each desk's with its name."""
    found: dict[str, Span] = {}
    for desk, span in (item for node in nodes for item in held.get(node, {}).items()):
        found[desk] = found[desk].with_also(span) if desk in found else span
    others = sorted(found.keys() - {MAIN})
    told = [_range(*found[MAIN])] if MAIN in found else []
    told += [f"{desk} {_range(*found[desk])}" for desk in others[:_DESKS_TOLD]]
    told += [f"and {len(others) - _DESKS_TOLD} more desks"] if len(others) > _DESKS_TOLD else []
    return ", ".join(told) or "none"


def _range(low: Version, high: Version) -> str:
    return f"{low}" if low == high else f"{low}-{high}"


def _desk(vault: Vault, known: _Known, desk: str) -> DeskStatus:
    mine = known.released.get(vault.node.text, {}).get(desk)
    head = line_head(vault.store, vault.node.text, desk)
    released = (of_node[desk].high for of_node in known.released.values() if desk in of_node)
    stands = standing_beside(vault, desk, known.conflicts)
    return DeskStatus(
        desk=desk,
        version=mine.high if mine is not None else None,
        revision=head.number if head else 0,
        relation=stands.relation,
        unreleased=unreleased(vault, desk),
        highest=max(released, default=None),
        waiting=waiting_in(vault, known.hidden, desk),
        is_unfinished=is_unfinished(vault, desk),
        left=left_to_person(vault, desk),
        kept_out=kept_out(vault, desk, stands.refused),
    )


def _peer(vault: Vault, known: _Known, person: Person) -> PeerStatus:
    row = vault.store.rows("SELECT tai, CAST(unreleased AS INTEGER), said FROM met WHERE node = ?", person.node)
    ahead, behind = ahead_behind(known.mine, known.vectors.get(person.node, VersionVector()), known.cut)
    nodes = linked(vault, person.node) if known.has_more_keys else {person.node}
    if not row:
        state = "not synced"
    elif behind:
        state = f"{behind} behind"
    elif ahead:
        state = f"{ahead} ahead"
    else:
        state = "synced"
    return PeerStatus(
        name=person.name,
        node=person.node,
        state=state,
        last_sync=noted_utc(row[0][0]) if row else None,
        versions=_released(known.released, nodes),
        behind=behind,
        ahead=ahead,
        unreleased=int(row[0][1] or 0) if row else 0,
        evidence=known.evidence[person.node],
        beacon=known.beacons.get(person.node),
        waiting=waiting_of(vault, known.hidden, person.node),
        heard=noted_utc(row[0][2]) if row and row[0][2] else None,
        clock=known.clocks.get(person.node),
    )
