"""A bad line between two programs: slow, far, and cut after so many bytes."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["Line", "line_to", "stop_accepting"]


@dataclass
class Line:
    """What the line does; may be changed while it is used.

    Args:
        port: where it is entered, on 127.0.0.1.
        cut_after: bytes towards the client after which every connection is cut; None for never.
        cut_up_after: the same towards the server.
        each: bytes of one connection, one way, after which that one is cut; the next one has as many again.
        delay: seconds that each byte takes one way; many may be under way at once.
        rate: bytes a second each way, or None.
        came: bytes that went towards the client.
        went: bytes that went towards the server.
    """

    port: int = 0
    cut_after: int | None = None
    cut_up_after: int | None = None
    each: int | None = None
    delay: float = 0.0
    rate: float | None = None
    came: int = 0
    went: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def line_to(port: int) -> Iterator[Line]:
    """Give a line to a server on 127.0.0.1 for the block."""
    line = Line()
    listener = socket.create_server(("127.0.0.1", 0))
    line.port = listener.getsockname()[1]

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", port))
                except OSError:
                    client.close()  # the server is gone or busy; the next visitor may find it
                    continue
                threading.Thread(target=_carry, args=(line, server, client, True), daemon=True).start()
                threading.Thread(target=_carry, args=(line, client, server, False), daemon=True).start()

    waiting = threading.Thread(target=accept, daemon=True)
    waiting.start()
    try:
        yield line
    finally:
        stop_accepting(listener, waiting)


def stop_accepting(listener: socket.socket, waiting: threading.Thread) -> None:
    """Close a listening socket and end the thread that waits on it.

    A thread that is left waiting on a closed socket waits on its number, and takes the first visitor of whichever
    listener is given that number next.
    """
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    waiting.join()


def _carry(line: Line, source: socket.socket, target: socket.socket, is_down: bool) -> None:
    under_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
    deliverer = threading.Thread(target=_deliver, args=(under_way, target), daemon=True)
    deliverer.start()
    free_at = 0.0
    carried = 0
    is_cut = False
    with suppress(OSError):
        while piece := source.recv(4096 if line.rate else 65536):
            limit = line.cut_after if is_down else line.cut_up_after
            done = line.came if is_down else line.went
            is_cut = limit is not None and done + len(piece) > limit
            if limit is not None and is_cut:
                piece = piece[: max(0, limit - done)]
            if line.each is not None and carried + len(piece) > line.each:
                piece, is_cut = piece[: line.each - carried], True
            carried += len(piece)
            _count(line, len(piece), is_down)
            if line.rate:
                free_at = max(free_at, time.monotonic()) + len(piece) / line.rate
                time.sleep(max(0.0, free_at - time.monotonic()))
            under_way.put((time.monotonic() + line.delay, piece))
            if is_cut:
                break
    under_way.put((0.0, b""))
    deliverer.join()
    # Who has said everything may still be answered: then only this way ends, and the other one by itself.
    ends = ((source, socket.SHUT_RDWR), (target, socket.SHUT_RDWR)) if is_cut else ((target, socket.SHUT_WR),)
    for end, how in ends:
        with suppress(OSError):
            end.shutdown(how)


def _deliver(under_way: queue.SimpleQueue[tuple[float, bytes]], target: socket.socket) -> None:
    with suppress(OSError):
        while True:
            due, piece = under_way.get()
            if not piece:
                return
            time.sleep(max(0.0, due - time.monotonic()))
            target.sendall(piece)


def _count(line: Line, size: int, is_down: bool) -> None:
    with line.lock:
        if is_down:
            line.came += size
        else:
            line.went += size
