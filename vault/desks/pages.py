"""One page of a directory: its form, strictly read and written (docs/formats.md section 2, APP-12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import ge
from typing import NamedTuple, Self, cast

from blake3 import blake3

from vault.desks.kept_pages import KeptPages
from vault.desks.paths import name_problem
from vault.errors import CallerError, DataError
from vault.records import RecordHash, b64a
from vault.records.hashes import texts_of

__all__ = ["MAX_PAGE_BYTES", "MAX_PAGE_ITEMS", "Entry", "NamesClash", "Page", "PageRef", "TreeError", "TreeTooLarge"]
__all__ += [
    "TwinNames",
    "checked_entry",
    "count_names",
    "entries_of",
    "format_page",
    "has_large",
    "is_empty",
    "kept",
    "known_page",
    "level_of",
    "listed",
    "note_page",
    "parse_page",
]

MAX_PAGE_BYTES = 1 << 20  # 1,024 items of the longest names are about a third of it
MAX_PAGE_ITEMS = 1024
_MAX_LEVEL = 8  # levels of pages above the entries of one directory
_SIZE_LIMIT = 1 << 63  # bytes of all that a directory holds
_HEADER = "lace-tree/0 "
_NAMES = f"{_HEADER}0\n".encode()  # first line of a page of level 0

_HASH = rf"P\.([0-9A-Z_a-z~]{{42}}[{b64a.ALPHABET[::4]}])\.H3"  # the last symbol has no bits to spare
_NUMBER = r"0|[1-9][0-9]{0,18}"
_ENTRY = re.compile(rf"^([fld]) ([-x]) ({_NUMBER}) {_HASH} ([^\n]+)\n", re.MULTILINE | re.ASCII)
_REF = rf"p ([1-9][0-9]{{0,6}}) ({_NUMBER}) {_HASH} (.+)"  # only large directories have these
_LISTED = re.compile(rf"^[fldp] [-x0-9]+ [0-9]+ {_HASH} ", re.MULTILINE | re.ASCII)
_LARGE = re.compile(rb"^f [-x] [0-9]{6}", re.MULTILINE)  # less than any large content has
_new = tuple.__new__


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
    """A tree record with two names in one directory that some disks cannot tell apart."""

    code = "tree-twins"
    exit_code = 40


class NamesClash(CallerError):
    """What was asked for puts two names into one directory that some disks cannot tell apart (CLAY-27, APP-12)."""

    code = "names-clash"
    exit_code = 2
    hint = "Nothing was changed. Rename or delete one of them first."


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


def checked_entry(kind: str, mode: str, size: int, digest: bytes, name: str) -> Entry:
    """Return an entry of checked parts: for who reads a page, or chose the name on a disk."""
    return tuple.__new__(Entry, (kind, mode, size, tuple.__new__(RecordHash, ("P", digest)), name))


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
        return sum(item.entries for item in self.items if isinstance(item, PageRef)) if self.level else len(self.items)

    @property
    def size(self) -> int:
        """Sum of the sizes below this page, in bytes."""
        return sum([item.size for item in self.items])


def format_page(page: Page) -> bytes:
    """Return the body of a page; `parse_page` gives the same page back."""
    texts = texts_of([item.hash for item in page.items])
    lines = [f"{_HEADER}{page.level}\n"]
    for item, text in zip(page.items, texts, strict=True):
        if isinstance(item, PageRef):
            lines.append(f"p {item.entries} {item.size} {text} {item.name}\n")
        else:
            kind, mode, size, _, name = item
            lines.append(f"{kind} {mode} {size} {text} {name}\n")
    return "".join(lines).encode()


kept = KeptPages[Page, tuple[Page, dict[RecordHash, Page], tuple[Entry, ...]]](48 << 20)
"""Pages, and of directories the root page, the others and the entries: room for a folder of 100,000 files."""


def parse_page(body: bytes) -> Page:
    """Return the page of a tree record's body, strictly as docs/formats.md section 2 says.

    Raises:
        TreeError: a byte is out of place.
    """
    digest = blake3(body).digest()
    found = kept.page(digest)
    if found is None:
        found = _page(body)
        kept.keep_page(digest, found, body, [item.name for item in found.items])
    return found


def known_page(body: bytes) -> Page | None:
    """Return the page of a body if it was read or made a moment ago, else None."""
    return kept.page(blake3(body).digest())


def listed(body: bytes) -> list[RecordHash]:
    """Return the records that a page lists, in order, at a fraction of what `parse_page` costs.

    A page of a large folder is read again by whoever asks what it reaches, long after it was judged.

    Args:
        body: of a page that `parse_page` has read before.

    Raises:
        TreeError: a byte is out of place, as far as it shows here.
    """
    known = known_page(body)
    if known is None:
        found = _LISTED.findall(body.decode(errors="replace"))
        if len(found) == body.count(b"\n") - 1:
            return [_new(RecordHash, ("P", digest)) for digest in b64a.unchecked_digests(found)]
    return [item.hash for item in (known or parse_page(body)).items]


def count_names(body: bytes) -> int:
    """Return how many names are below a page that `parse_page` has read before; one that lists them is not parsed."""
    return parse_page(body).entries if level_of(body) else body.count(b"\n") - 1


def entries_of(lines: Sequence[bytes]) -> tuple[Entry, ...]:
    """Return the entries that some lines of one page of names say, read as strictly as a whole page.

    Args:
        lines: in their order, without line feeds.

    Raises:
        TreeError: a byte is out of place, or they stand in another order.
    """
    return cast("tuple[Entry, ...]", _page(_NAMES + b"".join([line + b"\n" for line in lines])).items)


def is_empty(body: bytes) -> bool:
    """Tell whether a page is that of a directory without names."""
    return body == _NAMES


def level_of(body: bytes) -> int:
    """Return the level of a page that `parse_page` has read before; one that lists names is not parsed."""
    return 0 if body.startswith(_NAMES) else parse_page(body).level


def has_large(body: bytes) -> bool:
    """Tell whether a page may list a file of a hundred thousand bytes or more."""
    return _LARGE.search(body) is not None


def note_page(body: bytes, page: Page) -> None:
    """Keep the page that a body was made of a moment ago, so that it is not taken apart again to be walked.

    Args:
        body: what `format_page` made of it.
        page: items in order, no more than a page lists.
    """
    digest = blake3(body).digest()
    is_whole = len(body) <= MAX_PAGE_BYTES and page.level == 0 and page.size < _SIZE_LIMIT
    if is_whole and kept.page(digest) is None:
        kept.keep_page(digest, page, body, [item.name for item in page.items])


def _page(body: bytes) -> Page:
    if len(body) > MAX_PAGE_BYTES:
        raise TreeTooLarge(f"A tree page has {len(body)} bytes, more than {MAX_PAGE_BYTES}.")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise TreeError("A tree page is not UTF-8.") from None
    first, *lines = text.split("\n")
    level = first[len(_HEADER) :]
    if not first.startswith(_HEADER) or len(level) != 1 or not "0" <= level <= str(_MAX_LEVEL):
        raise TreeError(f"A tree page starts with {first[:40]!r}, not with its kind and level.")
    if not lines or lines.pop():
        raise TreeError("A tree page does not end with a line feed.")
    if len(lines) > MAX_PAGE_ITEMS:
        raise TreeTooLarge(f"A tree page lists {len(lines)} items, more than {MAX_PAGE_ITEMS}.")
    items: Sequence[Entry | PageRef] = _entries(text, lines) if level == "0" else [_ref(line) for line in lines]
    if level != "0" and len(items) < 2:
        raise TreeError("A tree page of pages lists fewer than two.")
    names = [item.name for item in items]
    if any(map(ge, names, names[1:])):  # the order of code points is the order of UTF-8 bytes
        after = next(after for before, after in pairwise(names) if before >= after)
        raise TreeError(f"{after!r} does not stand in order in its tree page.")
    page = Page(int(level), tuple(items))
    if page.size >= _SIZE_LIMIT:
        raise TreeError("The sizes in a tree page add up to more than can be.")
    return page


def _entries(text: str, lines: Sequence[str]) -> list[Entry]:
    """Return the entries of a page, whose text is taken apart as a whole: a page has many lines."""
    found = _ENTRY.findall(text)
    if len(found) != len(lines):
        wrong = next(line for line in lines if _ENTRY.fullmatch(f"{line}\n") is None)
        raise TreeError(f"{wrong[:120]!r} is not an item of a tree page.")
    digests = b64a.unchecked_digests([record for _, _, _, record, _ in found])
    entries = []
    for (kind, mode, size, _, name), digest in zip(found, digests, strict=True):
        problem = name_problem(name)
        if problem:
            raise TreeError(f"The name {name!r} {problem}.")
        if mode == "x" and kind != "f":
            raise TreeError(f"{name!r} is executable but no file.")
        entries.append(checked_entry(kind, mode, int(size), digest, name))
    return entries


def _ref(line: str) -> PageRef:
    match = re.fullmatch(_REF, line, re.DOTALL | re.ASCII)
    if match is None:
        raise TreeError(f"{line[:120]!r} is not a page in a tree page.")
    entries, size, record, name = match.groups()
    problem = name_problem(name)
    if problem:
        raise TreeError(f"The name {name!r} {problem}.")
    return PageRef(int(entries), int(size), _hash(record), name)


def _hash(symbols: str) -> RecordHash:
    """Return the hash of these symbols, which the form of a line has checked."""
    return _new(RecordHash, ("P", b64a.unchecked(symbols.encode())))
