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

    Attributes:
        fault: how the last flush that is over failed; None where it did not.
    """

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._flush: Future[None] | None = None

    def begin(self, flush: Callable[[int], None], descriptor: int) -> bool:
        """Have a file flushed, unless one still is or the system gives no thread for it; return whether it will be.

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
        try:
            self._flush = self._pool.submit(flush, descriptor)
        except RuntimeError:
            self._pool = None  # it has the flush on its list
            return False
        return True

    def wait(self) -> None:
        """Wait for the flush under way.

        Raises:
            OSError: it failed.
        """
        if self._flush is not None:
            self.fault = self._flush.exception()  # a Ctrl-C meanwhile leaves it to `close`
            self._flush = None
            if self.fault is not None:
                raise self.fault

    def close(self) -> None:
        """End the thread, after what it is at; `fault` has how that failed. A Ctrl-C meanwhile does not shorten it."""
        flush = self._flush
        try:
            if flush is not None:
                self.fault = flush.exception()
        except BaseException:  # nothing is closed under a flush
            if flush is not None:
                self.fault = flush.exception()
            raise
        finally:
            pool, self._pool, self._flush = self._pool, None, None
            if pool is not None:
                pool.shutdown(wait=False)
