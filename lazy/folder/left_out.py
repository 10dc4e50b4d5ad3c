"""What came and is not written to the folder: it is said by whatever brought it (APP-12).

A link that leads out of the folder is never made, nor what the disk cannot carry. What stood there before goes, or the
next commit would take it for work of mine; the line keeps what came.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault.desk_folders import within
from vault.desks.absent_paths import load_absent, why_not_here
from vault.desks.causes import Cause
from vault.desks.pages import Entry
from vault.desks.plan import Skip
from vault.desks.tree import lookup
from vault.folder.checked_out import checkout_of
from vault.folder.dir_cache import StoredDirCache
from vault.vault import Vault

__all__ = ["Absent", "absent_now", "left_out"]

_DESKS = "SELECT desk FROM checkout"
Absent = Mapping[str, Mapping[str, str]]


def absent_now(vault: Vault) -> Absent:
    """Return what each desk's folder lacks of what it stands on, by desk and path."""
    return {str(desk): load_absent(StoredDirCache(vault, str(desk))) for (desk,) in vault.store.rows(_DESKS)}


def left_out(vault: Vault, desk: str, before: Absent) -> tuple[Skip, ...]:
    """Return what a folder lacks of what it stands on that it did not lack `before`, with the reason of each."""
    base, known = checkout_of(vault, desk), before.get(desk, {})
    fresh = [path for path, text in load_absent(StoredDirCache(vault, desk)).items() if known.get(path) != text]
    found = {path: lookup(vault.store, base.tree, path) for path in sorted(fresh)} if base is not None else {}
    apart = within(vault, desk) if found else frozenset()

    def skip(path: str, entry: Entry) -> Skip:
        if any(path == other or path.startswith(f"{other}/") for other in apart):
            return Skip(path, Cause.OTHER_DESK.words, blocking=False, cause=Cause.OTHER_DESK)
        return Skip(path, why_not_here(vault.store, path, entry) or "cannot be on this disk", blocking=False)

    return tuple(skip(path, entry) for path, entry in found.items() if entry is not None)
