"""A server that ends waits for whoever still moves, and for nobody who stalls (LAZ-70, APP-3)."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.live.handlers import make_server
from tests.live.test_slots import Door, begin_body
from transports.http.stream import Source
from vault.records import Verifier


class _Reads(Door):
    """Keeps how much of each body came before it ended, or why nobody could read on."""

    def __init__(self) -> None:
        super().__init__()
        self.came: queue.SimpleQueue[int | str] = queue.SimpleQueue()

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        self.reading.release()
        count = 0
        try:
            while piece := source.read(1000):
                count += len(piece)
            write(b"read")
        except OSError as error:
            self.came.put(type(error).__name__)
            raise
        self.came.put(count)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server that ends wait long for whoever it waits for."""
    monkeypatch.setattr("transports.http.server._STOP_SECONDS", 20)


@pytest.mark.usefixtures("patient")
def test_a_server_that_ends_lets_go_of_who_stalls_in_a_body() -> None:
    """LAZ-70: a program that was stopped amid a body held it for all of its patience, and was cut only then."""
    door = _Reads()
    server, session = make_server(door)
    server.start()
    line = begin_body(server.port, session, 1)
    assert door.reading.acquire(timeout=10)
    server.stop()
    assert door.came.get(timeout=10) == 1  # the line ended; the server was not what ended
    line.close()


@pytest.mark.usefixtures("patient")
def test_a_server_that_ends_waits_for_who_still_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-70: of the whole body each byte takes a while, and its answer comes."""
    monkeypatch.setattr("transports.http.guarded._LOOK_SECONDS", 0.05)
    door = _Reads()
    server, session = make_server(door)
    server.start()
    line = begin_body(server.port, session, 1)
    assert door.reading.acquire(timeout=10)
    with ThreadPoolExecutor(1) as ender:
        ender.submit(server.stop)
        for _ in range(8):
            time.sleep(0.2)
            line.sendall(b"x")
        assert line.recv(15) == b"HTTP/1.1 200 OK"
        line.close()
    assert door.came.get(timeout=10) == 9
