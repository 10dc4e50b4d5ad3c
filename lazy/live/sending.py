"""What a live exchange sends: shared records past a cursor in the order they became shared, or by name.

Only what is shared is found here at all, so a name that is not shared is answered as one that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from lazy.live.standing import MARK_BYTES, Cursor
from transports.http.stream import BATCH_BYTES, StreamWriter
from vault.records import RecordHash
from vault.store.database import select_in
from vault.vault import Vault
from vault.work import Watch

__all__ = ["amount", "list_after", "send_after", "send_named"]

_ROWS = 128  # records read from the store at a time: a few MiB at most
_NAMES = 4096
_CLOSE_BYTES = BATCH_BYTES - 16 * 1024  # a cut costs a batch twice, and what both sides say of themselves again

_AFTER = """
SELECT e.at, b.kind, b.digest, stored(b.p, b.bytes) FROM exposure e JOIN body b USING (p)
WHERE e.at > ? AND e.at <= ? ORDER BY e.at LIMIT ?"""
# Where some are left out their bytes are not read: what a reader just sent is much.
_AFTER_NAMES = """
SELECT e.at, b.kind, b.digest, b.p FROM exposure e JOIN body b USING (p)
WHERE e.at > ? AND e.at <= ? ORDER BY e.at LIMIT ?"""
_BYTES = "SELECT stored(p, bytes) FROM body WHERE p = ?"
_NAMED = """
SELECT b.kind, b.digest, stored(b.p, b.bytes) FROM body b JOIN shared USING (p) WHERE b.digest IN"""


def amount(vault: Vault, after: int) -> tuple[int, int]:
    """Return how many shared records follow a position, and their bytes."""
    rows = vault.store.rows(
        "SELECT count(*), ifnull(sum(ifnull(k.size, length(b.bytes))), 0) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ?",
        after,
    )
    return int(rows[0][0]), int(rows[0][1])


def send_after(
    vault: Vault, writer: StreamWriter, after: int, top: Cursor, leave_out: Set[RecordHash], watch: Watch
) -> Iterator[int]:
    """Write what became shared after a position, a batch at a time; yield how many records went.

    Args:
        vault: whose they are.
        writer: takes the frames.
        after: the reader's cursor.
        top: the last position to send.
        leave_out: what came from the reader in this exchange.
        watch: cancel, and progress.
    """
    batch: list[bytes] = []
    size = done = moved = 0
    total, total_bytes = amount(vault, after) if after < top.at else (0, 0)
    while rows := vault.store.rows(_AFTER_NAMES if leave_out else _AFTER, after, top.at, _ROWS):
        watch.cancelled()
        for at, kind, digest, found in rows:
            after = int(at)
            stored = found
            if leave_out:
                if RecordHash(str(kind), bytes(digest)) in leave_out:
                    continue
                stored = vault.store.rows(_BYTES, found)[0][0]
            batch.append(bytes(stored))
            size += len(stored)
            if size >= _CLOSE_BYTES:
                writer.records(batch)
                writer.reached(after, bytes(digest)[:MARK_BYTES])
                done, moved = done + len(batch), moved + size
                yield len(batch)
                batch, size = [], 0
                watch.travelled(done, total, moved, total_bytes, "send")
    if batch:
        writer.records(batch)
        yield len(batch)
    writer.reached(top.at, bytes.fromhex(top.mark).ljust(MARK_BYTES, b"\0"))
    yield 0


def send_named(vault: Vault, writer: StreamWriter, names: Iterable[RecordHash], watch: Watch) -> Iterator[int]:
    """Write the named records that are shared, a batch at a time; yield how many went."""
    wanted = {name.digest: name for name in names}
    digests = list(wanted)
    for start in range(0, len(digests), _ROWS):
        watch.cancelled()
        batch: list[bytes] = []
        size = 0
        for kind, digest, stored in select_in(vault.store.db, _NAMED, digests[start : start + _ROWS]):
            if wanted[bytes(digest)].kind != kind:
                continue
            batch.append(bytes(stored))
            size += len(stored)
            if size >= _CLOSE_BYTES:
                writer.records(batch)
                yield len(batch)
                batch, size = [], 0
        if batch:
            writer.records(batch)
            yield len(batch)


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
