"""The mark on disk: owner-only, outside the vault, flushed at each step (docs/formats.md section 5, APP-13).

What a mark says, and what follows from it, is `vault.identity.mark`. Callers hold the vault's lock.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from vault.errors import DataError
from vault.files import FileMissing, make_directory, read_bounded, write_atomic
from vault.identity.mark import MarkDamaged, MarkState
from vault.records.hashes import Verifier

__all__ = ["MarkFile", "make_marks", "mark_path"]

_FILE_LIMIT = 1024  # bytes


@lru_cache(maxsize=4)
def _decoded(data: bytes) -> MarkState:
    """Return what the bytes of a mark say; they are read at each action, and mostly say what they said before."""
    return MarkState.decode(data)


def mark_path(root: str | os.PathLike[str], vault: str) -> Path:
    """Return where the mark of a vault instance lies under a data root."""
    return Path(root) / "marks" / f"{vault}.mark"


def make_marks(root: str | os.PathLike[str]) -> None:
    """Make the directory of marks under a data root.

    Raises:
        DiskFull, NotWritable: it cannot be made.
    """
    make_directory(Path(root) / "marks", 0o700)


class MarkFile:
    """A mark's file, replaced atomically.

    The order is `begin`, then `intent` and `done` in turn; another order is a fault of the program and raises
    RuntimeError.

    Args:
        path: see `mark_path`.
        vault: the vault instance, 32 hex digits.
    """

    def __init__(self, path: str | os.PathLike[str], vault: str) -> None:
        self.path = Path(path)
        self.vault = vault

    def load(self) -> MarkState | None:
        """Return what the file says, or None when there is none.

        Raises:
            MarkDamaged: it is not well-formed, or belongs to another vault.
            Unreadable: it cannot be read.
        """
        try:
            state = _decoded(read_bounded(self.path, _FILE_LIMIT))
        except FileMissing:
            return None
        except (DataError, MarkDamaged) as error:
            raise MarkDamaged(f"The mark {self.path} is damaged: {error}") from error
        if state.vault != self.vault:
            raise MarkDamaged(f"The mark {self.path} belongs to another vault.")
        return state

    def begin(
        self,
        machine: str,
        node: Verifier,
        seq: int = 0,
        digest: bytes | None = None,
        prev: bytes | None = None,
    ) -> MarkState:
        """Write a new mark in place of any old one: for a fresh vault, and for a node after `lace adopt`.

        Args:
            machine: id of this machine, 32 hex digits.
            node: the vault's node.
            seq: its newest committed log entry, 0 for none.
            digest: that entry's Plex digest; None for none.
            prev: Plex digest of the entry before it; None for the first.

        Raises:
            DiskFull, NotWritable: the mark cannot be written.
        """
        return self._write(
            MarkState(
                vault=self.vault,
                machine=machine,
                node=node,
                intent_seq=seq,
                intent_prev=prev,
                intent_digest=digest,
                done_seq=seq,
                done_digest=digest,
            )
        )

    def intent(self, seq: int, prev: bytes | None, digest: bytes) -> MarkState:
        """Say that an entry is about to be signed; a pending intent of the same number is replaced.

        Raises:
            DiskFull, NotWritable: the mark cannot be written; the entry must not be signed.
        """
        state = self._required()
        if seq != state.done_seq + 1 or prev != state.done_digest:
            raise RuntimeError(f"log entry {seq} does not follow the mark's entry {state.done_seq}")
        return self._write(replace(state, intent_seq=seq, intent_prev=prev, intent_digest=digest))

    def done(self, seq: int, digest: bytes) -> MarkState:
        """Say that the store has committed the intended entry; said twice, it does nothing.

        Raises:
            DiskFull, NotWritable: the mark cannot be written; the entry must not leave the vault yet.
        """
        state = self._required()
        if (seq, digest) != (state.intent_seq, state.intent_digest):
            raise RuntimeError(f"log entry {seq} was not intended")
        if not state.is_pending:
            return state
        return self._write(replace(state, done_seq=seq, done_digest=digest))

    def catch_up(self, seq: int, digest: bytes, prev: bytes | None = None) -> MarkState:
        """Raise the mark to the vault's newest own entry, for the verdict AHEAD.

        Args:
            seq: number of that entry, above `done`.
            digest: its Plex digest.
            prev: Plex digest of the entry before it; None for the first.

        Raises:
            DiskFull, NotWritable: the mark cannot be written.
        """
        state = self._required()
        if seq <= state.done_seq:
            raise RuntimeError(f"a mark at entry {state.done_seq} never goes back to {seq}")
        return self.begin(state.machine, state.node, seq, digest, prev)

    def _required(self) -> MarkState:
        state = self.load()
        if state is None:
            raise RuntimeError("a mark is begun before it is used")
        return state

    def _write(self, state: MarkState) -> MarkState:
        make_directory(self.path.parent, 0o700)
        write_atomic(self.path, state.encode(), mode=0o600)
        return state
