"""The states that a vault may be found in, and the whole table of what each way of opening makes of them.

Theory of operation. Whoever opens a vault looks twice: at its files before SQLite has any of them, and at what the
store says once it is open. A repair alone mends before that, for SQLite would read files that rotted wrongly, or take
them away.

    any other command              lace fsck --repair, and the app's repair
        |                              |
        |                              |  vault.fsck.unopened.mend_first, under the vault's lock, while nobody here
        |                              |  has the store open: what the disk gives no more, then the write-ahead log,
        |                              |  then the head of the file
        |                              |
    Vault(folder)                  Vault(folder, mending=True)
        |                              |
        +------------------------------+
        |
        |  unopened: is the store there?                              absent, lost
        |
        |  Store, by vault.store.database.connect: a log that rotted, a file of a later lace, and one that another
        |  process keeps are refused there; a store that cannot be written is read, and one on a full disk is kept for
        |  this process alone
        |
        |  standing: whose is it, and has it records?                 unfinished, emptied, unnamed, unread, whole

    absent      no store, and nothing beside it says that there ever was one
    lost        no store, or a file of no bytes, and what lies beside it is only written once a vault is finished
    unfinished  a store that names no node and has no records; its set-up was cut off
    emptied     the same, and what lies beside it says that it was finished: its records are gone
    unnamed     a store with records that names no node: its records tell whose it is
    unread      a store in which nobody can read whose it is, or, where it names no node, whether it has records
    whole       a store that names its node

A vault is begun by `vault.beginning`, which goes by the same table where nothing beside the store says that it was
finished; it begins none where that is said. This file knows neither files nor stores.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

__all__ = ["ANSWERS", "Answer", "Opening", "Standing", "answer", "standing", "unopened"]


class Standing(StrEnum):
    """How a vault was found."""

    ABSENT = "absent"
    LOST = "lost"
    UNFINISHED = "unfinished"
    EMPTIED = "emptied"
    UNNAMED = "unnamed"
    UNREAD = "unread"
    WHOLE = "whole"


class Opening(StrEnum):
    """What it is opened for."""

    USE = "use"
    MEND = "mend"  # checked or repaired
    BEGIN = "begin"


class Answer(StrEnum):
    """What becomes of it."""

    OPENS = "opens"
    BEGINS = "begins"
    NO_VAULT = "no-vault"  # there is none
    UNFINISHED = "vault-unfinished"  # whoever began it begins it again
    DAMAGED = "store-damaged"  # a repair may help
    BEYOND = "beyond"  # no repair helps
    EXISTS = "vault-exists"


_OP, _BE, _NO, _UN = Answer.OPENS, Answer.BEGINS, Answer.NO_VAULT, Answer.UNFINISHED
_DA, _BY, _EX = Answer.DAMAGED, Answer.BEYOND, Answer.EXISTS

# fmt: off
_ROWS: dict[Standing, tuple[Answer, ...]] = {
    #                    use  mend begin
    Standing.ABSENT:     (_NO, _NO, _BE),
    Standing.LOST:       (_BY, _BY, _EX),
    Standing.UNFINISHED: (_UN, _UN, _BE),
    Standing.EMPTIED:    (_BY, _BY, _EX),
    Standing.UNNAMED:    (_DA, _OP, _EX),
    Standing.UNREAD:     (_DA, _OP, _DA),
    Standing.WHOLE:      (_OP, _OP, _EX),
}
# fmt: on

ANSWERS = MappingProxyType(
    {(found, how): cell for found, row in _ROWS.items() for how, cell in zip(Opening, row, strict=True)}
)
"""What becomes of a vault that was found so and is opened for that."""


def unopened(*, is_file: bool, has_bytes: bool, was_finished: bool) -> Standing | None:
    """Return how a vault stands by its files alone; None where the store has to be opened to know.

    Args:
        is_file: whether there is a file where the store should be.
        has_bytes: whether it has any.
        was_finished: whether something lies beside it that is only written once a vault is finished.
    """
    if was_finished and not has_bytes:
        return Standing.LOST
    return None if is_file else Standing.ABSENT


def standing(*, names_node: bool, has_records: bool, was_finished: bool) -> Standing:
    """Return how a vault stands whose store was opened and can be read.

    Args:
        names_node: whether it says whose it is.
        has_records: whether it has any.
        was_finished: as `unopened`.
    """
    if names_node:
        return Standing.WHOLE
    if has_records:
        return Standing.UNNAMED
    return Standing.EMPTIED if was_finished else Standing.UNFINISHED


def answer(found: Standing, how: Opening) -> Answer:
    """Return what becomes of a vault that was found so and is opened for that."""
    return ANSWERS[found, how]
