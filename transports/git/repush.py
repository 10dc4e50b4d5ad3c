"""Pushing the own mailbox once more to a host that lost a part of it (LAZ-63; decision 7a).

Behind its tip may lie what was let go here, and the host has that alone. So nothing is taken away there which is not
in its place again already. One loss leaves no choice: where the commit of the tip itself is gone, git there takes in
nothing at all until the branch is deleted. Then all that is needed for the new one lies here on the disk before, and
whoever writes the mailbox next finishes what was cut.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from transports.errors import BranchSetBack, PlaceDamaged, PushRejected, UnreadableFile
from transports.git import backup, upkeep
from transports.git.branches import generation
from transports.git.compaction import COMMITS, is_remembered, joined, next_generation, replaced
from transports.git.private import PrivateRepository
from transports.git.refusals import Moved
from transports.git.repository import Repository
from transports.git.setback import is_set_back
from transports.git.talks import Refuted
from transports.git.tree import Filed, MailboxTree, Stored, data_list, load_mailbox, store_mailbox
from vault.errors import DataError, PlaceError

if TYPE_CHECKING:
    from transports.git.writable import WritablePlace

__all__ = ["bring_over", "finish", "push_again"]

_UNDELETED = "It is your own, and can be written anew only once it is deleted, which the host refuses."
_LET_DELETE = (
    "Let whoever keeps the repository allow you to delete branches there, then sync again: nothing is lost by it. If"
    " they delete it themselves, sync before git clears away what no branch needs."
)
_TURNS = 2  # as it is, and otherwise
_TRIED = 8  # pieces of one commit, at most, that are asked for in vain before the others are given up


def push_again(place: WritablePlace, name: str, tip: str, box: MailboxTree) -> None:
    """Bring the own mailbox to a host that lost a small part of it, as it lies here.

    Args:
        place: the place.
        name: the branch below lace/.
        tip: where it stands.
        box: the mailbox.

    Raises:
        DataError: a part of it is neither here nor there.
        Moved, PlaceError: the host does not take it.
    """
    private = place.private
    stumbled = None
    for turn in range(_TURNS):
        box = _otherwise(private, box) if turn else box
        for commit, anew in _ways(private, tip, box):
            try:
                name = _put(place, name, tip, commit, anew)
            except PlaceDamaged as error:
                stumbled = error
                continue
            tip, stumbled = commit, None
            if not private.apart.is_refused(tip):
                return
    if stumbled is None:
        raise UnreadableFile(f"{place.describe()} lost a part of it, and takes it in under no name.")
    _unbind(place, name, tip, box, stumbled)
    finish(place, name)


def _ways(private: PrivateRepository, tip: str, box: MailboxTree) -> list[tuple[str, MailboxTree]]:
    """Return the commits with which a mailbox can take the place of a tip, each with what it says.

    Better without the former history, in which gits of the old protocol and the host's own look for what is lost. Each
    says another number than the tip: git sends nothing for a commit that is there.
    """
    after = replace(box, commits=max(box.commits + 1, COMMITS))  # worth beginning anew at once
    ways = [(private.here.store_commit(store_mailbox(private.here, after), [tip]), after)]
    with suppress(DataError):  # a commit with pieces lies neither here nor there whole
        for oid, filed in box.data.items():
            is_remembered(private, oid, filed.pieces)
        ways.insert(0, _begun(private.here, box, box.data))
    return ways


def _put(place: WritablePlace, name: str, tip: str, commit: str, box: MailboxTree) -> str:
    """Bring the branch to a commit, or begin the next one where the host refuses; return its name."""
    try:
        place.private.apart.push(commit, name, tip, expected=tip)
    except PlaceDamaged:
        raise
    except PushRejected:
        old, name = name, next_generation(name)
        place.private.apart.push(commit, name, tip, expected="")
        with suppress(PlaceError, Moved):  # a host that refuses this too keeps the old one, and nobody reads it
            place.private.talks.delete(old, tip)
            place.gone(old)
    place.took(name, commit, box)
    return name


def _otherwise(private: PrivateRepository, box: MailboxTree) -> MailboxTree:
    """Return a mailbox without what the host cannot read of it, in trees of other names.

    Of an object that a power cut emptied, git there takes in nothing under the same name.
    """
    small = {stored.oid for stored in (box.head, box.request, box.beacon) if stored is not None}
    lists = {filed.oid for part in (box.files, box.data) for filed in part.values()}
    known = private.apart.refused_of(sorted(small | lists))
    refused = small if known is None else known  # nobody can say so: what is written at each visit is written now

    def left(stored: Stored | None) -> Stored | None:
        return None if stored is None or stored.oid in refused else stored

    data = {
        oid: data_list(private.here, (*filed.pieces, *filed.pieces[:1])) if filed.oid in refused else filed
        for oid, filed in box.data.items()
    }
    files = {name: filed for name, filed in box.files.items() if filed.oid not in refused}
    return replace(
        box,
        head=left(box.head),
        request=left(box.request),
        beacon=left(box.beacon),
        files=files,
        data=data,
        turn=box.turn + 1,
    )


# Where the commit of the tip is gone


def _unbind(place: WritablePlace, name: str, tip: str, box: MailboxTree, why: PlaceDamaged) -> None:
    """Delete a branch whose commit the host lost, once all is kept that the new one needs.

    Raises:
        PlaceDamaged: `why`, where that commit is there or nobody can say so, or the host deletes no branch.
        Moved, PlaceError: the host does not take it.
    """
    here = place.private.here
    if not place.private.apart.lacks_commit(tip):
        raise why
    there = place.private.talks.commits_there(_behind(place.private, box))
    if there is None:
        raise why
    goal = _with_what_is_there(place, box, there)
    commit, _ = _begun(here, goal, goal.data)
    here.flush()
    backup.keep(here, backup.Job(name, tip, commit), there)
    try:
        place.private.talks.delete(name, tip)
    except PushRejected as error:
        backup.drop(here, name)
        raise PlaceDamaged(f"{why.message} {_UNDELETED}", hint=_LET_DELETE) from error
    place.gone(name)


def _with_what_is_there(place: WritablePlace, box: MailboxTree, there: Collection[str]) -> MailboxTree:
    """Return a mailbox of what the host holds still; pieces whose commit is gone come here, as far as they do."""
    data = {oid: filed for oid, filed in box.data.items() if oid in there}
    sure = {piece for filed in data.values() for piece in filed.pieces}
    for oid in box.data.keys() - data.keys():
        pieces = [piece for piece in box.data[oid].pieces if piece in box.alive() - sure]
        data |= _brought(place, pieces)
    held = {piece for filed in data.values() for piece in filed.pieces}
    files = {name: filed for name, filed in box.files.items() if held.issuperset(filed.pieces)}
    return replace(box, data=data, files=files)


def _brought(place: WritablePlace, pieces: Sequence[str]) -> dict[str, Filed]:
    """Bring pieces here, each by itself; return a commit with those that came, if any did.

    The first that are asked for lie all over it: where none of them is there, all went with their commit.
    """
    here = place.private.here
    failed = 0
    lacking = here.missing(pieces)
    sample = lacking[:: max(1, -(-len(lacking) // _TRIED))]
    for piece in dict.fromkeys([*sample, *lacking]):
        try:
            place.pieces.bring([piece])
        except DataError:
            failed += 1
            if failed == len(sample) and len(here.missing(pieces)) == len(pieces):
                return {}
    lost = set(here.missing(pieces))
    came = tuple(dict.fromkeys(piece for piece in pieces if piece not in lost))
    if not came:
        return {}
    tree = here.store_tree({piece: ("blob", piece) for piece in sorted(came)})
    return {here.store_commit(tree): data_list(here, came)}


def finish(place: WritablePlace, name: str) -> None:
    """Bring back a mailbox of my own whose branch is gone: deleted to be pushed again, or by somebody else.

    Args:
        place: the place.
        name: the branch of the mailbox, of any generation.

    Raises:
        Moved, PlaceError: the host does not take it now, and nothing is to be written in its place.
    """
    here = place.private.here
    job = backup.noted(here, name)
    if job is None:
        _bring_back_mine(place, max([place.youngest(name), *here.generations(name)], key=generation))
        return
    if place.tip(job.name) not in {job.tip, job.commit} and (job.tip or place.tip(job.name) is None):
        back = backup.taken_back(here, job)
        _bring_back(place, job.name, job.commit if back.is_here(here) else None, back.box)
        if not back.is_here(here):  # nor did it come from the host
            raise backup.set_aside(here, name, place.describe())
    backup.drop(here, name)


def _bring_back_mine(place: WritablePlace, name: str) -> None:
    """Bring back a mailbox of my own that somebody else deleted, set back or wrote over, as it stood last.

    Its history may not be. Behind where it stood may lie what was let go here.
    """
    here, tip = place.private.here, place.tip(name)
    mine = here.last(name)
    with suppress(DataError):  # else it is written anew, with what is here
        if mine is None or not (tip is None or is_set_back(here, tip, mine)):
            return
        box = load_mailbox(here, mine)
        if tip is None:
            commit, box = _begun(here, box, _behind(place.private, box))
        else:
            box = replace(box, commits=box.commits + 1)
            commit = here.store_commit(store_mailbox(here, box), [tip, *joined(here, _behind(place.private, box))])
        _bring_back(place, name, commit, box, is_newer=tip is not None)
        if (stands := place.tip(name)) is not None:
            here.note_mine(name, stands)
        place.warn(_set_back(place) if tip is not None else _deleted(place))


def bring_over(place: WritablePlace, name: str, tip: str) -> bool:
    """Put a mailbox of my own, as it stood last, in the place of a tip that git does not take; tell whether it was.

    Raises:
        Moved, PlaceError: the host does not take it.
    """
    here = place.private.here
    mine = here.last(name)
    if mine is None or mine == tip:
        return False
    with suppress(DataError, PlaceDamaged):  # else it is written anew, with what is here
        box = load_mailbox(here, mine)
        commit, box = _begun(here, box, _behind(place.private, box))
        place.took(replaced(place, name, commit, tip, asks_first=True), commit, box)
        place.warn(_set_back(place))
        return True
    return False


def _behind(private: PrivateRepository, box: MailboxTree) -> list[str]:
    return sorted(oid for oid, filed in box.data.items() if _is_known(private, oid, filed))


def _set_back(place: WritablePlace) -> BranchSetBack:
    return BranchSetBack(
        f"Your branch at {place.describe()} did not hold what was left there: it was set back or written over, or the"
        " host lost a part of it."
    )


def _deleted(place: WritablePlace) -> BranchSetBack:
    return BranchSetBack(f"Your branch at {place.describe()} was gone: somebody deleted it.")


def _begun(here: Repository, box: MailboxTree, behind: Collection[str]) -> tuple[str, MailboxTree]:
    """Return a commit with a mailbox whose history begins there over others, and what it says.

    It is none that was fetched alone here: git at a host takes that for a history that is cut off.
    """
    cuts = upkeep.cuts(here.path)
    parents = joined(here, sorted(behind))
    for number in count(1):
        anew = replace(box, commits=number)
        commit = here.store_commit(store_mailbox(here, anew), parents)
        if number != box.commits and commit not in cuts:  # nor the tip that is damaged
            return commit, anew
    raise AssertionError


def _is_known(private: PrivateRepository, oid: str, filed: Filed) -> bool:
    """See to it that a commit with pieces lies here, with or without them; tell whether it does."""
    with suppress(DataError):
        is_remembered(private, oid, filed.pieces)
    return private.here.has(oid)


def _bring_back(
    place: WritablePlace, name: str, commit: str | None, goal: MailboxTree, *, is_newer: bool = False
) -> None:
    """Push a mailbox at once, or by parts where the host or this disk lacks some.

    Args:
        place: the place.
        name: the branch.
        commit: the one to push, where all of it is here.
        goal: what it holds.
        is_newer: whether its head takes the place of one that is there.
    """
    if commit is not None and (place.tip(name) is None or place.tip(name) in place.private.here.parents(commit)):
        try:
            place.private.talks.push(commit, name, 0, 0, expected=place.tip(name) or "", asks_first=True)
        except PlaceDamaged:
            pass
        else:
            place.took(name, commit, goal)
            return
    _join(place, _readable(place, name), goal, asks=commit is None, is_newer=is_newer)


def _readable(place: WritablePlace, name: str) -> str:
    """See to it that what a branch holds is here: of what git finds fault with, an empty mailbox takes the place.

    Return the name of the branch, which is the next one where the host lets none be replaced.

    Raises:
        PlaceDamaged: it does not come, and may be what a copy of this vault wrote.
    """
    here, tip = place.private.here, place.tip(name)
    if tip is None or here.has(tip):
        return name
    try:
        place.private.talks.fetch_refs([name])
    except DataError as error:
        if not isinstance(error.__cause__, Refuted):
            raise PlaceDamaged(error.message) from error
        box = MailboxTree(commits=1)
        commit = here.store_commit(store_mailbox(here, box))
        name = replaced(place, name, commit, tip)
        place.took(name, commit, box, is_whole=False)
    return name


def _join(place: WritablePlace, name: str, goal: MailboxTree, *, asks: bool, is_newer: bool) -> None:
    """Bring a mailbox to a branch commit by commit; what is left of one that is damaged is fetched and pushed."""
    here = place.private.here
    there = place.private.talks.commits_there([oid for oid in goal.data if here.has(oid)]) or ()
    for oid, filed in goal.data.items():
        if oid not in there and here.missing(filed.pieces):
            # Its pieces went with it, but where they were kept and are damaged.
            if asks and (more := _brought(place, _alive_of(filed, goal))):
                _grow(place, name, more, goal)
            continue
        try:
            _grow(place, name, {oid: filed}, goal)
        except PlaceDamaged:
            if more := _brought(place, _alive_of(filed, goal)):
                _grow(place, name, more, goal, asks_first=False)  # it may bear the name of the damaged one
    if place.tip(name) is not None:
        is_headless = _there(place, name).head is None
        _grow(place, name, {}, goal, is_last=True, gives_head=is_newer or is_headless)


def _there(place: WritablePlace, name: str) -> MailboxTree:
    """Return the mailbox that a branch holds; an empty one where it holds none."""
    with suppress(DataError):
        return place.private_box(name) if place.tip(name) is not None else MailboxTree()
    return MailboxTree()


def _alive_of(filed: Filed, goal: MailboxTree) -> list[str]:
    alive = goal.alive()
    return [piece for piece in filed.pieces if piece in alive]


def _grow(
    place: WritablePlace,
    name: str,
    more: dict[str, Filed],
    goal: MailboxTree,
    *,
    is_last: bool = False,
    gives_head: bool = False,
    asks_first: bool = True,
) -> None:
    """Push a mailbox with more of what another one has, its head at last; nothing where all of it is there."""
    here, tip = place.private.here, place.tip(name)
    box = _there(place, name)
    grown = replace(box, data=box.data | more)
    held = grown.carried()
    grown.files = box.files | {name: filed for name, filed in goal.files.items() if held.issuperset(filed.pieces)}
    if gives_head:
        grown.head, grown.request, grown.beacon = goal.head, goal.request, goal.beacon
    if grown == box:
        return
    grown.commits = box.commits + 1
    parents = [*([tip] if tip is not None else []), *more]
    commit = here.store_commit(store_mailbox(here, grown), parents)
    place.private.talks.push(commit, name, 0, 0, expected="" if tip is None else None, asks_first=asks_first)
    place.took(name, commit, grown, is_whole=is_last)
