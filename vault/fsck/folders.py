"""What the store notes of the folders, where damage left something that cannot be read or is not here (APP-13).

What a folder stands on and what is being written to it stands in two rows that no record carries. A wrong bit there
ended every command on the folder. The commits that are here tell what was meant; the folder itself is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection

from vault.desk_folders import no_path_words, no_paths
from vault.fsck.report import BadThing
from vault.records import RecordHash
from vault.records.errors import RecordError
from vault.revisions.history import line_head
from vault.store import Store
from vault.vault import Vault

__all__ = ["settle_folders", "unreadable"]

_STANDS = (
    "What the folder of {} stands on is damaged in the store. A repair finds it among the commits that are here, and"
    " the folder keeps what it holds: lace fsck --repair"
)
_WRITES = (
    "What is being written to the folder of {} is damaged in the store. A repair goes on with what the folder stands"
    " on, and a file that was changed keeps what it holds: lace fsck --repair"
)
_OF_TREE = "SELECT hash, tree FROM commits WHERE tree = ? ORDER BY hash = ? DESC, desk = ? DESC, p DESC LIMIT 1"


def unreadable(vault: Vault) -> list[BadThing]:
    """Name the rows of which no command can read what they say."""
    bad = []
    for desk, commit, tree, also in vault.store.rows("SELECT desk, commit_hash, tree, also FROM checkout"):
        if not (_is_hash(commit, "S") and _is_hash(tree, "P") and all(_is_hash(one, "S") for one in _words(also))):
            bad.append(BadThing("local", "checkout", "unreadable", _STANDS.format(desk)))
    for desk, before, after in vault.store.rows("SELECT desk, before, after FROM unfinished"):
        if not all(_is_hash(tree, "P") for tree in (before, after) if tree):
            bad.append(BadThing("local", "unfinished", "unreadable", _WRITES.format(desk)))
    bad += [BadThing("local", "desk", "unreadable", " ".join(no_path_words(desk))) for desk in no_paths(vault)]
    return bad


def settle_folders(vault: Vault, rotten: Collection[str]) -> None:
    """Write the rows anew that cannot be read, or are not as they were written and name what is not here.

    Inside a transaction, after the views were made anew. Where no commit can be told the row goes, and the folder is
    work that is not committed.

    Args:
        vault: whose.
        rotten: names of the tables that are not as they were written.
    """
    wrong = {thing.name for thing in unreadable(vault)} | set(rotten)
    if "checkout" in wrong:
        for row in vault.store.rows("SELECT desk, commit_hash, tree, also FROM checkout"):
            _settle_checkout(vault, *(str(value) for value in row))
    if "unfinished" in wrong:
        for row in vault.store.rows("SELECT desk, before, after FROM unfinished"):
            _settle_unfinished(vault.store, *(str(value) for value in row))


def _settle_checkout(vault: Vault, desk: str, commit: str, tree: str, also: str) -> None:
    store = vault.store
    head = line_head(store, vault.node.text, desk)
    mine = head.commit.text if head is not None else ""
    found = store.rows("SELECT hash, tree FROM commits WHERE hash = ?", commit) or store.rows(
        _OF_TREE, tree, mine, desk
    )
    if not found and _is_hash(commit, "S") and _is_hash(tree, "P"):
        found = [(commit, tree)]  # lost, and named as that
    found = found or store.rows("SELECT hash, tree FROM commits WHERE hash = ?", mine)
    if not found:
        store.run("DELETE FROM checkout WHERE desk = ?", desk)
        return
    beside = " ".join(one for one in _words(also) if store.rows("SELECT 1 FROM commits WHERE hash = ?", one))
    store.run("UPDATE checkout SET commit_hash = ?, tree = ?, also = ? WHERE desk = ?", *found[0], beside, desk)


def _settle_unfinished(store: Store, desk: str, before: str, after: str) -> None:
    if after and not _is_here(store, after):
        # What is written to a folder is what it stands on.
        trees = [str(row[0]) for row in store.rows("SELECT tree FROM checkout WHERE desk = ?", desk)]
        after = next((tree for tree in trees if _is_here(store, tree)), "")
        if not after:
            store.run("DELETE FROM unfinished WHERE desk = ?", desk)
            return
    # From nothing, a file that is in the folder and is not what comes counts as one that was changed.
    before = before if before and _is_here(store, before) else ""
    store.run("UPDATE unfinished SET before = ?, after = ? WHERE desk = ?", before, after, desk)


def _words(also: object) -> list[str]:
    return str(also).split()


def _is_here(store: Store, tree: str) -> bool:
    return _is_hash(tree, "P") and store.position(RecordHash.parse(tree)) is not None


def _is_hash(text: object, kind: str) -> bool:
    try:
        return RecordHash.parse(str(text)).kind == kind
    except RecordError:
        return False
