"""Taking a mailbox away where the host deletes no branch, and telling what stays readable there (decisions 5, 7a)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from transports.errors import LeftInPlain, PushRejected
from transports.git.tree import MailboxTree, store_mailbox
from vault.errors import DataError, PlaceError

if TYPE_CHECKING:
    from transports.git.writable import WritablePlace

__all__ = ["is_empty", "taken_away", "tell_readable"]


def taken_away(place: WritablePlace, name: str) -> str | None:
    """Take one branch of a mailbox away, or what it shows where the host deletes none; return the commit left there.

    Args:
        place: the place.
        name: the branch below lace/.

    Raises:
        Moved: somebody else wrote to the branch meanwhile.
        PlaceError: the host cannot be reached, or takes in nothing.
    """
    tip = place.tip(name) or ""
    try:
        place.private.talks.delete(name, tip)
    except PushRejected:
        return _emptied(place, name, tip)
    place.gone(name)
    return None


def _emptied(place: WritablePlace, name: str, tip: str) -> str:
    """Put an empty mailbox in the place of one, and nothing behind it where the host lets it; return its commit."""
    former = _shown(place, name)
    box = MailboxTree(commits=1)
    commit = place.private.here.store_commit(store_mailbox(place.private.here, box))
    try:
        place.private.talks.push(commit, name, 0, 0, expected=tip)
    except PushRejected:
        if former is not None and is_empty(former):
            return tip
        box = MailboxTree(commits=(former.commits if former is not None else 1) + 1)
        commit = place.private.here.store_commit(store_mailbox(place.private.here, box), [tip])
        place.private.talks.push(commit, name, 0, 0)
    place.took(name, commit, box)
    place.private.here.forget_own(name)  # else it is brought back once its owner deletes it
    return commit


def tell_readable(place: WritablePlace, name: str) -> None:
    """Warn, at once, of all branches of a mailbox that show something or stand on what they showed (CYB-17).

    One that does not come counts as such.
    """
    boxes = {each: _shown(place, each) for each in place.generations(name)}
    left = [each for each, box in boxes.items() if box is None or not is_empty(box) or box.commits > 1]
    if left:
        branches = " and ".join(f"lace/{each}" for each in left)
        told = f"What you left in plain at {place.describe()} stays readable there, in the history of {branches}."
        place.warn(LeftInPlain(told))


def is_empty(box: MailboxTree) -> bool:
    """Tell whether a mailbox shows nothing, and rests on no pieces, as one does whose first publishing was cut."""
    return not (box.head or box.request or box.beacon or box.files or box.data)


def _shown(place: WritablePlace, name: str) -> MailboxTree | None:
    """Return the mailbox that a branch shows, of any generation; None where it does not come, or is damaged."""
    with suppress(DataError, PlaceError):
        if not place.private.here.has(place.tip(name) or ""):
            place.private.talks.fetch_refs([name])
        return place.private_box(name)
    return None
