"""What a person chose for each path of a conflict, and the tree it gives (LAZ-39; architecture, Deciding).

A choice is a side for a path, a side for each region of a text, or the bytes of a merged file. What nobody chose for
stays as it is in my folder, and a file in which conflict markers are left is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from lazy.contested import Conflict, Side
from lazy.folder.merging import Step, fold, in_order, steps
from lazy.people import label_of
from lazy.resolving.siding import EVERY, Sided, head_with, sided
from vault.commands import as_option
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.edit import NoSuchPath, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import Choice, ConflictKind, PathConflict, resolve_with
from vault.desks.merge_text import Region, RegionSide, draft_of, has_markers, regions_of, take_regions
from vault.desks.ports import Source
from vault.desks.tree import Entry, lookup, read_entry
from vault.errors import CallerError
from vault.folder.work import checkout_of
from vault.records import RecordHash
from vault.revisions.cases import SELF
from vault.revisions.graph import ancestors, newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["BOTH", "MarkersLeft", "NoSuchRegion", "NoSuchSide", "PathRegions", "PathUndecided", "Picks"]
__all__ += [
    "PicksContradict",
    "Seen",
    "SidesChanged",
    "check_seen",
    "heads_of",
    "held",
    "merged_tree",
    "path_regions",
    "pick_side",
    "picks_of",
]

Both = Literal["both"]
BOTH: Both = "both"  # of one region: my lines, then the other side's; of more sides, all that changed it
Mine = Literal["mine"]
MINE: Mine = "mine"  # of one region: the lines of my line, which a decision commits to first
# One decision removes a name, so the path alone says nothing about what the other side has.
_MOVED = frozenset({ConflictKind.RENAME, ConflictKind.RENAME_DELETE, ConflictKind.TWIN})
_TWO = 2


class MarkersLeft(CallerError):
    """A merged file still holds the markers of its draft."""

    code = "markers-left"
    exit_code = 2
    hint = "Edit the file until no line of <<<<<<<, ======= and >>>>>>> is left, or choose a side for it."


class NoSuchRegion(CallerError):
    """A region was chosen for a path that has none of that number, or is in no conflict of lines."""

    code = "no-such-region"
    exit_code = 2
    hint = "See the regions with: lace conflicts --regions"


class PathUndecided(CallerError):
    """The sides clash at a path, nobody chose for it, and the folder has nothing of its own there (LAZ-42)."""

    code = "path-undecided"
    exit_code = 2
    hint = "Edit the file as it should be, or choose whose it is: --path P --take SIDE"


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
class Picks:
    """What a person chose.

    Args:
        all: the side for every conflicting path, unless something else is chosen for it.
        paths: commit whose content a path gets, in conflict or not.
        regions: by path and number (from 1): the commit whose lines a region gets, or `BOTH` or `MINE`.
        edited: returns the bytes of a merged file, or None where the person made none.
        held: clashing paths that stay exactly as they are in my folder, unless something else is chosen; see `held`.
    """

    all: RecordHash | None = None
    paths: Mapping[str, RecordHash] = field(default_factory=dict)
    regions: Mapping[str, Mapping[int, RecordHash | Both | Mine]] = field(default_factory=dict)
    edited: Callable[[str], bytes | None] = field(default=lambda _path: None)
    held: Mapping[str, Entry | None] = field(default_factory=dict)


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
        problem = "fits several sides" if found else "is no side"
        raise NoSuchSide(f"{word!r} {problem} of the conflict {conflict.id}.", hint=f"The sides are: {names}.")
    return found[0]


def picks_of(
    vault: Vault,
    conflict: Conflict,
    takes: Mapping[str, str],
    regions: Mapping[str, Mapping[int, str]],
    edited: Callable[[str], bytes | None] = lambda _path: None,
) -> Picks:
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

    whole: dict[str, Mapping[int, RecordHash | Both | Mine]] = {
        path: {EVERY: BOTH} for path, word in takes.items() if word == BOTH
    }
    return Picks(
        paths={path: side(word) for path, word in takes.items() if word != BOTH},
        regions={path: {n: lines(word) for n, word in chosen.items()} for path, chosen in regions.items()} | whole,
        edited=edited,
    )


def heads_of(vault: Vault, conflict: Conflict) -> list[RecordHash]:
    """Return the newest of what a decision merges: its sides, what was decided before, and my line."""
    base = checkout_of(vault, conflict.desk)
    mine = [base.commit] if base else []
    return newest(vault.store, [*(side.commit for side in conflict.sides), *conflict.results, *mine])


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


class PathRegions(NamedTuple):
    """One path at which a head clashes with those before it.

    Args:
        conflict: the clash.
        regions: in order, when its lines can be shown; none of them where there are more than two heads.
        draft: the text with markers around what clashes between all of them; None beside another clash of the path.
        head: the head.
        sided: of more than two heads, how all of them have the path; None where its lines cannot be chosen.
        of: how many heads there are.
    """

    conflict: PathConflict
    regions: tuple[Region, ...]
    draft: bytes | None
    head: RecordHash
    sided: Sided | None = None
    of: int = _TWO


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
        tree: stands for its tree.
        also: further commits that mine contains.

    Raises:
        MarkersLeft, NoSuchRegion, NoSuchSide, RegionUndecided: a choice cannot be taken.
        PathUndecided: whose a path is would follow from the order of the sides alone.
        NoSuchPath: a path that was picked is in none of the sides.
        PicksContradict: as `_by_other_name`.
    """
    order, has_mine = in_order(vault, newest(vault.store, heads), ours)
    first = tree = tree or commit_info(vault.store, order[0]).tree
    folder = tree if order[0] == ours else None
    done = [*(also if has_mine else ()), order[0]]
    entries: dict[str, Entry | None] = {}
    settled: set[str] = set()
    picks = _as_heads(w, vault, heads, order, tree, picks, has_line=order[0] == ours)
    chosen = _by_lines(w, vault, order, tree, done[:-1], picks)
    for head in order[1:]:
        outcome, _ = fold(w, w, vault, [done[-1], head], ours=done[-1], tree=tree, also=done)
        choices: dict[str, Choice] = {}
        picks, others = _by_other_name(picks, outcome.conflicts)
        settled |= others
        for clash in outcome.conflicts:
            pick = picks.paths.get(clash.path)
            mine = lookup(w, folder, clash.path) if folder is not None else None
            is_mine = folder is not None and clash.ours == mine
            text = chosen.get(clash.path)
            choices[clash.path] = text if text is not None else _choice(w, clash, head, picks, is_mine=is_mine)
            if clash.kind in _MOVED or clash.path in picks.regions:
                settled.add(clash.path)
            elif pick == head:
                entries[clash.path] = clash.theirs
            elif pick is not None and pick in done:
                own = first if pick == order[0] else commit_info(vault.store, pick).tree
                entries.setdefault(clash.path, _merged_before(w, clash, tree, own))
        tree = outcome.root or resolve_with(outcome, choices)
        _flush(w)
        given = [path for path, choice in choices.items() if isinstance(choice, bytes)]
        written = [path for path in given if path not in picks.regions or path in chosen]
        for path in written:  # no side that follows changes it any more
            if (entry := lookup(w, tree, path)) is not None:
                entries[path] = entry
        done.append(head)
    if unused := picks.regions.keys() - settled:
        raise NoSuchRegion(f"The lines of {sorted(unused)[0]} are not in conflict.")
    for path, head in picks.paths.items():
        if path in settled or path in entries:
            continue
        entries[path] = _entry(w, vault, head, path)
        if entries[path] is None and all(_entry(w, vault, one, path) is None for one in order):
            raise NoSuchPath(f"{path} is in none of the sides.", hint="See what disagrees with: lace conflicts")
    entries.update(_from_folder(w, picks))
    tree = apply_changes(w, w, vault.group, tree, entries) if entries else tree
    _flush(w)
    return tree


def _by_other_name(picks: Picks, clashes: Sequence[PathConflict]) -> tuple[Picks, set[str]]:
    """Return picks with what was chosen by the other name of a clash of two names, and those names.

    Raises:
        PicksContradict: another side was chosen by each name.
    """
    known = {clash.path for clash in clashes}
    found = {clash.path: clash.twin for clash in clashes if clash.twin in picks.paths and clash.twin not in known}
    for path, twin in found.items():
        if path in picks.regions or picks.paths.get(path, picks.paths[twin]) != picks.paths[twin]:
            raise PicksContradict(f"{path} and {twin} clash as names, so only one of them stays: two were chosen.")
    paths = {path: picks.paths[twin] for path, twin in found.items()}
    return replace(picks, paths={**paths, **picks.paths}), set(found.values())


def _as_heads(
    source: Source,
    vault: Vault,
    heads: Sequence[RecordHash],
    order: Sequence[RecordHash],
    tree: RecordHash,
    picks: Picks,
    *,
    has_line: bool,
) -> Picks:
    """Return picks in which each region has a head's lines; a side that a head was built upon stands for that head.

    Raises:
        NoSuchSide: that head was built upon others too, and has the file as none of them: whose lines would follow
            from nothing.
    """

    def head_of(path: str, choice: RecordHash | Both | Mine) -> RecordHash | Both:
        if not isinstance(choice, RecordHash):
            return order[0] if choice == MINE else BOTH
        found = head_with(source, vault, heads, order, tree, path, choice)
        if found is None:
            name = label_of(vault, commit_info(vault.store, choice).signer)
            told = f"{path} was decided between {name} and others before, so no lines of it are those of {name} alone."
            way = f"Take the whole file: {as_option('--path', path)} --take SIDE - or edit it."
            raise NoSuchSide(told, hint=f"local means the lines of your folder. {way}" if has_line else way)
        return found

    regions = {path: {n: head_of(path, one) for n, one in of.items()} for path, of in picks.regions.items()}
    return replace(picks, regions=regions)


def _by_lines(
    w: Writer | MemoryObjects,
    vault: Vault,
    order: Sequence[RecordHash],
    tree: RecordHash,
    also: Sequence[RecordHash],
    picks: Picks,
) -> dict[str, bytes]:
    """Return the texts that a person chose by regions between more than two heads.

    Raises:
        NoSuchRegion: the lines of a path cannot be chosen so.
        RegionUndecided: a region has no choice, or there is none of that number.
    """
    if len(order) == _TWO or not picks.regions:
        return {}
    found = sided(MemoryObjects(fallback=w), vault, order, tree, also)
    if strange := sorted(picks.regions.keys() - found.keys()):
        way = "See the regions with: lace conflicts --regions - or choose whose the file is: --path P --take SIDE"
        raise NoSuchRegion(f"{strange[0]} has no lines that could be chosen between all sides.", hint=way)
    return {path: found[path].taken(path, regions) for path, regions in picks.regions.items()}


def held(
    source: Source, vault: Vault, sides: Sequence[RecordHash], mine: RecordHash | None, tree: RecordHash
) -> dict[str, Entry | None]:
    """Return the paths on which the sides clash and my folder says how they shall be.

    It does where my line has one of the sides that clash there, or where I made of the path what it was not before:
    what I edited is then the decision, also where it would merge cleanly with one of the sides.

    Args:
        source: where trees are read.
        vault: whose decision it is.
        sides: commits of the conflict.
        mine: what my folder stands on.
        tree: my folder's tree.
    """
    overlay = MemoryObjects(fallback=source)
    order, _ = in_order(vault, newest(vault.store, sides), mine)
    clashes: dict[str, PathConflict] = {}
    for step in steps(overlay, overlay, vault, order):
        for clash in step.outcome.conflicts:
            clashes.setdefault(clash.path, clash)
    line = ancestors(vault.store, mine) if mine is not None else set()
    own = [commit_info(vault.store, side).tree for side in sides if side.text in line]

    def is_mine(clash: PathConflict) -> bool:
        """Tell whether a side of mine is between which it is: of three sides it may have left the path alone."""
        if len(order) == _TWO or clash.kind in _MOVED:
            return bool(own)
        return any(lookup(source, side, clash.path) != clash.base for side in own)

    found = {path: lookup(source, tree, path) for path in clashes}
    return {path: found[path] for path, clash in clashes.items() if found[path] != clash.base or is_mine(clash)}


def path_regions(
    vault: Vault, conflict: Conflict, folder: RecordHash | None = None, overlay: MemoryObjects | None = None
) -> list[PathRegions]:
    """Return every conflicting path of a conflict with the regions of its lines, to be shown or edited.

    Of more than two heads a path may clash with several, each with those before it.

    Args:
        vault: whose decision it is.
        conflict: it.
        folder: the tree of my folder, which a decision commits first; it stands for that of my line.
        overlay: where that tree is read.

    Raises:
        LetGo, MissingObject, TreeError: a content is not here or broken.
    """
    overlay = MemoryObjects(fallback=vault.store) if overlay is None else overlay
    base = checkout_of(vault, conflict.desk)
    mine = base.commit if base else None
    order, has_mine = in_order(vault, heads_of(vault, conflict), mine)
    tree = folder if folder is not None and order[0] == mine else commit_info(vault.store, order[0]).tree
    also = base.also if base and has_mine else ()
    found: list[PathRegions] = []
    drafts: dict[str, bytes | None] = {}
    of_all = sided(overlay, vault, order, tree, also)
    for step in steps(overlay, overlay, vault, order, tree=tree, also=also):
        clashes = {clash.path: clash for clash in step.outcome.conflicts}
        drafts = {path: _with_step(overlay, path, text, step, clashes.get(path)) for path, text in drafts.items()}
        for path, clash in clashes.items():
            if path in of_all and path in drafts:  # it is shown whole where it clashes first
                continue
            regions = regions_of(*_texts(overlay, clash)) if clash.is_text and len(order) == _TWO else ()
            found.append(PathRegions(clash, regions, None, step.head, of_all.get(path), len(order)))
            drafts.setdefault(path, step.outcome.draft(path))
    found.sort(key=lambda one: one.conflict.path)  # the order of the heads is that of their hashes
    return [one._replace(draft=drafts.pop(one.conflict.path, None)) for one in found]


def _with_step(source: Source, path: str, draft: bytes | None, step: Step, clash: PathConflict | None) -> bytes | None:
    """Return the draft of a path that clashed before with what a later head made of it; None where it is no text."""
    if draft is None or (clash is not None and not clash.is_text):
        return None
    labels = ("the draft so far", step.label)
    if clash is not None:
        base, _, theirs = _texts(source, clash)
        return draft_of(base, draft, theirs, labels)
    before, after = (lookup(source, tree, path) for tree in (step.before, step.after))
    if before == after:
        return draft
    if any(entry is not None and (entry.kind != "f" or entry.size > MAX_TEXT_BYTES) for entry in (before, after)):
        return None
    old, new = (read_entry(source, entry) if entry is not None else b"" for entry in (before, after))
    return draft_of(old, draft, new, labels)


def _choice(source: Source, clash: PathConflict, head: RecordHash, picks: Picks, *, is_mine: bool) -> Choice:
    if clash.path in picks.regions:
        if not clash.is_text:
            raise NoSuchRegion(f"{clash.path} has no lines that could be chosen ({clash.kind}).")
        sides: dict[int, RegionSide] = {
            number: "both" if side == BOTH else "theirs" if side == head else "ours"
            for number, side in picks.regions[clash.path].items()
        }
        texts = _texts(source, clash)
        if EVERY in sides:
            count = sum(region.kind == "conflict" for region in regions_of(*texts))
            sides = dict.fromkeys(range(1, count + 1), sides[EVERY])
        return take_regions(clash.path, *texts, sides)
    pick = picks.paths.get(clash.path)
    if pick is None and (edited := picks.edited(clash.path)) is not None:
        return _without_markers(clash.path, edited)
    pick = pick or picks.all
    if pick is None and clash.path not in picks.held and not is_mine:
        raise PathUndecided(f"{clash.path} differs between the sides, and your folder has it as it was before.")
    if pick is None and clash.path not in picks.held and clash.ours is not None and clash.is_text:
        _without_markers(clash.path, read_entry(source, clash.ours))
    return "theirs" if pick == head else "ours"


def _merged_before(source: Source, clash: PathConflict, tree: RecordHash, own: RecordHash) -> Entry | None:
    """Return what a side has at a clash, of which the tree of a merge has what came of it and of others.

    Args:
        source: where trees are read.
        clash: with a side after it.
        tree: of the merge.
        own: the side's own.
    """
    if clash.ours is not None and lookup(source, tree, clash.path) is None:
        return clash.ours  # that is the name which only the other one gave it
    return lookup(source, own, clash.path)


def _from_folder(source: Source, picks: Picks) -> dict[str, Entry | None]:
    """Return the clashing paths that are as in my folder, once no marker is left in them."""
    found = {}
    for path, entry in picks.held.items():
        if path in picks.paths or path in picks.regions or picks.edited(path) is not None:
            continue
        if entry is not None and entry.kind == "f" and entry.size <= MAX_TEXT_BYTES:
            _without_markers(path, read_entry(source, entry))
        found[path] = entry
    return found


def _without_markers(path: str, content: bytes) -> bytes:
    if has_markers(content):
        raise MarkersLeft(f"{path} still holds both sides between markers.")
    return content


def _texts(source: Source, conflict: PathConflict) -> tuple[bytes, bytes, bytes]:
    base, ours, theirs = (
        read_entry(source, entry) if entry is not None and entry.kind == "f" else b""
        for entry in (conflict.base, conflict.ours, conflict.theirs)
    )
    return base, ours, theirs


def _entry(source: Source, vault: Vault, head: RecordHash, path: str) -> Entry | None:
    return lookup(source, commit_info(vault.store, head).tree, path)


def _flush(w: Writer | MemoryObjects) -> None:
    if isinstance(w, Writer):
        w.flush()
