"""Members who belong no more by what came, until a person was told of them (LAZ-69, APP-13).

It is noted in the transaction that stores the revocation: a visit that was cut off after it leaves it for my next one.
So does a friend's at my server, which was killed before it said so.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import NamedTuple

from lazy.people import former
from vault.notes.people import REVOKED_UNHEARD
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Revoked", "forget_revoked", "forget_told", "note_revoked", "revoked_as", "revoked_unheard"]


class Revoked(NamedTuple):
    """Somebody who belongs no more.

    Args:
        name: what they were called here.
        by: name of who revoked them.
        is_own: whether they revoked their own key.
    """

    name: str
    by: str
    is_own: bool = False

    @property
    def sentence(self) -> str:
        """Who did it, in words; nobody who ends it is said to revoke somebody."""
        return f"{self.name} revoked their own key" if self.is_own else f"{self.by} revoked {self.name}"


def note_revoked(w: Writer, members: Set[str]) -> set[str]:
    """Note, inside a write, which of those who were members, as verifier texts, belong no more, and return these.

    What is noted stays.
    """
    gone = {str(node) for (node,) in w.store.rows("SELECT node FROM former")} & members
    known = w.store.note(REVOKED_UNHEARD) if gone else ()
    if fresh := gone - set(known):
        w.store.set_note(REVOKED_UNHEARD, (*known, *sorted(fresh)))
    return gone


def revoked_unheard(vault: Vault) -> list[Revoked]:
    """Return who belongs no more and no visit told of, the first one first; what is said to me is said elsewhere."""
    return [one for node in vault.store.note(REVOKED_UNHEARD) if (one := revoked_as(vault, node)) is not None]


def revoked_as(vault: Vault, node: str) -> Revoked | None:
    """Return what is told of a node, as verifier text; None where it belongs after all, or is mine."""
    gone = former(vault, node)
    return Revoked(gone.name, gone.by, gone.by_node == node) if gone is not None and not gone.me else None


def forget_revoked(w: Writer) -> None:
    """Forget them, inside a write: a visit tells of all now."""
    if w.store.has_note(REVOKED_UNHEARD):
        w.store.drop_note(REVOKED_UNHEARD)


def forget_told(vault: Vault, told: Collection[Revoked]) -> None:
    """Forget those of whom a server told, once a person could read it: my next visit would tell it as news again."""
    with vault.writing(receiving=True) as w:
        known = w.store.note(REVOKED_UNHEARD)
        rest = tuple(node for node in known if revoked_as(vault, node) not in told)
        if not rest:
            forget_revoked(w)
        elif rest != known:
            w.store.set_note(REVOKED_UNHEARD, rest)
