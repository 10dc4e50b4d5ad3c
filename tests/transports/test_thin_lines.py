"""Lines so thin that a minute passes before anything seems to move, and lines that break under a server (CYB-17)."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import time
from asyncio.sslproto import _SSLProtocolTransport
from collections.abc import Callable
from contextlib import closing, suppress

import pytest

from transports.address import LiveAddress
from transports.http.client import LiveConnection
from transports.http.guarded import GuardedProtocol
from transports.http.hello import Session
from transports.http.identity import make_identity
from transports.http.pace import Pace
from transports.http.paths import STATE_BYTES
from transports.http.server import LiveServer
from transports.http.stream import Source
from transports.http.thin import _OPTION, STEP_BYTES, keep_little_unsent
from transports.mailbox import ByteCount
from vault.records import Tai, Verifier
from vault.suite import SigningKey

_GROUP = "band/0123456789abcdef"
_HOST = SigningKey.from_seed(b"\x01" * 32)


def _now() -> Tai:
    return Tai.from_unix_ns(time.time_ns())


class _Nobody:
    """Answers nobody."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def admits(self, node: Verifier) -> bool:
        return not node

    def was_revoked(self, node: Verifier) -> bool:
        return not node

    def turned_away(self, node: Verifier) -> None: ...

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None: ...

    def state(self) -> bytes:
        return b"0" * STATE_BYTES

    def rest(self) -> None: ...

    def request(self, record: bytes) -> bool | None:
        del record
        return None

    def failed(self, what: str) -> None:
        self.failures.append(what)


def _filled(wire: socket.socket) -> int:
    """Send until the kernel takes no more; return how much it took."""
    sent = 0
    with suppress(BlockingIOError):
        while True:
            sent += wire.send(bytes(65536))
    return sent


@pytest.mark.skipif(_OPTION is None, reason="this kernel knows no such wish")
def test_a_thin_line_shows_that_something_moves() -> None:
    """A line of 128 kb/s moves what is read here in 25 s, and a silence is 30 s long."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
        with near, far:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
            keep_little_unsent(near)
            near.setblocking(False)
            far.settimeout(10)
            left = min(400_000, _filled(near) - 32 * 1024)
            while left:
                left -= len(far.recv(min(left, 4096)))
            assert select.select([], [near], [], 10)[1], "nothing more may be sent though much has moved"


def test_what_goes_to_a_server_goes_in_steps() -> None:
    """Each of them may take as long as a silence: a whole MiB over a thin line takes longer."""
    count = ByteCount()
    address = LiveAddress("127.0.0.1", 9, _HOST.verifier)
    connection = LiveConnection(address, _GROUP, count, time.monotonic, _now, os.urandom)
    pieces = [b"x" * 1_000_000, b"", b"y" * STEP_BYTES, b"z"]
    steps = list(connection._counted(pieces))
    assert b"".join(steps) == b"".join(pieces)
    assert max(map(len, steps)) == STEP_BYTES
    assert count.written == len(b"".join(pieces))


def test_a_connection_that_breaks_at_a_bad_moment_is_no_line_for_a_person(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop under the server calls a transport that is gone already, and would say so with a traceback.

    A fault of the loop itself is told, once.
    """
    limits: list[tuple[int, int]] = []
    made = GuardedProtocol.connection_made

    def noted(self: GuardedProtocol, transport: asyncio.Transport) -> None:
        made(self, transport)
        limits.append(transport.get_write_buffer_limits())

    monkeypatch.setattr(GuardedProtocol, "connection_made", noted)
    identity = make_identity(_HOST, _GROUP, _now(), os.urandom)
    handler = _Nobody()
    server = LiveServer(
        handler,
        identity,
        Session(_GROUP, _HOST.verifier, identity.public),
        host="127.0.0.1",
        port=0,
        now=_now,
        pace=lambda: Pace(None, time.monotonic, time.sleep),
    )

    def broken() -> None:
        _SSLProtocolTransport(None, None).get_protocol()  # type: ignore[arg-type]

    def reset() -> None:
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    def crowded() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    def wrong() -> None:
        raise AttributeError("'NoneType' object has no attribute 'lines'")

    server.start()
    try:
        address = LiveAddress("127.0.0.1", server.port, _HOST.verifier)
        with closing(LiveConnection(address, _GROUP, ByteCount(), time.monotonic, _now, os.urandom)) as connection:
            connection.__enter__()
            loop = server._server.servers[0].get_loop()
            for fault in (broken, reset, crowded, wrong, wrong):
                loop.call_soon_threadsafe(fault)
        with closing(LiveConnection(address, _GROUP, ByteCount(), time.monotonic, _now, os.urandom)) as connection:
            connection.__enter__()  # it goes on, and has passed that moment
    finally:
        server.stop()
    assert caplog.records == []
    assert handler.failures == [
        "this machine takes no more connections now: too many open files",
        "a fault in lace itself: AttributeError(\"'NoneType' object has no attribute 'lines'\")",
    ]
    # What waits in TLS has to go before more is taken: half a MiB is a silence on a thin line.
    assert set(limits) == {(STEP_BYTES, 2 * STEP_BYTES)}
