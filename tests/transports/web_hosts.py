"""Real web servers on loopback for tests: plain ones, and one that lies."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["Log", "lying_server", "plain_server"]

_FLOOD = 64  # MiB


class Log:
    """What a server was asked: path, status, bytes of the body."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.body = 0


class _Files(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, log: Log, tags: bool, floods: bool, **names: object) -> None:
        self._log, self._tags, self._floods = log, tags, floods
        super().__init__(*args, **names)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None: ...

    def log_request(self, code: object = "-", size: object = "-") -> None:
        del size
        self._log.asked.append((self.path, int(str(getattr(code, "value", code)))))

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not self._tags or not path.is_file():
            super().do_GET()
            return
        status, data = path.stat(), path.read_bytes()
        tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            if self._floods:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if self._floods:
                self._flood()
            return
        wanted = self.headers.get("Range")
        first, _, last = (wanted or "bytes=0-").removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1 if last else None]
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self._log.body += len(part)
        self.wfile.write(part)

    def _flood(self) -> None:
        with suppress(OSError):  # the reader hung up
            for _ in range(_FLOOD):
                self.wfile.write(b"100000\r\n" + bytes(0x100000) + b"\r\n")
                self._log.body += 0x100000
            self.wfile.write(b"0\r\n\r\n")


@contextmanager
def plain_server(
    directory: Path, *, tags: bool = True, floods: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, Log]]:
    """Serve a directory; with `tags` as nginx does (entity tags and ranges), else as Python's own server.

    One that `floods` says that a file is the same, and sends 64 MiB after it to whoever reads them; with `tls` it
    speaks HTTPS.
    """
    log = Log()
    with _running(partial(_Files, directory=str(directory), log=log, tags=tags, floods=floods), tls) as uri:
        yield uri, log


@contextmanager
def lying_server(answer: Callable[[str], bytes]) -> Iterator[str]:
    """Answer each path with these raw bytes, and close the connection."""

    class Liar(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            self.wfile.write(answer(self.path))
            self.close_connection = True

    with _running(Liar) as uri:
        yield uri


@contextmanager
def _running(handler: Callable[..., BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
