"""Writing packs anew without what nobody needs (`lace prune`; docs/formats.md section 6).

What stays of a pack goes to a new one, which is flushed before the transaction that names it commits; the old file is
removed afterwards. Cut off anywhere, either the old packs count or the new ones do.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.store.packread import PackDamaged

if TYPE_CHECKING:
    from vault.store.store import Store
    from vault.watch import Watch

__all__ = ["Repacking", "plan_repack", "repack"]

_DEAD_SHARE: Final = 0.25  # of a pack's bytes: with less, writing the rest anew costs more than it gives
_LIVE = """
SELECT pack.id, pack.size, ifnull(sum(f.stored * 1.0 * (SELECT ifnull(sum(size), 0) FROM packed k WHERE k.frame = f.id
    AND k.p NOT IN (SELECT p FROM temp.prune_gone)) / f.raw), 0) FROM pack LEFT JOIN frame f ON f.pack = pack.id
GROUP BY pack.id ORDER BY pack.id"""
_MOVING = """
SELECT k.p, b.kind, b.digest, f.bases FROM packed k JOIN frame f ON f.id = k.frame JOIN body b ON b.p = k.p
WHERE f.pack = ? AND k.p NOT IN (SELECT p FROM temp.prune_gone) ORDER BY k.frame, k.at"""
_ONE = """
SELECT k.p, b.kind, b.digest, f.bases FROM packed k JOIN frame f ON f.id = k.frame JOIN body b ON b.p = k.p
WHERE k.p = ?"""


class Repacking(NamedTuple):
    """What writing packs anew would do, while `temp.prune_gone` holds the positions that go.

    Args:
        packs: numbers of the packs that are written anew or removed.
        staying: bytes of them that are written again, as they rest now; an estimate.
        freed: bytes of files that go; an estimate.
    """

    packs: tuple[int, ...]
    staying: int
    freed: int


def plan_repack(store: Store) -> Repacking:
    """Find the packs of which a large share is dead; changes nothing."""
    packs, staying, freed = [], 0, 0
    for pack, size, live in store.rows(_LIVE):
        if size > _MAGIC_BYTES and live < size * (1 - _DEAD_SHARE):
            packs.append(int(pack))
            staying += int(live)
            freed += int(size - live)
    return Repacking(tuple(packs), staying, freed)


_MAGIC_BYTES: Final = 8  # a pack of no more is empty


def repack(store: Store, plan: Repacking, gone: Collection[int], watch: Watch) -> None:
    """Write what stays of these packs into a new one, and what rests on records that go; inside the transaction.

    Args:
        store: before the records that go are forgotten.
        plan: from `plan_repack`.
        gone: positions of the records that go.
        watch: told of progress; a person may stop it, and nothing was changed.

    Raises:
        PackDamaged, BadFrame: bytes that stay are not whole; nothing was changed.
        DiskFull, NotWritable: the new pack cannot be written; nothing was changed.
    """
    leaving = set(gone)
    rows = [row for pack in plan.packs for row in store.rows(_MOVING, pack)]
    known = {int(row[0]) for row in rows}
    orphans = sorted(set(store.packs.resting_on(leaving)) - leaving - known)
    rows += [row for p in orphans for row in store.rows(_ONE, p)]
    if not rows and not plan.packs:
        return
    store.packs.begin_anew()
    for number, (p, kind, digest, numbers) in enumerate(rows):
        watch.cancelled()
        watch.progress(number, len(rows), "prune")
        record = RecordHash(str(kind), bytes(digest))
        found = store.packs.read(int(p)) or b""
        if not is_record(record, found):
            raise PackDamaged(f"The bytes stored for {record.text} are not that record, so no pack is written anew.")
        bases = store.packs.bases(int(p)) if numbers else []
        store.packs.take(int(p), found, () if leaving.intersection(bases) else bases)
    store.packs.finish()
