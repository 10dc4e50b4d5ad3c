"""Packs: where content rests that is too large for a row (architecture, decision 3; docs/formats.md section 7).

A pack is an append-only file of frames under `.vault/packs`. A frame holds the stored bytes of a few records, as they
are, compressed, or compressed against the bytes of records that rest here already (their *bases*). What a frame means
stands in the store alone: a pack is flushed before the transaction that names its frames commits, so a crash leaves
bytes at its end that nothing names, and the next writer cuts them (`vault.store.packleft`).

Encodings are below records: what is read is compared with the record's own hash before anybody sees it.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from blake3 import blake3

from vault.errors import DataError
from vault.files import refuse_write
from vault.frames import MAX_BASES, MAX_DEPTH, ZSTD, encode
from vault.store.database import none_reads_before
from vault.store.numbers import FURTHEST
from vault.store.packappend import PackAppender
from vault.store.packio import PackIO
from vault.store.packleft import MAGIC, cut_tail, highest, newest, tail, take_back
from vault.store.packread import OpenFrame, PackReader, numbers_of

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["PACK_MIN_BYTES", "SUM_BYTES", "Packs"]

PACK_MIN_BYTES: Final = 4_096  # stored bytes; what is smaller is cheaper in a row
FRAME_BYTES: Final = 256 << 10  # raw; a frame that has reached this is closed
_HANDED_OVER: Final = 4  # frames that a writing thread is given at once
_IN_FLIGHT: Final = 6  # times so many that it may lag behind
_IN_FLIGHT_BYTES: Final = 8 << 20  # and their raw bytes, for one record may be a frame of 32 MiB
_NAMED_TOGETHER: Final = 2_000  # records
_THREAD_AFTER: Final = 8  # frames: what is less is written where it is made
_ASKED_BYTES: Final = 16 << 20  # for which room is asked at once
SUM_BYTES: Final = 16
_NAMED: Final = (
    "SELECT CAST(id AS INTEGER) FROM pack UNION"
    " SELECT CAST(pack AS INTEGER) FROM frame WHERE id IN (SELECT frame FROM packed)"
)
_NEXT_FRAME: Final = f"SELECT ifnull(max(id), 0) + 1 FROM frame WHERE id < {FURTHEST}"  # noqa: S608


class _Written(NamedTuple):
    frame: OpenFrame
    form: int
    pack: int
    at: int
    stored: int
    sum: bytes


class Packs(PackReader):
    """The packs of one store connection, read and written. Writing happens inside the store's transaction only.

    Args:
        db: the store's connection.
        directory: `.vault/packs`; made when first needed.
        io: the file calls.

    Attributes:
        room: called again and again with the bytes that are written next, until the transaction is over; raises to
            stop it before the disk is full.
    """

    room: Callable[[int], object]

    def __init__(self, db: sqlite3.Connection, directory: Path, io: PackIO | None = None) -> None:
        super().__init__(db, directory, io)
        self.room = _ask_nobody
        self._unasked = 0  # bytes written since it was called
        self._here_bytes = 0
        self._closed: list[tuple[OpenFrame, bytes]] = []  # to be handed to the thread that writes
        self._waiting: deque[Future[list[_Written]] | list[_Written]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._file: PackAppender | None = None  # of this transaction, once it writes
        self._next = 0
        self._frames = 0
        self._is_alone = False  # whether this transaction gets no thread
        self._grown: dict[int, int] = {}
        self._touched: dict[int, int] = {}  # packs written to, and how many bytes of each were named before; 0 if begun

    def close(self) -> None:
        """Close every file, and end the thread that wrote."""
        self.abort()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def take(self, p: int, stored: bytes, bases: Sequence[int] = ()) -> None:
        """Put the bytes of the new record at position `p` into a frame.

        Args:
            p: its position; `name` writes the row that says where it rests.
            stored: its stored bytes.
            bases: positions of records whose bytes are like these; only a hint.
        """
        frame = self._open
        wanted = tuple(bases[:MAX_BASES])
        if frame is not None and (frame.bases != wanted or frame.raw + len(stored) > FRAME_BYTES):
            self._close_frame()
            frame = None
        if frame is None:
            frame = self._begin_frame(wanted)
        self._rows[p] = (frame.id, frame.raw, len(stored))
        frame.parts.append(stored)
        frame.raw += len(stored)

    def name(self) -> None:
        """Write where the records rest that were taken; `read` knows it before."""
        rows = [(p, *row) for p, row in self._rows.items()]
        if rows:
            self._db.executemany("INSERT OR REPLACE INTO packed VALUES (?, ?, ?, ?)", rows)
        self._rows.clear()

    def finish(self) -> None:
        """Write what is left, name it in the store, and make the files durable; before the transaction commits.

        Raises:
            DiskFull, NotWritable: the packs cannot be written; the transaction must not commit.
        """
        if self._next == 0:
            return
        self._close_frame()
        self.name()
        self._hand_over()
        while self._waiting:
            self._collect()
        with self._faults():
            self._appender().flush()
        self._db.executemany(
            "INSERT INTO pack VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET size = excluded.size",
            list(self._grown.items()),
        )
        self._rest()

    def begin_anew(self) -> None:
        """Begin a new pack, before anything else is taken in this transaction; a number is never used twice.

        Raises:
            DiskFull, NotWritable: it cannot be made.
        """
        self._count_on()
        with self._faults():
            pack, end = self._appender().begin()
        self._grown[pack] = end

    def let_go(self, packs: Collection[int]) -> None:
        """Name these packs no more, inside the transaction, after `finish`; nothing rests in them.

        The newest frame stays named, since what other processes remember of a frame goes by its number.
        """
        self._db.execute(
            "DELETE FROM frame WHERE id NOT IN (SELECT frame FROM packed) AND id < (SELECT max(id) FROM frame)"
        )
        self._db.executemany("DELETE FROM pack WHERE id = ?", [(pack,) for pack in packs])
        self.read_anew()
        for pack in packs:
            if (fd := self._readers.pop(pack, None)) is not None:
                self._io.close(fd)

    def named(self) -> list[int]:
        """Return the numbers of the packs that are listed, or in which something rests."""
        return [int(row[0]) for row in self._db.execute(_NAMED)]

    def strays(self) -> list[Path]:
        """Return the pack files that the store does not name: left by a crash, or let go of; under the lock only.

        A pack in which something rests is named by that too: a row of the list of packs may have rotted (APP-13).
        """
        if not self._directory.is_dir():
            return []
        named = {self.path(pack) for pack in self.named()}
        return sorted(path for path in self._directory.glob("*.pack") if path not in named)

    def left(self) -> list[int]:
        """Return the bytes of each file that the store does not name, and of an end of one that it does not.

        Raises:
            OSError: a file cannot be looked at; under the lock none goes.
        """
        end = tail(newest(self._db), self._io, self.path)
        return [path.stat().st_size for path in self.strays()] + ([end] if end else [])

    def clear(self) -> None:
        """Remove what `left` counts; under the lock, outside of a transaction.

        While somebody still reads what was committed before packs were let go of, they stay: the next prune tries
        again.

        Raises:
            NotWritable: one cannot be removed; it is a stray.
        """
        with self._faults():
            cut_tail(newest(self._db), self._io, self.path)
        strays = self.strays()
        if strays and none_reads_before(self._db):
            with self._faults():
                for path in strays:
                    self._io.remove(path)

    def keep(self) -> None:
        """Let what was written stay: the transaction that names it committed."""
        self._forget_touched()

    def abort(self, *, is_unnamed: bool = False) -> None:
        """Forget what was taken since the transaction began, which is over.

        Args:
            is_unnamed: whether no power cut can bring to light that the store names it after all; then it gives its
                room back, or the disk that it filled would stay full. Else the next writer cuts it.
        """
        super().close()  # a pack that was begun is nobody's, and its number will be another file's
        try:
            self._end_writing()
            if is_unnamed and self._touched:
                take_back(self._db, self._io, self.path, self._touched)
        finally:  # a Ctrl-C meanwhile leaves nothing for the next transaction
            self._forget_touched()
            self._open = None
            self._rows.clear()
            self.read_anew()
            self._rest()

    def _end_writing(self) -> None:
        """Have nothing of what waits written any more, and be done with what is; a Ctrl-C does not shorten that."""
        waiting, self._waiting = self._waiting, deque()
        running = [job for job in waiting if not isinstance(job, list) and not job.cancel()]
        try:
            for job in running:
                job.exception()
        except BaseException:  # nothing is cut or closed under a write
            for job in running:
                job.exception()
            raise

    def _forget_touched(self) -> None:
        self._touched.clear()
        self.room, self._unasked = _ask_nobody, 0

    def _rest(self) -> None:
        file, self._file = self._file, None
        self._next = self._frames = 0
        self._is_alone = False
        self._here.clear()
        self._here_bytes = 0
        self._closed.clear()
        self._grown.clear()
        if file is not None:
            file.close()  # last: it waits for a flush, and a Ctrl-C meanwhile leaves nothing for the next transaction

    def _begin_frame(self, bases: tuple[int, ...]) -> OpenFrame:
        if self._next == 0:
            self._count_on()
        self._open = OpenFrame(self._next)
        self._next += 1
        if bases:
            self._rest_on(self._open, bases)
        return self._open

    def _count_on(self) -> None:
        self._next = int(self._db.execute(_NEXT_FRAME).fetchone()[0])
        last = newest(self._db)
        top = last.highest
        beyond = [path for path in self._directory.glob("*.pack") if path.name > self.path(top).name]
        if beyond:
            # Left by a crash, unless a row has rotted: so nothing that is named anywhere is written over.
            top = highest(self._db)
        if last.is_sure:
            with suppress(OSError):  # it takes room, and no more
                for path in beyond:
                    if path.name > self.path(top).name:
                        self._io.remove(path)
        self._file = PackAppender(self._io, self.path, last._replace(highest=top), self._touched)

    def _appender(self) -> PackAppender:
        if self._file is None:
            raise RuntimeError("nothing is written in this transaction")
        return self._file

    def _rest_on(self, frame: OpenFrame, bases: tuple[int, ...]) -> None:
        """Compress a frame against these records, where their own frames are not too deep."""
        frame.bases = bases
        self.name()  # what rests in a frame that is still on its way has a row by now
        depth = 0
        for p in bases:
            row = self._db.execute(
                "SELECT f.depth FROM packed k LEFT JOIN frame f ON f.id = k.frame WHERE k.p = ?", (p,)
            ).fetchone()
            if row is not None and (not isinstance(row[0], int) or row[0] + 1 >= MAX_DEPTH):
                return
            depth = max(depth, int(row[0]) + 1 if row is not None else 1)
        try:
            prefix = self._prefix(bases)
        except DataError:
            return
        frame.prefix, frame.depth = prefix, depth

    def _close_frame(self) -> None:
        frame, self._open = self._open, None
        if frame is None or not frame.parts:
            return
        data = b"".join(frame.parts)
        frame.parts = []
        if len(self._rows) >= _NAMED_TOGETHER:
            self.name()
        self._here[frame.id] = data
        self._here_bytes += len(data)
        self._frames += 1
        self._closed.append((frame, data))
        if self._frames > _THREAD_AFTER and self._pool is None and not self._is_alone:
            from concurrent.futures import ThreadPoolExecutor  # only much content needs it

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="lace-pack")
        if self._pool is None or len(self._closed) >= _HANDED_OVER:
            self._hand_over()
        most = _IN_FLIGHT if self._pool is not None else 0
        while len(self._waiting) > most or (self._waiting and self._here_bytes > _IN_FLIGHT_BYTES):
            self._collect()

    def _hand_over(self) -> None:
        """Have the closed frames written, some at a time: each time costs what it costs to wake another thread."""
        closed, self._closed = self._closed, []
        if closed:
            written = self._begun(closed) or self._write_all(closed)
            self._waiting.append(written)

    def _begun(self, closed: list[tuple[OpenFrame, bytes]]) -> Future[list[_Written]] | None:
        """Have a thread write some frames; None where there is none, or the system gives no more of them."""
        if self._pool is None:
            return None
        try:
            return self._pool.submit(self._write_all, closed)
        except RuntimeError:
            self._pool, self._is_alone = None, True
            return None

    def _collect(self) -> None:
        job = self._waiting[0]
        written = job if isinstance(job, list) else job.result()  # a Ctrl-C meanwhile leaves it to `abort`
        self._waiting.popleft()
        for done in written:
            frame = done.frame
            depth, bases = (frame.depth, numbers_of(frame.bases)) if done.form == ZSTD and frame.prefix else (0, b"")
            self._db.execute(
                "INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (frame.id, done.pack, done.at, done.stored, frame.raw, done.form, depth, bases, done.sum),
            )
            self._grown[done.pack] = done.at + done.stored
            self._here_bytes -= len(self._here.pop(frame.id))

    def _write_all(self, frames: list[tuple[OpenFrame, bytes]]) -> list[_Written]:
        return [self._write(frame, data) for frame, data in frames]

    def _write(self, frame: OpenFrame, data: bytes) -> _Written:
        """Encode a frame and append it; the only thing a second thread does, one frame after the other."""
        form, stored = encode(data, frame.prefix)
        self._unasked += len(stored)
        if self._unasked >= _ASKED_BYTES:
            self.room(self._unasked)
            self._unasked = 0
        with self._faults():
            pack, at = self._appender().append(stored)
        return _Written(frame, form, pack, at, len(stored), blake3(stored).digest()[:SUM_BYTES])

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            refuse_write(Path(error.filename) if error.filename else self._directory, error)

    def begin_right(self, pack: int) -> None:
        """Write the first bytes of a pack again, durably.

        Raises:
            NotWritable, DiskFull: it cannot be written.
        """
        with self._faults():
            fd = self._io.open_append(self.path(pack))
            try:
                self._io.append(fd, 0, MAGIC)
                self._io.sync(fd)
            finally:
                self._io.close(fd)


def _ask_nobody(_size: int) -> None:
    pass
