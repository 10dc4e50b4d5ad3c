"""Content that is missing here, as whoever asked for it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vault.commands import as_typed
from vault.desks.chunks import MissingObject
from vault.vault import Vault

__all__ = ["told_if_missing"]


@contextmanager
def told_if_missing(vault: Vault, *wanted: str) -> Iterator[None]:
    """Say for a block why content is not here, and whether it may come, in place of the bare error.

    Args:
        vault: where it is not.
        wanted: the address that was read, and perhaps the path, as they were typed; for the command that asks for it.
    """
    try:
        yield
    except MissingObject as error:
        from lazy.address import awaited  # mostly all of it is here
        from vault.content.keeping import LetGo, explained

        told = awaited(vault, error) or explained(vault.store, error)
        if isinstance(told, LetGo) and wanted:
            told.hint = f"Ask for it with: {as_typed('fetch', *wanted)} - then: lace sync"
        raise told from error
