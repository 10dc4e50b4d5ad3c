"""A conflict opened for a person to decide: its sides and its files, read once, in memory, off anybody's screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from blake3 import blake3

from lazy.conflicts import NoSuchConflict, conflict_named, conflict_of
from lazy.contested import Conflict
from lazy.folder.merging import fold, in_order, steps
from lazy.people import label_of, members
from lazy.resolving.own_work import own_work
from lazy.resolving.picks import Seen, heads_of
from lazy.resolving.unedited import own_clashes
from vault.desks.chunks import entry_pieces
from vault.desks.diff import MAX_TEXT_BYTES, diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.merge_text import can_merge
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflict, PathConflictKind, beside
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_entry
from vault.errors import LaceError
from vault.folder.checked_out import checkout_of
from vault.folder.work import changes
from vault.names import Version
from vault.records import RecordHash, Tai
from vault.revisions.graph import is_ancestor, newest
from vault.revisions.history import commit_info, releases_of
from vault.revisions.versions import next_version
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "Content",
    "OpenFile",
    "Opened",
    "Origin",
    "clashing",
    "disagreeing",
    "open_asked_with",
    "open_conflict",
    "own_in",
]
__all__ += ["shown"]

_HEAD = 48  # bytes of a content that are shown where its lines cannot be


class Origin(NamedTuple):
    """Where one side comes from.

    Args:
        commit: its commit.
        name: who made it, as `resolve` calls their side.
        machine: their machine's name; empty when they told none.
        time: when, ISO 8601 UTC; for display.
        version: the version it was released as, or None.
        is_mine: whether it is my line, with whatever my folder holds now.
        word: its commit, where it is a side of the conflict and shown as that commit has it; else empty.
    """

    commit: RecordHash
    name: str
    machine: str
    time: str
    version: Version | None
    is_mine: bool
    word: str


class Content(NamedTuple):
    """What one side has at a path.

    Args:
        kind: "f" a file, "l" a link, "d" a folder.
        mode: "x" for a program.
        size: bytes.
        hash: of its content.
        head: its first bytes.
        text: the whole of it when all sides can be compared by lines.
    """

    kind: str
    mode: str
    size: int
    hash: str
    head: bytes
    text: bytes | None = None


class OpenFile(NamedTuple):
    """One path in conflict.

    Args:
        path: relative to the desk.
        kind: why it is in conflict.
        base: what it was before; None when it was not there.
        sides: what each side has, in the order of `Opened.sides`; None where it is deleted.
        other_name: of renames and twins, the other name.
        left: number of the side that the others clash with: mine, or one that mine took in by itself.
        rights: numbers of the others.
    """

    path: str
    kind: str
    base: Content | None
    sides: tuple[Content | None, ...]
    other_name: str = ""
    left: int = 0
    rights: tuple[int, ...] = (1,)

    @property
    def has_lines(self) -> bool:
        """Whether single regions of it can be chosen."""
        return all(side is not None and side.text is not None for side in self.sides)

    def name_of(self, number: int) -> str:
        """Return the name by which a side has it, where they have it by two names; else nothing."""
        if not self.other_name or number not in {self.left, *self.rights}:
            return ""
        is_twin = self.kind == PathConflictKind.TWIN  # then the path is the right side's name, else the left one's
        return self.path if (number == self.left) != is_twin else self.other_name

    @property
    def key(self) -> str:
        """What a draft of it is about: 32 hex characters of all its contents."""
        parts = [self.path, *(content.hash if content else "-" for content in (self.base, *self.sides))]
        return blake3("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


class Opened(NamedTuple):
    """A conflict with everything a person needs to decide it.

    Args:
        conflict: the conflict.
        sides: in the order of their columns, mine first.
        files: paths that do not merge by themselves.
        others: paths that differ, and merge.
        version: proposed for the release of the result.
        own: paths of mine beside them that nobody released, and that friends get with the result.
        unasked: paths that my folder has otherwise than the sides, and that are no side here before I commit them.
    """

    conflict: Conflict
    sides: tuple[Origin, ...]
    files: tuple[OpenFile, ...]
    others: tuple[str, ...]
    version: Version
    own: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()


def open_conflict(vault: Vault, name: str) -> Opened:
    """Read an open conflict with the contents of its files (LAZ-35, LAZ-39).

    Args:
        vault: whose decision it is.
        name: of the conflict.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        MissingObject, TreeError: a content is not here or broken.
    """
    overlay = MemoryObjects(fallback=vault.store)
    conflict = conflict_named(vault, name)
    dirty = changes(vault, conflict.desk, overlay=overlay)
    return _opened(vault, conflict, overlay, dirty.tree, Watch())


def open_asked_with(vault: Vault, conflict_id: str) -> Opened | None:
    """Read the conflict that another one is decided with now, as after a friend's next release (LAZ-36, LAZ-39).

    Args:
        vault: whose decision it is.
        conflict_id: of the other one, which is asked about no more by itself.

    Returns:
        None where that is decided, or is none.

    Raises:
        MissingObject, TreeError: a content is not here or broken.
    """
    with suppress(NoSuchConflict):
        conflict = conflict_of(vault, conflict_id)
        while conflict.asked_with:
            conflict = conflict_of(vault, conflict.asked_with)
        return open_conflict(vault, conflict.id) if conflict.id != conflict_id else None
    return None


class _Clash(NamedTuple):
    """What a side clashes in with those before it.

    Args:
        between: the clash.
        source: where its contents are read: a base that was merged itself is kept nowhere else.
    """

    between: PathConflict
    source: Source


def clashing(vault: Vault, conflict: Conflict) -> list[str]:
    """Return the paths on which any two sides of a conflict clash, by the names that a decision knows them by.

    Raises:
        MissingObject, TreeError: a content is not here or broken.
    """
    return sorted(_clashes_of(vault, conflict))


def _clashes_of(vault: Vault, conflict: Conflict) -> dict[str, dict[int, _Clash]]:
    base = checkout_of(vault, conflict.desk)
    sides = newest(vault.store, [side.commit for side in conflict.sides])
    heads, _ = in_order(vault, sides, base.commit if base else None)
    trees = [commit_info(vault.store, head).tree for head in heads]
    return _clashes(MemoryObjects(fallback=vault.store), vault, heads, trees, (), Watch())


def _beside(differ: Collection[str], clashes: Mapping[str, Mapping[int, _Clash]]) -> list[str]:
    """Return in order what of differing paths is not decided by a choice for those that clash."""
    return sorted(beside(differ, (one.between for found in clashes.values() for one in found.values())))


def disagreeing(vault: Vault, conflict: Conflict) -> tuple[list[str], list[str]]:
    """Return the paths that disagree, and of a version those that differ and merge by themselves.

    Those that disagree are those that do not merge, else those that differ; none when content is elsewhere. Merging is
    tried in memory, so nothing is changed.
    """
    try:
        clashes = _clashes_of(vault, conflict)
        found = sorted(clashes)
        if found and conflict.version is None:
            return found, []
        first, *others = (commit_info(vault.store, side.commit).tree for side in conflict.sides)
        differing = {change.path for tree in others for change in diff_trees(vault.store, first, tree)}
        return found or sorted(differing), _beside(differing, clashes) if conflict.version else []
    except LaceError:
        return [], []


def own_in(vault: Vault, name: str, watch: Watch = Watch()) -> tuple[str, ...]:
    """Return what a merge of an open conflict would release of my folder beside what clashes; see `own_work`.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        LetGo, MissingObject, TreeError: content is not here or broken.
    """
    overlay = MemoryObjects(fallback=vault.store)
    conflict = conflict_named(vault, name)
    folder = changes(vault, conflict.desk, watch, overlay=overlay).tree
    return tuple(_beside(own_work(vault, conflict, overlay, folder), _clashes_of(vault, conflict)))


def shown(vault: Vault, opened: Opened, watch: Watch) -> Seen:
    """Return what was shown, for a decision to be refused when it is something else by then (LAZ-39, LAZ-42)."""

    def check(conflict: Conflict) -> bool:
        base = checkout_of(vault, conflict.desk)
        overlay = MemoryObjects(fallback=vault.store)
        now = _opened(vault, conflict, overlay, base.tree, watch) if base is not None else opened
        return [file.key for file in now.files] == [file.key for file in opened.files]

    return Seen(frozenset(origin.commit for origin in opened.sides), check)


def _opened(vault: Vault, conflict: Conflict, overlay: MemoryObjects, tree: RecordHash, watch: Watch) -> Opened:
    """Return a conflict with what my folder holds; `overlay` has that tree."""
    base = checkout_of(vault, conflict.desk)
    mine = base.commit if base else None
    heads, has_mine = in_order(vault, heads_of(vault, conflict), mine)
    trees = [tree if head == mine else commit_info(vault.store, head).tree for head in heads]
    clashes = _clashes(overlay, vault, heads, trees, base.also if base and has_mine else (), watch)

    @cache
    def between(number: int, other: int) -> Mapping[str, PathConflict]:
        sides = [heads[number], heads[other]]
        folded = fold(overlay.of(vault.group), vault, sides, ours=sides[0], tree=trees[number])
        return {clash.path: clash for clash in folded.outcome.conflicts}

    files = tuple(_file(overlay, path, found, trees, between) for path, found in sorted(clashes.items()))
    differ = {change.path for tree in trees[1:] for change in diff_trees(overlay, trees[0], tree)}
    others = tuple(_beside(differ, clashes))
    origins = tuple(_origin(vault, conflict, head, mine, tree) for head in heads)
    alone = {} if mine in heads else own_clashes(overlay, vault, conflict, heads, tree)
    unasked = sorted(alone.keys() - clashes.keys())
    own = tuple(path for path in _beside(own_work(vault, conflict, overlay, tree), clashes) if path not in unasked)
    return Opened(conflict, origins, files, others, next_version(vault, conflict.desk), own, tuple(unasked))


def _clashes(
    overlay: MemoryObjects,
    vault: Vault,
    heads: Sequence[RecordHash],
    trees: Sequence[RecordHash],
    also: Sequence[RecordHash],
    watch: Watch,
) -> dict[str, dict[int, _Clash]]:
    """Return what clashes by path and by number of the side that clashes with those before it."""
    found: dict[str, dict[int, _Clash]] = {}
    for number, step in enumerate(steps(overlay.of(vault.group), vault, heads, tree=trees[0], also=also), 1):
        watch.cancelled()
        for clash in step.outcome.conflicts:
            found.setdefault(clash.path, {})[number] = _Clash(clash, step.outcome.source or overlay)
    return found


def _file(
    source: Source,
    path: str,
    clashes: Mapping[int, _Clash],
    trees: Sequence[RecordHash],
    between: Callable[[int, int], Mapping[str, PathConflict]],
) -> OpenFile:
    """Return a clashing path; `between` says what clashes between two sides alone, by the path of the clash."""
    number = min(clashes)
    first, read = clashes[number]
    entries = [clashes[number].between.theirs if number in clashes
               else lookup(source, tree, path) if first.has_two_names else first.entry_in(source, tree)
               for number, tree in enumerate(trees)]  # fmt: skip
    left = 0
    if number > 1 and entries[0] in {None, first.base}:  # mine has it as it was, and took it from a side before
        before = range(1, number)
        left = next((n for n in before if entries[n] == first.ours), 0)
        if not left and first.ours is not None:  # perhaps that one has it by another name
            left = next((n for n in before if (own := between(n, number).get(path)) and own.ours == first.ours), 0)
            entries[left] = first.ours if left else entries[left]
    if number == 1 or entries[0] is None:
        entries[0] = first.ours  # mine may have it by another name
    whole = [_whole(read, first.base), *(_whole(source, entry) for entry in entries)]
    has_text = first.is_text and can_merge(*(text for text in whole if text is not None))
    texts = whole if has_text else [None] * len(whole)
    base = _content(read, first.base, texts[0])
    sides = tuple(_content(source, entry, text) for entry, text in zip(entries, texts[1:], strict=True))
    return OpenFile(path, str(first.kind), base, sides, first.twin, left, tuple(sorted(clashes)))


def _whole(source: Source, entry: Entry | None) -> bytes | None:
    if entry is None or entry.kind != "f" or entry.size > MAX_TEXT_BYTES:
        return None
    return read_entry(source, entry)


def _content(source: Source, entry: Entry | None, text: bytes | None) -> Content | None:
    if entry is None:
        return None
    head = b"" if entry.is_dir else next(iter(entry_pieces(source, entry)), b"")[:_HEAD]
    return Content(entry.kind, entry.mode, entry.size, entry.hash.text, head, text)


def _origin(vault: Vault, conflict: Conflict, head: RecordHash, mine: RecordHash | None, tree: RecordHash) -> Origin:
    info = commit_info(vault.store, head)
    released = next(iter(releases_of(vault.store, [head], info.desk)), None)
    owner = released.node if released else info.signer
    machine = next((member.machine for member in members(vault) if member.node == owner), "")
    side = next((side for side in conflict.sides if side.commit == head), None)
    is_mine = head == mine
    if is_mine and side is None:  # my line went on: name the side that it holds
        held = next((side for side in conflict.sides if is_ancestor(vault.store, side.commit, head)), None)
        name, version = (held.word, held.version) if held else (label_of(vault, owner), None)
        return Origin(head, name, machine or "", _iso(info.tai), version, is_mine=True, word="")
    is_shown = not is_mine or tree == info.tree
    name, word = (side.word, head.text if is_shown else "") if side else (label_of(vault, owner), "")
    version = released.version if released else None
    return Origin(head, name, machine or "", _iso(info.tai), version, is_mine, word)


def _iso(tai: str) -> str:
    return Tai.parse(tai).to_utc_iso()
