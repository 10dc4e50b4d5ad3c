"""The client's end of TLS: much is taken off the line at once, and no call outlasts its time (INT-122, CYB-17)."""

from __future__ import annotations

import io
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest

from transports.http.identity import client_context, make_identity
from transports.http.tls import TlsLine
from vault.records import Tai
from vault.suite import SigningKey

_HEAD = b"\x17\x03\x03\x40\x00"  # of a record of 16 KiB
_TICK = 0.05


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    now = Tai.from_unix_ns(time.time_ns())
    identity = make_identity(SigningKey.from_seed(b"h" * 32), "friends/0123456789abcdef", now, os.urandom)
    file: Path = tmp_path_factory.mktemp("tls") / "run.pem"
    file.write_bytes(identity.certificate + identity.key)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(file)
    return made


@contextmanager
def _line(far: Callable[[socket.socket], object]) -> Iterator[TlsLine]:
    """Give a line whose other end does something in a thread."""
    near, other = socket.socketpair()

    def run() -> None:
        with other, suppress(OSError):
            far(other)

    thread = threading.Thread(target=run)
    near.settimeout(_TICK)
    line = TlsLine(near, client_context(), "127.0.0.1")
    thread.start()
    try:
        with line:
            yield line
    finally:
        thread.join()


@contextmanager
def _spoken(context: ssl.SSLContext, far: Callable[[ssl.SSLSocket], object]) -> Iterator[TlsLine]:
    """Give a line on which TLS is spoken, and whose other end does something then."""

    def run(other: socket.socket) -> None:
        with context.wrap_socket(other, server_side=True) as tls:
            far(tls)

    with _line(run) as line:
        line.settimeout(10)
        line.do_handshake()
        line.settimeout(_TICK)
        yield line


def _drip(wire: socket.socket) -> None:
    """Send the beginning of a record byte by byte, for much longer than any call is to take."""
    for byte in _HEAD + bytes(500):
        socket.socket.send(wire, bytes([byte]))
        time.sleep(_TICK / 10)


def _read(line: TlsLine, size: int) -> bytes:
    room = bytearray(size)
    while True:
        with suppress(TimeoutError):
            return bytes(room[: line.read(size, room)])


def test_a_handshake_that_comes_byte_by_byte_ends_each_call_in_its_time() -> None:
    """INT-122: else a person who stops would not be asked for, and no silence would be counted."""
    with (
        _line(lambda wire: _drip_after(wire, b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")) as line,
        pytest.raises(TimeoutError),
    ):
        line.do_handshake()


def _drip_after(wire: socket.socket, head: bytes) -> None:
    wire.sendall(head)
    for _ in range(500):
        wire.send(b"\x03")
        time.sleep(_TICK / 10)


def test_a_record_that_comes_byte_by_byte_ends_each_call_in_its_time(context: ssl.SSLContext) -> None:
    """CYB-17: whoever drips below TLS is given up as whoever drips above it."""

    def far(tls: ssl.SSLSocket) -> None:
        tls.sendall(b"hello")
        _drip(tls)

    with _spoken(context, far) as line:
        assert _read(line, 100) == b"hello"
        with pytest.raises(TimeoutError):
            line.read(100, bytearray(100))


def test_one_read_gives_all_the_records_that_are_there(context: ssl.SSLContext) -> None:
    """What a call costs is paid once for all of them, and nobody waits for more."""
    is_sent = threading.Event()

    def far(tls: ssl.SSLSocket) -> None:
        for number in range(5):
            tls.sendall(bytes([number]) * 1000)
        is_sent.set()
        tls.recv(1)

    with _spoken(context, far) as line:
        assert is_sent.wait(10)
        assert _read(line, 10_000) == b"".join(bytes([number]) * 1000 for number in range(5))
        line.sendall(b"x")


def test_what_came_before_noise_is_given_before_the_fault(context: ssl.SSLContext) -> None:
    """LAZ-70: a line that breaks loses nothing that came before."""
    is_sent = threading.Event()

    def far(tls: ssl.SSLSocket) -> None:
        tls.sendall(b"good")
        socket.socket.sendall(tls, b"\x17\x03\x03\x00\x20" + bytes(32))
        is_sent.set()
        tls.recv(1)

    with _spoken(context, far) as line:
        assert is_sent.wait(10)
        assert _read(line, 100) == b"good"
        for _ in range(2):
            with pytest.raises(ssl.SSLError):
                line.read(100, bytearray(100))


def test_a_line_that_ends_is_at_its_end(context: ssl.SSLContext) -> None:
    with _spoken(context, lambda tls: tls.sendall(b"all")) as line:
        assert [_read(line, 100), _read(line, 100), _read(line, 100)] == [b"all", b"", b""]


def test_what_a_line_does_not_take_at_once_goes_first_and_once(context: ssl.SSLContext) -> None:
    """LAZ-70: a call that ended for its time is made again, and no byte goes twice or in another order."""
    data = Random(4).randbytes(3_000_000)
    is_full, came = threading.Event(), bytearray()

    def far(tls: ssl.SSLSocket) -> None:
        is_full.wait()
        while len(came) < len(data) + 3:
            came.extend(tls.recv(65536))
        tls.sendall(b"thanks")

    with _spoken(context, far) as line:
        view = memoryview(data)
        while view:
            try:
                view = view[line.send(view) :]
            except TimeoutError:
                is_full.set()
        assert is_full.is_set()
        while True:
            with suppress(TimeoutError):
                line.send(b"end")
                break
        assert _read(line, 100) == b"thanks"
    assert came == data + b"end"


@pytest.mark.parametrize(
    "call",
    [
        lambda line: line.sendmsg([b"secret"]),
        lambda line: line.sendto(b"secret", ("127.0.0.1", 9)),
        lambda line: line.sendfile(io.BytesIO(b"secret")),
        lambda line: line.send(b"secret", socket.MSG_DONTWAIT),
        lambda line: line.sendall(b"secret", socket.MSG_DONTWAIT),
        lambda line: line.recv(4, socket.MSG_PEEK),
        lambda line: line.recv_into(bytearray(4), 4, socket.MSG_PEEK),
        lambda line: line.recvfrom(4),
        lambda line: line.recvfrom_into(bytearray(4)),
        lambda line: line.recvmsg(4),
        lambda line: line.recvmsg_into([bytearray(4)]),
        lambda line: line.dup(),
    ],
)
def test_no_call_of_a_socket_goes_past_tls(call: Callable[[TlsLine], object]) -> None:
    """CYB-17, INT-122: what is sent would be read by anybody on the line, and what comes was proven by nobody."""
    came = bytearray()

    def far(wire: socket.socket) -> None:
        wire.sendall(b"forged")
        while part := wire.recv(100):
            came.extend(part)

    with _line(far) as line, pytest.raises(ValueError, match="past TLS"):
        call(line)
    assert not came
