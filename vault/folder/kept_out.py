"""Keeping out from now what was committed before `.laceignore` named it: friends lose it, and it stays here (CLAY-71).

A rule alone deletes nothing at anybody, so what is in the tree goes on being shared until somebody says otherwise. Said
here, it leaves the tree and not the folder: a scan leaves alone what the rules name and the tree does not have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from vault.desk_folders import scanned_folder, within
from vault.desks.choosing import rules_of
from vault.desks.differences import differences
from vault.desks.edit import NoSuchPath, apply_changes
from vault.desks.folder import open_root
from vault.desks.ignore import IGNORE_FILE, Ignore
from vault.desks.pages import Entry
from vault.desks.paths import is_at_or_below, join
from vault.desks.ports import Objects
from vault.desks.tree import lookup, walk
from vault.errors import CallerError
from vault.files import Unreadable, reason_of
from vault.folder.checked_out import checkout_of, contained
from vault.folder.divergence import refuse_apart
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import Committed, Unchanged, record_commit, share_commit
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["KEEP_OUT", "NotNamed", "keep_out", "leaving"]

KEEP_OUT = "keep-out"
"""What the trail says of such a commit in place of where its changes came from."""


class NotNamed(CallerError):
    """A file is to be kept out, and no rule of `.laceignore` names it: the next commit would take it in again."""

    code = "not-named"
    hint = "Name it in .laceignore first, then run the same command again; nothing was changed."


def leaving(vault: Vault, desk: str, paths: Sequence[str]) -> dict[str, Entry]:
    """Return what leaves the tree of a desk if paths are kept out from now, by path; changes nothing.

    What the tree has in the folder of another desk stays: the rules here say nothing of it.

    Args:
        vault: whose folder.
        desk: the desk.
        paths: relative to it, for what is below them too; an empty one is all of it.

    Returns:
        Files, and the directories that the rules name; nothing where all of it is kept out already.

    Raises:
        NotNamed: no rule of the folder names a file there.
        NoSuchPath: the tree has nothing there, and it is no file here that the rules keep out.
        FolderGone, Unreadable: the folder, or its rules, cannot be read.
        MissingObject, TreeError: the tree cannot be read.
    """
    folder, base, elsewhere = scanned_folder(vault, desk), checkout_of(vault, desk), within(vault, desk)
    rules = _rules(vault, desk)
    found: dict[str, Entry] = {}
    for path in paths:
        there = list(_at(vault, base.tree, path)) if base is not None else []
        here = folder / path
        if not there and not (os.path.lexists(here) and rules.matches(path, is_dir=here.is_dir())):
            raise NoSuchPath(
                f"{path or 'The folder'} is not in {desk}, so nothing of it is shared.",
                hint=f"What {IGNORE_FILE} names and nobody committed stays out by itself. See what changed with:"
                " lace changes",
            )
        found.update(one for one in there if not is_at_or_below(one[0], elsewhere))
    named = {path: entry for path, entry in found.items() if rules.matches(path, is_dir=entry.is_dir)}
    others = sorted(path for path, entry in found.items() if path not in named and not entry.is_dir)
    if others:
        be, it = ("is", "it") if len(others) == 1 else ("are", "them")
        raise NotNamed(
            f"{few(others)} {be} named by no rule of {IGNORE_FILE}, so the next commit would take {it} in again.",
            hint=f"Name {it} there first, then run the same command again; nothing was changed.",
        )
    return {
        path: entry
        for path, entry in named.items()
        if not (entry.is_dir and any(other.startswith(f"{path}/") for other in elsewhere))
    }


def keep_out(
    vault: Vault, message: str, paths: Sequence[str], *, desk: str, watch: Watch = Watch()
) -> Committed | Unchanged:
    """Commit that files are in a desk no more, and leave them in its folder, edited there or not.

    Nothing else that changed in the folder is committed. Friends lose the files as by any deletion (CLAY-71).

    Args:
        vault: whose folder.
        message: as the person wrote it.
        paths: as in `leaving`; at least one.
        desk: the desk.
        watch: progress and cancel.

    Raises:
        NotNamed, NoSuchPath, FolderGone, Unreadable: as `leaving`; nothing was changed.
        OwnWorkApart: my line holds work that the folder does not have and an update brings in; it comes first.
        SavedMeanwhile: `paths` are all of the desk, and files were saved while an update was being written.
        NotPermitted: commits are shared, and a member may not read what is left; nothing was changed.
    """
    left = finish_checkouts(vault, watch, desk)
    with vault.writing() as w:
        refuse_apart(w, vault, desk, is_unshared=True)
        if left:
            # Hardly any file is saved meanwhile.
            from vault.folder.meanwhile import check_taken, not_named, take_named

            check_taken(vault, desk, paths)
        going = leaving(vault, desk, paths)
        base = checkout_of(vault, desk)
        if not going or base is None:
            return Unchanged(left)
        root = apply_changes(Objects(vault.store, w, vault.group), base.tree, dict.fromkeys(going))
        w.flush()
        above = newest(vault.store, contained(base))
        commit, number = record_commit(w, vault, desk, root, above, message, is_queued=True)
        if left:
            take_named(vault, desk, paths)
            left = not_named(left, paths)
        share_commit(w, vault, desk, commit)
        w.audit(
            "seal-commit",
            commit.text,
            {"desk": desk, "revision": str(number), "from": KEEP_OUT},
            motivation=message,
        )
        return Committed(commit, desk, number, differences(vault.store, base.tree, root), left, base.tree)


def _rules(vault: Vault, desk: str) -> Ignore:
    """Return the rules of a desk's folder as they are there now, committed or not."""
    folder = scanned_folder(vault, desk)
    try:
        fd = open_root(folder)
    except OSError as error:
        raise Unreadable(f"{folder} cannot be read: {reason_of(error)}.") from error
    try:
        return Ignore(rules_of(folder, fd))
    finally:
        os.close(fd)


def _at(vault: Vault, tree: RecordHash, path: str) -> Iterator[tuple[str, Entry]]:
    """Yield what a tree has at and below a path."""
    if not path:
        yield from walk(vault.store, tree)
        return
    entry = lookup(vault.store, tree, path)
    if entry is None:
        return
    yield path, entry
    if entry.is_dir:
        yield from ((join(path, below), one) for below, one in walk(vault.store, entry.hash))
