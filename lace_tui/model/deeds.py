"""What Home does to a vault: the floors below under one roof, loaded behind the first frame and not before it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from lace_tui.acts.placing import as_encrypted
from lace_tui.acts.typed import OutsideFolder
from lace_tui.model.redoing import Again, again, redo
from lace_tui.words.folder import still_shared_lines
from lace_tui.words.releases import (
    doubt_lines,
    gone_lines,
    left_out_lines,
    look_lines,
    looked_text,
    new_text,
    since_after,
)
from lace_tui.words.written import kept_as_lines, late_lines
from lazy.belonging import circle
from lazy.belonging.admitting import admit
from lazy.belonging.circle import doubt_of_clock, invite
from lazy.conflict_words import update_desk
from lazy.folder.last_act import NothingToUndo, Undone, last_act
from lazy.folder.undo import undo
from lazy.folder.update import update
from lazy.folder.updated import Updated
from lazy.places.adding import PlaceKnown, add_place
from lazy.places.media import add_command
from lazy.places.placed import is_missing, worth_knowing
from lazy.places.registry import NameTaken, Place, is_encrypted, place_named, remove_place
from lazy.relation import relation_of
from lazy.results import PlaceResult
from lazy.strategy import Occasion, follow
from lazy.sync import sync
from transports.address import parse_address
from vault.desk_folders import MAIN, FolderGone, add_desk, desk_at, desks
from vault.desks.memory import MemoryObjects
from vault.errors import EnvironmentFault
from vault.folder.finishing import finishing
from vault.folder.unfinished import finish_checkout
from vault.folder.work import changes
from vault.identity.words import fingerprint_words
from vault.lock import LOCK_SECONDS
from vault.names import Version, check_name
from vault.plural import few
from vault.records import Verifier
from vault.releasing import NothingToRelease, Released, check_new
from vault.releasing import release as make_release
from vault.revisions.history import Relation, unreleased
from vault.revisions.versions import next_version
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lace_tui.model.view import HomeView
    from vault.desks.choosing import Problem
    from vault.writer import Writer

__all__ = ["MAIN", "CutOff", "PlannedAnew", "Relation", "Shared", "TakenBack", "UndoPlan", "Updated", "Version"]
__all__ += [
    "check_place_name",
    "cut_off",
    "doubt_of_clock",
    "finish",
    "give_folder",
    "invite",
    "is_encrypted",
    "join",
    "let_in",
    "move_place",
    "new_place",
]
__all__ += [
    "next_release",
    "plan_undo",
    "plan_updates",
    "redo",
    "release",
    "remove_place",
    "sync",
    "to_be_made",
    "undo_planned",
    "update",
    "update_desk",
    "updates",
    "words_of",
]

_NAMED = 3  # changed paths named before a release
_OTHER_NAME = "Choose another name."
_WRITTEN = frozenset({"drop", "git"})  # kinds of places that this vault writes to


class CutOff(NamedTuple):
    """What an update that was cut off has still to write and to delete, by desk."""

    moves: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]


def cut_off(vault: Vault, watch: Watch) -> CutOff | None:
    """Return what was cut off; None where nothing was, or files that were saved meanwhile are all that is left."""
    found = {}
    for desk in desks(vault):
        try:
            late = finishing(vault, desk.name, watch)
        except FolderGone:  # it keeps no other desk back
            continue
        if late is not None and late.is_cut:
            found[desk.name] = tuple(sorted({*late.written, *late.merged})), late.deleted
    return CutOff(found) if found else None


def finish(vault: Vault, shown: CutOff, watch: Watch) -> tuple[str, ...] | CutOff | None:
    """Write every update that was cut off to its end, as shown; return what to say of files that were saved meanwhile.

    Where it is another one by now, nothing is done, and that one is returned, or None where nothing is left to do.
    """
    with vault.lock.held(timeout=LOCK_SECONDS):
        now = cut_off(vault, watch)
        if now != shown:
            return now
        told: list[Problem] = []
        for desk in desks(vault):
            with suppress(FolderGone):
                told += finish_checkout(vault, desk.name, watch)
    return tuple(f"! {problem.path} {problem.reason}" for problem in told)


class PlannedAnew(NamedTuple):
    """The plans of an update that is another one by now than the one that was shown."""

    plans: dict[str, Updated | EnvironmentFault]


def plan_updates(vault: Vault, watch: Watch) -> dict[str, Updated | EnvironmentFault]:
    """Return what an update would do to each desk, or why that one cannot be updated; main even where it is nothing."""
    found: dict[str, Updated | EnvironmentFault] = {}
    for desk in desks(vault):
        try:
            plan = update(vault, desk.name, dry_run=True, watch=watch)
        except EnvironmentFault as error:  # a folder that is gone keeps no other desk back
            if desk.name == MAIN:
                raise
            found[desk.name] = error
            continue
        if plan.relation not in {Relation.SAME, Relation.AHEAD} or plan.not_taken.waits_for_person:
            found[desk.name] = plan
        elif desk.name == MAIN:
            nothing = plan
    return found or {MAIN: nothing}


def updates(
    vault: Vault, plans: Mapping[str, Updated], watch: Watch
) -> dict[str, tuple[Updated, tuple[str, ...]]] | PlannedAnew:
    """Update some desks as planned, one after the other; each is done by itself, as by a command of its own.

    With each comes what to say of files that were saved meanwhile. Where another update would be done by now than the
    one that was shown, nothing is done, and the plans are made anew.
    """
    with vault.lock.held():
        if any(update(vault, desk, dry_run=True, watch=watch) != plan for desk, plan in plans.items()):
            return PlannedAnew(plan_updates(vault, watch))
        done = {desk: update(vault, desk, watch=watch) for desk in plans}
    return {desk: (one, late_lines(vault, desk, one.moves.kept)) for desk, one in done.items()}


class TakenBack(NamedTuple):
    """An act that was taken back, what to say of files that were saved meanwhile, and how it is done again.

    Args:
        undone: it.
        late: in sentences.
        again: how it is done again; None where that would be another act.
        before: the last act as it is now.
        kept: in sentences: where that is kept which nothing else holds.
    """

    undone: Undone
    late: tuple[str, ...]
    again: Again | None
    before: object
    kept: tuple[str, ...] = ()


class UndoPlan(NamedTuple):
    """What would be taken back, and the act that it is: the next revision may bear the number of one taken back."""

    undone: Undone
    act: object


def plan_undo(vault: Vault) -> UndoPlan:
    """Return what an undo would take back, and change nothing.

    Raises:
        NothingToUndo, FolderInTheWay: as `undo`.
    """
    act = last_act(vault)  # first: what is done in between is no act that was shown
    return UndoPlan(undo(vault, dry_run=True), act)


def undo_planned(vault: Vault, plan: UndoPlan, watch: Watch) -> TakenBack:
    """Take back the act that was shown, and no other.

    Raises:
        NothingToUndo: it is not the last one any more, would do something else, or cannot be taken back.
    """
    with vault.lock.held():
        if plan_undo(vault) != plan:
            raise NothingToUndo("Something else was done here meanwhile.", hint="Look at the plan again.")
        one = again(vault) if not plan.undone.is_unfinished else None
        done = undo(vault, watch=watch)
    late, kept = late_lines(vault, done.desk, done.kept), tuple(kept_as_lines(vault, done))
    return TakenBack(done, late, one, last_act(vault), kept)


def words_of(node: str) -> str:
    """Return the words of a key that two people compare."""
    return fingerprint_words(Verifier.parse(node))


def let_in(vault: Vault, name: str, node: str) -> str:
    """Make who asks to belong a member; return the words of their key.

    Raises:
        NotMember, AlreadyMember, NoSuchPeer: as `lazy.belonging.admitting.admit`.
    """
    return fingerprint_words(admit(vault, name, node)[1])


def join(vault: Vault, name: str, uri: str, key: str, cwd: Path) -> Place:
    """Make whoever has a key a peer, met at an address typed in `cwd`; return the place where that is."""
    return circle.join(vault, name, uri, key, cwd=cwd)


class NextRelease(NamedTuple):
    """What a release would be.

    Args:
        desk: whose.
        version: the next.
        is_alone: whether it is the only desk.
        new: what it would bring, in words; empty where that is nothing.
        nothing: why it would bring nothing, in sentences; empty where it brings something.
        gone: what to say, in lines, where it shares another state than the newest, deletes most of what was released,
            has what the rules name, or lacks what friends released since; else empty.
    """

    desk: str
    version: Version
    is_alone: bool
    new: str
    nothing: str
    gone: str


def next_release(vault: Vault, here: str) -> NextRelease:
    """Return what a release would be of the desk of the folder the app was opened in (LAZ-45)."""
    desk = desk_at(vault, Path(here))
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    found, earlier = changes(vault, desk, overlay=overlay), unreleased(vault, desk)
    new = gone = nothing = ""
    if found.items or earlier:
        since = since_after(vault, desk, found, overlay)
        new = new_text(found, earlier, since)
        items = found.items if not earlier else since.items if since is not None else ()
        new += f": {few([item.path for item in items], _NAMED)}" if items else ""
        told = [*look_lines(vault, found)[:1], *gone_lines(since), *still_shared_lines(found.problems)]
        gone = "\n".join([*told, *left_out_lines(vault, desk, relation_of(vault, desk))])
    else:
        try:
            check_new(vault, desk, None, found.problems)
        except NothingToRelease as error:
            nothing = f"{error.message} {error.hint}"
    return NextRelease(desk, next_version(vault, desk), len(desks(vault)) == 1, new, nothing, gone)


class Shared(NamedTuple):
    """A release, what became of it at the places, and what its maker is to know of it, in sentences."""

    made: Released
    pushed: list[PlaceResult]
    told: tuple[str, ...]


def release(vault: Vault, version: Version, desk: str, watch: Watch, message: str = "") -> Shared:
    """Release as `lace release` does: places get it at once where the vault is to share each release."""
    made = make_release(vault, version, message, desk=desk, watch=watch)
    pushed = follow(vault, Occasion.RELEASE, watch)
    left_out = (p for p in made.committed.problems if p.kind == "skipped")
    told = [f"! {p.path} {p.reason}; it was left out." for p in left_out]
    told += [text for text in [looked_text(vault, made)] if text]
    told += [*doubt_lines(vault)[0], *left_out_lines(vault, desk, relation_of(vault, desk))]
    return Shared(made, pushed, tuple(told))


def check_place_name(name: str, known: HomeView | None) -> None:
    """Refuse a name that no place can get.

    Raises:
        BadName: it cannot be one.
        NameTaken: somebody or another place has it.
    """
    check_name(name, what="place name")
    if known is None:
        return
    for place in known.places:
        if place.place.name == name:
            raise NameTaken(f"There is a place called {name!r} already, at {place.place.uri}.", hint=_OTHER_NAME)
    if name in {known.you, *(peer.status.name for peer in known.peers)}:
        raise NameTaken(f"Somebody is called {name!r}, and places and people share their names.", hint=_OTHER_NAME)


def give_folder(vault: Vault, desk: str, folder: str) -> str:
    """Give a desk that friends released a sub-folder of the shared one; return its path there.

    Raises:
        OutsideFolder: it is none.
        DeskTaken, BadPath, NotWritable: as `add_desk`.
    """
    root = vault.folder.absolute()
    path = os.path.relpath(os.path.join(root, folder), root)  # noqa: PTH118 - text alone decides
    if path in {os.curdir, os.pardir} or path.startswith(os.pardir + os.sep):
        raise OutsideFolder(f"{folder} is not a sub-folder of {root}.", hint="Name one, for example: " + desk)
    return add_desk(vault, desk, normalize("NFC", path.replace(os.sep, "/"))).dir


def to_be_made(uri: str, cwd: Path) -> str:
    """Return the directory that would be made for a place at that address, typed in `cwd`; empty where none would be.

    Raises:
        UnknownPlaceKind, PlaceUnreachable: it is no address of a place.
    """
    path = parse_address(uri, cwd).path if is_missing(uri, cwd) else None
    return str(path) if path is not None and path.parent.is_dir() else ""  # else it cannot be made, which is told


def new_place(
    vault: Vault, name: str, uri: str, cwd: Path, *, peer: str | None = None, is_sealed: bool = False
) -> tuple[Place, tuple[str, ...]]:
    """Remember a place whose address was typed in `cwd`, of one peer or encrypted where that is asked.

    It is returned with what is to be known of it.

    Raises:
        BadArguments: it is only read, and was to be encrypted.
    """

    def also(w: Writer, place: Place) -> None:
        if is_sealed:
            as_encrypted(w, place)

    is_made = is_missing(uri, cwd)
    place = add_place(vault, name, uri, cwd=cwd, peer=peer, also=also)
    return place, worth_knowing(vault, place, is_made=is_made)


class MovedPlace(NamedTuple):
    """A place at another address, what is to be known of it, and the command that adds it there as it was."""

    place: Place
    told: tuple[str, ...]
    command: str


def move_place(vault: Vault, name: str, uri: str, cwd: Path) -> MovedPlace:
    """Give a place another address, typed in `cwd`, and all else as it was; where that cannot be, nothing changes.

    Raises:
        PlaceKnown: it is the address that it has; what is remembered of the visits there would go.
    """
    # Both acts or none: the old address may be good no more.
    with vault.lock.held(timeout=LOCK_SECONDS), vault.writing():
        known = place_named(vault, name)
        to = parse_address(uri, cwd)
        if to.uri == known.uri:
            raise PlaceKnown(f"{name} is there already.", hint="Type where it is from now on.")
        is_sealed = is_encrypted(vault, known) and to.kind in _WRITTEN
        remove_place(vault, name)
        place, told = new_place(vault, name, uri, cwd, peer=known.peer, is_sealed=is_sealed)
        return MovedPlace(place, told, add_command(vault, place, uri))
