"""An answer is read ahead of who stores it: whole, in order, within bounds, and given up at once (CYB-17, LAZ-70)."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from lazy.live.intake import with_hashes
from lazy.receiving.receive import LAST_BATCH_BYTES
from tests.live.handlers import GUEST, RECORDS, Says, connection, now, serving_with
from tests.live.proxies import line_to
from tests.live.servers import serving
from tests.live.test_bad_lines import through
from tests.live.test_live_sync import begin, found, records
from tests.people import Person
from transports.errors import BadStream, PlaceUnreachable
from transports.http.client import Incoming
from transports.http.hello import HEADER, make_hello
from transports.http.paths import SYNC_PATH
from transports.http.read_ahead import read_ahead
from transports.http.stream import Frame, StreamReader, StreamWriter


@contextmanager
def _answer(then: Callable[[StreamWriter], object]) -> Iterator[Incoming]:
    """Ask a server that does something after its records."""
    with serving_with(Says(then)) as (port, _), connection(port) as line:
        yield line.post(SYNC_PATH, GUEST, [b"here I am"])


def _read_ahead() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "lace-read-ahead"]


def _named(frame: Frame) -> Frame:
    assert _read_ahead()
    return with_hashes(frame)


def test_frames_come_in_order_with_their_hashes_and_the_thread_ends() -> None:
    with _answer(StreamWriter.end) as source:
        frames = list(read_ahead(iter(StreamReader(source)), source, _named))
    assert [record for frame in frames for record in frame.records] == RECORDS
    assert sum(hash_ is not None for frame in frames for hash_ in frame.hashes) > len(RECORDS) // 2
    assert not _read_ahead()


def test_an_answer_in_chunks_is_for_those_who_know_them() -> None:
    """CYB-17: HTTP/1.0 has none, and would take their heads for what was said."""
    with _answer(StreamWriter.end) as source:
        assert len(list(StreamReader(source))) > len(RECORDS) // 2
        line = source._connection
        assert line._session is not None
        assert line._http.sock is not None
        hello = make_hello(GUEST, line._session, SYNC_PATH, now(), os.urandom)
        head = f"POST {SYNC_PATH} HTTP/1.0\r\nContent-Length: 0\r\n{HEADER}: {hello}\r\n\r\n"
        line._http.sock.sendall(head.encode())
        assert line._http.sock.recv(12) == b"HTTP/1.1 403"


def test_an_answer_is_whole_however_it_is_read() -> None:
    """CYB-17: bytes that lie between TLS and who reads are no more lost to one way of reading than to the other."""
    with _answer(StreamWriter.end) as source:
        whole = b"".join(iter(lambda: source.read(1 << 16), b""))
    chance, room = random.Random(9), memoryview(bytearray(1 << 16))
    with _answer(StreamWriter.end) as source:
        came = bytearray()
        while True:
            size = chance.choice([1, 700, 1023, 1024, 1025, 5000, 1 << 16])
            part = source.read(size) if chance.random() < 0.5 else room[: source.readinto(room[:size])]
            if not part:
                break
            came += part
    assert came == whole


def test_what_came_before_a_cut_is_given_before_the_fault() -> None:
    def goes_away(writer: StreamWriter) -> None:
        del writer
        raise TimeoutError

    came: list[bytes] = []

    def take(source: Incoming) -> None:
        for frame in read_ahead(iter(StreamReader(source)), source, _named):
            came.extend(frame.records)

    with _answer(goes_away) as source, pytest.raises((PlaceUnreachable, BadStream)):
        take(source)
    assert len(came) > len(RECORDS) - 4  # the writer held the rest back, to hash it in one go
    assert came == RECORDS[: len(came)]
    assert not _read_ahead()


def test_a_body_that_is_given_up_is_not_waited_for() -> None:
    """Whoever cancels goes at once, whatever the other side does."""
    released = threading.Event()
    waited: list[bool] = []
    with _answer(lambda _: waited.append(released.wait(20))) as source:
        with closing(read_ahead(iter(StreamReader(source)), source, _named)) as frames:
            taken = [next(frames) for _ in range(15)]
            assert _read_ahead()
        assert not _read_ahead()
        assert not waited  # the other side is still about to say more
        released.set()
    assert [record for frame in taken for record in frame.records] == RECORDS[:15]


def test_no_more_is_read_ahead_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory, DWN-67: whoever stores nothing for a while stops the line."""
    monkeypatch.setattr("transports.http.read_ahead._HELD_BYTES", 1_000_000)
    drawn = 0
    is_full, is_all = threading.Event(), threading.Event()

    def counted(frames: StreamReader) -> Iterator[Frame]:
        nonlocal drawn
        for frame in frames:
            drawn += 1
            if drawn > 12 + 10:
                is_full.set()
            yield frame
        is_all.set()

    with (
        _answer(StreamWriter.end) as source,
        closing(read_ahead(counted(StreamReader(source)), source, _named)) as frames,
    ):
        taken = [next(frames) for _ in range(12)]
        assert is_full.wait(20)
        assert not is_all.wait(0.2)  # it holds what it may, and stays so for as long as nobody takes it
        assert drawn <= len(taken) + 2 * 11
        taken += frames
    assert len(taken) == len(RECORDS)
    assert not _read_ahead()


def test_as_much_is_read_ahead_as_is_stored_at_once() -> None:
    """Performance W2: the line goes on while the disk takes what came before."""
    noise = random.Random(1).randbytes(60_000)
    drawn = 0
    is_much = threading.Event()

    def more(writer: StreamWriter) -> None:
        for _ in range(2 * LAST_BATCH_BYTES // len(noise)):
            writer.records([noise])
        writer.end()

    def counted(frames: StreamReader) -> Iterator[Frame]:
        nonlocal drawn
        for frame in frames:
            drawn += sum(map(len, frame.records))
            if drawn > LAST_BATCH_BYTES:
                is_much.set()
            yield frame

    with (
        _answer(more) as source,
        closing(read_ahead(counted(StreamReader(source)), source, lambda frame: frame)) as frames,
    ):
        while next(frames).records != (noise,):
            pass  # the thread has begun
        assert is_much.wait(20)


def test_small_records_count_for_the_memory_that_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory, DWN-67: of records of some bytes most is what each takes besides."""
    monkeypatch.setattr("transports.http.read_ahead._HELD_BYTES", 1_000_000)
    is_all = threading.Event()

    def more(writer: StreamWriter) -> None:
        for number in range(150):
            writer.records([b"%d" % number] * 100)
        writer.end()

    def counted(frames: StreamReader) -> Iterator[Frame]:
        yield from frames
        is_all.set()

    with (
        _answer(more) as source,
        closing(read_ahead(counted(StreamReader(source)), source, lambda frame: frame)) as frames,
    ):
        while len(next(frames).records) < 100:
            pass  # the thread has begun
        assert not is_all.wait(0.5)


def test_what_was_read_ahead_of_a_cut_is_stored(alice: Person, bob: Person) -> None:
    """LAZ-70: a cut far into an answer costs a record and 64 KiB, as one at its beginning does."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        (alice.folder / "noise.bin").write_bytes(random.Random(1).randbytes(5_000_000))
        alice.lace("release", "1.1.0")
        with line_to(server.port) as line:
            through(bob, server, line.port)
            line.cut_after = line.came + 2_500_000
            assert bob.run("--json", "sync", "home").code in {20, 40}
            assert not _read_ahead()
            line.cut_after = None
            bob.lace("sync", "home")
            moved = line.came
    assert bob.lace("fsck")["ok"]
    assert records(alice) == records(bob)
    assert moved < 5_000_000 * 1.02 + 2 * (64 * 1024 + 262_144)
