"""Committing a change set from a file: the other way in, beside what was found in the folder (CLAY-38 to CLAY-41)."""

from __future__ import annotations

from lazy.folder.written import follow
from vault.desks.changeset import ChangeSet, apply_set
from vault.desks.diff import diff_trees
from vault.desks.ports import Objects
from vault.folder.checked_out import checkout_of, contained
from vault.folder.divergence import refuse_apart
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import Committed, record_commit
from vault.readers import check_readers
from vault.revisions.history import line_head
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["commit_changes"]


def commit_changes(vault: Vault, desk: str, changes: ChangeSet, message: str, watch: Watch = Watch()) -> Committed:
    """Commit a change set on my line of a desk; the folder follows, and what else was edited there stays.

    Raises:
        StaleChangeSet: it starts from another tree than my line has now.
        OwnWorkApart: my line holds work that the folder does not have and an update brings in; it comes first.
        FolderInTheWay: a file of its paths was edited and is not committed; nothing was changed.
        NotPermitted: commits are shared, and a member may not read what it holds; nothing was changed.
        PatchMismatch, NamesClash, PathInTheWay, BadPath: it does not fit; nothing was changed.
    """
    finish_checkouts(vault, watch, desk)
    with vault.writing() as w:
        refuse_apart(w, vault, desk, is_unshared=True)
        base = checkout_of(vault, desk)
        before = base.tree if base else None
        root = apply_set(Objects(vault.store, w, vault.group), before, changes)
        w.flush()
        follow(w, vault, desk, before, root, watch)
        items = tuple(diff_trees(vault.store, before, root))
        commit, number = record_commit(w, vault, desk, root, contained(base), message)
        head = line_head(vault.store, vault.node.text, desk)
        if head and vault.settings.shares_commits:
            check_readers(vault, desk, root)
            w.log([commit, head.rev])
        w.audit("seal-commit", commit.text, {"desk": desk, "revision": str(number), "from": "file"}, motivation=message)
        return Committed(commit, desk, number, items, ())
