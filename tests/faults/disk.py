"""A disk behind a cache: what a power cut can leave of what was written, by what was flushed.

It follows a journal of events. What was not flushed may be there, torn, or not there, and so may names that were given
or taken; what happened while a flush was under way may have been missed by it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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


class Disk:
    """A disk behind a cache that loses what was not flushed.

    Args:
        root: the directory as it was when everything was flushed.
        liar: paths below it are never flushed, whatever is asked.
    """

    def __init__(self, root: Path, liar: str = "") -> None:
        self._root = root
        self._liar = liar
        self.files: dict[int, File] = {}
        self.names: dict[str, tuple[str, int | str]] = {}
        self.pending: list[tuple[int, Event]] = []
        self._current: dict[str, tuple[str, int | str]] = {}
        self._files: dict[int, int] = {}  # the number of the file that was made last with an inode

    def load(self, before: Path) -> None:
        """Take in a directory whose files have the names they have below `root`."""
        for number, path in enumerate(sorted(before.rglob("*")), 1):
            name = str(self._root / path.relative_to(before))
            if path.is_symlink():
                self.names[name] = ("link", os.readlink(path))  # noqa: PTH115
            elif path.is_dir():
                self.names[name] = ("dir", 0)
            else:
                self.files[-number] = File(path.read_bytes())
                self.names[name] = ("file", -number)
        self._current = dict(self.names)

    def play(self, events: Iterable[Event]) -> None:
        """Let happen what a journal says."""
        for number, event in enumerate(events):
            match event.what:
                case "create":
                    # An inode is used again when its file is gone, whose names a cut may bring back.
                    self._files[event.file] = len(self.files) + 1
                    self.files[self._files[event.file]] = File()
                    self._do(number, replace(event, file=self._files[event.file]))
                case "write" | "truncate":
                    self._file(event).pending.append((number, event))
                case "flush":
                    self._flush(event, number if event.begun is None else event.begun)
                case "syncfs":
                    begun = number if event.begun is None else event.begun
                    for path in (str(self._root), *self._current):
                        self._flush(Event("flush", path), begun)
                    # Names in directories that are gone are flushed as well.
                    self.pending = [
                        (done, op) for done, op in self.pending if done >= begun or self._lies(op.to or op.where)
                    ]
                case _:
                    self._do(number, event)

    def _file(self, event: Event) -> File:
        key = self._files.get(event.file) or self._current.get(event.where, ("", 0))[1]
        return self.files[key] if isinstance(key, int) and key else File()  # one that is gone counts for nothing

    def _lies(self, path: str) -> bool:
        return bool(self._liar) and path.startswith(self._liar)

    def _flush(self, event: Event, begun: int) -> None:
        if self._lies(event.where):
            return
        kind, _ = self._current.get(event.where, ("dir" if event.where == str(self._root) else "", 0))
        if kind != "dir":
            if kind == "file":
                self._file(event).flush(begun, event.data)
            return
        keep = []
        for number, op in self.pending:
            if number < begun and os.path.dirname(op.to or op.where) == event.where:  # noqa: PTH120
                _apply(self.names, op)
            else:
                keep.append((number, op))
        self.pending = keep

    def _do(self, number: int, event: Event) -> None:
        source = self._current.get(event.where, ("", 0))
        # A name is bound to its inode now, so that it can be told later without its history.
        bound = Event(event.what, event.where, event.to, source[1] if source[0] == "file" else event.file)  # type: ignore[arg-type]
        _apply(self._current, bound)
        self.pending.append((number, bound))

    def after_cut(self, rng: random.Random, style: str) -> dict[str, tuple[str, bytes]]:
        """Return a disk that a cut now could leave: kind and content of each path."""
        names = dict(self.names)
        pending = [op for _, op in self.pending]
        kept = {"drop": [], "names": pending, "prefix": pending[: rng.randrange(len(pending) + 1)]}
        for op in kept.get(style, [op for op in pending if rng.random() < 0.5]):
            _apply(names, op)
        contents = {number: file.after(rng, style) for number, file in self.files.items()}
        found: dict[str, tuple[str, bytes]] = {}
        for name in sorted(names):
            kind, value = names[name]
            above = os.path.dirname(name)  # noqa: PTH120
            if above != str(self._root) and found.get(above, ("",))[0] != "dir":
                continue  # its directory was lost
            content = contents[value] if kind == "file" and isinstance(value, int) else str(value).encode()
            found[name] = (kind, content)
        return found


def _apply(names: dict[str, tuple[str, int | str]], op: Event) -> None:
    match op.what:
        case "create":
            names[op.where] = ("file", op.file)
        case "mkdir":
            names.setdefault(op.where, ("dir", 0))
        case "rmdir" | "unlink":
            names.pop(op.where, None)
        case "symlink":
            names[op.to] = ("link", op.where)
        case "link" | "rename":
            if op.what == "rename":
                moved = names.pop(op.where, None)
                if moved is not None and moved[0] != "file":
                    names[op.to] = moved
                    return
            if op.file:
                names[op.to] = ("file", op.file)
