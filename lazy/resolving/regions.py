"""The regions of a text in which the sides of a conflict differ, as a person is shown them (LAZ-39)."""

from __future__ import annotations

from typing import NamedTuple

from lazy.contested import Conflict
from lazy.folder.merging import MergeStep, in_order, steps
from lazy.resolving.picks import heads_of
from lazy.resolving.siding import PAIR, Sided, sided
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.memory import MemoryObjects
from vault.desks.merge_text import Region, draft_of, regions_of
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_entry
from vault.folder.checked_out import checkout_of
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["PathRegions", "path_regions", "texts_of"]


class PathRegions(NamedTuple):
    """One path at which a head clashes with those before it.

    Args:
        conflict: the clash.
        regions: in order, when its lines can be shown; none of them where there are more than two heads.
        draft: the text with markers around what clashes between all of them; None beside another clash of the path.
        head: the head.
        sided: of more than two heads, how all of them have the path; None where its lines cannot be chosen.
        of: how many heads there are.
        first: that which stands first; of two, the other one.
    """

    conflict: PathConflict
    regions: tuple[Region, ...]
    draft: bytes | None
    head: RecordHash
    sided: Sided | None
    of: int
    first: RecordHash


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
    for step in steps(overlay.of(vault.group), vault, order, tree=tree, also=also):
        read = step.outcome.source or overlay
        clashes = {clash.path: clash for clash in step.outcome.conflicts}
        drafts = {path: _with_step(overlay, path, text, step, clashes.get(path)) for path, text in drafts.items()}
        for path, clash in clashes.items():
            if path in of_all and path in drafts:  # it is shown whole where it clashes first
                continue
            regions = regions_of(*texts_of(read, clash)) if clash.is_text and len(order) == PAIR else ()
            found.append(PathRegions(clash, regions, None, step.head, of_all.get(path), len(order), order[0]))
            drafts.setdefault(path, step.outcome.draft(path))
    found.sort(key=lambda one: one.conflict.path)  # the order of the heads is that of their hashes
    return [one._replace(draft=drafts.pop(one.conflict.path, None)) for one in found]


def _with_step(
    source: Source, path: str, draft: bytes | None, step: MergeStep, clash: PathConflict | None
) -> bytes | None:
    """Return the draft of a path that clashed before with what a later head made of it; None where it is no text."""
    if draft is None or (clash is not None and not clash.is_text):
        return None
    labels = ("the draft so far", step.label)
    if clash is not None:
        base, _, theirs = texts_of(step.outcome.source or source, clash)
        return draft_of(base, draft, theirs, labels)
    before, after = (lookup(source, tree, path) for tree in (step.before, step.after))
    if before == after:
        return draft
    if any(entry is not None and (entry.kind != "f" or entry.size > MAX_TEXT_BYTES) for entry in (before, after)):
        return None
    old, new = (read_entry(source, entry) if entry is not None else b"" for entry in (before, after))
    return draft_of(old, draft, new, labels)


def texts_of(source: Source, conflict: PathConflict) -> tuple[bytes, bytes, bytes]:
    """Return the base and both sides of a clash, as far as they are text that can be merged.

    They are read where the merge read them: a base that was merged itself is kept nowhere else.
    """
    base, ours, theirs = (
        read_entry(source, entry) if entry is not None and entry.kind == "f" else b""
        for entry in (conflict.base, conflict.ours, conflict.theirs)
    )
    return base, ours, theirs
