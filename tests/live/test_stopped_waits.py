"""Ctrl-C while a line is silent: nobody waits for its end who asked to stop (INT-122)."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from tests.live.test_live_sync import found
from tests.people import ROOT, Person
from tests.transports.web_hosts import lying_server
from transports.drop.marker import marker_text

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
