"""Content that is missing here, as whoever asked for it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vault.desks.chunks import MissingObject
from vault.vault import Vault

__all__ = ["told_if_missing"]


@contextmanager
def told_if_missing(vault: Vault) -> Iterator[None]:
    """Say for a block why content is not here, and whether it may come, in place of the bare error."""
    try:
        yield
    except MissingObject as error:
        from lazy.address import awaited  # noqa: PLC0415 - mostly all of it is here
        from vault.content.keeping import explained  # noqa: PLC0415

        raise awaited(vault, error) or explained(vault.store, error) from error
