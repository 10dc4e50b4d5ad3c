"""Room on the disk, asked for before anything large is written (fault 3): nothing begun that cannot end."""

from __future__ import annotations

from pathlib import Path

from vault.errors import EnvironmentFault
from vault.surroundings import Surroundings

__all__ = ["NoRoom", "require_room"]

_WAY = "Free some space, for example with lace prune, and run the same command again"
_SPARE_BYTES = 16 << 20  # for the store's own log, the cache of a scan and whatever else writes meanwhile
_SMALL_BYTES = 16 << 20  # what is less is begun without asking, so that small work goes on near the end of a disk


class NoRoom(EnvironmentFault):
    """There is less room on the disk than what is about to be written needs."""

    code = "no-room"
    exit_code = 11
    hint = f"{_WAY}; nothing was changed."


def require_room(
    around: Surroundings,
    path: Path,
    needed: int,
    what: str,
    *,
    before: int = 0,
    is_part: bool = False,
    is_whole: bool = False,
) -> None:
    """Refuse to begin what the disk has no room for (fault 3).

    Args:
        around: tells how many bytes are free; where that cannot be told, nothing is refused.
        path: an existing directory on the file system that is written.
        needed: bytes that will be written, at most.
        what: for the sentence, for example "This checkout".
        before: bytes that were written for the same, part by part: all of it together is what is small or is not.
        is_part: whether something may have been taken in before, as by a sync: that stays, and is told.
        is_whole: whether what is begun has to be ended before anything else: then it is asked for however little.

    Raises:
        NoRoom: there is less; the message names both numbers.
    """
    is_small = before + needed < _SMALL_BYTES
    if is_small and not (is_whole and needed):
        return
    least = needed if is_small else needed + _SPARE_BYTES
    free = around.free_bytes(path)
    if free is not None and free < least:
        message = f"{what} needs up to {least} bytes in {path}, where {free} bytes are free."
        raise NoRoom(message, hint=f"{_WAY}: what came before stays." if is_part else "")
