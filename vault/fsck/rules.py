"""What rotted of the store's notes of who may read and write: a repair lets out less than before (APP-13, CLAY-80).

No record carries it, and friends know nothing of it: what was meant is for the person to say again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from vault.desk_folders import desks
from vault.folder.desk_moves import left_behind, tell_left_behind_again
from vault.fsck.report import BadThing
from vault.kept_rows import RulesDamaged
from vault.notes.folders import LEFT_BEHIND
from vault.notes.note import Note
from vault.notes.rules import PERMITS
from vault.permits import permits, shut
from vault.vault import Vault

__all__ = ["damaged_rules", "settle_rules"]

_SAID: dict[Note[Any], str] = {
    PERMITS: "Who may read and write in the desk {} is damaged in the store: nothing of it is released or taken in. A"
    " repair lets nobody but you, until you set its rules again with lace desk permit: lace fsck --repair",
    LEFT_BEHIND: "What the desk {} has of folders that were moved is damaged in the store: nothing of it is released. A"
    " repair tells it again by the audit trail: lace fsck --repair",
}


def damaged_rules(vault: Vault) -> list[BadThing]:
    """Name what cannot be read of who may read and write."""
    return [
        BadThing("setting", note.key(desk.name), "damaged", _SAID[note].format(desk.name))
        for desk in desks(vault)
        for note in _rotten(vault, desk.name)
    ]


def settle_rules(vault: Vault, rotten: Collection[str]) -> None:
    """Let nobody else where rules rotted, and tell again what was left behind.

    Inside a transaction, after the views were made anew: the audit trail is one of them.

    Args:
        vault: whose.
        rotten: names of the tables that are not as they were written.
    """
    folders = {desk.name: desk.dir for desk in desks(vault)}
    for desk in folders:
        found = {*_rotten(vault, desk)}
        if "meta" in rotten:  # bytes that were no text are another name now, about which nobody made a rule
            found |= {note for note in _SAID if "\ufffd" in _text(vault, note.key(desk))}
        if PERMITS in found:
            shut(vault.store, desk)
        if LEFT_BEHIND in found:
            tell_left_behind_again(vault, desk, folders)


def _text(vault: Vault, key: str) -> str:
    return "".join(str(value) for (value,) in vault.store.rows("SELECT value FROM meta WHERE key = ?", key))


def _rotten(vault: Vault, desk: str) -> Iterator[Note[Any]]:
    try:
        permits(vault.store, desk)
    except RulesDamaged:
        yield PERMITS
    try:
        left_behind(vault, desk)
    except RulesDamaged:
        yield LEFT_BEHIND
