"""A server that runs for longer than its certificate counts (CYB-15, CYB-16)."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import threading
import time

import pytest

from lace_tui.cli import serving
from tests.people import Person
from transports.http.identity import LIFETIME

_PATIENCE = 30.0  # seconds


def test_whoever_serves_for_long_gets_a_new_certificate_before_the_old_one_ends(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert serving._RENEWED < LIFETIME
    alice.lace("init", "--name", "alice", "--group", "friends")
    monkeypatch.setattr(serving, "_RENEWED", 1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    shown: set[str] = set()

    def look() -> None:
        until = time.monotonic() + _PATIENCE
        while len(shown) < 2 and time.monotonic() < until:
            try:
                shown.add(ssl.get_server_certificate(address, timeout=5))
            except OSError:
                time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    looking = threading.Thread(target=look)
    looking.start()
    result = alice.run("serve", "--listen", f"127.0.0.1:{address[1]}")
    looking.join()
    assert (result.code, len(shown)) == (0, 2)
    assert result.text.count("Serving.") == 1  # friends keep the address
