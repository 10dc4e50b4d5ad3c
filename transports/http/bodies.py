"""Bodies of a live exchange as threads read and write them, while the server's loop sends and receives (CYB-17).

An answer passes by uvicorn and h11 and goes to TLS as it is: they would copy all of it, and TLS the rest of every piece
again for each 16 KiB that it takes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from transports.http.guarded import LINE, REST
from transports.http.pace import Pace, Patience
from transports.http.thin import STEP_BYTES, UNSENT_BYTES

__all__ = ["SILENCE", "AnswerBody", "Body"]

SILENCE: Final = 30.0
"""Seconds without a byte, either way."""

_SEND_BYTES: Final = 2 * 1024 * 1024
"""What goes at once to the loop; twice as many lie here for each exchange."""
_FIRST_BYTES: Final = 64 * 1024
"""What goes first; each piece is twice as large as the one before, so that a reader is at work from the beginning."""
# While the line takes a step within so many seconds, as much goes at once as its kernel takes, and not STEP_BYTES: what
# that leaves is copied twice before it goes.
_QUICK = 1.0
_HEADERS = [(b"content-type", b"application/octet-stream"), (b"cache-control", b"no-store")]


@contextmanager
def _cut_at_its_end(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Take the end of the server, which its loop tells in ways of its own, for what it is to a thread: a cut line."""
    try:
        yield
    except (concurrent.futures.CancelledError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not loop.is_closed():
            raise
        raise ConnectionAbortedError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED)) from error


class Body:
    """The request's body, for a thread; it satisfies `Source`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Receive, scope: Scope) -> None:
        self._loop, self._receive, self._scope = loop, receive, scope
        self._piece = b""
        self._at = 0
        self._more = True
        self._patience = Patience()

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        while self._at >= len(self._piece):
            if not self._more:
                return b""
            with _cut_at_its_end(self._loop):
                message = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
            if message["type"] != "http.request":
                # The client went away: the body ends in the middle, and its reader says so.
                self._piece, self._at, self._more = self._scope.pop(REST, b""), 0, False
                continue
            self._piece, self._at = message.get("body", b""), 0
            self._more = message.get("more_body", False)
        part = self._piece[self._at : self._at + size]
        self._at += len(part)
        return part

    def readinto(self, buffer: memoryview, /) -> int:
        """Put at most so many bytes where they shall be and return how many; 0 at the end."""
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    async def _next(self) -> Message:
        began = self._loop.time()
        async with asyncio.timeout(SILENCE):
            message = await self._receive()
        self._patience.waited(self._loop.time() - began, len(message.get("body", b"")))
        return message


class AnswerBody:
    """The answer's body, from a thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send, pace: Pace, scope: Scope) -> None:
        self._loop, self._send, self._pace = loop, send, pace
        self._line: H11Protocol = scope[LINE]
        self._parts: list[bytes] = []
        self._size = 0
        self._most = min(_FIRST_BYTES, pace.portion or _FIRST_BYTES)
        self._sent: concurrent.futures.Future[None] | None = None
        self._step = STEP_BYTES
        self._given = 0  # bytes of the last piece, which a slow line may be at still
        self.is_begun = False

    def write(self, data: bytes) -> None:
        """Send, in pieces that are worth a trip through the loop; nothing (`b""`) sends what waits."""
        if data:
            self._parts.append(data)
            self._size += len(data)
        if self._size >= self._most or not data:
            parts, self._parts, self._size = self._parts, [], 0
            self._most = min(2 * self._most, _SEND_BYTES, self._pace.portion or _SEND_BYTES)
            for some in self._portions(parts):
                # Some parts are on their way while the next ones are made.
                self._arrive()
                with _cut_at_its_end(self._loop):
                    self._sent = asyncio.run_coroutine_threadsafe(self._push(some), self._loop)
        if not data:
            self._arrive()

    def _portions(self, parts: list[bytes]) -> Iterator[list[bytes]]:
        """Yield what goes at once, each when it may go."""
        most = self._pace.portion
        if most is None:
            yield parts
            return
        for part in parts:
            for at in range(0, len(part), most):
                self._pace.spend(min(most, len(part) - at))
                yield [part[at : at + most]]

    def _arrive(self) -> None:
        """Wait for the parts that are on their way."""
        sent, self._sent = self._sent, None
        if sent is not None:
            with _cut_at_its_end(self._loop):
                sent.result()

    async def finish(self) -> None:
        """Send the rest and end the body."""
        if self._sent is not None:
            await asyncio.wrap_future(self._sent)
        await self._push(self._parts)
        await self._begin()
        await self._drain()
        async with asyncio.timeout(SILENCE):
            await self._send({"type": "http.response.body"})

    async def _begin(self) -> None:
        if not self.is_begun:
            self.is_begun = True
            async with asyncio.timeout(SILENCE):
                await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})

    async def _push(self, parts: list[bytes]) -> None:
        """Send some parts as one chunk of HTTP."""
        size = sum(map(len, parts))
        if not size:
            return  # until something goes the answer may still become a refusal
        await self._begin()
        await self._give(memoryview(b"%x\r\n" % size))
        for part in parts:
            view = memoryview(part)
            while view:
                piece = view[: self._step]
                await self._give(piece)
                view = view[len(piece) :]
        self._line.transport.write(b"\r\n")

    async def _give(self, piece: memoryview) -> None:
        await self._drain()
        if self._line.transport.is_closing():
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        self._line.transport.write(piece)
        self._given = len(piece)

    async def _drain(self) -> None:
        """Wait until little of what was given lies here; a slow line is no silent one."""
        if self._line.flow.write_paused:
            began = self._loop.time()
            async with asyncio.timeout(SILENCE * max(1, self._given / STEP_BYTES)):
                await self._line.flow.drain()
            self._step = UNSENT_BYTES if self._loop.time() - began < _QUICK else STEP_BYTES
