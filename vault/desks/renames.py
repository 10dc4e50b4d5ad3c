"""Files that one side renamed and the other touched (CLAY-74; LAZ-39).

A rename is no fact of a tree; it is found, in bounded work, only where it matters: a path that one side lost and the
other changed or lost too. The same content under a new name comes first, then the most similar text. Where the other
side edited the file, both trees are brought to the new name and merge as if it had always been there. Where both
renamed it differently, or the other deleted it, a person is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from vault.desks.diff import Change, diff_trees, is_text
from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.pages import Entry, NamesClash
from vault.desks.ports import Objects, Source
from vault.desks.tree import lookup, read_entry
from vault.records import RecordHash

__all__ = ["Clash", "Renamed", "follow_renames", "moved_paths"]

_MAX_NEW = 40  # new files that are compared by their lines
_MAX_PAIRS = 1600  # of a lost file and a new one
_MAX_BYTES = 128 << 10
_ALIKE = 0.6  # of the lines of the longer text
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
    source = objects.source
    mine, other = (_Side(diff_trees(source, base, side)) for side in (ours, theirs))
    wanted = (mine.lost.keys() & other.touched) | (other.lost.keys() & mine.touched)
    if not wanted:
        return Renamed(base, ours, theirs)
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
    return Renamed(*trees, tuple(clashes), tuple(followed))


def moved_paths(changes: Iterable[Change]) -> dict[str, str]:
    """Return the new path of each lost file whose very content stands there, where it is plain which one does."""
    return _Side(changes).same()


class _Side:
    """What one side did to the base."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self.lost: dict[str, Entry] = {}
        self.new: dict[str, Entry] = {}
        self.touched: set[str] = set()
        self._above: set[str] = set()  # directories in which something changed
        for change in changes:
            self.touched.add(change.path)
            self._above.update(_parents(change.path))
            if change.before is not None and not change.before.is_dir and change.after is None:
                self.lost[change.path] = change.before
            elif change.after is not None and not change.after.is_dir and change.before is None:
                self.new[change.path] = change.after

    def leaves(self, path: str) -> bool:
        """Tell whether this side did nothing at, below or above a path, so that another's file may stand there."""
        return path not in self.touched and path not in self._above and not self.touched.intersection(_parents(path))

    def renames(self, source: Source, wanted: set[str]) -> dict[str, str]:
        """Return the new path of each lost one that is wanted and was plainly renamed.

        All lost files are looked at, also those that the other side left alone: what fits one of them better, or just
        as well, is not the wanted one's. Where two fit, neither was plainly renamed, and a person is asked.
        """
        found = self.same()
        self._similar(source, wanted, found)
        return {old: new for old, new in found.items() if old in wanted}

    def same(self) -> dict[str, str]:
        """Return the new path of each lost file whose content stands there, by the most names from the end."""
        found: dict[str, str] = {}
        after: dict[tuple[str, RecordHash], list[str]] = {}
        before: dict[tuple[str, RecordHash], list[str]] = {}
        for entries, paths in ((self.lost, before), (self.new, after)):
            for path, entry in sorted(entries.items()):
                if entry.size:  # empty files are all alike
                    paths.setdefault((entry.kind, entry.hash), []).append(path)
        for content, new in after.items():
            _pair(before.get(content, []), new, found)
        return found

    def _similar(self, source: Source, wanted: set[str], found: dict[str, str]) -> None:
        """Enter the new path of each lost text that most lines of stand there, of those that are not found yet."""
        new = sorted(self.new.keys() - set(found.values()))
        lost = sorted(self.lost.keys() - found.keys())
        if wanted.isdisjoint(lost) or not 0 < len(new) <= _MAX_NEW or len(lost) * len(new) > _MAX_PAIRS:
            return
        before = {path: _lines(source, self.lost[path]) for path in lost}
        fits: list[tuple[float, bool, str, str]] = []
        for path in new:
            text = _lines(source, self.new[path])
            fitting = sorted(
                (-_alike(x, text), _name(old) != _name(path), old, path)
                for old, x in before.items()
                if x and text and not _is_inside(path, old) and _alike(x, text) >= _ALIKE
            )
            if len(fitting) == 1 or (fitting and fitting[0][:2] != fitting[1][:2]):
                fits += fitting
        taken: set[str] = set()
        for _, _, old, path in sorted(fits):
            if old not in found and path not in taken:
                found[old] = path
                taken.add(path)


def _pair(lost: list[str], new: list[str], found: dict[str, str]) -> None:
    """Enter which of the new paths each lost file of one content got: the one with the most names from the end alike.

    Where two lost ones have as much in common with a new path, nobody can say which of them stands there.
    """
    for depth in range(max((path.count("/") + 1 for path in lost), default=-1), -1, -1):
        ends: dict[str, list[str]] = {}
        for path in new:
            ends.setdefault(_end(path, depth), []).append(path)
        rivals = Counter(_end(old, depth) for old in lost)
        taken: set[str] = set()
        for old in lost:
            if rivals[_end(old, depth)] > 1:
                continue
            fitting = next((path for path in ends.get(_end(old, depth), []) if not _is_inside(path, old)), None)
            if fitting is not None:
                found[old] = fitting
                taken.add(fitting)
        lost = [old for old in lost if old not in found]
        new = [path for path in new if path not in taken]


def _end(path: str, depth: int) -> str:
    """Return the last names of a path; where it has fewer, what no other path gives."""
    names = path.split("/")
    return "/".join(names[len(names) - depth :]) if depth <= len(names) else f"/{path}"


def _parents(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names))]


def _is_inside(one: str, two: str) -> bool:
    """Tell whether a path lies in the other's place, which a file and a folder cannot share."""
    return one.startswith(two + "/") or two.startswith(one + "/")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _lines(source: Source, entry: Entry) -> Counter[bytes]:
    if entry.kind != "f" or not 0 < entry.size <= _MAX_BYTES:
        return Counter()
    content = read_entry(source, entry)
    return Counter(content.splitlines()) if is_text(content) else Counter()


def _alike(x: Counter[bytes], y: Counter[bytes]) -> float:
    return (x & y).total() / max(x.total(), y.total())


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
