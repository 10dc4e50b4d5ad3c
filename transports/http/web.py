"""Asking a web server that is not trusted: no redirects, no encodings, no waiting for ever (faults.md rows 9 and 25).

One connection is kept and used again. Proxies from the environment are not used. Whatever the network reports becomes
a `PlaceError`; an answer that is not what was asked for becomes a `DataError`.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from transports.errors import (
    AccessRefused,
    CertificateUntrusted,
    MissingFile,
    PlaceUnreachable,
    UnknownPlaceKind,
    UnreadableFile,
)
from transports.http.pace import Dripping, Patience
from transports.http.reasons import why_unreached
from transports.http.schemes import PLAIN
from transports.http.waits import Connection, Waits
from transports.mailbox import ByteCount
from vault.errors import LaceError
from vault.typed import shown

__all__ = ["SILENCE", "RangeAnswer", "Web", "WebAddress", "parse_web"]

SILENCE = 30.0  # seconds without a byte after which a server counts as gone
_HEAD_SILENCES = 2  # that the head of an answer may take, however its bytes come
_PORT_LIMIT = 65535
_NOT_FOUND = frozenset({404, 410})
_FORBIDDEN = frozenset({401, 403, 407})
_NOT_NOW = frozenset({408, 425, 429})  # as a host says to who asked too often, and of no file


class WebAddress(NamedTuple):
    """A web server and a directory on it.

    Args:
        uri: the address as settings keep it, ending with a slash.
        host: its name or number.
        port: its TCP port.
        path: percent-encoded path of the directory, with a slash at both ends.
        is_tls: whether the connection is encrypted.
    """

    uri: str
    host: str
    port: int
    path: str
    is_tls: bool


def parse_web(text: str) -> WebAddress:
    """Read the address of a directory on a web server.

    `https:` anywhere; `http:` on this machine only; `http+plain:` says by name that others on the way may look on.

    Raises:
        UnknownPlaceKind: it is none, holds a password, a query or a fragment, or would go over the network in the
            clear without saying so (CYB-15).
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        user = parts.username is not None or ("%" in host and ":" not in host)  # with %40 for that @ too
    except ValueError as error:
        raise UnknownPlaceKind(f"{shown(text)} is not a web address that lace can read.") from error
    scheme = parts.scheme.lower()
    if scheme not in {"https", "http", PLAIN} or not host or not host.isascii() or not host.isprintable():
        raise UnknownPlaceKind(f"{shown(text)} is not a web address that lace can read.")
    if user:
        raise UnknownPlaceKind(
            "The address holds a name or password, and lace keeps none in an address.",
            hint="Leave out everything before the @.",
        )
    if parts.query or parts.fragment:
        raise UnknownPlaceKind(f"{shown(text)} has a query or a fragment, and a directory has neither.")
    if scheme == "http" and not _is_this_machine(host):
        raise UnknownPlaceKind(
            f"{shown(text)} would show everybody on the way what travels.",
            hint=f"Use https:, or write {PLAIN}: where that is what you want.",
        )
    is_tls = scheme == "https"
    path = _path_of(parts.path)
    if ".." in path.split("/"):
        raise UnknownPlaceKind(f"{shown(text)} leads out of its own directory.")
    path = path if path.endswith("/") else f"{path}/"
    named = f"[{host}]" if ":" in host else host
    number = port if port is not None else (443 if is_tls else 80)
    if not 0 < number <= _PORT_LIMIT:
        raise UnknownPlaceKind(f"{shown(text)} names no TCP port.")
    uri = f"{scheme}://{named}{'' if port is None else f':{port}'}{path}"
    return WebAddress(uri, host, number, path, is_tls)


def _path_of(text: str) -> str:
    """Return a path in one spelling: each name's bytes are the server's own, and a slash within one does not end it.

    >>> _path_of("/caf%E9/a%2fb/~c d")
    '/caf%E9/a%2Fb/~c%20d'
    """
    return "/".join(quote(unquote_to_bytes(name), safe="~-._") for name in text.split("/")) or "/"


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class RangeAnswer:
    """One answer, read bit by bit; close it after use.

    Args:
        response: of the server.
        start: offset in the file of its first byte.
        length: bytes of this answer.
        size: bytes of the whole file.
        web: the connection it came by.
    """

    def __init__(self, response: http.client.HTTPResponse, start: int, length: int, size: int, web: Web) -> None:
        self.status = response.status
        self.tag = response.headers.get("ETag", "")
        self.start = start
        self.size = size
        self.left = length
        self._response = response
        self._web = web

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of the buffer; 0 at the end.

        Raises:
            PlaceUnreachable: the server fell silent, drips, or closed before the length it had promised.
        """
        part = buffer[: min(len(buffer), self.left)]
        if not part:
            return 0
        try:
            count = self._response.readinto(part)
        except (OSError, http.client.HTTPException) as error:
            self._web.drop()
            raise self._web.unreachable(error) from error
        if not count:
            self._web.drop()
            raise PlaceUnreachable(
                f"{self._web.address.uri} ended an answer {self.left} bytes before its length.", hint=_LATER
            )
        self.left -= count
        self._web.count.read += count
        return count

    def read(self, limit: int) -> bytes:
        """Return the rest, at most `limit` bytes.

        Raises:
            UnreadableFile: it is longer; nothing was taken.
            PlaceUnreachable: as `readinto`.
        """
        if self.left > limit:
            self.close()
            raise UnreadableFile(f"{self._web.address.uri} offers {self.left} bytes where at most {limit} belong.")
        data = bytearray(self.left)
        view, done = memoryview(data), 0
        while done < len(data):
            done += self.readinto(view[done:])
        return bytes(data)

    def close(self) -> None:
        """End the answer; a connection with bytes still under way is closed with it."""
        if self.left:
            self._web.drop()
        else:
            with suppress(OSError, http.client.HTTPException):
                self._response.close()


class Web:
    """A kept connection to one server.

    Args:
        address: of the directory that requests are relative to.
        count: counts bytes and trips.
        silence: seconds to wait for a byte.
        pause: waits that many seconds; raises `Cancelled` when the person asked to stop, with no second to wait too.
    """

    def __init__(
        self,
        address: WebAddress,
        count: ByteCount,
        *,
        silence: float = SILENCE,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self.address = address
        self.count = count
        self._waits = Waits(silence, pause)
        self._connection: http.client.HTTPConnection | None = None
        self.knows_ranges = True
        """False once the server sent a whole file where a part was asked for."""

    def get(self, name: str, *, start: int = 0, end: int | None = None, tag: str = "") -> RangeAnswer | None:
        """Ask for a file from an offset on; None when it still has the given tag.

        Args:
            name: below the address, of plain characters only.
            start: the first byte wanted. A server that knows no ranges sends the whole file: see `RangeAnswer.start`.
            end: the byte after the last one wanted; None for all that follow.
            tag: what an earlier answer called the file.

        Raises:
            MissingFile: the server has no such file.
            AccessRefused: it wants to know who asks.
            UnreadableFile: it answers with something else than the file.
            PlaceUnreachable: it cannot be reached.
        """
        headers = {"Accept-Encoding": "identity", "User-Agent": "lace"}
        if start or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        if tag:
            headers["If-None-Match"] = tag
        response = self._ask(self.address.path + name, headers)
        try:
            if tag and response.status == http.client.NOT_MODIFIED:
                self._leave(response)
                return None
            return self._answer(response, name, start, end)
        except LaceError:
            self.drop()
            raise

    def drop(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None

    def unreachable(self, error: Exception) -> PlaceUnreachable:
        """Return what went wrong on the way as a sentence."""
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"its certificate is not trusted ({error.verify_message.rstrip('.')})"
            return CertificateUntrusted(f"{self.address.uri} cannot be reached: {reason[:200]}.")
        reason = why_unreached(error)
        if isinstance(error, Dripping):  # it was reached
            return PlaceUnreachable(f"{self.address.uri} {reason.removeprefix('it ')}.", hint=_LATER)
        hint = "See that you are online and that the server runs, and run the same command again."
        return PlaceUnreachable(f"{self.address.uri} cannot be reached: {reason[:200]}.", hint=hint)

    def _ask(self, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        is_kept = self._connection is not None
        try:
            return self._request(path, headers)
        except (OSError, http.client.HTTPException, UnicodeError) as error:  # the last for a host that none can be
            self.drop()
            if not is_kept:
                raise self.unreachable(error) from error
        try:
            return self._request(path, headers)  # a kept connection may have ended while nothing was asked
        except (OSError, http.client.HTTPException) as error:
            self.drop()
            raise self.unreachable(error) from error

    def _request(self, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        if self._connection is None:
            at, context = self.address, ssl.create_default_context() if self.address.is_tls else None
            self._connection = Connection(at.host, at.port, self._waits, context)
            self._connection.response_class = partial(_Response, self._waits)  # type: ignore[assignment] # it makes one
        self.count.trips += 1
        self._connection.request("GET", path, headers=dict(headers))
        return self._connection.getresponse()

    def _leave(self, response: http.client.HTTPResponse) -> None:
        """End an answer that has no body; what a server sends after it all the same is not read, and may never end."""
        if response.chunked:
            self.drop()
        response.close()

    def _answer(self, response: http.client.HTTPResponse, name: str, start: int, end: int | None = None) -> RangeAnswer:
        status, where = response.status, self.address.uri + name
        if status in _NOT_FOUND:
            raise MissingFile(f"The file {where} is missing.")
        if status in _FORBIDDEN:
            raise AccessRefused(f"{self.address.uri} lets nobody in without a password.", hint=_OPEN)
        if 300 <= status < 400 and status != http.client.NOT_MODIFIED:
            raise UnreadableFile(f"{where} leads elsewhere, and lace follows no redirect.", hint=_NEW_PLACE)
        if status >= 500 or status in _NOT_NOW:
            raise PlaceUnreachable(f"{self.address.uri} cannot answer now: it says {status}.", hint=_LATER)
        if response.headers.get("Content-Encoding", "identity").lower() != "identity" or response.chunked:
            raise UnreadableFile(f"{where} was sent in another form than it is stored in.", hint=_AS_STORED)
        if status == http.client.OK and response.length is not None:
            self.knows_ranges = self.knows_ranges and not start and end is None
            return RangeAnswer(response, 0, response.length, response.length, self)
        if status == http.client.PARTIAL_CONTENT and (start or end is not None) and response.length is not None:
            part = _PART.fullmatch(response.headers.get("Content-Range", ""))
            first, last, size = map(int, part.groups()) if part is not None else (0, 0, 0)
            wanted = size if end is None else min(end, size)
            if (first, last + 1) == (start, wanted) and response.length == wanted - start > 0:
                return RangeAnswer(response, start, response.length, size, self)
        hint = _AS_STORED if status == http.client.OK else _ASK_HOST
        raise UnreadableFile(f"{where} was not answered with the file: the server says {status}.", hint=hint)


class _Response(http.client.HTTPResponse):
    """An answer whose head comes in time: else a byte of it now and then would keep a reader for ever."""

    def __init__(self, waits: Waits, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self._line = _Line(sock, waits)
        self.fp: io.BufferedReader = io.BufferedReader(self._line)

    def begin(self) -> None:
        """Read the head, after those of interim answers, of which the library passes over 100 alone."""
        self._line.begin_head()
        super().begin()
        while 100 < self.status < 200 and self.status != http.client.SWITCHING_PROTOCOLS:
            self.headers = None  # type: ignore[assignment] # else the library takes it for begun
            super().begin()
        self._line.is_head = False


class _Line(io.RawIOBase):
    """What comes over a socket."""

    def __init__(self, sock: socket.socket, waits: Waits) -> None:
        self._sock, self._waits = sock, waits
        self._file = sock.makefile("rb", buffering=0)  # the socket stays open as long as somebody reads
        self._patience = Patience()
        self._until = 0.0
        self.is_head = False

    def begin_head(self) -> None:
        """Begin to count the seconds that the head takes."""
        self.is_head, self._until = True, monotonic() + _HEAD_SILENCES * self._waits.silence

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        began = monotonic()
        if self.is_head and began >= self._until:
            raise TimeoutError("its answer does not begin")
        came = self._waits.until(self._sock.recv_into, buffer)
        if not self.is_head:  # looked at here, for whoever reads above waits until all is there that was asked for
            self._patience.waited(monotonic() - began, came)
        return came

    def close(self) -> None:
        self._file.close()
        super().close()


_PART = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)
_OPEN = "Let the web server give these files to anybody: what is in them is sealed, and encrypted where you chose so."
_LATER = "Run the same command again later; if it goes on, ask whoever runs the web server."
_AS_STORED = "The web server is to send these files as they are stored: without compression, and with their length."
_ASK_HOST = "Ask whoever runs the web server why it does not hand the file out."
_NEW_PLACE = "Ask the owner for the present address, and add it as a place."
