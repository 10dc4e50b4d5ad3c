"""The client's end of a line that speaks TLS, and takes much off it at a time.

The library's own takes each record, of at most 16 KiB, off the line in two calls, and whoever reads is called for each.
Here one call takes what came, and one read gives the records in it.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Never

__all__ = ["TlsLine"]

_ROOM: Final = 128 * 1024  # bytes taken off the line at once
_RECORD: Final = 16 * 1024  # bytes of one record: what is sent at once is either on its way as a whole, or not


class TlsLine(socket.socket):
    """A connected socket above which TLS is spoken; each of its calls ends after the socket's own time.

    A call that ended so is made again, with the same bytes where it sends.

    Args:
        plain: the socket; it is taken over.
        context: how TLS is to be spoken.
        host: name or number of the machine.
    """

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._came, self._goes = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._came, self._goes, server_hostname=host)  # the name may be none
        timeout = plain.gettimeout()
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self.settimeout(timeout)
        self._room = memoryview(bytearray(_ROOM))
        self._unsent = memoryview(b"")
        self._fault: ssl.SSLError | None = None  # of what came, once all before it is read

    def do_handshake(self) -> None:
        """Agree with the other side.

        Raises:
            OSError: the line broke, or the other side does not speak TLS as it is to be spoken.
        """
        began = monotonic()
        while True:
            self._flush()
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill(began)
            except ssl.SSLError:
                with suppress(OSError):
                    self._flush()  # the other side is told why
                raise
            else:
                break
        self._flush()

    def certificate(self) -> bytes:
        """Return what the other side showed for who it is; nothing where it showed none."""
        return self._tls.getpeercert(binary_form=True) or b""

    def pending(self) -> int:
        """Return how many bytes were taken off the line and not read."""
        return self._tls.pending() + self._came.pending

    def read(self, size: int, buffer: Any) -> int:
        """Put what is there, at most so many bytes, into a buffer and return how many; 0 at the end.

        It waits for the first of them only.

        Raises:
            OSError: the line broke, or what comes is not what was sent.
        """
        view, came, began = memoryview(buffer), 0, 0.0
        while came < size:
            try:
                some = self._tls.read(size - came, view[came:])
            except ssl.SSLWantReadError:
                if came:
                    break
                began = began or monotonic()
                self._flush_if_it_goes()
                self._fill(began)
            except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                break
            except ssl.SSLError as fault:
                self._fault = fault  # OpenSSL says it once, and takes the line for ended then
                break
            else:
                if not some:
                    break
                came += int(some)
        if self._fault is not None and not came:
            raise self._fault
        return came

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Do as `read` does."""
        self._refuse_flags(flags)
        return self.read(nbytes or len(buffer), buffer)

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        """Return what is there, at most so many bytes; none at the end."""
        self._refuse_flags(flags)
        room = bytearray(bufsize)
        return bytes(room[: self.read(bufsize, room)])

    def send(self, data: Any, flags: int = 0) -> int:
        """Send some bytes and return how many: what the line does not take of them now goes before all else."""
        self._refuse_flags(flags)
        self._flush()
        taken = self._tls.write(memoryview(data)[:_RECORD])
        with suppress(TimeoutError):
            self._flush()
        return taken

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of some bytes."""
        view = memoryview(data)
        while view:
            view = view[self.send(view, flags) :]
        self._flush()

    def past_tls(self, *_: Any, **__: Any) -> Never:
        """Stand for each call of a socket that would send in the clear, or take as it came what nobody proved.

        Raises:
            ValueError: always.
        """
        raise ValueError("this call goes past TLS")

    dup = recvfrom = recvfrom_into = recvmsg = recvmsg_into = past_tls
    sendfile = sendmsg = sendto = past_tls

    def _refuse_flags(self, flags: int) -> None:
        """Refuse what only a plain socket can do, such as to look and take nothing."""
        if flags:
            self.past_tls()

    def _flush(self) -> None:
        began = monotonic()
        while self._unsent or self._goes.pending:
            self._unsent = self._unsent or memoryview(self._goes.read())
            self._unsent = self._unsent[super().send(self._unsent) :]
            if self._unsent:
                self._end_in_time(began)

    def _flush_if_it_goes(self) -> None:
        """Send what lies here; where the other side takes no more now, what it said before is still to be read."""
        with suppress(ConnectionError, TimeoutError):
            self._flush()

    def _fill(self, began: float) -> None:
        came = super().recv_into(self._room)
        if came:
            self._came.write(self._room[:came])
            self._end_in_time(began)
        else:
            self._came.write_eof()

    def _end_in_time(self, began: float) -> None:
        """End a call that took its time, though bytes come or go: a record may come byte by byte."""
        limit = self.gettimeout()
        if limit is not None and monotonic() - began >= limit:
            raise TimeoutError("timed out")
