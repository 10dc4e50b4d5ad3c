"""Power cuts: what was not flushed is dropped, reordered or torn, names that were not flushed are lost.

    python -m tests.faults.powercut [COMMAND...] [--cuts K] [--liar]

A command runs behind a journal of its writes and is cut off at some call, or right after it said that it is done. From
the journal several disks are made that the cut could have left: content of files since their last flush dropped or
torn at 512 bytes or 4 KiB, names given or taken since the last flush of their directory kept, dropped or reordered.
SQLite's commit counts as one atomic step with `synchronous=FULL`.

After a cut in the middle everything is sound and the same command leads to the state of the undisturbed run; after an
acknowledged command everything it did is there, with no command run again (fault matrix, rows 2, 5 and 6; APP-13).
With `--liar` the stick never flushes anything: the vaults stay sound, and the next visits repair the stick.
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.iolayer import Call, Layer
from tests.faults.scenes import Scene
from tests.faults.sweep import Swept, calls_of, compare, disturbed, in_child, parser_of

__all__ = ["Disk", "main", "powercut"]

_STYLES = ("drop", "names", "random", "random", "prefix")
_real_write, _real_open = os.write, os.open


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to the disk; `where` is a path, `file` an inode."""

    what: str
    where: str = ""
    to: str = ""
    file: int = 0
    offset: int = 0
    data: bytes = b""


def _path(value: Any, dir_fd: int | None) -> str:
    text = os.fsdecode(value)
    if dir_fd is not None and not text.startswith("/"):
        text = f"{os.readlink(f'/proc/self/fd/{dir_fd}')}/{text}"  # noqa: PTH115
    return os.path.normpath(text)


def _event(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Event | None:
    """Say what a call is about to do."""
    fd = named.get("dir_fd")
    if name in {"write", "ftruncate", "fsync"}:
        status = os.fstat(args[0])
        where = os.readlink(f"/proc/self/fd/{args[0]}")  # noqa: PTH115
        if name == "write":
            offset = os.lseek(args[0], 0, os.SEEK_CUR)
            return Event("write", where, file=status.st_ino, offset=offset, data=bytes(args[1]))
        if name == "ftruncate":
            return Event("truncate", where, file=status.st_ino, offset=args[1])
        return Event("flush", where, file=status.st_ino)
    if name in {"replace", "rename", "link"}:
        return Event(
            "link" if name == "link" else "rename",
            _path(args[0], named.get("src_dir_fd")),
            _path(args[1], named.get("dst_dir_fd")),
        )
    if name == "symlink":
        return Event("symlink", os.fsdecode(args[0]), _path(args[1], fd))
    if name in {"unlink", "mkdir", "rmdir"}:
        return Event(name, _path(args[0], fd))
    return Event("syncfs") if name == "syncfs" else None


def _journal(number: int, target: Path, events: list[Event]) -> Layer:
    """Return a layer that writes down everything and cuts the power at a call."""

    def step(count: int, name: str, args: tuple[Any, ...], named: dict[str, Any], call: Call) -> Any:
        if count == number:
            _leave(target, events)
            os._exit(75)
        event = _event(name, args, named)
        done = call()
        if name == "create":
            where = _path(args[0], named.get("dir_fd"))
            event = Event("create", where, file=os.fstat(done).st_ino)
        if event is not None:
            events.append(event)
        return done

    return Layer(step)


def _leave(target: Path, events: list[Event]) -> None:
    fd = _real_open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    rest = memoryview(pickle.dumps(events))
    while rest:
        rest = rest[_real_write(fd, rest) :]
    os.close(fd)


@dataclass
class File:
    """An inode: what is flushed for certain, and the writes since."""

    flushed: bytes = b""
    pending: list[Event] = field(default_factory=list)

    def after(self, rng: random.Random, style: str) -> bytes:
        """Return what a cut could leave of it."""
        found = bytearray(self.flushed)
        if style in {"drop", "names"}:
            return bytes(found)
        kept = self.pending[: rng.randrange(len(self.pending) + 1)] if style == "prefix" else self.pending
        for event in kept:
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

    def flush(self) -> None:
        """Make what is pending certain."""
        found = bytearray(self.flushed)
        for event in self.pending:
            if event.what == "truncate":
                del found[event.offset :]
            else:
                found.extend(bytes(max(0, event.offset - len(found))))
                found[event.offset : event.offset + len(event.data)] = event.data
        self.flushed, self.pending = bytes(found), []


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
        self.pending: list[Event] = []
        self._current: dict[str, tuple[str, int | str]] = {}

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
        inodes: dict[int, int] = {}
        for event in events:
            file = inodes.setdefault(event.file, event.file) if event.file else 0
            match event.what:
                case "create":
                    self.files[file] = File()
                    self._do(event)
                case "write" | "truncate":
                    self._file(event).pending.append(event)
                case "flush":
                    self._flush(event)
                case "syncfs":
                    for path in (str(self._root), *self._current):
                        self._flush(Event("flush", path))
                    self.pending = [event for event in self.pending if self._lies(event.to or event.where)]
                case _:
                    self._do(event)

    def _file(self, event: Event) -> File:
        kind, number = self._current.get(event.where, ("", 0))
        key = number if kind == "file" and isinstance(number, int) else event.file
        return self.files.setdefault(key, File())

    def _lies(self, path: str) -> bool:
        return bool(self._liar) and path.startswith(self._liar)

    def _flush(self, event: Event) -> None:
        if self._lies(event.where):
            return
        kind, _ = self._current.get(event.where, ("dir" if event.where == str(self._root) else "", 0))
        if kind != "dir":
            if kind == "file":
                self._file(event).flush()
            return
        keep = []
        for op in self.pending:
            if os.path.dirname(op.to or op.where) == event.where:  # noqa: PTH120
                _apply(self.names, op)
            else:
                keep.append(op)
        self.pending = keep

    def _do(self, event: Event) -> None:
        source = self._current.get(event.where, ("", 0))
        # A name is bound to its inode now, so that it can be told later without its history.
        bound = Event(event.what, event.where, event.to, source[1] if source[0] == "file" else event.file)  # type: ignore[arg-type]
        _apply(self._current, bound)
        self.pending.append(bound)

    def after_cut(self, rng: random.Random, style: str) -> dict[str, tuple[str, bytes]]:
        """Return a disk that a cut now could leave: kind and content of each path."""
        names = dict(self.names)
        kept = {"drop": [], "names": self.pending, "prefix": self.pending[: rng.randrange(len(self.pending) + 1)]}
        for op in kept.get(style, [op for op in self.pending if rng.random() < 0.5]):
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


def _is_sqlite(name: str) -> bool:
    return "store.db" in os.path.basename(name)  # noqa: PTH119


def write_disk(scene: Scene, found: dict[str, tuple[str, bytes]], sqlite: Path) -> None:
    """Make the stage what the disk holds; SQLite's files are those of the cut, where their directory is left."""
    now = scene.stage.now
    shutil.rmtree(now)
    now.mkdir()
    for name, (kind, content) in found.items():
        path = Path(name)
        if kind == "dir":
            path.mkdir(mode=0o700)
        elif kind == "link":
            path.symlink_to(os.fsdecode(content))
        elif not _is_sqlite(name):
            path.write_bytes(content)
            if path.suffix in {".key", ".mark"} or path.name == "machine-id":
                path.chmod(0o600)
    for path in sqlite.rglob("store.db*"):
        target = now / path.relative_to(sqlite)
        if target.parent.is_dir():
            shutil.copy(path, target)


def powercut(scene: Scene, cuts: Iterable[int], styles: Iterable[str] = _STYLES, *, liar: bool = False) -> Swept:
    """Cut one command off at the calls given, and once right after it is done (call 0), and try several disks each."""
    name, root, now = scene.command.name, scene.stage.root, scene.stage.now
    journal = root / "journal"
    faults: list[tuple[int, str]] = []
    count = 0
    for number in (*cuts, 0):
        scene.stage.back()
        journal.unlink(missing_ok=True)
        _run_cut(scene, number, journal)
        events: list[Event] = pickle.loads(journal.read_bytes())
        shutil.rmtree(root / "cut", ignore_errors=True)
        shutil.copytree(now, root / "cut", symlinks=True)
        for seed, style in enumerate(styles):
            count += 1
            disk = Disk(now, str(scene.stage.stick) if liar else "")
            disk.load(root / "ready")
            disk.play(events)
            write_disk(scene, disk.after_cut(random.Random(f"{name} {number} {seed}"), style), root / "cut")
            try:
                scene.sound(medium=not liar)
                if number or liar:
                    scene.finish()
                    scene.visit()
                else:
                    scene.visit()  # it said that it was done: nothing is run again
                scene.sound(done=True)
                compare(scene.state(), scene.goal)
            except Exception:
                faults.append((number, f"{style}: {traceback.format_exc(limit=-3)}"))
    return Swept(name, count, 0.0, tuple(faults))


def _run_cut(scene: Scene, number: int, journal: Path) -> None:
    events: list[Event] = []
    layer = _journal(number, journal, events)
    if number:
        in_child(scene, layer)
        return
    child = os.fork()
    if child == 0:
        try:
            layer.install()
            scene.run()
            _leave(journal, events)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def main(words: list[str]) -> int:
    """Cut the commands named, or all."""
    parser = parser_of("powercut", __doc__)
    parser.add_argument("--cuts", type=int, default=0, help="cut at so many calls only")
    parser.add_argument("--liar", action="store_true", help="the stick lies about flushing")
    args = parser.parse_args(words)

    def cut(scene: Scene, calls: Iterable[int]) -> Swept:
        every = list(calls) or range(1, calls_of(scene) + 1)
        return powercut(scene, every, liar=args.liar)

    return disturbed(args.commands, args.cuts, cut, "states")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
