"""What differs between two trees, or between a tree and the folder, as text a person can read (CLAY-70)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault.desk_folders import folder_of
from vault.desks.chunks import MissingObject
from vault.desks.diff import MAX_TEXT_BYTES, Change, diff_trees, text_diff
from vault.desks.folder import FileChanging, open_directory, open_root, read_file, read_link
from vault.desks.pages import Entry
from vault.desks.tree import read_entry
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.address import ResolvedCommit
    from vault.folder.work import Changes

__all__ = ["Difference", "folder_differences", "tree_differences"]

Read = Callable[[str, Entry], bytes]


class Difference(NamedTuple):
    """One path that differs.

    Args:
        path: relative to the desk.
        kind: "added", "changed" or "deleted".
        lines: a unified diff, or a sentence where lines cannot be compared; unescaped.
    """

    path: str
    kind: str
    lines: tuple[str, ...]


class _Unreadable(Exception):
    pass


def tree_differences(
    vault: Vault, before: ResolvedCommit, after: ResolvedCommit, path: str = "", *, limit: int | None = None
) -> list[Difference]:
    """Return what differs between two trees, at and below a path; with a limit, only that many paths.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    found = [
        change
        for change in islice(diff_trees(vault.store, before.tree, after.tree), None if path else limit)
        if not path or change.path == path or change.path.startswith(path + "/")
    ]
    read = _stored(vault)
    return _differences(found, (before.what, after.what), read, read)


def folder_differences(
    vault: Vault, found: Changes, names: tuple[str, str], *, limit: int | None = None
) -> list[Difference]:
    """Return what differs between the folder and what it stands on; with a limit, only that many paths.

    One changed file is read at a time.
    """
    return _differences(found.items[:limit], names, _stored(vault), _on_disk(vault, found.desk))


def _differences(
    found: Sequence[Change], names: tuple[str, str], read_before: Read, read_after: Read
) -> list[Difference]:
    return [Difference(c.path, c.kind, _lines(c, names, read_before, read_after)) for c in found]


def _lines(change: Change, names: tuple[str, str], read_before: Read, read_after: Read) -> tuple[str, ...]:
    before, after = change.before, change.after
    head = [f"--- {change.path} ({names[0]})", f"+++ {change.path} ({names[1]})"]
    notes = _notes(before, after)
    if _is_large(before) or _is_large(after):
        return (*head, *notes, _without_lines(before, after))
    try:
        old, new = _content(change.path, before, read_before), _content(change.path, after, read_after)
    except _Unreadable as error:
        return (*head, *notes, str(error))
    if old == new:
        return (*head, *notes) if notes else (*head, f"A {_age(before)} empty file.")
    lines = text_diff(old, new, names=("", ""))
    if lines[0].startswith("--- "):
        lines = lines[2:]
    return (*head, *notes, *lines)


def _age(before: Entry | None) -> str:
    """Return what no line says of a path that stands on one side alone."""
    return "new" if before is None else "deleted"


def _notes(before: Entry | None, after: Entry | None) -> list[str]:
    kinds = {"f": "file", "l": "link", "d": "folder"}
    if before is None or after is None:
        is_folder = (before or after).kind == "d"  # type: ignore[union-attr] # one of the two is there
        return [f"A {_age(before)} empty folder."] if is_folder else []
    if before.kind != after.kind:
        return [f"A {kinds[before.kind]} became a {kinds[after.kind]}."]
    if before.mode != after.mode:
        return ["It can be run as a program now." if after.mode == "x" else "It can no longer be run as a program."]
    return ["An empty folder now."] if after.kind == "d" else []


def _is_large(entry: Entry | None) -> bool:
    return entry is not None and not entry.is_dir and entry.size > MAX_TEXT_BYTES


def _without_lines(before: Entry | None, after: Entry | None) -> str:
    """Say what became of a file that is too large for lines: new, edited and deleted ones would look the same."""
    if before is None or after is None:
        size = (before or after).size  # type: ignore[union-attr] # one of the two is there
        return f"A {_age(before)} file, too large to compare: {size} bytes."
    return f"Too large to compare: {before.size} bytes before, {after.size} bytes after."


def _content(path: str, entry: Entry | None, read: Read) -> bytes:
    return b"" if entry is None or entry.is_dir else read(path, entry)


def _stored(vault: Vault) -> Read:
    def read(path: str, entry: Entry) -> bytes:
        try:
            return read_entry(vault.store, entry)
        except MissingObject as error:
            raise _Unreadable(f"The content is not here: {path}.") from error

    return read


def _on_disk(vault: Vault, desk: str) -> Read:
    def read(path: str, entry: Entry) -> bytes:
        *above, name = path.split("/")
        try:
            fd = open_root(folder_of(vault, desk))
            try:
                with open_directory(fd, tuple(above)) as directory:
                    if entry.kind == "l":
                        return read_link(directory, name)
                    return read_file(directory, name, MAX_TEXT_BYTES)[0]
            finally:
                os.close(fd)
        except (OSError, FileChanging) as error:
            raise _Unreadable(f"The file changed while it was read: {path}.") from error

    return read
