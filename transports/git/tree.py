"""A mailbox as the tree of a commit (docs/formats.md section "Git remotes").

A commit of the mailbox's ref holds small things only: head, request, and for each file the list of its pieces.
The pieces lie in trees of other commits, its parents and theirs; so whoever fetches the tip alone fetches little,
and every piece stays where a host keeps it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from transports.errors import UnreadableFile
from transports.git.object_files import is_oid
from transports.git.repository import TREE_ROWS, Entry, Repository
from transports.layout import BEACON_NAME, BUNDLE_LIMIT, BUNDLE_NAME, HEAD_NAME, MIB, REQUEST_NAME, RUN_NAME

__all__ = ["MOST_LOST", "PIECE", "Filed", "Front", "Held", "MailboxTree", "Stored", "data_list", "load_front"]
__all__ += ["load_mailbox", "store_mailbox"]

PIECE = MIB  # bytes of every piece but a file's last
_FILES = "files"
_DATA = "data"
_COUNT = "commits"
_TURN = "turn"  # a row in the trees of files and data commits
_NUMBER_BYTES = 12
_LOST = "lost"
MOST_LOST = 1000  # objects in a list of what its owner could not get
_LOST_BYTES = 41 * MOST_LOST
_COPIES = "copies"
_MOST_COPIES = 10_000  # bundles in a list of those that hold copies alone
_COPIES_BYTES = 39 * _MOST_COPIES
_OIDS = re.compile(r"(?:[0-9a-f]{40}\n)*", re.ASCII)
_FILED = re.compile(r"lace-pieces/0\nsize (0|[1-9][0-9]{0,11})\n((?:[0-9a-f]{40}\n)*)", re.ASCII)
_ROOT_ROWS = 64  # entries in the root of a tip's tree
_HELD_ROWS = 500_000  # pieces and files of mailboxes that are in memory at once, beside those of the last
_LISTS = 32 * MIB  # bytes of all lists of one mailbox: some 750 GiB of pieces


class Stored(NamedTuple):
    """A small blob: its id and size in bytes."""

    oid: str
    size: int


class Filed(NamedTuple):
    """A run or bundle in pieces.

    Args:
        size: bytes of the file.
        pieces: ids of its pieces in order; all but the last have `PIECE` bytes.
        oid: id of the blob that says so.
        are_copies: whether its owner says that all in it was shared before, and lay elsewhere too; hearsay.
    """

    size: int
    pieces: tuple[str, ...]
    oid: str = ""
    are_copies: bool = False

    def piece_size(self, index: int) -> int:
        """Return the bytes of one piece."""
        return min(PIECE, self.size - index * PIECE)

    def encode(self) -> bytes:
        """Return the text of the list."""
        return f"lace-pieces/0\nsize {self.size}\n{''.join(f'{oid}{chr(10)}' for oid in self.pieces)}".encode()

    @classmethod
    def decode(cls, data: bytes, oid: str) -> Filed:
        """Read the text of a list.

        Raises:
            UnreadableFile: it is none.
        """
        match = _FILED.fullmatch(data.decode("ascii", "replace"))
        pieces = tuple(match[2].split()) if match else ()
        if match is None or int(match[1]) > BUNDLE_LIMIT or len(pieces) != -(-int(match[1]) // PIECE):
            raise UnreadableFile("The list of a file's pieces is damaged.")
        return cls(int(match[1]), pieces, oid)


class Front(NamedTuple):
    """What stands at the beginning of a mailbox: little, whatever somebody pushed. As in `MailboxTree`."""

    head: Stored | None = None
    request: Stored | None = None
    beacon: Stored | None = None
    lost: tuple[str, ...] = ()


@dataclass(slots=True)
class MailboxTree:
    """What one mailbox holds.

    Args:
        head: the snapshot head's record.
        request: the request's record.
        beacon: the beacon's record.
        files: runs and bundles by name.
        data: commits with pieces, each with the pieces in it and the blob that lists them.
        commits: commits of the ref since it began.
        lost: pieces and tips of others that the host did not give to its owner.
        turn: how often its trees had to take other names, because the host had damaged the former ones.
    """

    head: Stored | None = None
    request: Stored | None = None
    beacon: Stored | None = None
    files: dict[str, Filed] = field(default_factory=dict)
    data: dict[str, Filed] = field(default_factory=dict)
    commits: int = 0
    lost: tuple[str, ...] = ()
    turn: int = 0

    def front(self) -> Front:
        """Return what stands at its beginning."""
        return Front(self.head, self.request, self.beacon, self.lost)

    def carried(self) -> set[str]:
        """Return the pieces that the far side holds."""
        return {oid for filed in self.data.values() for oid in filed.pieces}

    def alive(self) -> set[str]:
        """Return the pieces that files are made of."""
        return {oid for filed in self.files.values() for oid in filed.pieces}


class Held(dict[str, MailboxTree]):
    """Mailboxes by their commits, the last ones read: what others list may be any amount, and is read again."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, int] = {}
        self._all = 0

    def __setitem__(self, tip: str, box: MailboxTree) -> None:
        """Hold a mailbox, and let the first ones go where that becomes much."""
        super().__setitem__(tip, box)
        rows = _rows_of(box)
        self._all += rows - self._rows.get(tip, 0)
        self._rows[tip] = rows
        while len(self) > 1 and self._all > _HELD_ROWS:
            first = next(iter(self))
            del self[first]
            self._all -= self._rows.pop(first)

    def clear(self) -> None:
        """Hold nothing any more."""
        super().clear()
        self._rows.clear()
        self._all = 0


def _rows_of(box: MailboxTree) -> int:
    return sum(len(filed.pieces) + 1 for part in (box.files, box.data) for filed in part.values())


def load_front(here: Repository, tip: str) -> Front:
    """Return the beginning of the mailbox that a commit holds; as `load_mailbox`."""
    return _front(here, here.tree(tip, _ROOT_ROWS))


def _front(here: Repository, root: dict[str, Entry]) -> Front:
    lost: tuple[str, ...] = ()
    if _LOST in root and root[_LOST].kind == "blob" and root[_LOST].size <= _LOST_BYTES:
        lost = _oids(here.read([root[_LOST].oid], _LOST_BYTES)[0])
    return Front(_small(root.get(HEAD_NAME)), _small(root.get(REQUEST_NAME)), _small(root.get(BEACON_NAME)), lost)


def load_mailbox(here: Repository, tip: str, *, is_torn: bool = False) -> MailboxTree:
    """Return the mailbox that a commit holds.

    Args:
        here: where it lies.
        tip: the commit.
        is_torn: whether parts of it may be missing, which are then left out.

    Raises:
        UnreadableFile: it holds none, or a damaged one.
    """
    root = here.tree(tip, _ROOT_ROWS, is_torn=is_torn)
    front = _front(here, root)
    box = MailboxTree(front.head, front.request, front.beacon, lost=front.lost)
    parts = {
        part: here.tree(root[part].oid, TREE_ROWS, is_torn=is_torn)
        for part in (_FILES, _DATA)
        if part in root and root[part].kind == "tree" and not (is_torn and here.missing([root[part].oid]))
    }
    rows = {
        (part, name): entry
        for part, entries in parts.items()
        for name, entry in entries.items()
        if entry.kind == "blob" and _is_name(part, name)
    }
    turns = [entries[_TURN] for entries in parts.values() if _TURN in entries]
    if sum(entry.size for entry in rows.values()) > _LISTS:
        raise UnreadableFile("The lists of a mailbox are larger than lace reads.")
    texts = here.read([entry.oid for entry in rows.values()], _LISTS)
    for ((part, name), entry), text in zip(rows.items(), texts, strict=True):
        (box.files if part == _FILES else box.data)[name] = _filed(part, text, entry.oid)
    for name in _copies(here, root.get(_COPIES)) & box.files.keys():
        box.files[name] = box.files[name]._replace(are_copies=True)
    box.commits = _number(here, root.get(_COUNT))
    box.turn = _number(here, turns[0] if turns else None)
    return box


def _number(here: Repository, entry: Entry | None) -> int:
    if entry is None or entry.kind != "blob" or entry.size >= _NUMBER_BYTES:
        return 0
    (text,) = here.read([entry.oid], _NUMBER_BYTES)
    return int(text) if text.strip().isdigit() else 0


def _copies(here: Repository, entry: Entry | None) -> set[str]:
    """Return the bundles that are said to hold copies alone; none where that cannot be read, for it is a hint."""
    if entry is None or entry.kind != "blob" or entry.size > _COPIES_BYTES or here.missing([entry.oid]):
        return set()
    return set(here.read([entry.oid], _COPIES_BYTES)[0].decode("ascii", "replace").split("\n"))


def store_mailbox(here: Repository, box: MailboxTree) -> str:
    """Store a mailbox's tree and return its id."""
    rows: dict[str, tuple[str, str]] = {}
    for name, small in ((HEAD_NAME, box.head), (REQUEST_NAME, box.request), (BEACON_NAME, box.beacon)):
        if small is not None:
            rows[name] = ("blob", small.oid)
    for part, filed in ((_FILES, box.files), (_DATA, box.data)):
        lists = {name: ("blob", item.oid) for name, item in filed.items()}
        if box.turn:
            lists[_TURN] = ("blob", here.store(f"{box.turn}\n".encode()))
        rows[part] = ("tree", here.store_tree(lists))
    if copies := sorted(name for name, filed in box.files.items() if filed.are_copies)[:_MOST_COPIES]:
        rows[_COPIES] = ("blob", here.store("".join(f"{name}\n" for name in copies).encode()))
    if box.lost:
        rows[_LOST] = ("blob", data_list(here, box.lost[:MOST_LOST]).oid)
    rows[_COUNT] = ("blob", here.store(f"{box.commits}\n".encode()))
    return here.store_tree(rows)


def data_list(here: Repository, pieces: tuple[str, ...]) -> Filed:
    """Store the list of the pieces in one commit."""
    return Filed(0, pieces, here.store("".join(f"{oid}\n" for oid in pieces).encode()))


def _filed(part: str, text: bytes, oid: str) -> Filed:
    return Filed.decode(text, oid) if part == _FILES else Filed(0, _oids(text), oid)


def _is_name(part: str, name: str) -> bool:
    if part == _DATA:
        return is_oid(name)
    return RUN_NAME.fullmatch(name) is not None or BUNDLE_NAME.fullmatch(name) is not None


def _oids(data: bytes) -> tuple[str, ...]:
    text = data.decode("ascii", "replace")
    if _OIDS.fullmatch(text) is None:
        raise UnreadableFile("A list of pieces is damaged.")
    return tuple(text.split())


def _small(entry: Entry | None) -> Stored | None:
    return Stored(entry.oid, entry.size) if entry is not None and entry.kind == "blob" else None
