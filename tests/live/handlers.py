"""Servers without a vault behind them: what answers is a few lines of a test, the line and its locks are real."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from transports.address import LiveAddress
from transports.http.client import LiveConnection
from transports.http.hello import OtherClock, Session
from transports.http.identity import make_identity
from transports.http.pace import Pace
from transports.http.paths import STATE_BYTES
from transports.http.server import Handler, LiveServer
from transports.http.stream import Source, StreamWriter
from transports.mailbox import ByteCount
from vault.desks.content import data_plex
from vault.records import Tai, Verifier
from vault.suite import SigningKey

__all__ = ["GROUP", "GUEST", "HOST", "RECORDS", "Nobody", "Says", "connection", "make_server", "now", "serving_with"]

GROUP = "friends/0123456789abcdef"
HOST, GUEST = SigningKey.from_seed(b"h" * 32), SigningKey.from_seed(b"g" * 32)
RECORDS = [data_plex(GROUP, random.Random(number).randbytes(100_000)).encode() for number in range(60)]


class Nobody:
    """Lets nobody in and answers nobody; what is told as failed is kept. It satisfies `Handler`."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def admits(self, node: Verifier) -> bool:
        return not node

    def was_revoked(self, node: Verifier) -> bool:
        return not node

    def turned_away(self, node: Verifier) -> None: ...

    def clock_differs(self, clock: OtherClock) -> None: ...

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None: ...

    def state(self) -> bytes:
        return b"0" * STATE_BYTES

    def rest(self) -> None: ...

    def request(self, record: bytes) -> bool | None:
        del record
        return None

    def failed(self, what: str) -> None:
        self.failures.append(what)


class Says(Nobody):
    """Answers a guest with the same records, and then does something.

    Args:
        then: what it does then, with the writer of its answer.
    """

    def __init__(self, then: Callable[[StreamWriter], object]) -> None:
        super().__init__()
        self._then = then

    def admits(self, node: Verifier) -> bool:
        return node == GUEST.verifier

    def failed(self, what: str) -> None:
        raise AssertionError(what)

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        del node
        while source.read(1000):
            pass
        writer = StreamWriter(write)
        for record in RECORDS:
            writer.records([record])
        write(b"")
        self._then(writer)
        write(b"")


def now() -> Tai:
    return Tai.from_unix_ns(time.time_ns())


def _unpaced() -> Pace:
    return Pace(None, time.monotonic, time.sleep)


def make_server(
    handler: Handler, host: str = "127.0.0.1", pace: Callable[[], Pace] = _unpaced
) -> tuple[LiveServer, Session]:
    """Return a server of `HOST` that is not started yet, and what a hello to it is bound to."""
    identity = make_identity(HOST, GROUP, now(), os.urandom)
    session = Session(GROUP, HOST.verifier, identity.public)
    server = LiveServer(
        handler,
        identity,
        session,
        host=host,
        port=0,
        now=now,
        pace=pace,
        entropy=os.urandom,
    )
    return server, session


@contextmanager
def serving_with(handler: Handler, pace: Callable[[], Pace] = _unpaced) -> Iterator[tuple[int, Session]]:
    """Serve on the loopback while it lasts; give the port, and what a hello is bound to."""
    server, session = make_server(handler, pace=pace)
    server.start()
    try:
        yield server.port, session
    finally:
        server.stop()


def connection(
    port: int, count: ByteCount | None = None, pause: Callable[[float], None] = time.sleep
) -> LiveConnection:
    """Return a line to a server of `HOST` that is not dialled yet."""
    address = LiveAddress("127.0.0.1", port, HOST.verifier)
    return LiveConnection(address, GROUP, count or ByteCount(), time.monotonic, now, os.urandom, pause)
