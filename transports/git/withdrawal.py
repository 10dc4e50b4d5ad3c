"""Taking a mailbox away where the host deletes no branch, and telling what stays readable there (decisions 5, 7a)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transports.errors import LeftInPlain, PushRejected
from transports.git.tree import MailboxTree, store_mailbox

if TYPE_CHECKING:
    from transports.git.ground import Ground

__all__ = ["emptied", "left_in_plain"]


def emptied(place: Ground, name: str, tip: str, commits: int) -> str:
    """Put an empty mailbox in the place of one, and nothing behind it where the host lets it; return its commit.

    Args:
        place: the place.
        name: the branch below lace/.
        tip: where it stands.
        commits: of the branch since it began.

    Raises:
        Moved: somebody else wrote to the branch meanwhile.
        PlaceError: the host cannot be reached, or takes in nothing.
    """
    box, parents = MailboxTree(commits=1), list[str]()
    commit = place.private.store_commit(store_mailbox(place.private, box))
    try:
        place.private.push(commit, name, 0, 0, expected=tip)
    except PushRejected:
        box, parents = MailboxTree(commits=commits + 1), [tip]
        commit = place.private.store_commit(store_mailbox(place.private, box), parents)
        place.private.push(commit, name, 0, 0)
    place.took(name, commit, box)
    place.private.forget_own(name)  # else it is brought back once its owner deletes it
    if parents:
        place.warn(left_in_plain(place, [name]))
    return commit


def left_in_plain(place: Ground, names: Sequence[str]) -> LeftInPlain:
    """Return the warning of branches behind which a mailbox stays readable that was taken away."""
    branches = " and ".join(f"lace/{name}" for name in names)
    return LeftInPlain(
        f"What you left in plain at {place.describe()} stays readable there, in the history of {branches}."
    )
