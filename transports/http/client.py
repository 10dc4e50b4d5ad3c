"""The client's half of a live exchange: one checked connection, bodies both ways (decision 7; CYB-15 to CYB-17).

Nothing is sent before the server has proven to be the pinned node. Not a web client: there is one server, one key,
no redirect, no cookie, no proxy.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic, sleep
from typing import Any, Self

from transports.address import LiveAddress
from transports.errors import PlaceUnreachable, RefusedThere
from transports.http.hello import HEADER, Session, make_hello
from transports.http.identity import check_server, client_context
from transports.http.pace import Patience
from transports.http.paths import REVOKED
from transports.http.reasons import why_unreached
from transports.http.thin import STEP_BYTES, keep_little_unsent
from transports.http.tls import TlsLine
from transports.http.waits import Connection, Waits
from transports.mailbox import ByteCount
from vault.records.tai import Tai
from vault.suite import SigningKey

__all__ = ["Incoming", "LiveConnection"]

_SILENCE = 30.0  # seconds
_KEPT = 45.0  # seconds after a question: a server lets go of a connection a minute after its last word
_BUFFER = 1024  # bytes that lie between TLS and who reads; what is asked for beyond goes where it shall be
_HEAD_LIMIT = 1 << 20  # bytes before a body; a head of the server's is some hundred
_REFUSED = frozenset({401, 403})
_WORD_BYTES = 16
_WHERE = "See that your friend's lace serve runs and that its address is right, and run the same command again."
_LATER = "Run the same command again later; where lace serve runs it says what is wrong, unless too many visit at once."


class LiveConnection:
    """A connection to a live server that has proven who it is.

    Use `open`, and `close` it.

    Args:
        address: where, and which node.
        group: the group id.
        count: counts bytes and trips.
        monotonic: seconds of a clock that never goes back.
        now: the clock.
        entropy: gives random bytes.
        pause: waits that many seconds; raises `Cancelled` when the person asked to stop, with no second to wait too.
    """

    def __init__(
        self,
        address: LiveAddress,
        group: str,
        count: ByteCount,
        monotonic: Callable[[], float],
        now: Callable[[], Tai],
        entropy: Callable[[int], bytes],
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self.address = address
        self.count = count
        self._monotonic = monotonic
        self._now, self._entropy = now, entropy
        self._http = Connection(address.host, address.port, Waits(_SILENCE, pause), client_context())
        self._http.response_class = partial(_Response, self._http.waits)  # type: ignore[assignment] # it makes one too
        self._group = group
        self._session: Session | None = None
        self._asked = float("inf")  # when a body was sent last

    def __enter__(self) -> Self:
        """Connect and check who answers.

        Raises:
            PlaceUnreachable: nobody answers, or not with TLS 1.3.
            WrongServer: somebody else does; nothing was sent.
        """
        self._session = None
        try:
            self._http.connect()
            tls = self._http.sock
            keep_little_unsent(tls)
            certificate = tls.certificate() if isinstance(tls, TlsLine) else b""
            public = check_server(certificate, self.address.node, self._group, self._now())
        except (OSError, http.client.HTTPException, UnicodeError) as error:  # the last for a host that none can be
            self.close()
            raise self._unreachable(error) from error
        except BaseException:
            self.close()
            raise
        self._session = Session(self._group, self.address.node, public)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        with suppress(OSError):
            self._http.close()

    def post(self, path: str, key: SigningKey | None, body: Iterable[bytes]) -> Incoming:
        """Send one body and return the answer, to be read; who speaks is proven when there is a key.

        Raises:
            RefusedThere: the server does not answer this node.
            PlaceUnreachable: the connection broke, or the server can answer nothing now.
            WrongServer: somebody else answers there by now.
        """
        self.ask(path, key, body)
        return self.answer()

    def ask(self, path: str, key: SigningKey | None, body: Iterable[bytes]) -> None:
        """Send one body; its answer is to be taken before the next is sent.

        Raises:
            PlaceUnreachable, WrongServer: as `post`.
        """
        if self._monotonic() - self._asked > _KEPT:
            # On a thin line the server said all of it long before all of it came.
            self.close()
            self.__enter__()
        self._asked = self._monotonic()
        headers = {"User-Agent": "lace", "Content-Type": "application/octet-stream"}
        if key is not None and self._session is not None:
            headers[HEADER] = make_hello(key, self._session, path, self._now(), self._entropy)
        self.count.trips += 1
        try:
            self._http.request("POST", path, self._counted(body), headers, encode_chunked=True)
        except (OSError, http.client.HTTPException) as error:
            if not isinstance(error, TimeoutError):
                self._hear_out()
            self.close()
            raise self._unreachable(error) from error

    def _hear_out(self) -> None:
        """Raise what a server said that hung up before it had the whole body; it says no more than that it did not."""
        with suppress(OSError, http.client.HTTPException):
            response = self._http.getresponse()
            if response.status != http.client.OK:
                raise self._refusal(response)

    def is_answered(self, seconds: float) -> bool:
        """Wait at most so long for an answer to begin, or for the connection to end; tell whether one of both came."""
        sock = self._http.sock
        if sock is None:
            return True
        if isinstance(sock, TlsLine) and sock.pending():
            return True
        return bool(select.select([sock], [], [], seconds)[0])

    def answer(self) -> Incoming:
        """Return the answer to what was asked, to be read.

        Raises:
            RefusedThere, PlaceUnreachable: as `post`.
        """
        try:
            response = self._http.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        if response.status == http.client.OK:
            return Incoming(response, self)
        raise self._refusal(response)

    def _refusal(self, response: http.client.HTTPResponse) -> PlaceUnreachable | RefusedThere:
        """Close the connection; return what an answer says that is none."""
        said = self._word(response) if response.status in _REFUSED else b""
        self.close()
        if said == REVOKED:
            return RefusedThere(
                f"{self.address.shown} answers you no more: you were revoked from the group.",
                hint="Ask whoever did it; with a new key you can be invited again. What you have stays readable.",
            )
        if response.status in _REFUSED:
            refused = RefusedThere(f"{self.address.shown} does not answer this node.")
            refused.can_wait = True  # a server whose clock differs from ours says no more than one that knows us not
            return refused
        if response.status == http.client.TOO_MANY_REQUESTS or response.status >= http.client.INTERNAL_SERVER_ERROR:
            return PlaceUnreachable(f"{self.address.shown} cannot answer now ({response.status}).", hint=_LATER)
        return PlaceUnreachable(
            f"{self.address.shown} does not understand this lace ({response.status}).",
            hint="One of the two is older: compare lace --version on both machines.",
        )

    @staticmethod
    def _word(response: http.client.HTTPResponse) -> bytes:
        """Return what a refusal says, if it is as short as such a word is."""
        try:
            return response.read(_WORD_BYTES)
        except (OSError, http.client.HTTPException):
            return b""

    def take(self, response: http.client.HTTPResponse, size: int) -> bytes:
        """Read a part of an answer."""
        try:
            data = response.read(size)
        except (OSError, http.client.HTTPException) as error:
            raise self.broken(error) from error
        self.count.read += len(data)
        return data

    def broken(self, error: Exception) -> PlaceUnreachable:
        """Close the connection, which broke while an answer was read; return what to say of it."""
        self.close()
        return self._unreachable(error)

    def _counted(self, body: Iterable[bytes]) -> Iterable[bytes]:
        for piece in body:
            self.count.written += len(piece)
            for at in range(0, len(piece), STEP_BYTES):  # each of them may take as long as a silence
                yield piece[at : at + STEP_BYTES] if len(piece) > STEP_BYTES else piece

    def _unreachable(self, error: Exception) -> PlaceUnreachable:
        reason = why_unreached(error)
        if isinstance(error, ssl.SSLError):
            is_cut = self._session is not None or isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
            reason = "the line was cut" if is_cut else "what answers there speaks no TLS 1.3"
        elif isinstance(error, http.client.IncompleteRead):  # which says how many bytes it had read, in Python's words
            reason = "the line was cut"
        return PlaceUnreachable(f"{self.address.shown} cannot be reached: {reason[:200]}.", hint=_WHERE)


class Incoming:
    """An answer's body; it satisfies `transports.http.stream.Source`."""

    def __init__(self, response: http.client.HTTPResponse, connection: LiveConnection) -> None:
        self._response = response
        self._connection = connection

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end.

        Raises:
            PlaceUnreachable: the connection broke.
        """
        return self._connection.take(self._response, size)

    def readinto(self, buffer: memoryview, /) -> int:
        """Put what came, at most so many bytes, where it shall be and return how many; 0 at the end.

        Raises:
            PlaceUnreachable: the connection broke.
        """
        try:
            came = self._response.readinto(buffer)
        except (OSError, http.client.HTTPException) as error:
            raise self._connection.broken(error) from error
        self._connection.count.read += came
        return came

    def hang_up(self) -> None:
        """End the connection, also while another thread waits for bytes of it."""
        if isinstance(self._response, _Response):
            self._response.hang_up()


class _Response(http.client.HTTPResponse):
    """An answer that is read as it comes, by records of TLS, to where it shall be: the library waits and copies."""

    def __init__(self, waits: Waits, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self._records = _Records(sock, waits)
        self.fp: io.BufferedReader = io.BufferedReader(self._records, _BUFFER)
        self._line = sock
        self._has_ahead = False  # whether something may lie in that buffer

    def begin(self) -> None:
        """Read the head. The library reads interim answers for ever, each of them within its bounds."""
        self._records.head_left = _HEAD_LIMIT
        super().begin()
        self._records.head_left = None

    def hang_up(self) -> None:
        """End the connection; closing it here would let another thread wait on for what never comes."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def read(self, amt: int | None = None) -> bytes:
        """Return so many bytes, or all of them."""
        self._has_ahead = True
        return super().read(amt)

    def readinto(self, buffer: Any, /) -> int:
        """Put what came of a chunk into a buffer, and wait for its first byte only: else a cut would lose the rest."""
        if not self.chunked:
            return super().readinto(buffer)
        left = self.chunk_left
        if not left:
            self._has_ahead = True
            return super().readinto(buffer[:1])  # finds the next chunk, or the end
        most = min(len(buffer), left)
        if self._has_ahead:  # whoever asks for more than lies there waits for the line
            most = min(most, _BUFFER)
        is_buffered = self._has_ahead or most < _BUFFER
        came: int = (self.fp.readinto1 if is_buffered else self._records.readinto)(buffer[:most])
        if not came:
            raise http.client.IncompleteRead(b"", left)
        self._has_ahead = most < _BUFFER
        self.chunk_left = left - came
        return came


class _Records(io.RawIOBase):
    """What comes over a line that speaks TLS: the records that are there."""

    def __init__(self, sock: TlsLine, waits: Waits) -> None:
        self._waits = waits
        self._read = sock.read
        self._file = sock.makefile("rb", buffering=0)  # the socket stays open as long as somebody reads
        self._patience = Patience()
        self.head_left: int | None = None
        """How many bytes may still come before a head ends; None where none is read."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        began = monotonic()
        came: int = self._waits.until(self._read, len(buffer), buffer)
        self._patience.waited(monotonic() - began, came)
        if self.head_left is not None:
            self.head_left -= came
            if self.head_left < 0:
                raise TimeoutError("its answer does not begin")
        return came

    def close(self) -> None:
        self._file.close()
        super().close()
