"""Links: one for each peer, how far its log came here and mine there, from stored state only (DWN-39, DWN-90).

Nothing is kept for a link that follows from what is kept anyway: a pull stands where the peer's log is contiguous
here, a push where the peer's own vector confirms mine. What was only seen, or put on a medium, does not count yet.
While a release of the peer waits for a record that is not here, the link says so, whatever the numbers say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.lacking import CONTENT_MISSING, Lacking, lacking_releases, waiting_of, waiting_releases
from lazy.noted_times import noted_time
from lazy.noted_visits import noted_summary
from lazy.people import left, peers
from lazy.places.published import published_seqs
from lazy.places.registry import places
from lazy.vectors import person_vectors, vector_here
from vault.nodelog import VersionVector
from vault.records import Tai, Verifier
from vault.vault import Vault

__all__ = ["SCOPE", "Link", "LinkState", "Progress", "links", "metrics"]

SCOPE = "shared"
"""What every link moves: all that the group shares."""


class LinkState(StrEnum):
    """Where a link stands; the values of the metric `sync_link_state` count from 0 in this order."""

    INITIAL = "initial"
    LIVE = "live"
    REPAIRING = "repairing"
    PAUSED = "paused"


class Progress(NamedTuple):
    """How far one log has come one way, in numbers of its entries.

    Args:
        received: the highest number that was seen here, or put where the peer finds it.
        contiguous: the highest up to which everything arrived, by evidence.
    """

    received: int
    contiguous: int


class Link(NamedTuple):
    """One link.

    Args:
        peer: its name.
        node: verifier text.
        state: `initial` before the first meeting, `repairing` while entries of it, or what its releases reach, are
            known and missing, `paused` after `lace leave`, else `live`.
        pull: of its log.
        push: of mine.
        pending: entries of mine that it has not confirmed.
        last_sync: ISO 8601 UTC, or None.
        places: names of the places where it is met.
        waiting: how many of its releases are not shown while something is missing here.
        missing: what they wait for; of some of them, if many do.
        left_out: whether nothing but content is missing, and the last sync there was about a part and left it.
    """

    peer: str
    node: str
    state: LinkState
    pull: Progress
    push: Progress
    pending: int
    last_sync: str | None
    places: tuple[str, ...]
    waiting: int
    missing: tuple[Lacking, ...] = ()
    left_out: bool = False


def links(vault: Vault) -> list[Link]:
    """Return the link to every peer, by name, and to those who were left, each with what its releases wait for."""
    with vault.store.reading():
        return [_with_missing(vault, link) if link.waiting else link for link in _links(vault)]


def _with_missing(vault: Vault, link: Link) -> Link:
    missing = lacking_releases(vault, link.node)
    is_content = link.pull.contiguous == link.pull.received and all(one.code == CONTENT_MISSING for one in missing)
    may_come = is_content and link.state is LinkState.REPAIRING  # of who was left nothing comes with the next sync
    return link._replace(missing=missing, left_out=may_come and _last_left_out(vault, link.places))


def _last_left_out(vault: Vault, names: tuple[str, ...]) -> bool:
    """Tell whether the newest visit to one of these places was about a part of what is shared, and left the rest."""
    for name, told in vault.store.rows("SELECT place, result FROM last_sync ORDER BY tai DESC"):
        if str(name) in names:
            return bool(noted_summary(told).get("left_out"))
    return False


def _links(vault: Vault) -> list[Link]:
    with vault.store.reading():
        mine, known = vector_here(vault), person_vectors(vault)
        seen = {str(node): int(seq) for node, seq in vault.store.rows("SELECT node, max(seq) FROM log GROUP BY node")}
        met = {str(node): noted_time(tai) for node, tai in vault.store.rows("SELECT node, tai FROM met")}
        on_medium = published_seqs(vault)
        offered = [(place.name, place.peer, on_medium.get(place.name, 0)) for place in places(vault)]
        labels = {str(n): str(label) for n, label in vault.store.rows("SELECT node, label FROM member")}
        waiting = waiting_releases(vault)
        people = [(person.name, person.node, False) for person in peers(vault)]
        people += [(labels[node], node, True) for node in left(vault) if node in labels]
        told = _Told(vault.node, mine, known, seen, met, offered)
        return [
            _link(told, name, node, waiting_of(vault, waiting, node), is_left=is_left)
            for name, node, is_left in sorted(people)
        ]


class _Told(NamedTuple):
    """What is known of all peers.

    Args:
        me: this node.
        mine: how far each log is here.
        known: how far each log is with a peer, as far as I know.
        seen: the last entry of each log that was seen here.
        met: when each was met last; None where that cannot be read any more.
        offered: each place, whose it is if it is one peer's, and the last entry of mine that lies there.
    """

    me: Verifier
    mine: VersionVector
    known: Mapping[str, VersionVector]
    seen: Mapping[str, int]
    met: Mapping[str, Tai | None]
    offered: Sequence[tuple[str, str | None, int]]


def _link(told: _Told, name: str, node: str, waiting: int, *, is_left: bool) -> Link:
    mine, theirs, met = told.mine, told.known.get(node, VersionVector()), told.met.get(node)
    key = Verifier.parse(node)
    top, confirmed = mine.of(told.me).seq, theirs.of(told.me).seq
    pull = Progress(max(told.seen.get(node, 0), theirs.of(key).seq), mine.of(key).seq)
    here = [(place, seq) for place, peer, seq in told.offered if peer in {None, node}]
    push = Progress(min(max([confirmed, *(seq for _, seq in here)]), top), min(confirmed, top))
    if is_left:
        state = LinkState.PAUSED
    elif node not in told.met:
        state = LinkState.INITIAL
    else:
        state = LinkState.REPAIRING if waiting or pull.contiguous < pull.received else LinkState.LIVE
    last = met.to_utc_iso() if met is not None else None
    met_at = tuple(place for place, _ in here)
    return Link(
        peer=name,
        node=node,
        state=state,
        pull=pull,
        push=push,
        pending=top - push.contiguous,
        last_sync=last,
        places=met_at,
        waiting=waiting,
    )


def metrics(vault: Vault) -> Iterator[str]:
    """Yield the lines of a Prometheus text page about this vault, for a file that its node exporter reads."""
    store, tenant = vault.store, _quoted(vault.group)
    states = list(LinkState)
    found = _links(vault)
    rows = [
        ("sync_link_state", "0 initial, 1 live, 2 repairing, 3 paused", [states.index(link.state) for link in found]),
        ("sync_checkpoint_pull_received", "entries of the peer's log seen here", [x.pull.received for x in found]),
        ("sync_checkpoint_pull_contiguous", "up to which nothing is missing", [x.pull.contiguous for x in found]),
        ("sync_checkpoint_push_received", "entries of mine that lie where it reads", [x.push.received for x in found]),
        ("sync_checkpoint_push_contiguous", "entries of mine it confirmed", [x.push.contiguous for x in found]),
        ("lace_queue_entries", "entries of mine it has not confirmed", [link.pending for link in found]),
        ("lace_releases_waiting", "releases of it that are not shown yet", [link.waiting for link in found]),
    ]
    for name, text, values in rows:
        yield from _head(name, "gauge", text)
        for link, value in zip(found, values, strict=True):
            yield f'{name}{{tenant="{tenant}",remote="{_quoted(link.peer)}",scope="{SCOPE}"}} {value}'
    with store.reading():
        yield from _head("sync_closure_missing_total", "gauge", "records that shared ones name and that are missing")
        for kind, count in store.rows("SELECT substr(want, 1, 1), count(*) FROM hole GROUP BY 1 ORDER BY 1"):
            yield f'sync_closure_missing_total{{class="{_CLASSES[str(kind)]}"}} {count}'
        yield from _head("lace_records", "gauge", "records here")
        kinds = list(store.rows("SELECT s.s, c.records, c.bytes FROM counts c JOIN sym s ON s.id = c.app ORDER BY s.s"))
        for app, count, _ in kinds:
            yield f'lace_records{{app="{_quoted(str(app))}"}} {count}'
        yield from _head("lace_content_bytes", "gauge", "bytes of their data")
        for app, _, size in kinds:
            yield f'lace_content_bytes{{app="{_quoted(str(app))}"}} {size}'
        yield from _head("lace_conflicts_open", "gauge", "conflicts that need a person")
        yield f"lace_conflicts_open {len(conflicts(vault))}"


_CLASSES = {"S": "evidence", "P": "content", "B": "content"}


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
