"""Directories as tree records: canonical building, strict reading (CLAY-26..28, docs/formats.md section 2).

Equal directories have equal records whatever order they were made in, so two trees are compared by hash and
a walk descends only where hashes differ. What is read may come from anybody: every page is parsed strictly,
sums are compared, and depth, count and size are bounded before memory is taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from blake3 import blake3

from vault.desks.chunks import MAX_WHOLE_BYTES, MissingObject, entry_pieces
from vault.desks.content import MAX_SMALL_BYTES, tree_plex
from vault.desks.pages import (
    MAX_PAGE_ITEMS,
    Entry,
    NamesClash,
    Page,
    PageRef,
    TreeError,
    TreeTooLarge,
    TwinNames,
    format_page,
    kept,
    note_page,
    parse_page,
)
from vault.desks.paths import MAX_DEPTH, MAX_PATH_BYTES, have_twins, join, split_path, twin_key
from vault.desks.ports import Sink, Source, takes_hints
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.desks.delta_bases import Like

__all__ = [
    "MAX_TREE_ENTRIES",
    "build_directory",
    "check_depth",
    "lookup",
    "page_body",
    "read_directory",
    "read_entry",
    "read_with_pages",
    "tree_size",
    "walk",
]

_MAX_DIRECTORY_ENTRIES = 1_000_000  # about 200 MB while one directory is in memory
MAX_TREE_ENTRIES = 2_000_000  # of one walk: equal sub-directories are cheap to write and dear to unfold
_SINGLE = 512  # items that are always one page
_name_of = itemgetter(4)  # of an entry


def build_directory(
    group: str, entries: Iterable[Entry], sink: Sink, like: Like | None = None
) -> tuple[RecordHash, int]:
    """Add the pages of a directory to the sink; return its root page and the sum of its sizes.

    Args:
        group: the full group id.
        entries: in any order.
        sink: takes every page, also those it has already.
        like: the older pages that new ones are like; a hint for a sink that can use one.

    Raises:
        NamesClash: two names are equal, or equal after NFC and case folding (CLAY-27, APP-12).
        TreeTooLarge: there are too many.
    """
    items: Sequence[Entry | PageRef] = sorted(entries, key=_name_of)
    if len(items) > _MAX_DIRECTORY_ENTRIES:
        raise TreeTooLarge(f"A directory of {len(items)} names is more than lace takes.")
    _check_twins([item.name for item in items], NamesClash)
    level = 0
    while True:
        refs = [_add_page(group, Page(level, tuple(part)), sink, like) for part in _cut(level, items)]
        if len(refs) == 1:
            return refs[0].hash, refs[0].size
        items = refs
        level += 1


def _add_page(group: str, page: Page, sink: Sink, like: Like | None) -> PageRef:
    body = format_page(page)
    note_page(body, page)
    plex = tree_plex(group, body)
    name = page.items[0].name if page.items else ""
    # A small page rests in a row, against nothing.
    old = like(page.level, name) if like is not None and len(body) > MAX_SMALL_BYTES else None
    if old is not None and old != plex.hash and takes_hints(sink):
        sink.add_near(plex, (old,))
    else:
        sink.add(plex)
    return PageRef(page.entries, page.size, plex.hash, name)


def _cut(level: int, items: Sequence[Entry | PageRef]) -> list[Sequence[Entry | PageRef]]:
    """Cut the items of one level into pages; where depends on the names alone."""
    if len(items) <= _SINGLE:
        return [items]
    prefix = f"lace-tree-cut/0 {level} ".encode()
    below = 1 if level == 0 else 4
    parts = []
    start = 0
    for at, item in enumerate(items, 1):
        if at - start >= MAX_PAGE_ITEMS or blake3(prefix + item.name.encode()).digest(1)[0] < below:
            parts.append(items[start:at])
            start = at
    if start < len(items):
        parts.append(items[start:])
    return parts


def _check_twins(names: Sequence[str], fault: type[NamesClash | TwinNames]) -> None:
    if not have_twins(names):
        return
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(twin_key(name), name)
        if other is not name:
            raise fault(f"{other!r} and {name!r} cannot both stand in one directory on every disk.")


# Reading


def read_entry(source: Source, entry: Entry) -> bytes:
    """Return the content of a file or the target text of a link in one piece.

    Raises:
        MissingObject: it, or a part of it, is not here.
        TreeError: it has another size than the entry says, or is not what it says.
        TreeTooLarge: it is more than 32 MiB; `vault.desks.chunks.entry_pieces` reads such content.
    """
    if entry.size > MAX_WHOLE_BYTES:
        raise TreeTooLarge(f"{entry.name!r} has {entry.size} bytes, too many for one piece.")
    return b"".join(entry_pieces(source, entry))


def read_directory(
    source: Source, root: RecordHash, *, size: int | None = None, body: bytes | None = None
) -> tuple[Entry, ...]:
    """Return all entries of one directory, sorted by name.

    Args:
        source: where pages are read.
        root: its root page.
        size: what the entry above it says; compared when given.
        body: of the root page, where it was read from the source a moment ago.

    Raises:
        MissingObject: a page is not here; it names the hash.
        TreeError: a page is broken, its sums are wrong, or the directory is not cut as it must be.
    """
    return _read(source, root, size, body)[2]


def read_with_pages(
    source: Source, root: RecordHash, *, size: int | None = None
) -> tuple[tuple[Entry, ...], Collection[RecordHash]]:
    """Return what `read_directory` does, and the pages below the root page that a directory of many names is cut into.

    Raises:
        MissingObject, TreeError: as `read_directory`.
    """
    _, below, entries = _read(source, root, size, None)
    return entries, below.keys()


def _read(
    source: Source, root: RecordHash, size: int | None, body: bytes | None
) -> tuple[Page, dict[RecordHash, Page], tuple[Entry, ...]]:
    """Return the root page of a directory, its other pages and its entries."""
    turn = kept.turn
    pages = [_load(source, root) if body is None else parse_page(body)]
    if size is not None and pages[0].size != size:
        raise TreeError(f"The directory {root.text} holds {pages[0].size} bytes where {size} are said.")
    known = kept.directory(root)
    if known is not None and pages[0] is known[0] and all(_load(source, ref) is page for ref, page in known[1].items()):
        return known  # made of the very pages that were compared when it was read before
    if pages[0].entries > _MAX_DIRECTORY_ENTRIES:
        raise TreeTooLarge(f"The directory {root.text} has more than {_MAX_DIRECTORY_ENTRIES} names.")
    first, others = pages[0], dict[RecordHash, Page]()
    while True:
        level = pages[0].level
        items = [item for page in pages for item in page.items]
        if len(items) > _SINGLE or len(pages) > 1:
            _check_cut(root, level, items, pages)
        if level == 0:
            entries = cast("tuple[Entry, ...]", tuple(items))
            break
        refs = cast("list[PageRef]", items)
        pages = [_child(source, level, ref) for ref in refs]
        others |= zip((ref.hash for ref in refs), pages, strict=True)
    _check_twins([entry.name for entry in entries], TwinNames)
    found = first, others, entries
    kept.keep_directory(root, found, len(entries), turn)
    return found


def tree_size(source: Source, root: RecordHash) -> int:
    """Return the bytes of all files and links in a tree, as its root page says.

    Raises:
        MissingObject: the page is not here.
        TreeError: it is broken.
    """
    return _load(source, root).size


def _check_cut(root: RecordHash, level: int, items: Sequence[Entry | PageRef], pages: Sequence[Page]) -> None:
    if [len(part) for part in _cut(level, items)] != [len(page.items) for page in pages]:
        raise TreeError(f"The directory {root.text} is not cut into the pages it must have.")
    names = [item.name for item in items]
    if any(a >= b for a, b in pairwise(names)):
        raise TreeError(f"The pages of the directory {root.text} do not stand in order.")


def page_body(source: Source, record: RecordHash) -> bytes:
    """Return the body of a page, whatever it is.

    Raises:
        MissingObject: it is not here.
    """
    body = source.content(record)
    if body is None:
        raise MissingObject(record, "The tree page")
    return body


def _load(source: Source, record: RecordHash) -> Page:
    return parse_page(page_body(source, record))


def _child(source: Source, level: int, ref: PageRef) -> Page:
    page = _load(source, ref.hash)
    if page.level != level - 1 or not page.items or page.items[0].name != ref.name:
        raise TreeError(f"The tree page {ref.hash.text} does not stand where it belongs.")
    if page.entries != ref.entries or page.size != ref.size:
        raise TreeError(f"The tree page {ref.hash.text} has other sums than the page above it says.")
    return page


def lookup(source: Source, root: RecordHash, path: str) -> Entry | None:
    """Return the entry at a path, or None; reads only the pages on the way (CLAY-20, CLAY-21).

    Raises:
        BadPath: the path is empty or cannot be one.
        MissingObject: a page on the way is not here.
        TreeError: a page on the way is broken.
    """
    found: Entry | None = None
    here = root
    for name in split_path(path):
        if found is not None:
            if not found.is_dir:
                return None
            here = found.hash
        found = _find(source, here, name)
        if found is None:
            return None
    return found


def _find(source: Source, root: RecordHash, name: str) -> Entry | None:
    page = _load(source, root)
    while True:
        at = bisect_right(page.items, name, key=lambda item: item.name) - 1
        if at < 0:
            return None
        item = page.items[at]
        if isinstance(item, Entry):
            return item if item.name == name else None
        page = _child(source, page.level, item)


def walk(source: Source, root: RecordHash) -> Iterator[tuple[str, Entry]]:
    """Yield (path, entry) of everything in a tree, each directory before what it holds (CLAY-22).

    Raises:
        MissingObject: a page is not here.
        TreeError: a page is broken or its sums are wrong.
        TreeTooLarge: the tree is deeper than 128 names, or has more than two million entries.
    """
    count = 0
    stack = [("", iter(read_directory(source, root)))]
    while stack:
        prefix, entries = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
            continue
        count += 1
        if count > MAX_TREE_ENTRIES:
            raise TreeTooLarge(f"The tree {root.text} has more than {MAX_TREE_ENTRIES} entries.")
        path = join(prefix, entry.name)
        check_depth(path, len(stack))
        yield path, entry
        if entry.is_dir:
            stack.append((path, iter(read_directory(source, entry.hash, size=entry.size))))


def check_depth(path: str, depth: int) -> None:
    """Refuse a path in a tree that is longer or deeper than a path may be.

    Raises:
        TreeTooLarge: it is.
    """
    if depth > MAX_DEPTH or (len(path) * 4 > MAX_PATH_BYTES and len(path.encode()) > MAX_PATH_BYTES):
        raise TreeTooLarge(f"A tree is deeper than {MAX_DEPTH} names or {MAX_PATH_BYTES} bytes at {path[:100]!r}.")
