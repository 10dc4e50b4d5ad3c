"""Parts: what of friends' releases is whole here while the rest is not, as after a sync about some paths (FAC-20).

The folder stands on one commit of which all is here, so an update waits for the rest (decision 31); a part of it can
be brought by path meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from lazy.lacking import waiting_releases
from lazy.people import label_of, linked
from vault.commands import as_typed
from vault.desk_folders import desks
from vault.desks.pages import Entry
from vault.desks.tree import lookup, read_directory
from vault.errors import DataError
from vault.folder.brought_paths import as_brought
from vault.folder.checked_out import checkout_of
from vault.records import RecordHash
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault

__all__ = ["parts_here"]

_MOST_PARTS = 3  # named of one desk

_There = Callable[[str, Entry], bool]


def parts_here(vault: Vault, desk: str) -> tuple[str, ...]:
    """Return the commands that bring what is whole here of friends' lines, and not in the folder; the first few.

    Of each line it is asked what its newest revision has, while a release of it waits for something.
    """
    if desk not in {known.name for known in desks(vault)}:
        return ()
    return tuple(islice(_commands(vault, desk), _MOST_PARTS))


def _commands(vault: Vault, desk: str) -> Iterator[str]:
    waiting, is_there = waiting_releases(vault), _in_folder(vault, desk)
    for node in sorted(waiting.keys() - linked(vault, vault.node.text)):
        head = line_head(vault.store, node, desk)
        if waiting[node][desk] and head is not None:
            for path in _whole(vault, is_there, "", commit_info(vault.store, head.commit).tree):
                yield as_typed("checkout", f"{label_of(vault, node)}/{desk}", path)


def _whole(vault: Vault, is_there: _There, above: str, directory: RecordHash) -> Iterator[str]:
    """Yield the paths of a directory, none below another, of which all is here, and in the folder something else."""
    try:
        below = read_directory(vault.store, directory)
    except DataError:
        return
    known = vault.store.have([entry.hash for entry in below])
    for entry in below:
        path = f"{above}{entry.name}"
        if entry.hash not in known or is_there(path, entry):
            continue
        if vault.store.is_closed(entry.hash):
            yield path
        elif entry.is_dir:
            yield from _whole(vault, is_there, f"{path}/", entry.hash)


def _in_folder(vault: Vault, desk: str) -> _There:
    base, is_brought = checkout_of(vault, desk), as_brought(vault, desk)

    def told(path: str, entry: Entry) -> bool:
        if is_brought(path, entry):
            return True
        try:
            return base is not None and lookup(vault.store, base.tree, path) == entry
        except DataError:
            return False

    return told
