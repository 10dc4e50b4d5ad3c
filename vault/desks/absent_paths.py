"""Paths that a checkout left out because this disk cannot carry them, so that a scan does not take them for deleted.

The list rests in the scan cache under a key that no directory has. If it is lost, such paths show as deleted
in the next status; nothing is deleted without a commit.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault.desks.pages import Entry
from vault.desks.paths import MAX_PATH_BYTES, link_problem, reserved_name
from vault.desks.ports import DirCache, Source
from vault.desks.tree import lookup, read_entry
from vault.errors import CallerError, DataError
from vault.records import RecordHash

__all__ = ["ABSENT", "TooManyAbsent", "add_absent", "cannot_be_here", "load_absent", "why_not_here"]

ABSENT = "/absent"
"""Its key in the scan cache."""
_MAX_BYTES = 256 << 20  # a line has some 100 bytes, and no tree more than two million entries


class TooManyAbsent(CallerError):
    """There is no room to remember what a folder lacks of its tree; forgotten, it would be deleted for everybody."""

    code = "too-many-absent"
    hint = "Move the folder of the desk back to where it was, and run the same command again; nothing was forgotten."


def load_absent(cache: DirCache) -> dict[str, str]:
    """Return the hash text of the entry left out, by path."""
    blob = cache.load(ABSENT) or b""
    pairs = (line.partition(" ") for line in blob.decode("utf-8", "replace").split("\n"))
    return {path: text for text, _, path in pairs if path}


def add_absent(cache: DirCache, source: Source, tree: RecordHash, paths: Iterable[str]) -> None:
    """Remember the paths that were left out of a checkout of `tree`, and forget those it does not have.

    Raises:
        TooManyAbsent: they do not fit; what was remembered stays.
    """
    old = load_absent(cache)
    found: dict[str, str] = {}
    for path in sorted({*old, *paths}):
        try:
            entry = lookup(source, tree, path)
        except DataError:
            continue  # a damaged line
        if entry is not None and (path in paths or old.get(path) == entry.hash.text):
            found[path] = entry.hash.text
    blob = "".join(f"{text} {path}\n" for path, text in found.items()).encode()
    if found == old:
        return
    if len(blob) > _MAX_BYTES:
        raise TooManyAbsent(f"{len(found)} paths are in the tree and cannot be in the folder, as {next(iter(found))}.")
    cache.save(ABSENT, blob)


def cannot_be_here(source: Source, path: str, entry: Entry) -> bool:
    """Tell whether checkout never writes this entry, so that its absence is no deletion."""
    if entry.kind == "l" and entry.size <= MAX_PATH_BYTES and source.content(entry.hash) is None:
        return True
    return bool(why_not_here(source, path, entry))


def why_not_here(source: Source, path: str, entry: Entry) -> str:
    """Return why checkout never writes this entry on any disk, as the end of a sentence, or nothing (APP-12).

    Raises:
        MissingObject: the target of a link is not here.
        TreeError: it has another size than its tree says.
    """
    if reason := next(filter(None, map(reserved_name, path.split("/"))), ""):
        return reason
    if entry.kind != "l":
        return ""
    if entry.size > MAX_PATH_BYTES:
        return f"is a link that has a target of more than {MAX_PATH_BYTES} bytes"
    reason = link_problem(path, read_entry(source, entry))
    return f"is a link that {reason}" if reason else ""
