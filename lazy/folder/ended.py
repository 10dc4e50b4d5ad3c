"""Which conflicts end by what an update or a merge takes in: whoever was told of one hears that it is over (LAZ-36)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind, Status
from vault.errors import DataError
from vault.folder.checked_out import Checkout, contained
from vault.records import RecordHash
from vault.revisions.graph import covered_by
from vault.vault import Vault

__all__ = ["EndedConflict", "ended_since", "open_in", "would_end"]


class EndedConflict(NamedTuple):
    """A conflict about which nobody is asked any more.

    Args:
        id: of the conflict.
        what: it was about, in the words that every list has for it.
    """

    id: str
    what: str


def open_in(vault: Vault, desk: str) -> list[Conflict]:
    """Return the open conflicts of a desk, as they are before something is taken in."""
    if not vault.store.rows("SELECT 1 FROM conflict WHERE desk = ? LIMIT 1", desk):
        return []  # each was noted when it was met; to look for them reads of all releases what they are of
    return [conflict for conflict in conflicts(vault) if conflict.desk == desk]


def ended_since(vault: Vault, before: Sequence[Conflict]) -> tuple[EndedConflict, ...]:
    """Return which of the conflicts that were open before have ended; one that is asked with another has not.

    None where that cannot be told: what took them in is done, and who looks at conflicts hears what is damaged.
    """
    if not before:
        return ()
    try:
        pending = {one.id for one in conflicts(vault, include_settled=True) if one.status is Status.PENDING}
    except DataError:
        return ()
    return tuple(EndedConflict(one.id, one.what) for one in before if one.id not in pending)


def would_end(
    vault: Vault, before: Sequence[Conflict], base: Checkout | None, new: Sequence[RecordHash]
) -> tuple[EndedConflict, ...]:
    """Return which open conflicts of a desk end once its folder stands on a base and on some heads.

    Of clashing heads that is one whose foreign heads are all contained then; of a version, one whose only decision is.
    """
    if not before:
        return ()
    asked = {side.commit.text for one in before for side in one.sides}
    asked |= {proposal.result.text for one in before for proposal in one.proposals}
    (held,) = covered_by(vault.store, asked, [[commit.text for commit in (*contained(base), *new)]])
    return tuple(EndedConflict(one.id, one.what) for one in before if _ends(one, held))


def _ends(conflict: Conflict, held: set[str]) -> bool:
    if conflict.kind is ConflictKind.HEAD:
        return all(side.is_local or side.commit.text in held for side in conflict.sides)
    taken = {proposal.content for proposal in conflict.proposals if proposal.result.text in held}
    return len(taken) == 1 and not conflict.differ and not conflict.results
