"""What one side did to a tree, and which of the files that it lost stand under new names (CLAY-74)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from vault.desks.diff import Change, is_text
from vault.desks.pages import Entry
from vault.desks.paths import folders_above
from vault.desks.ports import Source
from vault.desks.tree import read_entry
from vault.records import RecordHash

__all__ = ["SideChanges", "moved_paths"]

_MAX_NEW = 40  # new files that are compared by their lines
_MAX_PAIRS = 1600  # of a lost file and a new one
_MAX_BYTES = 128 << 10
_ALIKE = 0.6  # of the lines of the longer text


def moved_paths(changes: Iterable[Change]) -> dict[str, str]:
    """Return the new path of each lost file whose very content stands there, where it is plain which one does."""
    return SideChanges(changes).same()


class SideChanges:
    """What one side did to the base: `lost`, `new` and `edited` files, and every path that it `touched`.

    Args:
        changes: from the base to the side.
    """

    def __init__(self, changes: Iterable[Change]) -> None:
        self.lost: dict[str, Entry] = {}
        self.new: dict[str, Entry] = {}
        self.edited: dict[str, Entry] = {}
        self.touched: set[str] = set()
        self._above: set[str] = set()  # directories in which something changed
        for change in changes:
            self.touched.add(change.path)
            self._above.update(folders_above(change.path))
            if change.before is not None and not change.before.is_dir and change.after is None:
                self.lost[change.path] = change.before
            elif change.after is not None and not change.after.is_dir:
                (self.new if change.before is None else self.edited)[change.path] = change.after

    def leaves(self, path: str) -> bool:
        """Tell whether this side did nothing at, below or above a path, so that another's file may stand there."""
        return path not in self._above and self.touched.isdisjoint({path, *folders_above(path)})

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
