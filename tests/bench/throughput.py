"""Raw throughput of a live exchange beside a bare TLS download of the same bytes by the same server and client library.

Both sides run in processes of their own. The exchange is everything that travels: hello, frames, compression, digests
on both sides. The bare download looks at no byte: it sends slices of what lies in memory and counts what comes; what a
digest on both sides alone costs it is a figure beside, and so is the CPU time of both ends, which other work on the
machine does not move as it moves the clock. What a vault does with the records is the last figure.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tests.bench.bare import HASHED, PIECE, PLAIN, Serving, download, serve_bare, serving, tell_time
from tests.bench.processors import apart, only_on
from tests.bench.table import Figure
from tests.live import servers
from tests.people import Person
from transports.address import LiveAddress
from transports.http.client import LiveConnection
from transports.http.hello import OtherClock, Session
from transports.http.identity import make_identity
from transports.http.pace import Pace
from transports.http.paths import SYNC_PATH
from transports.http.server import LiveServer
from transports.http.stream import Source, StreamReader, StreamWriter
from transports.mailbox import ByteCount
from vault.held_memory import hold_freed
from vault.records import Tai, Verifier
from vault.suite import SigningKey

__all__ = ["figures"]

_GROUP = "friends/0123456789abcdef"
_HOST, _GUEST = SigningKey.from_seed(b"h" * 32), SigningKey.from_seed(b"g" * 32)
_RECORD = 60_000
_FLOOR = 0.7


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the exchange beside the bare download, and a whole pull."""
    size, repeats = (20_000_000, 3) if quick else (200_000_000, 15)
    hold_freed()  # as the program does; both servers are forks of this process
    records = _records(size)
    near, far = apart()
    with (
        only_on(far),
        serving(partial(_bare, records)) as bare,
        serving(partial(_live, records)) as live,
        only_on(near),
    ):
        acts = [
            (bare, lambda: download(bare.port, size, PLAIN)),
            (bare, lambda: download(bare.port, size, HASHED)),
            (live, lambda: _exchange(live.port, size)),
        ]
        turns = [_turn(acts, number % len(acts)) for number in range(repeats + 1)][1:]  # the first finds nothing warm
    (plain, plain_cpu), (hashed, hashed_cpu), (ours, ours_cpu) = (
        tuple(map(statistics.median, zip(*costs, strict=True))) for costs in zip(*turns, strict=True)
    )
    what, bare_name, unit = f"{size // 10**6} MB by a live exchange", "bare TLS download", "MB/s"
    rate = size / 1e6
    yield Figure("raw", what, rate / ours, unit, bare_name, rate / plain, _FLOOR, floor=True)
    yield Figure("raw", what, rate / ours, unit, "the same with its digest", rate / hashed)
    yield Figure("raw", f"{what}: both ends", ours_cpu, "CPU s", bare_name, plain_cpu)
    yield Figure("raw", f"{what}: both ends", ours_cpu, "CPU s", "the same with its digest", hashed_cpu)
    yield Figure("raw", f"{size // 10**6} MB pulled into a vault", rate / _pull(size), unit, bare_name, rate / plain)


def _records(size: int) -> list[bytes]:
    chance = Random(1)
    return [chance.randbytes(_RECORD) for _ in range(size // _RECORD)] + [chance.randbytes(size % _RECORD + 1)]


def _now() -> Tai:
    return Tai.from_unix_ns(time.time_ns())


class _Handler:
    """Sends the same records to whoever comes."""

    def __init__(self, records: list[bytes]) -> None:
        self._records = records

    def admits(self, node: Verifier) -> bool:
        return node == _GUEST.verifier

    def was_revoked(self, node: Verifier) -> bool:
        del node
        return False

    def turned_away(self, node: Verifier) -> None:
        """Do nothing."""

    def clock_differs(self, clock: OtherClock) -> None:
        """Do nothing."""

    def state(self) -> bytes:
        return b""

    def rest(self) -> None:
        """Do nothing."""

    def request(self, record: bytes) -> bool | None:
        del record
        return None

    def failed(self, what: str) -> None:
        raise AssertionError(what)

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        del node
        while source.read(PIECE):
            pass
        writer = StreamWriter(write)
        for record in self._records:
            writer.records([record])
        writer.end()
        write(b"")


def _live(records: list[bytes], ready: Connection) -> None:
    identity = make_identity(_HOST, _GROUP, _now(), os.urandom)
    server = LiveServer(
        _Handler(records),
        identity,
        Session(_GROUP, _HOST.verifier, identity.public),
        host="127.0.0.1",
        port=0,
        now=_now,
        pace=lambda: Pace(None, time.monotonic, time.sleep),
        entropy=os.urandom,
    )
    server.start()
    ready.send(server.port)
    tell_time(ready)


def _bare(records: list[bytes], ready: Connection) -> None:
    data = b"".join(records)
    serve_bare(lambda: (data[at : at + PIECE] for at in range(0, len(data), PIECE)), ready)


def _turn(acts: list[tuple[Serving, Callable[[], float]]], first: int) -> list[tuple[float, float]]:
    """Return what each costs, in their order; each comes first as often, for what goes before leaves its caches."""
    costs = {at: _cost(*acts[at]) for at in (*range(first, len(acts)), *range(first))}
    return [costs[at] for at in range(len(acts))]


def _cost(server: Serving, act: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds that something says it took, and the CPU seconds of both ends."""
    before = time.process_time() + server.cpu()
    took = act()
    return took, time.process_time() + server.cpu() - before


def _exchange(port: int, size: int) -> float:
    address = LiveAddress("127.0.0.1", port, _HOST.verifier)
    with LiveConnection(address, _GROUP, ByteCount(), time.monotonic, _now, os.urandom) as connection:
        began = time.perf_counter()
        came = sum(
            len(record)
            for frame in StreamReader(connection.post(SYNC_PATH, _GUEST, [b"here I am"]))
            for record in frame.records
        )
        assert came >= size
        return time.perf_counter() - began


def _pull(size: int) -> float:
    """Return the seconds of a whole pull of a release of noise."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice = Person("alice", root / "homes" / "alice", root / "alice")
        bob = Person("bob", root / "homes" / "bob", root / "bob")
        alice.lace("init", "--name", "alice", "--group", "friends")
        with servers.serving(alice) as server:
            alice.lace("place", "add", "home", server.uri)
            bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
            bob.lace("sync", "home")
            alice.write("noise.bin", Random(2).randbytes(size))
            alice.lace("release", "1.0.0")
            began = time.perf_counter()
            bob.lace("pull", "home")
            return time.perf_counter() - began
