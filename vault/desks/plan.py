"""What a checkout would do, judged against the folder before anything is written (CLAY-71, APP-12).

A file whose content is neither what the folder stood on nor what it is to become is somebody's work: it is
named, never planned away. What no disk must hold (a link that leads outside, a name like the vault's) is
left out.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from vault.desks.absent_paths import why_not_here
from vault.desks.causes import Cause
from vault.desks.chunks import check_here, entry_pieces
from vault.desks.cursor import Blocked, DirectoryCursor
from vault.desks.diff import Change, diff_trees
from vault.desks.folder import FileChanging, read_link, same_content, signature
from vault.desks.pages import Entry
from vault.desks.paths import join, reserved_name, twin_key
from vault.desks.ports import Source, answers_for_many
from vault.desks.steps import PathStep, StepList
from vault.desks.tree import lookup, read_entry
from vault.errors import DataError
from vault.files import NotWritable, reason_of
from vault.profile import MAX_DIRECT_BYTES
from vault.records import RecordHash

__all__ = ["SMALL_BYTES", "CheckoutPlan", "Skip", "plan_checkout"]

SMALL_BYTES = 8_192  # contents above it are read one by one
_BATCH = 400  # changes whose contents are asked for at once
_KEPT_BYTES = 28 << 20  # of small contents that are written next: those of nearly 100,000 notes
_CONTENT_BYTES = 200  # that one takes besides its own


class Skip(NamedTuple):
    """A path that is not brought to what the tree says.

    Args:
        path: relative to the desk.
        reason: why, as the end of a sentence that starts with the path.
        blocking: whether something of the person's stands there; else this disk just cannot or must not hold
            it.
        cause: the reason as a value, where an act hangs on it.
    """

    path: str
    reason: str
    blocking: bool
    cause: Cause = Cause.OTHER


class CheckoutPlan(NamedTuple):
    """What a checkout is going to do.

    Args:
        before: the tree the folder stands on, or None.
        after: the tree it is to become.
        deletes: files and links that go, and empty directories.
        writes: files, links and empty directories that come or change.
        skipped: paths left alone.
        here: paths that differ between the trees and are here as they are to be. A run that was cut off may have
            written them, and not have flushed their names.
        contents: of small files that are written, as far as they fit into some MiB: to find a record costs more than
            to read it.
    """

    before: RecordHash | None
    after: RecordHash
    deletes: tuple[PathStep, ...]
    writes: Sequence[PathStep]
    skipped: tuple[Skip, ...]
    here: tuple[str, ...] = ()
    contents: Mapping[RecordHash, bytes] = MappingProxyType({})

    @property
    def is_blocked(self) -> bool:
        """Whether something of the person's is in the way."""
        return any(skip.blocking for skip in self.skipped)

    @property
    def bytes(self) -> int:
        """Bytes of the files that are written."""
        return sum(step.change.after.size for step in self.writes if step.change.after is not None)


def plan_checkout(
    root: Path,
    *,
    before: RecordHash | None,
    after: RecordHash,
    source: Source,
    cancel: Callable[[], None] | None = None,
    without: frozenset[str] = frozenset(),
) -> CheckoutPlan:
    """Compare two trees with the folder and return what is to be done; writes nothing.

    Args:
        root: the desk's directory.
        before: the tree the folder stands on, or None when it is new.
        after: the tree it is to become.
        source: where both are read.
        cancel: called for each path; raises to stop.
        without: sub-directories that are desks of their own; nothing is written there, nor in place of what holds one.

    Raises:
        MissingObject: a page, or a content that would be written, is not here.
        TreeError: a page is broken, or a content has another size than its tree says.
        NotWritable: the folder cannot be read.
    """
    planner: _Planner | None = None
    try:
        with DirectoryCursor(root) as cursor:
            planner = _Planner(source, cursor, before, after, without)
            changes = diff_trees(source, before, after)
            while batch := tuple(islice(changes, _BATCH)):
                planner.plan_all(batch, cancel)
            planner.check_cleared()
    except OSError as error:
        where = root / planner.at if planner is not None else root
        raise NotWritable(f"{where} cannot be changed: {reason_of(error)}.") from error
    writes = planner.writes.planned(source, before, after)
    deletes, here = tuple(planner.deletes), tuple(planner.here)
    return CheckoutPlan(before, after, deletes, writes, tuple(sorted(planner.skipped)), here, planner.contents)


class _Planner:
    """Judges each change against what stands on the disk."""

    def __init__(
        self,
        source: Source,
        cursor: DirectoryCursor,
        before: RecordHash | None,
        after: RecordHash,
        without: frozenset[str],
    ) -> None:
        self._source = source
        self._cursor = cursor
        self._before = before
        self._after = after
        self._without = without
        self._cleared: set[str] = set()  # paths where a clean file or link goes
        self._folders: list[PathStep] = []  # writes that need a directory gone
        self._lengths: dict[RecordHash, int] = {}  # of contents to be written next
        self._room = _KEPT_BYTES
        self._unread = ""  # why what stands at the path that is judged could not be compared
        self._where = ""  # the directory of the change that is judged
        self._way: tuple[str, ...] = ()  # the same
        self._is_reserved = False  # whether a name on it is never written
        self._alone: tuple[str, ...] | None = None  # a folder that has to be made, and stands beside no twin
        # The names of the listing last seen at each depth, by what twins have in common.
        self._twins: dict[int, tuple[dict[str, str], dict[str, list[str]]]] = {}
        self.deletes: list[PathStep] = []
        self.writes = StepList()
        self.skipped: list[Skip] = []
        self.here: list[str] = []
        self.contents: dict[RecordHash, bytes] = {}
        self.at = ""  # the path that is judged

    def plan_all(self, changes: Sequence[Change], cancel: Callable[[], None] | None) -> None:
        """Take changes into the plan, but those in desks of their own; what they would write is asked for at once."""
        self.look_ahead(changes)
        for change in changes:
            if cancel is not None:
                cancel()
            self.writes.next_change()
            if any(change.path == path or change.path.startswith(path + "/") for path in self._without):
                self._skip(change, Cause.OTHER_DESK.words, Cause.OTHER_DESK, blocking=False)
            else:
                self.plan(change)

    def look_ahead(self, changes: Sequence[Change]) -> None:
        """Ask for what these changes would write, or for its lengths, all at once."""
        if not answers_for_many(self._source):
            return
        entries = [after for _, _, _, after in changes if after is not None and after.kind != "d"]
        self._lengths = {}
        if self._room > 0:
            parts = self._source.small_parts([entry.hash for entry in entries if entry.size <= SMALL_BYTES])
            self._lengths = {record: len(content) for record, content in parts.items()}
            self._room -= sum(self._lengths.values()) + _CONTENT_BYTES * len(parts)
            self.contents |= parts
        others = [entry.hash for entry in entries if entry.hash not in self._lengths]
        if others:
            self._lengths |= self._source.lengths(others)

    def plan(self, change: Change) -> None:
        """Take one change into the plan."""
        self.at = change.path
        where, _, name = change.path.rpartition("/")
        if where != self._where:
            self._where, self._way = where, tuple(where.split("/")) if where else ()
            self._is_reserved = any(map(reserved_name, self._way))
        way = self._way
        if change.after is not None and not self._may_write(change, change.after, name):
            if change.before is None or change.before.is_dir:
                return
            change = change._replace(after=None)  # the next commit would bring the former file back for everybody
        if way == self._alone:
            self._absent(change, name, None)
            return
        try:
            fd = self._cursor.go(way)
        except Blocked as blocked:
            above = "/".join(way[: blocked.depth])
            if above not in self._cleared and change.after is not None:
                self._skip(change, f"cannot be written: {above} is not a folder here")
                return
            fd = None
        disk = self._cursor.on_disk(name) if fd is not None else None
        if fd is None or disk is None:
            self._absent(change, name, fd)
            return
        try:
            status = os.stat(disk, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:  # it was listed, and is gone: left out, it would count as deleted at the next commit
            self._absent(change, name, fd)
        else:
            self._judge(fd, PathStep(change, disk, signature(status)), status)

    def _absent(self, change: Change, name: str, fd: int | None) -> None:
        """Plan for a path where nothing stands."""
        if change.after is None:
            self.deletes.append(PathStep(change, None, None))  # a crash may have left its folder empty
        elif fd is None:
            if self._way == self._alone or not self._parent_twin(change):
                self.writes.take(PathStep(change, None, None))
        elif not self._has_twin(change, self._where, name):
            self.writes.take(PathStep(change, None, None))

    def _may_write(self, change: Change, entry: Entry, name: str) -> bool:
        """Refuse what must not be on any disk, and make sure that the content is here (APP-12)."""
        is_named = self._is_reserved or bool(reserved_name(name))
        if entry.kind == "d" and not is_named:
            return True
        if not is_named and not 0 < entry.size == self._lengths.get(entry.hash, -1) <= MAX_DIRECT_BYTES:
            check_here(self._source, entry)
        reason = why_not_here(self._source, change.path, entry) if is_named or entry.kind == "l" else ""
        if reason:
            self._skip(change, reason, blocking=False)
        return not reason

    def _judge(self, fd: int, step: PathStep, status: os.stat_result) -> None:
        change = step.change
        self._unread = ""
        is_dir = stat.S_ISDIR(status.st_mode)
        old, new = change.before, change.after
        if new is not None and new.is_dir and is_dir:
            self.here.append(change.path)
            return
        if old is not None and old.is_dir and is_dir and new is None:
            inside = self._cursor.go(tuple(change.path.split("/")))
            if inside is not None and not os.listdir(inside):  # noqa: PTH208 - a descriptor has no path
                self.deletes.append(step)
            return
        if is_dir:
            # Also with nothing in it: by a link in its place the other desk would be read from wherever that leads.
            if new is not None and any(path.startswith(change.path + "/") for path in self._without):
                self._skip(change, Cause.HOLDS_DESK.words, Cause.HOLDS_DESK)
            elif new is not None:  # else the file is gone already
                self._folders.append(step)
            return
        if new is not None and self._matches(fd, step, new, status):
            mode = "x" if status.st_mode & stat.S_IXUSR else "-"
            if new.kind == "f" and mode != new.mode:
                self.writes.take(step)
            else:
                self.here.append(change.path)
            return
        if old is not None and not old.is_dir and self._matches(fd, step, old, status):
            self._cleared.add(change.path)
            (self.deletes.append if new is None else self.writes.take)(step)
            return
        if old is not None and not self._unread:
            self._skip(change, Cause.CHANGED.words, Cause.CHANGED)
        else:
            self._skip(change, self._unread or "is already here with other content")

    def _matches(self, fd: int, step: PathStep, entry: Entry, status: os.stat_result) -> bool:
        """Tell whether the disk holds this content; modes do not count, for some disks have none."""
        if step.disk is None or entry.is_dir:
            return False
        if not (stat.S_ISLNK if entry.kind == "l" else stat.S_ISREG)(status.st_mode):
            return False
        try:
            if entry.kind == "l":
                return read_link(fd, step.disk) == read_entry(self._source, entry)
            if status.st_size != entry.size:
                return False
            return same_content(fd, step.disk, entry_pieces(self._source, entry)) == step.seen
        except OSError as error:
            self._unread = f"cannot be read: {reason_of(error)}"
        except (FileChanging, DataError):  # what is not here, or not what it says, is not on the disk
            pass
        return False

    def _parent_twin(self, change: Change) -> bool:
        """Tell whether a folder that has to be made would stand beside one that differs only in case."""
        way = self._way
        with contextlib.suppress(Blocked):
            if self._cursor.go(way) is None:
                above = self._cursor.reached
                name = way[len(above)]
                if self._cursor.on_disk(name) is None and self._has_twin(change, "/".join(above), name):
                    return True
        self._alone = way
        return False

    def _has_twin(self, change: Change, where: str, name: str) -> bool:
        listing, depth = self._cursor.listing(), len(self._cursor.reached)
        known, twins = self._twins.get(depth, (None, {}))
        if listing is not known:  # a directory is come back to after each of those that it holds
            twins = {}
            for other in listing:
                twins.setdefault(twin_key(other), []).append(other)
            self._twins[depth] = listing, twins
        for other in twins.get(twin_key(name), ()):
            if other != name and not self._goes(join(where, other)):
                self._skip(change, f"cannot stand beside {other!r}, which some disks take for the same name")
                return True
        return False

    def _goes(self, path: str) -> bool:
        if self._before is None or lookup(self._source, self._before, path) is None:
            return False
        return lookup(self._source, self._after, path) is None

    def check_cleared(self) -> None:
        """Let a file take a folder's place only if nothing of the person's is left in the folder."""
        for step in self._folders:
            self.at = step.change.path
            kept = next(self._kept(step.change.path), None)
            if kept is None:
                self.writes.take_last(step)
            else:
                self._skip(step.change, f"cannot be written: it is a folder here that holds {kept}")

    def _kept(self, path: str) -> Iterator[str]:
        try:
            fd = self._cursor.go(tuple(path.split("/")))
        except Blocked:
            yield path
            return
        if fd is None:
            return
        for name in list(self._cursor.listing()):
            below = join(path, name)
            fd = self._cursor.go(tuple(path.split("/")))
            if fd is None:
                return
            status = os.stat(self._cursor.on_disk(name) or name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                yield from self._kept(below)
            elif below not in self._cleared:
                yield below

    def _skip(self, change: Change, reason: str, cause: Cause = Cause.OTHER, *, blocking: bool = True) -> None:
        self.skipped.append(Skip(change.path, reason, blocking, cause))
