"""Who stands at a live server's door before a handshake, and who goes where too many do (faults.md row 9)."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.live.test_slots import is_closed
from transports.http.guarded import Doorstep, source_of

_MOST = 4
_OLDEST, _NEXT = bytes(8), (1).to_bytes(8, "big")  # lots


class _Street:
    """A doorstep, and who came to it."""

    def __init__(self, lot: bytes) -> None:
        self._step = Doorstep(socket.create_server(("127.0.0.1", 0)), _MOST, lambda size: lot[:size])
        self.lines: list[tuple[socket.socket, socket.socket]] = []

    def come(self, host: str = "127.0.0.1") -> None:
        """Let one more come."""
        line = socket.create_connection(self._step.getsockname(), 10, source_address=(host, 0))
        self.lines.append((line, self._step.accept()[0]))

    def stay(self) -> list[int]:
        """Return which of them are not turned away."""
        return [number for number, (line, _) in enumerate(self.lines) if not is_closed(line)]

    def close(self) -> None:
        """End it all."""
        for line in (each for both in self.lines for each in both):
            line.close()
        self._step.close()


def _on(lot: bytes, run: Callable[[_Street], None]) -> None:
    async def within() -> None:
        with closing(_Street(lot)) as street:
            run(street)

    asyncio.run(within())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_who_comes_by_many_connections_turns_away_their_own_only() -> None:
    """A friend who is slow stays, however many open a line and say nothing."""

    def run(street: _Street) -> None:
        street.come()
        for _ in range(3 * _MOST):
            street.come("127.0.0.2")
        assert street.stay() == [0, *range(3 * _MOST - _MOST + 2, 3 * _MOST + 1)]

    _on(_OLDEST, run)


@pytest.mark.parametrize(("lot", "stay"), [(_OLDEST, [1, 2, 3, 4]), (_NEXT, [0, 2, 3, 4])])
def test_behind_one_address_it_falls_by_lot_among_the_older_half(lot: bytes, stay: list[int]) -> None:
    """So a friend who is slow has a chance behind the router of who opens line after line."""

    def run(street: _Street) -> None:
        for _ in range(_MOST + 1):
            street.come()
        assert street.stay() == stay

    _on(lot, run)


def test_who_went_by_themselves_take_nobody_s_place() -> None:
    """They count no more though their descriptors went to others."""

    def run(street: _Street) -> None:
        for _ in range(_MOST):
            street.come()
        for _, ours in street.lines[1:]:
            ours.close()
        taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(_MOST)]
        for _ in range(_MOST - 1):
            street.come()
        for number in taken:
            os.close(number)
        assert street.stay() == [0, *range(_MOST, 2 * _MOST - 1)]

    _on(_OLDEST, run)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:1:2:3", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%lo", "fe80::2%lo", True),
    ],
)
def test_what_counts_as_one_source(one: str, other: str, is_same: bool) -> None:
    """Of IPv6 a line has 64 bits at least, so each of its addresses is one more name for the same."""
    assert (source_of(one) == source_of(other)) is is_same
