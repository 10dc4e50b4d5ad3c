"""The files that are for people to read, and digests of what lace wrote in them (APP-13, LAZ-79).

`lazy.files` writes them below `READABLE`; by the digests, which the store keeps, a check can tell what changed since.
What is about to be written is noted first and counts beside what was written before, so a crash in between leaves
nothing that looks damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from blake3 import blake3

from vault.errors import LaceError
from vault.files import FileMissing, read_bounded
from vault.notes.own import WRITTEN_READABLE
from vault.vault import READABLE

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["changed_readable", "note_readable", "was_noted"]

_LIMIT = 64 << 20  # bytes of one file
_SUM_CHARACTERS = 32


def note_readable(vault: Vault, wanted: Mapping[str, bytes]) -> None:
    """Remember the files below `READABLE` that are about to be written.

    Args:
        vault: whose they are.
        wanted: every file that will be there, by its path below that directory.
    """
    known = _known(vault)
    files: list[tuple[str, ...]] = []
    for name, data in sorted(wanted.items()):
        there = _digest_there(vault, name)
        before = (there,) if there in known.get(name, ()) and there != _sum(data) else ()
        files.append((name, _sum(data), *before))
    if any(_sum(data) not in known.get(name, ()) for name, data in wanted.items()):
        with vault.store.transaction():
            vault.store.set_note(WRITTEN_READABLE, tuple(files))


def was_noted(vault: Vault) -> bool:
    """Tell whether lace ever wrote files that are for people to read here."""
    return bool(vault.store.note(WRITTEN_READABLE))


def changed_readable(vault: Vault) -> Iterator[str]:
    """Yield the files below `READABLE` that are not as lace wrote them; one that was deleted is none."""
    for name, digests in sorted(_known(vault).items()):
        there = _digest_there(vault, name)
        if there and there not in digests:
            yield name


def _known(vault: Vault) -> dict[str, tuple[str, ...]]:
    return {name: tuple(digests) for name, *digests in vault.store.note(WRITTEN_READABLE)}


def _digest_there(vault: Vault, name: str) -> str:
    try:
        return _sum(read_bounded(vault.dot / READABLE / name, _LIMIT))
    except FileMissing:
        return ""
    except (LaceError, ValueError):
        return "unreadable"


def _sum(data: bytes) -> str:
    return blake3(data).hexdigest()[:_SUM_CHARACTERS]
