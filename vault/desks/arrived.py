"""What a checkout knows of the directories that it made: the next look reads nothing of that again (performance: scan).

A new directory is filled under another name and then takes its own with all that it holds. Until that moment nobody
else has a name for what is in it; whoever changes a file does so later, and by the racy-timestamp rule what was seen of
a file is believed only if that was more than a tick older than the moment. So a change shows, whatever the times that
it leaves (CLAY-71). The moment is one of the file system's own clock, by which the files have their times, too.

Files that take their names one by one are left to the scan: of them the same tick has the name and the first change.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence

from vault.desks.basetree import BaseDirectory
from vault.desks.cursor import Blocked, DirectoryCursor
from vault.desks.folder import Signature
from vault.desks.pages import Entry, count_names
from vault.desks.paths import illegal_elsewhere, is_plain, is_system_name
from vault.desks.ports import DirCache, Source
from vault.desks.scancache import Seen, SeenDirectory, encode
from vault.desks.steps import PathStep
from vault.errors import DataError
from vault.records import RecordHash

__all__ = ["UNSEEN", "Arrival", "Arrived", "Context"]

Context = Callable[[], bytes | None]
"""Gives what the next scan of the folder asks of what it believes; None where that cannot be told."""

Arrival = tuple[tuple[str, ...], int, Sequence[tuple[PathStep, Signature]]]
"""The way to a directory, a moment at which it had not arrived, and what was written there with what was seen of it."""

UNSEEN: Signature = (0, 0, 0, 0, 0)
"""What is kept of a directory in place of a signature."""


class Arrived:
    """Puts directories that a checkout made into the scan cache.

    Args:
        source: where the tree is read; the scan that believes what is kept reads it there, too.
        tree: what the folder becomes.
        cache: of the desk.
        context: asked whenever something is to be kept, for the rules may be among what is written; None keeps nothing.
    """

    def __init__(self, source: Source, tree: RecordHash, cache: DirCache, context: Context | None) -> None:
        self._source = source
        self._known = {"": BaseDirectory(source, tree)}
        self._cache = cache
        self._context = context

    def moment(self, cursor: DirectoryCursor, way: tuple[str, ...]) -> int:
        """Return a moment at which a directory has not arrived, in ns of its own disk's clock; 0 where none is known.

        Args:
            cursor: of the folder.
            way: to the directory, under the name that it is to get.
        """
        if self._context is None:
            return 0
        with contextlib.suppress(Blocked, OSError):
            fd = cursor.go(way)
            if fd is not None:
                status = os.fstat(fd)
                os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))  # they stay; that they were set has a time
                return os.fstat(fd).st_ctime_ns
        return 0

    def keep(self, cursor: DirectoryCursor, arrived: Sequence[Arrival]) -> None:
        """Keep what is in directories that have taken their names, and in those below them.

        Args:
            cursor: of the folder.
            arrived: the directories.
        """
        context = self._context() if self._context is not None and arrived else None
        if context is None:
            return
        for way, moment, made in arrived:
            if not moment:
                continue
            items: dict[str, dict[str, Seen]] = {}
            for step, seen in made:
                where, _, name = step.change.path.rpartition("/")
                if step.change.after is not None and _has_its_mode(step.change.after, seen):
                    items.setdefault(where, {})[name] = _seen(step.change.after, seen)
            with contextlib.suppress(Blocked, OSError, DataError):  # the rest is read again, no more
                for where, entry in sorted(self._directories("/".join(way), items).items()):
                    self._keep_one(cursor, where, entry, items[where], context, moment)

    def _directories(self, top: str, items: dict[str, dict[str, Seen]]) -> dict[str, Entry]:
        """Return the directories that hold something, by path, up to `top`, and put each into the one above it."""
        found: dict[str, Entry] = {}
        ahead = [*items]
        while ahead:
            where = ahead.pop()
            above, _, name = where.rpartition("/")
            entry = self._directory(above).entries().get(name) if where not in found else None
            if entry is None:
                continue
            found[where] = entry
            if where != top:
                items.setdefault(above, {})[name] = _seen(entry, UNSEEN)
                ahead.append(above)
        return found

    def _directory(self, where: str) -> BaseDirectory:
        """Return what the tree has in a directory; one that holds others is read once."""
        found = self._known.get(where)
        if found is None:
            above, _, name = where.rpartition("/")
            found = self._known[where] = self._directory(above).below(name)
        return found

    def _keep_one(
        self, cursor: DirectoryCursor, where: str, entry: Entry, items: dict[str, Seen], context: bytes, moment: int
    ) -> None:
        """Keep one directory if all that the tree has there was written, and it holds nothing else."""
        page = self._source.content(entry.hash)
        fd = cursor.go(tuple(where.split("/")))
        if page is None or fd is None or count_names(page) != len(items):
            return
        names = os.listdir(fd)  # noqa: PTH208 - a descriptor has no path
        if items.keys() == set(names):
            in_order = {name: items[name] for name in names}
            blob = encode(SeenDirectory(entry.hash.digest, entry.size, in_order), context, moment)
            if blob is not None:
                self._cache.save(where, blob)


def _has_its_mode(entry: Entry, seen: Signature) -> bool:
    """Tell whether the disk gave a file the mode of the tree; where it did not, the scan says what that means."""
    return entry.kind != "f" or bool(seen[4] & stat.S_IXUSR) == (entry.mode == "x")


def _seen(entry: Entry, seen: Signature) -> Seen:
    is_noticed = not is_plain(entry.name) and bool(illegal_elsewhere(entry.name) or is_system_name(entry.name))
    return Seen(entry.kind.encode(), is_noticed, seen, entry.hash.digest, entry.size)
