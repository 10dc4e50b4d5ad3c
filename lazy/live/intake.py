"""Frames of a live exchange into the vault: validated and stored a batch at a time, so that a cut loses little.

The cursor moves with what is stored. It stays where it was while something waits for evidence, since what waits is
dropped when the exchange is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import zip_longest

from lazy.live.bookmark import Bookmark
from lazy.live.cursors import ExposureCursor, Held
from lazy.problems import Problem
from lazy.receiving.receive import LAST_BATCH_BYTES, Receiver
from transports.errors import BadStream
from transports.http.stream import Frame, FrameKind
from vault.records import RecordHash
from vault.records.errors import RecordError
from vault.records.hashes import MARK, is_record
from vault.space import require_room
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Intake", "damaged_there", "passed_by", "with_hashes"]

_BATCH_RECORDS = 8_000
_FIRST_BATCH_BYTES = 1 << 20  # taken at once; each whole batch lets the next be twice as large
_MARKLINE_LIMIT = 128  # bytes
_DAMAGED_LIMIT = 10_000  # in one body: as many as are asked for again at once; a few bytes unpack to thousands of them
_MOST_RECORDS = 4 * _BATCH_RECORDS  # that wait to be stored, however small they are
_MOST_IN_VAIN = 1 << 30  # bytes in one body that bring nothing; the others are as many as there is room for
_LEAST_IN_VAIN = 1 << 10  # that a record which brings nothing counts for: to look at it costs more than its bytes
_FRAME_IN_VAIN = 1 << 6  # that each frame counts for, as it may be empty


class Intake:
    """Takes the records of one body.

    Args:
        vault: where they go.
        receiver: judges them.
        bookmark: moved in the log of whoever sends them.
        epoch: of the peer's exposure log; empty where what comes does not follow on from my cursor.
        watch: cancel, and progress.
    """

    def __init__(self, vault: Vault, receiver: Receiver, bookmark: Bookmark, epoch: str, watch: Watch) -> None:
        self._vault, self._receiver, self._bookmark, self._epoch, self._watch = vault, receiver, bookmark, epoch, watch
        self._batch: list[tuple[RecordHash, bytes]] = []
        self._size = 0
        self._most = _FIRST_BATCH_BYTES
        self._moved = 0
        self._reached: ExposureCursor | None = None
        self._refused = receiver.refused_before()
        self._in_vain = 0
        self._held = Held()
        self.damaged: list[RecordHash] = []
        """What was damaged where it came from: not refused, and asked for again another time."""
        self.records = 0
        """How many came, stored or not."""

    def take(self, frame: Frame) -> None:
        """Take one frame of records, or the position after it.

        Raises:
            BadStream: what should be a record is none, more are damaged than anybody keeps, or more came that brings
                nothing than anybody sends in good faith (INT-152).
        """
        self._in_vain += _FRAME_IN_VAIN
        if self._in_vain > _MOST_IN_VAIN:
            raise BadStream("More came of what is here, or was refused, than anybody sends in good faith.")
        if frame.kind is FrameKind.REACHED:
            if not self._held:
                self._reached = ExposureCursor(self._epoch, frame.position, frame.data.hex() if frame.position else "")
            if self._size >= self._most or len(self._batch) >= _BATCH_RECORDS:
                self.flush()
            return
        for stored, computed in zip_longest(frame.records, frame.hashes):
            name = computed or _named(stored)
            self._held.passed(len(stored), is_damaged=False)
            if computed is not None or is_record(name, stored):
                self._batch.append((name, stored))
                self._size += len(stored)
            elif len(self.damaged) < _DAMAGED_LIMIT:
                self.damaged.append(name)
                self._held.passed(0, is_damaged=True)
            else:
                raise BadStream(f"More than {_DAMAGED_LIMIT} of the records that came are not what their names say.")
        if self._size >= self._most * 2 or len(self._batch) >= _MOST_RECORDS:
            self.flush()

    def take_all(self, frames: Iterable[Frame]) -> None:
        """Take frames until there are no more; what came before something went wrong is stored all the same.

        Raises:
            BadStream: as `take`.
        """
        try:
            for frame in frames:
                self._watch.cancelled()
                self.take(frame)
        finally:
            self.flush()

    def flush(self) -> None:
        """Store what came so far. It is tried once: who waited for the vault in vain would wait as long again."""
        batch, size, reached = self._batch, self._size, self._reached
        self._batch, self._size, self._reached = [], 0, None
        refused = len(self._receiver.refusals)
        if batch:
            around, dot = self._vault.around, self._vault.dot
            require_room(around, dot, size, "What this sync fetches", before=self._moved, is_part=True)
            fresh = dict(batch)  # the same one again and again takes a few bytes: it is judged once
            done = self._vault.store.have(list(fresh)) | self._refused
            self._receiver.take([pair for pair in fresh.items() if pair[0] not in done], carried=True)  # see `take`
            refusals = self._receiver.refusals[refused:]
            self._count_in_vain(batch, fresh, {*done, *(one.hash for one in refusals)})
            self.records += len(batch)
            self._moved += size
            if size >= self._most:
                self._most = min(self._most * 2, LAST_BATCH_BYTES)
        self._reached = reached  # now that what came up to it is stored
        if reached is not None and not self._receiver.waits:
            self.keep_cursor()
        if batch:
            self._watch.travelled(self.records, 0, self._moved, 0, "receive")

    def _count_in_vain(
        self, batch: Sequence[tuple[RecordHash, bytes]], fresh: Mapping[RecordHash, bytes], useless: Set[RecordHash]
    ) -> None:
        """Count what came again in one batch, and what of it was useless: here already, or refused."""
        left = dict(fresh)
        for name, stored in batch:
            if name in useless or left.pop(name, None) is None:
                self._in_vain += max(len(stored), _LEAST_IN_VAIN)

    def keep_cursor(self) -> None:
        """Remember how far the peer's log was taken, unless something of it is to come again."""
        if self._reached is not None and self._epoch and not self._receiver.asks_again:
            self._bookmark.move(self._reached)
            self._reached = None


def passed_by(frames: Iterable[Frame]) -> int:
    """Read frames of whose records none is taken; return how many they were.

    Raises:
        BadStream: it is more than anybody sends in good faith (INT-152).
    """
    count = size = 0
    for frame in frames:
        count += len(frame.records)
        size += _FRAME_IN_VAIN + sum(map(len, frame.records))
        if size > _MOST_IN_VAIN:
            raise BadStream("More came that is not taken here than anybody sends in good faith.")
    return count


def damaged_there(missing: Set[RecordHash], who: str) -> Problem:
    """Return what is to be said of records that came damaged from `who`, and are not here."""
    what = "1 record is" if len(missing) == 1 else f"{len(missing)} records are"
    text = f"{what} damaged there and could not be read. ({min(missing)})"
    hint = f"{who} looks for what is whole with lace fsck --repair; or sync where it lies whole."
    return Problem("not-available", text, who, hint)


def with_hashes(frame: Frame) -> Frame:
    """Return a frame with the hashes of those of its records that are what they say they are.

    Raises:
        BadStream: what should be a record is none.
    """
    if not frame.records or frame.hashes:
        return frame
    names = map(_named, frame.records)
    pairs = zip(names, frame.records, strict=True)
    return frame._replace(hashes=tuple(name if is_record(name, stored) else None for name, stored in pairs))


def _named(stored: bytes) -> RecordHash:
    """Return the name that a stored record begins with; whether it is right is checked with all the rest."""
    line, _, _ = stored[:_MARKLINE_LIMIT].partition(b"\n")
    try:
        return RecordHash.parse(line.decode("utf-8").removeprefix(MARK))
    except (UnicodeError, RecordError) as error:
        raise BadStream("Something was sent as a record that is none.") from error
