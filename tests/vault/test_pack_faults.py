"""A disk that refuses what is written into packs: the transaction ends as if it had never been."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vault.test_packs import plexes, put
from vault.files import DiskFull, NotWritable
from vault.flush_ahead import FlushAhead
from vault.store import Store, packappend
from vault.store.packio import PackIO


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.db", create=True) as made:
        yield made


class Refusing(PackIO):
    """A disk that fails at one kind of call."""

    def __init__(self, call: str, number: int) -> None:
        self.call, self.number = call, number

    def append(self, fd: int, at: int, data: bytes) -> None:
        if self.call == "append":
            raise OSError(self.number, os.strerror(self.number))
        super().append(fd, at, data)

    def sync(self, fd: int) -> None:
        if self.call == "sync":
            raise OSError(self.number, os.strerror(self.number))
        super().sync(fd)


@pytest.mark.parametrize(("call", "number", "error"), [("append", 28, DiskFull), ("sync", 5, NotWritable)])
@pytest.mark.parametrize("count", [2, 200])
def test_a_disk_that_refuses_stores_nothing(
    tmp_path: Path, call: str, number: int, error: type[Exception], count: int
) -> None:
    """APP-13: with and without the writing thread, the transaction ends as if it had never been."""
    records = plexes(count)
    with Store(tmp_path / "store.db", create=True) as store:
        store.packs._io = Refusing(call, number)
        with pytest.raises(error):
            put(store, records)
        assert store.rows("SELECT count(*) FROM body") == [(0,)]
        store.packs._io = PackIO()
        put(store, records)
        assert store.stored(records[-1].hash) == records[-1].encode()


@pytest.mark.parametrize(("full", "each"), [(1 << 20, 800_000), (packappend.PACK_BYTES, 3_000_000)])
def test_a_flush_that_failed_while_more_was_written_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int, each: int
) -> None:
    """APP-13: the system tells of what a disk lost once, and that the next flush finds nothing wrong means nothing."""

    class Once(PackIO):
        calls = 0

        def sync(self, fd: int) -> None:
            super().sync(fd)
            self.calls += 1
            if self.calls == 1:
                raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(packappend, "_SYNC_BYTES", each)
    monkeypatch.setattr(packappend, "PACK_BYTES", full)
    records = plexes(200)
    with Store(tmp_path / "store.db", create=True) as store:
        store.packs._io = once = Once()
        with pytest.raises(NotWritable, match="input/output"):
            put(store, records)
        assert store.rows("SELECT count(*) FROM body") == [(0,)]
        put(store, records)
        assert once.calls > 1
        assert store.stored(records[-1].hash) == records[-1].encode()


def test_an_interrupt_while_a_transaction_is_given_up_leaves_nothing_of_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the next transaction named a pack that was gone, and what it wrote there was lost."""

    class Full(PackIO):
        def append(self, fd: int, at: int, data: bytes) -> None:
            if at > 1_000_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            super().append(fd, at, data)

    def interrupted(ahead: FlushAhead) -> None:
        close(ahead)
        raise KeyboardInterrupt

    close = FlushAhead.close
    store.packs._io = Full()
    with monkeypatch.context() as patch:
        patch.setattr(FlushAhead, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            put(store, plexes(200))
    store.packs._io = PackIO()
    put(store, plexes(1, size=100))
    assert store.rows("SELECT * FROM pack") == []
    records = plexes(3)
    put(store, records)
    with Store(store.path) as fresh:
        assert all(fresh.stored(record.hash) == record.encode() for record in records)


def test_a_ctrl_c_while_a_frame_is_written_waits_for_that(store: Store) -> None:
    """APP-13: the file was cut and closed under the thread that appended to it, its number another's by then."""
    begun, met, is_let_go, over = threading.Event(), threading.Event(), threading.Event(), list[int]()

    class Slow(PackIO):
        def append(self, fd: int, at: int, data: bytes) -> None:
            if threading.current_thread() is not threading.main_thread():
                begun.set()
                assert is_let_go.wait(30)
                super().append(fd, at, data)
                over.append(at)
                return
            super().append(fd, at, data)

    def pressed(_number: int, _frame: object) -> None:
        met.set()
        threading.Timer(0.2, is_let_go.set).start()
        raise KeyboardInterrupt

    def press() -> None:
        assert begun.wait(30)
        while not met.wait(0.1):  # by then the main thread waits for what is written
            signal.pthread_kill(main, signal.SIGINT)

    main, before = threading.get_ident(), signal.signal(signal.SIGINT, pressed)
    thread = threading.Thread(target=press)
    thread.start()
    store.packs._io = Slow()
    try:
        with pytest.raises(KeyboardInterrupt):
            put(store, plexes(200))
        at_end = len(over)
    finally:
        met.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert at_end == len(over) > 0
    assert store.rows("SELECT count(*) FROM body") == [(0,)]
    store.packs._io = PackIO()
    records = plexes(3)
    put(store, records)
    assert store.stored(records[-1].hash) == records[-1].encode()


def test_without_threads_it_is_written_where_it_is_made(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: a limit of threads or processes ended a large commit with a traceback."""

    def none(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(packappend, "_SYNC_BYTES", 100_000)
    records = plexes(200)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        put(store, records)
    assert store.stored(records[0].hash) == records[0].encode()
    assert store.stored(records[-1].hash) == records[-1].encode()
