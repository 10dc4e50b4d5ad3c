"""`status`, `vectors` and `queue`: where I stand, from stored state only; no place is touched (LAZ-54 to LAZ-56)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.inert import inert
from lace_tui.cli.keeping import keep
from lace_tui.cli.output import Answer, Paint, moment
from lace_tui.cli.presence import beacon_data, beacon_note
from lazy.places import PlaceFault, known_faults
from lazy.queue import MANY, QueueEntry, QueueState, queue, waiting_records
from lazy.remembered import QUEUE, STATUS, VECTORS, generation
from lazy.results import NO_PERSON_NEEDED
from lazy.status import DeskStatus, PeerStatus, PlaceStatus, Status, status
from lazy.vectors import vectors
from vault.history import Relation
from vault.records import Tai

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.work import Changes

__all__ = ["configure", "run"]

_PROBLEMS = 3  # of one place that are told
_WORDS = {
    "same": "with all that friends released",
    "ahead": "ahead of your friends",
    "behind": "behind: lace update",
    "mergeable": "friends have other changes: lace update",
    "conflicting": "in conflict: lace conflicts",
    "unrelated": "friends began on their own: lace update",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "status":
        parser.add_argument("--tree", action="store_true", help="look at the folder too")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        if context.verb != "status":
            make, what = (_vectors, VECTORS) if context.verb == "vectors" else (_queue, QUEUE)
            with vault.store.reading():
                number, answer = generation(vault), make(vault)
            keep(vault, what, number, answer)
            return answer
        with vault.store.reading():
            number = generation(vault)
            found = status(vault)
        tree = None
        if getattr(args, "tree", False):
            from vault.work import changes  # noqa: PLC0415 - status alone never looks at the folder

            with context.watching() as watch:
                tree = changes(vault, watch=watch)
        answer = Answer(_status_data(found, tree), lambda paint: _status_text(found, tree, paint))
        if tree is None:
            keep(vault, STATUS, number, answer)
    return answer


# Status


def _status_data(found: Status, tree: Changes | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "vault": found.vault,
        "node": found.node,
        "name": found.name,
        "group": found.group,
        "member": found.member,
        "desks": [
            {
                "desk": desk.desk,
                "version": desk.version,
                "revision": desk.revision,
                "relation": desk.relation,
                "unreleased": desk.unreleased,
                "highest": desk.highest,
            }
            for desk in found.desks
        ],
        "ahead": found.ahead,
        "peers": [
            {
                "name": peer.name,
                "node": peer.node,
                "state": peer.state,
                "last_sync": peer.last_sync,
                "versions": peer.versions,
                "behind": peer.behind,
                "ahead": peer.ahead,
                "unreleased": peer.unreleased,
                "evidence": peer.evidence,
                "beacon": beacon_data(peer.beacon),
            }
            for peer in found.peers
        ],
        "places": [
            {
                "place": place.name,
                "kind": place.kind,
                "uri": place.uri,
                "peer": place.peer,
                "last_sync": place.last_sync,
                "waiting": place.waiting,
                "fault": fault_data(place.fault),
                "problems": _problems(place),
            }
            for place in found.places
        ],
        "queue": found.queue,
        "conflicts": found.conflicts,
        "requests": found.requests,
        "held_back": found.held_back,
        "revocations": found.revocations,
        "revoked": [
            {"name": gone.name, "node": gone.node, "last_seq": gone.last_seq, "by": gone.by, "me": gone.me}
            for gone in found.revoked
        ],
        "records": found.records,
    }
    if tree is not None:
        data["changes"] = {
            **{kind: tree.paths(kind) for kind in ("added", "changed", "deleted")},
            "problems": [{"path": problem.path, "reason": problem.reason} for problem in tree.problems],
        }
    return data


def _status_text(found: Status, tree: Changes | None, paint: Paint) -> str:
    lines = [f"{inert(found.name)} in {inert(found.group.split('/')[0])}"]
    me = next((gone for gone in found.revoked if gone.me), None)
    if found.is_empty:
        lines.append(paint.warn("! this group has no member left. To begin a new one: lace init in another folder"))
    elif me is not None:
        what = f"! {inert(me.by)} revoked this device's key: what it says counts here only. A new key: lace adopt"
        lines.append(paint.warn(what))
    elif found.waits_by_name:
        by_hand = f"! not a member yet: sync, let a friend sync and run lace admit {inert(found.name)}, and sync again"
        lines.append(paint.warn(by_hand))
    elif not found.member:
        lines.append(paint.warn("! not a member yet: sync with the person who invited you"))
    if found.held_back is not None:
        lines.append(paint.warn(f"! {inert(found.held_back['message'])}"))
        lines.append(f"  {inert(found.held_back['hint'])}")
    lines += [_desk_line(desk, has_friends=bool(found.peers)) for desk in found.desks]
    lines += (
        [paint.faint("  to look at the folder too: lace status --tree")] if tree is None else _tree_lines(tree, paint)
    )
    if found.peers:
        lines += ["", paint.strong("Peers"), *_peer_lines(found.peers, paint)]
    if found.places:
        lines += ["", paint.strong("Places")]
        for place in found.places:
            lines += _place_lines(place, paint)
    lines.append("")
    if found.ahead:
        lines.append(f"{_count(found.ahead, 'release')} not confirmed by every friend: lace queue")
    lines.append(
        paint.warn(f"! {_count(found.conflicts, 'open conflict')}: lace conflicts")
        if found.conflicts
        else "no conflicts"
    )
    if found.requests:
        lines.append(paint.warn(f"! {_count(found.requests, 'person', 'people')} waiting to join: lace requests"))
    if found.revocations:
        waits = "waits" if found.revocations == 1 else "wait"
        what = f"! {_count(found.revocations, 'revocation')} {waits} for somebody above: lace requests"
        lines.append(paint.warn(what))
    lines += [f"{inert(gone.name)} was revoked by {inert(gone.by)}" for gone in found.revoked if not gone.me]
    return "\n".join(lines)


def _desk_line(desk: DeskStatus, *, has_friends: bool) -> str:
    version = f"released {desk.version}" if desk.version else "nothing released"
    parts = [version, f"revision {desk.revision}"]
    if has_friends or desk.relation not in {Relation.SAME, Relation.AHEAD}:
        parts.append(_WORDS[desk.relation])
    if desk.unreleased:
        parts.append(f"{_count(desk.unreleased, 'commit')} not released")
    return f"{inert(desk.desk)}: " + ", ".join(parts)


def _tree_lines(tree: Changes, paint: Paint) -> list[str]:
    if not tree.items and not tree.problems:
        return ["  nothing changed in the folder"]
    signs = {"added": "+", "changed": "~", "deleted": "-"}
    lines = [f"  {signs[item.kind]} {item.kind} {inert(item.path)}" for item in tree.items]
    return lines + [f"  {paint.warn('!')} {inert(p.path)}: {inert(p.reason)}" for p in tree.problems]


def _peer_lines(peers: tuple[PeerStatus, ...], paint: Paint) -> list[str]:
    lines = []
    for peer in peers:
        line = f"  {inert(peer.name)}  {_stands(peer)}, {_released(peer)}, last sync {moment(peer.last_sync)}"
        if peer.unreleased:
            line += paint.faint(f", {_count(peer.unreleased, 'unreleased commit')} (not shared, none of our concern)")
        if peer.beacon is not None:
            line += paint.faint(f", {beacon_note(peer.beacon)}")
        if peer.evidence:
            line += paint.warn(f", ! {peer.evidence} noted against: lace peers {inert(peer.name)}")
        lines.append(line)
    return lines


def _place_lines(place: PlaceStatus, paint: Paint) -> list[str]:
    """Return when a place was last visited, what waits for it, and why it could not go there."""
    line = f"  {inert(place.name)}  last sync {moment(place.last_sync)}"
    if place.waiting:
        line += f", {waiting_text(place.waiting)} for it: lace sync {inert(place.name)}"
    lines = [line]
    if place.fault is not None:
        lines.append(f"    {paint.warn('!')} {moment(_utc(place.fault))}: {inert(place.fault.message)}")
    for problem in _problems(place):
        who = f"{inert(problem['peer'])}: " if problem["peer"] else ""
        lines.append(f"    {paint.warn('!')} {who}{inert(problem['message'])}")
    return lines


def _problems(place: PlaceStatus) -> list[dict[str, str]]:
    """Return what the last visit found that somebody should know, without what only waits for others."""
    told = place.last.get("problems")
    found = [problem for problem in told if isinstance(problem, dict)] if isinstance(told, list) else []
    known = place.fault.code if place.fault is not None else ""
    return [
        {key: str(problem.get(key, "")) for key in ("peer", "code", "message", "hint")}
        for problem in found
        if problem.get("code") not in {known, *NO_PERSON_NEEDED}
    ][:_PROBLEMS]


def _utc(fault: PlaceFault) -> str:
    return Tai.parse(fault.when).to_utc_iso()


def waiting_text(count: int) -> str:
    """Return how many records wait, as the start of a phrase."""
    many = f"{MANY:,} records or more" if count == MANY else _count(count, "record")
    return f"{many} {'waits' if count == 1 else 'wait'}"


def fault_data(fault: PlaceFault | None) -> dict[str, Any] | None:
    """Return what a place refused, for `--json`."""
    if fault is None:
        return None
    return {"code": fault.code, "message": fault.message, "hint": fault.hint, "time": _utc(fault)}


def _stands(peer: PeerStatus) -> str:
    """Return who lacks what of the other, in the words that the app has for it."""
    if peer.last_sync is None:
        return "not met yet"
    if peer.behind:
        return f"has {peer.behind} that you lack"
    return f"lacks {peer.ahead} that you have" if peer.ahead else "in step"


def _released(peer: PeerStatus) -> str:
    return "released nothing" if peer.versions == "none" else f"released {peer.versions}"


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


# Vectors and queue


def _vectors(vault: Vault) -> Answer:
    found = vectors(vault)
    data = {
        peer: {mark.node: {"seq": mark.seq, "hash": mark.digest, "forked": mark.forked} for mark in marks.values()}
        for peer, marks in found.items()
    }

    def text(paint: Paint) -> str:
        lines = []
        for peer, marks in found.items():
            lines.append(paint.strong(inert(peer)))
            lines += [
                f"  {inert(mark.name)}: {mark.seq}" + (paint.bad(" ! forked") if mark.forked else "")
                for mark in marks.values()
            ] or ["  nothing known yet"]
        return "\n".join(lines)

    return Answer({"vectors": data}, text)


def _queue(vault: Vault) -> Answer:
    entries = queue(vault)
    rows = [
        {
            "peer": entry.peer,
            "seq": entry.seq,
            "hash": entry.record,
            "what": entry.what,
            "since": entry.since,
            "state": entry.state,
            "places": entry.places,
            "reason": entry.reason,
        }
        for entry in entries
    ]
    faults, lacking = known_faults(vault), waiting_records(vault)
    lines = list(map(_queue_line, entries))
    for name in lacking if not entries else faults:
        if name in lacking:
            why = f" ({inert(faults[name].message)})" if name in faults else ""
            lines.append(f"{waiting_text(lacking[name])} for the place {inert(name)}{why}  lace sync {inert(name)}")
    waiting = [
        {"place": name, "records": count, "fault": fault_data(faults.get(name))} for name, count in lacking.items()
    ]
    return Answer({"entries": rows, "places": waiting}, "\n".join(lines) or "Nothing waits.")


def _queue_line(entry: QueueEntry) -> str:
    """Return one line that says where the entry waits and names the command that moves it (LAZ-46)."""
    if entry.state is QueueState.ON_MEDIUM:
        where = f"(on {', '.join(map(inert, entry.places))}, not confirmed) lace sync {inert(entry.places[0])}"
    elif entry.places:
        where = f"(local, not pushed) lace sync {inert(entry.places[0])}"
    else:
        where = "(local, not pushed) no place yet: lace place add NAME DIR"
    return f"for {inert(entry.peer)}: {inert(entry.what)}  {where}"
