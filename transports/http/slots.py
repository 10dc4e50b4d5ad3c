"""Exchanges under way in a live server: how many, whose, and which of them outlived their lines (CYB-17).

What came before a line was cut is taken in still. Whoever comes again meanwhile would be told how far they got before
that, and send it all again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from transports.http.guarded import GuardedProtocol
from vault.records.hashes import Verifier

__all__ = ["Slots"]

_ENDING_SECONDS = 5.0  # that an exchange has to end after its line
_UNHEARD_SECONDS = 0.5  # that a line which its client knows to be cut has to end here, too
_LOOK_SECONDS = 0.02


class _Taken(NamedTuple):
    """One slot: over which line it was taken, and what is set once it is free."""

    line: GuardedProtocol
    free: asyncio.Event


class Slots:
    """Counts exchanges; for one loop.

    Args:
        most: at once.
        each: of them for one node.
    """

    def __init__(self, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._taken: dict[Verifier, list[_Taken]] = {}

    def __bool__(self) -> bool:
        """Whether some exchange is under way; from any thread."""
        return bool(self._taken)

    def has_room(self, who: Verifier) -> bool:
        """Tell whether this node may begin another one."""
        return sum(map(len, self._taken.values())) < self._most and len(self._taken.get(who, ())) < self._each

    @asynccontextmanager
    async def one(self, who: Verifier, line: GuardedProtocol) -> AsyncIterator[None]:
        """Take a slot for the block, which begins once what this node sent over lines that are gone was taken in."""
        mine = self._taken.setdefault(who, [])
        earlier = list(mine)
        slot = _Taken(line, asyncio.Event())
        mine.append(slot)
        try:
            await _all_set(await _cut(earlier))
            yield
        finally:
            slot.free.set()
            mine.remove(slot)
            if not mine:
                del self._taken[who]


async def _cut(earlier: Sequence[_Taken]) -> list[asyncio.Event]:
    """Return the ends of those exchanges whose lines are gone; a client may hear a moment before us that one is."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _UNHEARD_SECONDS
    while any(not (slot.free.is_set() or slot.line.is_gone) for slot in earlier) and loop.time() < until:
        await asyncio.sleep(_LOOK_SECONDS)
    return [slot.free for slot in earlier if slot.line.is_gone]


async def _all_set(events: Sequence[asyncio.Event]) -> None:
    """Wait until all are set, but not for ever: who comes again may bring other things than before."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_ENDING_SECONDS):
            for event in events:
                await event.wait()
