"""What a live exchange sends: shared records past a cursor in the order they became shared, or by name.

Only what is shared is found here at all, so a name that is not shared is answered as one that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from lazy.live.cursors import MARK_BYTES, ExposureCursor, Held
from transports.http.stream import BATCH_BYTES, StreamWriter
from vault.frames import RAW
from vault.records import RecordHash
from vault.records.hashes import MARKLINE_BYTES, is_record
from vault.store.database import select_in
from vault.store.packread import PackDamaged
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["amount", "list_after", "send_after", "send_named"]

_ROWS = 128  # records read from the store at a time: a few MiB at most
_NAMES = 4096  # in one frame
_PROVEN = 1000  # who asks for more did not get them damaged before
_CLOSE_BYTES = BATCH_BYTES - 16 * 1024  # a cut costs a batch twice, and what both sides say of themselves again

_STRETCH = 256 * 1024  # bytes of a pack that are read at once
_GAP = 64 * 1024  # bytes between two records that are read and passed over

# What rests in a pack as it is, is read from there by stretches; `stored` would read it one by one.
_LIES: Final = f"""b.p, {{}}, CASE WHEN f.form = {RAW} THEN f.pack END, f.at + k.at, ifnull(k.size, 0)"""
_BARE: Final = f"CASE WHEN f.form = {RAW} THEN NULL ELSE stored(b.p, b.bytes) END"
_AFTER: Final = f"""
SELECT e.at, b.kind, b.digest, {_LIES} FROM exposure e JOIN body b USING (p) LEFT JOIN packed k USING (p)
LEFT JOIN frame f ON f.id = k.frame WHERE e.at > ? AND e.at <= ? ORDER BY e.at LIMIT ?"""  # noqa: S608
_ALL_AFTER: Final = _AFTER.format(_BARE)
# Where some are left out their bytes are not read: what a reader just sent is much.
_SOME_AFTER: Final = _AFTER.format("NULL")
_BYTES = "SELECT stored(p, bytes) FROM body WHERE p = ?"
_NAMED: Final = f"""
SELECT 0, b.kind, b.digest, {_LIES.format(_BARE)} FROM body b JOIN shared USING (p) LEFT JOIN packed k USING (p)
LEFT JOIN frame f ON f.id = k.frame WHERE b.digest IN"""  # noqa: S608


class _Lies(NamedTuple):
    """A record to send: its place in the log, and its bytes or where in a pack they rest as they are.

    Its size is 0 where it rests in a row.
    """

    number: int
    kind: str
    digest: bytes
    p: int
    stored: bytes | None
    pack: int | None
    at: int
    size: int

    @property
    def name(self) -> RecordHash:
        """Its hash."""
        return RecordHash(self.kind, self.digest)


def amount(vault: Vault, after: int) -> tuple[int, int]:
    """Return how many shared records follow a position, and their bytes."""
    rows = vault.store.rows(
        "SELECT count(*), ifnull(sum(ifnull(k.size, length(b.bytes))), 0) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ?",
        after,
    )
    return int(rows[0][0]), int(rows[0][1])


def send_after(
    vault: Vault,
    writer: StreamWriter,
    after: int,
    top: ExposureCursor,
    leave_out: Set[RecordHash],
    watch: Watch,
    damaged: set[RecordHash],
) -> Iterator[int]:
    """Write what became shared after a position, a batch at a time; yield how many records went.

    Args:
        vault: whose they are.
        writer: takes the frames.
        after: the reader's cursor.
        top: the last position to send.
        leave_out: what came from the reader in this exchange, or was asked for by name.
        watch: cancel, and progress.
        damaged: takes the names of records that do not even begin as they should, or are gone; they are left out. Where
            it holds one, the reader is told no position behind it: see `Held`.
    """
    batch: list[bytes | memoryview] = []
    held = Held()
    size = done = moved = 0
    total, total_bytes = amount(vault, after) if after < top.at else (0, 0)
    while rows := vault.store.rows(_SOME_AFTER if leave_out else _ALL_AFTER, after, top.at, _ROWS):
        watch.cancelled()
        found = [_Lies(*row) for row in rows]
        wanted = [each for each in found if each.name not in leave_out] if leave_out else found
        for lies, stored in _read(vault, wanted, damaged):
            batch.append(stored)
            size += len(stored)
            held.passed(len(stored), is_damaged=bool(damaged))
            if size >= _CLOSE_BYTES:
                writer.records(batch)
                if not held:
                    writer.reached(lies.number, lies.digest[:MARK_BYTES])
                done, moved = done + len(batch), moved + size
                yield len(batch)
                batch, size = [], 0
                watch.travelled(done, total, moved, total_bytes, "send")
        after = found[-1].number
    if batch:
        writer.records(batch)
        yield len(batch)
    held.passed(0, is_damaged=bool(damaged))
    if not held:
        writer.reached(top.at, bytes.fromhex(top.mark).ljust(MARK_BYTES, b"\0"))
    yield 0


def send_named(
    vault: Vault, writer: StreamWriter, names: Iterable[RecordHash], watch: Watch, damaged: set[RecordHash]
) -> Iterator[int]:
    """Write the named records that are shared, a batch at a time; yield how many went.

    What came damaged is asked for again by its name. So where few are asked for each is proven, and `damaged` takes the
    names of those that fail. They are sent all the same, as long as they begin as they should: else whoever asked would
    not know why they did not come.
    """
    wanted = {name.digest: name for name in names}
    digests = list(wanted)
    for start in range(0, len(digests), _ROWS):
        watch.cancelled()
        batch: list[bytes | memoryview] = []
        size = 0
        found = [_Lies(*row) for row in select_in(vault.store.db, _NAMED, digests[start : start + _ROWS])]
        for lies, stored in _read(vault, [each for each in found if wanted[each.digest].kind == each.kind], damaged):
            if len(digests) <= _PROVEN and not is_record(lies.name, stored):
                damaged.add(lies.name)
            batch.append(stored)
            size += len(stored)
            if size >= _CLOSE_BYTES:
                writer.records(batch)
                yield len(batch)
                batch, size = [], 0
        if batch:
            writer.records(batch)
            yield len(batch)


def _read(vault: Vault, found: Sequence[_Lies], damaged: set[RecordHash]) -> Iterator[tuple[_Lies, bytes | memoryview]]:
    """Yield records with their stored bytes, which whoever gets them compares with their hashes; none that is lost.

    One whose first line is another's is as good as lost: whoever got it could not read on.
    """
    for lies, stored in _unproven(vault, found):
        if stored[:MARKLINE_BYTES] != lies.name.markline:
            damaged.add(lies.name)
        else:
            yield lies, stored


def _unproven(vault: Vault, found: Sequence[_Lies]) -> Iterator[tuple[_Lies, bytes | memoryview]]:
    """Yield records with what rests in their places; nothing for what is lost."""
    at = 0
    while at < len(found):
        if (stored := found[at].stored) is not None:
            yield found[at], stored
            at += 1
            continue
        run = _run(found, at)
        at += len(run)
        stretch = _stretch(vault, run)
        for lies in run:
            if stretch is not None:
                start = lies.at - run[0].at
                yield lies, stretch[start : start + lies.size]
            elif rows := vault.store.rows(_BYTES, lies.p):  # else it was let go of since it was found
                yield lies, bytes(rows[0][0])


def _run(found: Sequence[_Lies], at: int) -> Sequence[_Lies]:
    """Return the record with number `at`, and those after it that lie behind it in its pack."""
    first = last = found[at]
    end = at + 1
    if first.pack is not None:
        while end < len(found) and found[end].pack == first.pack and found[end].stored is None:
            gap = found[end].at - last.at - last.size
            if not 0 <= gap <= _GAP or found[end].at + found[end].size - first.at > _STRETCH:
                break
            last = found[end]
            end += 1
    return found[at:end]


def _stretch(vault: Vault, run: Sequence[_Lies]) -> memoryview | None:
    """Return the bytes of a pack from the first of some records to the last; None where each is read by itself."""
    first, last = run[0], run[-1]
    if first.pack is None:
        return None
    try:
        return memoryview(vault.store.packs.stretch(first.pack, first.at, last.at + last.size - first.at))
    except PackDamaged:  # which of them it is shows when each is read by itself
        return None


def list_after(vault: Vault, writer: StreamWriter, after: int, top: int) -> Iterator[int]:
    """Write the names of what became shared after a position."""
    while rows := vault.store.rows(
        "SELECT e.at, b.kind, b.digest FROM exposure e JOIN body b USING (p) WHERE e.at > ? AND e.at <= ?"
        " ORDER BY e.at LIMIT ?",
        after,
        top,
        _NAMES,
    ):
        after = int(rows[-1][0])
        writer.names(RecordHash(str(kind), bytes(digest)) for _, kind, digest in rows)
        yield len(rows)
