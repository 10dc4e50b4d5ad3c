"""The last act of a person here, as the audit trail tells of it, and what taking one back comes to (APP-4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from lazy.folder.acts import RESTORED, is_silent, last_entry
from vault.audit.entries import read_audit
from vault.desks.plan import Skip
from vault.errors import CallerError, DataError
from vault.records import Seal, parse_record
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["UNDO", "Act", "Noted", "NothingToUndo", "Undone", "acts_back", "last_act", "refuse_overtaken"]

UNDO: Final = "lace-undo"
"""Verb of the entry that says what was taken back."""

_LOOKED_AT = 200  # acts of the trail: older ones are not the last one
_TOGETHER = 200  # entries that are read at once
_ENTRIES = """
SELECT a.seq, a.verb, CAST(b.bytes AS BLOB) FROM audit a JOIN body b USING (p) WHERE a.seq <= ?
ORDER BY a.seq DESC LIMIT ?"""


class NothingToUndo(CallerError):
    """The last act cannot be taken back."""

    code = "nothing-to-undo"
    exit_code = 2
    hint = "See what happened with: lace audit list"


class Act(NamedTuple):
    """The last thing that somebody did here.

    Args:
        verb: of its audit entry.
        subject: what it was done to.
        parameters: of the entry.
        relates_to: of the entry: of an update the heads that it brought in.
    """

    verb: str
    subject: str
    parameters: dict[str, str]
    relates_to: tuple[str, ...] = ()


class Undone(NamedTuple):
    """What was taken back, or would be.

    Args:
        what: as a sentence; of a plan, what would be.
        desk: whose line got shorter; empty for a place.
        revision: the number that is free again.
        written: paths written in the folder, or that would be.
        deleted: paths deleted in it, or that would be.
        is_unfinished: of a plan: whether an update of the folder was cut off, which is finished first.
        kept: paths left as they are, since they were saved while the folder was written; or with what was there before
            merged in, of an undo that was cut off and went on.
        left_out: paths that came back and were not written, since no disk or not this one may hold them.
        lone: paths of what nothing else here would hold: edited since and written over, or held by the commit alone.
        kept_as: what these are kept as, to be read and brought back by; empty of a plan, and where there are none.
        pushed_out: the address of the state that is kept no more for it, or would be; empty where none is.
    """

    what: str
    desk: str = ""
    revision: int | None = None
    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    is_unfinished: bool = False
    kept: tuple[str, ...] = ()
    left_out: tuple[Skip, ...] = ()
    lone: tuple[str, ...] = ()
    kept_as: str = ""
    pushed_out: str = ""


Noted: TypeAlias = Callable[[Writer, Undone], object]
"""Told of what was taken back, inside the write that does it."""


def last_act(vault: Vault) -> Act | None:
    """Return the last act of a person that the trail tells of; visits and what they brought are none."""
    undone = 0
    for act in acts_back(vault):
        if act.verb == UNDO:
            undone += 1
        elif not undone:
            return act
        else:
            undone -= 1
    return None


def acts_back(vault: Vault) -> Iterator[Act]:
    """Yield what people did here, and what they took back, the newest first; not what only brought back what was gone.

    Raises:
        NothingToUndo: what was done next cannot be told, for its entry is lost or damaged.
    """
    newest, looked_at = last_entry(vault.store), 0
    after = newest + 1
    for seq, verb, stored in _entries(vault, newest):
        if int(seq) != after - 1:
            raise _untold(after - 1, "missing")
        after = int(seq)
        if is_silent(verb):
            continue
        if (looked_at := looked_at + 1) > _LOOKED_AT:
            return
        try:
            record = parse_record(bytes(stored), verify=False)
            entry = read_audit(record) if isinstance(record, Seal) else None
        except DataError:
            entry = None
        if entry is None:
            raise _untold(after, "damaged")
        if RESTORED not in (told := dict(entry.parameters)):
            yield Act(entry.verb, entry.object, told, entry.relates_to)


def _entries(vault: Vault, newest: int) -> Iterator[tuple[int, str, bytes]]:
    """Yield number, verb and record of entries, the newest first; of hundreds of visits in a row too."""
    end = newest
    while rows := vault.store.rows(_ENTRIES, end, _TOGETHER):
        yield from ((int(seq), str(verb), bytes(stored)) for seq, verb, stored in rows)
        end = int(rows[-1][0]) - 1


def _untold(seq: int, how: str) -> NothingToUndo:
    return NothingToUndo(
        f"What was done last cannot be told: entry {seq} of the audit trail is {how}.",
        hint="See what is wrong with the trail: lace audit verify",
    )


def refuse_overtaken(vault: Vault, act: Act, *, is_same: bool = True) -> None:
    """Refuse to take back an act that is not the last one any more: while this waited, another lace may have acted.

    Raises:
        NothingToUndo: it is not.
    """
    if last_act(vault) != act or not is_same:
        raise NothingToUndo("Something else was done here meanwhile.", hint="See what it was: lace audit list")
