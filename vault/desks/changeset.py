"""Change sets: what becomes of some paths, from one tree to another, all of it or nothing (CLAY-37 to CLAY-41).

A set names the tree it starts from and the one it makes, so it can be carried by hand and counts only where it fits.
What is found in a folder and what comes in a file take this one way in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from vault.desks import patches
from vault.desks.cutting import add_content
from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.pages import Entry
from vault.desks.patches import Patch, PatchMismatch, Whole
from vault.desks.paths import BadPath, link_problem, reserved_name, split_path
from vault.desks.ports import Objects, Source
from vault.desks.tree import lookup, read_entry
from vault.errors import DataError
from vault.records import RecordHash
from vault.records.errors import RecordError

__all__ = ["ChangeSet", "Delete", "Insert", "Mutate", "StaleChangeSet", "apply_set", "change_set", "parse", "values"]

_FORMAT: Final = "lace-changes/0"
_LIMIT = 100_000  # changes in one set
_FILE, _DIRECTORY, _PLAIN = "f", "d", "-"


class StaleChangeSet(DataError):
    """A change set that starts from another tree, or changes content that is another by now."""

    code = "stale-change-set"
    exit_code = 49
    hint = "Nothing was changed. Make the change set anew, from the desk as it is now."


class Insert(NamedTuple):
    """Something new at a path.

    Args:
        content: of a file, or the target of a link; None for an empty folder.
        kind: as in trees: f, l or d.
        mode: as in trees: `-`, or `x` for a program.
    """

    content: bytes | None
    kind: str = _FILE
    mode: str = _PLAIN


class Delete(NamedTuple):
    """Nothing at a path any more; what was there is named, and looked at before it goes."""

    old: RecordHash


class Mutate(NamedTuple):
    """Other content at a path, by a patch over the content that is named."""

    old: RecordHash
    patch: Patch
    mode: str = _PLAIN


class ChangeSet(NamedTuple):
    """What leads from one tree to another.

    Args:
        before: the tree it starts from; None for an empty desk.
        after: the tree it makes.
        changes: by path.
    """

    before: RecordHash | None
    after: RecordHash
    changes: Mapping[str, Insert | Delete | Mutate]


def change_set(source: Source, before: RecordHash | None, after: RecordHash) -> ChangeSet:
    """Return the change set between two trees.

    Raises:
        MissingObject, TreeError, TreeTooLarge: a content cannot be read, or is too large for one piece.
    """
    found: dict[str, Insert | Delete | Mutate] = {}
    for change in diff_trees(source, before, after):
        found[change.path] = _between(source, change.before, change.after)
    return ChangeSet(before, after, found)


def _between(source: Source, old: Entry | None, new: Entry | None) -> Insert | Delete | Mutate:
    if new is None:
        assert old is not None  # noqa: S101 - a difference has a side
        return Delete(old.hash)
    if new.is_dir:
        return Insert(None, new.kind, new.mode)
    content = read_entry(source, new)
    if old is None or old.kind != new.kind or new.kind != _FILE:
        return Insert(content, new.kind, new.mode)
    return Mutate(old.hash, patches.between(read_entry(source, old), content), new.mode)


def apply_set(objects: Objects, root: RecordHash | None, changes: ChangeSet) -> RecordHash:
    """Return the tree that a change set makes of the one it starts from.

    Args:
        objects: where the old tree and its content are read, and the new ones go.
        root: the tree as it is now.
        changes: the set.

    Raises:
        StaleChangeSet: it starts from another tree, or a content is another than it says; nothing was changed.
        PatchMismatch: it does not make what it says.
        BadPath: a path or link is none that the folder may hold.
        NamesClash, PathInTheWay, MissingObject, TreeError: as `apply_changes`.
    """
    if root != changes.before:
        raise StaleChangeSet("The change set starts from another tree than the desk has now.")
    entries = {path: _entry(objects, root, path, change) for path, change in changes.changes.items()}
    made = apply_changes(objects, root, entries)
    if made != changes.after:
        raise PatchMismatch("The changes do not make the tree that the set names.")
    return made


def _entry(objects: Objects, root: RecordHash | None, path: str, change: Insert | Delete | Mutate) -> Entry | None:
    *_, name = names = split_path(path)
    if isinstance(change, Insert):
        _check_new(path, names, change)
        if change.content is None:
            return Entry(_DIRECTORY, _PLAIN, 0, apply_changes(objects, None, {}), name)
        return Entry(change.kind, change.mode, len(change.content), _added(objects, change.content), name)
    now = lookup(objects.source, root, path) if root is not None else None
    if now is None or now.hash != change.old:
        raise StaleChangeSet(f"{path} holds something else by now.")
    if isinstance(change, Delete):
        return None
    content = patches.apply_patch(change.patch, read_entry(objects.source, now))
    return Entry(_FILE, change.mode, len(content), _added(objects, content), name)


def _added(objects: Objects, content: bytes) -> RecordHash:
    return add_content(objects.group, content, objects.sink)


def _check_new(path: str, names: Sequence[str], change: Insert) -> None:
    """Refuse what is never taken from a folder, and written into none (APP-12).

    Raises:
        BadPath: a link leads out of the folder, or a name is the vault's or that of what is not whole yet.
    """
    problem = next(filter(None, map(reserved_name, names)), "")
    if not problem and change.kind == "l" and (reason := link_problem(path, change.content or b"")):
        problem = f"is a link that {reason}"
    if problem:
        raise BadPath(f"{path} {problem}.", hint="Nothing was changed. Make the change set anew without it.")


# As plain values, for files


def values(changes: ChangeSet) -> dict[str, object]:
    """Return a change set as JSON has it."""
    return {
        "format": _FORMAT,
        "before": changes.before.text if changes.before else None,
        "after": changes.after.text,
        "changes": {path: _values(change) for path, change in changes.changes.items()},
    }


def _values(change: Insert | Delete | Mutate) -> dict[str, object]:
    if isinstance(change, Delete):
        return {"delete": change.old.text}
    if isinstance(change, Mutate):
        return {"mutate": change.old.text, "mode": change.mode, "patch": patches.values(change.patch)}
    content = patches.values(Whole(change.content)) if change.content is not None else None
    return {"insert": content, "kind": change.kind, "mode": change.mode}


def parse(value: Any) -> ChangeSet:
    """Read a change set from plain values.

    Raises:
        PatchMismatch, PatchUnsupported: it breaks the format.
    """
    try:
        if value["format"] != _FORMAT or len(value["changes"]) > _LIMIT:
            raise PatchMismatch(f"A change set has the format {_FORMAT}, and at most {_LIMIT} changes.")
        before = RecordHash.parse(value["before"]) if value["before"] is not None else None
        found = {str(path): _parsed(change) for path, change in value["changes"].items()}
        return ChangeSet(before, RecordHash.parse(value["after"]), found)
    except (KeyError, TypeError, AttributeError, RecordError) as error:
        raise PatchMismatch("This is not a change set, or it is damaged.") from error


def _parsed(change: Any) -> Insert | Delete | Mutate:
    if "delete" in change:
        return Delete(RecordHash.parse(change["delete"]))
    mode, kind = str(change["mode"]), str(change.get("kind", _FILE))
    if mode not in {_PLAIN, "x"} or kind not in {_FILE, "l", _DIRECTORY}:
        raise PatchMismatch("A change names a kind or mode that trees do not have.")
    if "mutate" in change:
        return Mutate(RecordHash.parse(change["mutate"]), patches.parse(change["patch"]), mode)
    if change["insert"] is None:
        return Insert(None, _DIRECTORY, _PLAIN)
    whole = patches.parse(change["insert"])
    if not isinstance(whole, Whole) or kind == _DIRECTORY:
        raise PatchMismatch("Something new is inserted whole, and a folder without content.")
    return Insert(whole.content, kind, mode)
