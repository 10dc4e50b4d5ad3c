"""The record table: one row a record, as plain values, in arrival order.

This is the base that every other table of an export is projected from. Private audit records are told apart by their
group; content is never in a row, only its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vault.records import RecordHash
from vault.store import Store

__all__ = ["RecordRow", "record_rows"]


class RecordRow(NamedTuple):
    """One record.

    Args:
        position: arrival position in this vault.
        hash: hash text, `S.<43>.H3`; what tables join on.
        group: its Group.
        app: its App.
        name: its Name; None for content and trees, whose Name is a digest.
        signer: verifier text, or None for an unsigned record.
        tai: TAI text, or None for an unsigned record.
        size: bytes of the embedded Blob.
    """

    position: int
    hash: str
    group: str
    app: str
    name: str | None
    signer: str | None
    tai: str | None
    size: int


def record_rows(store: Store, *, after: int = 0) -> Iterator[RecordRow]:
    """Yield the rows of records that arrived after a position; the same store gives the same rows (APP-8)."""
    for p, kind, digest, group, app, name, signer, tai, size in store.rows(
        "SELECT b.p, b.kind, b.digest, g.s, a.s, r.name, v.s, r.tai, r.size FROM body b JOIN rec r USING (p)"
        " JOIN sym g ON g.id = r.grp JOIN sym a ON a.id = r.app LEFT JOIN sym v ON v.id = r.signer"
        " WHERE b.p > ? ORDER BY b.p",
        after,
    ):
        yield RecordRow(p, RecordHash(kind, bytes(digest)).text, group, app, name, signer, tai, size)
