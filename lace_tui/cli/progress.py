"""Progress on a terminal.

Progress is one line on standard error that is rewritten at most ten times a second and wiped at the end. It
shows the phase, done and total, bytes, rate, and the time left only when the total is known. On a pipe, with
`-q` or with `--json` nothing is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from lace_tui.words.inert import inert, width_of
from lace_tui.words.times import duration_text

__all__ = ["Progress"]

_INTERVAL = 0.1  # seconds between two updates: ten a second are enough for an eye
_SETTLE = 1.0  # seconds before a rate means something
_WIPE = "\r\x1b[K"
_NARROWEST = 10  # cells


class Progress:
    """One rewritten line that tells how far the work is.

    Args:
        stream: where to write; None shows nothing.
        monotonic: a clock in seconds that never goes back.
        columns: returns the terminal's width in cells.
    """

    def __init__(self, stream: TextIO | None, monotonic: Callable[[], float], columns: Callable[[], int]) -> None:
        self._stream = stream
        self._monotonic = monotonic
        self._columns = columns
        self._name = ""
        self._total = self._total_bytes = 0
        self._done = self._bytes = 0
        self._began = self._bytes_began = monotonic()
        self._drawn_at = float("-inf")
        self._is_drawn = False

    def phase(self, name: str, *, total: int = 0, total_bytes: int = 0) -> None:
        """Begin a phase, for example "reading"; totals are 0 when unknown."""
        self._name = name
        self._total, self._total_bytes = total, total_bytes
        self._done = self._bytes = 0
        self._began = self._bytes_began = self._monotonic()
        self._drawn_at = float("-inf")
        self._draw()

    def report(self, done: int, total: int, what: str) -> None:
        """Say how far a phase is; a new name begins a new phase, unless it goes on counting.

        Fits `Watch.progress`.
        """
        if self._stream is None:  # told of each of thousands of files
            return
        if what != self._name:
            self._go_on_or_begin(done, total, 0, what)
        self._done, self._total = done, total
        self._draw()

    def moved(self, done: int, total: int, size: int, total_size: int, what: str) -> None:
        """Say how many records of how many, and bytes of how many, of a transfer are done. Fits `Watch.moved`."""
        if self._stream is None:
            return
        if what != self._name:
            self._go_on_or_begin(done, total, total_size, what)
        self._done, self._total, self._bytes, self._total_bytes = done, total, size, total_size
        self._draw()

    def _go_on_or_begin(self, done: int, total: int, total_bytes: int, what: str) -> None:
        """Begin a phase, or go on with one that names each of its many files as it comes to it."""
        if not total or total != self._total or done < self._done:
            self.phase(what, total=total, total_bytes=total_bytes)
        else:
            self._name = what
            self._bytes_began = self._monotonic()

    def __call__(self, done: int, total: int, what: str) -> None:
        """Do the same as `report`, so that the progress itself can be handed down."""
        self.report(done, total, what)

    def clear(self) -> None:
        """Wipe the line, so that something else can be written; the next update draws it again."""
        if self._is_drawn:
            self._write(_WIPE)
            self._is_drawn = False
            self._drawn_at = float("-inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        self._stream = None

    def _draw(self) -> None:
        if self._stream is None:
            return
        now = self._monotonic()
        if now - self._drawn_at < _INTERVAL:
            return
        self._drawn_at = now
        began = self._bytes_began if self._total_bytes else self._began
        self._write(_WIPE + self.line(now - began, self._columns()))
        self._is_drawn = True

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal was closed, which is no reason to fail
            self._stream = None

    def line(self, seconds: float, columns: int) -> str:
        """Return the line after that many seconds of this phase, at most `columns - 1` cells wide."""
        room = max(_NARROWEST, columns - 1)
        line = inert(self._name, room)
        for part in self._parts(seconds):
            if part and width_of(line) + 2 + len(part) <= room:
                line += "  " + part
        return line

    def _parts(self, seconds: float) -> list[str]:
        """Return what there is to say, most useful first: what does not fit is left out."""
        count = f"{self._done}/{self._total}" if self._total else str(self._done) if self._done else ""
        if self._total_bytes and self._total <= 1:  # the bytes of one thing say how far it is
            count = ""
        from vault.plural import bytes_text  # most commands end before a line is drawn

        size = bytes_text(self._bytes) if self._bytes or self._total_bytes else ""
        if self._total_bytes:
            size += "/" + bytes_text(self._total_bytes)
        rate = left = ""
        if seconds >= _SETTLE:
            if self._bytes:
                rate = bytes_text(self._bytes / seconds) + "/s"
            done, total = (self._bytes, self._total_bytes) if self._total_bytes else (self._done, self._total)
            if 0 < done < total:
                left = duration_text((total - done) * seconds / done) + " left"
        return [count, size, left, rate]
