"""Three-way merge of trees (CLAY-73, CLAY-74, CLAY-76; LAZ-39).

It descends only where hashes differ and decides path by path. What both sides did differently is never
decided here: it is a `PathConflict`, and with one of them there is no merged tree until a person chose for
each. A file that one side plainly renamed and the other touched is followed to its new name first
(`vault.desks.renames`), and so is a folder that one side spelt otherwise (`vault.desks.recased`). Any other rename is a
deletion and an addition; what would be left of it alone by a choice is put back (`vault.desks.left_behind`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

from vault.desks.basetree import Tee
from vault.desks.cutting import add_content
from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.left_behind import PassedOver, left_behind
from vault.desks.memory import MemoryObjects
from vault.desks.merge_text import merge_text
from vault.desks.pages import Entry, TreeTooLarge
from vault.desks.path_conflict import PathConflict, PathConflictKind, are_text, draft
from vault.desks.paths import folders_above, join, twin_key
from vault.desks.ports import Objects, Source
from vault.desks.renames import Clash, Renamed, follow_renames
from vault.desks.spelling import Spelling
from vault.desks.tree import MAX_TREE_ENTRIES, build_directory, check_depth, lookup, read_directory, read_entry
from vault.errors import CallerError
from vault.records import RecordHash

__all__ = ["Choice", "MergeInput", "MergeOutcome", "MergeUndecided", "merge_trees", "resolve_with"]

Choice = Literal["ours", "theirs", "base"] | bytes


class MergeUndecided(CallerError):
    """A merge was asked to go on with conflicts that nobody decided."""

    code = "merge-undecided"
    exit_code = 2
    hint = "Choose for each of these paths."


class MergeInput(NamedTuple):
    """What a merge was asked, kept so that a decision can repeat it.

    Args:
        objects: where all three trees are read, and merged content and new pages go.
        base: the tree of the merge base; None when there is none.
        ours: my tree.
        theirs: the other side's tree.
        labels: what a draft calls the two sides.
        whole_files: never merge within a file.
    """

    objects: Objects
    base: RecordHash | None
    ours: RecordHash
    theirs: RecordHash
    labels: tuple[str, str]
    whole_files: bool


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What a merge gave.

    Args:
        root: the merged tree, or None when there are conflicts.
        merged: paths whose lines were merged from both sides.
        taken: paths that are the other side's now.
        conflicts: paths that need a person, sorted.
        moved: the old and the new path of each file that one side renamed and the other touched.
        asked: what it was asked; None of one in which nothing had to be done, or that was decided.
    """

    root: RecordHash | None
    merged: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    conflicts: tuple[PathConflict, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    asked: MergeInput | None = field(default=None, repr=False, compare=False)

    @classmethod
    def clean(cls, root: RecordHash) -> Self:
        """Return the outcome of a merge in which nothing had to be done."""
        return cls(root)

    @property
    def source(self) -> Source | None:
        """Where the sides of its conflicts are read; None when there are none."""
        return self.asked.objects.source if self.asked is not None else None

    def decided(self, root: RecordHash) -> MergeOutcome:
        """Return this outcome with a tree in which its conflicts are decided."""
        return MergeOutcome(root, self.merged, self.taken, moved=self.moved)

    def draft(self, path: str) -> bytes | None:
        """Return a text with markers for a conflict of this merge; see the function `draft`."""
        found = next((conflict for conflict in self.conflicts if conflict.path == path), None)
        if found is None or self.asked is None:
            return None
        return draft(self.asked.objects.source, found, self.asked.labels)


def merge_trees(
    objects: Objects,
    base: RecordHash | None,
    ours: RecordHash,
    theirs: RecordHash,
    labels: tuple[str, str] = ("ours", "theirs"),
    *,
    whole_files: bool = False,
) -> MergeOutcome:
    """Merge two trees over their base; nothing is decided for a person.

    Args:
        objects: where all three are read, and merged content and new pages go.
        base: the tree of the merge base; None when there is none, so that whatever differs was added.
        ours: my tree.
        theirs: the other side's tree.
        labels: what a draft calls the two sides.
        whole_files: never merge within a file: one that both sides changed differently is a conflict (`meet`).

    Raises:
        MissingObject: a page, or a content that has to be merged, is not here.
        TreeError: a page is broken.
    """
    asked = MergeInput(objects, base, ours, theirs, labels, whole_files)
    merge = _Merge(asked, {})
    root = merge.run()
    by_path: dict[str, PathConflict] = {}
    for conflict in merge.conflicts:  # a twin may be in conflict by itself already: one choice decides both
        by_path.setdefault(conflict.path, conflict)
    conflicts = tuple(by_path[path] for path in sorted(by_path))
    whole = None if conflicts else root
    return MergeOutcome(whole, tuple(merge.merged), tuple(merge.taken), conflicts, merge.moved, asked)


def resolve_with(outcome: MergeOutcome, choices: Mapping[str, Choice]) -> RecordHash:
    """Return the merged tree with a person's decision for every conflict (LAZ-39, CLAY-77).

    Args:
        outcome: of a merge; its source must still be readable.
        choices: by path of the conflict: "ours" or "theirs" takes that side as it is, also when it deleted
            the path; "base" takes what was there before; bytes are the content of the file. Choices for other
            paths are passed over.

    Raises:
        MergeUndecided: a conflict has no choice; the message names the paths.
        MissingObject, TreeError: as `merge_trees`.
        RecordError: the bytes are more than a file may have.
    """
    if outcome.root is not None:
        return outcome.root
    if outcome.asked is None:
        raise MergeUndecided("This merge was not made here, so it cannot be decided.")
    merge = _Merge(outcome.asked, choices)
    root = merge.run()
    if merge.conflicts:
        paths = sorted({conflict.path for conflict in merge.conflicts})
        from vault.plural import few  # mostly somebody did

        raise MergeUndecided(f"Nobody decided on {few(paths)}.")
    return root


class _Merge:
    """One descent through three trees."""

    def __init__(self, asked: MergeInput, choices: Mapping[str, Choice]) -> None:
        self._asked = asked
        self._objects = asked.objects
        self._choices = choices
        self._count = 0
        self.merged: list[str] = []
        self.taken: list[str] = []
        self.conflicts: list[PathConflict] = []
        self.moved: tuple[tuple[str, str], ...] = ()
        self._not_mine: list[str] = []  # where something else than my side was chosen, by the name that it has there
        self._not_theirs: list[str] = []
        self._old: dict[str, str] = {}  # by the new path

    def run(self) -> RecordHash:
        """Merge the roots; the result counts only if there are no conflicts."""
        base, ours, theirs = self._asked.base, self._asked.ours, self._asked.theirs
        if theirs in {ours, base}:
            return ours
        if base == ours:
            self._list_taken("", None, None, (ours, theirs))
            return theirs
        clashes: tuple[Clash, ...] = ()
        if base is not None:
            made = MemoryObjects(self._objects.source, trees_only=True)
            sink = Tee(self._objects.sink, made)  # a rewritten directory may become part of the result as it is
            objects = Objects(made, sink, self._objects.group)
            moved = follow_renames(objects, base, ours, theirs)
            if moved != Renamed(base, ours, theirs):
                base, ours, theirs, clashes, self.moved = moved
                self._objects = objects
                self._old = {new: old for old, new in self.moved}
        read = self._objects.source
        entries = self._entries(
            "",
            0,
            read_directory(read, base) if base is not None else (),
            read_directory(read, ours),
            read_directory(read, theirs),
        )
        changes: dict[str, Entry | None] = {}
        for clash in clashes:
            changes.update(self._renamed(clash, ours, theirs))
        if self.conflicts:
            return ours
        root = build_directory(self._objects.group, entries, self._objects.sink)[0]
        root = self._with(root, changes) if changes else root
        if base is None or not (self._not_mine or self._not_theirs):
            return root
        mine, other = PassedOver(ours, self._not_mine), PassedOver(theirs, self._not_theirs)
        left = left_behind(read, base, mine, other, root)
        return self._put_back(root, left) if left else root

    def _with(self, root: RecordHash, changes: Mapping[str, Entry | None]) -> RecordHash:
        """Return a tree with changes, in which an old name of a file is as the tree spells its folders now."""
        spelling = Spelling(self._objects.source, root)
        spelt = {spelling.of(path) if entry is not None else path: entry for path, entry in changes.items()}
        return apply_changes(self._objects, root, spelt)

    def _put_back(self, root: RecordHash, left: Mapping[str, Entry]) -> RecordHash:
        """Return a tree with files by their old names, but for those where something else stands now."""
        read, spelling = self._objects.source, Spelling(self._objects.source, root)
        back: dict[str, Entry | None] = {}
        stay = set[str]()
        for path, entry in left.items():
            there = spelling.of(path)
            above = (lookup(read, root, one) for one in folders_above(there))
            if lookup(read, root, there) is None and all(one is None or one.is_dir for one in above):
                back[there] = entry
                stay.add(path)
        self.taken = [path for path in self.taken if path not in stay]
        return apply_changes(self._objects, root, back) if back else root

    def _renamed(self, clash: Clash, ours: RecordHash, theirs: RecordHash) -> Mapping[str, Entry | None]:
        """Ask about a path that both sides moved or lost; return what the choice changes in the merged tree."""
        o = lookup(self._objects.source, ours, clash.ours) if clash.ours else None
        t = lookup(self._objects.source, theirs, clash.theirs) if clash.theirs else None
        kind = PathConflictKind.RENAME if o and t else PathConflictKind.RENAME_DELETE
        twin = clash.theirs if o and t else ""
        is_text = are_text(self._objects.source, clash.base, o, t)
        conflict = PathConflict(clash.path, kind, clash.base, o, t, is_text, twin=twin, old=clash.old)
        entry = self._decide(conflict)
        choice = self._choices.get(clash.path)
        if choice is None:
            return {}
        return clash.after(entry if isinstance(choice, bytes) and entry is not None else choice)  # type: ignore[arg-type]

    def _entries(
        self, where: str, depth: int, base: tuple[Entry, ...], ours: tuple[Entry, ...], theirs: tuple[Entry, ...]
    ) -> list[Entry]:
        """Return the merged entries of one directory."""
        check_depth(where, depth)
        b, o, t = ({entry.name: entry for entry in side} for side in (base, ours, theirs))
        found = {}
        for name in sorted(o.keys() | t.keys()):
            self._count += 1
            if self._count > MAX_TREE_ENTRIES:
                raise TreeTooLarge(f"A merge has more than {MAX_TREE_ENTRIES} entries to compare.")
            entry = self._entry(join(where, name), depth + 1, b.get(name), o.get(name), t.get(name))
            if entry is not None:
                found[name] = entry
        self._part_twins(where, found, o, t)
        return list(found.values())

    def _entry(self, path: str, depth: int, b: Entry | None, o: Entry | None, t: Entry | None) -> Entry | None:
        if t in (o, b):
            return o
        if b == o:
            self._list_taken(path, o, t)
            return t
        if not any(x is not None and x.is_dir for x in (o, t)):
            return self._file(path, b, o, t)
        before, taken = len(self.conflicts), len(self.taken)
        sides = [x if x is None or not x.is_dir else None for x in (b, o, t)]
        left = self._file(path, *sides)
        if left is None and len(self.conflicts) == before:
            return self._directory(path, depth, b, o, t)
        # A file remains on one side where the other has a folder: one decision for the path as a whole.
        del self.conflicts[before:], self.taken[taken:]
        return self._decide(PathConflict(path, PathConflictKind.DIRECTORY_FILE, b, o, t))

    def _directory(self, path: str, depth: int, b: Entry | None, o: Entry | None, t: Entry | None) -> Entry | None:
        below = [self._below(x) for x in (b, o, t)]
        entries = self._entries(path, depth, below[0] or (), below[1] or (), below[2] or ())
        if not entries and not (below[1] is not None and below[2] is not None and () in below[1:]):
            return None  # it lost its last file, and no side wants it empty
        root, size = build_directory(self._objects.group, entries, self._objects.sink)
        return Entry("d", "-", size, root, path.rpartition("/")[2])

    def _below(self, entry: Entry | None) -> tuple[Entry, ...] | None:
        if entry is None or not entry.is_dir:
            return None
        return read_directory(self._objects.source, entry.hash, size=entry.size)

    def _file(  # noqa: PLR0911 - one for each rule
        self, path: str, b: Entry | None, o: Entry | None, t: Entry | None
    ) -> Entry | None:
        """Merge what is no directory."""
        if t in (o, b):
            return o
        if b == o:
            self._list_taken(path, o, t)
            return t
        if o is None or t is None:
            return self._decide(
                PathConflict(path, PathConflictKind.DELETE_EDIT, b, o, t, are_text(self._objects.source, b, o, t))
            )
        if o.kind != t.kind:
            return self._decide(PathConflict(path, PathConflictKind.KIND, b, o, t))
        kind = PathConflictKind.CONTENT if b is not None and b.kind == o.kind else PathConflictKind.ADD_ADD
        if o.hash == t.hash:
            if kind is PathConflictKind.ADD_ADD or b is None:
                return self._decide(PathConflict(path, PathConflictKind.MODE, b, o, t))
            return t if o.mode == b.mode else o
        if b is not None and kind is PathConflictKind.CONTENT and not self._asked.whole_files:
            whole = self._one_sided(b, o, t) or self._lines(path, b, o, t)
            if whole is not None:
                self.merged.append(path)
                return whole
        return self._decide(PathConflict(path, kind, b, o, t, are_text(self._objects.source, b, o, t)))

    @staticmethod
    def _one_sided(b: Entry, o: Entry, t: Entry) -> Entry | None:
        """Return the entry when one side changed only the mode and the other the content."""
        content = t if o.hash == b.hash else o if t.hash == b.hash else None
        if content is None:
            return None
        mode = t.mode if o.mode == b.mode else o.mode
        return Entry(content.kind, mode, content.size, content.hash, content.name)

    def _lines(self, path: str, b: Entry, o: Entry, t: Entry) -> Entry | None:
        if not are_text(self._objects.source, b, o, t):
            return None
        read = self._objects.source
        content = merge_text(read_entry(read, b), read_entry(read, o), read_entry(read, t))
        return None if content is None else self._made(path, content, t.mode if o.mode == b.mode else o.mode)

    def _made(self, path: str, content: bytes, mode: str) -> Entry:
        made = add_content(self._objects.group, content, self._objects.sink)
        return Entry("f", mode, len(content), made, path.rpartition("/")[2])

    def _decide(self, conflict: PathConflict) -> Entry | None:
        """Return what the person chose; without a choice note the conflict and return either side."""
        choice = self._choices.get(conflict.path)
        if choice is None:
            self.conflicts.append(conflict._replace(old=conflict.old or self._old.get(conflict.path, "")))
            return conflict.ours or conflict.theirs
        self._pass_over(conflict, choice)
        if choice == "ours":
            return conflict.ours
        if choice == "theirs":
            return conflict.theirs
        if choice == "base":
            return conflict.base
        if not isinstance(choice, bytes):
            raise MergeUndecided(f"{choice!r} is not a choice for {conflict.path}.")
        return self._made(conflict.path, choice, _mode(conflict))

    def _pass_over(self, conflict: PathConflict, choice: Choice) -> None:
        """Note where a side was not chosen; a clash of renames itself says what becomes of the old path."""
        if isinstance(choice, bytes) or conflict.kind in {PathConflictKind.RENAME, PathConflictKind.RENAME_DELETE}:
            return
        if choice != "ours":
            self._not_mine.append(conflict.twin or conflict.path)
        if choice != "theirs":
            self._not_theirs.append(conflict.path)

    def _part_twins(
        self, where: str, found: dict[str, Entry], ours: Mapping[str, Entry], theirs: Mapping[str, Entry]
    ) -> None:
        """Ask about names that cannot stand together; each side alone has no two of them."""
        by_key: dict[str, str] = {}
        for name in sorted(found, key=lambda name: (name not in ours, name)):
            mine = by_key.setdefault(twin_key(name), name)
            if mine == name:
                continue
            path = join(where, name)
            chosen = self._decide(
                PathConflict(
                    path,
                    PathConflictKind.TWIN,
                    None,
                    ours.get(mine),
                    theirs.get(name, found[name]),
                    twin=join(where, mine),
                )
            )
            other = found.pop(name)
            if self._choices.get(path) == "theirs":
                found[name] = other
                found.pop(mine)
            elif isinstance(self._choices.get(path), bytes) and chosen is not None:
                found[mine] = chosen.named(mine)

    def _list_taken(
        self,
        path: str,
        o: Entry | None,
        t: Entry | None,
        roots: tuple[RecordHash, RecordHash] | None = None,
    ) -> None:
        """Note every path that becomes the other side's."""
        old, new = roots or tuple(x.hash if x is not None and x.is_dir else None for x in (o, t))
        if roots is None and any(x is not None and not x.is_dir for x in (o, t)):
            self.taken.append(path)
        for change in diff_trees(self._objects.source, old, new):
            self.taken.append(join(path, change.path))


def _mode(conflict: PathConflict) -> str:
    """Return the mode of a text that a person made of a conflict: what one side made of it, mine where both did."""
    base, ours, theirs = (
        entry.mode if entry is not None and entry.kind == "f" else None
        for entry in (conflict.base, conflict.ours, conflict.theirs)
    )
    return (theirs if ours is None or ours == base else ours) or ours or "-"
