"""Live exchange over lines that break, and before people who are not let in (CYB-17, LAZ-70; faults.md rows 9, 10)."""

from __future__ import annotations

import http.client
import io
import os
import random
import re
import socket
import sqlite3
import ssl
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

import lazy.belonging.reputation
from tests.live.handlers import Nobody, make_server
from tests.live.proxies import line_to
from tests.live.servers import Server, serving
from tests.live.test_live_sync import begin, found, records
from tests.people import Person
from tests.vault import vaults
from transports.http.client import _Response
from transports.http.hello import HEADER, Session, make_hello
from transports.http.identity import check_server, client_context
from transports.http.paths import REQUEST_PATH, SYNC_PATH
from transports.http.waits import Waits
from vault.identity.keys import KeyStore
from vault.profile import Member
from vault.records import Seal, Tai, Verifier
from vault.suite import SigningKey

_CUTS = 12 if "LACE_TEST_PROFILE" in os.environ else 5


def through(person: Person, server: Server, port: int) -> None:
    """Let somebody reach the server over a line only."""
    person.lace("place", "remove", "home")
    person.lace("place", "add", "home", server.uri.replace(str(server.port), str(port)))


@pytest.mark.parametrize("way", ["down", "up"])
def test_a_cut_line_loses_less_than_a_batch(alice: Person, bob: Person, way: str) -> None:
    """LAZ-70, DWN-49, DWN-82: what came stays, the next run goes on there, and both vaults are whole after each cut."""
    chance = random.Random(way)
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.lace("update")
        sender = alice if way == "down" else bob
        (sender.folder / "noise.bin").write_bytes(chance.randbytes(3_000_000))
        sender.lace("release", "1.1.0")
        with line_to(server.port) as line:
            through(bob, server, line.port)
            for _ in range(_CUTS):
                cut = chance.randrange(20_000, 600_000)
                if way == "down":
                    line.cut_after = line.came + cut
                else:
                    line.cut_up_after = line.went + cut
                told = bob.run("--json", "sync", "home")
                assert told.code in {0, 20, 40}, told.err
                assert bob.lace("fsck")["ok"]
            line.cut_after = line.cut_up_after = None
            bob.lace("sync", "home")
            moved = line.came if way == "down" else line.went
    assert alice.lace("fsck")["ok"]
    assert records(alice) == records(bob)
    # Everything once; for each cut a batch and a record that were under way, and what both say again of themselves.
    assert moved < 3_000_000 * 1.02 + (_CUTS + 1) * (64 * 1024 + 80_000)


def ask(port: int, path: str, headers: dict[str, str], body: bytes, method: str = "POST") -> tuple[int, bytes]:
    """Send one request as anybody could, and return the answer's status and body."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=client_context())
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def session_of(server: Server, group: str) -> Session:
    """Return what a hello to this server is bound to."""
    node = Verifier.parse(server.uri.split("#")[1])
    with socket.create_connection(("127.0.0.1", server.port)) as plain, client_context().wrap_socket(plain) as tls:
        certificate = tls.getpeercert(binary_form=True)
        assert certificate is not None
        assert group.encode() not in certificate
        return Session(group, node, check_server(certificate, node, group, Tai.from_unix_ns(time.time_ns())))


def hello(key: SigningKey, session: Session, path: str = SYNC_PATH, seconds: int = 0) -> str:
    now = Tai.from_unix_ns(time.time_ns() + seconds * 10**9)
    return make_hello(key, session, path, now, os.urandom)


def member_key(person: Person) -> SigningKey:
    """Return a person's own key."""
    node = Verifier.parse(person.lace("id")["node"])
    return KeyStore(Path(person.variables["LACE_HOME"])).load(node, None)


def test_who_is_turned_away_leaves_evidence_that_one_can_read(alice: Person, bob: Person) -> None:
    """LAZ-73, CYB-11: a revoked member and a stranger, each noted once with when and why; noise proves nobody."""
    found(alice)
    stranger = SigningKey.from_seed(b"\x07" * 32)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        session = session_of(server, alice.lace("id")["group"])
        alice.lace("revoke", "bob", "--yes")
        for _ in range(2):
            assert bob.lace("sync", "home", expect=34)["error"]["code"] == "refused-there"
            for headers in ({}, {HEADER: "x" * 100}, {HEADER: hello(stranger, session)}):
                assert ask(server.port, SYNC_PATH, headers, b"body") == (403, b"refused\n")
            assert ask(server.port, SYNC_PATH, {HEADER: hello(member_key(alice), session)}, b"")[0] == 403
    against = alice.lace("peers", "bob")["evidence"]
    assert [(item["kind"], item["code"], item["place"]) for item in against] == [("refused", "revoked", "serve")]
    assert "was revoked and came" in alice.text("peers", "bob")
    strange = alice.lace("peers", stranger.verifier.text)
    assert [(item["kind"], item["code"]) for item in strange["evidence"]] == [("refused", "knocked")]
    alice.lace("peers", SigningKey.from_seed(b"\x08" * 32).verifier.text, expect=2)
    told = alice.lace("audit", "list", "--verb", "lace-evidence")["entries"]
    assert len(told) == 2
    assert alice.lace("audit", "verify")["ok"]


def test_clocks_that_differ_are_told_to_who_serves_and_a_stranger_learns_nothing(alice: Person, bob: Person) -> None:
    """CYB-17, APP-14: the visitor alone was told, who may not be the one whose clock is wrong."""
    found(alice)
    stranger = SigningKey.from_seed(b"\x07" * 32)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        session = session_of(server, alice.lace("id")["group"])
        bob.world["now_ns"] = lambda: time.time_ns() + 20 * 60 * 10**9
        for _ in range(2):
            told = bob.lace("sync", "home", expect=34)
        assert "compare the clocks of both machines" in told["error"]["hint"]
        late = make_hello(stranger, session, SYNC_PATH, Tai(0), lambda size: b"n" * size)
        answers = {ask(server.port, SYNC_PATH, {HEADER: text}, b"body") for text in (late, hello(stranger, session))}
        assert answers == {(403, b"refused\n")}
        del bob.world["now_ns"]
        bob.lace("sync", "home")
    said = [str(line["problem"]) for line in server.told if "clock" in str(line.get("problem"))]
    assert len(said) == 1
    assert re.match(r"their clock is (19|20) minutes ahead of the one here, so no answer went", said[0])


def test_a_crowd_of_strangers_is_noted_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-73: keys cost nothing to make, and so must cost the trail little."""
    monkeypatch.setattr(lazy.belonging.reputation, "_LIMIT", 3)
    vault = vaults.found(tmp_path)
    for number in range(6):
        lazy.belonging.reputation.note_turned_away(
            vault, SigningKey.from_seed(bytes([number]) * 32).verifier.text, "serve"
        )
    assert sum(lazy.belonging.reputation.counts(vault).values()) == 3
    vault.close()


def test_who_is_not_let_in_learns_nothing(alice: Person, bob: Person, cara: Person) -> None:
    """CYB-17: whatever a stranger sends, the answer is the same bytes, before and after there is something to know."""
    found(alice)
    stranger = SigningKey.from_seed(b"\x07" * 32)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        session = session_of(server, alice.lace("id")["group"])
        bobs, alices = member_key(bob), member_key(alice)
        once = hello(bobs, session)
        other = Session(session.group, bobs.verifier, session.public)
        elsewhere = Session(session.group, session.server, b"\x00" * len(session.public))
        tries = {
            "no hello": {},
            "noise": {HEADER: "x" * 100},
            "long": {HEADER: "A" * 4000},
            "a stranger's key": {HEADER: hello(stranger, session)},
            "a reflected hello": {HEADER: hello(alices, session)},
            "meant for another node": {HEADER: hello(bobs, other)},
            "meant for another run": {HEADER: hello(bobs, elsewhere)},
            "for another path": {HEADER: hello(bobs, session, REQUEST_PATH)},
            "from an hour ago": {HEADER: hello(bobs, session, seconds=-3600)},
            "from the future": {HEADER: hello(bobs, session, seconds=3600)},
        }
        assert ask(server.port, SYNC_PATH, {HEADER: once}, b"")[0] == 400
        tries["used before"] = {HEADER: once}
        first = {name: ask(server.port, SYNC_PATH, headers, b"body") for name, headers in tries.items()}
        assert set(first.values()) == {(403, b"refused\n")}
        assert ask(server.port, REQUEST_PATH, {}, b"noise") == (403, b"refused\n")
        for somebody in (bobs.verifier, SigningKey.from_seed(b"\x08" * 32).verifier):  # a member, and nobody
            admission = Member.to_plex(group=session.group, node=somebody, label="x", tai=Tai.from_unix_ns(0))
            asked = Seal.sign(admission, stranger).encode()
            assert ask(server.port, REQUEST_PATH, {}, asked) == (403, b"refused\n")
        assert ask(server.port, "/lace/0/other", {}, b"") == (403, b"refused\n")
        assert ask(server.port, "/", {}, b"", "GET") == (403, b"refused\n")
        assert ask(server.port, "/", {}, b"", "BREW") == (403, b"refused\n")  # what there is no such method for
        assert ask(server.port, "*", {}, b"", "OPTIONS") == (403, b"refused\n")
        alice.write("secret.txt", "nobody may know")
        alice.lace("release", "1.1.0")
        cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
        cara.lace("sync", "home")
        for name in ("no hello", "a stranger's key", "used before"):
            assert ask(server.port, SYNC_PATH, tries[name], b"body") == first[name]
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", server.port)) as plain, pytest.raises(OSError):  # noqa: PT011
            old.wrap_socket(plain)


def test_a_member_who_sends_noise_harms_nothing(alice: Person, bob: Person) -> None:
    """LAZ-70: a body that is no stream is an error; the server goes on, the vault is whole."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        session, key = session_of(server, alice.lace("id")["group"]), member_key(bob)
        chance = random.Random(5)
        for size in (0, 1, 5, 100, 70_000):
            status, _ = ask(server.port, SYNC_PATH, {HEADER: hello(key, session)}, chance.randbytes(size))
            assert status == 400
        too_long = {HEADER: hello(key, session), "X": "y" * 20_000}
        assert ask(server.port, SYNC_PATH, too_long, b"")[0] == 400
        assert bob.lace("sync", "home")["round_trips"] == 1
    assert alice.lace("fsck")["ok"]


def test_connections_that_only_drip_keep_nobody_out(alice: Person, bob: Person) -> None:
    """faults.md row 9: half-open connections wait for nothing that others need."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        idle = []
        for _ in range(40):
            plain = socket.create_connection(("127.0.0.1", server.port))
            tls = client_context().wrap_socket(plain)
            tls.sendall(b"POST /lace/0/sync HTTP/1.1\r\n")
            idle.append(tls)
        assert bob.lace("sync", "home")["received"] > 0
        for tls in idle:
            tls.close()


def says_nonsense(person: Person) -> None:
    """Let what somebody says of each log be no entry of a vector."""
    with closing(sqlite3.connect(person.folder / ".vault" / "store.db")) as store, store:
        store.execute("UPDATE vector SET plex = x'0102'")


def test_a_vector_that_is_none_is_its_tellers_fault_and_stops_no_other_place(
    alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-29, LAZ-70: no fault of lace, on whichever side it is told; the other places are visited and shown."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob, cara)
        for person in (bob, cara):
            person.lace("sync", "home")
        cara.write("c.txt", "three\n")
        cara.lace("release", "1.1.0")
        says_nonsense(cara)
        assert "(400)" in cara.run("--json", "sync", "home").json["error"]["message"]
        bob.lace("place", "add", "stick", str(tmp_path / "stick"))
        says_nonsense(alice)
        told = bob.lace("sync", "--all", expect=1)
    assert [(place["name"], place["queued"]) for place in told["places"]] == [("home", True), ("stick", False)]
    assert [problem["code"] for problem in told["problems"]] == ["bad-stream"]
    ((who, problem),) = {(said["peer"], said["problem"]) for said in server.told if said["problem"]}
    assert (who, problem) == ("cara", "What the other side says of itself cannot be read.")


class _Interim:
    """The end of a line at which interim answers come for ever."""

    _ONE = b"HTTP/1.1 100 Continue\r\n\r\n"

    def read(self, size: int, buffer: memoryview) -> int:
        came = (self._ONE * (size // len(self._ONE) + 1))[:size]
        buffer[: len(came)] = came
        return len(came)

    def makefile(self, mode: str, buffering: int = -1) -> io.BytesIO:
        return io.BytesIO()


def test_an_answer_that_never_begins_comes_to_an_end() -> None:
    """CYB-17, faults.md row 15: the library reads interim answers for ever, and so did a sync."""
    response = _Response(Waits(30.0, time.sleep), _Interim(), method="POST")
    with closing(response), pytest.raises(TimeoutError, match="does not begin"):
        response.begin()


def _has_ipv6() -> bool:
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return socket.has_dualstack_ipv6()
    return False


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["", "::"])
def test_every_address_of_this_machine_is_of_both_families(host: str) -> None:
    """CYB-17: a server at [::]:7433 printed an IPv4 address, at which nobody answered."""
    server, _ = make_server(Nobody(), host)
    server.start()
    try:
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, server.port), 5).close()
    finally:
        server.stop()
