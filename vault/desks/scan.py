"""One walk over a folder: each directory becomes a tree, of what is known or of what is read (CLAY-71, APP-12).

It follows no link, waits for no pipe, and never stops at one bad file: what cannot be taken becomes a `Problem`.

A directory whose names, signatures and sub-directories are as the cache says keeps its tree hash without a
look at a single byte; see `vault.desks.glance`.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from vault.desks import scancache
from vault.desks.basetree import BaseDirectory
from vault.desks.choosing import Chosen, Names, is_unchanged, rules_of
from vault.desks.delta_bases import OldPages
from vault.desks.folder import DIRECTORY_FLAGS, FileChanging
from vault.desks.former_ignore import Held
from vault.desks.glance import LOOKS, Look, encode_look, survey
from vault.desks.modes import Modes
from vault.desks.pages import checked_entry
from vault.desks.paths import DOT_VAULT, MAX_DEPTH, VAULT_FILES, join
from vault.desks.ports import DirCache, Objects, Progress, Sink, takes_hints
from vault.desks.scancache import Seen, SeenDirectory
from vault.desks.taker import NotTaken, Taker
from vault.desks.tree import build_directory
from vault.files import reason_of
from vault.records import RecordHash

__all__ = ["Ports", "Scan", "Scanning"]

_STEP = 256  # files between two calls of progress and cancel
_KINDS = {b"f": "f", b"l": "l", b"d": "d"}  # as the cache and as a tree has them


class Ports(NamedTuple):
    """What a scan is joined to: where it reads, where it keeps what is new, and its clock.

    Args:
        objects: where the base and trees named by the cache are read, and new content and pages go.
        cache: what earlier scans saw. Keep what is saved here only if what went into the sink was kept too.
        now_ns: wall clock, in ns since 1970; nothing but the racy-timestamp rule reads it. It is asked once, before any
            file is read and after the survey: what was saved just before a look is older by then than a tick.
        bulk: takes the content of files above 2 MiB in place of that sink, for a caller who keeps the rest in memory.
        settle: lets the source have all that went into the sink; None where it never has.
    """

    objects: Objects
    cache: DirCache
    now_ns: Callable[[], int]
    bulk: Sink | None = None
    settle: Callable[[], object] | None = None


class Scanning(NamedTuple):
    """How a folder is scanned.

    Args:
        cancel: called often; raises to stop.
        progress: called with (files so far, 0, path).
        without: sub-directories that are desks of their own; what the base says of them stays as it is.
        held: former rules that hold on.
        processes: how many may look at a large folder at once; one while this process has threads.
        home: as `Modes` takes it.
        room: called before a large file is read, with the bytes that it may add at most; raises to stop.
    """

    cancel: Callable[[], None] = lambda: None
    progress: Progress = lambda *_told: None
    without: frozenset[str] = frozenset()
    held: Held = Held()
    processes: int = 1
    home: Path | None = None
    room: Callable[[int], object] = lambda _size: None


class _Tree(NamedTuple):
    """The tree of a directory: its root page's digest, its size, and whether it is in no other tree."""

    digest: bytes
    size: int
    is_hollow: bool = False


class _Opened(NamedTuple):
    """A directory that is scanned.

    Args:
        fd: the same, open.
        where: its path.
        depth: how many names deep that is.
        base: what the tree that the folder stands on has there.
    """

    fd: int
    where: str
    depth: int
    base: BaseDirectory


class Scan:
    """One walk over one folder.

    Args:
        ports: where it reads and keeps.
        taker: reads the files of the folder.
        how: what may stop it, and what it leaves alone.
        modes: what is believed of the modes on this disk.

    Attributes:
        names: what of the folder is in the tree, and what is not; from `run` on.
        files: files and links that are in the tree.
        read: those of them whose bytes had to be read.
    """

    names: Names

    def __init__(self, ports: Ports, taker: Taker, how: Scanning, modes: Modes) -> None:
        self._ports = ports
        self._objects = ports.objects
        self._taker = taker
        self._how = how
        self._modes = modes
        self._now_ns = 0  # from `run` on
        self._context = b""
        self._has_base = False
        self._old_pages = OldPages(ports.objects.source)
        self._steps = 0
        self._surveyed = 0
        self._same: dict[str, Look] = {}  # directories whose names and files are as the scan before saw them
        self._whole: dict[str, int] = {}  # files in those below which that is so too
        self.files = 0
        self.read = 0

    def run(self, root: Path, fd: int, base: RecordHash | None) -> RecordHash:
        """Walk the folder and return its root page."""
        self.names = Names(rules_of(root, fd), self._how.without, self._how.held, self._objects.source)
        self._context = scancache.context_of(self._objects.group, self.names.digest, self._how.without)
        processes = self._how.processes if threading.active_count() == 1 else 1  # a fork of threads may never move
        self._same, self._whole = survey(fd, self._context, self._ports.cache.load, processes, self._survey_tick)
        self._now_ns = self._ports.now_ns()
        top = BaseDirectory(self._objects.source, base)
        self._has_base = base is not None
        found = self._known("", top) or self._directory(_Opened(fd, "", 0, top))
        if found is None:  # only a nested vault gives None, and the desk itself is not nested
            raise AssertionError("the desk itself was skipped")
        return RecordHash("P", found.digest)

    def _told(self, done: int, size: int, path: str) -> None:
        self._how.progress(self.files, 0, done, size, path)

    def _tick(self, path: str, steps: int = 1) -> None:
        self._steps += steps
        if self._steps % _STEP < steps:
            self._how.cancel()
            self._how.progress(max(self.files, self._surveyed), 0, 0, 0, path)

    def _survey_tick(self, path: str, steps: int) -> None:
        self._surveyed += steps
        self._tick(path, steps)

    def _directory(self, at: _Opened) -> _Tree | None:
        """Scan one open directory; return its tree, or None when it is another vault, or a copy of one."""
        self._how.cancel()
        found = _listed(at)
        if at.where and (reason := _why_apart({entry.name for entry in found})):
            self.names.skip(*_split(at.where), reason)
            return None
        seen = scancache.decode(self._ports.cache.load(at.where), self._context)
        is_same = seen is not None and self._is_as_looked(at, seen)
        names = self.names.choose(found, at.where, seen, at.base)
        known = seen.items if seen is not None else {}
        items = self._items(at, names, known, is_same=is_same)
        taken = [disk for disk, item in items.items() if not item.is_hollow]
        is_hollow = bool(found) and not taken and self._is_hollow(at.where, at.base)  # before its look is kept
        is_known = seen is not None and items == known and list(items) == list(known)
        if seen is not None and is_known and taken and self._has_its_modes(seen.digest, at.base):
            now = seen
        else:
            self._drop_gone(at.where, known, items)
            now = self._built(at.base, names, items, taken)
            is_known = is_known and seen is not None and seen.digest == now.digest
            if not is_known:
                self._keep_seen(at.where, now)
        if not (is_known and is_same):
            self._keep_look(at.where, now, found)
        return _Tree(now.digest, now.size, is_hollow)

    def _is_as_looked(self, at: _Opened, seen: SeenDirectory) -> bool:
        """Tell whether the survey found a directory as it was seen, and the rules say of it what they said then."""
        look = self._same.get(at.where)
        return look is not None and seen.digest == look.tree and self.names.is_of_base(look.tree, at.base)

    def _items(
        self, at: _Opened, names: dict[str, Chosen], known: dict[str, Seen], *, is_same: bool
    ) -> dict[str, Seen]:
        """Return the chosen entries as they are now; of an unchanged file as it was seen, and no byte is read."""
        items: dict[str, Seen] = {}
        where = at.where
        plain = 0  # unchanged ones that were not counted yet
        for disk, chosen in names.items():
            item = known.get(disk)
            if item is not None and item.kind != b"d" and (is_same or is_unchanged(chosen[0], item)):
                items[disk] = item
                plain += 1
                if plain == _STEP:
                    plain = self._passed(where, plain)
                continue
            if plain:
                plain = self._passed(where, plain)
            self._tick(where)
            item = self._item(at, chosen)
            if item is not None:
                items[disk] = item
        self._passed(where, plain)
        return items

    def _passed(self, where: str, plain: int) -> int:
        """Count files of a directory that are as they were seen; return how many are left to be counted: none."""
        self.files += plain
        self._tick(where, plain)
        return 0

    def _built(
        self, base: BaseDirectory, names: dict[str, Chosen], items: dict[str, Seen], taken: list[str]
    ) -> SeenDirectory:
        """Make the tree of a directory, and return what is seen of it by that."""
        olds = base.entries().items() if self._modes.are_doubted else ()
        modes = {name: old.mode for name, old in olds if old.kind == "f"}
        made = []
        for disk in taken:
            name, (kind, _, look, digest, size, _, _) = names[disk][1], items[disk]
            mode = self._modes.of(look[4], modes.get(name)) if kind == b"f" else "-"
            made.append(checked_entry(_KINDS[kind], mode, size, digest, name))
        like = self._old_pages.of(base.root()) if takes_hints(self._objects.sink) else None
        tree, size = build_directory(self._objects.group, made, self._objects.sink, like)
        return SeenDirectory(tree.digest, size, items)

    def _drop_gone(self, where: str, known: dict[str, Seen], items: dict[str, Seen]) -> None:
        """Let go of what was kept of sub-directories that are none any more."""
        for disk, was in known.items():
            if was.kind == b"d" and (disk not in items or items[disk].kind != b"d"):
                self._ports.cache.drop(join(where, normalize("NFC", disk)))

    def _keep_seen(self, where: str, now: SeenDirectory) -> None:
        """Keep what is seen of a directory; where a number does not fit, it is read once more at the next scan."""
        blob = scancache.encode(now, self._context, self._now_ns)
        if blob is not None:
            self._ports.cache.save(where, blob)

    def _is_hollow(self, where: str, base: BaseDirectory) -> bool:
        """Tell whether a directory of whose names none is taken is in no tree: it is, where the base has it.

        What the scan made of it is then kept by nobody, so its page is made anew each time.
        """
        if not where or not self._has_base or base.root() is not None:
            return False
        if not self.names.hangs_on_base:  # then a look at what is above it would not ask what the base has
            self.names.doubtful |= {where, _split(where)[0]}
        return True

    def _known(self, where: str, base: BaseDirectory) -> _Tree | None:
        """Return the tree of a directory in and below which nothing changed, else None."""
        look = self._same.get(where)
        if look is None or where not in self._whole or not self.names.is_of_base(look.tree, base):
            return None
        if not self._has_its_modes(look.tree, base):
            return None
        self.files += self._whole[where]
        return _Tree(look.tree, look.size)

    def _has_its_modes(self, tree: bytes, base: BaseDirectory) -> bool:
        """Tell whether a tree of what the folder still holds stays: where modes are doubted, the base's does."""
        root = base.root() if self._modes.are_doubted else None
        return not self._modes.are_doubted or (root is not None and root.digest == tree)

    def _keep_look(self, where: str, now: SeenDirectory, found: list[os.DirEntry[str]]) -> None:
        """Keep the look of a directory; an empty one where a look does not suffice."""
        look = b""
        if where not in self.names.doubtful and scancache.is_plain(now.items.values(), self._now_ns):
            names = [entry.name for entry in found]
            below = {name: item.digest for name, item in now.items.items() if item.kind == b"d"}
            files = [item.signature for item in now.items.values() if item.kind != b"d"]
            left_out = {
                entry.name: entry.is_dir(follow_symlinks=False) for entry in found if entry.name not in now.items
            }
            look = encode_look(self._context, now.digest, now.size, names, below, files, left_out)
        key = LOOKS + where
        if look != (self._ports.cache.load(key) or b""):
            self._ports.cache.save(key, look)

    def _item(self, at: _Opened, chosen: Chosen) -> Seen | None:
        """Return one entry as it is now, or None after saying why it is left out."""
        entry, name, _ = chosen
        where = at.where
        try:
            if entry.is_dir(follow_symlinks=False):
                return self._subdirectory(at, chosen)
            taken = self._taker.take(at.fd, chosen, where, at.base, self._told)
        except NotTaken as reason:
            self.names.skip(where, name, str(reason))
        except FileChanging:
            self.names.skip(where, name, "was being written while it was read; it is taken next time")
        except OSError as error:
            if error.errno == errno.ENOENT:
                self.names.doubtful.add(where)  # it was listed, and is gone
            else:
                self.names.skip(where, name, f"cannot be read: {reason_of(error)}")
        else:
            self.files += 1
            self.read += 1
            return taken
        return None

    def _subdirectory(self, at: _Opened, chosen: Chosen) -> Seen | None:
        entry, name, is_noticed = chosen
        base = at.base.below(name)
        if at.depth + 2 > MAX_DEPTH:
            self.names.skip(at.where, name, f"lies deeper than {MAX_DEPTH} names")
            return None
        path = join(at.where, name)
        found = self._known(path, base)
        if found is None:
            below = os.open(entry.name, DIRECTORY_FLAGS, dir_fd=at.fd)
            try:
                found = self._directory(_Opened(below, path, at.depth + 1, base))
            finally:
                os.close(below)
        if found is None:
            return None
        return Seen(b"d", is_noticed, (0, 0, 0, 0, 0), found.digest, found.size, is_hollow=found.is_hollow)


def _listed(at: _Opened) -> list[os.DirEntry[str]]:
    """Return all that lies in a directory but the vault of the folder itself."""
    with os.scandir(at.fd) as listing:
        return [entry for entry in listing if at.where or entry.name != DOT_VAULT]


def _why_apart(names: set[str]) -> str:
    """Return why a directory of these names is none of this vault's, as the end of a sentence; empty where it is.

    A copy of a vault holds what its owner released to nobody.
    """
    if DOT_VAULT in names:
        return "holds a vault of its own"
    return "is a copy of a vault" if names >= VAULT_FILES else ""


def _split(path: str) -> tuple[str, str]:
    where, _, name = path.rpartition("/")
    return where, name
