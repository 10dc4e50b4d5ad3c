"""Beginning a mailbox's history anew, so that what no head names can leave the host (decision 7a).

Only the own ref is replaced, and only from where it was last seen. Where the host refuses a replacement, a ref of
the next generation is begun, and readers take the youngest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from transports.errors import PlaceDamaged, PlaceUnreachable, PushRejected, UnreadableFile
from transports.git.private import PrivateRepository
from transports.git.refusals import Moved
from transports.git.repository import Repository
from transports.git.talks import Unadvertised
from transports.git.tree import MailboxTree, store_mailbox
from vault.errors import DataError

if TYPE_CHECKING:
    from transports.git.writable import WritablePlace

__all__ = ["COMMITS", "compact", "is_due", "is_remembered", "joined", "next_generation", "replaced"]

COMMITS = 256  # of one ref, after which it is begun anew
_DEAD = 128  # pieces that no file is made of, and as many as live ones
_MANY = 16  # live pieces that make a commit worth keeping as it is
_PARENTS = 50  # of one commit
_GENERATIONS = 9999  # the name of a ref has four digits for them


def is_due(box: MailboxTree) -> bool:
    """Tell whether a mailbox's history is worth beginning anew."""
    alive = box.alive()
    return box.commits >= COMMITS or len(box.carried() - alive) >= max(_DEAD, len(alive))


def compact(place: WritablePlace, name: str, box: MailboxTree, push: Callable[[list[str]], None]) -> tuple[str, str]:
    """Replace a ref by one commit over the live pieces; return the ref's name and its commit.

    Args:
        place: the place.
        name: the ref below lace/.
        box: the mailbox it holds.
        push: pushes pieces as data of the mailbox, also such as the host has.

    Raises:
        Moved, PlaceError: as `GitWriter.compact`.
    """
    here = place.private.here
    alive = box.alive()
    kept, made = set[str](), list[str]()
    for oid, filed in box.data.items():
        if _is_worth_keeping(filed.pieces, alive):
            with suppress(DataError):  # where it lies neither here nor there whole, its pieces are pushed anew
                if is_remembered(place.private, oid, filed.pieces):
                    made.append(oid)
                kept.add(oid)
    held = {piece for oid in kept for piece in box.data[oid].pieces}
    rest = sorted(alive - held)
    place.pieces.bring(rest)
    push(rest)
    tip = place.tip(name) or ""
    grown = place.private_box(name)
    fresh = {oid for oid in grown.data if oid not in box.data}
    chosen = {oid: filed for oid, filed in grown.data.items() if oid in kept | fresh}
    anew = replace(grown, data=chosen, commits=1)
    commit = here.store_commit(store_mailbox(here, anew), joined(here, sorted(chosen)))
    try:
        name = replaced(place, name, commit, tip, asks_first=bool(made))
    except (PlaceDamaged, PlaceUnreachable):
        if not made:
            raise
        # A host or git of before that question: it is sent what it has.
        place.pieces.bring([piece for oid in made for piece in chosen[oid].pieces])
        name = replaced(place, name, commit, tip)
    place.took(name, commit, anew)
    return name, commit


def _is_worth_keeping(pieces: Sequence[str], alive: set[str]) -> bool:
    living = sum(piece in alive for piece in pieces)
    return living >= _MANY and living * 2 >= len(pieces)


def replaced(place: WritablePlace, name: str, commit: str, tip: str, *, asks_first: bool = False) -> str:
    """Bring a ref from a tip to a commit, or begin the next one where the host refuses; return its name."""
    talks = place.private.talks
    try:
        talks.push(commit, name, 0, 0, expected=tip, asks_first=asks_first)
    except PushRejected as error:
        if isinstance(error, PlaceDamaged) and asks_first:
            raise
        old, name = name, next_generation(name)
        talks.push(commit, name, 0, 0, expected="", asks_first=asks_first)
        with suppress(PushRejected, Moved):  # a host that refuses this too keeps the old ref, and nobody reads it
            talks.delete(old, tip)
            place.gone(old)
    return name


def is_remembered(private: PrivateRepository, oid: str, pieces: Sequence[str]) -> bool:
    """See to it that a commit with pieces lies here; tell whether it was made anew, by its list and without them.

    The host has them, and is asked whether it knows the commit: a private repository that was begun anew has nothing
    else to tell it by.

    Raises:
        UnreadableFile: some of its pieces are lost, and the host gives the commit out to nobody.
        PlaceError: the host cannot be asked.
    """
    if private.here.has(oid):
        return False
    made = private.here.store_commit(private.here.store_tree({piece: ("blob", piece) for piece in sorted(pieces)}))
    if made != oid:  # some of its pieces are lost
        try:
            private.talks.fetch_commit(oid)
        except Unadvertised as error:
            raise UnreadableFile("The host gives out nothing but what its branches point at.") from error
    return made == oid


def joined(here: Repository, commits: list[str]) -> list[str]:
    """Return at most so many parents that stand for all the commits."""
    while len(commits) > _PARENTS:
        empty = here.store_tree({})
        commits = [
            here.store_commit(empty, commits[begin : begin + _PARENTS]) for begin in range(0, len(commits), _PARENTS)
        ]
    return commits


def next_generation(name: str) -> str:
    """Return the name of the ref that follows one which the host does not let go.

    Raises:
        PushRejected: it would be one that nobody looks for; whoever may push can have begun the last that is.
    """
    first, _, number = name.partition("-")
    if int(number or 0) >= _GENERATIONS:
        told = f"The branch lace/{name} is damaged, cannot be replaced, and is the last that a mailbox may have."
        raise PushRejected(told, hint="Let the owner of the repository delete that branch, and sync again.")
    return f"{first}-{int(number or 0) + 1}"
