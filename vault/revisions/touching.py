"""Which commits changed a path: each is compared with those before it, along the way to the path only (CLAY-28)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vault.desks.chunks import MissingObject
from vault.desks.diff import Change, diff_trees
from vault.desks.moved_files import moved_paths
from vault.desks.pages import Entry, TreeError
from vault.desks.paths import split_path
from vault.desks.tree import lookup
from vault.records import RecordHash
from vault.revisions.graph import json_texts, newest
from vault.store import Store
from vault.watch import Watch

__all__ = ["Touching"]

_KEPT = 1 << 16  # entries of directories that are remembered

Found = RecordHash | Entry | None


class Touching:
    """Asks commits, the newest first, what of some paths they changed; a file is followed to the name it had before.

    A commit of which the way to a path is not here says nothing, as one that a friend never released: what it did is
    told of the next one after it that is here. Of a merge, only what is as on none of its sides is its own.

    Args:
        store: where the commits are.
        paths: of files or folders, relative to the desk; the empty path is all of it.
        watch: what may stop it.

    Attributes:
        met: whether any commit has, or had, something at one of the paths.
    """

    def __init__(self, store: Store, paths: Iterable[str], watch: Watch = Watch()) -> None:
        self._store = store
        self._paths = dict.fromkeys(paths)
        self._watch = watch
        self._known: dict[tuple[RecordHash, str], Entry | None] = {}
        self.met = False

    def changed(self, commit: RecordHash) -> tuple[str, ...]:
        """Return the paths that a commit changed against those before it, in the order in which they are followed."""
        self._watch.cancelled()
        tree = self._tree(commit)
        if tree is None:
            return ()
        found = []
        for path in tuple(self._paths):
            try:
                now = self._at(tree, path)
            except (MissingObject, TreeError):
                continue
            self.met = self.met or now is not None
            sides = self._sides(commit, path)
            before = [side for _, side in sides]
            if isinstance(now, Entry) and not now.is_dir:
                for side in (side for side, at in sides if at is None):  # where it may have another name
                    self._follow(side, tree, path)
            if now in before or (now is None and not before):
                continue
            found.append(path)
        return tuple(found)

    def _sides(self, commit: RecordHash, path: str) -> list[tuple[RecordHash, Found]]:
        """Return the trees of the nearest commits before one that can say what they have at a path, and that."""
        told: dict[RecordHash, tuple[RecordHash, Found]] = {}
        frontier, seen = self._parents([commit]), {commit}
        while frontier:
            unsaid = []
            for parent in frontier:
                seen.add(parent)
                tree = self._tree(parent)
                try:
                    if tree is not None:
                        told[parent] = tree, self._at(tree, path)
                        continue
                except (MissingObject, TreeError):
                    pass
                unsaid.append(parent)
            frontier = [parent for parent in self._parents(unsaid) if parent not in seen]
        return [told[parent] for parent in newest(self._store, told)]

    def _at(self, tree: RecordHash, path: str) -> Found:
        """Return what a tree has at a path; directories that were asked before are not read again.

        Raises:
            MissingObject, TreeError: a page on the way is not here, or broken.
        """
        here: Found = tree
        for name in split_path(path):
            if isinstance(here, Entry):
                here = here.hash if here.is_dir else None
            if here is None:
                return None
            if (here, name) not in self._known:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[here, name] = lookup(self._store, here, name)
            here = self._known[here, name]
        return here

    def _follow(self, before: RecordHash, tree: RecordHash, path: str) -> None:
        """Ask on for the name from which a file was moved to a path; what is edited in the same commit is not found."""
        try:
            moved = moved_paths(self._all(diff_trees(self._store, before, tree)))
        except (MissingObject, TreeError):
            return
        self._paths |= dict.fromkeys(old for old, new in moved.items() if new == path)

    def _all(self, changes: Iterable[Change]) -> Iterable[Change]:
        for change in changes:
            self._watch.cancelled()
            yield change

    def _tree(self, commit: RecordHash) -> RecordHash | None:
        rows = self._store.rows("SELECT tree FROM commits WHERE hash = ?", commit.text)
        return RecordHash.parse(str(rows[0][0])) if rows else None

    def _parents(self, commits: Sequence[RecordHash]) -> list[RecordHash]:
        if not commits:
            return []
        asked = json_texts(commit.text for commit in commits)
        query = "SELECT DISTINCT parent FROM parent WHERE child IN (SELECT value FROM json_each(?)) ORDER BY parent"
        return [RecordHash.parse(str(parent)) for (parent,) in self._store.rows(query, asked)]
