"""A drop behind a plain web server, by the commands people run and by servers that lie (INT-122, CYB-15 to CYB-18)."""

from __future__ import annotations

import errno
import gzip
import itertools
import random
import re
import shutil
import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.web_hosts import lying_server, plain_server
from transports.address import parse_stored
from transports.errors import (
    AccessRefused,
    NotADrop,
    PlaceNotWritable,
    PlaceUnreachable,
    UnknownPlaceKind,
    UnreadableFile,
    WrongDrop,
)
from transports.http.reasons import why_unreached
from transports.http.static import StaticMailbox
from transports.http.web import RangeAnswer, Web, parse_web
from transports.mailbox import ByteCount
from vault.errors import LaceError
from vault.records import Verifier

MARKER = b"lace-drop/0\nid 00112233445566778899aabbccddeeff\n"


def ok(body: bytes, *more: str, length: int | None = None) -> bytes:
    """An answer of a server, with the length it claims."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body) if length is None else length}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture
def friends(shelf: Shelf) -> Path:
    return shelf.lay(_friends)


def _friends(root: Path) -> Path:
    alice, bob, drop = person_in(root, "alice"), person_in(root, "bob"), root / "www" / "drop"
    drop.parent.mkdir()
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(drop))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob):
        person.lace("sync", "stick")
    return drop


@pytest.mark.parametrize("tags", [True, False], ids=["entity tags and ranges", "neither"])
def test_a_friend_reads_a_drop_behind_a_web_server(alice: Person, bob: Person, friends: Path, tags: bool) -> None:
    alice.write("notes.txt", "one\n")
    alice.write("photo.bin", bytes(range(256)) * 10_000)
    made = alice.lace("release", "1.0.0", "-m", "first")
    alice.lace("sync", "stick")
    with plain_server(friends.parent, tags=tags) as (uri, log):
        added = bob.lace("place", "add", "site", f"{uri}drop")
        assert (added["kind"], added["uri"]) == ("http", f"{uri}drop/")
        got = bob.lace("sync", "site")
        assert [new["release"] for new in got["releases"]] == [made["release"]]
        assert got["fixed_point"]
        assert not got["safe_to_remove"]
        bob.lace("update")
        assert (bob.folder / "photo.bin").read_bytes() == bytes(range(256)) * 10_000
        log.asked.clear()
        again = bob.lace("sync", "site")
        assert (again["received"], again["sent"]) == (0, 0)
        assert again["round_trips"] == len(log.asked) == 3  # the marker and two heads
        if tags:
            assert [status for _, status in log.asked] == [200, 304, 304]


def test_a_kept_head_that_rotted_is_fetched_again(alice: Person, bob: Person, friends: Path) -> None:
    """APP-13: the server says that nothing changed, so a bit that rotted here would be believed for ever."""
    with plain_server(friends.parent) as (uri, log):
        bob.lace("place", "add", "site", f"{uri}drop")
        bob.lace("sync", "site")
        kept = sorted((bob.folder / ".vault" / "web").iterdir())
        assert len(kept) == 2
        for path in kept:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        log.asked.clear()
        assert bob.lace("sync", "site")["problems"] == []
        assert [status for _, status in log.asked] == [200, 200, 200]
        log.asked.clear()
        bob.lace("sync", "site")
        assert [status for _, status in log.asked] == [200, 304, 304]


def test_what_follows_an_answer_that_has_no_body_is_not_read(bob: Person, friends: Path) -> None:
    """CYB-15, CYB-16: it filled the memory, counted as nothing, and one that drips held the sync for ever."""
    with plain_server(friends.parent, floods=True) as (uri, log):
        bob.lace("place", "add", "site", f"{uri}drop")
        bob.lace("sync", "site")
        log.asked.clear()
        log.body = 0
        again = bob.lace("sync", "site")
        assert (again["received"], again["problems"]) == (0, [])
        assert [status for _, status in log.asked] == [200, 304, 304]
        assert log.body < 32 << 20


def test_an_unchanged_file_that_nobody_asked_about_is_refused() -> None:
    """CYB-16: the reader has nothing that it could be the same as."""
    lie = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    with lying_server(lambda _: lie) as uri, pytest.raises(UnreadableFile, match="the server says 304"):
        Web(parse_web(uri), ByteCount()).get("x")


def test_no_more_is_sent_than_is_read(alice: Person, bob: Person, friends: Path) -> None:
    """CYB-15: a bundle is read in several rounds, and the server is asked for the parts of each."""
    alice.write("photo.bin", random.Random(3).randbytes(1_500_000))
    for number in range(20):
        alice.write(f"{number}.bin", random.Random(number).randbytes(20_000))
    alice.lace("release", "1.0.0")
    alice.lace("sync", "stick")
    with plain_server(friends.parent) as (uri, log):
        bob.lace("place", "add", "site", f"{uri}drop")
        log.body = 0
        got = bob.lace("sync", "site")
        assert got["received"] > 20
        assert got["bytes_received"] <= log.body + 1000 < 2_100_000
        assert got["round_trips"] < 20


def test_nothing_is_left_behind_a_web_server(alice: Person, bob: Person, friends: Path) -> None:
    # LAZ-24: what waits stays queued, and the drop is as it was
    with plain_server(friends) as (uri, _):
        bob.lace("place", "add", "site", uri)
        bob.write("mine.txt", "bob\n")
        bob.lace("release", "1.0.0", "-m", "mine")
        before = {path: path.read_bytes() for path in friends.rglob("*") if path.is_file()}
        bob.lace("sync", "site")
        assert {path: path.read_bytes() for path in friends.rglob("*") if path.is_file()} == before
        place = StaticMailbox.open(uri, tuple)
        with pytest.raises(PlaceNotWritable, match="nothing can be left there"):
            place.writer("friends/x", Verifier(bytes(32)))
    bob.lace("sync", "stick")
    assert alice.lace("sync", "stick")["releases"][0]["version"] == "1.0.0"


def test_nothing_waits_for_a_copy_that_is_away(alice: Person, bob: Person, friends: Path) -> None:
    """CYB-15: of a place that only gives, it was said that what waits for it stays queued."""
    with plain_server(friends) as (uri, _):
        bob.lace("place", "add", "web", uri)
    told = bob.run("sync", "web")
    assert (told.code, "queued" in told.text + told.err) == (20, False)
    one_of_two = bob.run("sync")
    assert "web: nothing could be moved\n" in one_of_two.text + one_of_two.err


def test_no_hint_sends_what_is_mine_to_a_place_that_is_only_read(alice: Person, bob: Person, friends: Path) -> None:
    """LAZ-24, LAZ-47: a visit there leaves nothing behind, so the way that it goes is named instead."""
    with plain_server(friends) as (uri, _):
        bob.lace("place", "add", "site", uri)
        bob.lace("place", "remove", "stick")
        bob.write("mine.txt", "bob\n")
        assert bob.text("release", "1.0.0", "-m", "mine").splitlines()[-1] == "Next: lace place add NAME DIR"
        assert bob.lace("sync", "site")["next"] == "lace place add NAME DIR"
        assert {entry["reason"] for entry in bob.lace("queue")["entries"]} == {
            "local, not pushed; no place serves alice: lace place add NAME DIR"
        }
        bob.lace("place", "add", "stick", str(friends))
        assert bob.lace("sync", "site")["next"] == "lace sync stick"
        pushed = bob.lace("push", "site")
        assert (pushed["queued"], pushed["next"]) == (True, "lace sync stick")
        assert "stays queued" not in bob.text("push", "site")
        bob.lace("sync", "stick")
        assert bob.lace("sync", "site")["next"] == ""


def test_a_damaged_byte_on_the_server_costs_its_record_and_no_more(alice: Person, bob: Person, friends: Path) -> None:
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0", "-m", "first")
    alice.lace("sync", "stick")
    kept = {path: path.read_bytes() for path in friends.rglob("*") if path.is_file()}
    with plain_server(friends) as (uri, _):
        bob.lace("place", "add", "site", uri)
        for path, data in kept.items():
            if path.name == "lace-drop.txt":
                continue
            path.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :])
        bob.run("sync", "site")
        assert not (bob.folder / "notes.txt").exists()
        for path, data in kept.items():
            path.write_bytes(data)
        assert [new["version"] for new in bob.lace("sync", "site")["releases"]] == ["1.0.0"]


def test_an_older_drop_on_the_server_is_noticed(alice: Person, bob: Person, friends: Path, tmp_path: Path) -> None:
    # CYB-18: the number of a head rises; and nobody who reads there writes anything anew
    old = tmp_path / "old"
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0", "-m", "first")
    alice.lace("sync", "stick")
    shutil.copytree(friends, old)
    alice.write("notes.txt", "two\n")
    alice.lace("release", "1.1.0", "-m", "second")
    alice.lace("sync", "stick")
    with plain_server(friends) as (uri, _):
        bob.lace("place", "add", "site", uri)
        bob.lace("sync", "site")
        shutil.rmtree(friends)
        shutil.copytree(old, friends)
        problems = bob.lace("sync", "site", expect=1)["problems"]
    assert [problem["code"] for problem in problems] == ["rolled-back"]
    assert "made anew by whoever keeps it" in problems[0]["hint"]


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (ok(MARKER, length=len(MARKER) + 5), PlaceUnreachable, "before its length"),
        (ok(b"x" * 300), NotADrop, "no drop that lace can read"),
        (ok(b"<html>"), NotADrop, "no drop that lace can read"),
        (ok(gzip.compress(bytes(1 << 20)), "Content-Encoding: gzip"), NotADrop, "another form"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + MARKER, NotADrop, "says 200"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", NotADrop, "another form"),
        (ok(MARKER, length=1 << 60), NotADrop, "no drop that lace can read"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", NotADrop, "no redirect"),
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", NotADrop, "the server has no lace-drop.txt"),
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", AccessRefused, "without a password"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", PlaceUnreachable, "says 503"),
        (b"HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n", PlaceUnreachable, "says 429"),
        (b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n", PlaceUnreachable, "cannot be reached"),
        (b"\x16\x03\x01nonsense\r\n\r\n", PlaceUnreachable, "reached: what answers there does not speak HTTP/1.1."),
        (b"HTTP/7.7 200 OK\r\n\r\n", PlaceUnreachable, "reached: what answers there does not speak HTTP/1.1."),
        (b"HTTP/1.1 secret OK\r\n\r\n", PlaceUnreachable, "reached: what answers there does not speak HTTP/1.1."),
        (b"", PlaceUnreachable, "it hung up without an answer"),
        (b"HTTP/1.1 200 " + b"O" * 70_000, PlaceUnreachable, "does not speak HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 101 + b"\r\n", PlaceUnreachable, "does not speak HTTP/1.1"),
    ],
    ids=[
        "short",
        "long",
        "page",
        "gzip",
        "no-length",
        "chunked",
        "huge",
        "redirect",
        "404",
        "403",
        "503",
        "429",
        "line",
        "tls",
        "version",
        "status",
        "empty",
        "long line",
        "many headers",
    ],
)
def test_a_lying_server_is_refused_with_a_sentence(answer: bytes, error: type[LaceError], says: str) -> None:
    """CYB-16, INT-122: also where the line that it begins with was the whole sentence."""
    with lying_server(lambda _: answer) as uri, pytest.raises(error, match=says) as caught:
        StaticMailbox.open(uri, tuple)
    assert not any(word in (caught.value.hint or "") for word in ("stick", "another place"))  # no way out of a server


@pytest.mark.parametrize(
    ("answer", "code", "says", "way"),
    [
        (b"HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n", 20, "it says 429", "again later"),
        (b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", 1, "alice: .* says 400", "whoever runs the web server"),
        (ok(gzip.compress(MARKER), "Content-Encoding: gzip"), 1, "alice: .* another form", "without compression"),
        (ok(b"<html>sign in</html>"), 1, "alice: The head", "Whoever keeps the copy behind that address"),
    ],
    ids=["too-often", "400", "gzip", "page"],
)
def test_what_a_server_does_to_a_mailbox_is_not_its_owners_to_mend(
    alice: Person, bob: Person, friends: Path, answer: bytes, code: int, says: str, way: str
) -> None:
    """CYB-16, LAZ-24: a host that answers nobody for a while made alice repair what is whole."""
    marker = ok((friends / "lace-drop.txt").read_bytes())
    with lying_server(lambda path: marker if path.endswith("lace-drop.txt") else answer) as uri:
        bob.lace("place", "add", "site", uri)
        done = bob.run("sync", "site")
    assert done.code == code
    assert re.search(says, said := done.text + done.err)
    assert way in said
    assert "fsck" not in said
    assert "next sync" not in said


def test_a_server_without_tls_is_told_in_own_words() -> None:
    """INT-122, CYB-16: a person was told the line of OpenSSL's source in which it was found."""
    with lying_server(lambda _: ok(MARKER)) as uri, pytest.raises(PlaceUnreachable) as caught:
        StaticMailbox.open(uri.replace("http:", "https:"), tuple)
    assert caught.value.message.endswith("/ cannot be reached: what answers there speaks no TLS 1.2 or newer.")
    cut = ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "EOF occurred in violation of protocol (_ssl.c:1006)")
    assert why_unreached(cut) == "the line was cut"
    assert why_unreached(TimeoutError("timed out")) == "timed out"
    assert why_unreached(ConnectionResetError(errno.ECONNRESET, "Connection reset")) == "connection reset"


@pytest.mark.parametrize(
    "answer",
    [
        ok(b"<html>sign in</html>"),
        b"HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["page", "elsewhere", "missing"],
)
def test_what_answers_for_a_known_copy_may_be_the_network_on_the_way(
    alice: Person, bob: Person, friends: Path, answer: bytes
) -> None:
    """CYB-16: in a hotel, whose network wants a login first, a place of a year was to be named by its directory."""
    answers = [ok((friends / "lace-drop.txt").read_bytes())]
    with lying_server(lambda _: answers[-1]) as uri:
        bob.lace("place", "add", "site", uri)
        answers.append(answer)
        told = bob.lace("sync", "site", expect=25)["error"]
    assert "wants a login first" in told["hint"]
    assert "Name the directory" not in told["hint"]


def test_interim_answers_before_the_file_are_passed_over() -> None:
    """CYB-16, INT-122: a server that sends early hints held no drop."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    with lying_server(lambda _: hints * 2 + ok(MARKER)) as uri:
        assert MARKER.decode().find(StaticMailbox.open(uri, tuple).place_id) > 0


def test_interim_answers_for_ever_are_not_waited_for() -> None:
    """CYB-17: faults.md row 25."""
    hint = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        uri = f"http://127.0.0.1:{listening.getsockname()[1]}/"

        def hints() -> None:
            talk, _ = listening.accept()
            with talk, suppress(OSError):
                while True:
                    talk.sendall(hint * 1000)

        thread = threading.Thread(target=hints)
        thread.start()
        with pytest.raises(PlaceUnreachable, match="its answer does not begin"):
            StaticMailbox.open(uri, tuple, silence=0.2)
        thread.join()


def test_a_silent_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # proxies are not asked
    with socket.create_server(("127.0.0.1", 0)) as listening:
        uri = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(PlaceUnreachable, match="timed out"):
            StaticMailbox.open(uri, tuple, silence=0.05)


def test_a_dripping_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-16, faults.md row 15: who read more than a byte at once waited until all of it had dripped in."""
    monkeypatch.setattr("transports.http.pace._WINDOW", 0.05)
    monkeypatch.setattr("transports.http.pace.RATE_FLOOR", 1_000_000)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            line, _ = listening.accept()
            line.recv(4096)
            with line, suppress(OSError):
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n")
                for _ in range(300):
                    line.sendall(b"x")
                    time.sleep(0.01)

        thread = threading.Thread(target=drip)
        thread.start()
        web = Web(parse_web(f"http://127.0.0.1:{listening.getsockname()[1]}/"), ByteCount())
        answer = web.get("x")
        assert isinstance(answer, RangeAnswer)
        with pytest.raises(PlaceUnreachable, match=r"/ sends fewer than 1000000 bytes a second\.$") as refused:
            answer.read(300)
        assert "online" not in refused.value.hint  # as it is: it was reached
        thread.join()


def test_a_head_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """faults.md rows 15 and 25: each byte comes before a silence is over, and the head never ends."""
    looked = threading.Semaphore(0)
    seconds = itertools.count()

    def clock() -> float:
        looked.release()  # a byte a second, however slow this machine is
        return float(next(seconds))

    monkeypatch.setattr("transports.http.web.monotonic", clock)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            line, _ = listening.accept()
            line.recv(4096)
            with line, suppress(OSError):
                line.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                for _ in range(500):
                    looked.acquire(timeout=60)
                    line.sendall(b"y")

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(PlaceUnreachable, match="does not begin"):
            StaticMailbox.open(f"http://127.0.0.1:{listening.getsockname()[1]}/", tuple, silence=30)
        assert 60 < next(seconds) < 70
        for _ in range(500):
            looked.release()
        thread.join()


def test_another_drop_at_the_address_is_noticed() -> None:
    with lying_server(lambda _: ok(MARKER)) as uri:
        assert StaticMailbox.open(uri, tuple).place_id == "00112233445566778899aabbccddeeff"
        with pytest.raises(WrongDrop):
            StaticMailbox.open(uri, tuple, expected_id="f" * 32)


def test_a_server_of_another_range_is_refused() -> None:
    lie = b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\n0123456789"
    with lying_server(lambda _: lie) as uri, pytest.raises(UnreadableFile, match="not answered with the file"):
        Web(parse_web(uri), ByteCount()).get("x", start=5)


def test_no_way_out_of_the_directory_by_a_name() -> None:
    with lying_server(lambda _: ok(MARKER)) as uri:
        place = StaticMailbox.open(uri, tuple)
        for name in ("../lace-drop.txt", "head.rec", "", "a\r\nHost: x"):
            with pytest.raises(UnreadableFile):
                place.open_file("g/x", Verifier(bytes(32)), name)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("https://example.org", "https://example.org/"),
        ("https://Example.org:8443/a%20b", "https://example.org:8443/a%20b/"),
        ("http://localhost:80/", "http://localhost:80/"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x/"),
        ("http+plain://example.org/x", "http+plain://example.org/x/"),
        ("https://example.org/caf%e9/", "https://example.org/caf%E9/"),
        ("https://example.org/a%2Fb", "https://example.org/a%2Fb/"),
    ],
)
def test_web_addresses(text: str, uri: str) -> None:
    assert parse_web(text).uri == uri
    assert parse_web(uri).uri == uri


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://example.org/", "everybody on the way"),
        ("https://alice:secret@example.org/", "name or password"),
        ("https://example.org/?a=b", "a query"),
        ("https://example.org/#x", "a query"),
        ("https://example.org/a/../../b", "out of its own"),
        ("https://example.org:0/", "no TCP port"),
        ("https://example.org:70000/", "not a web address"),
        ("https://", "not a web address"),
        ("https://[::1", "not a web address"),
        ("ftp://example.org/", "not a web address"),
        ("https://ex\u00e4mple.org/", "not a web address"),
    ],
)
def test_addresses_that_are_refused(text: str, says: str) -> None:
    # CYB-15: nothing goes over a network in the clear unless asked for by name
    with pytest.raises(UnknownPlaceKind, match=says):
        parse_web(text)


def test_a_host_that_none_can_be_is_out_of_reach() -> None:
    """CYB-16, APP-14: a vault may know such a place from an earlier lace; it ended in a fault of lace."""
    with pytest.raises(PlaceUnreachable, match="no machine can be called so"):
        Web(parse_web("https://example..org/"), ByteCount()).get("x")
    assert parse_stored("https://example..org/").uri == "https://example..org/", "what was a place stays one"


def test_a_cut_anywhere_is_a_place_that_went_away(alice: Person, bob: Person, friends: Path) -> None:
    # what came before the cut stays, and the next visit gets the rest
    photo = random.Random(7).randbytes(400_000)
    alice.write("photo.bin", photo)
    alice.lace("release", "1.0.0", "-m", "first")
    alice.lace("sync", "stick")
    ends: list[int | None] = [None]

    def answer(path: str) -> bytes:
        file = friends / path.lstrip("/")
        if not file.is_file():
            return b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
        data = file.read_bytes()
        return ok(data if path.endswith(".txt") else data[: ends[0]], length=len(data))

    with lying_server(answer) as uri:
        bob.lace("place", "add", "site", uri)
        for end in (0, 1, 100, 1_000, 3_000):
            ends[0] = end
            assert bob.run("sync", "site").code == PlaceUnreachable.exit_code
        ends[0] = None
        bob.lace("sync", "site")
    bob.lace("update")
    assert (bob.folder / "photo.bin").read_bytes() == photo
