"""What a person chose, a side for a path or a region, and what they had seen when they did (LAZ-39)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lazy.conflict_words import deciding_command
from lazy.conflicts import NoSuchConflict
from lazy.contested import Conflict, Proposal, Side
from lazy.resolving.siding import EVERY
from vault.desks.pages import Entry
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.names import SELF
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.vault import Vault

__all__ = ["BOTH", "MINE", "Both", "Choices", "Held", "Mine", "NoSuchSide", "Picks", "PicksContradict", "Seen"]
__all__ += ["SidesChanged", "check_seen", "heads_of", "pick_proposal", "pick_side", "picks_of"]

Both = Literal["both"]
BOTH: Both = "both"  # of one region: my lines, then the other side's; of more sides, all that changed it
Mine = Literal["mine"]
MINE: Mine = "mine"  # my line, which a decision commits to first


class NoSuchSide(CallerError):
    """The side named is none of this conflict's, or the word fits several."""

    code = "no-such-side"
    exit_code = 2
    hint = "Name a side by its person or by its release: lace conflicts lists them."


class PicksContradict(CallerError):
    """Two things were chosen for one path, or for the two names of one file that some disks take for the same."""

    code = "picks-contradict"
    exit_code = 2
    hint = "Choose once for each path; nothing was changed."


class SidesChanged(CallerError):
    """What is decided is not what was shown: another side or decision came, or my own line went on (LAZ-39, LAZ-42)."""

    code = "sides-changed"
    exit_code = 2
    hint = "Open the conflict again; what was chosen is kept for each file that is as it was."


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose of a merge, in words for its sides; whatever is not named is merged, or as in the folder.

    Args:
        takes: by path: the side whose content it gets, or `both`.
        regions: by path and number (from 1): the side whose lines a region gets, or `both`.
        edited: returns the bytes of a merged file, or None where the person made none.
        mine: paths that shall be exactly as the person's folder has them.
    """

    takes: Mapping[str, str] = field(default_factory=dict)
    regions: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    edited: Callable[[str], bytes | None] = lambda _path: None
    mine: Collection[str] = ()


class Held(NamedTuple):
    """What my folder has of a clash.

    Args:
        path: the path of the clash, which is another name than that in my folder where a friend renamed the file.
        entry: None where the folder has nothing of it.
    """

    path: str
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Picks:
    """What a person chose, by the commits that their words mean (`picks_of`).

    Args:
        all: the side for every conflicting path, unless something else is chosen for it; `MINE` is what my folder has.
        named: the paths that it counts for, which are those the conflict names; None for all that clash.
        paths: commit whose content a path gets, in conflict or not.
        own: those of `paths` that are as my folder has them; a friend's word for what that stands on means the commit.
        is_own: whether `all` is.
        regions: by path and number (from 1): the commit whose lines a region gets, or `BOTH` or `MINE`.
        edited: returns the bytes of a merged file, or None where the person made none.
        held: by the name in my folder: what of a clash stays exactly as it is there, unless something else is chosen.
    """

    all: RecordHash | Mine | None = None
    named: Set[str] | None = None
    paths: Mapping[str, RecordHash] = field(default_factory=dict)
    own: Set[str] = frozenset()
    is_own: bool = False
    regions: Mapping[str, Mapping[int, RecordHash | Both | Mine]] = field(default_factory=dict)
    edited: Callable[[str], bytes | None] = field(default=lambda _path: None)
    held: Mapping[str, Held] = field(default_factory=dict)


def pick_side(conflict: Conflict, word: str) -> Side:
    """Return the side that `local`, `remote`, its word, a person's name or a release's hash means.

    Raises:
        NoSuchSide: none, or several.
    """
    if word in {"local", SELF}:
        found = [side for side in conflict.sides if side.is_local]
    elif word == "remote":
        found = [side for side in conflict.sides if not side.is_local]
    else:
        found = [
            side
            for side in conflict.sides
            if word in {side.word, side.name, side.node} or word in {str(side.release), str(side.commit)}
        ]
    if len({side.content_sha512 or side.commit.text for side in found}) != 1:
        names = ", ".join(f"{side.word} ({side.release or side.commit})" for side in conflict.sides)
        if word in {"local", SELF}:
            told = f"No side of the conflict {conflict.id} is yours, so {word!r} is none."
            raise NoSuchSide(told, hint=f"The sides are: {names} - or edit the files, and: --merged VERSION")
        problem = "fits several sides" if found else "is not a side"
        raise NoSuchSide(f"{word!r} {problem} of the conflict {conflict.id}.", hint=f"The sides are: {names}.")
    return found[0]


def pick_proposal(vault: Vault, conflict: Conflict, word: str) -> Proposal:
    """Return what somebody else decided, as a word for it or its maker means; no word means the only one there is.

    Raises:
        NoSuchConflict: nothing is proposed, or not by them.
        NoSuchSide: several are that differ.
    """
    found = conflict.proposed(word)
    if not found:
        way = f"Decide it with: {deciding_command(vault, conflict)}"
        raise NoSuchConflict(f"Nothing is proposed for {conflict.id}.", hint=way)
    if len({p.content for p in found}) > 1:
        way = f"Name whose: {conflict.accept_words(*found)} - what each decided: lace conflicts"
        raise NoSuchSide("Several resolutions are proposed.", hint=way)
    return found[0]


def picks_of(vault: Vault, conflict: Conflict, choices: Choices) -> Picks:
    """Return a person's words for paths and regions as the sides they mean; `both` of a path is of its every region.

    Raises:
        NoSuchSide: a word means none, or several.
    """
    base, heads = checkout_of(vault, conflict.desk), heads_of(vault, conflict)
    line = base.commit if base is not None and base.commit in heads else None  # none where all of mine is below a side

    def side(word: str) -> RecordHash:
        if word in {"local", SELF} and line is not None and not any(one.is_local for one in conflict.sides):
            return line  # none of them is mine, and my own line clashes too
        return pick_side(conflict, word).commit

    def lines(word: str) -> RecordHash | Both | Mine:
        if word == BOTH:
            return BOTH
        return MINE if word in {"local", SELF} and line is not None else side(word)

    regions = {path: {n: lines(word) for n, word in chosen.items()} for path, chosen in choices.regions.items()}
    regions |= {path: {EVERY: BOTH} for path, word in choices.takes.items() if word == BOTH}
    return Picks(
        paths={path: side(word) for path, word in choices.takes.items() if word != BOTH},
        regions=regions,
        edited=choices.edited,
    )


def heads_of(vault: Vault, conflict: Conflict) -> list[RecordHash]:
    """Return the newest of what a decision merges: its sides, what was decided before, and my line."""
    base = checkout_of(vault, conflict.desk)
    mine = [base.commit] if base else []
    return newest(vault.store, [*conflict.to_merge, *mine])


class Seen(NamedTuple):
    """What choices were made between.

    Args:
        heads: as `heads_of`.
        is_same: tells whether the files of a conflict are what they were, once my folder is committed.
    """

    heads: frozenset[RecordHash]
    is_same: Callable[[Conflict], bool]


def check_seen(vault: Vault, conflict: Conflict, seen: Seen | None) -> None:
    """Refuse a decision between other heads than those that were `seen`, if that is known.

    Raises:
        SidesChanged: they are others.
    """
    if seen is not None and seen.heads != frozenset(heads_of(vault, conflict)):
        raise SidesChanged(
            f"The conflict {conflict.id} is not what you saw any more: a side came, or your line went on."
        )
