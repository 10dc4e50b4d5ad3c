"""Bytes that are written or digested behind the one who makes them, while the next ones are being made.

A few blocks go round: one is being filled while another is done with, so memory is bounded and none is taken anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from threading import Thread

__all__ = ["BLOCK_BYTES", "WriteBehind"]

BLOCK_BYTES: Final = 256 << 10
_BLOCKS: Final = 8
_ALONE: Final = 16  # blocks: what is less is done where it is made

_Call = Callable[[memoryview], object]


class WriteBehind:
    """Calls that take bytes, done one after the other in the order they were asked for; one that failed is the last.

    Use as a context manager: when the block ends, with an exception or without, all that was handed over is done and
    what the calls use may be closed; a Ctrl-C meanwhile leaves what is not begun.

    Args:
        alone: how many blocks are done where they are made, before a thread is worth its while.

    Attributes:
        room: a block to be filled, of `BLOCK_BYTES`; another one after each `hand`.
    """

    def __init__(self, alone: int = _ALONE) -> None:
        self.room = memoryview(bytearray(BLOCK_BYTES))
        self._alone = alone
        self._free: list[memoryview] = []
        self._under_way = 0
        self._given: SimpleQueue[tuple[_Call, memoryview, int] | None] = SimpleQueue()
        self._done: SimpleQueue[memoryview] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None
        self._fault: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.wait()
        finally:
            if self._thread is not None:
                self._given.put(None)
                self._end(self._thread)

    def hand(self, call: _Call, size: int) -> None:
        """Have a call done with the first `size` bytes of the room; it must not keep them.

        Raises:
            BaseException: what this call, or one before it, raised.
        """
        if self._alone > 0 or not self._has_begun():
            self._alone -= 1
            call(self.room[:size])
            return
        self._given.put((call, self.room, size))
        self._under_way += 1
        if self._under_way == _BLOCKS:
            self._take_back()
        self.room = self._free.pop() if self._free else memoryview(bytearray(BLOCK_BYTES))

    def wait(self) -> None:
        """Return when all that was handed over is done.

        Raises:
            BaseException: what a call raised.
        """
        while self._under_way:
            self._take_back()

    def _has_begun(self) -> bool:
        """Begin the thread where there is none; where the system gives no more of them all is done where it is made."""
        if self._thread is None:
            from threading import Thread  # only much work needs it

            self._thread = Thread(target=self._run, name="lace-write-behind")
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None
                self._alone = sys.maxsize
                return False
        return True

    def _end(self, thread: Thread) -> None:
        # A join that is interrupted takes the thread for ended ever after: what the thread says itself is waited for.
        try:
            self._ended.get()
        except BaseException as impatience:
            self._fault = impatience  # what is not begun is left, but nothing is closed under what is
            self._ended.get()
            raise
        thread.join()

    def _take_back(self) -> None:
        self._free.append(self._done.get())
        self._under_way -= 1
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        while (given := self._given.get()) is not None:
            call, block, size = given
            if self._fault is None:
                try:
                    call(block[:size])
                except BaseException as fault:
                    self._fault = fault
            self._done.put(block)
        self._ended.put(None)
