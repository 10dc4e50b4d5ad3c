"""What is kept of pages and directories that were taken apart takes no more room than it may, whatever their names."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from vault.desks import pages
from vault.desks.kept_pages import KeptPages
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, Page, format_page, parse_page
from vault.desks.tree import read_directory
from vault.records import RecordHash

_MIB = 1 << 20
_RECORD = RecordHash("P", bytes(32))
_LONG = "x" * 240 + "\N{GRINNING FACE}"  # as long as may be, and each other symbol takes four bytes for the last one


class _Made(MemoryObjects):
    """Directories that are made when they are asked for: only who reads one keeps anything of it."""

    def __init__(self, tail: str) -> None:
        super().__init__()
        self._tail = tail

    def content(self, record: RecordHash, /) -> bytes | None:
        number = int.from_bytes(record.digest, "big")
        names = [f"{number:04}-{each:04}{self._tail}" for each in range(512)]
        return format_page(Page(0, tuple(Entry("f", "-", 1, _RECORD, name) for name in names)))

    def read(self, number: int) -> None:
        read_directory(self, RecordHash("P", number.to_bytes(32, "big")))

    def parse(self, number: int) -> None:
        parse_page(self.content(RecordHash("P", number.to_bytes(32, "big"))) or b"")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let only 2 MiB be kept, which a dozen pages fill."""
    monkeypatch.setattr(pages.kept, "most", 2 * _MIB)
    pages.kept.forget()
    yield
    pages.kept.forget()


def _held(act: Callable[[], object]) -> int:
    """Return how many bytes more are held after an act than before."""
    gc.collect()
    tracemalloc.start()
    try:
        act()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "tail",
    ["", "x" * 246, "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 82, _LONG],
    ids=["short", "long", "two bytes each", "four bytes each"],
)
def test_pages_are_kept_by_the_room_that_their_names_take(tail: str) -> None:
    """Who makes a page chooses its names, so a count of them would bound nothing."""
    made = _Made(tail)

    def act() -> None:
        for number in range(20):
            made.parse(number)

    assert 0 < _held(act) < 2.5 * _MIB


def test_directories_are_let_go_of_with_their_pages() -> None:
    made = _Made(".txt")

    def act() -> None:
        for number in range(12):
            made.read(number)
        for number in range(12, 24):
            made.parse(number)

    assert _held(act) < 2.5 * _MIB


def test_a_directory_is_kept_once_it_was_read() -> None:
    made = _Made(".txt")
    record = RecordHash("P", (7).to_bytes(32, "big"))
    assert read_directory(made, record) is read_directory(made, record)


def test_a_directory_whose_pages_were_let_go_of_meanwhile_is_not_kept() -> None:
    kept = KeptPages[str, str](2_000)
    turn = kept.turn
    kept.keep_page(b"one", "one", b"", [])
    kept.keep_directory(_RECORD, "here", 1, turn)
    assert kept.directory(_RECORD) == "here"
    kept.keep_page(b"large", "large", b"x" * 1_000, [])
    assert (kept.page(b"one"), kept.page(b"large"), kept.directory(_RECORD)) == (None, "large", None)
    kept.keep_directory(_RECORD, "made of what went", 1, turn)
    assert kept.directory(_RECORD) is None
    kept.keep_directory(_RECORD, "too large for what is left", 100, kept.turn)
    assert (kept.page(b"large"), kept.directory(_RECORD)) == (None, None)
