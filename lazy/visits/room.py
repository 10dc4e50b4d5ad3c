"""Room on a place, asked for before anything large is written there (fault 3)."""

from __future__ import annotations

from typing import Final, NamedTuple

from transports.address import AddressKind
from transports.errors import PlaceFull
from transports.mailbox import MailboxMedium
from vault.plural import bytes_text
from vault.vault import Vault

__all__ = ["LEAST", "Short", "require_room_at", "short_of_room"]

_SMALL_BYTES: Final = 1 << 20  # what is less is begun without asking
LEAST: Final = "CASE WHEN f.raw > 0 THEN k.size * f.stored / f.raw ELSE ifnull(k.size, length(b.bytes)) / 20 END"
"""Bytes that a record takes there at least: like content in packs here; of one in a row, a twentieth."""
# As it is stored, and as it will lie there at least.
_RESTING = f"""
SELECT ifnull(sum(ifnull(k.size, length(b.bytes))), 0), ifnull(sum({LEAST}), 0)
FROM exposure e JOIN body b USING (p) LEFT JOIN packed k USING (p) LEFT JOIN frame f ON f.id = k.frame
WHERE e.at > ? AND e.at <= ?"""  # noqa: S608 - of constants


class Short(NamedTuple):
    """What is about to be written to a place that has no room for it.

    Args:
        needed: bytes that it takes about, when it is compressed.
        free: bytes that are free.
    """

    needed: int
    free: int


def short_of_room(
    vault: Vault, medium: MailboxMedium, between: tuple[int, int], size: int, beside: int = 0
) -> Short | None:
    """Tell whether a place surely has no room for what goes there; nothing is written.

    Args:
        vault: whose mailbox it goes to.
        medium: the place.
        between: after which number of the exposure log, and up to which: what is compressed in it tells how well.
        size: stored bytes of what goes.
        beside: bytes that older records take at least that go with it.

    Returns:
        Both numbers; None where it fits, or nobody can tell.
    """
    if size + beside < _SMALL_BYTES:
        return None
    free = medium.free_bytes(vault.group, vault.node)
    if free is None or size + beside <= free:
        return None
    ((stored, least),) = vault.store.rows(_RESTING, *between)
    needed = size * int(least) // max(int(stored), 1) + beside
    return Short(needed, free) if needed > free else None


def require_room_at(vault: Vault, medium: MailboxMedium, between: tuple[int, int], size: int, beside: int = 0) -> None:
    """Refuse to begin what `short_of_room` tells of: it would be written, and removed again, at each visit.

    Raises:
        PlaceFull: there is less; the message names both numbers.
    """
    short = short_of_room(vault, medium, between, size, beside)
    if short is None:
        return
    needed, free = bytes_text(short.needed), bytes_text(short.free)
    message = f"What goes to {medium.describe()} needs about {needed}, and {free} are free"
    if medium.kind == AddressKind.GIT:
        way = "Free some space on this machine and run the same command again: what lies there stays valid."
        raise PlaceFull(f"{message} beside the vault, where it is made ready.", hint=way)
    raise PlaceFull(f"{message} there; nothing was written.")
