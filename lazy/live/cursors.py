"""Cursors: how far somebody has read an exposure log, and which ones are remembered of a peer (DWN-13).

A cursor is a number in the sender's exposure log, under the log's epoch: everything up to it was taken. It belongs to
the reader (decision 8); the sender keeps the last one it was told only to spare a trip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vault.notes.own import EPOCH
from vault.records import Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "MARK_BYTES",
    "ExposureCursor",
    "Held",
    "PeerCursors",
    "known",
    "mark_at",
    "note_cursors",
    "place_of",
]

_AGAIN_BYTES = 16 << 20  # of what follows a damaged record, and comes once more until that is mended; no more than that
MARK_BYTES = 8  # of a record's digest, which tell it from the one that another log has at its place


class ExposureCursor(NamedTuple):
    """A place in an exposure log.

    Args:
        epoch: of the log; another epoch is another log.
        at: the highest number that was taken.
        mark: of the record with that number; a log that was restored has another one there.
    """

    epoch: str
    at: int
    mark: str = ""

    def reaches(self, other: ExposureCursor) -> bool:
        """Tell whether what follows another place of the same log leaves no gap behind this one (DWN-13).

        Raises:
            ValueError: they are places of two logs, whose numbers say nothing of each other; a fault of the program.
        """
        if self.epoch != other.epoch:
            raise ValueError("places of two logs are never compared")
        return other.at <= self.at


class Held:
    """Whether a cursor stays before a record that was damaged, so that it comes once it is whole again.

    It stays for as long as little follows: what is mended by a repair comes in any case, at another place of the log.
    """

    def __init__(self) -> None:
        self._is_behind = False
        self._bytes = 0

    def passed(self, size: int, *, is_damaged: bool) -> None:
        """Take note of bytes that went, or of a record that is damaged."""
        self._is_behind |= is_damaged
        self._bytes += size if self._is_behind else 0

    def __bool__(self) -> bool:
        return self._is_behind and self._bytes <= _AGAIN_BYTES


class PeerCursors(NamedTuple):
    """What is remembered of a peer: my cursor on its log, and its cursor on mine as it last said."""

    mine: ExposureCursor | None
    theirs: ExposureCursor | None


def mark_at(vault: Vault, at: int) -> str:
    """Return the mark of the record at a place of this vault's exposure log; empty where there is none."""
    rows = vault.store.rows("SELECT b.digest FROM exposure JOIN body b USING (p) WHERE at = ?", at)
    return bytes(rows[0][0])[:MARK_BYTES].hex() if rows else ""


def place_of(vault: Vault, cursor: ExposureCursor | None) -> int | None:
    """Return how far a reader's cursor reaches in this vault's exposure log; None when it is of another log."""
    if cursor is None or cursor.epoch != vault.store.note(EPOCH):
        return None
    return cursor.at if not cursor.at or cursor.mark == mark_at(vault, cursor.at) else None


def known(vault: Vault, peer: Verifier) -> PeerCursors:
    """Return what is remembered of a peer."""
    row = _row(vault, peer)
    if row is None:
        return PeerCursors(None, None)
    epoch, at, mark, their_epoch, their_at, their_mark = row
    return PeerCursors(_cursor(epoch, at, mark), _cursor(their_epoch, their_at, their_mark))


def _cursor(epoch: object, at: int, mark: object) -> ExposureCursor | None:
    """Return a cursor as it is noted; None where there is none, or its number became one that no log has (APP-13)."""
    return ExposureCursor(str(epoch), at, str(mark)) if epoch and at >= 0 else None


def note_cursors(
    w: Writer, peer: Verifier, *, mine: ExposureCursor | None = None, theirs: ExposureCursor | None = None
) -> None:
    """Remember cursors of a peer; what is None stays."""
    before = _row(w, peer)
    after = list(before or ("", 0, "", "", 0, ""))
    if mine is not None:
        after[:3] = mine.epoch, mine.at, mine.mark
    if theirs is not None:
        after[3:] = theirs.epoch, theirs.at, theirs.mark
    if before is None or list(before) != after:
        w.store.run("INSERT OR REPLACE INTO live VALUES (?, ?, ?, ?, ?, ?, ?)", peer.text, *after)


def _row(at: Vault | Writer, peer: Verifier) -> tuple[Any, ...] | None:
    rows = at.store.rows(
        "SELECT epoch, at, mark, their_epoch, their_at, their_mark FROM live WHERE node = ?", peer.text
    )
    return tuple(rows[0]) if rows else None
