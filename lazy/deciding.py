"""A conflict opened for a person to decide: its sides, its files, what was chosen so far, and the result it gives.

Everything is read once, in memory, off anybody's screen; choosing is pure (`worked_out`), and nothing is written before
`decide` (LAZ-39). With more than two sides a file is decided step by step: the first side with the second, what came
of it with the third. So whatever the number of sides, there are two texts to compare and one result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from blake3 import blake3

from lazy.conflicts import Conflict, conflict_named
from lazy.merging import fold
from lazy.people import label_of, members
from lazy.resolve import Resolved, resolve_merged
from lazy.taking import MarkersLeft, heads_of
from vault.desks.chunks import entry_pieces
from vault.desks.diff import MAX_TEXT_BYTES, diff_trees
from vault.desks.merge import PathConflict, resolve_with
from vault.desks.merge_text import Region, RegionUndecided, can_merge, has_markers, regions_of
from vault.desks.ports import MemoryObjects, Source
from vault.desks.tree import Entry, lookup, read_entry
from vault.errors import CallerError
from vault.graph import ancestors
from vault.history import commit_info, next_version, releases_of
from vault.names import Version
from vault.records import RecordHash, Tai
from vault.vault import Vault
from vault.watch import Watch
from vault.work import changes, checkout_of

__all__ = ["CHOICES", "Choice", "Content", "OpenFile", "Opened", "Origin", "Pick", "Piece", "SideNeedsFile", "Worked"]
__all__ += ["decide", "draft_text", "open_conflict", "undecided", "worked_out"]

Choice = Literal["left", "right", "both", "swapped", "base"]
CHOICES: tuple[Choice, ...] = ("left", "right", "both", "swapped", "base")

_HEAD = 48  # bytes of a content that are shown where its lines cannot be


class SideNeedsFile(CallerError):
    """A side that is no release of the conflict was chosen for something that is no file."""

    code = "side-needs-file"
    exit_code = 2
    hint = "Choose another side for it, or decide the conflict with: lace resolve"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one side comes from.

    Args:
        commit: its commit.
        name: who made it, as `resolve` calls their side.
        machine: their machine's name; empty when they told none.
        time: when, ISO 8601 UTC; for display.
        version: the version it was released as, or None.
        is_mine: whether it is my line, with whatever my folder holds now.
        word: its commit, where it is a side of the conflict; else empty.
    """

    commit: RecordHash
    name: str
    machine: str
    time: str
    version: Version | None
    is_mine: bool
    word: str


@dataclass(frozen=True, slots=True)
class Content:
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


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One path in conflict.

    Args:
        path: relative to the desk.
        kind: why it is in conflict.
        base: what it was before; None when it was not there.
        sides: what each side has, in the order of `Opened.sides`; None where it is deleted.
        other_name: of renames and twins, the other name.
    """

    path: str
    kind: str
    base: Content | None
    sides: tuple[Content | None, ...]
    other_name: str = ""

    @property
    def has_lines(self) -> bool:
        """Whether single regions of it can be chosen."""
        return all(side is not None and side.text is not None for side in self.sides)

    @property
    def key(self) -> str:
        """What a draft of it is about: 32 hex characters of all its contents."""
        parts = [self.path, *(content.hash if content else "-" for content in (self.base, *self.sides))]
        return blake3("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Opened:
    """A conflict with everything a person needs to decide it.

    Args:
        conflict: the conflict.
        sides: in the order of their columns, mine first.
        files: paths that do not merge by themselves.
        others: paths that differ, and merge.
        version: proposed for the release of the result.
    """

    conflict: Conflict
    sides: tuple[Origin, ...]
    files: tuple[OpenFile, ...]
    others: tuple[str, ...]
    version: Version


@dataclass(frozen=True, slots=True)
class Pick:
    """What was chosen for one file.

    Args:
        side: number of the side whose content it gets as it is.
        regions: by number from 1, counted through all steps: whose lines a region gets.
        edited: the whole text, as somebody wrote it; counts before everything else.
    """

    side: int | None = None
    regions: Mapping[int, Choice] = field(default_factory=dict)
    edited: bytes | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was chosen."""
        return self.side is None and not self.regions and self.edited is None

    def with_region(self, number: int, choice: Choice | None) -> Pick:
        """Return this pick with another choice for one region; None takes the choice away."""
        kept = {n: c for n, c in self.regions.items() if n != number}
        if choice is not None:
            kept[number] = choice
        return Pick(regions=kept)


class Piece(NamedTuple):
    """Consecutive lines of the two texts that are compared, and what the result has of them.

    Args:
        region: the lines; "ours" is the left text, "theirs" the right one.
        number: of a region in conflict, from 1; 0 for lines that need nobody.
        choice: what was chosen for it.
        result: the lines of the result; None while nothing was chosen.
    """

    region: Region
    number: int
    choice: Choice | None
    result: tuple[bytes, ...] | None


class Worked(NamedTuple):
    """What the choices for one file give.

    Args:
        pieces: of the step that is shown: the first that is not decided, else the last; none without lines.
        right: number of the side that is compared in it.
        step: which step it is, from 1.
        open: numbers of regions that nobody chose for, of this step.
        result: the whole text, once everything is chosen; None for a side without a file, or while it is not decided.
        is_decided: whether everything is chosen.
    """

    pieces: tuple[Piece, ...]
    right: int
    step: int
    open: tuple[int, ...]
    result: bytes | None
    is_decided: bool


def worked_out(file: OpenFile, pick: Pick) -> Worked:
    """Return what the choices for a file give; reads and writes nothing."""
    if not file.has_lines:
        result = pick.edited
        if result is None and pick.side is not None and (chosen := file.sides[pick.side]) is not None:
            result = chosen.text
        is_decided = pick.side is not None or (pick.edited is not None and not has_markers(pick.edited))
        return Worked((), len(file.sides) - 1, 1, (), result, is_decided)
    texts = [side.text or b"" for side in file.sides if side is not None]
    base = (file.base.text if file.base else None) or b""
    left, offset = texts[0], 0
    worked = Worked((), len(texts) - 1, 1, (), left, True)
    for number, right in enumerate(texts[1:], 1):
        pieces = _pieces(base, left, right, pick.regions, offset)
        still = tuple(piece.number for piece in pieces if piece.number and piece.result is None)
        result = None if still else b"".join(line for piece in pieces for line in _closed(piece))
        worked = Worked(pieces, number, number, still, result, not still)
        if result is None:
            break
        left, offset = result, offset + sum(1 for piece in pieces if piece.number)
    if pick.edited is not None:
        return worked._replace(result=pick.edited, is_decided=not has_markers(pick.edited), open=())
    if pick.side is not None:
        return worked._replace(result=texts[pick.side], is_decided=True, open=())
    return worked


@lru_cache(maxsize=256)
def _regions(base: bytes, left: bytes, right: bytes) -> tuple[Region, ...]:
    return regions_of(base, left, right)


def _pieces(base: bytes, left: bytes, right: bytes, chosen: Mapping[int, Choice], offset: int) -> tuple[Piece, ...]:
    found = []
    number = offset
    for region in _regions(base, left, right):
        if region.kind != "conflict":
            found.append(Piece(region, 0, None, region.base or region.ours or region.theirs))
            continue
        number += 1
        choice = chosen.get(number)
        found.append(Piece(region, number, choice, _taken(region, choice) if choice else None))
    return tuple(found)


def _taken(region: Region, choice: Choice) -> tuple[bytes, ...]:
    match choice:
        case "left":
            return region.ours
        case "right":
            return region.theirs
        case "both":
            return (*_ended(region.ours), *region.theirs) if region.theirs else region.ours
        case "swapped":
            return (*_ended(region.theirs), *region.ours) if region.ours else region.theirs
        case _:
            return region.base


def _ended(lines: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the lines with an end on the last one, so that further lines can follow."""
    return (*lines[:-1], lines[-1] if lines[-1].endswith(b"\n") else lines[-1] + b"\n") if lines else ()


def _closed(piece: Piece) -> tuple[bytes, ...]:
    return piece.result or ()


def draft_text(file: OpenFile, pick: Pick, names: Sequence[str]) -> bytes:
    """Return the result so far as a text to edit; what is not decided stands between markers that name both sides."""
    worked = worked_out(file, pick)
    if worked.result is not None:
        return worked.result
    if not worked.pieces:
        return b""
    left = names[0] if worked.step == 1 else "result so far"
    parts: list[bytes] = []
    for piece in worked.pieces:
        if piece.result is not None:
            parts += piece.result
            continue
        parts += [f"<<<<<<< {left}\n".encode(), *_ended(piece.region.ours), b"||||||| base\n"]
        parts += [*_ended(piece.region.base), b"=======\n", *_ended(piece.region.theirs)]
        parts.append(f">>>>>>> {names[worked.right]}\n".encode())
    return b"".join(parts)


def undecided(opened: Opened, picks: Mapping[str, Pick]) -> tuple[str, ...]:
    """Return the paths that still need a choice."""
    return tuple(file.path for file in opened.files if not worked_out(file, picks.get(file.path, Pick())).is_decided)


# Open


def open_conflict(vault: Vault, name: str, watch: Watch = Watch()) -> Opened:
    """Read an open conflict with the contents of its files (LAZ-35, LAZ-39).

    Args:
        vault: whose decision it is.
        name: of the conflict.
        watch: progress and cancel.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        MissingObject, TreeError: a content is not here or broken.
    """
    overlay = MemoryObjects(fallback=vault.store)
    conflict = conflict_named(vault, name)
    dirty = changes(vault, conflict.desk, watch, overlay=overlay)
    base = checkout_of(vault, conflict.desk)
    mine = base.commit if base else None
    heads = sorted(heads_of(vault, conflict), key=lambda head: (head != mine, head.text))
    trees = [dirty.tree if head == mine else commit_info(vault.store, head).tree for head in heads]
    clashes = _clashes(overlay, vault, heads, trees, base.also if base else (), watch)
    files = tuple(_file(overlay, path, found, trees) for path, found in sorted(clashes.items()))
    differ = {change.path for tree in trees[1:] for change in diff_trees(overlay, trees[0], tree)}
    others = tuple(sorted(differ - clashes.keys()))
    origins = tuple(_origin(vault, conflict, head, mine) for head in heads)
    return Opened(conflict, origins, files, others, next_version(vault, conflict.desk))


def _clashes(
    overlay: MemoryObjects,
    vault: Vault,
    heads: Sequence[RecordHash],
    trees: Sequence[RecordHash],
    also: Sequence[RecordHash],
    watch: Watch,
) -> dict[str, dict[int, PathConflict]]:
    """Return what clashes by path and by number of the side that clashes with those before it."""
    found: dict[str, dict[int, PathConflict]] = {}
    tree, done = trees[0], [*also, heads[0]]
    for number, head in enumerate(heads[1:], 1):
        watch.cancelled()
        outcome, _ = fold(overlay, overlay, vault, [done[-1], head], ours=done[-1], tree=tree, also=done)
        for clash in outcome.conflicts:
            found.setdefault(clash.path, {})[number] = clash
        tree = outcome.root or resolve_with(outcome, {clash.path: "ours" for clash in outcome.conflicts})
        done.append(head)
    return found


def _file(source: Source, path: str, clashes: Mapping[int, PathConflict], trees: Sequence[RecordHash]) -> OpenFile:
    first = clashes[min(clashes)]
    entries = [clashes[number].theirs if number in clashes else lookup(source, tree, path)
               for number, tree in enumerate(trees)]  # fmt: skip
    entries[0] = first.ours
    whole = [_whole(source, entry) for entry in (first.base, *entries)]
    has_text = first.is_text and can_merge(*(text for text in whole if text is not None))
    contents = [
        _content(source, entry, text if has_text else None)
        for entry, text in zip((first.base, *entries), whole, strict=True)
    ]
    return OpenFile(path, str(first.kind), contents[0], tuple(contents[1:]), first.twin)


def _whole(source: Source, entry: Entry | None) -> bytes | None:
    if entry is None or entry.kind != "f" or entry.size > MAX_TEXT_BYTES:
        return None
    return read_entry(source, entry)


def _content(source: Source, entry: Entry | None, text: bytes | None) -> Content | None:
    if entry is None:
        return None
    head = b"" if entry.is_dir else next(iter(entry_pieces(source, entry)), b"")[:_HEAD]
    return Content(entry.kind, entry.mode, entry.size, entry.hash.text, head, text)


def _origin(vault: Vault, conflict: Conflict, head: RecordHash, mine: RecordHash | None) -> Origin:
    info = commit_info(vault.store, head)
    released = next(iter(releases_of(vault.store, [head], info.desk)), None)
    owner = released.node if released else info.signer
    machine = next((member.machine for member in members(vault) if member.node == owner), "")
    side = next((side for side in conflict.sides if side.commit == head), None)
    is_mine = head == mine
    if is_mine and side is None:  # my line went on: name the side that it holds
        line = ancestors(vault.store, head)
        held = next((side for side in conflict.sides if side.commit.text in line), None)
        name, version = (held.word, held.version) if held else (label_of(vault, owner), None)
        return Origin(head, name, machine or "", _iso(info.tai), version, True, "")
    name, word = (side.word, head.text) if side else (label_of(vault, owner), "")
    version = released.version if released else None
    return Origin(head, name, machine or "", _iso(info.tai), version, is_mine, word)


def _iso(tai: str) -> str:
    return Tai.parse(tai).to_utc_iso()


# Decide


def decide(
    vault: Vault,
    opened: Opened,
    picks: Mapping[str, Pick],
    version: Version,
    reason: str = "",
    *,
    watch: Watch = Watch(),
) -> Resolved:
    """Write the decision: one merge of all sides, released under a new version (LAZ-39).

    Raises:
        RegionUndecided: a file is not decided.
        MarkersLeft: an edited text still holds markers.
        SideNeedsFile: a side that is no release of the conflict has no file there.
        NoSuchConflict, VersionTaken, SidesChanged: somebody or something was faster.
    """
    takes: dict[str, str] = {}
    edited: dict[str, bytes] = {}
    for file in opened.files:
        pick = picks.get(file.path, Pick())
        worked = worked_out(file, pick)
        if not worked.is_decided:
            if pick.edited is not None:
                raise MarkersLeft(f"{file.path} still holds both sides between markers.")
            raise RegionUndecided(f"{file.path} is not decided yet.")
        if pick.edited is None and pick.side is not None:
            _take(opened.sides[pick.side], file, file.sides[pick.side], takes, edited)
        elif worked.result is not None:
            edited[file.path] = worked.result
    seen = {origin.commit for origin in opened.sides}
    return resolve_merged(vault, opened.conflict.id, version, takes, reason, edited=edited.get, seen=seen, watch=watch)


def _take(
    origin: Origin, file: OpenFile, content: Content | None, takes: dict[str, str], edited: dict[str, bytes]
) -> None:
    if origin.word:
        takes[file.path] = origin.word
    elif not origin.is_mine:  # what stays as in my folder needs no word
        if content is None or content.text is None:
            raise SideNeedsFile(f"{origin.name} has no text at {file.path}.")
        edited[file.path] = content.text
