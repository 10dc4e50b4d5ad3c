"""An act of which nobody was told: its command was killed after it took effect (APP-13, APP-4).

The same `undo` run again would take back the act before, and the same `release`, `resolve` or `admit` be refused as
done already.
So each notes in its own write what it was asked and what came of it; the note goes once the answer is out. Who asks the
same before anything else was done here is given that answer, as long as what came of it still stands: what only visits
and servers do ends no note. What a command does with it is `lace_tui.cli.unanswered`'s.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lazy.folder.acts import has_acted_since, last_entry
from lazy.folder.left_out import left_out
from lazy.folder.moving import paths_moved
from vault.desks.plan import Skip
from vault.desks.tree import lookup
from vault.errors import LaceError
from vault.folder.checkout_journal import left_as_they_are, noted_trees
from vault.lock import LOCK_SECONDS
from vault.notes.own import RELEASE_UNANSWERED, UNANSWERED, Unanswered
from vault.records import RecordHash
from vault.store.database import StoreDamaged
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["AGAIN", "RELEASE", "forget_answer", "moved_again", "note_answer", "unanswered"]

AGAIN = "The same command did it before, and was cut off."
RELEASE = "release"  # whose note has a name of its own in vaults
_LOOK = "Run: lace fsck --repair, and see with lace log whether it was done before you do it again."


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
    trees = noted_trees(vault, moved) if moved else None
    moves = [moved, *(tree.text if tree is not None else "" for tree in trees)] if trees is not None else []
    told = Unanswered(last_entry(w.store), list(asked), dict(made), moves)
    if verb == RELEASE:
        w.store.set_note(RELEASE_UNANSWERED, told)
    else:
        w.store.set_note(UNANSWERED, told, verb)


def unanswered(
    vault: Vault, verb: str, asked: Sequence[object], *, outlives_acts: bool = False
) -> dict[str, Any] | None:
    """Return what came of the same words, where nobody was told of it and nothing was done here since; else None.

    Args:
        vault: where.
        verb: as it is typed.
        asked: its words.
        outlives_acts: whether the verb itself tells by what stands that nothing of this was done since.

    Raises:
        StoreDamaged: the note rotted, so that it is not known whether it was done (APP-13); a release is made again,
            and refused where it was.
    """
    try:
        known = vault.store.note(RELEASE_UNANSWERED) if verb == RELEASE else vault.store.note(UNANSWERED, verb)
    except StoreDamaged as error:
        raise StoreDamaged(f"What the last lace {verb} came to cannot be read.", hint=_LOOK) from error
    if known is None or known.asked != list(asked):
        return None
    if not outlives_acts and has_acted_since(vault.store, known.after):
        return None
    return {**known.made, "moves": known.moves}


def forget_answer(vault: Vault, verb: str) -> None:
    """Take note that the answer is out, as soon as nobody else writes: else the next act is taken for this one."""
    note, about = (RELEASE_UNANSWERED, "") if verb == RELEASE else (UNANSWERED, verb)
    if vault.store.has_note(note, about):
        with suppress(LaceError), vault.lock.held(timeout=LOCK_SECONDS), vault.store.transaction():
            vault.store.drop_note(note, about)


class MovedAgain(NamedTuple):
    """What a noted act made of the folder.

    Args:
        written: paths it wrote.
        deleted: paths it deleted.
        kept: paths it left as somebody saved them.
        left_out: paths that came and were not written.
    """

    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    left_out: tuple[Skip, ...] = ()


def moved_again(vault: Vault, moves: Sequence[str]) -> MovedAgain:
    """Return what a noted act made of the folder; of what is not written it says all that it brought."""
    if not moves:
        return MovedAgain()
    desk, *texts, after = moves
    before = next((RecordHash.parse(text) for text in texts if text), None)
    written, deleted = paths_moved(vault.store, before, RecordHash.parse(after))
    came = set(written)
    out = tuple(skip for skip in left_out(vault, desk, {}) if skip.path in came)
    former = [skip.path for skip in out if before is not None and lookup(vault.store, before, skip.path) is not None]
    kept = left_as_they_are(vault, desk)
    stay = {*kept, *(skip.path for skip in out)}
    return MovedAgain(_without(written, stay), _without((*deleted, *former), kept), kept, out)


def _without(paths: Sequence[str], kept: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if path not in kept))
