"""What a conflict consists of, as values: its sides, what is proposed, the words for them (LAZ-36, LAZ-39)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from vault.commands import as_either
from vault.names import Version
from vault.records import RecordHash

__all__ = ["Conflict", "ConflictKind", "Proposal", "Side", "Status", "status_of", "worded"]


class ConflictKind(StrEnum):
    """What is in conflict."""

    VERSION = "version"
    HEAD = "head"


class Status(StrEnum):
    """LAZ-36; the words local and remote are this viewer's."""

    PENDING = "pending"
    RESOLVED_LOCAL = "resolved-local"
    RESOLVED_REMOTE = "resolved-remote"
    MERGED = "merged"


class Side(NamedTuple):
    """One side of a conflict.

    Args:
        commit: its commit.
        release: its release, for a version conflict.
        node: who released or committed it.
        name: their name here.
        content_sha512: `sha512:<hex>` of its content, when its tree is here.
        tai: when, for display.
        version: the released version, or None for a head that was not released.
        word: what `resolve --prefer` calls it: the name, with a number where one person has several contents
            (`bob:1`; no name holds a colon).
        is_local: whether `local` means it: mine, or what my line holds where none is mine.
    """

    commit: RecordHash
    release: RecordHash | None
    node: str
    name: str
    content_sha512: str
    tai: str
    version: Version | None
    word: str = ""
    is_local: bool = False


def status_of(sides: Iterable[Side], chosen: RecordHash | None, me: str) -> Status:
    """Return the status that a decision gives a version conflict (LAZ-36).

    Args:
        sides: of the conflict.
        chosen: the release that the decision keeps, or None where it made another one of all.
        me: this viewer's node.
    """
    if chosen is None:
        return Status.MERGED
    is_mine = any(side.release == chosen and side.node == me for side in sides)
    return Status.RESOLVED_LOCAL if is_mine else Status.RESOLVED_REMOTE


class Proposal(NamedTuple):
    """Somebody's resolution that does not count here yet.

    Args:
        resolution: the sealed record.
        node: who decided.
        name: their name here.
        result: the commit that counts once it is accepted.
        content: the tree of it; decisions of equal content are one.
        chosen: the side it keeps, or None for a merge.
        release: the release of a merge.
        version: under which that is released; None where it is not here.
        word: what `resolve --accept` calls it: the name, with a number where one name decided differently
            (`bob:1`; no name holds a colon).
    """

    resolution: RecordHash
    node: str
    name: str
    result: RecordHash
    content: RecordHash
    chosen: RecordHash | None
    release: RecordHash | None
    version: Version | None
    word: str = ""


class Conflict(NamedTuple):
    """One conflict, with everything a person needs to decide it.

    `in_common` are the releases that several sides were built upon, the highest first, and which sides they are.
    `asked_with` is the id of another one that is decided first, or with it: nobody decided this one yet.
    `is_overtaken` tells that a later state contains all sides of a version and no decision on it: one that is made now
    says which content counts under the version, and changes no folder.
    """

    id: str
    kind: ConflictKind
    desk: str
    version: Version | None
    sides: tuple[Side, ...]
    in_common: tuple[tuple[Version, tuple[int, ...]], ...]
    detected: str
    status: Status
    proposals: tuple[Proposal, ...]
    results: tuple[RecordHash, ...]
    asked_with: str = ""
    is_overtaken: bool = False

    @property
    def to_merge(self) -> list[RecordHash]:
        """What a decision merges beside my line: the sides, and what was decided before and is no past state."""
        return [*(side.commit for side in self.sides), *(() if self.is_overtaken else self.results)]

    @property
    def ancestor(self) -> Version | None:
        """The highest release that all sides were built upon, or None (LAZ-34)."""
        return next((version for version, of in self.in_common if len(of) == len(self.sides)), None)

    @property
    def common_words(self) -> str:
        """The same in words, and where there is none, which of the sides have one."""
        if self.ancestor is not None:
            return str(self.ancestor)
        some = [f"{version} of {' and '.join(self.sides[at].word for at in of)}" for version, of in self.in_common]
        return "; ".join(("none of all", *some)) if some else "none released"

    @property
    def what(self) -> str:
        """What it is about, in the words that every list has for it: `main 1.2.0`, or `main, clashing changes`."""
        return f"{self.desk} {self.version}" if self.version else f"{self.desk}, clashing changes"

    @property
    def is_open(self) -> bool:
        """Whether a person is still asked about it."""
        return self.status is Status.PENDING and not self.asked_with

    @property
    def differ(self) -> bool:
        """Whether proposals disagree, so that who accepts has to say whose."""
        return len({proposal.content for proposal in self.proposals}) > 1

    def proposed_words(self, proposal: Proposal) -> str:
        """Return what somebody wants to count: a side, or a merge."""
        chosen = next((side for side in self.sides if proposal.chosen and side.release == proposal.chosen), None)
        if chosen:
            return f"the side of {chosen.word}"
        return "a merge" if proposal.version is None else f"a merge, released as {proposal.version}"

    def accept_words(self, *one: Proposal) -> str:
        """Return what `resolve` is given to accept what is proposed, or `one` of it."""
        return (
            as_either("--accept", (proposal.word for proposal in one or self.proposals)) if self.differ else "--accept"
        )

    def proposed(self, word: str) -> list[Proposal]:
        """Return the proposals that a word, a person's name or key, or a resolution's hash means; all for no word."""
        return [p for p in self.proposals if not word or word in {p.word, p.name, p.node, p.resolution.text}]


def worded(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Give each proposal a word of its own: a person may have decided twice, and two may be called the same."""
    found = list(proposals)
    contents: dict[str, list[RecordHash]] = {}
    for one in found:
        several = contents.setdefault(one.name, [])
        several += [] if one.content in several else [one.content]
    return tuple(
        one._replace(word=one.name if len(several) == 1 else f"{one.name}:{several.index(one.content) + 1}")
        for one in found
        for several in (contents[one.name],)
    )
