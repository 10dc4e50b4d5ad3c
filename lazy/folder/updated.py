"""What an update or a merge did, or would do: whose work came, what moved in the folder, what clashed, what stays out.

It is one value for both, so that a plan and what is done by it can be laid beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lazy.folder.moving import Moves
from vault.revisions.history import Relation

if TYPE_CHECKING:
    from lazy.folder.ended import EndedConflict
    from lazy.folder.permitted import Refused
    from vault.desks.path_conflict import PathConflict
    from vault.names import Version
    from vault.records import RecordHash

__all__ = ["HeadConflict", "NotTakenIn", "TakenIn", "Updated"]

_UNMOVED: Final = Moves()


@dataclass(frozen=True, slots=True)
class TakenIn:
    """Whose work was taken in.

    Args:
        releases: name and version of each friend's release.
        decided: versions whose decision was taken, where no friend's release was.

    Raises:
        ValueError: both are given.
    """

    releases: tuple[tuple[str, Version], ...] = ()
    decided: tuple[Version, ...] = ()

    def __post_init__(self) -> None:
        if self.releases and self.decided:
            raise ValueError("a decision is named only where no release was taken")

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the friends, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.releases))

    @property
    def versions(self) -> tuple[Version, ...]:
        """Their versions, each once."""
        return tuple(dict.fromkeys(version for _, version in self.releases))

    @property
    def whose(self) -> str:
        """The friends, each with what they released; empty where it is nobody else's."""
        return ", ".join(f"{name} {version}" for name, version in self.releases)

    @property
    def source(self) -> str:
        """Whose it is, in words: friends and versions, a decision, or a line of my own."""
        if self.whose:
            return self.whose
        return f"the decision on {', '.join(map(str, self.decided))}" if self.decided else "another line of yours"


@dataclass(frozen=True, slots=True)
class HeadConflict:
    """Heads that do not merge with my line, or with each other.

    Args:
        paths: those that need a person.
        is_mine: whether my line has one of these otherwise than it was before; else friends alone clash there.
        held_back: how many other paths wait for them and come with any decision; not counted for more than two heads.
        id: of the conflict that was noted for them; empty in a plan, which notes none.

    Raises:
        ValueError: nothing clashes.
    """

    paths: tuple[PathConflict, ...]
    is_mine: bool = True
    held_back: int = 0
    id: str = ""

    def __post_init__(self) -> None:
        if not self.paths:
            raise ValueError("a conflict has a path")


@dataclass(frozen=True, slots=True)
class NotTakenIn:
    """What stays out of my line, and why.

    Args:
        waiting: open version conflicts that keep heads out, by id.
        refused: heads whose signers may not write what they changed.
        more: how many heads the next update takes in, since one commit has no room for them.
        away: what of my own line stays out, since its content is not here, in words.
        lacking: how many of the friends' releases of the desk are not all here, so that nothing of them was taken.
        parts: the commands that bring what is whole of them.
        is_lost: whether the rest of these was refused here, so that no sync brings it.

    Raises:
        ValueError: there are parts of nothing that is lacking, or the rest of none.
    """

    waiting: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    more: int = 0
    away: str = ""
    lacking: int = 0
    parts: tuple[str, ...] = ()
    is_lost: bool = False

    def __post_init__(self) -> None:
        if (self.parts and not self.lacking) or (self.is_lost and not self.parts):
            raise ValueError("parts are of a release that is lacking, and what is lost is the rest of them")

    @property
    def waits_for_person(self) -> bool:
        """Whether something whole stays out until a person decides, lets its signer write, or has its content come."""
        return bool(self.waiting or self.refused or self.away)


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update or a merge did, or would do.

    Args:
        relation: how my head stood to the heads taken in.
        commit: the commit my folder stands on now; None when there is none yet, or it is not made yet.
        revision: the number my line gave it, or None when nothing was made.
        saved: the commit made of dirty files before, if any.
        saves: of a plan: whether dirty files would be committed before.
        taken: whose work was taken in.
        moves: what became of the folder, or would.
        merged: paths whose content was merged from several sides.
        conflict: what clashed; then nothing was taken in.
        not_taken: what stays out.
        is_unfinished: of a plan: whether an update of the folder was cut off, which is finished first.
        is_finished: whether one was, and what that wrote and deleted is named with the rest.
        ended: the conflicts that were open before and are not any more.

    Raises:
        ValueError: heads clash and something was made or written of them, or nothing that clashes is named.
    """

    relation: Relation
    commit: RecordHash | None = None
    revision: int | None = None
    saved: RecordHash | None = None
    saves: bool = False
    taken: TakenIn = TakenIn()
    moves: Moves = _UNMOVED
    merged: tuple[str, ...] = ()
    conflict: HeadConflict | None = None
    not_taken: NotTakenIn = NotTakenIn()
    is_unfinished: bool = False
    is_finished: bool = False
    ended: tuple[EndedConflict, ...] = ()

    def __post_init__(self) -> None:
        if (self.conflict is not None) != (self.relation is Relation.CONFLICTING):
            raise ValueError("a conflict is of heads that clash, and of no others")
        if self.revision is not None and self.commit is None:
            raise ValueError("a revision is of a commit")
        if self.saves and self.saved is not None:
            raise ValueError("what is dirty was committed, or would be")
        if self.is_unfinished and self.is_finished:
            raise ValueError("what was cut off is finished already, or will be")
        if self.conflict is not None and (self.revision is not None or self.merged or self._moved_by_itself):
            raise ValueError("a clash makes no revision and writes nothing")

    @property
    def clashes(self) -> tuple[PathConflict, ...]:
        """The paths that need a person; none where nothing clashes."""
        return self.conflict.paths if self.conflict is not None else ()

    @property
    def _moved_by_itself(self) -> bool:
        """Whether it moved anything, where that is not what was left of an update that was cut off."""
        return bool(self.moves.written or self.moves.deleted) and not (self.is_unfinished or self.is_finished)
