"""History of desks: commit and revision (docs/formats.md section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from vault.names import check_desk
from vault.profile.apps import COMMIT_APP, REVISION_APP
from vault.profile.errors import ProfileError
from vault.profile.fields import (
    Origin,
    Sealed,
    ascending,
    at_most_one,
    check_number,
    decimal,
    exactly_one,
    link_pairs,
    links,
    no_body,
    text_bytes,
    text_of,
    two_part_name,
)
from vault.records import Plex, RecordHash, Tai

__all__ = ["MAX_PARENTS", "Commit", "Revision"]

MAX_PARENTS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Sealed):
    """A state of a desk's folder and the states it came from.

    Args:
        desk: the desk's name.
        parents: Seals of commits, sorted by hash, 0 to 64.
        tree: the root page.
        message: what the person wrote.
    """

    APP: ClassVar[str] = COMMIT_APP

    desk: str
    parents: tuple[RecordHash, ...]
    tree: RecordHash
    message: str

    @classmethod
    def to_plex(
        cls, *, group: str, desk: str, parents: Sequence[RecordHash], tree: RecordHash, message: str, tai: Tai
    ) -> Plex:
        """Return the Plex to seal; `parents` may come in any order and are sorted here.

        Raises:
            BadName: the desk's name is not allowed.
            ProfileError: parents, tree or message break a rule.
        """
        extras = link_pairs("parent", sorted(parents)) + link_pairs("tree", [tree])
        data = text_bytes(message)
        return cls._checked(Plex.build(group=group, app=cls.APP, name=desk, tai=tai, extras=extras, data=data))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        parents, trees = links(plex, ("parent", "S"), ("tree", "P"))
        return cls(
            *origin,
            desk=plex.name,
            parents=tuple(parents),
            tree=exactly_one(trees, "tree"),
            message=text_of(plex),
        )

    def _check(self) -> None:
        check_desk(self.desk)
        if len(self.parents) > MAX_PARENTS:
            raise ProfileError(f"it has {len(self.parents)} parents, and at most {MAX_PARENTS} are allowed")
        ascending(self.parents, "parent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(Sealed):
    """A commit's number on the signer's line of a desk.

    Args:
        desk: the desk's name.
        number: from 1 on.
        commit: the commit's Seal.
        prev: Seal of the revision before; None for number 1 only.
    """

    APP: ClassVar[str] = REVISION_APP

    desk: str
    number: int
    commit: RecordHash
    prev: RecordHash | None

    @classmethod
    def to_plex(
        cls, *, group: str, desk: str, number: int, commit: RecordHash, prev: RecordHash | None, tai: Tai
    ) -> Plex:
        """Return the Plex to seal.

        Raises:
            BadName: the desk's name is not allowed.
            ProfileError: number and `prev` do not fit each other.
        """
        extras = link_pairs("commit", [commit]) + link_pairs("prev", [prev])
        return cls._checked(Plex.build(group=group, app=cls.APP, name=f"{desk}/{number}", tai=tai, extras=extras))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        desk, number = two_part_name(plex.name)
        commits, prevs = links(plex, ("commit", "S"), ("prev", "S"))
        no_body(plex)
        return cls(
            *origin,
            desk=desk,
            number=decimal(number, "revision number"),
            commit=exactly_one(commits, "commit"),
            prev=at_most_one(prevs, "prev"),
        )

    def _check(self) -> None:
        check_desk(self.desk)
        check_number(self.number, "revision number")
        if (self.prev is None) != (self.number == 1):
            raise ProfileError("only revision 1 has no link prev, and every other has one")
