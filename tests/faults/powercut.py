"""Power cuts: what was not flushed is dropped, reordered or torn, names that were not flushed are lost.

    python -m tests.faults.powercut [COMMAND...] [--cuts K] [--liar] [--again]

A command runs behind a journal of its writes and is cut off at some call, or right after it said that it is done. From
the journal several disks are made that the cut could have left: content of files since their last flush dropped or
torn at 512 bytes or 4 KiB, names given or taken since the last flush of their directory kept, dropped or reordered.
What another thread writes while a flush is under way is not flushed by it. SQLite's commit counts as one atomic step
with `synchronous=FULL`.

After a cut in the middle everything is sound and the same command leads to the state of the undisturbed run; after an
acknowledged command everything it did is there, with no command run again (fault matrix, rows 2, 5 and 6; APP-13).
With `--liar` the stick never flushes anything: the vaults stay sound, and the next visits repair the stick.
With `--again` the command is killed at the call, run again to its end, and cut off then: what the killed run wrote and
did not flush is flushed by the one that says that it is done.
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import stat
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.faults.disk import Disk, Event
from tests.faults.iolayer import Call, Layer
from tests.faults.moments import COMMANDS
from tests.faults.scenes import Scene
from tests.faults.sweep import Swept, calls_of, compare, disturbed, in_child, parser_of

__all__ = ["Disk", "main", "powercut"]

_CUT = 75  # exit code of a child whose power was cut
_DONE_BEFORE = 3  # exit code of a child
_STYLES = ("drop", "names", "random", "random", "prefix")
_real_write, _real_open = os.write, os.open


def _path(value: Any, dir_fd: int | None) -> str:
    text = os.fsdecode(value)
    if dir_fd is not None and not text.startswith("/"):
        text = f"{os.readlink(f'/proc/self/fd/{dir_fd}')}/{text}"  # noqa: PTH115
    return os.path.normpath(text)


def _held(fd: int, status: os.stat_result) -> bytes:
    """Return all that an open file holds; a descriptor that only writes is read by another one."""
    reading = _real_open(f"/proc/self/fd/{fd}", os.O_RDONLY)
    try:
        return os.pread(reading, status.st_size, 0)
    finally:
        os.close(reading)


def _event(name: str, args: tuple[Any, ...], named: dict[str, Any], begun: int) -> Event | None:
    """Say what a call is about to do, after `begun` others."""
    fd = named.get("dir_fd")
    if name in {"write", "ftruncate", "fsync"}:
        status = os.fstat(args[0])
        where = os.readlink(f"/proc/self/fd/{args[0]}")  # noqa: PTH115
        if name == "write":
            offset = os.lseek(args[0], 0, os.SEEK_CUR)
            return Event("write", where, file=status.st_ino, offset=offset, data=bytes(args[1]))
        if name == "ftruncate":
            return Event("truncate", where, file=status.st_ino, offset=args[1])
        held = _held(args[0], status) if stat.S_ISREG(status.st_mode) else b""
        return Event("flush", where, file=status.st_ino, data=held, begun=begun)
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
    return Event("syncfs", begun=begun) if name == "syncfs" else None


def _journal(number: int, target: Path, events: list[Event]) -> Layer:
    """Return a layer that writes down everything and cuts the power at a call."""

    def step(count: int, name: str, args: tuple[Any, ...], named: dict[str, Any], call: Call) -> Any:
        if count == number:
            _leave(target, events)
            os._exit(_CUT)
        event = _event(name, args, named, len(events))
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


def powercut(
    scene: Scene,
    cuts: Iterable[int],
    styles: Iterable[str] = _STYLES,
    *,
    liar: bool = False,
    again: bool = False,
) -> Swept:
    """Cut one command off at the calls given, and once right after it is done (call 0), and try several disks each.

    Args:
        scene: the moment before it.
        cuts: the calls.
        styles: what becomes of what was not flushed, one disk each.
        liar: whether the stick never flushes anything.
        again: whether the command is killed at the calls, and cut off when it was run again to its end.
    """
    name, root, now = scene.command.name, scene.stage.root, scene.stage.now
    journal = root / "journal"
    faults: list[tuple[int, str]] = []
    count = 0
    for number in cuts if again else (*cuts, 0):
        scene.stage.back()
        journal.unlink(missing_ok=True)
        if not _run_cut(scene, number, journal):
            continue
        try:
            is_done = _run_again(scene, journal) if again else not number
        except AssertionError as error:
            faults.append((number, str(error)))
            continue
        events: list[Event] = pickle.loads(journal.read_bytes())
        shutil.rmtree(root / "cut", ignore_errors=True)
        shutil.copytree(now, root / "cut", symlinks=True)
        disk = Disk(now, str(scene.stage.stick) if liar else "")
        disk.load(root / "ready")
        disk.play(events)
        tried: list[dict[str, tuple[str, bytes]]] = []
        for seed, style in enumerate(styles):
            left = disk.after_cut(random.Random(f"{name} {number} {seed}"), style)
            if left in tried:  # little is not flushed at most calls, so that the styles leave one and the same
                continue
            tried.append(left)
            count += 1
            write_disk(scene, left, root / "cut")
            try:
                scene.sound(medium=not liar)
                if liar or not is_done:  # else it said that it was done, and nothing is run again
                    scene.rerun()
                scene.visit()
                if scene.state() != scene.goal:
                    scene.visit()  # what the stick lost comes back by who has it
                scene.sound(done=True)
                compare(scene.state(), scene.goal)
            except Exception:
                faults.append((number, f"{style}: {traceback.format_exc(limit=-3)}"))
    return Swept(name, count, 0.0, tuple(faults))


def _run_cut(scene: Scene, number: int, journal: Path) -> bool:
    """Run a command up to a call, or to its end; return False where it ended before, since threads make calls too."""
    events: list[Event] = []
    layer = _journal(number, journal, events)
    if number:
        code = in_child(scene, layer)
        assert code in {0, _CUT}, f"exit code {code} before call {number}"
        return code == _CUT
    child = os.fork()
    if child == 0:
        try:
            layer.install()
            scene.run()
            _leave(journal, events)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return True


def _run_again(scene: Scene, journal: Path) -> bool:
    """Run a command that was killed to its end, and return whether it said that it is done; the journal goes on."""
    events: list[Event] = pickle.loads(journal.read_bytes())
    child = os.fork()
    if child == 0:
        try:
            _journal(0, journal, events).install()
            is_done = scene.rerun()
            _leave(journal, events)
            os._exit(0 if is_done else _DONE_BEFORE)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in {0, _DONE_BEFORE}, "the command run again ended badly"
    return ended == 0


def main(words: list[str]) -> int:
    """Cut the commands named, or all."""
    parser = parser_of("powercut", __doc__)
    parser.add_argument("--cuts", type=int, default=0, help="cut at so many calls only")
    parser.add_argument("--liar", action="store_true", help="the stick lies about flushing")
    parser.add_argument("--again", action="store_true", help="kill it there, and cut after it was run again")
    args = parser.parse_args(words)

    def cut(scene: Scene, calls: Iterable[int]) -> Swept:
        every = list(calls) or range(1, calls_of(scene) + 1)
        return powercut(scene, every, liar=args.liar, again=args.again)

    mine = [name for name, command in COMMANDS.items() if command.place != "road"]  # what git writes, no journal sees
    return disturbed(args.commands or mine, args.cuts, cut, "states")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
