"""Reading an answer ahead of who takes it in: a thread takes it off the line, unpacks and hashes it meanwhile.

Storing what came takes as long as it takes to come, and most of both is done outside of Python's one thread at a time.
Without this the line stands still while records are stored, and the disk while they come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from itertools import chain

from transports.http.client import Incoming
from transports.http.stream import Frame

__all__ = ["read_ahead"]

_FIRST_BYTES = 1 << 20  # bytes of an answer read without a thread: most answers are shorter
_HELD_BYTES = 16 << 20  # bytes that wait here at most; whoever takes them may hold as many again while it flushes
_EACH_BYTES = 512  # bytes that a record takes besides its own, with its hash


def read_ahead(frames: Iterator[Frame], source: Incoming, named: Callable[[Frame], Frame]) -> Generator[Frame]:
    """Yield the frames of a body, and read on while they are taken in; close it when the rest is not wanted.

    Args:
        frames: of the body.
        source: the body, which is given up when the rest is not wanted.
        named: is given each frame where it is read.

    Raises:
        BadStream, PlaceUnreachable: as reading the frames does, after all that came before.
    """
    size = 0
    for frame in frames:
        yield frame
        size += _size(frame)
        if size >= _FIRST_BYTES:
            break
    else:
        return
    reading = _Reading(map(named, frames))
    try:
        yield from chain.from_iterable(reading.parts())
    finally:
        reading.leave(source)


class _Reading:
    """A thread that reads frames, and what it read."""

    def __init__(self, frames: Iterator[Frame]) -> None:
        self._frames = frames
        self._turn = threading.Condition()
        self._read: list[Frame] = []
        self._held = 0
        self._is_done = self._is_left = False
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="lace-read-ahead", daemon=True)
        self._thread.start()

    def parts(self) -> Iterator[list[Frame]]:
        """Yield what was read since the last time."""
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._read or self._is_done)
                read, self._read, self._held = self._read, [], 0
                self._turn.notify()
            if not read:
                break
            yield read
        if self._fault is not None:
            raise self._fault

    def leave(self, source: Incoming) -> None:
        """End the thread, at the end or before."""
        with self._turn:
            self._is_left = True
            self._turn.notify()
            if not self._is_done:
                source.hang_up()
        self._thread.join()

    def _run(self) -> None:
        try:
            for frame in self._frames:
                with self._turn:
                    self._turn.wait_for(lambda: self._held < _HELD_BYTES or self._is_left)
                    if self._is_left:
                        return
                    self._read.append(frame)
                    self._held += _size(frame)
                    self._turn.notify()
        except BaseException as fault:  # raised where the frames are taken: a body is whole only if none was
            self._fault = fault
        finally:
            with self._turn:
                self._is_done = True
                self._turn.notify()


def _size(frame: Frame) -> int:
    return sum(map(len, frame.records)) + _EACH_BYTES * len(frame.records) + len(frame.data)
