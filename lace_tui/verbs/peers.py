"""`peers`: whom I sync with, and what is known of one of them, from stored state only (LAZ-73)."""

from __future__ import annotations

import argparse
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer, Paint, moment
from lace_tui.verbs.begin import formers_data, formers_lines
from lace_tui.verbs.presence import beacon_data, beacon_note
from lazy.belonging.beacon import known_beacons
from lazy.belonging.reputation import Reputation, counts, reputation
from lazy.belonging.trust import PeerRecord, SyncState, peer_record
from lazy.people import FormerMember, NoSuchPeer, former, label_of, left, node_of, peers
from lazy.places.known import places, way_back
from vault.vault import Vault

__all__ = ["configure", "run"]

_SHOWN = 20


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add whom to look at."""
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a peer, or anybody who belonged")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """List the peers, or tell of one.

    Raises:
        NoSuchPeer: nobody here has that name.
    """
    with context.open_vault() as vault:
        return _one(vault, args.name) if args.name else _all(vault)


def _all(vault: Vault) -> Answer:
    own = {place.peer: place.uri for place in places(vault) if place.peer}
    found = peers(vault)
    beacons = known_beacons(vault)
    rows = [
        {
            "peer": person.name,
            "uri": own.get(person.node),
            "key": person.node,
            **_standing(peer_record(vault, person.node, person.name)),
            "beacon": beacon_data(beacons.get(person.node)),
        }
        for person in found
    ]
    lines = []
    for person in found:
        said = beacon_note(beacons.get(person.node))
        where = inert(own.get(person.node, "at every shared place"))
        lines.append(f"{inert(person.name)}  {where}, {_standing_text(peer_record(vault, person.node, person.name))}")
        lines[-1] += f", {said}" if said else ""
    lines += formers_lines(vault)
    lines = lines or ["You sync with nobody yet: lace invite NAME"]
    ways = {node: way_back(vault, label_of(vault, node), node) for node in sorted(left(vault))}
    lines += [f"{inert(label_of(vault, node))}, left: {inert(back)}" for node, back in ways.items()]
    gone = [{"peer": label_of(vault, node), "key": node, "way_back": back} for node, back in ways.items()]
    data = {"peers": rows, "revoked": formers_data(vault), "left": gone}
    return Answer(data, "\n".join(lines))


def _one(vault: Vault, name: str) -> Answer:
    found = reputation(vault, _node_of(vault, name))
    called = label_of(vault, found.node)
    gone = former(vault, found.node)
    seen, record = known_beacons(vault).get(found.node), peer_record(vault, found.node, called)

    back = way_back(vault, called, found.node) if found.node in left(vault) else ""

    def text(paint: Paint) -> str:
        others = [f"  another key of theirs: {node}" for node in found.nodes if node != found.node]
        said = [f"  {beacon_note(seen)}"] if seen is not None else []
        first = f"{inert(called)}  {found.node}  {_standing_text(record)}"
        away = [f"  {paint.warn('! left')}: nothing is synced with them; again: {inert(back)}"] if back else []
        return "\n".join([first, *away, *others, *said, *_evidence_lines(found, gone, paint)])

    data = {"peer": called, "key": found.node, "keys": list(found.nodes), **_standing(record)}
    data |= {"left": bool(back), "beacon": beacon_data(seen), "revoked_by": gone.by if gone is not None else None}
    return Answer({**data, **_evidence_data(found)}, text)


def _standing(record: PeerRecord) -> dict[str, Any]:
    return {"trust": record.trust, "last_seen": record.last_seen, "sync_state": record.state}


def _standing_text(record: PeerRecord) -> str:
    if record.last_seen is None:
        return f"{record.trust}, never met"
    how = ", with a problem" if record.state is SyncState.ERROR else ""
    return f"{record.trust}, last met {moment(record.last_seen)}{how}"


def _node_of(vault: Vault, name: str) -> str:
    """Return the node a name means; of a stranger whose key is given, that node if something is known of it."""
    try:
        return node_of(vault, name)
    except NoSuchPeer:
        if counts(vault)[name]:
            return name
        raise


def _evidence_data(found: Reputation) -> dict[str, Any]:
    return {
        "evidence": [
            {
                "kind": item.kind,
                "place": item.place,
                "code": item.code,
                "record": item.record or None,
                "reason": item.reason,
                "time": item.when,
            }
            for item in found.noted
        ],
        "forks": [{"seq": proof.seq, "first": proof.first.hash, "second": proof.second.hash} for proof in found.forks],
        "conflicts": [
            {"id": conflict.id, "desk": conflict.desk, "version": conflict.version, "status": conflict.status}
            for conflict in found.conflicts
        ],
    }


def _evidence_lines(found: Reputation, gone: FormerMember | None, paint: Paint) -> list[str]:
    lines = [
        f"  {paint.bad('! forked')}: two entries {proof.seq} in one log; proof: lace record export {proof.node}/forks"
        for proof in found.forks
    ]
    for item in found.noted[-_SHOWN:]:
        what = f" {item.record}" if item.record else ""
        when = moment(item.when)
        lines.append(f"  {paint.warn(f'! {item.kind}')}{what}: {inert(item.reason)} ({inert(item.place)}, {when})")
    if len(found.noted) > _SHOWN:
        lines.append(f"  and {len(found.noted) - _SHOWN} earlier: lace audit list --verb lace-evidence")
    if gone is not None:
        lines.insert(0, f"  {paint.warn('! revoked')} by {inert(gone.by)}: entries up to {gone.last_seq} count")
    if not lines:
        lines.append("  nothing speaks against this peer")
    lines += [
        f"  a side of the conflict {inert(conflict.desk)} {conflict.version}: {conflict.status}"
        for conflict in found.conflicts
    ]
    return lines
