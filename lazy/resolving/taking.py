"""What a person chose for each path of a conflict, and the tree it gives (LAZ-39; architecture, Deciding).

A choice is a side for a path, a side for each region of a text, or the bytes of a merged file. What nobody chose for
stays as it is in my folder, and a file in which conflict markers are left is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lazy.folder.merging import fold, in_order
from lazy.resolving.chosen import NoSuchRegion, choice_of, merged_before, undecided, without_markers
from lazy.resolving.own_folder import is_preferred
from lazy.resolving.picked_heads import as_heads, by_lines, by_other_name
from lazy.resolving.picks import Picks, PicksContradict
from vault.commands import as_option
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.edit import NoSuchPath, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import Choice, resolve_with
from vault.desks.pages import Entry, NamesClash
from vault.desks.path_conflict import PathConflict
from vault.desks.paths import folders_above, twin_key
from vault.desks.ports import Objects, Source
from vault.desks.tree import lookup, read_entry
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["merged_tree"]

_NAMED = 20  # paths


def merged_tree(
    w: Writer | MemoryObjects,
    vault: Vault,
    heads: Sequence[RecordHash],
    picks: Picks,
    *,
    ours: RecordHash | None,
    tree: RecordHash | None = None,
    also: Sequence[RecordHash] = (),
) -> RecordHash:
    """Merge heads pairwise into one tree; a conflicting path is as picked, else as in my folder.

    Args:
        w: where trees are read and written; a memory for a plan.
        vault: whose decision it is.
        heads: commits to merge.
        picks: what the person chose.
        ours: the head that is mine, if any.
        tree: stands for its tree; of a plan also where it is no head yet, and would be.
        also: further commits that mine contains.

    Raises:
        MarkersLeft, NoSuchRegion, NoSuchSide, RegionUndecided: a choice cannot be taken.
        PathUndecided: whose a path is would follow from the order of the sides alone.
        NoSuchPath: a path that was picked is in none of the sides.
        PicksContradict: as `by_other_name`; or what was picked cannot stand beside the rest.
    """
    order, has_mine = _in_order(vault, heads, ours, tree)
    tree = tree or commit_info(vault.store, order[0]).tree
    has_line = order[0] == ours
    also = also if has_mine else ()
    picks = as_heads(w, vault, heads, order, tree, picks, has_line=has_line)
    lines = by_lines(w, vault, order, tree, also, picks)
    merge = _Merge(
        w=w,
        vault=vault,
        order=order,
        tree=tree,
        folder=tree if has_line else None,
        picks=picks,
        lines=lines,
        done=[*also, order[0]],
    )
    for head in order[1:]:
        merge.add(head)
    return merge.end()


@dataclass(slots=True)
class _Merge:
    """Heads on their way into one tree, one after the other, and what is to stand in it whatever comes after.

    Args:
        w: where trees are read and written.
        vault: whose decision it is.
        order: the heads.
        tree: what they are merged into so far: the tree of the first.
        folder: the same where the first head is mine.
        picks: what the person chose, with a head for each region.
        lines: texts that were chosen by regions between more than two heads.
        done: the commits that are in the tree so far.
        entries: what stands at a path in the end.
        settled: paths of which no choice is left to be carried out.
        undecided: paths that nobody chose for; which of them clashes first follows from hashes, so all are named.
        moved: the old and the new path of each file that a side renamed and another touched, in the order of the merge.
        first: the tree of the first head.
        asked: what was picked path by path before the side for all was carried out.
    """

    w: Writer | MemoryObjects
    vault: Vault
    order: Sequence[RecordHash]
    tree: RecordHash
    folder: RecordHash | None
    picks: Picks
    lines: Mapping[str, bytes]
    done: list[RecordHash]
    entries: dict[str, Entry | None] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    moved: list[tuple[str, str]] = field(default_factory=list)
    first: RecordHash = field(init=False)
    asked: Mapping[str, RecordHash] = field(init=False)

    def __post_init__(self) -> None:
        self.first, self.asked = self.tree, self.picks.paths

    @property
    def _objects(self) -> Objects:
        return Objects(self.w, self.w, self.vault.group)

    def add(self, head: RecordHash) -> None:
        """Merge one more head; where it clashes, what was picked stands."""
        w, done, objects = self.w, self.done, self._objects
        outcome = fold(objects, self.vault, [done[-1], head], ours=done[-1], tree=self.tree, also=done).outcome
        self.picks, others = by_other_name(self._path_by_path(outcome.conflicts), outcome.conflicts)
        self.settled |= others
        self._move(outcome.moved)
        choices = {}
        for clash in outcome.conflicts:
            choices[clash.path] = self._chosen(outcome.source or w, clash, head)
            self._note(clash, head)
        self.tree = outcome.root or resolve_with(outcome, choices)
        _flush(w)
        self._keep_written(choices)
        done.append(head)

    def _move(self, moved: Sequence[tuple[str, str]]) -> None:
        """Let what stands at a path stand where the file went, which a head after it renamed."""
        self.moved += moved
        for old, new in moved:
            if old in self.entries:
                self.entries[new] = self.entries.pop(old)
                self.settled.add(old)

    def _path_by_path(self, clashes: Sequence[PathConflict]) -> Picks:
        """Return picks in which the side for all is chosen for each clash that it counts for."""
        picks, order = self.picks, self.order
        if not isinstance(picks.all, RecordHash):
            return picks
        trees = {head: commit_info(self.vault.store, head).tree for head in (picks.all, *order)}
        if picks.is_own or picks.all != order[0]:
            trees[order[0]] = self.first
        counted = [clash.path for clash in clashes if is_preferred(self.w, self.vault, picks, trees, clash)]
        chosen = dict.fromkeys(counted, picks.all)
        own = picks.own | (chosen.keys() - picks.paths.keys()) if picks.is_own else picks.own
        return replace(picks, paths={**chosen, **picks.paths}, own=own)

    def _tree_of(self, path: str, pick: RecordHash) -> RecordHash:
        """Return the tree in which what was picked for a path stands: where that is my folder, also one of a plan."""
        is_first = pick == self.order[0] and path in self.picks.own
        return self.first if is_first else commit_info(self.vault.store, pick).tree

    def _chosen(self, source: Source, clash: PathConflict, head: RecordHash) -> Choice:
        """Return what the path of a clash becomes; `source` is where the merge read it."""
        text = self.lines.get(clash.path)
        if text is not None:
            return text
        is_mine = self.folder is not None and clash.ours == clash.entry_in(self.w, self.folder)
        if not is_mine and not self._is_chosen(clash):
            self.undecided.add(clash.path)
            return "ours"  # until all are known
        return choice_of(source, clash, head, self.picks)

    def _is_chosen(self, clash: PathConflict) -> bool:
        picks = self.picks
        is_named = clash.path in picks.regions or clash.path in picks.paths or picks.edited(clash.path) is not None
        is_old_named = clash.old in picks.paths and clash.old not in self.settled
        return is_named or is_old_named or not picks.held.keys().isdisjoint({clash.path, clash.old})

    def _note(self, clash: PathConflict, head: RecordHash) -> None:
        """Note what the side that was picked for a clash has there: heads after it may change the path again."""
        path, pick = clash.path, self.picks.paths.get(clash.path)
        if clash.has_two_names or path in self.picks.regions:
            self.settled.add(path)
        elif pick == head:
            self.entries[path] = clash.theirs
        elif pick is not None and pick in self.done:
            own = self._tree_of(path, pick)
            self.entries.setdefault(path, merged_before(self.w, clash, self.tree, own))

    def _keep_written(self, choices: Mapping[str, Choice]) -> None:
        """Let no head that follows change what a person wrote, or chose by lines between all heads."""
        for path, choice in choices.items():
            is_written = isinstance(choice, bytes) and (path not in self.picks.regions or path in self.lines)
            if is_written and (entry := lookup(self.w, self.tree, path)) is not None:
                self.entries[path] = entry

    def end(self) -> RecordHash:
        """Return the tree, with what stands over the merge.

        Raises:
            PathUndecided: nobody chose for some paths.
            NoSuchRegion: regions were chosen where no lines clash.
            NoSuchPath: as `_beside_clashes`.
            PicksContradict: what was picked cannot stand beside the rest.
        """
        w, picks = self.w, self.picks
        if self.undecided:
            raise undecided(sorted(self.undecided), is_preferred=picks.all is not None)
        if unused := picks.regions.keys() - self.settled:
            raise NoSuchRegion(f"The lines of {sorted(unused)[0]} are not in conflict.")
        used = self.settled | self.entries.keys()
        rest = {path: self._tree_of(path, head) for path, head in picks.paths.items() if path not in used}
        heads = [self.first, *(commit_info(self.vault.store, head).tree for head in self.order[1:])]
        beside = _beside_clashes(w, heads, rest, self.moved)
        entries = {**self.entries, **self._from_folder(), **beside}
        tree = self._with(entries) if entries else self.tree
        self._check_asked(tree, entries)
        _flush(w)
        return tree

    def _with(self, entries: Mapping[str, Entry | None]) -> RecordHash:
        try:
            return apply_changes(self._objects, self.tree, entries)
        except NamesClash as clash:
            if not self.asked:
                raise
            raise PicksContradict(clash.message, hint=_choose_too(self.asked, entries)) from None

    def _check_asked(self, tree: RecordHash, entries: Mapping[str, Entry | None]) -> None:
        """Check that what was picked stands in the tree: of two names of a folder one goes with all that it holds."""
        gone = {old for old, _ in self.moved}
        for path, pick in self.asked.items():
            is_there = path in gone or lookup(self.w, tree, path) is not None
            if not is_there and lookup(self.w, self._tree_of(path, pick), path) is not None:
                told = f"{path} cannot be as you chose it beside the rest: of two names of a folder only one stays."
                raise PicksContradict(told, hint=_choose_too(self.asked, entries))

    def _from_folder(self) -> dict[str, Entry | None]:
        """Return what is as in my folder, once no marker is left in it, by the name that the merge gives it."""
        w, picks, found = self.w, self.picks, {}
        for name, (path, held) in picks.held.items():
            now = name
            for old, new in self.moved:
                now = new if now == old else now
            if now == name != path and lookup(w, self.tree, name) is None:
                now = path  # as my folder has it, nothing but the name differs from what the friend renamed
            if any(one in picks.paths or one in picks.regions or picks.edited(one) is not None for one in (name, now)):
                continue
            is_moved = held is None and now != name  # then my folder has it by the name that I gave it
            entry = lookup(w, self.first, now) if is_moved else held
            if entry is not None and entry.kind == "f" and entry.size <= MAX_TEXT_BYTES:
                without_markers(name, read_entry(w, entry))
            found[now] = entry
        return found


def _in_order(
    vault: Vault, heads: Sequence[RecordHash], ours: RecordHash | None, tree: RecordHash | None
) -> tuple[list[RecordHash], bool]:
    """Return the newest of some heads as `in_order` does; mine too where a plan gives a tree that stands on it."""
    order, has_mine = in_order(vault, newest(vault.store, heads), ours)
    if tree is None or ours is None or ours in order:
        return order, has_mine
    return [ours, *order], True  # the commit of what the folder holds would be a head


def _beside_clashes(
    source: Source,
    heads: Sequence[RecordHash],
    picked: Mapping[str, RecordHash],
    moved: Sequence[tuple[str, str]],
) -> dict[str, Entry | None]:
    """Return what the sides that were picked have at paths that clash nowhere; `heads` and `picked` are trees.

    Of a file that was renamed a side may have the old name alone: by the new one its content is taken. By the old one
    the side's name is taken too.

    Raises:
        NoSuchPath: none of them has anything there.
    """
    found: dict[str, Entry | None] = {}
    for path, tree in picked.items():
        found[path] = lookup(source, tree, path)
        for old, new in moved:
            if path == new and found[path] is None:
                found[path] = lookup(source, tree, old)
            elif path == old and new not in picked:
                found[new] = lookup(source, tree, new)
        if all(lookup(source, one, path) is None for one in (tree, *heads)):
            raise NoSuchPath(f"{path} is in none of the sides.", hint="See what disagrees with: lace conflicts")
    return found


def _choose_too(asked: Collection[str], entries: Collection[str]) -> str:
    """Return what to do where one name of a folder was picked, and files stay below the other."""
    keys = {twin_key(path) for path in asked}
    left = sorted(path for path in entries if path not in asked and keys & set(map(twin_key, folders_above(path))))
    if not left:
        return "Choose one side for a folder and all that lies in it; nothing was changed."
    ways = " ".join(f"{as_option('--path', path)} --take SIDE" for path in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"Choose the same side for these too: {ways}{more}. Or take one side of all: --prefer SIDE"


def _flush(w: Writer | MemoryObjects) -> None:
    if isinstance(w, Writer):
        w.flush()
