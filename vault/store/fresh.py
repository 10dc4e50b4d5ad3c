"""What was stored a moment ago and is asked for again soon, kept at hand: pages, and the sums of small contents."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from vault.desks.sums import SUM_AT_ONCE_BYTES, new_sum
from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.desks.content import Contents

__all__ = ["Fresh"]

_SUMS = 50_000
_FEW = 64  # contents that are read again for a release sooner than the library is loaded that sums them
_PAGES_BYTES = 4 << 20


class Fresh:
    """Bytes and sums of one store, as long as what they belong to is not taken back.

    Attributes:
        sums: size and SHA-512 of small contents.
        pages: bodies of pages, which rest in frames with content beside them.
    """

    def __init__(self) -> None:
        self.sums: dict[RecordHash, tuple[int, str]] = {}
        self.pages: dict[RecordHash, bytes] = {}
        self._pages_bytes = 0
        self._contents = 0  # that were at hand to be summed

    def keep_page(self, page: Plex) -> None:
        """Keep a page at hand."""
        self._pages_bytes += len(page.blob.data)
        if self._pages_bytes > _PAGES_BYTES:
            self._forget_pages()
        self.pages[page.hash] = page.blob.data

    def note_sum(self, record: Plex) -> None:
        """Sum a small content while it is at hand: reading thousands of them again would cost ten times as much."""
        size = len(record.blob.data)
        self._contents += 1
        if self._contents <= _FEW:
            return
        if 0 < size <= SUM_AT_ONCE_BYTES and not record.extras:  # a manifest has some
            if len(self.sums) >= _SUMS:
                self.sums.clear()
            self.sums[record.hash] = (size, new_sum(record.blob.data).hexdigest())

    def note_sums(self, contents: Contents) -> None:
        """Sum small contents, as `note_sum` does one."""
        few = max(0, _FEW - self._contents)
        self._contents += len(contents)
        if len(self.sums) + len(contents) > _SUMS:
            self.sums.clear()
        rows = zip(contents.records, contents.stored, contents.sizes, strict=True)
        for record, stored, size in islice(rows, few, None):
            if size:
                self.sums[record] = (size, new_sum(stored[-size:]).hexdigest())

    def forget(self) -> None:
        """Forget all: what was stored is taken back."""
        self.sums.clear()
        self._forget_pages()

    def _forget_pages(self) -> None:
        self.pages.clear()
        self._pages_bytes = 0
