"""Work that is done behind the one who makes it: in order, whole, and with its faults."""

from __future__ import annotations

import signal
import threading

import pytest

from vault.write_behind import BLOCK_BYTES, WriteBehind

MANY = 40  # blocks: far more than are done without a thread, and than there are


def give(behind: WriteBehind, call: object, number: int) -> None:
    behind.room[:4] = number.to_bytes(4, "big")
    behind.hand(call, 4)  # type: ignore[arg-type]


def test_all_that_is_handed_over_is_done_in_order_and_much_of_it_by_a_thread() -> None:
    done: list[int] = []
    threads: set[str] = set()

    def take(block: memoryview) -> None:
        done.append(int.from_bytes(block, "big"))
        threads.add(threading.current_thread().name)

    with WriteBehind() as behind:
        for number in range(MANY):
            give(behind, take, number)
        behind.wait()
        assert done == list(range(MANY))
        give(behind, take, MANY)
    assert done == list(range(MANY + 1))
    assert threads == {"MainThread", "lace-write-behind"}
    assert "lace-write-behind" not in {thread.name for thread in threading.enumerate()}


def test_where_the_system_gives_no_thread_all_is_done_where_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[tuple[int, str]] = []
    with WriteBehind(alone=2) as behind:
        for number in range(MANY):
            behind.room[0] = number
            behind.hand(lambda block: done.append((block[0], threading.current_thread().name)), 1)
    assert done == [(number, threading.current_thread().name) for number in range(MANY)]


def test_a_fault_is_told_and_nothing_after_it_is_done() -> None:
    done: list[int] = []

    def take(block: memoryview) -> None:
        number = int.from_bytes(block, "big")
        if number == MANY // 2:
            raise OSError(28, "full")
        done.append(number)

    with pytest.raises(OSError, match="full"), WriteBehind() as behind:  # noqa: PT012 - any of them may tell
        for number in range(MANY):
            give(behind, take, number)
    assert done == list(range(MANY // 2))


def test_what_was_handed_over_is_done_before_an_exception_leaves() -> None:
    done: list[int] = []
    with pytest.raises(KeyError), WriteBehind() as behind:  # noqa: PT012 - as above
        for number in range(MANY):
            give(behind, lambda block: done.append(int.from_bytes(block, "big")), number)
        raise KeyError
    assert done == list(range(MANY))
    assert len(behind.room) == BLOCK_BYTES


def test_an_impatient_end_waits_for_the_call_that_is_under_way_only() -> None:
    # else its thread would write to a descriptor that is closed, or another file's by now
    begun, may_end = threading.Event(), threading.Event()
    done: list[int] = []

    def take(block: memoryview) -> None:
        begun.set()
        may_end.wait()
        done.append(block[0])

    def interrupt() -> None:
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        threading.Timer(0.3, may_end.set).start()

    other = threading.Timer(0.3, interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test before this one may have left another
    try:
        with pytest.raises(KeyboardInterrupt), WriteBehind(alone=0) as behind:  # noqa: PT012 - the end raises it
            for number in range(4):
                behind.room[0] = number
                behind.hand(take, 1)
            other.start()
            raise KeyError
    finally:
        signal.signal(signal.SIGINT, before)
    was_waited_for = may_end.is_set()
    may_end.set()
    assert was_waited_for
    assert done == [0]
