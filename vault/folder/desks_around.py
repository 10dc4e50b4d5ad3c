"""The note of a new desk of what its folder was to the desks around it; `virtual_base` says what for (CLAY-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vault.notes.folders import AROUND, DeskAround
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["note_around", "noted_around"]


def note_around(w: Writer, desk: str, path: str, folders: Mapping[str, str]) -> None:
    """Note of a new desk what its folder is to each desk around it; in the write that maps it.

    What it holds may have come by any of them: a desk that lies between may have been made a moment before.

    Args:
        w: the write.
        desk: the new one.
        path: of its folder, relative to the shared one.
        folders: of the other desks, the same, by desk; that of `main` is empty.
    """
    found: list[DeskAround] = []
    for around, folder in sorted(folders.items(), key=lambda one: len(one[1]), reverse=True):
        below = folder and f"{folder}/"
        if path.startswith(below):
            rows = w.store.rows("SELECT commit_hash FROM checkout WHERE desk = ?", around)
            found += (DeskAround(around, RecordHash.parse(str(commit)), path[len(below) :]) for (commit,) in rows)
    if found:
        w.store.set_note(AROUND, tuple(found), desk)


def noted_around(vault: Vault, desk: str) -> tuple[DeskAround, ...]:
    """Return what is noted of a desk, the innermost around it first; nothing where that rotted.

    Then what both added is asked about.

    It stays noted: an undo may take back what a friend's line brought, and where there is a commit that both lines
    stand on nobody asks.
    """
    return vault.store.note(AROUND, desk)
