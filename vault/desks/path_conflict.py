"""A path at which two sides did different things: why it needs a person, and between what (CLAY-73, CLAY-77)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.merge_text import can_merge, draft_of
from vault.desks.ports import Source
from vault.desks.tree import Entry, read_entry

__all__ = ["PathConflict", "PathConflictKind", "are_text", "draft"]


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
    """

    path: str
    kind: PathConflictKind
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    is_text: bool = False
    twin: str = ""

    @property
    def has_two_names(self) -> bool:
        """Whether a decision removes one of two names, so that `path` alone does not say what the other side has."""
        return self.kind in {PathConflictKind.RENAME, PathConflictKind.RENAME_DELETE, PathConflictKind.TWIN}


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
