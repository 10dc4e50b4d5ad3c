"""News from a friend who serves, as soon as there is some, and `sync --follow`, which lives by it (INT-127)."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import lazy.live.news
from lazy.live.news import NewsLine, NewsLines
from lazy.live.serving import Service
from lazy.places.registry import Place, places
from lazy.results import PlaceResult
from tests.live.proxies import line_to
from tests.live.servers import Server, serving
from tests.live.test_bad_lines import ask, hello, member_key, session_of
from tests.live.test_live_sync import begin, found
from tests.people import ROOT, Person
from transports.address import AddressKind
from transports.errors import PlaceUnreachable, RefusedThere
from transports.http import server as http_server
from transports.http.hello import HEADER
from transports.http.paths import NEWS_PATH, STATE_BYTES
from vault.surroundings import Surroundings
from vault.vault import Vault

_SOON = 15.0  # seconds; less than a question is held without news, and than a look that nobody asked for
assert _SOON < http_server._HOLD


def vault_of(person: Person) -> Vault:
    (mark,) = (person.home / "lace" / "marks").glob("*.mark")
    machine = re.search(r"\nmachine ([0-9a-f]{32})\n", mark.read_text())
    assert machine is not None
    home, clock = person.home / "lace", time.time_ns
    return Vault(person.folder, Surroundings(home, machine[1], person.name, clock, os.urandom, lambda _seconds: None))


def reached(place: Place) -> list[PlaceResult]:
    return [PlaceResult(place.name, AddressKind.LIVE.value)]


def opened(vault: Vault) -> bool:
    """Tell whether the server takes one more line; it is closed again."""
    try:
        with closing(NewsLine(vault, places(vault)[0])) as line:
            line.open()
    except PlaceUnreachable:
        return False
    return True


class Following:
    """`lace sync --follow` as a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._left = b""

    def next(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next answer that is meant; it must come soon."""
        assert self.process.stdout is not None
        while True:
            line, found, self._left = self._left.partition(b"\n")
            if found:
                said: dict[str, Any] = json.loads(line)
                if is_it(said):
                    return said
                continue
            self._left = line
            assert select.select([self.process.stdout], [], [], _SOON)[0], "nothing was said"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, self.process.communicate()[1].decode()
            self._left += piece


# lace, with a clock that runs as many seconds ahead as a file says.
_MOVED_CLOCK = """
import sys, time
from pathlib import Path
from lace_tui.__main__ import main
from lace_tui.cli.context import World
ahead = Path(sys.argv[1])
sys.exit(main(sys.argv[2:], World(now_ns=lambda: time.time_ns() + int(ahead.read_text()) * 1_000_000_000)))
"""


@contextmanager
def following(person: Person, *words: str, ahead: Path | None = None) -> Iterator[Following]:
    """Let somebody follow for the block, and stop as a person does; it must end in peace."""
    program = ["-m", "lace_tui"] if ahead is None else ["-c", _MOVED_CLOCK, str(ahead)]
    process = subprocess.Popen(
        [sys.executable, *program, "--json", "sync", *words, "--follow"],
        cwd=person.folder,
        env=person.variables | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Following(process)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert b"Traceback" not in errors, errors.decode()


@pytest.fixture
def home(alice: Person, bob: Person) -> Iterator[Server]:
    """Alice's server, where bob was once."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        yield server


def test_what_a_friend_shares_comes_without_a_look(alice: Person, bob: Person, home: Server) -> None:
    """INT-127, DWN-4: both ways, between two who work at once; the next look would be a minute away."""
    with following(bob, "home") as bobs:
        bobs.next(lambda said: "places" in said)
        alice.write("a.txt", "two\n")
        alice.lace("release", "1.1.0")
        came = bobs.next(lambda said: bool(said.get("releases")))
        assert [release["version"] for release in came["releases"]] == ["1.1.0"]
        bob.lace("update")
        bob.write("a.txt", "three\n")
        bob.lace("release", "1.2.0")
        assert bobs.next(lambda said: said.get("sent", 0) > 0)
        assert "1.2.0" in alice.text("log")


def test_who_follows_looks_again_when_the_server_went_and_came_back(alice: Person, bob: Person) -> None:
    """LAZ-24, DWN-4, DWN-95: a line that is cut leaves what every visit does."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        port = f"127.0.0.1:{server.port}"
        bobs = following(bob, "home")
        follower = bobs.__enter__()
        try:
            follower.next(lambda said: "places" in said)
            server.process.send_signal(signal.SIGINT)  # with a question of bob's under way
            server.process.wait(30)
            assert follower.next(lambda said: "code" in said)["code"] == "place-unreachable"
        except BaseException:
            bobs.__exit__(None, None, None)
            raise
    alice.lace("release", "1.1.0")
    with serving(alice, "--listen", port) as again:
        try:
            # The key in the address is the node's, which stays; so is the port.
            assert again.uri == server.uri
            assert follower.next(lambda said: bool(said.get("releases")))["releases"][0]["version"] == "1.1.0"
        finally:
            bobs.__exit__(None, None, None)


@pytest.mark.parametrize(("seconds", "code"), [(3600, "refused-there"), (-366 * 86_400, "wrong-server")])
def test_a_clock_that_is_wrong_for_a_while_does_not_end_who_follows(
    alice: Person, bob: Person, home: Server, seconds: int, code: str
) -> None:
    """LAZ-16, INT-127: after a sleep or in a copied machine a clock may be hours off until somebody puts it right."""
    ahead = bob.home / "ahead"
    ahead.write_text("0")
    with following(bob, "home", ahead=ahead) as bobs:
        bobs.next(lambda said: "places" in said)
        ahead.write_text(str(seconds))
        alice.lace("release", "1.1.0")
        assert bobs.next(lambda said: "code" in said)["code"] == code
        ahead.write_text("0")
        assert bobs.next(lambda said: bool(said.get("releases")))["releases"][0]["version"] == "1.1.0"


def test_a_question_is_answered_when_something_is_shared(alice: Person, bob: Person, home: Server) -> None:
    with closing(vault_of(bob)) as vault, closing(NewsLine(vault, places(vault)[0])) as line:
        line.open()
        line.ask()
        alice.write("a.txt", "not shared yet\n")
        alice.lace("commit", "-m", "mine alone")
        assert not line.is_answered(0.0)
        alice.lace("release", "1.1.0")
        assert line.is_answered(_SOON)
        assert line.take()
        line.ask()
        assert not line.is_answered(0.0)


def test_where_a_server_stands_changes_with_what_a_visit_would_bring(alice: Person) -> None:
    """INT-125: by the number of the last record shared, and not by what is written for its owner alone."""
    found(alice)
    service = Service(lambda: vault_of(alice), lambda _served: None)
    try:
        first = service.state()
        assert len(first) == STATE_BYTES
        alice.write("a.txt", "two\n")
        alice.lace("commit", "-m", "mine alone")
        assert service.state() == first
        alice.lace("beacon", "--status", "busy")
        second = service.state()
        assert second != first
        alice.lace("release", "1.1.0")
        third = service.state()
        assert third not in {first, second}
        assert service.state() == third
    finally:
        service.rest()


def test_only_members_ask_and_not_without_end(alice: Person, bob: Person, home: Server) -> None:
    """CYB-17, faults.md row 9: the answer to a stranger is the same as everywhere; nobody holds all lines."""
    session, key = session_of(home, alice.lace("id")["group"]), member_key(bob)
    assert ask(home.port, NEWS_PATH, {}, b"") == (403, b"refused\n")
    assert ask(home.port, NEWS_PATH, {HEADER: hello(key, session)}, b"") == (403, b"refused\n")  # of another path
    status, state = ask(home.port, NEWS_PATH, {HEADER: hello(key, session, NEWS_PATH)}, b"")
    assert (status, len(state)) == (200, STATE_BYTES)
    long = {HEADER: hello(key, session, NEWS_PATH)}
    assert ask(home.port, NEWS_PATH, long, b"x" * (STATE_BYTES + 1)) == (403, b"refused\n")
    with closing(vault_of(bob)) as vault:
        held: list[NewsLine] = []
        while len(held) < 100:  # an opening counts too, so one of them may be refused before it is held
            line = NewsLine(vault, places(vault)[0])
            try:
                line.open()
            except PlaceUnreachable:
                break
            line.ask()
            held.append(line)
        assert http_server._WAITING_EACH <= len(held) < 100
        assert bob.lace("sync", "home")["round_trips"] == 1
        for line in held:
            line.close()
        assert any(opened(vault) for _ in range(100))  # whoever hung up holds nothing any more


def test_an_older_server_is_visited_as_before(bob: Person, home: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no server of before knows it refuses, and is asked once."""
    monkeypatch.setattr(lazy.live.news, "NEWS_PATH", "/lace/0/unheard-of")
    with closing(vault_of(bob)) as vault:
        place = places(vault)[0]
        with pytest.raises(RefusedThere):
            NewsLine(vault, place).open()
        with closing(NewsLines(vault)) as lines:
            assert not lines.keep(reached(place))
            assert lines.names == frozenset()
            monkeypatch.setattr(NewsLine, "open", lambda _line: pytest.fail("it was asked again"))
            assert not lines.keep(reached(place))
            bob.lace("place", "remove", "home")
            assert not NewsLines(vault).keep(reached(place))


def test_a_line_that_says_nothing_any_more_is_one_that_is_cut(
    bob: Person, home: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that woke in another network hears of no end of its lines; it would wait at a dead one for ever."""
    with closing(vault_of(bob)) as vault, closing(NewsLines(vault)) as lines:
        assert lines.keep(reached(places(vault)[0]))
        assert not lines.heard(0.0)
        later = time.monotonic() + 2 * http_server._HOLD + _SOON
        monkeypatch.setattr(lazy.live.news, "monotonic", lambda: later)
        assert lines.heard(0.0)
        assert lines.names == frozenset()
        assert lines.keep(reached(places(vault)[0]))  # a new one


def test_a_cut_line_is_a_reason_to_look(bob: Person, home: Server) -> None:
    with line_to(home.port) as wire:
        bob.lace("place", "remove", "home")
        bob.lace("place", "add", "home", home.uri.replace(str(home.port), str(wire.port)))
        with closing(vault_of(bob)) as vault, closing(NewsLines(vault)) as lines:
            assert lines.keep(reached(places(vault)[0]))
            assert lines.names == {"home"}
            assert not lines.heard(0.0)
            wire.cut_after = wire.came
            wire.cut_up_after = wire.went
            for _ in range(5):
                if lines.heard(_SOON):
                    break
            assert lines.names == frozenset()
