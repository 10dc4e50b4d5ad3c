"""What a page lists that the one before it did not, found by their lines: neither of them is taken apart.

Who changes ten files of a large folder makes pages that list hundreds of others, each in the very line that it had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple, cast

from vault.desks.pages import Entry, entries_of, known_page
from vault.desks.ports import Source
from vault.records import RecordHash

__all__ = ["NewItem", "differing_entries", "new_entries", "new_items"]

_ITEM = re.compile(rb"([fldp]) [-x0-9]+ [0-9]+ (P\.[^ ]{43}\.H3) (.+)")  # of a page that was read strictly before
_SHORT_BYTES = 4_096  # of a page of which to digest all takes no longer than to take apart one line


class NewItem(NamedTuple):
    """One item of a page that the page before it had not, or not in this line.

    Args:
        kind: "f", "l" or "d" as of an entry; "p" for a page of the level below.
        record: what it names.
        name: its name in UTF-8, or the first one below it.
        before: the record that a directory or page of this name was before, if there was one.
    """

    kind: bytes
    record: RecordHash
    name: bytes
    before: RecordHash | None


def new_items(body: bytes, before: bytes) -> list[NewItem]:
    """Return what a page lists and the one before it did not, in order.

    Args:
        body: of a page that `parse_page` has read before.
        before: of another one.
    """
    lines, old = body.split(b"\n"), {*before.split(b"\n")}
    gone = {(kind, name): record for kind, record, name in _items(old.difference(lines)) if kind in b"dp"}
    anew = _items(line for line in lines if line not in old)
    return [NewItem(kind, record, name, gone.get((kind, name))) for kind, record, name in anew]


def _items(lines: Iterable[bytes]) -> Iterator[tuple[bytes, RecordHash, bytes]]:
    for match in map(_ITEM.fullmatch, lines):
        if match is not None:
            yield match[1], RecordHash.parse(match[2].decode()), match[3]


def new_entries(source: Source, root: RecordHash, before: RecordHash) -> dict[str, RecordHash | None] | None:
    """Return the names of a directory's entries that the directory before it had not, or had otherwise.

    With each stands the root page that a directory of this name had before, if there was one.

    Args:
        source: where pages are read.
        root: the root page of a directory that `read_directory` has read before.
        before: that of another one.

    Returns:
        None where a page is not here.
    """
    found: dict[str, RecordHash | None] = {}
    ahead: list[tuple[RecordHash, RecordHash | None]] = [(root, before)]
    while ahead:
        page, old = ahead.pop()
        body = source.content(page)
        was = source.content(old) if old is not None else b""
        if body is None or was is None:
            return None
        for item in new_items(body, was):
            if item.kind == b"p":
                ahead.append((item.record, item.before))
            else:
                found[item.name.decode()] = item.before
    return found


def differing_entries(before: bytes, after: bytes) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """Return the entries of two pages of names that the other has not, or has otherwise; those of `before` first.

    What both say in one line is taken apart on neither side, so that ten new files cost ten lines of hundreds.

    Raises:
        TreeError: what only one of them says is broken.
    """
    old, new = before.split(b"\n"), after.split(b"\n")
    gone, fresh = {*old}.difference(new), {*new}.difference(old)
    return _entries_of(before, old, gone), _entries_of(after, new, fresh)


def _entries_of(body: bytes, lines: Sequence[bytes], which: Set[bytes]) -> Sequence[Entry]:
    """Return the entries that some lines of a page say: as they were read before, else these lines are taken apart."""
    known = known_page(body) if len(body) <= _SHORT_BYTES else None
    if known is None:
        return entries_of([line for line in lines if line in which])
    items = cast("tuple[Entry, ...]", known.items)
    return [item for item, line in zip(items, lines[1:-1], strict=True) if line in which]  # between head and end
