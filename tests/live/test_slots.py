"""Nobody holds what others wait for: not a member who drips, and not strangers who say nothing (faults.md row 15)."""

from __future__ import annotations

import asyncio
import http.client
import os
import queue
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress

import pytest
from starlette.types import Message

from tests.live.handlers import GUEST, Says, connection, now, serving_with
from transports.errors import PlaceUnreachable
from transports.http.bodies import Body
from transports.http.client import LiveConnection
from transports.http.hello import HEADER, Session, make_hello
from transports.http.identity import client_context
from transports.http.pace import Pace
from transports.http.paths import REQUEST_PATH, SYNC_PATH, TAKEN
from transports.http.server import _JUDGES, _JUDGING, _most_on_doorstep
from transports.http.stream import Source
from vault.records import Verifier
from vault.suite import SigningKey

_EACH, _ALL = 4, 16
_PATIENCE = 10.0  # seconds
_MUCH = 384 * 1024  # bytes: more than a server takes from the kernel for who does not read


class Door(Says):
    """Lets everybody in, and takes every request; it counts the bodies that it reads."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.reading = threading.Semaphore(0)

    def admits(self, node: Verifier) -> bool:
        del node
        return True

    def request(self, record: bytes) -> bool | None:
        del record
        return True

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        self.reading.release()
        super().exchange(node, source, write)


class Storing(Door):
    """Takes long over what was sent first, before the line was cut.

    Args:
        reads: whether all of that is read before; else it lies in the kernel, and the loop hears of no end.
    """

    def __init__(self, *, reads: bool) -> None:
        super().__init__()
        self._reads = reads
        self.began, self.may_end = threading.Event(), threading.Event()
        self.ended: list[str] = []

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        is_first = not self.began.is_set()
        if is_first and not self._reads:
            self.began.set()
            self.may_end.wait(_PATIENCE)
        super().exchange(node, source, (lambda _: None) if is_first else write)
        if is_first and self._reads:
            self.began.set()
            self.may_end.wait(_PATIENCE)
        self.ended.append("first" if is_first else "next")


def _dial(port: int) -> ssl.SSLSocket:
    return client_context().wrap_socket(socket.create_connection(("127.0.0.1", port)))


def _hello(number: int, session: Session) -> str:
    return make_hello(SigningKey.from_seed(bytes([number]) * 32), session, SYNC_PATH, now(), os.urandom)


def is_closed(line: socket.socket) -> bool:
    """Tell whether the other side ended a line on which it says nothing."""
    patience = line.gettimeout()
    line.setblocking(False)
    try:
        return line.recv(1) == b""
    except BlockingIOError:
        return False
    finally:
        line.settimeout(patience)


def begin_body(port: int, session: Session, number: int, length: int = 9) -> ssl.SSLSocket:
    """Begin a body that never ends."""
    line, hello = _dial(port), _hello(number, session)
    head = f"POST {SYNC_PATH} HTTP/1.1\r\nHost: x\r\n{HEADER}: {hello}\r\nContent-Length: {length}\r\n\r\nx"
    line.sendall(head.encode())
    return line


def _ask(port: int, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=client_context())
    connection.request("POST", path, b"", headers)
    response = connection.getresponse()
    return response.status, response.read()[:20]


def test_one_member_holds_few_places_and_all_of_them_keep_no_invited_one_out() -> None:
    """CYB-17: a fifth body of one member is asked to come back; a request is looked at when every place is taken."""
    door = Door()
    with serving_with(door) as (port, session):
        held = [begin_body(port, session, 1) for _ in range(_EACH)]
        for _ in held:
            door.reading.acquire()
        assert _ask(port, SYNC_PATH, {HEADER: _hello(1, session)})[0] == 503
        assert _ask(port, SYNC_PATH, {HEADER: _hello(2, session)})[0] == 200
        door.reading.acquire()
        held += [
            begin_body(port, session, number) for number in range(2, 2 + (_ALL - _EACH) // _EACH) for _ in range(_EACH)
        ]
        for _ in held[_EACH:]:
            door.reading.acquire()
        assert _ask(port, SYNC_PATH, {HEADER: _hello(9, session)})[0] == 503
        assert _ask(port, REQUEST_PATH, {}) == (200, TAKEN)
        for line in held:
            line.close()


@pytest.mark.parametrize(
    "reads", [True, pytest.param(False, marks=pytest.mark.skipif(sys.platform != "linux", reason="nobody says so"))]
)
def test_who_comes_again_waits_until_what_they_sent_before_the_cut_is_stored(reads: bool) -> None:
    """faults.md row 5: else they are told how far they were before, and send it again; nobody else waits for it."""
    door = Storing(reads=reads)
    with serving_with(door) as (port, session), ThreadPoolExecutor(1) as pool:
        line = begin_body(port, session, 1, length=_MUCH + 1)
        if reads:
            line.close()
        assert door.began.wait(_PATIENCE)
        if not reads:
            line.sendall(bytes(_MUCH - 1))
            line.shutdown(socket.SHUT_WR)
        again = pool.submit(_ask, port, SYNC_PATH, {HEADER: _hello(1, session)})
        assert _ask(port, SYNC_PATH, {HEADER: _hello(2, session)})[0] == 200
        with pytest.raises(TimeoutError):
            again.result(0.5)
        door.may_end.set()
        assert again.result(_PATIENCE)[0] == 200
    line.close()
    assert door.ended == ["next", "first", "next"]


def test_who_comes_again_before_the_server_heard_of_the_cut_waits_too() -> None:
    """faults.md row 5: on a busy machine 2 MB went twice, for the end of the line was heard by the client first."""
    door = Storing(reads=True)
    with serving_with(door) as (port, session), ThreadPoolExecutor(1) as pool:
        line = begin_body(port, session, 1, length=_MUCH + 1)
        again = pool.submit(_ask, port, SYNC_PATH, {HEADER: _hello(1, session)})
        with pytest.raises(TimeoutError):
            again.result(0.1)
        line.close()
        assert door.began.wait(_PATIENCE)
        with pytest.raises(TimeoutError):
            again.result(0.7)
        door.may_end.set()
        assert again.result(_PATIENCE)[0] == 200
    assert door.ended == ["first", "next"]


def test_a_rate_holds_for_a_friend_and_not_for_each_of_their_syncs() -> None:
    """CYB-17: four syncs of one friend at once were sent four times as much as `serve --rate` says."""
    door, made = Door(), list[Pace]()

    def pace() -> Pace:
        made.append(Pace(None, time.monotonic, time.sleep))
        return made[-1]

    with serving_with(door, pace) as (port, session):
        held = [begin_body(port, session, number) for number in (1, 1, 2)]
        for _ in held:
            door.reading.acquire()
        assert len(made) == 2
        for line in held:
            line.close()


def test_idle_strangers_make_room_for_who_comes() -> None:
    """faults.md row 9: the oldest connection that says nothing goes, and a member who is answered stays."""
    door = Door()
    with serving_with(door) as (port, session):
        first = begin_body(port, session, 1)
        door.reading.acquire()
        idle = [_dial(port) for _ in range(70)]
        assert _ask(port, SYNC_PATH, {HEADER: _hello(2, session)})[0] == 200
        first.sendall(b"12345678")
        assert first.recv(15) == b"HTTP/1.1 200 OK"
        for line in (first, *idle):
            line.close()


def test_connections_that_never_begin_tls_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """faults.md row 9: each holds a descriptor; old ones go, those that stay are waited for as long as for a head."""
    door = Door()
    with serving_with(door) as (port, session):
        first = begin_body(port, session, 1)
        door.reading.acquire()
        silent = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(_most_on_doorstep() + 20)]
        while len(gone := [line for line in silent if is_closed(line)]) < 20:
            time.sleep(0.01)
        assert len(gone) == 20
        assert _ask(port, SYNC_PATH, {HEADER: _hello(2, session)})[0] == 200
        late = client_context().wrap_socket(silent[-1])  # it takes its time, and is not turned away
        first.sendall(b"12345678")
        assert first.recv(15) == b"HTTP/1.1 200 OK"
        monkeypatch.setattr("transports.http.guarded._HEAD_SECONDS", 0.1)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as slow:
            assert slow.recv(1) == b""
        for line in (first, late, *silent[:-1]):
            line.close()


def test_a_member_between_two_bodies_goes_last() -> None:
    """faults.md row 15: strangers who say nothing make room before a line whose member was let in."""
    with serving_with(Door()) as (port, session):
        line = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=client_context())
        line.connect()
        line.auto_open = 0
        idle = []
        for _ in range(2):
            line.request("POST", SYNC_PATH, b"", {HEADER: _hello(2, session)})
            response = line.getresponse()
            assert (response.status, bool(response.read())) == (200, True)
            idle += [_dial(port) for _ in range(70)]
        line.close()
        for each in idle:
            each.close()


class _Keeps(Door):
    """Keeps what ends a body."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: queue.SimpleQueue[Exception] = queue.SimpleQueue()

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        try:
            super().exchange(node, source, write)
        except Exception as error:
            self.ends.put(error)
            raise


def test_a_server_that_stops_is_a_cut_line_to_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-70: no fault of lace."""
    monkeypatch.setattr("transports.http.server._STOP_SECONDS", 1)
    door = _Keeps()
    with serving_with(door) as (port, session):
        line = begin_body(port, session, 1)
        assert door.reading.acquire(timeout=10)
    assert isinstance(door.ends.get(timeout=10), ConnectionError)
    line.close()


class _Waits(Door):
    """Judges requests when the vault is free, which it is not."""

    def __init__(self) -> None:
        super().__init__()
        self.is_free = threading.Event()

    def request(self, record: bytes) -> bool | None:
        self.reading.release()
        assert self.is_free.wait(30)
        return super().request(record)


def test_requests_that_wait_for_the_vault_keep_no_member_out() -> None:
    """CYB-17: a few of them wait, others are asked to come back, and members are answered all the while."""
    door = _Waits()
    with serving_with(door) as (port, session), ThreadPoolExecutor(_JUDGING + 1) as askers:
        asking = [askers.submit(_ask, port, REQUEST_PATH, {}) for _ in range(_JUDGING + 1)]
        try:
            for _ in range(_JUDGES):
                assert door.reading.acquire(timeout=10)
            assert next(as_completed(asking, 10)).result()[0] == 503
            assert _ask(port, SYNC_PATH, {HEADER: _hello(1, session)})[0] == 200
        finally:
            door.is_free.set()
        assert sorted(each.result()[0] for each in asking) == [200] * _JUDGING + [503]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for minutes."""
    monkeypatch.setattr("transports.http.pace._WINDOW", 0.05)
    monkeypatch.setattr("transports.http.pace.RATE_FLOOR", 1_000_000)


@pytest.mark.usefixtures("impatient")
def test_who_drips_is_waited_for_no_longer_than_a_window() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def dripping() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    body = Body(loop, dripping, {"type": "http"})
    with pytest.raises(TimeoutError):
        any(not body.read(1) for _ in range(1000))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


class _Drips(Door):
    """Answers with a byte now and then."""

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        del node, source
        with suppress(OSError):
            for _ in range(300):
                write(b"x")
                write(b"")
                time.sleep(0.01)


def _read(line: LiveConnection) -> None:
    answer = line.post(SYNC_PATH, GUEST, [b"here I am"])
    while answer.read(1):
        pass


@pytest.mark.usefixtures("impatient")
def test_a_server_that_drips_is_not_waited_for() -> None:
    """A friend's server must not hold a sync that has other places to visit."""
    fewer = pytest.raises(PlaceUnreachable, match="fewer than")
    with serving_with(_Drips()) as (port, _), connection(port) as line, fewer:
        _read(line)
