"""A connection to another machine on which nobody waits longer than they want to (INT-122).

A line that fell silent is given up after half a minute. A person who would stop before is asked for, in between, each
time that a call came back with nothing.
"""

from __future__ import annotations

import http.client
import os
import queue
import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar, TypeVarTuple

from transports.http.tls import TlsLine

__all__ = ["Connection", "Waits"]

_TICK = 0.25  # seconds: what a person who stops something takes for at once
_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")
_Found = list[tuple[Any, ...]] | OSError | UnicodeError


class Waits:
    """What somebody waits for on one connection.

    Args:
        silence: seconds in which nothing moves after which a wait is given up.
        pause: waits that many seconds; raises `Cancelled` when the person asked to stop, with no second to wait too.
    """

    def __init__(self, silence: float, pause: Callable[[float], None]) -> None:
        self.silence = silence
        self.tick = min(_TICK, silence)
        """Seconds that one call may take."""
        self._pause = pause
        self._asked = monotonic()

    def until(self, call: Callable[[*_Arguments], _Result], *arguments: *_Arguments) -> _Result:
        """Return what a call does, made again each time that it ends for its time, a tick, was over.

        Raises:
            TimeoutError: a whole silence passed.
            Cancelled: the person asked to stop.
        """
        began = now = monotonic()
        while True:
            if now - self._asked >= self.tick:  # also where a byte comes now and then
                self._asked = now
                self._pause(0)
            try:
                return call(*arguments)
            except TimeoutError as error:
                now = monotonic()
                if error.errno is not None or now - began >= self.silence:  # the system's own is an end
                    raise


class Connection(http.client.HTTPConnection):
    """A connection that waits in this way until it is open, and for all that it sends.

    Args:
        host: name or number of the machine.
        port: its TCP port.
        waits: on this connection.
        context: for TLS; None for none.
    """

    def __init__(self, host: str, port: int, waits: Waits, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=waits.silence)
        self.default_port = http.client.HTTP_PORT if context is None else http.client.HTTPS_PORT
        self.waits, self._context = waits, context

    def connect(self) -> None:
        """Open the connection.

        Raises:
            OSError, UnicodeError: there is no such machine, or nobody answers.
            Cancelled: the person asked to stop.
        """
        self.sock = _dialled(self.host, self.port, self.waits)
        # What is asked goes in several small pieces, and each would wait until the one before is confirmed.
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context is not None:
            self.sock = tls = TlsLine(self.sock, self._context, self.host)
            self.waits.until(tls.do_handshake)

    def send(self, data: Any) -> None:
        """Send some bytes.

        Raises:
            OSError: the line broke, or took nothing for a whole silence.
            Cancelled: the person asked to stop.
        """
        if self.sock is None:
            self.connect()
        line, view = self.sock, memoryview(data).cast("B")
        while view:
            view = view[self.waits.until(line.send, view) :]


def _dialled(host: str, port: int, waits: Waits) -> socket.socket:
    """Return a socket that is connected; what it is called for ends after a tick."""
    fault: OSError = OSError("it has no address")
    for family, kind, protocol, _, address in _addresses(host, port, waits):
        sock: socket.socket | None = None
        try:
            sock = socket.socket(family, kind, protocol)
            _call(sock, address, waits)
        except OSError as error:
            fault = error
        except BaseException:
            if sock is not None:
                sock.close()
            raise
        else:
            sock.settimeout(waits.tick)
            return sock
        if sock is not None:
            sock.close()
    raise fault


def _call(sock: socket.socket, address: Any, waits: Waits) -> None:
    sock.settimeout(0)
    with suppress(BlockingIOError):
        sock.connect(address)
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)

        def answered() -> None:
            if not selector.select(waits.tick):
                raise TimeoutError("timed out")

        waits.until(answered)
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))


def _addresses(host: str, port: int, waits: Waits) -> list[tuple[Any, ...]]:
    """Return where a machine may be reached. Who is asked for a name may be out of reach, and cannot be interrupted."""
    with suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    found: queue.Queue[_Found] = queue.Queue()

    def look() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.put(error)

    def answer() -> _Found:
        try:
            return found.get(timeout=waits.tick)
        except queue.Empty:
            raise TimeoutError("timed out") from None

    threading.Thread(target=look, name="lace-look-up", daemon=True).start()
    said = waits.until(answer)
    if isinstance(said, Exception):
        raise said
    return said
