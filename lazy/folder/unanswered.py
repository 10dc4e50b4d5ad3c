"""An undo or a decision of which nobody was told: its command was killed after it took effect (APP-13, APP-4).

The same `undo` run again would take back the act before, and the same `resolve` say that a decision is not made twice.
So each notes in its own write what it was asked and what came of it; the note goes once the answer is out. Who asks the
same before anything else was done here is given that answer. A release has a note of its own (`vault.unreported`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from lazy.folder.moving import paths_moved
from lazy.folder.undo import SILENT
from vault.errors import LaceError
from vault.folder.noted import left_as_they_are, noted_trees
from vault.records import RecordHash
from vault.vault import Vault
from vault.writer import Writer

AGAIN = "The same command did it before, and was cut off."
__all__ = ["AGAIN", "forget_answer", "moved_again", "note_answer", "unanswered"]

_KEY = "unanswered "  # setting of the store, with the verb
_LOCK_SECONDS = 600.0  # as long as that next act would wait


def note_answer(
    w: Writer, vault: Vault, verb: str, asked: Sequence[object], made: Mapping[str, Any], moved: str = ""
) -> None:
    """Note, inside the write of an act, that nobody was told of it yet.

    Args:
        w: the write, at its end.
        vault: where.
        verb: as it is typed.
        asked: its words, as JSON holds them.
        made: what came of it, as JSON holds it.
        moved: the desk whose folder follows once the write committed; empty where none does.
    """
    w.flush()
    after = w.store.rows("SELECT ifnull(max(seq), 0) FROM audit")[0][0]
    trees = noted_trees(vault, moved) if moved else None
    moves = [moved, *(tree.text if tree is not None else "" for tree in trees)] if trees is not None else []
    w.store.set_meta(_KEY + verb, json.dumps([int(after), list(asked), dict(made), moves]))


def unanswered(vault: Vault, verb: str, asked: Sequence[object]) -> dict[str, Any] | None:
    """Return what came of the same words, where nobody was told of it and nothing was done here since; else None."""
    known = vault.store.meta(_KEY + verb)
    if not known:
        return None
    after, words, made, moves = json.loads(known)
    since = {str(act) for (act,) in vault.store.rows("SELECT verb FROM audit WHERE seq > ?", after)}
    return {**made, "moves": moves} if words == list(asked) and since <= SILENT else None


def forget_answer(vault: Vault, verb: str) -> None:
    """Take note that the answer is out, as soon as nobody else writes: else the next act is taken for this one."""
    if vault.store.meta(_KEY + verb):
        with suppress(LaceError), vault.lock.held(timeout=_LOCK_SECONDS), vault.store.transaction():
            vault.store.drop_meta(_KEY + verb)


def moved_again(vault: Vault, moves: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the paths that a noted act wrote and deleted in the folder, and those it left as somebody saved them."""
    if not moves:
        return (), (), ()
    desk, before, after = moves
    kept = left_as_they_are(vault, desk)
    written, deleted = paths_moved(vault.store, RecordHash.parse(before) if before else None, RecordHash.parse(after))
    return _without(written, kept), _without(deleted, kept), kept


def _without(paths: Sequence[str], kept: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if path not in kept))
