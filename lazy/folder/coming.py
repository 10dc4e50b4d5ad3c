"""What there is for an update to take in, whose work it is, and how the folder stands to it where it has all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.folder.heads import missing, permitted_heads, relation_to, with_equal, with_room
from lazy.folder.updated import NotTakenIn, TakenIn
from lazy.people import label_of
from vault.folder.checked_out import Checkout, checkout_of
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.history import Relation, releases_of
from vault.vault import Vault

__all__ = ["Coming", "coming_in", "taken_in"]


class Coming(NamedTuple):
    """Heads that may be taken in, beside what the folder stands on.

    Args:
        base: what that is, with heads of its content beside it from now.
        heads: all of them; what the folder has already may be among them.
        new: those that it has not, as many as there is room for.
        not_taken: what stays out.
    """

    base: Checkout | None
    heads: Sequence[RecordHash]
    new: list[RecordHash]
    not_taken: NotTakenIn

    def stands(self, vault: Vault) -> Relation:
        """Return how the folder stands to them where none is new."""
        base, heads = self.base, self.heads
        if base is None or not heads or base.commit in heads:
            return Relation.SAME
        ahead = all(relation_to(vault, base, head) is Relation.AHEAD for head in heads)
        return Relation.AHEAD if ahead else Relation.SAME


def coming_in(vault: Vault, desk: str, peer: str | None, version: Version | None) -> Coming:
    """Return what there is to take in, of all friends or as named; nothing is written.

    Raises:
        NothingFrom, NoSuchPeer: as `heads_to_update`.
    """
    before = checkout_of(vault, desk)
    heads, waiting, out = permitted_heads(vault, desk, before, peer, version)
    base = with_equal(vault, desk, before, heads)
    lacking = missing(vault, base, heads)
    new = with_room(vault, desk, base, lacking)
    return Coming(base, heads, new, NotTakenIn(waiting, out, len(lacking) - len(new)))


def taken_in(vault: Vault, desk: str, new: Sequence[RecordHash]) -> TakenIn:
    """Return whose work some heads are: that of who released them, else of a decision, else mine."""
    me = vault.node.text
    taken = [release for release in releases_of(vault.store, new, desk) if release.node != me]
    pairs = dict.fromkeys((label_of(vault, release.node), release.version) for release in taken)
    judged = [] if taken else [c for c in conflicts(vault, include_settled=True) if c.desk == desk and c.version]
    decided = (c.version for c in judged if c.version and not set(new).isdisjoint(c.results))
    return TakenIn(tuple(pairs), tuple(dict.fromkeys(decided)))
