"""What a look at a vault found, in words for a person."""

from __future__ import annotations

from typing import NamedTuple

from vault.records import RecordHash

__all__ = ["BadThing", "FsckReport"]


class BadThing(NamedTuple):
    """One thing that is not as it must be.

    Args:
        kind: `record`, `audit`, `log`, `line`, `setting`, `key`, `local`, `file`, `pack`, `store` or `view`.
        name: which: a hash text, an entry's number, a setting's key, a table, a file.
        code: a stable word for what is wrong.
        message: a sentence for a person.
    """

    kind: str
    name: str
    code: str
    message: str


class FsckReport(NamedTuple):
    """What a check or a repair found.

    Args:
        ok: whether nothing is wrong now.
        records: bodies looked at.
        bad: what is wrong now.
        repaired: what was wrong before a repair and is not any more.
        lost: records that a repair, this one or one that was cut off, put aside because their bytes were damaged.
        notes: what may be meant so, such as an edited settings file; nothing is wrong for that.
    """

    ok: bool
    records: int
    bad: tuple[BadThing, ...]
    repaired: tuple[BadThing, ...] = ()
    lost: tuple[RecordHash, ...] = ()
    notes: tuple[BadThing, ...] = ()
