"""What was stored a moment ago and is asked for again soon, kept at hand: pages, and the sums of small contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from vault.desks.sums import SUM_AT_ONCE_BYTES, new_sum
from vault.records import Plex, RecordHash
from vault.store.at_hand import DigestTable

if TYPE_CHECKING:
    from vault.desks.content import Contents

__all__ = ["Fresh"]

_SUMS = 131_072  # at hand, some 16 MB; of a larger folder the earlier ones are written down
_SIZE_BYTES, _SUM_BYTES = 8, 64
_WRITTEN = 8_192  # of them at a time
_FEW = 64  # contents; to read so few again at a release is cheaper than to load the hash library for each commit
_PAGES_BYTES = 4 << 20

_new = tuple.__new__


class Fresh:
    """Bytes and sums of one store, as long as what they belong to is not taken back.

    Args:
        keep: takes the sums that are too many to be at hand, in the transaction that stores their contents: to work
            them out again reads those contents one by one.

    Attributes:
        pages: bodies of pages, which rest in frames with content beside them.
    """

    def __init__(self, keep: Callable[[Mapping[RecordHash, str]], None]) -> None:
        self._keep = keep
        self._sums = DigestTable(_SIZE_BYTES + _SUM_BYTES)  # size and SHA-512 of small contents
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
            self._sums.put(record.hash.digest, _packed(size, record.blob.data))

    def note_sum_while_few(self, record: Plex) -> None:
        """Sum a small content as `note_sum` does, but of more than are at hand only the first: none is written down."""
        if len(self._sums) < _SUMS:
            self.note_sum(record)

    def note_sums(self, contents: Contents) -> None:
        """Sum small contents, as `note_sum` does one."""
        few = max(0, _FEW - self._contents)
        self._contents += len(contents)
        self._make_room(len(contents))
        rows = zip(contents.records, contents.stored, contents.sizes, strict=True)
        some = islice(rows, few, None)
        self._sums.put_all([(digest, _packed(size, stored[-size:])) for (_, digest), stored, size in some if size])

    def sum_of(self, record: RecordHash, size: int) -> str | None:
        """Return the SHA-512, 128 hex digits, of a small content of this size that is at hand; else None."""
        packed = self._sums.get(record.digest)
        if packed is None or packed[:_SIZE_BYTES] != size.to_bytes(_SIZE_BYTES, "little"):
            return None
        return packed[_SIZE_BYTES:].hex()

    def forget(self) -> None:
        """Forget all: what was stored is taken back."""
        self._sums.clear()
        self._forget_pages()

    def _make_room(self, count: int) -> None:
        if self._sums and len(self._sums) + count > _SUMS:
            named = ((_new(RecordHash, ("P", digest)), packed) for digest, packed in self._sums.items())
            while some := {record: packed[_SIZE_BYTES:].hex() for record, packed in islice(named, _WRITTEN)}:
                self._keep(some)
            self._sums.clear()

    def _forget_pages(self) -> None:
        self.pages.clear()
        self._pages_bytes = 0


def _packed(size: int, content: bytes) -> bytes:
    return size.to_bytes(_SIZE_BYTES, "little") + new_sum(content).digest()
