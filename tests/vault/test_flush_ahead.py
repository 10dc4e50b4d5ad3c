"""A file is flushed while more of it is made: a fault is told once, and nothing is closed under a flush (APP-13)."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from vault.flush_ahead import FlushAhead


class Flush:
    """A flush that lasts until it is let go, and then fails or not."""

    def __init__(self, fault: OSError | None = None) -> None:
        self.is_let_go, self.is_done = threading.Event(), False
        self._fault = fault

    def __call__(self, _descriptor: int) -> None:
        assert self.is_let_go.wait(30)
        self.is_done = True
        if self._fault is not None:
            raise self._fault


@contextmanager
def ctrl_c(flush: Flush) -> Iterator[None]:
    """Press Ctrl-C while the main thread waits, and let the flush go a while after that was heard."""
    met = threading.Event()

    def press() -> None:
        while not met.wait(0.05):
            signal.pthread_kill(main, signal.SIGINT)

    def heard(_number: int, _frame: object) -> None:
        if not met.is_set():
            met.set()
            threading.Timer(0.1, flush.is_let_go.set).start()
            raise KeyboardInterrupt

    main = threading.get_ident()
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, heard)
    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        met.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def ahead() -> Iterator[FlushAhead]:
    made = FlushAhead()
    yield made
    made.close()


def test_one_flush_at_a_time(ahead: FlushAhead) -> None:
    first, second = Flush(), Flush()
    assert ahead.begin(first, 0)
    assert not ahead.begin(second, 0)
    first.is_let_go.set()
    ahead.wait()
    assert first.is_done
    assert ahead.begin(second, 0)
    second.is_let_go.set()


@pytest.mark.parametrize("tell", [lambda ahead: ahead.begin(Flush(), 0), FlushAhead.wait])
def test_a_fault_is_told_once(ahead: FlushAhead, tell: Callable[[FlushAhead], object]) -> None:
    fault = OSError(errno.EIO, os.strerror(errno.EIO))
    failing = Flush(fault)
    ahead.begin(failing, 0)
    failing.is_let_go.set()
    while not failing.is_done or ahead._flush is None or not ahead._flush.done():
        threading.Event().wait(0.001)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as told:
        tell(ahead)
    assert told.value is fault
    ahead.wait()


def test_what_a_ctrl_c_met_is_waited_for_by_whoever_closes(ahead: FlushAhead) -> None:
    """APP-13: the file was closed under the flush, whose number could then be another file's."""
    flush = Flush()
    ahead.begin(flush, 0)
    with ctrl_c(flush):
        ahead.wait()
    assert not flush.is_done
    ahead.close()
    assert flush.is_done


def test_a_ctrl_c_does_not_shorten_the_end(ahead: FlushAhead) -> None:
    """APP-13: as above, where it is pressed while the file is being closed."""
    flush = Flush()
    ahead.begin(flush, 0)
    with ctrl_c(flush):
        ahead.close()
    assert flush.is_done
