"""Making way on a disk without a free byte, where SQLite cannot even open the store as it does for every other command.

What whoever was cut off left in packs is given back (APP-13); nothing that anybody needs is touched.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from vault.desks.paths import DOT_VAULT
from vault.store.database import connect_exclusive, faults_named
from vault.store.packs import Packs
from vault.surroundings import Surroundings
from vault.vault import lock_of

__all__ = ["make_way"]


def make_way(folder: Path, around: Surroundings) -> int:
    """Free what belongs to nothing in the packs of a vault that nobody has open; return how many bytes.

    Raises:
        Locked, VaultBusy: somebody has it open.
        NotWritable, StoreDamaged, StoreUnwritable: it cannot be freed.
    """
    dot = folder / DOT_VAULT
    path = dot / "store.db"
    with lock_of(dot, around).held(timeout=0), faults_named(path), closing(connect_exclusive(path)) as db:
        packs = Packs(db, dot / "packs")
        before = sum(packs.left())
        packs.clear()
        return before - sum(packs.left())
