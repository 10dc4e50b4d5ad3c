"""Real web servers on loopback for tests: plain ones, and one that lies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["Log", "lying_server", "plain_server"]


class Log:
    """What a server was asked: path, status, bytes of the body."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.body = 0


class _Files(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, log: Log, tags: bool, **names: object) -> None:
        self._log, self._tags = log, tags
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
            self.end_headers()
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


@contextmanager
def plain_server(directory: Path, *, tags: bool = True) -> Iterator[tuple[str, Log]]:
    """Serve a directory; with `tags` as nginx does (entity tags and ranges), else as Python's own server."""
    log = Log()
    with _running(partial(_Files, directory=str(directory), log=log, tags=tags)) as uri:
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
def _running(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
