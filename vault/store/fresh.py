"""What was stored a moment ago and is asked for again soon, kept at hand: pages, and the sums of small contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from vault.desks.sums import SUM_AT_ONCE_BYTES, new_sum
from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.desks.content import Contents

__all__ = ["Fresh"]

_SUMS = 20_000  # at hand, some 10 MB; of a larger folder the earlier ones are written down
_FEW = 64  # contents that are read again for a release sooner than the library is loaded that sums them
_PAGES_BYTES = 4 << 20


class Fresh:
    """Bytes and sums of one store, as long as what they belong to is not taken back.

    Args:
        keep: takes the sums that are too many to be at hand, in the transaction that stores their contents: to work
            them out again reads those contents one by one.

    Attributes:
        sums: size and SHA-512 of small contents.
        pages: bodies of pages, which rest in frames with content beside them.
    """

    def __init__(self, keep: Callable[[Mapping[RecordHash, str]], None]) -> None:
        self._keep = keep
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
            self._make_room(1)
            self.sums[record.hash] = (size, new_sum(record.blob.data).hexdigest())

    def note_sums(self, contents: Contents) -> None:
        """Sum small contents, as `note_sum` does one."""
        few = max(0, _FEW - self._contents)
        self._contents += len(contents)
        self._make_room(len(contents))
        rows = zip(contents.records, contents.stored, contents.sizes, strict=True)
        for record, stored, size in islice(rows, few, None):
            if size:
                self.sums[record] = (size, new_sum(stored[-size:]).hexdigest())

    def forget(self) -> None:
        """Forget all: what was stored is taken back."""
        self.sums.clear()
        self._forget_pages()

    def _make_room(self, count: int) -> None:
        if self.sums and len(self.sums) + count > _SUMS:
            self._keep({record: value for record, (_, value) in self.sums.items()})
            self.sums.clear()

    def _forget_pages(self) -> None:
        self.pages.clear()
        self._pages_bytes = 0
