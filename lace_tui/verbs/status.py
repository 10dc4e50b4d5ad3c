"""The answer of `status`: who I am, each desk, each peer, each place, and what needs a person (LAZ-54 to LAZ-56)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lace_tui.cli.output import Paint
from lace_tui.verbs.presence import beacon_data, beacon_note, clock_data, clock_note
from lace_tui.words.folder import update_of
from lace_tui.words.inert import inert
from lace_tui.words.standing import CUT_OFF, place_problems, text_until, waiting_text
from lace_tui.words.times import moment
from lazy.noted_visits import sync_command
from lazy.status import DeskStatus, PeerStatus, PlaceStatus, Status
from vault.commands import as_typed
from vault.desk_folders import MAIN
from vault.errors import LaceError
from vault.log_gap import GAP_HINT, missing_entry
from vault.notes.places import PlaceFault
from vault.plural import few, plural
from vault.records import Tai
from vault.revisions.history import Relation

if TYPE_CHECKING:
    from lazy.folder.permitted import KeptOut
    from vault.folder.work import Changes

    Trees = Mapping[str, Changes | LaceError]  # what changed in each desk's folder, or why that cannot be said

__all__ = ["fault_data", "status_data", "status_text"]

_LEFT_SHOWN = 5  # files of one desk that are named
_NONE: Mapping[str, str] = MappingProxyType({})
_WORDS = {
    Relation.SAME: "with all that friends released",
    Relation.AHEAD: "ahead of your friends",
    Relation.BEHIND: "behind: {update}",
    Relation.MERGEABLE: "friends have other changes: {update}",
    Relation.CONFLICTING: "in conflict: lace conflicts",
    Relation.UNRELATED: "friends began on their own: {update}",
}
_PART = "with all that is here of what friends released"
_LET_IN = "with all that your rules let in of what friends released"
_SHOWN = "with all that is shown of what friends released"  # what came is shown once this vault may sign


def status_data(found: Status, trees: Trees | None) -> dict[str, Any]:
    """Return what `--json` says; `changes` is what main's folder holds, each desk has its own."""
    data: dict[str, Any] = {
        "vault": found.vault,
        "node": found.node,
        "name": found.name,
        "group": found.group,
        "member": found.member,
        "waits_by_name": found.waits_by_name,
        "spent_on": found.spent_on or None,
        "left": [{"name": name, "command": way} for name, way in found.left],
        "empty": found.is_empty,
        "desks": [_desk_data(desk, trees) for desk in found.desks],
        "unmapped": list(found.unmapped),
        "ahead": found.ahead,
        "peers": [_peer_data(peer) for peer in found.peers],
        "places": [_place_data(place) for place in found.places],
        "queue": found.queue,
        "conflicts": found.conflicts,
        "requests": found.requests,
        "held_back": found.held_back,
        "missing_entry": found.missing_entry,
        "revocations": found.revocations,
        "revoked": [
            {"name": gone.name, "node": gone.node, "last_seq": gone.last_seq, "by": gone.by, "me": gone.me}
            for gone in found.revoked
        ],
        "records": found.records,
        "texts": [{"name": one.name, "file": str(one.file), "until": text_until(one)} for one in found.texts],
    }
    if trees is not None:
        data["changes"] = _changes_data(trees[MAIN])
    return data


def _desk_data(desk: DeskStatus, trees: Trees | None) -> dict[str, Any]:
    data = {
        "desk": desk.desk,
        "version": desk.version,
        "revision": desk.revision,
        "relation": desk.relation,
        "unreleased": desk.unreleased,
        "highest": desk.highest,
        "waiting": desk.waiting,
        "unfinished": desk.is_unfinished,
        "left": desk.left,
        "kept_out": _kept_out_data(desk.kept_out),
    }
    return data if trees is None else {**data, "changes": _changes_data(trees[desk.desk])}


def _kept_out_data(heads: Iterable[KeptOut]) -> list[dict[str, Any]]:
    """Return what rules of who may write keep out, with the commands that let it in (CLAY-80)."""
    return [
        {
            "commit": out.head,
            "name": out.who,
            "version": out.version,
            "paths": list(out.paths),
            "let_in": list(out.commands),
        }
        for out in heads
    ]


def _changes_data(tree: Changes | LaceError) -> dict[str, Any]:
    if isinstance(tree, LaceError):
        return {"added": [], "changed": [], "deleted": [], "problems": [{"path": "", "reason": tree.message}]}
    return {
        **{kind: tree.paths(kind) for kind in ("added", "changed", "deleted")},
        "problems": [{"path": problem.path, "reason": problem.reason} for problem in tree.problems],
    }


def _peer_data(peer: PeerStatus) -> dict[str, Any]:
    return {
        "name": peer.name,
        "node": peer.node,
        "state": peer.state,
        "last_sync": peer.last_sync,
        "heard": peer.heard,
        "versions": peer.versions,
        "behind": peer.behind,
        "ahead": peer.ahead,
        "unreleased": peer.unreleased,
        "evidence": peer.evidence,
        "waiting": peer.waiting,
        "beacon": beacon_data(peer.beacon),
        "clock": clock_data(peer.clock),
    }


def _place_data(place: PlaceStatus) -> dict[str, Any]:
    return {
        "place": place.name,
        "kind": place.kind,
        "uri": place.uri,
        "peer": place.peer,
        "last_sync": place.last_sync,
        "waiting": place.waiting,
        "fault": fault_data(place.fault),
        "problems": place_problems(place),
    }


def status_text(found: Status, trees: Trees | None, paint: Paint, keeping: Mapping[str, str] = _NONE) -> str:
    """Return what a person reads; `keeping` has, by desk, the command that keeps what an update left to them."""
    lines = [f"{inert(found.name)} in {inert(found.group.split('/')[0])}", *_obstacle_lines(found, paint)]
    lines += _desk_lines(found, trees, paint, keeping)
    if found.peers:
        lines += ["", paint.strong("Peers"), *_peer_lines(found.peers, paint)]
    if found.places:
        lines += ["", paint.strong("Places")]
        for place in found.places:
            lines += _place_lines(place, paint)
    return "\n".join([*lines, "", *_waiting_lines(found, paint)])


def _obstacle_lines(found: Status, paint: Paint) -> list[str]:
    """Return why I do not belong, may sign nothing, or reach nobody, if that is so."""
    lines = []
    me = next((gone for gone in found.revoked if gone.me), None)
    if found.is_empty:
        lines.append(paint.warn("! this group has no member left. To begin a new one: lace init in another folder"))
    elif me is not None:
        what = f"! {inert(me.by)} revoked this device's key: what it says counts here only. A new key: lace adopt"
        lines.append(paint.warn(what))
    elif found.waits_by_name:
        admit = inert(as_typed("admit", found.name))
        lines.append(paint.warn(f"! not a member yet: sync, let a friend sync and run {admit}, and sync again"))
    elif found.spent_on:
        admit = inert(as_typed("admit", found.name))
        what = f"! not a member: your invitation let {inert(found.spent_on)} in before you"
        lines += [paint.warn(what), f"  Ask for a new one, or let a member run: {admit} - and sync again"]
    elif not found.member:
        lines.append(paint.warn("! not a member yet: sync with the person who invited you"))
    for name, way in found.left:  # where nobody else can let me in, I would wait for ever
        lines.append(f"  {inert(name)} cannot let you in while you do not sync with them: {inert(way)}")
    if found.held_back is not None:
        lines.append(paint.warn(f"! {inert(found.held_back['message'])}"))
        lines.append(f"  {inert(found.held_back['hint'])}")
    if found.missing_entry is not None:
        lines += [paint.warn(f"! {missing_entry(found.missing_entry)}"), f"  {GAP_HINT}"]
    return lines


def _waiting_lines(found: Status, paint: Paint) -> list[str]:
    """Return what waits: for friends, and for me."""
    lines = []
    if found.ahead:
        lines.append(f"{plural(found.ahead, 'release')} not confirmed by every friend: lace queue")
    lines.append(
        paint.warn(f"! {plural(found.conflicts, 'open conflict')}: lace conflicts")
        if found.conflicts
        else "no conflicts"
    )
    if found.requests:
        who = plural(found.requests, "person", "people")
        lines.append(paint.warn(f"! {who} waiting to join: lace requests"))
    if found.revocations:
        waits = "waits" if found.revocations == 1 else "wait"
        what = f"! {plural(found.revocations, 'revocation')} {waits} for somebody above: lace requests"
        lines.append(paint.warn(what))
    for text in found.texts:
        lines.append(paint.warn(f"! what you wrote for {inert(text.name)} in a conflict is in no draft"))
        lines.append(f"  it lies in {inert(str(text.file))} until {moment(text_until(text))}: copy what you need")
    return lines + [f"{inert(gone.name)} was revoked by {inert(gone.by)}" for gone in found.revoked if not gone.me]


def _desk_lines(found: Status, trees: Trees | None, paint: Paint, keeping: Mapping[str, str]) -> list[str]:
    """Return each desk, with what changed in its folder if that was looked at, and the desks without a folder."""
    lines = []
    visits = [*(peer.last_sync for peer in found.peers), *(place.last_sync for place in found.places)]
    has_met = bool(found.peers) and any(visits)
    for desk in found.desks:
        is_held = found.held_back is not None
        lines.append(_desk_line(desk, is_alone=len(found.desks) == 1, has_friends=has_met, is_held=is_held))
        update = update_of(desk.desk, is_only=len(found.desks) == 1)
        for out in desk.kept_out:
            lines += _kept_out_lines(out, update, paint)
        finish = "lace changes" if len(found.desks) == 1 else inert(as_typed("changes", desk.desk))
        if trees is not None:
            lines += _tree_lines(trees[desk.desk], paint)
        elif desk.left:
            lines += _left_lines(desk, keeping.get(desk.desk, ""), finish, paint)
        elif desk.is_unfinished:  # a look at the folder would have finished it, or said why not
            lines.append(f"  {paint.warn('!')} its folder is written in part: {CUT_OFF}")
            lines.append(f"    to finish it: {finish}")
    lines += [f"{inert(name)}: released by friends, no folder here: {_map_command(name)}" for name in found.unmapped]
    return lines + ([paint.faint("  to look at the folder too: lace status --tree")] if trees is None else [])


def _kept_out_lines(out: KeptOut, update: str, paint: Paint) -> list[str]:
    """Return what my rules keep out of a desk, and the commands that let it in."""
    what = inert(out.who) + (f" {out.version}" if out.version else "")
    paths = few([inert(path) for path in out.paths], _LEFT_SHOWN)
    lines = [f"  {paint.warn('!')} your rules of who may write keep out {what}, for it changes {paths}"]
    return [*lines, f"    to let it in: {inert('; '.join((*out.commands, update)))}"]


def _left_lines(desk: DeskStatus, keep: str, finish: str, paint: Paint) -> list[str]:
    """Return which files an update left as they were saved, and how that ends."""
    names = few([inert(path) for path in desk.left], _LEFT_SHOWN)
    lines = [f"  {paint.warn('!')} saved by you while an update was written, so left as saved: {names}"]
    return [*lines, f"    to keep yours: {inert(keep)} - to have theirs: move yours away, then {finish}"]


def _map_command(desk: str) -> str:
    return inert(as_typed("desk add", desk, "DIR"))


def _desk_line(desk: DeskStatus, *, is_alone: bool, has_friends: bool, is_held: bool) -> str:
    version = f"released {desk.version}" if desk.version else "nothing released"
    parts = [version, f"revision {desk.revision}"]
    if has_friends or desk.relation not in {Relation.SAME, Relation.AHEAD}:
        # Beside other desks each is named: without a name, the command is about the folder it is typed in.
        update = inert(update_of(desk.desk, is_only=is_alone))
        stands = _WORDS[desk.relation].format(update=update)
        if desk.relation is Relation.SAME and (is_held or desk.waiting):
            stands = _SHOWN if is_held else _PART
        elif desk.relation is Relation.SAME and desk.kept_out:
            stands = _LET_IN
        parts.append(stands)
    if desk.unreleased:
        parts.append(f"{plural(desk.unreleased, 'commit')} not released")
    return f"{inert(desk.desk)}: " + ", ".join(parts)


def _tree_lines(tree: Changes | LaceError, paint: Paint) -> list[str]:
    if isinstance(tree, LaceError):
        return [f"  {paint.warn('!')} {inert(tree.message)}", f"    {inert(tree.hint)}"]
    signs = {"added": "+", "changed": "~", "deleted": "-"}
    lines = [f"  {signs[item.kind]} {item.kind} {inert(item.path)}" for item in tree.items]
    lines = lines or ["  nothing changed in the folder"]
    return lines + [f"  {paint.warn('!')} {inert(p.path)}: {inert(p.reason)}" for p in tree.problems]


def _peer_lines(peers: tuple[PeerStatus, ...], paint: Paint) -> list[str]:
    lines = []
    for peer in peers:
        line = f"  {inert(peer.name)}  {_stands(peer)}, {_released(peer)}, {_last(peer.last_sync)}"
        if peer.unreleased:
            line += paint.faint(f", {plural(peer.unreleased, 'unreleased commit')} (not shared, none of our concern)")
        if peer.beacon is not None:
            line += paint.faint(f", {beacon_note(peer.beacon)}")
        if peer.evidence:
            line += paint.warn(f", ! {peer.evidence} noted against: {inert(as_typed('peers', peer.name))}")
        lines += [line, *([f"    {paint.warn(clock_note(peer.clock))}"] if peer.clock is not None else [])]
    return lines


def _place_lines(place: PlaceStatus, paint: Paint) -> list[str]:
    """Return when a place was last visited, what waits for it, and why it could not go there."""
    line = f"  {inert(place.name)}  {_last(place.last_sync)}"
    if place.waiting:
        line += f", {waiting_text(place.waiting)} for it: {inert(sync_command(place.name))}"
    lines = [line]
    if place.fault is not None:
        lines.append(f"    {paint.warn('!')} {moment(_utc(place.fault))}: {inert(place.fault.message)}")
        lines += [f"      {inert(place.fault.hint)}"] if place.fault.hint else []
    for problem in place_problems(place):
        who = f"{inert(problem['peer'])}: " if problem["peer"] else ""
        lines.append(f"    {paint.warn('!')} {who}{inert(problem['message'])}")
        lines += [f"      {inert(problem['hint'])}"] if problem["hint"] else []
    return lines


def _utc(fault: PlaceFault) -> str:
    return Tai.parse(fault.when).to_utc_iso()


def fault_data(fault: PlaceFault | None) -> dict[str, Any] | None:
    """Return what a place refused, for `--json`."""
    if fault is None:
        return None
    return {"code": fault.code, "message": fault.message, "hint": fault.hint, "time": _utc(fault)}


def _stands(peer: PeerStatus) -> str:
    """Return who lacks what of the other, in the words that the app has for it."""
    if peer.last_sync is None:
        return "not met yet"
    told = [f"has {peer.behind} that you lack"] if peer.behind else []
    told += [f"lacks {peer.ahead} that you have"] if peer.ahead and not told else []
    if peer.is_silent:  # what was so then need not be so now
        told.append(f"no news since {moment(peer.heard)}")
    return ", ".join(told) or "in step"


def _last(when: str | None) -> str:
    return f"last sync {moment(when)}" if when else "never synced"


def _released(peer: PeerStatus) -> str:
    told = [f"released {inert(peer.versions)}"] if peer.versions != "none" else []
    if peer.waiting:  # perhaps on purpose: a part
        told.append(f"{plural(peer.waiting, 'release')} not all here: lace links")
    return ", ".join(told) or "released nothing"
