"""A disk behind a cache: what a power cut can leave of what was written, by what was flushed.

It follows a journal of events. What was not flushed may be there, torn, or not there, and so may names that were given
or taken; what happened while a flush was under way may have been missed by it.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Disk", "Event", "File"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to the disk.

    Args:
        what: which.
        where: its path.
        to: its other path.
        file: its inode.
        offset: where the bytes go, or how many are left.
        data: the bytes; of a flush all that the file held when it began, which some write past the journal.
        begun: of a flush, how many events there were when it began, which it covers; None for all those before it.
    """

    what: str
    where: str = ""
    to: str = ""
    file: int = 0
    offset: int = 0
    data: bytes = b""
    begun: int | None = None


@dataclass
class File:
    """An inode: what is flushed for certain, and the writes since, each with its number in the journal."""

    flushed: bytes = b""
    pending: list[tuple[int, Event]] = field(default_factory=list)

    def after(self, rng: random.Random, style: str) -> bytes:
        """Return what a cut could leave of it."""
        found = bytearray(self.flushed)
        if style in {"drop", "names"}:
            return bytes(found)
        kept = self.pending[: rng.randrange(len(self.pending) + 1)] if style == "prefix" else self.pending
        for _, event in kept:
            if event.what == "truncate":
                del found[event.offset :]
                continue
            size = rng.choice((512, 4096))
            if len(found) < event.offset + len(event.data) and rng.random() < 0.8:
                found.extend(bytes(event.offset + len(event.data) - len(found)))
            for start in range(0, len(event.data), size):
                at = event.offset + start
                if rng.random() < 0.6 and at <= len(found):
                    found[at : at + size] = event.data[start : start + size]
        return bytes(found)

    def flush(self, begun: int, held: bytes = b"") -> None:
        """Make certain what had happened when the flush began; `held` is what the file held then, if that is known."""
        found = bytearray(self.flushed)
        for number, event in self.pending:
            if number >= begun:
                continue
            if event.what == "truncate":
                del found[event.offset :]
            else:
                found.extend(bytes(max(0, event.offset - len(found))))
                found[event.offset : event.offset + len(event.data)] = event.data
        self.flushed = held or bytes(found)
        self.pending = [(number, event) for number, event in self.pending if number >= begun]


Slot = tuple[int, str]  # a directory, by its number, and a name in it
Thing = tuple[str, int | str]  # what has a name: its kind, and its number or the target of a link
_ROOT = 0


@dataclass(frozen=True, slots=True)
class _Naming:
    """A name given, taken, or both.

    Args:
        path: whose directory has it flushed.
        given: the name that is given, if one is.
        taken: the name that is taken, if one is.
        thing: what it names, bound now, so that it can be told later without its history.
    """

    path: str
    given: Slot | None
    taken: Slot | None
    thing: Thing | None

    @property
    def directory(self) -> int:
        """The directory whose flush makes it certain."""
        return (self.given or self.taken or (_ROOT, ""))[0]

    def apply(self, names: dict[Slot, Thing]) -> None:
        """Let it happen."""
        if self.taken is not None:
            names.pop(self.taken, None)
        if self.given is not None and self.thing is not None:
            names[self.given] = self.thing


class Disk:
    """A disk behind a cache that loses what was not flushed.

    A directory is a thing of its own, as a file is: what it holds goes with it when it is named anew.

    Args:
        root: the directory as it was when everything was flushed.
        liar: paths below it are never flushed, whatever is asked.
    """

    def __init__(self, root: Path, liar: str = "") -> None:
        self._root = str(root)
        self._liar = liar
        self._contents: dict[int, File] = {}
        self._names: dict[Slot, Thing] = {}  # for certain
        self._pending: list[tuple[int, _Naming]] = []
        self._current: dict[Slot, Thing] = {}
        self._directories = itertools.count(_ROOT + 1)
        self._files: dict[int, int] = {}  # the number of the file that was made last with an inode

    def load(self, before: Path) -> None:
        """Take in a directory whose files have the names they have below `root`."""
        for number, path in enumerate(sorted(before.rglob("*")), 1):
            slot = self._slot(f"{self._root}/{path.relative_to(before)}")
            assert slot is not None, path
            if path.is_symlink():
                self._current[slot] = ("link", os.readlink(path))  # noqa: PTH115
            elif path.is_dir():
                self._current[slot] = ("dir", next(self._directories))
            else:
                self._contents[-number] = File(path.read_bytes())
                self._current[slot] = ("file", -number)
        self._names = dict(self._current)

    def play(self, events: Iterable[Event]) -> None:
        """Let happen what a journal says."""
        for number, event in enumerate(events):
            begun = number if event.begun is None else event.begun
            match event.what:
                case "write" | "truncate":
                    self._file(event).pending.append((number, event))
                case "flush":
                    self._flush(event, begun)
                case "syncfs":
                    for path, (kind, value) in self._walk(self._current):
                        if kind == "file" and isinstance(value, int) and not self._lies(path):
                            self._contents[value].flush(begun)
                    self._settle(begun)
                case _:
                    self._do(number, event)

    def _walk(self, names: dict[Slot, Thing]) -> Iterator[tuple[str, Thing]]:
        """Yield what these names lead to from the root on, each directory before what it holds."""
        below: dict[int, list[tuple[str, Thing]]] = {}
        for (directory, name), thing in sorted(names.items()):
            below.setdefault(directory, []).append((name, thing))
        stack = [(self._root, _ROOT)]
        while stack:
            path, directory = stack.pop()
            for name, (kind, value) in below.pop(directory, ()):
                yield f"{path}/{name}", (kind, value)
                if kind == "dir" and isinstance(value, int):
                    stack.append((f"{path}/{name}", value))

    def _directory(self, path: str) -> int | None:
        """Return the number of the directory at a path now."""
        if path == self._root:
            return _ROOT
        kind, value = self._thing(path) or ("", 0)
        return value if kind == "dir" and isinstance(value, int) else None

    def _slot(self, path: str) -> Slot | None:
        above, name = os.path.split(path)
        directory = self._directory(above) if path.startswith(f"{self._root}/") else None
        return None if directory is None else (directory, name)

    def _thing(self, path: str) -> Thing | None:
        slot = self._slot(path)
        return None if slot is None else self._current.get(slot)

    def _file(self, event: Event) -> File:
        thing = self._thing(event.where)
        key = self._files.get(event.file) or (thing[1] if thing is not None and thing[0] == "file" else 0)
        return self._contents[key] if isinstance(key, int) and key else File()  # one that is gone counts for nothing

    def _lies(self, path: str) -> bool:
        return bool(self._liar) and path.startswith(self._liar)

    def _flush(self, event: Event, begun: int) -> None:
        if self._lies(event.where):
            return
        directory, thing = self._directory(event.where), self._thing(event.where)
        if directory is not None:
            self._settle(begun, directory)
        elif thing is not None and thing[0] == "file":
            self._file(event).flush(begun, event.data)

    def _settle(self, begun: int, directory: int | None = None) -> None:
        """Make certain the names of a directory, or all, that were given and taken when a flush began."""
        keep = []
        for number, op in self._pending:
            if number < begun and directory in {None, op.directory} and not self._lies(op.path):
                op.apply(self._names)
            else:
                keep.append((number, op))
        self._pending = keep

    def _do(self, number: int, event: Event) -> None:
        thing: Thing | None = None
        match event.what:
            case "create":
                # An inode is used again when its file is gone, whose names a cut may bring back.
                made = self._files[event.file] = len(self._contents) + 1
                self._contents[made] = File()
                thing = ("file", made)
            case "mkdir":
                thing = ("dir", next(self._directories))
            case "symlink":
                thing = ("link", event.where)
            case "link" | "rename":
                thing = self._thing(event.where)
        taken = self._slot(event.where) if event.what in {"unlink", "rmdir", "rename"} else None
        given = self._slot(event.to or event.where) if thing is not None else None
        op = _Naming(event.to or event.where, given, taken, thing)
        op.apply(self._current)
        self._pending.append((number, op))

    def after_cut(self, rng: random.Random, style: str) -> dict[str, tuple[str, bytes]]:
        """Return a disk that a cut now could leave: kind and content of each path."""
        names = dict(self._names)
        pending = [op for _, op in self._pending]
        kept = {"drop": [], "names": pending, "prefix": pending[: rng.randrange(len(pending) + 1)]}
        for op in kept.get(style, [op for op in pending if rng.random() < 0.5]):
            op.apply(names)
        contents = {number: file.after(rng, style) for number, file in self._contents.items()}
        found: dict[str, tuple[str, bytes]] = {}
        for path, (kind, value) in self._walk(names):  # what lies in a directory that was lost is not met
            is_file = kind == "file" and isinstance(value, int)
            found[path] = (kind, contents[int(value)] if is_file else b"" if kind == "dir" else str(value).encode())
        return found
