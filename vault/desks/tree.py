"""Directories as tree records: canonical building, strict reading (CLAY-26..28, docs/formats.md section 2).

Equal directories have equal records whatever order they were made in, so two trees are compared by hash and
a walk descends only where hashes differ. What is read may come from anybody: every page is parsed strictly,
sums are compared, and depth, count and size are bounded before memory is taken.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from blake3 import blake3

from vault.desks.content import tree_plex
from vault.desks.paths import MAX_DEPTH, MAX_PATH_BYTES, join, name_problem, split_path, twin_key
from vault.desks.ports import Sink, Source
from vault.errors import DataError
from vault.records import B64AError, RecordHash

__all__ = [
    "MAX_DIRECTORY_ENTRIES",
    "MAX_PAGE_BYTES",
    "MAX_TREE_ENTRIES",
    "Entry",
    "MissingObject",
    "Page",
    "PageRef",
    "TreeError",
    "TreeTooLarge",
    "TwinNames",
    "build_directory",
    "check_depth",
    "format_page",
    "lookup",
    "parse_page",
    "read_content",
    "read_directory",
    "read_entry",
    "walk",
]

MAX_PAGE_BYTES = 1 << 20  # 1,024 items of the longest names are about a third of it
MAX_DIRECTORY_ENTRIES = 1_000_000  # about 200 MB while one directory is in memory
MAX_TREE_ENTRIES = 2_000_000  # of one walk: equal sub-directories are cheap to write and dear to unfold
_SINGLE = 512  # items that are always one page
_LONGEST = 1024
_MAX_LEVEL = 8
_SIZE_LIMIT = 1 << 63
_HEADER = "lace-tree/0 "

_HASH = r"P\.[0-9A-Z_a-z~]{43}\.H3"
_NUMBER = r"0|[1-9][0-9]{0,18}"
_ENTRY = re.compile(rf"([fld]) ([-x]) ({_NUMBER}) ({_HASH}) (.+)", re.DOTALL | re.ASCII)
_REF = re.compile(rf"p ([1-9][0-9]{{0,6}}) ({_NUMBER}) ({_HASH}) (.+)", re.DOTALL | re.ASCII)


class TreeError(DataError):
    """A tree record that breaks a rule of its format."""

    code = "tree-broken"
    exit_code = 40
    hint = "Whoever made this record made it wrong; nothing of it was taken."


class TreeTooLarge(TreeError):
    """A tree that is deeper or wider than lace takes."""

    code = "tree-too-large"
    exit_code = 40


class TwinNames(TreeError):
    """Two names in one directory that some disks cannot tell apart."""

    code = "tree-twins"
    exit_code = 40
    hint = "Rename one of them."


class MissingObject(DataError):  # noqa: N818 - it names the thing
    """A tree page or file content that is not in this vault."""

    code = "object-missing"
    exit_code = 42
    hint = "Sync with a friend who has it, then try again."

    def __init__(self, record: RecordHash, what: str) -> None:
        super().__init__(f"{what} {record.text} is not in this vault.")
        self.record = record


class _EntryFields(NamedTuple):
    kind: str
    mode: str
    size: int
    hash: RecordHash
    name: str


class Entry(_EntryFields):
    """One name in a directory.

    Args:
        kind: "f" file, "l" symbolic link, "d" directory.
        mode: "x" for an executable file, else "-".
        size: bytes of the content; of a directory: of everything below it.
        hash: the data record, or the root page of the directory.
        name: in NFC.

    Raises:
        TreeError: a field is out of range.
    """

    __slots__ = ()

    def __new__(  # noqa: D102 - the class says it
        cls,
        kind: str,
        mode: str,
        size: int,
        hash: RecordHash,  # noqa: A002
        name: str,
    ) -> Self:
        problem = name_problem(name)
        if problem:
            raise TreeError(f"The name {name!r} {problem}.")
        if kind not in {"f", "l", "d"} or mode not in ({"-", "x"} if kind == "f" else {"-"}):
            raise TreeError(f"The entry {name!r} has the kind {kind!r} and mode {mode!r}, which do not exist.")
        if not 0 <= size < _SIZE_LIMIT or hash.kind != "P":
            raise TreeError(f"The entry {name!r} has the size {size} and the record {hash}, which cannot be.")
        return tuple.__new__(cls, (kind, mode, size, hash, name))

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.kind == "d"

    def named(self, name: str) -> Entry:
        """Return the same entry under another name."""
        return self if name == self.name else Entry(self.kind, self.mode, self.size, self.hash, name)


class PageRef(NamedTuple):
    """One page of the level below.

    Args:
        entries: names below this page.
        size: sum of their sizes in bytes.
        hash: the page.
        name: the first name below it.
    """

    entries: int
    size: int
    hash: RecordHash
    name: str


class Page(NamedTuple):
    """One parsed page: level 0 holds entries, higher levels hold pages."""

    level: int
    items: tuple[Entry | PageRef, ...]

    @property
    def entries(self) -> int:
        """Names below this page."""
        return sum(item.entries if isinstance(item, PageRef) else 1 for item in self.items)

    @property
    def size(self) -> int:
        """Sum of the sizes below this page, in bytes."""
        return sum(item.size for item in self.items)


def format_page(page: Page) -> bytes:
    """Return the body of a page; `parse_page` gives the same page back."""
    lines = [f"{_HEADER}{page.level}\n"]
    for item in page.items:
        if isinstance(item, PageRef):
            lines.append(f"p {item.entries} {item.size} {item.hash.text} {item.name}\n")
        else:
            lines.append(f"{item.kind} {item.mode} {item.size} {item.hash.text} {item.name}\n")
    return "".join(lines).encode()


def parse_page(body: bytes) -> Page:
    """Return the page of a tree record's body, strictly as docs/formats.md section 2 says.

    Raises:
        TreeError: a byte is out of place.
    """
    if len(body) > MAX_PAGE_BYTES:
        raise TreeTooLarge(f"A tree page has {len(body)} bytes, more than {MAX_PAGE_BYTES}.")
    try:
        lines = body.decode().split("\n")
    except UnicodeDecodeError:
        raise TreeError("A tree page is not UTF-8.") from None
    first = lines[0]
    level = first[len(_HEADER) :]
    if not first.startswith(_HEADER) or len(level) != 1 or not "0" <= level <= str(_MAX_LEVEL):
        raise TreeError(f"A tree page starts with {first[:40]!r}, not with its kind and level.")
    if len(lines) < 2 or lines[-1]:
        raise TreeError("A tree page does not end with a line feed.")
    del lines[0], lines[-1]
    if len(lines) > _LONGEST:
        raise TreeTooLarge(f"A tree page lists {len(lines)} items, more than {_LONGEST}.")
    try:
        items: list[Entry | PageRef] = [_entry(x) for x in lines] if level == "0" else [_ref(x) for x in lines]
    except B64AError as error:
        raise TreeError(f"A tree page names a record wrongly: {error.message}.") from error
    if level != "0" and len(items) < 2:
        raise TreeError("A tree page of pages lists fewer than two.")
    for before, after in pairwise(items):
        if before.name >= after.name:  # the order of code points is the order of UTF-8 bytes
            raise TreeError(f"{after.name!r} does not stand in order in its tree page.")
    page = Page(int(level), tuple(items))
    if page.size >= _SIZE_LIMIT:
        raise TreeError("The sizes in a tree page add up to more than can be.")
    return page


def _entry(line: str) -> Entry:
    match = _ENTRY.fullmatch(line)
    if match is None:
        raise TreeError(f"{line[:120]!r} is no item of a tree page.")
    kind, mode, size, record, name = match.groups()
    problem = name_problem(name)
    if problem:
        raise TreeError(f"The name {name!r} {problem}.")
    if mode == "x" and kind != "f":
        raise TreeError(f"{name!r} is executable but no file.")
    return tuple.__new__(Entry, (kind, mode, int(size), RecordHash.parse(record), name))


def _ref(line: str) -> PageRef:
    match = _REF.fullmatch(line)
    if match is None:
        raise TreeError(f"{line[:120]!r} is no page in a tree page.")
    entries, size, record, name = match.groups()
    problem = name_problem(name)
    if problem:
        raise TreeError(f"The name {name!r} {problem}.")
    return PageRef(int(entries), int(size), RecordHash.parse(record), name)


# Building


def build_directory(group: str, entries: Iterable[Entry], sink: Sink) -> tuple[RecordHash, int]:
    """Add the pages of a directory to the sink; return its root page and the sum of its sizes.

    Args:
        group: the full group id.
        entries: in any order.
        sink: takes every page, also those it has already.

    Raises:
        TwinNames: two names are equal, or equal after NFC and case folding (CLAY-27, APP-12).
        TreeTooLarge: there are too many.
    """
    items: Sequence[Entry | PageRef] = sorted(entries, key=lambda entry: entry.name)
    if len(items) > MAX_DIRECTORY_ENTRIES:
        raise TreeTooLarge(f"A directory of {len(items)} names is more than lace takes.")
    _check_twins([item.name for item in items])
    level = 0
    while True:
        refs = [_add_page(group, Page(level, tuple(part)), sink) for part in _cut(level, items)]
        if len(refs) == 1:
            return refs[0].hash, refs[0].size
        items = refs
        level += 1


def _add_page(group: str, page: Page, sink: Sink) -> PageRef:
    plex = tree_plex(group, format_page(page))
    sink.add(plex)
    return PageRef(page.entries, page.size, plex.hash, page.items[0].name if page.items else "")


def _cut(level: int, items: Sequence[Entry | PageRef]) -> list[Sequence[Entry | PageRef]]:
    """Cut the items of one level into pages; where depends on the names alone."""
    if len(items) <= _SINGLE:
        return [items]
    prefix = f"lace-tree-cut/0 {level} ".encode()
    below = 1 if level == 0 else 4
    parts = []
    start = 0
    for at, item in enumerate(items, 1):
        if at - start >= _LONGEST or blake3(prefix + item.name.encode()).digest(1)[0] < below:
            parts.append(items[start:at])
            start = at
    if start < len(items):
        parts.append(items[start:])
    return parts


def _check_twins(names: Sequence[str]) -> None:
    keys = set(map(twin_key, names))
    if len(keys) == len(names):
        return
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(twin_key(name), name)
        if other is not name:
            raise TwinNames(f"{other!r} and {name!r} cannot both stand in one directory on every disk.")


# Reading


def read_entry(source: Source, entry: Entry) -> bytes:
    """Return the content of a file or the target text of a link.

    Raises:
        MissingObject: it is not here.
        TreeError: it has another size than the entry says.
    """
    content = read_content(source, entry.hash)
    if len(content) != entry.size:
        raise TreeError(f"{entry.name!r} has {len(content)} bytes where its tree says {entry.size}.")
    return content


def read_content(source: Source, record: RecordHash) -> bytes:
    """Return the content of a data record.

    Raises:
        MissingObject: it is not here.
    """
    content = source.content(record)
    if content is None:
        raise MissingObject(record, "The content")
    return content


def read_directory(source: Source, root: RecordHash, *, size: int | None = None) -> tuple[Entry, ...]:
    """Return all entries of one directory, sorted by name.

    Args:
        source: where pages are read.
        root: its root page.
        size: what the entry above it says; compared when given.

    Raises:
        MissingObject: a page is not here; it names the hash.
        TreeError: a page is broken, its sums are wrong, or the directory is not cut as it must be.
    """
    pages = [_load(source, root)]
    if size is not None and pages[0].size != size:
        raise TreeError(f"The directory {root.text} holds {pages[0].size} bytes where {size} are said.")
    if pages[0].entries > MAX_DIRECTORY_ENTRIES:
        raise TreeTooLarge(f"The directory {root.text} has more than {MAX_DIRECTORY_ENTRIES} names.")
    while True:
        level = pages[0].level
        items = [item for page in pages for item in page.items]
        if len(items) > _SINGLE or len(pages) > 1:
            _check_cut(root, level, items, pages)
        refs = [item for item in items if isinstance(item, PageRef)]
        if not refs:
            break
        pages = [_child(source, level, ref) for ref in refs]
    entries = tuple(item for item in items if isinstance(item, Entry))
    _check_twins([entry.name for entry in entries])
    return entries


def _check_cut(root: RecordHash, level: int, items: Sequence[Entry | PageRef], pages: Sequence[Page]) -> None:
    if [len(part) for part in _cut(level, items)] != [len(page.items) for page in pages]:
        raise TreeError(f"The directory {root.text} is not cut into the pages it must have.")
    names = [item.name for item in items]
    if any(a >= b for a, b in pairwise(names)):
        raise TreeError(f"The pages of the directory {root.text} do not stand in order.")


def _load(source: Source, record: RecordHash) -> Page:
    body = source.content(record)
    if body is None:
        raise MissingObject(record, "The tree page")
    return parse_page(body)


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
