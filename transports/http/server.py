"""A live server for friends: TLS, a hello before anything, bounded, patient with nobody (decision 7; faults.md row 9).

It knows bodies, not vaults: what is said stands in a `Handler`. Whoever is not let in learns nothing, whatever they
send and whatever lies here: the answer is the same few bytes.
"""

from __future__ import annotations

import asyncio
import errno
import http
import logging
import socket
import ssl
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from transports.errors import AddressInUse
from transports.http.bodies import SILENCE, AnswerBody, Body
from transports.http.guarded import LINE, Doorstep, Faults, GuardedProtocol
from transports.http.hello import HEADER, HelloGate, OtherClock, Session
from transports.http.identity import ServerIdentity
from transports.http.pace import Pace
from transports.http.paths import NEWS_PATH, REQUEST_PATH, REVOKED, STATE_BYTES, SYNC_PATH, TAKEN, WAITS
from transports.http.slots import Slots
from transports.http.stream import Source
from vault.errors import DataError, LaceError
from vault.files import reason_of
from vault.records.hashes import Verifier
from vault.records.tai import Tai

__all__ = ["Handler", "LiveServer"]

_EXCHANGES, _EXCHANGES_EACH = 16, 4  # exchanges at once, in all and for one node; others are asked to come back
_DOORKEEPERS = 4  # threads that look who somebody is, however busy the others are
_JUDGES, _JUDGING = 2, 8  # threads that look at requests to belong, which may wait for the vault; and their work
_CONNECTIONS = 64  # connections at once that speak TLS
_EVERYWHERE = frozenset({"", "::"})  # what a person names for every address of this machine
_ON_DOORSTEP = 128  # connections without a proven key, 0.6 MB each; at most a quarter of all descriptors
_IDLE_SECONDS = 60  # that a connection may rest between two requests
_HOLD = 20.0  # seconds that a question for news waits for some: below a client's silence, and below ours
_LOOK = 0.25  # seconds between two looks whether there is any, while somebody waits
_WAITING, _WAITING_EACH = 32, 4  # questions for news at a time, of all and of one node; others are asked to come back
_STOP_SECONDS = 5  # for exchanges under way when the server is stopped
_HEAD_BYTES = 8192
_REQUEST_BYTES = 64 * 1024
_REFUSAL: Final = b"refused\n"
_Said = TypeVar("_Said")
_Result = TypeVar("_Result")


class Handler(Protocol):
    """What the server does for those who are let in; called from several threads."""

    def admits(self, node: Verifier) -> bool:
        """Whether this node is answered."""

    def was_revoked(self, node: Verifier) -> bool:
        """Whether this node, which proved its key, was a member once."""

    def turned_away(self, node: Verifier) -> None:
        """Take note that this node proved its key and was not answered."""

    def clock_differs(self, clock: OtherClock) -> None:
        """Take note that a node proved its key and was not answered for its clock."""

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        """Read one body and write its answer."""

    def state(self) -> bytes:
        """Return some bytes that are others whenever a visit would bring something else; called from one thread."""

    def rest(self) -> None:
        """Let go of what `state` keeps open; called from the same thread, last."""

    def request(self, record: bytes) -> bool | None:
        """Look at the request of somebody invited: whether it is granted or waits; None when it is refused.

        Raises:
            LaceError: nobody can say so now.
        """

    def failed(self, what: str) -> None:
        """Take note of a fault of the server itself, said without a full stop."""


class LiveServer:
    """Serves one vault until it is stopped.

    Args:
        handler: answers.
        identity: of this run.
        session: what hellos are bound to.
        host: name or number to listen at.
        port: TCP port, or 0 for any free one.
        now: the clock.
        pace: makes what holds back to a rate what one node is sent.
        entropy: gives random bytes.

    Raises:
        AddressInUse: nobody can listen there.
    """

    def __init__(
        self,
        handler: Handler,
        identity: ServerIdentity,
        session: Session,
        *,
        host: str,
        port: int,
        now: Callable[[], Tai],
        pace: Callable[[], Pace],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._handler = handler
        self._gate = HelloGate(session, now)
        self._pace, self._paces = pace, dict[Verifier, Pace]()
        self._pool = ThreadPoolExecutor(_EXCHANGES, thread_name_prefix="lace-serve")
        self._door = ThreadPoolExecutor(_DOORKEEPERS, thread_name_prefix="lace-door")
        self._judges = ThreadPoolExecutor(_JUDGES, thread_name_prefix="lace-judge")
        self._judging = 0
        self._looker = ThreadPoolExecutor(1, thread_name_prefix="lace-news")
        self._waiting: Counter[Verifier] = Counter()
        self._slots = Slots(_EXCHANGES, _EXCHANGES_EACH)
        self._socket = Doorstep(_listening(host, port), _most_on_doorstep(), entropy)
        self.port: int = self._socket.getsockname()[1]
        faults = Faults(handler.failed)
        routes = [
            Route(SYNC_PATH, faults.around(self._exchange), methods=["POST"]),
            Route(REQUEST_PATH, faults.around(self._request), methods=["POST"]),
            Route(NEWS_PATH, faults.around(self._news), methods=["POST"]),
        ]
        others = dict.fromkeys((http.HTTPStatus.NOT_FOUND, http.HTTPStatus.METHOD_NOT_ALLOWED), _refused_as_unknown)
        app = Starlette(routes=routes, exception_handlers=others)
        self._server = _Server(_configured(app, identity, self._socket), faults)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def start(self) -> None:
        """Begin to answer, in a thread of its own."""
        self._thread.start()

    def is_running(self) -> bool:
        """Whether it still answers."""
        return self._thread.is_alive()

    def is_busy(self) -> bool:
        """Whether some exchange is under way, which `stop` might cut."""
        return bool(self._slots)

    def stop(self) -> None:
        """Let exchanges under way end, for some seconds, and answer nobody any more."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS * 2)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._door.shutdown(wait=False, cancel_futures=True)
        self._judges.shutdown(wait=False, cancel_futures=True)
        self._looker.submit(self._handler.rest)
        self._looker.shutdown()
        self._socket.close()

    async def _member(self, request: Request) -> Verifier | Response:
        """Return which member asks, or the answer to somebody else."""
        loop = asyncio.get_running_loop()
        hello = request.headers.get(HEADER, "")
        who = self._gate.check(hello, request.url.path)
        if who is None:
            clock = self._gate.other_clock(hello, request.url.path)
            if clock is not None and self._judging < _JUDGING:
                await self._judge(self._handler.clock_differs, clock)
            return await _refused(request)
        if not await loop.run_in_executor(self._door, self._handler.admits, who):
            was = await loop.run_in_executor(self._door, self._handler.was_revoked, who)
            if self._judging < _JUDGING:
                await self._judge(self._handler.turned_away, who)
            return await _refused(request, REVOKED if was else _REFUSAL)
        request.scope[LINE].is_let_in = True
        return who

    async def _exchange(self, request: Request) -> Any:
        who = await self._member(request)
        if isinstance(who, Response):
            return who
        if request.scope["http_version"] != "1.1":
            return await _refused(request)  # an answer goes in chunks, which older ones do not know
        if not self._slots.has_room(who):
            return _busy()
        return _Exchange(self, who, self._handler.exchange)

    async def _news(self, request: Request) -> Response:
        """Answer with where this vault stands, as soon as that is not what the client names, or after some time."""
        who = await self._member(request)
        if isinstance(who, Response):
            return who
        known = await _short(request, STATE_BYTES)
        if known is None:
            return await _refused(request)
        if self._waiting.total() >= _WAITING or self._waiting[who] >= _WAITING_EACH:
            return _busy()
        try:
            with _one_more(self._waiting, who):
                return Response(await self._other_than(known, request), 200, {"Cache-Control": "no-store"})
        except LaceError:
            return _not_now()

    async def _other_than(self, known: bytes, request: Request) -> bytes:
        loop = asyncio.get_running_loop()
        until = loop.time() + _HOLD
        while True:
            state = await loop.run_in_executor(self._looker, self._handler.state)
            if state != known or loop.time() >= until or self._server.should_exit or await request.is_disconnected():
                return state
            await asyncio.sleep(_LOOK)

    async def _request(self, request: Request) -> Response:
        data = await _short(request, _REQUEST_BYTES)
        if data is None:
            return await _refused(request)
        if self._judging >= _JUDGING:
            return _busy()
        try:
            is_granted = await self._judge(self._handler.request, data)
        except LaceError:
            return _not_now()
        if is_granted is None:
            return await _refused(request)
        return Response(TAKEN if is_granted else WAITS, 200)

    async def _judge(self, work: Callable[[_Said], _Result], said: _Said) -> _Result:
        """Run what may wait for the vault, where it keeps no member waiting."""
        self._judging += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._judges, work, said)
        finally:
            self._judging -= 1

    async def run_exchange(self, who: Verifier, scope: Scope, work: Callable[[], None]) -> None:
        """Run one exchange in a thread."""
        async with self._slots.one(who, scope[LINE]):
            await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def pace(self, who: Verifier) -> Pace:
        """Return what holds back all that a member is sent, however many answers that are; for the loop alone."""
        if who not in self._paces:
            self._paces[who] = self._pace()
        return self._paces[who]


class _Exchange:
    """One exchange as an ASGI answer: the body is read and the answer written by a thread that may block."""

    def __init__(
        self,
        server: LiveServer,
        who: Verifier,
        work: Callable[[Verifier, Source, Callable[[bytes], object]], None],
    ) -> None:
        self._server, self._who, self._work = server, who, work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run it."""
        loop = asyncio.get_running_loop()
        body = Body(loop, receive, scope)
        answer = AnswerBody(loop, send, self._server.pace(self._who), scope)
        try:
            await self._server.run_exchange(self._who, scope, lambda: self._work(self._who, body, answer.write))
            await answer.finish()
        except (LaceError, TimeoutError, OSError) as error:
            if answer.is_begun:
                return  # left unfinished, the connection is closed, and the client sees that the body is not whole
            is_noise = isinstance(error, DataError)
            refusal = Response(b"not understood\n", 400, {"Connection": "close"}) if is_noise else _not_now()
            await refusal(scope, receive, send)


@contextmanager
def _one_more(of: Counter[Verifier], who: Verifier) -> Iterator[None]:
    """Count somebody for the block."""
    of[who] += 1
    try:
        yield
    finally:
        of[who] -= 1
        if not of[who]:
            del of[who]


async def _short(request: Request, most: int) -> bytes | None:
    """Return a body of at most so many bytes; None for a longer one, or one that does not come."""
    data = b""
    try:
        async with asyncio.timeout(SILENCE):
            async for piece in request.stream():
                data += piece
                if len(data) > most:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return data


def _busy() -> Response:
    return Response(b"busy\n", 503, {"Retry-After": "5"})


def _not_now() -> Response:
    return Response(b"cannot answer now\n", 503, {"Connection": "close"})


async def _refused(request: Request, said: bytes = _REFUSAL) -> Response:
    del request
    return Response(said, 403, {"Connection": "close"})


async def _refused_as_unknown(request: Request, error: Exception) -> Response:
    del error
    return await _refused(request)


class _Server(uvicorn.Server):
    """A server that leaves signals to the program it runs in, and tells of what nobody catches."""

    def __init__(self, config: uvicorn.Config, faults: Faults) -> None:
        super().__init__(config)
        self._faults = faults

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._faults.watch(asyncio.get_running_loop())
        await super().startup(sockets)

    def capture_signals(self) -> Any:
        return nullcontext()


def _listening(host: str, port: int) -> socket.socket:
    try:
        if host in _EVERYWHERE and socket.has_dualstack_ipv6():  # both families: friends may have either
            with suppress(OSError):  # a machine may know IPv6 and have none
                address = ("::", port)
                return socket.create_server(address, family=socket.AF_INET6, backlog=_CONNECTIONS, dualstack_ipv6=True)
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        return socket.create_server(found[0][4][:2], family=found[0][0], backlog=_CONNECTIONS)
    except OSError as error:
        reason = reason_of(error).partition(" (while ")[0]  # Python says the address once more
        what = f"Nobody can listen at {host or 'this machine'}, port {port}: {reason}."
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            way = "Name an address of this machine, or none for all that it has, as in lace serve --listen :7433"
            raise AddressInUse(what, hint=way) from error
        raise AddressInUse(what) from error


def _most_on_doorstep() -> int:
    """Return how many may stand at the door: the vault and those who are served need descriptors too."""
    try:
        import resource  # there is none on Windows
    except ImportError:
        return _CONNECTIONS
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _ON_DOORSTEP if most == resource.RLIM_INFINITY else max(_CONNECTIONS, min(_ON_DOORSTEP, most // 4))


def _configured(app: Starlette, identity: ServerIdentity, doorstep: Doorstep) -> uvicorn.Config:
    """Return how uvicorn is to serve: over TLS only, in bounds, and without a word of its own."""
    config = uvicorn.Config(
        app,
        http=type("Line", (GuardedProtocol,), {"doorstep": doorstep}),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )
    # What goes wrong is told by the handler, in words (see `Faults`); a line for each port scan is nobody's news.
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    config.load()
    config.ssl = _server_context(identity)
    return config


def _server_context(identity: ServerIdentity) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with tempfile.TemporaryDirectory(prefix="lace-serve-") as directory:  # ssl reads keys from files only
        file = Path(directory) / "run.pem"
        file.touch(0o600)
        file.write_bytes(identity.certificate + identity.key)
        context.load_cert_chain(file)
    return context
