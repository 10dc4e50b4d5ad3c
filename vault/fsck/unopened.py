"""What is mended of a store's files before anybody opens them: what lets SQLite read them wrongly, or not at all.

In this order, for each step reads what the one before may have had to make readable (`vault.states` has the rest of the
way): a file of which the disk does not give all, the write-ahead log beside it, the head of the store itself, which
says how many pages there are only where no log does.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vault.desks.paths import DOT_VAULT
from vault.fsck.report import BadThing
from vault.lock import LOCK_SECONDS
from vault.plural import plural
from vault.store.alone import closed_here
from vault.store.head import mend_head
from vault.store.sectors import mend_sectors
from vault.store.wal import mend_log
from vault.store.wal_look import Rot
from vault.surroundings import Surroundings
from vault.vault import lock_of

__all__ = ["DAMAGED", "MendedFirst", "mend_first"]

DAMAGED = "damaged"  # directory in `.vault` of what was put aside
_PATIENCE = 5.0  # seconds for what another thread reads, such as a page of the app
_STORE = "store.db"
_LOG = "store.db-wal"
_LOG_MENDED = "The write-ahead log of store.db had rotted: {} of it changed back, and nothing is lost."
_LOG_UNSURE = (
    "The write-ahead log of store.db had rotted in a bit, and nothing tells which of some it was. All that was written"
    " there is taken in; what that bit spoiled is looked for as all other damage. The log as it was lies in"
    " .vault/damaged."
)
_LOG_LOST = (
    "The write-ahead log of store.db had rotted, and {} written last before lace was killed cannot be read: drafts and"
    " what lace audit lists of that time are lost, and what friends have comes back with lace sync. The log as it was"
    " lies in .vault/damaged."
)
_SECTORS = (
    "The disk gives {} of {} no more, and the rest is all that a repair has. The file itself is kept in"
    " .vault/damaged where this disk can. Bring the vault to a sound disk."
)
_HEAD = BadThing(
    "store",
    _STORE,
    "head",
    "The head of store.db, by which SQLite knows how to read it, did not fit the file: it had rotted, or store.db was"
    " cut off.",
)
_IN_USE = BadThing(
    "store",
    _STORE,
    "in-use",
    "What SQLite reads store.db by was neither looked at nor mended, for this app has it open elsewhere, as while it"
    " serves friends. End that and repair again; or close the app and run: lace fsck --repair",
)


class MendedFirst(NamedTuple):
    """What was done of a store's files before anybody opened it.

    Args:
        mended: what was wrong with them.
        left: why they were left as they are.
    """

    mended: tuple[BadThing, ...] = ()
    left: tuple[BadThing, ...] = ()


def mend_first(folder: Path, around: Surroundings) -> MendedFirst:
    """Mend what lets SQLite read a store wrongly or not at all, before anybody opens it; return what that was.

    All of it is left as it is where a thread of this process has the store open for longer than it is waited for: they
    would go on in files that were replaced, and lose their locks on those that were not (`vault.store.alone`).

    Raises:
        Locked: another process kept the vault too long.
        NotWritable, DiskFull: as `vault.store.sectors.mend_sectors`, `vault.store.wal.mend_log` and
            `vault.store.head.mend_head`.
    """
    dot = folder / DOT_VAULT
    store, aside = dot / _STORE, dot / DAMAGED
    if not store.is_file():  # a pipe would be waited for; who opens it says so
        return MendedFirst()
    with closed_here(store, _PATIENCE) as is_closed:  # whoever has it open may write for long, and keep the lock
        if not is_closed:
            return MendedFirst(left=(_IN_USE,))
    with lock_of(dot, around).held(timeout=LOCK_SECONDS), closed_here(store, _PATIENCE) as is_closed:
        if not is_closed:
            return MendedFirst(left=(_IN_USE,))
        lost = mend_sectors(store, aside)
        rot = mend_log(store, aside)
        is_head = mend_head(store, aside)
    unread = [BadThing("store", name, "sector", _SECTORS.format(plural(n, "byte"), name)) for name, n in lost.items()]
    return MendedFirst((*unread, *([] if rot is None else [_told(rot)]), *([_HEAD] if is_head else [])))


def _told(rot: Rot) -> BadThing:
    """Say what was wrong with a log, and what is lost by it."""
    if rot.lost:
        text = _LOG_LOST.format(plural(rot.lost, "step"))
    else:
        text = _LOG_UNSURE if rot.unsure else _LOG_MENDED.format(plural(len(rot.flips), "bit"))
    return BadThing("store", _LOG, "log", text)
