"""Ctrl-C while a line is silent: nobody waits for its end who asked to stop (INT-122)."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from threading import Event
from typing import Any

import pytest

from tests.live.handlers import GROUP, GUEST, Says, connection, now, serving_with
from tests.live.test_live_sync import found
from tests.people import ROOT, Person
from tests.transports.web_hosts import lying_server
from transports.address import LiveAddress
from transports.drop.marker import marker_text
from transports.http.client import LiveConnection
from transports.http.paths import SYNC_PATH
from transports.http.read_ahead import read_ahead
from transports.http.stream import Source, StreamReader
from transports.mailbox import ByteCount
from vault.errors import Cancelled
from vault.records import Verifier

_MARKER = marker_text("0" * 32)


@contextmanager
def _silent() -> Iterator[tuple[int, Callable[[], None]]]:
    """Listen and say nothing; give the port, and what waits until somebody called and spoke."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        heard: list[socket.socket] = []

        def wait() -> None:
            heard.append(listener.accept()[0])
            assert heard[0].recv(1)

        yield listener.getsockname()[1], wait
        for line in heard:
            line.close()


def _stopped(person: Person, *words: str, when: Callable[[], object], by: signal.Signals) -> tuple[int, str]:
    """Run a command that is asked to end at some time; return its exit code and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lace_tui", *words],
        cwd=person.folder,
        env=person.variables | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    when()
    process.send_signal(by)
    said = process.communicate()[1]
    return process.returncode, said


def _ends(when: Event) -> Callable[[float], None]:
    """Return a way to wait that a person ends as soon as something happened."""

    def pause(seconds: float) -> None:
        if when.is_set():
            raise Cancelled("Stopped as you asked.")
        time.sleep(seconds)

    return pause


class _Hangs(Says):
    """Says the beginning of an answer and hangs; a guest who sends all of a long body waits too."""

    def __init__(self, *, reads: bool) -> None:
        super().__init__(lambda _: self._hang())
        self.is_hanging, self.is_over, self._reads = Event(), Event(), reads

    def _hang(self) -> None:
        self.is_hanging.set()
        self.is_over.wait()

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        if self._reads:
            super().exchange(node, source, write)
        else:
            self._hang()


def _say(line: LiveConnection, body: Iterable[bytes]) -> None:
    """Send a body and take the answer, as a sync does."""
    with line:
        source = line.post(SYNC_PATH, GUEST, body)
        with closing(read_ahead(iter(StreamReader(source)), source, lambda frame: frame)) as frames:
            for _ in frames:
                pass


@pytest.mark.parametrize("reads", [True, False], ids=["in an answer", "in a body"])
def test_who_stops_a_sync_waits_for_no_friend_who_hangs(*, reads: bool) -> None:
    """INT-122: also amid what is said and what is sent, and what is read ahead by a thread ends with it."""
    host = _Hangs(reads=reads)
    with serving_with(host) as (port, _):
        try:
            line = connection(port, pause=_ends(host.is_hanging))
            with pytest.raises(Cancelled):
                _say(line, [b"x"] if reads else itertools.repeat(bytes(1 << 20)))
        finally:
            host.is_over.set()


def test_who_stops_a_sync_waits_for_nobody_who_looks_up_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """INT-122: whoever is asked for the name of a machine may be out of reach, which no signal ends."""
    asked, is_over = Event(), Event()
    real = socket.getaddrinfo

    def look(host: Any, port: Any, *, type: int = 0, flags: int = 0) -> Any:  # noqa: A002 - as it is called
        if flags & socket.AI_NUMERICHOST:
            return real(host, port, type=type, flags=flags)
        asked.set()
        is_over.wait()
        raise socket.gaierror("nobody answers")

    monkeypatch.setattr(socket, "getaddrinfo", look)
    address = LiveAddress("friend.example", 7433, GUEST.verifier)
    line = LiveConnection(address, GROUP, ByteCount(), time.monotonic, now, os.urandom, _ends(asked))
    try:
        with pytest.raises(Cancelled), line:
            pass
    finally:
        is_over.set()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_stops_a_sync_waits_for_no_friend_who_says_nothing(alice: Person, bob: Person, by: signal.Signals) -> None:
    """INT-122: each of them waited half a minute for the line and was told of that, as if nobody had stopped it."""
    found(alice)
    bob.lace("init", "--name", "bob", "--group", "others")
    with _silent() as (port, spoke):
        alice.lace("place", "add", "home", f"https://127.0.0.1:{port}/#{bob.lace('id')['node']}")
        code, said = _stopped(alice, "sync", "home", when=spoke, by=by)
    assert (code, "Stopped as you asked." in said) == (130, True)


def test_who_stops_a_sync_waits_for_no_web_server_that_says_nothing(alice: Person) -> None:
    """INT-122: a mailbox behind a plain web server is the other place that is waited for on a socket."""
    found(alice)
    is_silent, asked, is_over = Event(), Event(), Event()

    def answer(path: str) -> bytes:
        del path
        if is_silent.is_set():
            asked.set()
            is_over.wait()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_MARKER) + _MARKER

    with lying_server(answer) as uri:
        alice.lace("place", "add", "web", uri)
        is_silent.set()
        try:
            code, said = _stopped(alice, "sync", "web", when=asked.wait, by=signal.SIGINT)
        finally:
            is_over.set()
    assert (code, "Stopped as you asked." in said) == (130, True)
