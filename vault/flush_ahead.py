"""A file that is flushed by a thread while more of it is being made, so that the end of the work is not all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["FlushAhead"]


class FlushAhead:
    """Flushes, one at a time. The system tells of a fault once, to the flush that met it: then `begin` or `wait` does.

    Whoever closes the file closes this first.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._flush: Future[None] | None = None

    def begin(self, flush: Callable[[int], None], descriptor: int) -> bool:
        """Have a file flushed, unless one still is; return whether it will be.

        Raises:
            OSError: the flush before this one failed.
        """
        if self._flush is not None:
            if not self._flush.done():
                return False
            self.wait()
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # only much content needs it

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="lace-flush")
        self._flush = self._pool.submit(flush, descriptor)
        return True

    def wait(self) -> None:
        """Wait for the flush under way.

        Raises:
            OSError: it failed.
        """
        if self._flush is not None:
            fault = self._flush.exception()  # a Ctrl-C meanwhile leaves it to `close`
            self._flush = None
            if fault is not None:
                raise fault

    def close(self) -> None:
        """End the thread, after what it is at; a fault of that is not told. A Ctrl-C meanwhile does not shorten it."""
        flush = self._flush
        try:
            if flush is not None:
                flush.exception()
        except BaseException:  # nothing is closed under a flush
            if flush is not None:
                flush.exception()
            raise
        finally:
            pool, self._pool, self._flush = self._pool, None, None
            if pool is not None:
                pool.shutdown(wait=False)
