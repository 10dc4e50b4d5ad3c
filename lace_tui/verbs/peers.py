"""`peers`, `join` and `leave`: whom I sync with, and what is known of one of them (LAZ-50, LAZ-73)."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from lace_tui.acts.typed import node_key
from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.cli.unanswered import answered_once
from lace_tui.cli.who import formers_data, formers_lines
from lace_tui.errors import BadArguments
from lace_tui.verbs.placing import URI_HELP, place_at, tell_of
from lace_tui.verbs.presence import beacon_data, beacon_note, clock_data, clock_note
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from lazy.belonging import circle
from lazy.belonging.beacon import known_beacons
from lazy.belonging.reputation import Reputation, counts, reputation
from lazy.belonging.trust import PeerRecord, SyncState, peer_record
from lazy.clocks import known_clocks
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.noted_visits import sync_command
from lazy.people import FormerMember, NoSuchPeer, former, label_of, left, members, node_of, peers
from lazy.places.placed import is_missing
from lazy.places.registry import Place, places, places_of, way_back
from vault.commands import as_option, as_typed
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["configure", "run"]

_SHOWN = 20


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add whom to look at, to name or to leave."""
    if verb == "join":
        parser.add_argument("name", metavar="NAME", help="what you call the peer")
        parser.add_argument("uri", metavar="URI", help=URI_HELP)
        parser.add_argument("--key", metavar="V", required=True, help="the peer's key, from lace id")
        return
    if verb == "leave":
        parser.add_argument("name", metavar="NAME", help="the peer")
        return
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a peer, or anybody who belonged")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """List the peers, tell of one, name one, or leave one.

    Raises:
        NoSuchPeer: nobody here has that name.
    """
    if context.verb == "join":
        return _join(context, args)
    if context.verb == "leave":
        return _leave(context, args)
    with context.open_vault() as vault:
        return _one(vault, args.name) if args.name else _all(vault)


def _all(vault: Vault) -> Answer:
    own = {place.peer: place.uri for place in places(vault) if place.peer}
    found = peers(vault)
    beacons, clocks = known_beacons(vault), known_clocks(vault)
    rows = [
        {
            "peer": person.name,
            "uri": own.get(person.node),
            "key": person.node,
            **_trust_data(peer_record(vault, person.node, person.name)),
            "beacon": beacon_data(beacons.get(person.node)),
            "clock": clock_data(clocks.get(person.node)),
        }
        for person in found
    ]
    lines = []
    for person in found:
        said = beacon_note(beacons.get(person.node))
        where = inert(own.get(person.node, "at every shared place"))
        lines.append(f"{inert(person.name)}  {where}, {_trust_text(peer_record(vault, person.node, person.name))}")
        lines[-1] += f", {said}" if said else ""
        lines += [f"  {clock_note(clocks[person.node])}"] if person.node in clocks else []
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
    clock = known_clocks(vault).get(found.node)

    back = way_back(vault, called, found.node) if found.node in left(vault) else ""

    def text(paint: Paint) -> str:
        others = [f"  another key of theirs: {node}" for node in found.nodes if node != found.node]
        said = [f"  {beacon_note(seen)}"] if seen is not None else []
        said += [f"  {paint.warn(clock_note(clock))}"] if clock is not None else []
        first = f"{inert(called)}  {found.node}  {_trust_text(record)}"
        away = [f"  {paint.warn('! left')}: nothing is synced with them; again: {inert(back)}"] if back else []
        return "\n".join([first, *away, *others, *said, *_evidence_lines(found, gone, paint)])

    data = {"peer": called, "key": found.node, "keys": list(found.nodes), **_trust_data(record)}
    data |= {"left": bool(back), "beacon": beacon_data(seen), "revoked_by": gone.by if gone is not None else None}
    data["clock"] = clock_data(clock)
    return Answer({**data, **_evidence_data(found)}, text)


def _trust_data(record: PeerRecord) -> dict[str, Any]:
    return {"trust": record.trust, "last_seen": record.last_seen, "sync_state": record.state}


def _trust_text(record: PeerRecord) -> str:
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


def _join(context: Context, args: argparse.Namespace) -> Answer:
    key = node_key(args.key)
    asked = [args.name, args.uri, key.text, str(context.cwd.absolute())]
    is_made = is_missing(args.uri, context.cwd)

    def note(vault: Vault, w: Writer, place: Place) -> None:
        note_answer(w, vault, context.verb, asked, {"place": place.name, "uri": place.uri, "made": is_made})

    def act(vault: Vault) -> Answer:
        known = unanswered(vault, context.verb, asked)
        place = None if known is None else place_at(vault, known["place"], known["uri"])
        is_again = place is not None
        before = next((one.name for one in peers(vault) if one.node == key.text and one.name != args.name), None)
        if place is None:
            _refuse_name(vault, args, is_made=is_made)
            place = circle.join(vault, args.name, args.uri, key.text, cwd=context.cwd, noted=partial(note, vault))
        tell_of(context, vault, place, is_made=known["made"] if known is not None and is_again else is_made)
        lines = [f"{inert(args.name)} is a peer now, met at {inert(place.uri)}. Nothing was moved."]
        if before is not None:
            lines.append(
                f"Until now you called them {inert(before)}: whoever is called so from now on is somebody else."
            )
        lines += [*([AGAIN] if is_again else []), f"Next: {inert(sync_command(args.name))}"]
        data = {"peer": args.name, "before": before, "uri": place.uri, "key": key, "place": place.name}
        data["already"] = is_again
        return Answer(data, "\n".join(lines))

    return answered_once(context, act)


def _refuse_name(vault: Vault, args: argparse.Namespace, *, is_made: bool) -> None:
    """Refuse the name of a place where its address is meant: a directory of that name would be made.

    Raises:
        BadArguments: it is one.
    """
    meant = next((place for place in places(vault) if place.name == args.uri), None) if is_made else None
    if meant is not None:
        way = as_typed("join", args.name, meant.uri, options=as_option("--key", args.key))
        raise BadArguments(f"{args.uri!r} is the name of a place, and its address is asked for.", hint=f"Write: {way}")


def _leave(context: Context, args: argparse.Namespace) -> Answer:
    def act(vault: Vault) -> Answer:
        node, name = circle.node_to_leave(vault, args.name), inert(args.name)
        known = unanswered(vault, context.verb, [args.name])
        is_again = known is not None and known["node"] == node and node in left(vault)
        if known is not None and is_again:
            own = known["own"]
        else:
            own = [[place.name, place.uri] for place in places_of(vault, node)]
            made = {"node": node, "own": own}
            circle.leave(vault, args.name, noted=lambda w: note_answer(w, vault, context.verb, [args.name], made))
        uri = own[0][1] if own else None
        lines = [f"You no longer sync with {name}: their mailbox is not read. What came from them stays here."]
        lines += [AGAIN] if is_again else []
        lines += [f"{inert(place)} is no longer a place: it was for {name} alone." for place, _ in own]
        if any(member.node == node for member in members(vault)):
            lines.append(
                f"{name} is a member still, reads what you put at shared places, and what others pass on of them comes."
                f"\nTo end that for all of you: {inert(as_typed('revoke', args.name))}"
            )
        lines.append(f"To sync with {name} again: {inert(way_back(vault, args.name, node, uri or ''))}")
        return Answer({"peer": args.name, "uri": uri, "key": node, "already": is_again}, "\n".join(lines))

    return answered_once(context, act)
