"""Whether a branch of one's own that moved stands at what was written there later, by a copy of this vault (CYB-17)."""

from __future__ import annotations

from transports.git.repository import Repository
from transports.git.tree import load_front, load_mailbox
from transports.mailbox import HEAD_FILE_LIMIT
from transports.snapshot import SnapshotHead
from vault.errors import DataError
from vault.records.hashes import Verifier
from vault.records.model import Seal
from vault.records.parse import parse_record

__all__ = ["follows", "is_set_back"]


def is_set_back(here: Repository, tip: str, mine: str) -> bool:
    """Tell whether a branch stands where it stood before, or at no later mailbox: somebody else brought it there.

    Whoever was cut off right after a push does not know of it; but what they pushed follows what they know, or begins
    the history anew. What a copy of this vault pushed was noted when it came (`Repository.note_mine`).
    """
    if tip == mine or not here.has(tip):
        return False
    if tip in here.behind(mine):
        return True
    try:
        if not follows(here, tip, mine):
            return True
        if _sealed(here, mine) is not None:
            return False
        return mine not in here.behind(tip) and load_mailbox(here, tip).commits > 1
    except DataError:
        return True


def follows(here: Repository, tip: str, mine: str) -> bool:
    """Tell whether a commit holds a mailbox that may have been written after mine, by its head.

    Of an encrypted head nothing can be read here; so one is enough.

    Raises:
        DataError: one of both holds none.
    """
    before = _sealed(here, mine)
    if before is None:
        return load_front(here, tip).head is not None or load_front(here, mine).head is None
    after = _sealed(here, tip)
    return after is not None and after[0] == before[0] and after[1] >= before[1]


def _sealed(here: Repository, tip: str) -> tuple[Verifier, int] | None:
    """Return who sealed the head of the mailbox that a commit holds, and its number; None where it cannot be read."""
    stored = load_front(here, tip).head
    if stored is None or stored.size > HEAD_FILE_LIMIT:
        return None
    try:
        record = parse_record(here.read([stored.oid], HEAD_FILE_LIMIT)[0])
        if not isinstance(record, Seal):
            return None
        return record.signer, SnapshotHead.read(record, record.plex.group).number
    except DataError:
        return None
