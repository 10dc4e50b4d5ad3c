"""A bare TLS download by the same server and client library that a live exchange goes by: what nobody gets below.

Servers run in processes of their own and tell their CPU time.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import uvicorn
from blake3 import blake3
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from transports.http.identity import client_context, make_identity
from vault.records import Tai
from vault.suite import SigningKey

__all__ = ["HASHED", "PIECE", "PLAIN", "Serving", "download", "downloaded", "serve_bare", "serving", "tell_time"]

PIECE = 256 * 1024
PLAIN, HASHED = "/", "/hashed"  # the same bytes, and a digest at both ends
_KEY = SigningKey.from_seed(b"h" * 32)


def serve_bare(pieces: Callable[[], Iterable[bytes | memoryview]], ready: Connection) -> None:
    """Send the same pieces to whoever asks, for ever."""

    async def sent(hasher: blake3 | None) -> AsyncIterator[bytes | memoryview]:
        for piece in pieces():
            if hasher is not None:
                hasher.update(piece)
            yield piece

    async def answer(request: Request) -> StreamingResponse:
        return StreamingResponse(sent(blake3() if request.url.path == HASHED else None))

    identity = make_identity(_KEY, "friends/0123456789abcdef", Tai.from_unix_ns(time.time_ns()), os.urandom)
    with tempfile.NamedTemporaryFile() as file, socket.create_server(("127.0.0.1", 0)) as listener:
        file.write(identity.certificate + identity.key)
        file.flush()
        app = Starlette(routes=[Route(PLAIN, answer), Route(HASHED, answer)])
        config = uvicorn.Config(app, http="h11", log_config=None, lifespan="off", ssl_certfile=file.name)
        ready.send(listener.getsockname()[1])
        threading.Thread(target=tell_time, args=(ready,), daemon=True).start()
        uvicorn.Server(config).run([listener])


def tell_time(asked: Connection) -> None:
    """Tell this process's CPU time whenever it is asked for."""
    while asked.recv():
        asked.send(time.process_time())


@dataclass(frozen=True, slots=True)
class Serving:
    """A server in a process of its own: where it listens, and how to ask for its CPU seconds."""

    port: int
    _pipe: Connection

    def cpu(self) -> float:
        self._pipe.send(True)
        return float(self._pipe.recv())


@contextmanager
def serving(serve: Callable[[Connection], None]) -> Iterator[Serving]:
    """Run a server in a process of its own for the block."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(there,), daemon=True)
    process.start()
    try:
        yield Serving(here.recv(), here)
    finally:
        process.terminate()
        process.join()


def download(port: int, size: int, path: str) -> float:
    """Download at least so many bytes, and return the seconds that it took once the line stood."""
    pieces = downloaded(port, size, path)
    next(pieces)
    began = time.perf_counter()
    for _ in pieces:
        pass
    return time.perf_counter() - began


def downloaded(port: int, size: int, path: str) -> Iterator[bytes]:
    """Yield nothing once the line stands, and then at least so many bytes in pieces."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=client_context())
    connection.connect()
    yield b""
    connection.request("GET", path)
    response = connection.getresponse()
    hasher = blake3() if path == HASHED else None
    came = 0
    while piece := response.read(PIECE):
        came += len(piece)
        if hasher is not None:
            hasher.update(piece)
        yield piece
    assert came >= size
    connection.close()
