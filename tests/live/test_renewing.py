"""A server that runs for longer than its certificate counts (CYB-15, CYB-16)."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import pytest

from lace_tui.acts import server
from lace_tui.cli.context import Context, World
from lace_tui.verbs import serving
from lazy.live.answering import Served
from lazy.live.serving import Service
from tests.live.servers import serving as running
from tests.live.test_live_sync import begin, found
from tests.live.test_slots import Door, begin_body
from tests.people import Person
from transports.http.hello import Session
from transports.http.identity import LIFETIME
from transports.http.server import LiveServer
from vault.errors import Cancelled
from vault.records import Verifier
from vault.store.database import StoreDamaged
from vault.vault import Vault

_PATIENCE = 30.0  # seconds


def test_whoever_serves_for_long_gets_a_new_certificate_before_the_old_one_ends(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server._RENEWED < LIFETIME
    alice.lace("init", "--name", "alice", "--group", "friends")
    monkeypatch.setattr(server, "_RENEWED", 1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    shown: set[str] = set()
    made: list[bool] = []

    def make(*args: Any, **options: Any) -> LiveServer:
        """Make one; when the second comes, somebody else listens there for a moment."""
        made.append(True)
        with socket.create_server(address) if len(made) == 2 else nullcontext():
            return LiveServer(*args, **options)

    monkeypatch.setattr(server, "LiveServer", make)

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
    assert result.text.count("Nobody can listen at") == 1


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.seconds = int(time.time())

    def now_ns(self) -> int:
        return self.seconds * 10**9


@contextmanager
def _server(person: Person, clock: Clock, rate: int | None = None) -> Iterator[server.Server]:
    """Serve the vault of somebody in this process."""
    person.lace("init", "--name", person.name, "--group", "friends")
    world = World(environ=person.variables, cwd=person.folder, now_ns=clock.now_ns)
    with Context(world).open_vault() as vault:
        made = server.Server(vault, "127.0.0.1:0", lambda _: None, time.monotonic, rate)
    try:
        yield made
    finally:
        made.stop()


def _is_due(made: server.Server) -> bool:
    return made.is_due


def test_what_is_under_way_may_end_before_a_certificate_is_renewed(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-70: there is a day for it."""
    handler, clock, sessions = Door(), Clock(), []

    def session(*words: Any) -> Session:
        sessions.append(Session(*words))
        return sessions[-1]

    monkeypatch.setattr(server, "Service", lambda *_: handler)
    monkeypatch.setattr(server, "Session", session)
    with _server(alice, clock) as made:
        assert not _is_due(made)
        line = begin_body(made.port, sessions[0], 1)
        assert handler.reading.acquire(timeout=10)
        clock.seconds += server._RENEWED + 1
        assert not _is_due(made), "it waits"
        clock.seconds += LIFETIME - server._LAST - server._RENEWED
        assert _is_due(made), "as long as there is time"
        clock.seconds -= LIFETIME - server._LAST - server._RENEWED
        line.close()
        assert _comes(lambda: _is_due(made))
        port = made.port
        made.renew()
        assert (_is_due(made), made.is_over, made.port) == (False, False, port)


def test_a_clock_that_was_set_back_makes_a_new_certificate(alice: Person) -> None:
    """A machine that starts with a wrong clock gets the right one later; its server was no friend from then on."""
    clock = Clock()
    with _server(alice, clock) as made:
        clock.seconds -= 1
        assert not _is_due(made)
        clock.seconds -= 900
        assert _is_due(made)


def test_an_answer_that_waits_for_the_vault_ends_with_its_server(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-3: the app was left, and its program went on for as long as another process held the vault."""
    opened: list[Callable[[], Vault]] = []

    def noted(open_vault: Callable[[], Vault], tell: Callable[[Served], None]) -> Service:
        opened.append(open_vault)
        return Service(open_vault, tell)

    monkeypatch.setattr(server, "Service", noted)
    with _server(alice, Clock()) as made, opened[0]() as vault:
        vault.around.sleep(0)
        made.stop()
        with pytest.raises(Cancelled):
            vault.around.sleep(_PATIENCE)


def _comes(is_so: Callable[[], bool]) -> bool:
    until = time.monotonic() + _PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return is_so()


def test_a_signal_at_the_end_of_a_wait_does_not_make_a_server_wait_for_ever(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C came so once on a slow machine, and nothing stopped the server but a second one."""
    alice.lace("init", "--name", "alice", "--group", "friends")
    alarms = 0

    def on_alarm(*_: object) -> None:
        """Take longer than the wait that it interrupts; then press Ctrl-C; then give up."""
        nonlocal alarms
        alarms += 1
        if alarms == 1:
            time.sleep(2 * serving._STEP)
        elif alarms == 2:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            raise TimeoutError

    started = serving._attend

    def attend(*args: Any) -> bool:
        signal.setitimer(signal.ITIMER_REAL, serving._STEP / 2, 0.5)
        return started(*args)

    monkeypatch.setattr(serving, "_attend", attend)
    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        assert alice.run("serve", "--listen", "127.0.0.1:0").code == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_who_adopted_the_vault_is_served_under_the_new_key_from_the_next_visit_on(alice: Person, bob: Person) -> None:
    """The server went on under a key that was no longer this vault's, and told its friends nonsense (LAZ-70)."""
    found(alice)
    with running(alice) as home:
        begin(alice, home, bob)
        bob.lace("sync", "home")
        alice.lace("adopt", "--yes")
        assert bob.run("sync", "home").code != 0
        assert home.process.stdout is not None
        patience = threading.Timer(_PATIENCE, home.process.terminate)
        patience.start()
        again = next(said for line in home.process.stdout if "listening" in (said := json.loads(line)))
        patience.cancel()
        assert again["port"] == home.port
        assert again["listening"] != home.uri, "it names the new key"
        bob.lace("place", "add", "anew", again["listening"])
        alice.write("b.txt", "two\n")
        alice.lace("release", "1.1.0")
        came = bob.lace("sync", "anew")
        assert [release["version"] for release in came["releases"]] == ["1.1.0"]


def test_a_server_under_a_new_key_waits_for_its_port_too(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-70: it ended where somebody else listened there just then, and a renewed certificate waits for that."""
    alice.lace("init", "--name", "alice", "--group", "friends")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    made: list[bool] = []

    def make(*args: Any, **options: Any) -> LiveServer:
        """Make one; when the second comes, somebody else listens there for a moment."""
        made.append(True)
        with socket.create_server(address) if len(made) == 2 else nullcontext():
            return LiveServer(*args, **options)

    attends: list[bool] = []

    def attend(_context: Context, of: server.Server, *_words: Any) -> bool:
        """Be told that the vault was adopted; then the person stops the server."""
        attends.append(True)
        of._is_adopted.set()
        return len(attends) == 1

    monkeypatch.setattr(server, "LiveServer", make)
    monkeypatch.setattr(serving, "_attend", attend)
    result = alice.run("serve", "--listen", f"127.0.0.1:{address[1]}")
    assert (result.code, len(made)) == (0, 3)
    assert result.text.count("Nobody can listen at") == 1


def test_a_vault_whose_node_cannot_be_read_is_closed_again() -> None:
    """LAZ-70: a server that goes on for weeks kept each one open."""
    closed: list[bool] = []

    class Damaged:
        @property
        def node(self) -> Verifier:
            raise StoreDamaged("The store is damaged.")

        def close(self) -> None:
            closed.append(True)

    opened = server._opened_as(Verifier(bytes(32)), lambda: cast(Vault, Damaged()), threading.Event())
    with pytest.raises(StoreDamaged):
        opened()
    assert closed == [True]
