"""Reads from a vault what Home shows (LAZ-54 to LAZ-56).

Plain code over the floors below: it runs off the screen's thread with a vault of its own, and it touches nothing
outside `.vault`. Only `look_at` looks at a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lace_tui.model.view import (
    CHOICES,
    FILES_LIMIT,
    ID_SHOWN,
    Came,
    HomeView,
    LastSync,
    Need,
    NeedKind,
    PeerView,
    PlaceView,
    Reach,
    beginning,
)
from lace_tui.words.standing import CUT_OFF, place_problems, records_text, text_until
from lace_tui.words.times import moment
from lazy.belonging.requests import RequestInfo, requests
from lazy.conflict_words import side_names, side_words, update_command, update_desk
from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind
from lazy.folder.heads import ending_releases, ending_with
from lazy.noted_visits import sync_command
from lazy.people import label_of
from lazy.places.registry import Place, is_encrypted, places
from lazy.places.roads import open_place
from lazy.queue import QueueEntry, queue
from lazy.remembered import generation
from lazy.status import DeskStatus, PeerStatus, Status, refused_by_mark, status
from transports.address import AddressKind
from transports.errors import PlaceStalled, PlaceUnreachable
from vault.commands import as_option, as_typed
from vault.desk_folders import desks
from vault.desks.paths import files_in
from vault.errors import LaceError
from vault.folder.checked_out import checkout_of, contained
from vault.identity.mark import VaultForked
from vault.plural import few
from vault.records import Tai
from vault.revisions.graph import ancestors
from vault.revisions.history import ReleaseInfo, changes_of, commit_info, releases
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.resolving.left_texts import LeftText

__all__ = ["look_at", "read_home", "reason"]

CAME_LIMIT = 50  # rows; more than anybody reads before updating


def read_home(vault: Vault) -> HomeView:
    """Return what Home shows, read in one transaction."""
    refusal = refused_by_mark(vault)  # before it: a mark that is older than what is read accuses nobody
    with vault.store.reading():
        now = status(vault, refusal)
        waiting = queue(vault)
        still_open = conflicts(vault)
        came = _came(vault, still_open)
        place_views = tuple(_place(vault, place, now, waiting) for place in places(vault))
        return HomeView(
            folder=vault.folder.absolute().name,
            you=now.name,
            host=vault.around.host,
            group=now.group.split("/", 1)[0],
            conflicts=now.conflicts,
            waiting=len({entry.record for entry in waiting}),
            new=len(came),
            places=place_views,
            peers=tuple(_peer(peer, place_views, waiting) for peer in now.peers),
            came=tuple(_came_view(vault, release, still_open, now) for release in came[:CAME_LIMIT]),
            needs=_needs(vault, now, still_open),
            last=_last(now),
            now_ns=vault.around.now_ns(),
            generation=generation(vault),
            mark=str(vault.mark.path),
        )


def look_at(place: Place) -> Reach:
    """Return whether a place can be reached now; only directories are looked at, nothing is asked over a network."""
    if place.kind != AddressKind.DROP:
        return Reach(None, "asked when you sync")
    try:
        open_place(place)
    except PlaceUnreachable:
        return Reach(is_here=False, text="not here")
    except LaceError as error:
        return Reach(is_here=False, text=error.message)
    return Reach(is_here=True, text="here now")


def _place(vault: Vault, place: Place, now: Status, waiting: list[QueueEntry]) -> PlaceView:
    known = next(entry for entry in now.places if entry.name == place.name)
    serves = tuple(peer.name for peer in now.peers if place.peer in {None, peer.node})
    unsent = {entry.record for entry in waiting if entry.state == "queued" and place.name in entry.places}
    fault = [(known.fault.message, known.fault.hint)] if known.fault is not None else []
    found = [(_said(problem), problem["hint"]) for problem in place_problems(known)]
    was_away = known.fault is not None and known.fault.code in {PlaceUnreachable.code, PlaceStalled.code}
    return PlaceView(
        place=place,
        serves=serves,
        waiting=len(unsent),
        last_sync=known.last_sync,
        records=records_text(known.waiting),
        trouble=(*fault, *found),
        was_away=was_away,
        is_encrypted=is_encrypted(vault, place),
    )


def _said(problem: Mapping[str, str]) -> str:
    return f"{problem['peer']}: {problem['message']}" if problem["peer"] else problem["message"]


def _peer(peer: PeerStatus, known: tuple[PlaceView, ...], waiting: list[QueueEntry]) -> PeerView:
    return PeerView(
        peer,
        sum(1 for entry in waiting if entry.peer == peer.name),
        tuple(view.place.name for view in known if peer.name in view.serves),
    )


def _came(vault: Vault, still_open: list[Conflict]) -> list[ReleaseInfo]:
    """Return friends' releases that my folders do not contain, the newest of each desk first."""
    return [release for desk in desks(vault) for release in _came_to(vault, desk.name, still_open)]


def _came_to(vault: Vault, desk: str, still_open: list[Conflict]) -> list[ReleaseInfo]:
    base = checkout_of(vault, desk)
    line: set[str] = set()
    for commit in contained(base):
        line |= ancestors(vault.store, commit)
    contested = {side.commit.text for conflict in still_open for side in conflict.sides}
    me = vault.node.text
    found = []
    for release in releases(vault.store, desk):
        if release.node == me or release.commit.text in line:  # most of them, so nothing else is read for these
            continue
        same = base is not None and commit_info(vault.store, release.commit).tree == base.tree
        if not same or release.commit.text in contested:
            found.append(release)
    return found[::-1]


def _came_view(vault: Vault, release: ReleaseInfo, still_open: list[Conflict], now: Status) -> Came:
    info = commit_info(vault.store, release.commit)
    paths = changes_of(vault.store, release, limit=FILES_LIMIT)
    sides = {side.commit for conflict in still_open for side in conflict.sides}
    out = [one for desk in now.desks for one in desk.kept_out if release.commit in {one.head, *one.below}]
    return Came(
        id=release.hash.text,
        who=label_of(vault, release.node),
        what=f"{release.desk} {release.version}",
        message=beginning(info.message),
        files=files_in(change.path for change in paths),
        paths=tuple(f"{change.path}{' (deleted)' if change.kind == 'deleted' else ''}" for change in paths[:20]),
        when=Tai.parse(release.tai).to_utc_iso(),
        contested=release.commit in sides,
        command="; ".join(out[0].commands) if out else update_desk(release.desk),
        kept_out=bool(out),
    )


def _needs(vault: Vault, now: Status, still_open: list[Conflict]) -> tuple[Need, ...]:
    ended, above = ending_releases(vault, still_open), ending_with(vault, still_open)
    found = [need for one in still_open for need in _conflict_needs(vault, one, ended.get(one.id), above.get(one.id))]
    if (held := now.held_back) is not None:  # nothing else can be dealt with before it
        command = "lace adopt" if held["code"] == VaultForked.code else "lace sync"
        found.insert(0, Need("held-back", NeedKind.HELD_BACK, held["message"], held["hint"], command))
    if not now.member:
        found.append(_membership(now))
    found += [_request(request) for request in requests(vault)]
    found += [_unfinished(vault, desk) for desk in now.desks if desk.is_unfinished]
    found += [_unmapped(desk) for desk in now.unmapped]
    found += [_text(vault, text) for text in now.texts]
    return tuple(found)


def _text(vault: Vault, text: LeftText) -> Need:
    return Need(
        str(text.file),
        NeedKind.TEXT,
        f"What you wrote for {text.name} is in no draft",
        f"it lies in {text.file.relative_to(vault.folder)} until {moment(text_until(text))}",
        "lace status",
    )


def _membership(now: Status) -> Need:
    if now.spent_on and not now.waits_by_name:  # a new key asks by name, and its old one had used the invitation up
        return Need(
            "member",
            NeedKind.MEMBERSHIP,
            f"Your invitation let {now.spent_on} in before you",
            f"ask for a new one, or let a member run {as_typed('admit', now.name)}; then sync again",
            sync_command(now.places[0].name) if now.places else "lace place add NAME DIR",
        )
    if now.left:
        name, way = now.left[0]
        return Need(
            "member",
            NeedKind.MEMBERSHIP,
            "You are not a member yet",
            f"{name} cannot let you in while you do not sync with them",
            way,
        )
    return Need(
        "member",
        NeedKind.MEMBERSHIP,
        "You are not a member yet",
        f"sync; then a friend syncs and runs {as_typed('admit', now.name)}; then sync again"
        if now.waits_by_name
        else "sync where your friend syncs; they must sync in between",
        sync_command(now.places[0].name) if now.places else "lace place add NAME DIR",
    )


def _request(request: RequestInfo) -> Need:
    return Need(
        f"request {request.node}",
        NeedKind.REQUEST,
        f"{request.name} asks to belong",
        f"at {request.place}; not admitted by itself: {request.problem}",
        as_typed("admit", request.name, options=f"--key {request.node}"),
        (
            f"Key: {request.node}",
            f"Place: {request.place}",
            f"Not admitted by itself: {request.problem}",
            f"To take it off the list: lace requests {as_option('--drop', request.name)}",
        ),
        request.name,
    )


def _unmapped(desk: str) -> Need:
    return Need(
        f"desk {desk}",
        NeedKind.DESK,
        f"{desk}: released by friends, no folder here",
        "its files come into a sub-folder that you name",
        as_typed("desk add", desk, "DIR"),
        runs=as_typed("desk add", desk, desk),
    )


def _unfinished(vault: Vault, desk: DeskStatus) -> Need:
    from lace_tui.words.folder import SHOWN  # hardly any update is cut off
    from lace_tui.words.written import changes_of  # hardly any update is cut off
    from vault.folder.meanwhile import keep_command

    name, title = f"unfinished {desk.desk}", f"{desk.desk}: its folder is written in part"
    if not desk.left:
        return Need(name, NeedKind.UNFINISHED, title, CUT_OFF, changes_of(desk.desk))
    keep = keep_command(vault, desk.desk, desk.left if len(desk.left) <= SHOWN else ())
    why = f"saved while an update was written: {few(desk.left, SHOWN)}; commit yours, or move it away and update"
    return Need(name, NeedKind.UNFINISHED, f"{desk.desk}: files wait for you", why, keep)


def reason(conflict: Conflict) -> str:
    """Return in a phrase why two sides need a person."""
    is_version = conflict.kind is ConflictKind.VERSION
    return "released with different content" if is_version else "do not merge by themselves"


def _conflict_needs(vault: Vault, conflict: Conflict, ended: ReleaseInfo | None, above: Conflict | None) -> list[Need]:
    """Return what a conflict asks of a person: nothing of its own where it ends with the one `above`."""
    if above is not None and ended is None:
        return []
    names = side_names(conflict, vault.node.text)
    detail = [f"Conflict {conflict.id}", f"Common ancestor: {conflict.common_words}"]
    for side, name in zip(conflict.sides, names, strict=True):
        version = f" {side.version}" if side.version else ""
        detail.append(f"{name}{version}, {moment(Tai.parse(side.tai).to_utc_iso())}, {side.content_sha512[:23]}")
    why = reason(conflict)
    act = f"lace resolve {conflict.id[:ID_SHOWN]} {side_words(conflict, vault.node.text)}"
    if ended is not None:
        why = f"{label_of(vault, ended.node)} {ended.version} ends it: update"
        act = update_command(conflict)
    found = [
        Need(
            conflict.id,
            NeedKind.CONFLICT,
            f"{conflict.what}: {' <> '.join(names)}",
            why,
            act,
            tuple(detail),
            runs=act if ended is not None else CHOICES,
        )
    ]
    if conflict.proposals:
        by = ", ".join(dict.fromkeys(proposal.name for proposal in conflict.proposals))
        found.append(
            Need(
                f"{conflict.id} proposals",
                NeedKind.PROPOSAL,
                f"{conflict.what}: {by} has decided",
                "their decision counts here when you accept it",
                f"lace resolve {conflict.id[:ID_SHOWN]} {conflict.accept_words()}",
                runs=CHOICES if conflict.differ else "",
                detail=tuple(f"{one.word} decided for {conflict.proposed_words(one)}" for one in conflict.proposals),
            )
        )
    return found


def _last(now: Status) -> LastSync | None:
    visited = [place for place in now.places if place.last_sync]
    newest = max(visited, key=lambda place: str(place.last_sync), default=None)
    return LastSync(newest.name, str(newest.last_sync), newest.last) if newest else None
