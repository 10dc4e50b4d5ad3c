"""Files that one side renamed and the other touched (CLAY-74; LAZ-39).

A rename is no fact of a tree; it is found, in bounded work, only where it matters: a path that one side lost and the
other changed or lost too. The same content under a new name comes first, then the most similar text. Where the other
side edited the file, both trees are brought to the new name and merge as if it had always been there. Where both
renamed it differently, or the other deleted it, a person is asked.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.pages import Entry, NamesClash
from vault.desks.ports import Objects
from vault.desks.recased import follow_recased
from vault.desks.tree import lookup
from vault.records import RecordHash

__all__ = ["Clash", "Renamed", "follow_renames"]

_MAX_SINGLE = 200  # renames tried one by one when all at once do not fit

Moves = dict[str, Entry | None]


class Clash(NamedTuple):
    """One lost path on which the two sides cannot both have their way.

    Args:
        old: the path in the base.
        base: what stood there.
        ours: my new path, or nothing when I deleted it.
        theirs: the other side's, likewise.
    """

    old: str
    base: Entry
    ours: str
    theirs: str

    @property
    def path(self) -> str:
        """The path by which it is named: mine, else theirs."""
        return self.ours or self.theirs

    def after(self, choice: Literal["ours", "theirs", "base"] | Entry) -> Moves:
        """Return what a person's choice changes in the tree that holds both new paths."""
        gone: Moves = dict.fromkeys(filter(None, (self.ours, self.theirs)))
        match choice:
            case "ours":
                gone.pop(self.ours, None)
            case "theirs":
                gone.pop(self.theirs, None)
            case "base":
                gone[self.old] = self.base
            case entry:
                gone[self.path] = entry
        return gone


class Renamed(NamedTuple):
    """The three trees with followed renames, and what a person has to decide.

    Args:
        base: the merge base's tree.
        ours: my tree.
        theirs: the other side's tree.
        clashes: lost paths on which the sides cannot both have their way.
        moved: the old and the new path of each rename that was followed.
    """

    base: RecordHash
    ours: RecordHash
    theirs: RecordHash
    clashes: tuple[Clash, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()


def follow_renames(objects: Objects, base: RecordHash, ours: RecordHash, theirs: RecordHash) -> Renamed:
    """Bring renamed files to one name on all three sides, as far as that is plain.

    Args:
        objects: where the trees are read, and rewritten pages go; its source sees what goes into the sink.
        base: the merge base's tree.
        ours: my tree.
        theirs: the other side's tree.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    base, ours, theirs, mine, other, recased = follow_recased(objects, base, ours, theirs)
    source = objects.source
    wanted = (mine.lost.keys() & other.touched) | (other.lost.keys() & mine.touched)
    if not wanted:
        return Renamed(base, ours, theirs, (), tuple((old, new) for new, old in recased.items()))
    by_me, by_them = (side.renames(source, wanted) for side in (mine, other))
    moves: list[tuple[Moves, Moves, Moves]] = []
    clashes = []
    for old in sorted(by_me.keys() | by_them.keys()):
        q, r = by_me.get(old, ""), by_them.get(old, "")
        before = (mine.lost.get(old) or other.lost[old]).named(old.rpartition("/")[2])
        if old in mine.lost and old in other.lost:
            if q == r:
                moves.append(({old: None, q: before}, {}, {}))
            elif other.leaves(q) and mine.leaves(r):
                clashes.append(Clash(old, before, q, r))
            continue
        new, there = (q, theirs) if q else (r, ours)
        edited = lookup(source, there, old)
        if edited is None or edited.is_dir or not (other if q else mine).leaves(new):
            continue
        rewrite: Moves = {old: None, new: edited}
        moves.append(({old: None, new: before}, {} if q else rewrite, rewrite if q else {}))
    trees, done = _moved(objects, (base, ours, theirs), moves)
    followed = ((old, new) for old, new in (of_base for of_base, _, _ in done))
    pairs = [(recased.pop(old, old), new) for old, new in followed]
    return Renamed(*trees, tuple(clashes), (*((old, new) for new, old in recased.items()), *pairs))


def _moved(
    objects: Objects,
    trees: tuple[RecordHash, RecordHash, RecordHash],
    moves: list[tuple[Moves, Moves, Moves]],
) -> tuple[tuple[RecordHash, RecordHash, RecordHash], list[tuple[Moves, Moves, Moves]]]:
    """Return the trees with all moves made, and these; a move that does not fit into one of them is made in none."""

    def made(
        now: tuple[RecordHash, RecordHash, RecordHash], part: list[tuple[Moves, Moves, Moves]]
    ) -> tuple[RecordHash, RecordHash, RecordHash]:
        done = [
            apply_changes(objects, tree, {k: v for move in part for k, v in move[at].items()})
            if any(move[at] for move in part)
            else tree
            for at, tree in enumerate(now)
        ]
        return done[0], done[1], done[2]

    if not moves:
        return trees, []
    try:
        return made(trees, moves), moves
    except (NamesClash, PathInTheWay):
        if len(moves) > _MAX_SINGLE:
            return trees, []
    done = []
    for move in moves:
        try:
            trees = made(trees, [move])
        except (NamesClash, PathInTheWay):
            continue
        done.append(move)
    return trees, done
