"""Progress on a terminal, and the cancel token (APP-3)."""

from __future__ import annotations

import errno
import io
import os
import signal
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lace_tui.acts.stopping import CancelToken
from lace_tui.cli.progress import Progress
from lace_tui.words.inert import width_of
from lace_tui.words.times import duration_text
from vault.errors import Cancelled
from vault.plural import bytes_text


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make(columns: int = 80) -> tuple[Progress, io.StringIO, Clock]:
    stream, clock = io.StringIO(), Clock()
    return Progress(stream, clock, lambda: columns), stream, clock


def drawn(stream: io.StringIO) -> list[str]:
    return stream.getvalue().split("\r\x1b[K")[1:]


def test_at_most_ten_updates_a_second() -> None:
    progress, stream, clock = make()
    for done in range(1000):
        clock.now += 0.001
        progress.report(done, 1000, "reading")
    assert 10 <= len(drawn(stream)) <= 12


def test_thousands_of_files_that_are_named_one_by_one_are_one_phase() -> None:
    """APP-3: an update names each file that it writes; that drew a line for each, and never came to the time left."""
    progress, stream, clock = make()
    for done in range(1, 1001):
        clock.now += 0.002
        progress.moved(done, 1000, 0, 0, f"notes/{done:04}.md")
    assert 20 <= len(drawn(stream)) <= 23
    clock.now += 0.1
    progress.report(1000, 2000, "another phase")
    assert drawn(stream)[-1] == "another phase  0/2000"
    clock.now += 2
    progress.moved(1001, 2000, 0, 0, "a")
    progress.moved(1002, 2000, 0, 8 << 20, "b")
    clock.now += 2
    progress.moved(1002, 2000, 4 << 20, 8 << 20, "b")
    assert drawn(stream)[-1] == "b  1002/2000  4.0 MiB/8.0 MiB  2 s left  2.0 MiB/s"
    clock.now += 2
    progress.moved(1500, 2000, 0, 0, "c")
    assert drawn(stream)[-1] == "c  1500/2000  2 s left"


def test_says_rate_and_time_left_once_they_mean_something() -> None:
    progress, stream, clock = make()
    progress.phase("sending", total=12, total_bytes=12 << 20)
    assert drawn(stream) == ["sending  0/12  0 B/12.0 MiB"]
    clock.now += 2
    progress.moved(4, 12, 4 << 20, 12 << 20, "sending")
    assert drawn(stream)[-1] == "sending  4/12  4.0 MiB/12.0 MiB  4 s left  2.0 MiB/s"


def test_one_large_file_is_told_by_its_bytes_alone() -> None:
    """APP-3: the number of files that were looked at, or 0 of 1, says nothing beside them."""
    progress, stream, clock = make()
    for done, total in ((17, 0), (0, 1)):
        progress.moved(done, total, 0, 12 << 20, f"large{total}")
        clock.now += 2
        progress.moved(done, total, 4 << 20, 12 << 20, f"large{total}")
        assert drawn(stream)[-1] == f"large{total}  4.0 MiB/12.0 MiB  4 s left  2.0 MiB/s"
        clock.now += 2


def test_no_time_left_without_a_total() -> None:
    progress, stream, clock = make()
    progress.report(0, 0, "scanning")
    clock.now += 5
    progress.report(700, 0, "scanning")
    assert drawn(stream)[-1] == "scanning  700"


def test_is_wiped_at_the_end_and_around_talk() -> None:
    progress, stream, clock = make()
    with progress:
        progress.report(0, 0, "reading")
        progress.clear()
        assert stream.getvalue().endswith("\r\x1b[K")
        progress.report(1, 0, "reading")
        assert drawn(stream)[-1] == "reading  1"
    assert stream.getvalue().endswith("\r\x1b[K")
    clock.now += 1
    before = stream.getvalue()
    progress.report(2, 0, "reading")
    assert stream.getvalue() == before


def test_nothing_without_a_stream(capfd: pytest.CaptureFixture[str]) -> None:
    """APP-3: nor on a stream that nobody gave it."""
    clock = Clock()
    with Progress(None, clock, lambda: 80) as progress:
        progress.phase("reading", total=3)
        clock.now += 2
        progress.report(1, 3, "reading")
        progress.clear()
    assert capfd.readouterr() == ("", "")


@given(
    name=st.text(max_size=40),
    things=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
    sizes=st.tuples(st.integers(0, 10**14), st.integers(0, 10**14)),
    seconds=st.floats(0, 10**6),
    columns=st.integers(11, 200),
)
def test_line_always_fits(
    name: str, things: tuple[int, int], sizes: tuple[int, int], seconds: float, columns: int
) -> None:
    progress = Progress(None, Clock(), lambda: columns)
    progress.moved(*things, *sizes, name)
    line = progress.line(seconds, columns)
    assert width_of(line) < columns
    assert "\x1b" not in line


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1 << 20, "1.0 MiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (5 << 40, "5.0 TiB"),
    ],
)
def test_bytes_text(count: int, text: str) -> None:
    assert bytes_text(count) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_duration_text(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_first_ctrl_c_asks_and_the_second_aborts() -> None:
    asked: list[str] = []
    with CancelToken(lambda: asked.append("asked")) as token:
        token.check()
        os.kill(os.getpid(), signal.SIGINT)
        assert token.is_set
        with pytest.raises(Cancelled):
            token()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert asked == ["asked"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_kill_and_a_closed_terminal_ask_as_ctrl_c_does(number: int) -> None:
    """APP-3: they ended it where it stood, and left git and its ssh running without anybody to wait for them."""
    asked: list[str] = []
    before = signal.getsignal(number)
    with CancelToken(lambda: asked.append("asked")) as token:
        os.kill(os.getpid(), number)
        assert token.is_set
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert not asked, "nobody pressed a key, so none is told of"
    assert signal.getsignal(number) is before


def test_what_the_caller_lets_pass_still_passes() -> None:
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with CancelToken() as token:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not token.is_set
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_was_closed_is_no_reason_to_fail() -> None:
    """APP-14: what runs on under nohup ended as a fault of lace."""

    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(errno.EIO, "Input/output error")

    with Progress(Closed(), Clock(), lambda: 80) as progress:
        progress.report(1, 2, "reading")
        progress.clear()
        progress.report(1, 2, "sending")


def test_token_off_the_main_thread_can_be_set() -> None:
    seen: list[bool] = []

    def work() -> None:
        with CancelToken() as token:
            token.set()
            seen.append(token.is_set)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
