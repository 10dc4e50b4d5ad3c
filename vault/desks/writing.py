"""Writing what a plan says into the folder, and deleting what it says (CLAY-71, APP-12).

Each path is looked at once more before it is touched, and left alone if it changed since it was planned.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator

from vault.desks.arrived import UNSEEN, Arrival, Arrived
from vault.desks.cursor import Blocked, DirectoryCursor
from vault.desks.filling import Filling, Telling
from vault.desks.folder import Signature, signature
from vault.desks.pages import Entry
from vault.desks.paths import FolderPath
from vault.desks.plan import SMALL_BYTES, CheckoutPlan, Skip
from vault.desks.ports import Source, answers_for_many
from vault.desks.steps import PathStep
from vault.desks.temporary import Temporaries, is_clear, keeps_end, place
from vault.desks.tree import lookup
from vault.files import can_flush_everything, flush_directory, flush_everything, reason_of
from vault.records import RecordHash

__all__ = ["FEW", "Writing"]

FEW = 16
"""Paths that are flushed one by one; more cost less when the whole file system is."""

# What a disk answers to a name or kind of file it cannot carry.
_CANNOT_CARRY = frozenset({errno.EINVAL, errno.EILSEQ, errno.ENAMETOOLONG, errno.EFBIG})
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})
# Why a directory stays: it holds something of the person's, is in use, or is gone.
_STAYS = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY, errno.ENOENT, errno.ENOTDIR, errno.EINVAL})
_BATCH = 16_384  # files that wait for one flush; each flush waits for the whole disk
_BATCH_BYTES = 256 << 20
_AHEAD = 400  # files whose contents are asked for at once


class Writing:
    """Changes the folder, one batch of paths at a time.

    Files of a batch are written beside their places first and flushed together, then each takes its name: so a flush
    is paid once a batch and not once a file, and no name ever stands for bytes that a power cut could take. A
    directory that is new is filled beside its place too, and takes its name with all that it holds: what that costs is
    one name for each file in it, where a file that joins others is named twice.

    Args:
        source: where contents are read.
        cursor: of the folder.
        plan: what is to be done; its steps are handed over one by one.
        files: fills files and flushes them.
        arrived: learns what new directories hold.
        durable: whether names given and taken survive a power cut once `settle` returns.
        lists: whether `written` is of use to somebody; else it stays empty.

    Attributes:
        written, deleted: paths that were.
        skipped: paths that were left alone, and why.
    """

    def __init__(
        self,
        source: Source,
        cursor: DirectoryCursor,
        plan: CheckoutPlan,
        files: Filling,
        arrived: Arrived,
        *,
        durable: bool,
        lists: bool = True,
    ) -> None:
        self._source = source
        self._arrived = arrived
        self._cursor = cursor
        self._files = files
        self._after = plan.after
        self._ahead = iter(plan.writes)
        self._left = 0  # of the writes whose contents were asked for
        self._planned = plan.contents
        self._contents: dict[RecordHash, bytes] = {}  # of those that come next, where the plan has none
        self._durable, self._lists = durable, lists
        self._emptied: set[tuple[str, ...]] = set()
        self._leaving: set[tuple[str, ...]] = set()  # empty directories that the plan deletes
        self._ready: deque[tuple[PathStep, tuple[str, ...], str]] = deque()  # with the way there and the temporary name
        # What directories that have not arrived hold, and what was seen of it once it was whole.
        self._arriving: dict[tuple[str, ...], list[tuple[PathStep, Signature]]] = {}
        self._waiting = 0  # files of both
        self._waiting_bytes = 0
        self._temporaries = Temporaries(source, files)
        # Names for new directories; None where one could not arrive, from when on they are made in place.
        self._aside: Iterator[str] | None = self._temporaries.names
        self._where: str | None = None  # the directory that is written to
        self._way: tuple[str, ...] = ()  # the same
        self._touched: set[tuple[str, ...]] = set()
        self._keeps: dict[str, bool] = {}  # by the last character of a name: whether this disk keeps it
        self._is_cut = False  # whether this disk cuts a name off on the way
        self.written: list[str] = []
        self.deleted: list[str] = []
        self.skipped = list(plan.skipped)

    def delete(self, step: PathStep) -> None:
        """Delete a file or link that is as planned, or a directory if it is empty."""
        names = tuple(step.change.path.split("/"))
        try:
            fd = self._cursor.go(names[:-1])
        except Blocked:
            fd = None
        was_dir = step.change.before is not None and step.change.before.is_dir
        if fd is not None and step.disk is not None and not was_dir:
            if not self._is_as_planned(fd, step):
                return
            os.unlink(step.disk, dir_fd=fd)
            self._cursor.remove(names[-1])
            self.deleted.append(step.change.path)
        self._touch(names[:-1])  # also of what is gone: a run that was cut off may have taken it
        self._emptied.update(names[:depth] for depth in range(1, len(names) + was_dir))
        if was_dir:
            self._leaving.add(names)

    def sweep(self) -> None:
        """Remove directories that lost their last file and are not in the tree; others stay."""
        for names in sorted(self._emptied, key=lambda names: (len(names), names), reverse=True):
            found = lookup(self._source, self._after, "/".join(names))
            if found is not None and found.is_dir:
                continue
            try:
                fd = self._cursor.go(names[:-1])
                if fd is not None:
                    os.rmdir(self._cursor.on_disk(names[-1]) or names[-1], dir_fd=fd)
                    self._cursor.remove(names[-1])
                    self._touch(names[:-1])
                    if names in self._leaving:
                        self.deleted.append(FolderPath("/".join(names)))
            except Blocked:
                continue
            except OSError as error:
                if error.errno not in _STAYS:  # a broken disk is no reason to call the folder finished
                    raise
        self._emptied.clear()

    def write(self, step: PathStep) -> None:
        """Write a link or empty directory, or a file beside its place or into a new directory; see `place`."""
        if self._left == 0:
            self._look_ahead()
        self._left -= 1
        self._write(step)
        if self._waiting >= _BATCH or self._waiting_bytes >= _BATCH_BYTES:
            self.place()

    def _look_ahead(self) -> None:
        """Ask for the small contents of the writes that come next, all at once."""
        if answers_for_many(self._source):
            entries = [step.change.after for step in itertools.islice(self._ahead, _AHEAD)]
            self._left = len(entries)
            small = [entry.hash for entry in entries if entry and entry.kind == "f" and entry.size <= SMALL_BYTES]
            asked = [record for record in small if record not in self._planned]
            self._contents = self._source.small_parts(asked) if asked else {}

    def _write(self, step: PathStep) -> None:
        change = step.change
        where, _, name = change.path.rpartition("/")
        if where != self._where:
            self._where, self._way = where, tuple(where.split("/")) if where else ()
            self._is_cut = not all(map(self._keeps_name, self._way))
            self._touch(self._way)
        way, entry = self._way, change.after
        if step.disk is None and (self._is_cut or not self._keeps_name(name)):
            self._skip(change.path, "cannot be on this disk: it drops the end of that name", blocking=False)
            return
        try:
            fd = self._cursor.make(way, self._aside)
            if fd is None or entry is None:
                self._skip(change.path, "was changed here in the meantime")
            elif self._cursor.arriving is not None and (step.seen is None or stat.S_ISDIR(step.seen[4])):
                self._fill(fd, name, step, entry)
            elif entry.kind == "d":
                self._make_directory(fd, name, step)
            elif self._durable:
                self._ready.append((step, way, self._made(fd, entry, step.seen)))
                self._waiting += 1
                self._waiting_bytes += entry.size
            elif self._put(fd, name, step, self._made(fd, entry, step.seen)):
                self._wrote(change.path)
        except (Blocked, OSError) as fault:
            self._skip_for(step, way, fault)

    def _keeps_name(self, name: str) -> bool:
        """Tell whether the disk keeps the end of a name; under a shorter one the next commit would call it renamed."""
        sign = name[-1:]
        if sign not in {".", " "}:
            return True
        if sign not in self._keeps:
            self._keeps[sign] = keeps_end(self._cursor.root, sign, self._temporaries.names)
        return self._keeps[sign]

    def _fill(self, fd: int, name: str, step: PathStep, entry: Entry) -> None:
        """Write into a directory that has not arrived, where nobody else writes; what it holds arrives with it."""
        seen: Signature | None = UNSEEN
        if entry.kind == "d":
            os.mkdir(name, dir_fd=fd)
        else:
            seen = self._temporaries.make_named(fd, name, entry, self._content(entry))
        if seen is None:
            self._skip(step.change.path, "appeared here in the meantime")
            return
        top = self._cursor.arriving or ()
        self._arriving.setdefault(top, []).append((step, seen))
        self._waiting += 1
        self._waiting_bytes += entry.size

    def place(self) -> None:
        """Give the files and directories that wait their names, once their bytes are on the disk."""
        self._files.settle(self._cursor.root)
        while self._ready:
            step, way, temp = self._ready[0]
            try:
                fd = self._cursor.go(way)
                if fd is None:
                    self._skip(step.change.path, "was changed here in the meantime")
                elif self._put(fd, step.change.path.rpartition("/")[2], step, temp):
                    self._wrote(step.change.path)
            except (Blocked, OSError) as fault:
                self._skip_for(step, way, fault)
            self._ready.popleft()
        self._waiting = self._waiting_bytes = 0
        self._arrive()

    def _arrive(self) -> None:
        """Give new directories their names; what one holds that cannot have its own is written in place, one by one."""
        arriving, self._arriving = self._arriving, {}
        arrived: list[Arrival] = []
        left: list[PathStep] = []
        for way in self._cursor.made_aside:
            made = arriving.get(way, [])
            try:
                moment = self._arrived.moment(self._cursor, way)
                self._cursor.arrive(way)
                self._wrote(*(step.change.path for step, _ in made))
            except (Blocked, OSError):
                left += (step for step, _ in made)
                with contextlib.suppress(Blocked, FileNotFoundError):
                    self._cursor.drop(way)
            else:
                arrived.append((way, moment, made))
        self._arrived.keep(self._cursor, arrived)
        if left:
            self._aside = None
            for step in left:
                self._write(step)
            self.place()

    def settle(self, here: Iterable[str], telling: Telling) -> None:
        """Make the names that were given and taken survive a power cut, and those of paths that were here already.

        Raises:
            OSError: of the folder that `telling` names by then.
        """
        for path in here:
            self._touch(tuple(path.split("/"))[:-1])
        if not self._touched:
            return
        if len(self._touched) > FEW and can_flush_everything():
            flush_everything(self._cursor.root)
            return
        for names in sorted(self._touched):
            telling.where = "/".join(names)
            with contextlib.suppress(Blocked):
                fd = self._cursor.go(names)
                if fd is not None:
                    flush_directory(fd)

    def _touch(self, way: tuple[str, ...]) -> None:
        if self._durable and way not in self._touched:
            self._touched.update(way[:depth] for depth in range(len(way) + 1))

    def discard(self) -> None:
        """Remove what waits still, after a fault: on a full disk it would take the room that is missing."""
        while self._ready:
            _, way, temp = self._ready.popleft()
            with contextlib.suppress(OSError, Blocked):
                fd = self._cursor.go(way)
                if fd is not None:
                    os.unlink(temp, dir_fd=fd)
        for way in self._cursor.made_aside:
            with contextlib.suppress(OSError, Blocked):
                self._cursor.drop(way)

    def _skip_for(self, step: PathStep, way: tuple[str, ...], fault: Blocked | OSError) -> None:
        """Turn what keeps one path from being written into a skip, so that the rest goes on; raise anything else.

        What stood there goes like what a write replaces: the next commit would bring it back for everybody.
        """
        path, entry = step.change.path, step.change.after
        if isinstance(fault, Blocked):
            self._skip(path, "was changed here in the meantime")
            return
        is_link = entry is not None and entry.kind == "l"
        if fault.errno not in _CANNOT_CARRY and not (is_link and fault.errno in _NO_LINKS):
            raise fault
        if step.disk is not None and step.seen is not None and not stat.S_ISDIR(step.seen[4]):
            try:
                fd = self._cursor.go(way)
            except Blocked:
                fd = None
            if fd is None:
                self._skip(path, "was changed here in the meantime")
                return
            if not self._is_as_planned(fd, step):
                return
            os.unlink(step.disk, dir_fd=fd)
            self._cursor.forget()
        self._skip(path, f"cannot be on this disk: {reason_of(fault)}", blocking=False)

    def _make_directory(self, fd: int, name: str, step: PathStep) -> None:
        if step.disk is not None:
            if not self._is_as_planned(fd, step):
                return
            os.unlink(step.disk, dir_fd=fd)
            self._cursor.forget()
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
        self._cursor.add(name)
        self._wrote(step.change.path)

    def _wrote(self, *paths: str) -> None:
        if self._lists:
            self.written += paths

    def _put(self, fd: int, name: str, step: PathStep, temp: str) -> bool:
        try:
            if step.disk is not None and step.seen is not None and not stat.S_ISDIR(step.seen[4]):
                if not self._is_as_planned(fd, step):
                    return False
                os.replace(temp, step.disk, src_dir_fd=fd, dst_dir_fd=fd)
                return True
            if not (is_clear(fd, step.disk) and place(fd, temp, name)):
                self._skip(step.change.path, "appeared here in the meantime")
                return False
            self._cursor.add(name)
            return True
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=fd)

    def _content(self, entry: Entry) -> bytes | None:
        """Return a small content that was read beforehand."""
        return self._planned.get(entry.hash) or self._contents.get(entry.hash)

    def _made(self, fd: int, entry: Entry, seen: Signature | None) -> str:
        """Make a file or link under another name, whole and proven before anything is named after it.

        Who may read the file that it replaces may read it, and nobody else.
        """
        bits = stat.S_IMODE(seen[4]) if seen is not None and stat.S_ISREG(seen[4]) else None
        return self._temporaries.make(fd, entry, self._content(entry), bits)

    def _is_as_planned(self, fd: int, step: PathStep) -> bool:
        try:
            now = signature(os.stat(step.disk or "", dir_fd=fd, follow_symlinks=False))
        except FileNotFoundError:
            now = None
        if now != step.seen:
            self._skip(step.change.path, "was changed here in the meantime")
            return False
        return True

    def _skip(self, path: str, reason: str, *, blocking: bool = True) -> None:
        self.skipped.append(Skip(path, reason, blocking))
