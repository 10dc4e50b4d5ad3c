"""Files cut into pieces, and put together from pieces that are fetched when they are read (decision 7a).

A fetch asks for many pieces at once and for a quarter of that after it was cut, down to one, and for more again
where that goes well. A piece whose object is damaged or missing costs the file that is made of it and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BufferedReader
from typing import BinaryIO, cast
from weakref import WeakMethod

from transports.errors import PlaceUnreachable, UnreadableFile
from transports.git.pace import SentTooMuch
from transports.git.private import PrivateRepository
from transports.git.talks import Named, Stumbled, Unadvertised
from transports.git.tree import PIECE, Filed, MailboxTree
from transports.layout import MIB
from transports.positioned import PositionedFile
from vault.errors import DataError

__all__ = ["Batch", "PieceSink", "PieceSource"]

_BATCH = 100  # pieces a push or fetch: with the small objects beside them well below 128 MiB
_AHEAD = 4  # pieces asked for at the first look into a file
_WHOLE = 8 * MIB  # bytes that a mailbox may lack to be fetched at once
_BUFFER = 64 * 1024  # bytes read ahead in memory
_WELL = 2  # batches that come through before a larger one is tried; doubled after each cut


class Batch:
    """How many pieces travel at once: a quarter after a cut, and more again where that goes well."""

    def __init__(self) -> None:
        self.size = _BATCH
        self._well = 0
        self._enough = _WELL

    def was_cut(self, count: int) -> None:
        """Take note of so many pieces that did not come through."""
        self.size = max(1, count // 4)
        self._well, self._enough = 0, self._enough * 2  # a host that takes no more than that is not asked for ever

    def went(self, count: int) -> None:
        """Take note of so many pieces that did."""
        self._well += count >= self.size
        if self._well >= self._enough:
            self.size, self._well = min(self.size * 2, _BATCH), 0


class PieceSink:
    """Cuts a file that is written into pieces. What it is given must not change after: it is joined once, at a cut.

    Args:
        stage: takes a piece, and returns the id of its object.
    """

    def __init__(self, stage: Callable[[bytes], str]) -> None:
        self._stage = stage
        self._parts: list[bytes | memoryview] = []
        self._size = 0
        self.pieces: list[str] = []
        """The ids of those cut so far, in order."""

    def write(self, data: bytes | memoryview, /) -> None:
        """Take more of the file."""
        view = memoryview(data)
        while self._size + len(view) >= PIECE:
            end = PIECE - self._size
            self._parts.append(view[:end])
            self._cut()
            view = view[end:]
        if view:
            self._parts.append(view)
            self._size += len(view)

    def finish(self) -> None:
        """Take what is left for the last piece; an empty file has none."""
        if self._size:
            self._cut()

    def _cut(self) -> None:
        data = b"".join(self._parts)  # the only copy
        self._parts, self._size = [], 0
        self.pieces.append(self._stage(data))


class PieceSource:
    """Gives out pieces, fetching those that are not here.

    Args:
        private: where they lie, and the talks with the remote.
        fetch_whole: a method that fetches the mailboxes that hold these pieces with their histories, for hosts
            that know no other way.

    Attributes:
        lost: pieces that the remote did not give.
    """

    def __init__(self, private: PrivateRepository, fetch_whole: Callable[[list[str]], None]) -> None:
        self._private = private
        # Weak, so that a place that nobody uses any more lets go of its private repository at once.
        self._fetch_whole = WeakMethod(fetch_whole)
        self._batch = Batch()
        self._here: set[str] = set()
        self.lost: set[str] = set()
        self._doubtful: set[str] = set()  # they spoiled a fetch of others, and are asked for alone
        self._ahead: dict[str, int] = {}

    def open(self, box: MailboxTree, name: str) -> BinaryIO:
        """Return a reader of a file of a mailbox."""
        return cast(BinaryIO, BufferedReader(_PieceFile(self, box, name), _BUFFER))

    def get(self, box: MailboxTree, name: str, index: int) -> bytes:
        """Return one piece of a file.

        Raises:
            UnreadableFile: it is missing or damaged.
            PlaceError: the remote cannot be asked.
        """
        filed = box.files[name]
        oid = filed.pieces[index]
        if oid not in self._here:
            self._bring(self._plan(box, name, index), oid)
        (data,) = self._private.here.read([oid], PIECE)
        if len(data) != filed.piece_size(index):
            raise UnreadableFile(f"A piece of {name} has another size than its list says.")
        return data

    def bring(self, oids: list[str]) -> None:
        """Make sure that pieces lie here.

        Raises:
            UnreadableFile: one of them is missing or damaged.
            PlaceError: the remote cannot be asked.
        """
        lacking = self._private.here.missing(oids)
        while lacking:
            self._fetch(lacking[: self._batch.size])
            still = self._private.here.missing(lacking)
            if len(still) == len(lacking):
                raise UnreadableFile("Pieces of a mailbox are missing at the place.")
            lacking = still

    def forget(self) -> None:
        """Take note that nothing lies here any more."""
        self._here.clear()

    def drop(self, oids: set[str]) -> None:
        """Take note that pieces may lie here no longer."""
        self._here -= oids

    def _plan(self, box: MailboxTree, name: str, index: int) -> list[str]:
        """Return what to ask for together with a piece, that piece first."""
        filed = box.files[name]
        ahead = self._ahead.get(name, _AHEAD)
        self._ahead[name] = min(ahead * 2, _BATCH)
        plan = list(filed.pieces[index : index + ahead])
        others = [oid for other, item in box.files.items() if other.endswith(".run") for oid in item.pieces]
        # Who lacks little has what was shared before, or let go of it: a prune of its owner's waited for these copies.
        likely = {other: item for other, item in box.files.items() if other == name or not item.are_copies}
        whole = [oid for item in likely.values() for oid in item.pieces]
        if name.endswith(".run"):
            plan += others
        if _small(likely) or self._lacks_little(whole):
            plan += whole
        plan = [oid for oid in plan if oid not in self._doubtful]
        return list(dict.fromkeys([filed.pieces[index], *plan]))

    def _lacks_little(self, pieces: list[str]) -> bool:
        """Tell whether a mailbox lacks so little here that it is fetched at once.

        No more is asked than says so: a large mailbox has many thousands of pieces, of which few are kept here.
        """
        lacking = 0
        for begin in range(0, len(pieces), _BATCH):
            lacking += len(self._private.here.missing(pieces[begin : begin + _BATCH]))
            if lacking * PIECE > _WHOLE:
                return False
        return True

    def _bring(self, plan: list[str], wanted: str) -> None:
        lacking = self._private.here.missing(plan)
        self._here.update(set(plan) - set(lacking))
        while wanted in lacking:
            asked = lacking[: self._batch.size]
            try:
                came = self._fetch(asked)
            except DataError as error:
                if len(asked) == 1:
                    raise
                lacking = self._without_spoiling(asked, error.__cause__)
                continue
            self._here.update(came)
            lacking = lacking[len(came) :]

    def _without_spoiling(self, asked: list[str], cause: BaseException | None) -> list[str]:
        """Return what to ask for after the first of some pieces did not come: those beside it are no reason to lose it.

        Else one that is lost has every other piece of its mailbox asked for twice, and alone.
        """
        named = cause.oids.intersection(asked) if isinstance(cause, Named) else frozenset[str]()
        self._doubtful |= named
        if asked[0] in named:
            return asked[:1]
        return [oid for oid in asked if oid not in named] if named else asked[: max(1, len(asked) // 4)]

    def _fetch(self, oids: list[str]) -> list[str]:
        """Fetch the first of the pieces, as many as go at once, and return them.

        Raises:
            UnreadableFile: one of them is missing or damaged.
            PlaceError: not even one comes, which says nothing of it: mine would be written anew for that.
        """
        while True:
            oids = oids[: self._batch.size]
            try:
                self._private.talks.fetch_objects(oids, len(oids) * PIECE)
            except Unadvertised:
                fetch_whole = self._fetch_whole()
                if fetch_whole is not None:
                    fetch_whole(oids)
            except UnreadableFile as error:
                if len(oids) == 1:
                    self._blame(oids[0], error.__cause__)
                raise
            except PlaceUnreachable as error:
                if len(oids) > 1:
                    if not isinstance(error, SentTooMuch):
                        self._private.talks.list_remote()  # where nobody answers any more, fewer come no sooner
                    self._batch.was_cut(len(oids))
                    continue
                if isinstance(error, SentTooMuch):
                    raise UnreadableFile(f"A piece of a mailbox cannot be fetched: {error.message}") from error
                raise
            self._batch.went(len(oids))
            return oids

    def _blame(self, oid: str, cause: BaseException | None) -> None:
        """Take note of a piece that does not come: the host lost it, or stumbles over what lies here."""
        if isinstance(cause, Stumbled) and self._private.apart.is_to_blame(cause):
            self._private.here.forsake()  # the next visit begins anew
        else:
            self.lost.add(oid)


def _small(files: Mapping[str, Filed]) -> bool:
    return sum(item.size for item in files.values()) <= _WHOLE


class _PieceFile(PositionedFile):
    def __init__(self, source: PieceSource, box: MailboxTree, name: str) -> None:
        self._source = source
        self._box = box
        self._name = name
        self._piece: tuple[int, bytes] = (-1, b"")
        super().__init__(box.files[name].size)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._at >= self._size:
            return 0
        index, offset = divmod(self._at, PIECE)
        if self._piece[0] != index:
            self._piece = (index, self._source.get(self._box, self._name, index))
        data = self._piece[1][offset : offset + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
