"""A path at which two sides did different things: why it needs a person, and between what (CLAY-73, CLAY-77)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.merge_text import can_merge, draft_of
from vault.desks.pages import Entry
from vault.desks.paths import folders_above
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_entry
from vault.records import RecordHash

__all__ = ["PathConflict", "PathConflictKind", "are_text", "beside", "draft"]


class PathConflictKind(StrEnum):
    """Why a path needs a person."""

    CONTENT = "content"  # both changed the same lines, or bytes that have no lines
    DELETE_EDIT = "delete/edit"  # one deleted what the other changed
    ADD_ADD = "add/add"  # both added it, differently
    KIND = "kind"  # a file on one side, a link on the other
    MODE = "mode"  # both added it with the same content, but one as a program
    DIRECTORY_FILE = "directory/file"  # a folder on one side, a file on the other
    TWIN = "twin"  # two names that some disks take for one
    RENAME = "rename/rename"  # both renamed it, differently
    RENAME_DELETE = "rename/delete"  # one renamed what the other deleted


class PathConflict(NamedTuple):
    """One path that needs a person.

    Args:
        path: relative to the desk; of twins, the other side's name; of renames, my new name, else theirs.
        kind: why.
        base: the entry in the merge base, or None.
        ours: my entry, or None where I deleted it or never had it.
        theirs: the other side's entry, likewise.
        is_text: whether the sides can be shown and merged as lines.
        twin: of twins, my path; of two renames, the other side's new name.
        old: its name before a side renamed it, by which the others may have it still; empty where none did.
    """

    path: str
    kind: PathConflictKind
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    is_text: bool = False
    twin: str = ""
    old: str = ""

    @property
    def has_two_names(self) -> bool:
        """Whether a decision removes one of two names, so that `path` alone does not say what the other side has."""
        return self.kind in {PathConflictKind.RENAME, PathConflictKind.RENAME_DELETE, PathConflictKind.TWIN}

    def name_in(self, source: Source, tree: RecordHash) -> str:
        """Return the name by which a tree has it: the old one where it has that alone, else `path`.

        Raises:
            MissingObject, TreeError: the tree is not here or broken.
        """
        is_old = self.old and lookup(source, tree, self.path) is None and lookup(source, tree, self.old) is not None
        return self.old if is_old else self.path

    def entry_in(self, source: Source, tree: RecordHash) -> Entry | None:
        """Return what a tree has of it by either name, called as `path` is, so that sides can be compared.

        Raises:
            MissingObject, TreeError: as `name_in`.
        """
        entry = lookup(source, tree, self.name_in(source, tree))
        return entry and entry.named(self.path.rpartition("/")[2])


def beside(paths: Iterable[str], clashes: Iterable[PathConflict]) -> set[str]:
    """Return paths but those at or below which a clash is, by either of its names: what is decided there is theirs."""
    names = {name for clash in clashes for name in (clash.path, clash.twin) if name}
    return {path for path in paths if names.isdisjoint({path, *folders_above(path)})}


def are_text(source: Source, *entries: Entry | None) -> bool:
    """Tell whether all that is there of some sides can be shown and merged as lines."""
    sides = [entry for entry in entries if entry is not None]
    if any(entry.kind != "f" or entry.size > MAX_TEXT_BYTES for entry in sides):
        return False
    return can_merge(*(read_entry(source, entry) for entry in sides))


def draft(source: Source, conflict: PathConflict, labels: tuple[str, str]) -> bytes | None:
    """Return the text of a conflict with markers around what both sides did; None when it is not text.

    A side that deleted the file, or a missing base, counts as an empty text.

    Raises:
        MissingObject, TreeError: a content is not here or has another size than its tree says.
    """
    if not conflict.is_text:
        return None
    base, ours, theirs = (_text(source, x) for x in (conflict.base, conflict.ours, conflict.theirs))
    return draft_of(base, ours, theirs, labels)


def _text(source: Source, entry: Entry | None) -> bytes:
    return read_entry(source, entry) if entry is not None and entry.kind == "f" else b""
