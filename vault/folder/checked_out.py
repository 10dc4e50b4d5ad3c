"""What the folder of a desk stands on."""

from __future__ import annotations

from typing import NamedTuple

from vault.desk_folders import MAIN
from vault.records import RecordHash
from vault.records.errors import RecordError
from vault.store.database import StoreDamaged
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Checkout", "checkout_of", "contained", "noted_hash", "set_checkout"]


class Checkout(NamedTuple):
    """What the folder stands on: the parent of the next commit.

    Args:
        commit: the commit checked out.
        tree: its root tree.
        also: commits whose content the tree has: the same tree, or one that it was built on. The next commit names them
            as parents too, so that crossing merges die out.
    """

    commit: RecordHash
    tree: RecordHash
    also: tuple[RecordHash, ...] = ()


def checkout_of(vault: Vault, desk: str = MAIN) -> Checkout | None:
    """Return what the folder stands on, or None before the first commit.

    Raises:
        StoreDamaged: what is noted of it cannot be read.
    """
    return vault.store.answer(("checkout", desk), lambda: _checkout(vault, desk))


def _checkout(vault: Vault, desk: str) -> Checkout | None:
    row = vault.store.rows("SELECT commit_hash, tree, also FROM checkout WHERE desk = ?", desk)
    if not row:
        return None
    commit, tree, also = (str(value) for value in row[0])
    return Checkout(noted_hash(commit), noted_hash(tree), tuple(noted_hash(each) for each in also.split()))


def noted_hash(text: object) -> RecordHash:
    """Return a hash that the store notes of a folder.

    Raises:
        StoreDamaged: it cannot be read; a repair finds it again (APP-13).
    """
    try:
        return RecordHash.parse(str(text))
    except RecordError as error:
        raise StoreDamaged(f"What is noted of the folder is damaged: {error.message}") from error


def contained(checkout: Checkout | None) -> tuple[RecordHash, ...]:
    """Return the heads of all that a folder has: its commit, and what stands beside it; nothing without a checkout."""
    return (checkout.commit, *checkout.also) if checkout else ()


def set_checkout(w: Writer, desk: str, checkout: Checkout) -> None:
    """Record what the folder stands on from now."""
    w.store.run(
        "INSERT INTO checkout VALUES (?, ?, ?, ?) ON CONFLICT(desk) DO UPDATE"
        " SET commit_hash = excluded.commit_hash, tree = excluded.tree, also = excluded.also",
        desk,
        checkout.commit.text,
        checkout.tree.text,
        " ".join(commit.text for commit in checkout.also),
    )
