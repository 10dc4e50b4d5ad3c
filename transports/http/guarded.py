"""A connection of the live server: closed where its request does not come in time, and what is told when one breaks.

What breaks on a line is nobody's news: friends go out of reach all day, and strangers scan ports. A fault of the loop
under the server is one, and whoever serves has to hear of it.
"""

from __future__ import annotations

import asyncio
import errno
import math
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from transports.http.thin import STEP_BYTES, has_ended, keep_little_unsent, unconfirmed
from vault.errors import LaceError
from vault.files import reason_of

__all__ = ["LINE", "REST", "Doorstep", "Faults", "GuardedProtocol", "source_of"]

LINE: Final = "lace.line"
"""Where a request's scope holds the protocol that it came by."""
REST: Final = "lace.rest"
"""Where it holds what came of a body that was cut and nobody read."""
_HEAD_SECONDS = 15.0  # for a handshake, and for a whole request head
_LOOK_SECONDS = 0.1  # between two looks whether a client moves, while the server ends
_STALLED_LOOKS = 10  # in a row without a byte: who moves still has the server's own patience
_TOLD = 20  # faults that one run tells of
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})  # of this machine, and of no line

_R = TypeVar("_R")


class Faults:
    """Tells of what goes wrong in the server itself, each fault once.

    Args:
        tell: called with a sentence without its end; from any thread.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()
        self._telling = threading.Lock()

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hear what nobody catches in a loop."""
        loop.set_exception_handler(self._heard)

    def around(self, endpoint: Callable[[Request], Awaitable[_R]]) -> Callable[[Request], Awaitable[_R]]:
        """Return the endpoint, heard too; what it answers with is heard by who makes it."""

        async def heard(request: Request) -> _R:
            try:
                return await endpoint(request)
            except Exception as error:
                self.hear(error)
                raise

        return heard

    def hear(self, error: BaseException) -> None:
        """Tell of an error unless it is a line that broke."""
        if isinstance(error, LaceError):
            self._once(error.message.rstrip("."))
        elif isinstance(error, OSError) and error.errno in _OURS:
            self._once(f"this machine takes no more connections now: {reason_of(error)}")
        elif not _is_broken_line(error):
            self._once(f"a fault in lace itself: {error!r}")

    def _heard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.hear(error)

    def _once(self, what: str) -> None:
        with self._telling:
            if what in self._told or len(self._told) >= _TOLD:
                return
            self._told.add(what)
        self._tell(what)


def _is_broken_line(error: BaseException) -> bool:
    """Tell whether an error says no more than that a connection ended.

    Where one breaks while asyncio still writes, asyncio calls a transport that it has let go of.
    """
    if isinstance(error, AttributeError) and error.obj is None:
        return _module_of(error).startswith("asyncio.")
    return isinstance(error, OSError | asyncio.CancelledError | ClientDisconnect)


def _module_of(error: BaseException) -> str:
    """Return the module in which an error was raised."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return str(at.tb_frame.f_globals.get("__name__", "")) if at is not None else ""


class Doorstep(socket.socket):
    """A listening socket that counts whom it accepted and who has not finished the handshake of TLS; for one loop.

    The loop tells the server of a connection only then. Whoever never begins would hold a descriptor of this process
    for a minute, and as many as there are: here one goes where there are too many, and each after a while.

    It is one of the source that has the most of them, so nobody else's. Friends may come by the same source (behind one
    router, or a tunnel that ends here), so which one falls by lot among its older half: who needs little time is
    certain to have it, and who needs more has a chance however fast others come.

    Args:
        listening: the socket; it is taken over.
        most: connections that may stand there at a time.
        entropy: gives random bytes.
    """

    def __init__(self, listening: socket.socket, most: int, entropy: Callable[[int], bytes]) -> None:
        super().__init__(listening.family, listening.type, listening.proto, fileno=listening.detach())
        self._most = most
        self._entropy = entropy
        self._waiting: dict[int, _Waiting] = {}  # by descriptor, as they came

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection and begin to wait for its handshake."""
        connection, address = super().accept()
        with suppress(OSError):  # it went already
            # An answer goes in several small pieces, and each would wait until the one before is confirmed: 40 ms.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = connection.fileno()
        self.comes_in(number)  # the one that had this number is closed
        guard = asyncio.get_running_loop().call_later(_HEAD_SECONDS, self._turn_away, number)
        self._waiting[number] = _Waiting(connection, source_of(address[0]), guard)
        if len(self._waiting) > self._most:
            self._make_room()
        return connection, address

    def comes_in(self, number: int) -> None:
        """Take note that the connection with this descriptor speaks TLS, or is closed."""
        if number in self._waiting:
            self._waiting.pop(number).guard.cancel()

    def _make_room(self) -> None:
        for number in [number for number, each in self._waiting.items() if each.connection.fileno() < 0]:
            self.comes_in(number)
        if len(self._waiting) <= self._most:
            return
        counts = Counter(each.source for each in self._waiting.values())
        largest = max(counts.values())
        among = [number for number, each in self._waiting.items() if counts[each.source] == largest]
        lot = int.from_bytes(self._entropy(8), "big") % (len(among) // 2 or 1)
        self._turn_away(among[lot])

    def _turn_away(self, number: int) -> None:
        connection = self._waiting[number].connection
        self.comes_in(number)
        with suppress(OSError):  # it went by itself
            connection.shutdown(socket.SHUT_RDWR)  # its transport closes it


class _Waiting(NamedTuple):
    """One that has not finished its handshake."""

    connection: socket.socket
    source: bytes
    guard: asyncio.TimerHandle


def source_of(host: str) -> bytes:
    """Return what connections of one source have in common: the address, of IPv6 the 64 bits that one line has."""
    address = ip_address(host)
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped.packed if address.ipv4_mapped else address.packed[:8]
    return address.packed


class GuardedProtocol(H11Protocol):
    """Closes a connection whose request head does not come in time: else a slow drip would hold it for ever.

    Where there are too many, the oldest goes that serves nobody, a stranger's before a member's: else idle strangers
    would keep friends out.
    """

    doorstep: Doorstep | None = None
    """Where it waited before."""
    is_let_in = False
    """Whether a request on it proved that a member asks."""
    since = 0.0
    """When it began, by the clock of the loop."""
    _guard: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None
    _wire: socket.socket | None = None  # its transport forgets it one turn of the loop before it says that it is over
    _moves = 0  # times that something came, or that what was to go went

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request head."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._make_room()
        self._wire = wire = transport.get_extra_info("socket")
        if wire is not None:
            if self.doorstep is not None:
                self.doorstep.comes_in(wire.fileno())
            keep_little_unsent(wire)
        # TLS lets 512 KiB wait, hands it to the transport in one piece, and takes more once all of that went: on a thin
        # line that is a silence.
        transport.set_write_buffer_limits(2 * STEP_BYTES, STEP_BYTES)
        self._arm()

    @property
    def is_gone(self) -> bool:
        """Whether its client is gone, though what they sent may be unread: the loop hears of an end after all that."""
        return self.transport.is_closing() or (self._wire is not None and has_ended(self._wire))

    def handle_events(self) -> None:
        """Let a request know its connection."""
        super().handle_events()
        if self.cycle is not None:
            self.cycle.scope[LINE] = self  # type: ignore[typeddict-unknown-key]

    def data_received(self, data: bytes) -> None:
        """Wait for a head again once a request is answered."""
        is_waiting = self.cycle is None or self.cycle.response_complete
        self._moves += 1
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._disarm()
        elif is_waiting and self._guard is None:
            self._arm()

    def resume_writing(self) -> None:
        """Take note that what was to go went."""
        self._moves += 1
        super().resume_writing()

    def shutdown(self) -> None:
        """End once the request under way is answered, and before that where its client stalls.

        A program that is stopped, or a machine that sleeps, would make everybody who ends a server wait for it.
        """
        super().shutdown()
        self._await_a_move(None, 0)

    def _await_a_move(self, before: tuple[int, int | None] | None, unmoved: int) -> None:
        kept = unconfirmed(self._wire) if self._wire is not None else None
        now = self._moves, kept
        unmoved = unmoved + 1 if now == before and self._waits_for_client(kept) else 0
        if unmoved >= _STALLED_LOOKS:
            self.transport.abort()
            return
        self._look = self.loop.call_later(_LOOK_SECONDS, self._await_a_move, now, unmoved)

    def _waits_for_client(self, kept: int | None) -> bool:
        """Tell whether it is the client's turn; where the kernel does not say what it keeps, a thin line may move."""
        if kept is None:
            return False
        if self.cycle is None or self.cycle.response_complete or self.flow.write_paused or kept:
            return True
        return self.cycle.more_body and not self.cycle.body

    def eof_received(self) -> None:
        """Let go at once of a client that hangs up: whatever it did not take yet goes nowhere.

        Over TLS there is no half of a connection, and asyncio would drop what is still written and say nothing of it.
        Until 3.12.9 and 3.13.2 it would also wait for ever for what lies here to go, with a processor all of its own.
        """
        self.loop.call_soon(self.transport.abort)  # now TLS is amid its own end

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep what came of a body before the cut."""
        self._disarm()
        if self._look is not None:
            self._look.cancel()
        if self.cycle is not None and not self.cycle.response_complete:
            # The server would drop what came before the cut and nobody read yet.
            self.cycle.scope[REST] = bytes(self.cycle.body)  # type: ignore[typeddict-unknown-key]
        super().connection_lost(exc)

    def serves(self) -> bool:
        """Tell whether a member is answered now."""
        return self.is_let_in and self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        if len(self.connections) < (self.limit_concurrency or math.inf):
            return
        others = [each for each in self.connections if isinstance(each, GuardedProtocol) and each is not self]
        idle = [each for each in others if not each.serves()]
        if idle:
            oldest = min(idle, key=lambda each: (each.is_let_in, each.since))  # a member's last: between two bodies
            self.connections.discard(oldest)  # a request may come with the handshake, before the loop hears of the end
            oldest.transport.abort()

    def _arm(self) -> None:
        self._guard = self.loop.call_later(_HEAD_SECONDS, self.transport.abort)

    def _disarm(self) -> None:
        if self._guard is not None:
            self._guard.cancel()
            self._guard = None
