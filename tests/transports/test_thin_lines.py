"""Lines so thin that a minute passes before anything seems to move, and lines that break under a server (CYB-17)."""

from __future__ import annotations

import asyncio
import errno
import http.client
import select
import socket
import ssl
import threading
import time
from asyncio.sslproto import _SSLProtocolTransport
from collections.abc import Callable
from contextlib import closing, suppress
from unittest.mock import Mock

import pytest
from starlette.types import Message

from tests.live.handlers import GUEST, Nobody, connection, make_server, serving_with
from transports.errors import PlaceUnreachable
from transports.http import bodies
from transports.http.guarded import LINE, Doorstep, GuardedProtocol
from transports.http.pace import Pace
from transports.http.paths import SYNC_PATH
from transports.http.stream import Source
from transports.http.thin import _OPTION, STEP_BYTES, keep_little_unsent
from transports.mailbox import ByteCount
from vault.errors import EnvironmentFault
from vault.records import Verifier


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


class _Talker(Nobody):
    """Answers everybody at length, and keeps what stopped it."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()
        self.fault: Exception | None = None

    def admits(self, node: Verifier) -> bool:
        return bool(node)

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        del node
        try:
            while source.read(STEP_BYTES):
                pass
            for _ in range(64):
                write(bytes(1 << 20))
            write(b"")
        except Exception as error:
            self.fault = error
            raise
        finally:
            self.ended.set()


@pytest.mark.parametrize("reads_on", [None, False, True])
def test_who_hangs_up_in_the_middle_of_an_answer_ends_it(reads_on: bool | None) -> None:
    """A client that was stopped is a line that was cut, and no fault in lace; nothing more is made for it.

    It closes at once, or first says no more than that it will send nothing, as a kernel does for it on a slow line.
    """
    handler = _Talker()
    with serving_with(handler) as (port, _), connection(port) as line:
        answer = line.post(SYNC_PATH, GUEST, [b"x"])
        assert answer.read(1000)
        wire = line._http.sock
        assert wire is not None
        if reads_on is not None:
            socket.socket.shutdown(wire, socket.SHUT_WR)
            with suppress(OSError):
                while reads_on and socket.socket.recv(wire, STEP_BYTES):
                    pass
            assert handler.ended.wait(10)
        line.close()
        assert handler.ended.wait(10)
    assert isinstance(handler.fault, ConnectionError)
    assert handler.failures == []


class _Waiting(_Talker):
    """Says a little, and the rest only once that was heard."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        while source.read(STEP_BYTES):
            pass
        write(bytes(100_000))
        if not self.heard.wait(10):
            raise EnvironmentFault("Nobody heard the beginning.")
        write(bytes(100_000))
        write(b"")


def test_an_answer_begins_before_all_of_it_is_made() -> None:
    """Whoever reads is at work meanwhile (performance: W1)."""
    handler = _Waiting()
    with serving_with(handler) as (port, _), connection(port) as line:
        answer = line.post(SYNC_PATH, GUEST, [b"x"])
        came = len(answer.read(1000))
        handler.heard.set()
        while piece := answer.read(STEP_BYTES):
            came += len(piece)
    assert came == 200_000


class _Full(_Talker):
    """Gives up amid what is sent, as where a disk is full."""

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        source.read(STEP_BYTES)
        raise EnvironmentFault("The disk is full.")


def test_who_is_refused_amid_a_body_hears_so() -> None:
    """The server does not wait for the rest of it, and hangs up; the client was told that no TLS was spoken there."""
    refused = pytest.raises(PlaceUnreachable, match=r"cannot answer now \(503\)")
    with serving_with(_Full()) as (port, _), connection(port) as line, refused:
        line.post(SYNC_PATH, GUEST, (bytes(STEP_BYTES) for _ in range(400)))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "EOF occurred in violation of protocol"), "reached: the line was cut."),
        (TimeoutError("timed out"), "reached: timed out."),
        (http.client.IncompleteRead(b""), "reached: the line was cut."),
    ],
)
def test_what_openssl_says_of_a_cut_is_no_word_about_what_answers_there(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_with(_Talker()) as (port, _), connection(port) as line:
        monkeypatch.setattr(line._http, "request", Mock(side_effect=error))
        with pytest.raises(PlaceUnreachable, match=says):
            line.post(SYNC_PATH, GUEST, [b"x"])


def test_what_speaks_no_tls_is_told_as_that() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: listener.accept()[0].sendall(b"HTTP/1.1 400 Bad\r\n\r\n"), daemon=True).start()
        with pytest.raises(PlaceUnreachable, match=r"speaks no TLS 1\.3"):
            connection(listener.getsockname()[1]).__enter__()


@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x03\x00\x7a\x02\x00"])
def test_a_line_that_is_cut_before_it_is_open_is_told_as_cut(begin: bytes) -> None:
    """INT-122, CYB-16: where a line broke or a server stopped, a friend was told that no TLS is spoken there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            wire, _ = listener.accept()
            with wire:
                wire.recv(4096)
                wire.sendall(begin)

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(PlaceUnreachable, match="reached: the line was cut"):
            connection(listener.getsockname()[1]).__enter__()
        thread.join()


def test_small_pieces_of_an_answer_wait_for_no_confirmation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever confirms late what came would stretch each short answer by 40 ms for every piece of it."""
    at_once: list[int] = []
    accept = Doorstep.accept

    def noted(self: Doorstep) -> tuple[socket.socket, object]:
        wire, address = accept(self)
        at_once.append(wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        return wire, address

    monkeypatch.setattr(Doorstep, "accept", noted)
    with serving_with(Nobody()) as (port, _), closing(connection(port)) as line:
        line.__enter__()
    assert at_once
    assert all(at_once)


def test_what_goes_to_a_server_goes_in_steps() -> None:
    """Each of them may take as long as a silence: a whole MiB over a thin line takes longer."""
    count = ByteCount()
    line = connection(9, count)
    pieces = [b"x" * 1_000_000, b"", b"y" * STEP_BYTES, b"z"]
    steps = list(line._counted(pieces))
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
    handler = Nobody()
    server, _ = make_server(handler)

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
        with closing(connection(server.port)) as line:
            line.__enter__()
            loop = server._server.servers[0].get_loop()
            for fault in (broken, reset, crowded, wrong, wrong):
                loop.call_soon_threadsafe(fault)
        with closing(connection(server.port)) as line:
            line.__enter__()  # it goes on, and has passed that moment
    finally:
        server.stop()
    assert caplog.records == []
    assert handler.failures == [
        "this machine takes no more connections now: too many open files",
        "a fault in lace itself: AttributeError(\"'NoneType' object has no attribute 'lines'\")",
    ]
    # What waits in TLS has to go before more is taken: half a MiB is a silence on a thin line.
    assert set(limits) == {(STEP_BYTES, 2 * STEP_BYTES)}


class _Line:
    """A connection as an answer knows it; each piece takes so many seconds to go, and a larger one some more."""

    def __init__(self, seconds: float, then: float = 0.0) -> None:
        self._seconds, self._then = seconds, then
        self.transport = self
        self.flow = self
        self.write_paused = False
        self.arrived: list[bytes] = []

    def write(self, data: bytes | memoryview) -> None:
        self.write_paused = True
        self.arrived.append(bytes(data))

    def is_closing(self) -> bool:
        return False

    async def drain(self) -> None:
        await asyncio.sleep(self._seconds)
        if self.arrived and len(self.arrived[-1]) > STEP_BYTES:
            await asyncio.sleep(self._then)
        self.write_paused = False

    async def send(self, message: Message) -> None:
        """Take what goes by HTTP: the head of the answer, and its end."""
        if self.write_paused:
            await self.drain()

    def body(self) -> bytes:
        """Take the chunks apart."""
        rest, body = b"".join(self.arrived), b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            body += rest[: int(size, 16)]
            assert rest[int(size, 16) :][:2] == b"\r\n"
            rest = rest[int(size, 16) + 2 :]
        return body


def _answered(monkeypatch: pytest.MonkeyPatch, seconds: float) -> _Line:
    """Send one large piece over a line on which each part takes so long."""
    monkeypatch.setattr(bodies, "SILENCE", 0.2)
    line = _Line(seconds)

    async def go() -> None:
        pace = Pace(None, time.monotonic, time.sleep)
        answer = bodies.AnswerBody(asyncio.get_running_loop(), line.send, pace, {LINE: line})
        await answer._push([b"x" * (4 << 20)])

    asyncio.run(go())
    return line


def test_a_slow_line_is_no_silent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-17: what limits a connection is how long nothing moves, never how long a piece takes."""
    line = _answered(monkeypatch, 0.03)
    assert len(line.arrived) > 0.2 / 0.03
    assert line.body() == b"x" * (4 << 20)
    with pytest.raises(TimeoutError):
        _answered(monkeypatch, 30)


def test_a_line_that_becomes_slow_is_no_silent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-17: how long it may take goes by what lies there, and not by the few bytes that come next, or by the end."""
    monkeypatch.setattr(bodies, "SILENCE", 0.2)
    data = bytes(STEP_BYTES + 2 * 4 * STEP_BYTES + 10)

    async def go(line: _Line, data: bytes) -> None:
        pace = Pace(None, time.monotonic, time.sleep)
        answer = bodies.AnswerBody(asyncio.get_running_loop(), line.send, pace, {LINE: line})
        await answer._push([data])
        await answer.finish()

    for size in (len(data), len(data) - 10):
        line = _Line(0, 0.3)
        asyncio.run(go(line, data[:size]))
        assert line.body() == data[:size]


def test_a_rate_makes_no_silence() -> None:
    """CYB-17: a second's worth of bytes at a time, whatever is written: else the other side gives up."""
    waits: list[float] = []
    line = _Line(0)
    now = [0.0]

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    async def run() -> None:
        pace = Pace(16_000, lambda: now[0], sleep)
        answer = bodies.AnswerBody(asyncio.get_running_loop(), line.send, pace, {LINE: line})
        await asyncio.to_thread(answer.write, b"x" * 1_000_000)
        await asyncio.to_thread(answer.write, b"")
        await answer.finish()

    asyncio.run(run())
    assert line.body() == b"x" * 1_000_000
    assert max(map(len, line.arrived)) <= 16_000
    assert max(waits) <= 1.0
    assert 60 < now[0] < 63
