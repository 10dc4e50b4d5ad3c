"""Raw throughput of a live exchange beside a bare TLS download of the same bytes by the same server and client library.

Both sides run in processes of their own. The exchange is everything that travels: hello, frames, compression, digests
on both sides. The bare download looks at no byte: it sends slices of what lies in memory and counts what comes; what a
digest on both sides alone costs it is a figure beside, and so is the CPU time of both ends, which other work on the
machine does not move as it moves the clock. What a vault does with the records is the last figure.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import uvicorn
from blake3 import blake3
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.bench.table import Figure
from tests.live.servers import serving
from tests.people import Person
from transports.address import LiveAddress
from transports.http.client import LiveConnection
from transports.http.hello import Session
from transports.http.identity import client_context, make_identity
from transports.http.pace import Pace
from transports.http.paths import SYNC_PATH
from transports.http.server import LiveServer
from transports.http.stream import Source, StreamReader, StreamWriter
from transports.mailbox import ByteCount
from vault.records import Tai, Verifier
from vault.suite import SigningKey

__all__ = ["figures"]

_GROUP = "friends/0123456789abcdef"
_HOST, _GUEST = SigningKey.from_seed(b"h" * 32), SigningKey.from_seed(b"g" * 32)
_RECORD, _PIECE = 60_000, 256 * 1024
_FLOOR = 0.7


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the exchange beside the bare download, and a whole pull."""
    size, repeats = (20_000_000, 3) if quick else (200_000_000, 9)
    records = _records(size)
    with _process(_bare, records) as bare, _process(_live, records) as live:
        acts = [
            (bare, lambda: _download(bare.port, size, "/")),
            (bare, lambda: _download(bare.port, size, "/hashed")),
            (live, lambda: _exchange(live.port, size)),
        ]
        turns = [[_cost(server, act) for server, act in acts] for _ in range(repeats)]
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
        while source.read(_PIECE):
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
    )
    server.start()
    ready.send(server.port)
    _tell_time(ready)


def _bare(records: list[bytes], ready: Connection) -> None:
    data = b"".join(records)

    async def pieces(hasher: blake3 | None) -> AsyncIterator[bytes]:
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            if hasher is not None:
                hasher.update(piece)
            yield piece

    async def answer(request: Request) -> StreamingResponse:
        return StreamingResponse(pieces(blake3() if request.url.path == "/hashed" else None))

    identity = make_identity(_HOST, _GROUP, _now(), os.urandom)
    with tempfile.NamedTemporaryFile() as file, socket.create_server(("127.0.0.1", 0)) as listener:
        file.write(identity.certificate + identity.key)
        file.flush()
        app = Starlette(routes=[Route("/", answer), Route("/hashed", answer)])
        config = uvicorn.Config(app, http="h11", log_config=None, lifespan="off", ssl_certfile=file.name)
        ready.send(listener.getsockname()[1])
        threading.Thread(target=_tell_time, args=(ready,), daemon=True).start()
        uvicorn.Server(config).run([listener])


def _tell_time(asked: Connection) -> None:
    while asked.recv():
        asked.send(time.process_time())


@dataclass(frozen=True, slots=True)
class _Server:
    """A server in a process of its own: where it listens, and how to ask for its CPU seconds."""

    port: int
    _pipe: Connection

    def cpu(self) -> float:
        self._pipe.send(True)
        return float(self._pipe.recv())


@contextmanager
def _process(serve: Callable[[list[bytes], Connection], None], records: list[bytes]) -> Iterator[_Server]:
    """Run a server in a process of its own for the block."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(records, there), daemon=True)
    process.start()
    try:
        yield _Server(here.recv(), here)
    finally:
        process.terminate()
        process.join()


def _cost(server: _Server, act: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds that something says it took, and the CPU seconds of both ends."""
    before = time.process_time() + server.cpu()
    took = act()
    return took, time.process_time() + server.cpu() - before


def _download(port: int, size: int, path: str) -> float:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=client_context())
    connection.connect()
    began = time.perf_counter()
    connection.request("GET", path)
    response = connection.getresponse()
    hasher = blake3() if path == "/hashed" else None
    came = 0
    while piece := response.read(_PIECE):
        came += len(piece)
        if hasher is not None:
            hasher.update(piece)
    assert came >= size
    connection.close()
    return time.perf_counter() - began


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
        with serving(alice) as server:
            alice.lace("place", "add", "home", server.uri)
            bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
            bob.lace("sync", "home")
            alice.write("noise.bin", Random(2).randbytes(size))
            alice.lace("release", "1.0.0")
            began = time.perf_counter()
            bob.lace("pull", "home")
            return time.perf_counter() - began
