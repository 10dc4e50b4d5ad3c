"""The objects of a private repository: read where they lie, and written some at a time (decision 7a).

To start git costs more than what it does for a head or a list. So what is plain is read from its files, a git that
answers questions of the rest stays for as long as the repository is used, and what is said of small objects is
remembered for that time. Small objects are gathered, named by what they are, and handed to one git as a pack. Large
ones are written where git keeps them, for they are most of what travels.
"""

from __future__ import annotations

import subprocess
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, NamedTuple, cast
from weakref import finalize

from transports.git.command import GitRunner, drain
from transports.git.complaints import damaged
from transports.git.object_files import Info, ObjectFiles, object_id
from transports.git.packs import packed
from vault.files import AtomicFile, refuse_write

__all__ = ["Objects", "Row", "rows_of", "tree_of"]

_GATHERED = 2 << 20  # bytes that wait here at most, before git writes them
_ALONE = 64 << 10  # bytes of an object that is written by itself
_ASKED = 100  # questions put at once: they and their answers fit into any pipe
_PATIENCE = 5.0  # seconds that a git whose input ended has to go
_REMEMBERED = 16_384  # small objects whose kind and size are remembered at once
_REMEMBERED_BYTES = 2 << 20  # of small objects whose contents are
_FEW = 32  # small objects that are written singly sooner than a git is started for them
_BOTH: Final = "--batch-command"  # one git for both kinds of questions; git knows it since 2.36
_SINGLE: Final = {"info": "--batch-check", "contents": "--batch"}
_MISUSED = 129  # what git ends with that does not know an option
_NAME_BYTES = 20
_TREE_MODE = b"40000"
_LINK_MODE = b"160000"  # a commit of another repository


class Row(NamedTuple):
    """One row of a tree: name, kind and id."""

    name: str
    kind: str
    oid: str


@dataclass(slots=True)
class _Stays:
    """A git that answers one question after the other."""

    process: subprocess.Popen[bytes]
    questions: IO[bytes]
    answers: BufferedReader


class Objects:
    """Objects of one private repository.

    Args:
        git: runs git there.
        fault: makes an error of the directory and of why git fails in it.
        pipes: returns what a git that stays reads, and what it says.
    """

    def __init__(
        self,
        git: GitRunner,
        fault: Callable[[Path, str], Exception] = damaged,
        pipes: Callable[[subprocess.Popen[bytes]], tuple[IO[bytes], BufferedReader]] | None = None,
    ) -> None:
        self._git = git
        self._fault = fault
        self._pipes = pipes or _pipes
        self._files = ObjectFiles(lambda: git.repository)
        self._running: dict[str, _Stays] = {}
        self._new: dict[str, tuple[str, bytes]] = {}
        self._size = 0
        self._knows_both = True
        self._known: dict[str, Info] = {}
        self._contents: dict[str, bytes] = {}
        self._contents_size = 0
        self._end = finalize(self, _end_all, self._running)

    def add(self, kind: str, data: bytes) -> str:
        """Take an object and return its id; `flush` writes it where other gits find it.

        Raises:
            PlaceNotWritable, DiskFull, NotWritable: it cannot be written.
        """
        name = object_id(kind, data)
        if len(data) >= _ALONE:
            self._write(name, kind, data)
        elif name not in self._new:
            self._new[name] = kind, data
            self._size += len(data)
            if self._size > _GATHERED:
                self.flush()
        return name

    def _write(self, name: str, kind: str, data: bytes) -> None:
        """Write an object where git looks for it, as git would, at a tenth of what git takes for it.

        It is written anew where it lies already: a power cut may have left nothing of it but its name.
        """
        directory = self._git.repository / "objects" / name[:2]
        deflate = zlib.compressobj(0)
        try:
            directory.mkdir(exist_ok=True)
            with AtomicFile(directory / name[2:], mode=0o444, durable=False) as file:
                for part in (b"%s %d\0" % (kind.encode(), len(data)), data):
                    file.write(deflate.compress(part))
                file.write(deflate.flush())
        except OSError as error:
            refuse_write(directory, error)

    def flush(self) -> None:
        """Write what was taken, or let git do it where it is much.

        Raises:
            PlaceNotWritable, DiskFull, NotWritable: it cannot be written.
        """
        if self._new:
            if len(self._new) <= _FEW:
                for name, (kind, data) in self._new.items():
                    self._write(name, kind, data)
            else:
                self._git.run("unpack-objects", "-q", stdin=b"".join(packed(len(self._new), self._new.values())))
            self._new.clear()
            self._size = 0

    def info(self, names: Sequence[str], *, anew: bool = False) -> list[Info | None]:
        """Return what objects are, in the order given; None for those that do not lie here.

        Args:
            names: their ids, or what git takes for one.
            anew: ask git though it said so before: another process may have taken one away.

        Raises:
            PlaceNotWritable: git fails.
        """
        found = {} if anew else {name: self._known[name] for name in names if name in self._known}
        asked = [name for name in names if name not in self._new and name not in found]
        told = self._files.info(asked)
        left = [name for name in asked if name not in told]
        for name, answer in zip(left, self._asked("info", left), strict=True):
            told[name] = _info(answer.decode("utf-8", "replace"))
        for name, known in told.items():
            if known is None:
                self._known.pop(name, None)  # it may come
                continue
            found[name] = known
            if known.size < _ALONE:  # a large piece goes once the far side holds it, by another process too
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[name] = known
        return [
            Info(name, self._new[name][0], len(self._new[name][1])) if name in self._new else found.get(name)
            for name in names
        ]

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Return the bytes of objects that `info` knows, in the order given.

        Raises:
            PlaceNotWritable: git fails, or one is gone.
        """
        found = {name: self._new[name][1] if name in self._new else self._contents.get(name) for name in names}
        asked = [name for name, data in found.items() if data is None]
        told = {name: data for name in asked if (data := self._files.read(name)) is not None}
        left = [name for name in asked if name not in told]
        told |= zip(left, self._asked("contents", left), strict=True)
        for name, answer in told.items():
            found[name] = answer
            self._remember(name, answer)
        return [data for name in names if (data := found[name]) is not None]

    def forget(self, names: Iterable[str]) -> None:
        """Remember no more of objects that were taken away."""
        for name in names:
            self._known.pop(name, None)
            self._contents_size -= len(self._contents.pop(name, b""))

    def close(self) -> None:
        """Let the gits that stay go, and what they said; what is asked next starts others."""
        _end_all(self._running)
        self._files.forget()
        self._known.clear()
        self._contents.clear()
        self._contents_size = 0

    def _remember(self, name: str, data: bytes) -> None:
        """Keep what a small object holds: heads, trees and short runs are read several times a visit."""
        if len(data) >= _ALONE:
            return
        if self._contents_size + len(data) > _REMEMBERED_BYTES:
            self._contents.clear()
            self._contents_size = 0
        self._contents[name] = data
        self._contents_size += len(data)

    def _asked(self, what: str, names: Sequence[str]) -> list[bytes]:
        """Return the answers to questions: a line each, or what the object holds."""
        found: list[bytes] = []
        while len(found) < len(names):
            part = names[len(found) : len(found) + _ASKED]
            how, word = (_BOTH, f"{what} ") if self._knows_both else (_SINGLE[what], "")
            there = self._running.get(how) or self._start(how)
            try:
                there.questions.write("".join(f"{word}{name}\n" for name in part).encode())
                there.questions.flush()
                found += [_answer(there.answers, name, is_whole=what == "contents") for name in part]
            except (OSError, EOFError, ValueError) as error:
                self.close()
                if how == _BOTH and there.process.returncode == _MISUSED:
                    self._knows_both = False  # an older git
                    continue
                raise self._fault(self._git.repository, str(error)) from error
            except BaseException:
                there.process.kill()  # it may hang; and answers that nobody took would be taken for the next ones
                self.close()
                raise
        return found

    def _start(self, how: str) -> _Stays:
        process = self._git.stay("cat-file", how)
        questions, answers = self._pipes(process)
        threading.Thread(target=drain, args=(process.stderr,), daemon=True).start()
        self._running[how] = stays = _Stays(process, questions, answers)
        return stays


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], BufferedReader]:
    return cast("IO[bytes]", process.stdin), cast("BufferedReader", process.stdout)


def _answer(answers: BufferedReader, name: str, *, is_whole: bool) -> bytes:
    line = answers.readline()
    if not line.endswith(b"\n"):
        raise EOFError(f"it went away when {name} was asked for")
    if not is_whole:
        return line[:-1]
    known = _info(line[:-1].decode("utf-8", "replace"))
    if known is None:
        raise EOFError(f"{name} is gone")
    data = answers.read(known.size + 1)
    if len(data) != known.size + 1:
        raise EOFError(f"it went away while {name} was read")
    return data[:-1]


def _info(line: str) -> Info | None:
    parts = line.split(" ")
    return Info(parts[0], parts[1], int(parts[2])) if len(parts) == 3 and parts[2].isdigit() else None


def _end_all(running: dict[str, _Stays]) -> None:
    while running:
        _, there = running.popitem()
        with suppress(OSError):
            there.questions.close()
        with suppress(subprocess.TimeoutExpired):
            there.process.wait(_PATIENCE)
        if there.process.poll() is None:
            there.process.kill()
            with suppress(subprocess.TimeoutExpired):  # a disk that hangs holds it
                there.process.wait(_PATIENCE)
        there.answers.close()


def tree_of(rows: Sequence[Row]) -> bytes:
    """Return the bytes of a tree; names are lace's own, in ASCII."""
    parts = []
    for row in sorted(rows, key=lambda row: row.name + "/" * (row.kind == "tree")):
        mode = "40000" if row.kind == "tree" else "100644"
        parts.append(f"{mode} {row.name}\0".encode() + bytes.fromhex(row.oid))
    return b"".join(parts)


def rows_of(tree: bytes, limit: int) -> list[Row] | None:
    """Return the rows of a tree; None when it is none, or has more than `limit`."""
    rows: list[Row] = []
    at = 0
    while at < len(tree):
        end = tree.find(b"\0", at)
        mode, space, name = tree[at:end].partition(b" ")
        oid = tree[end + 1 : end + 1 + _NAME_BYTES]
        if end < 0 or not space or len(oid) != _NAME_BYTES or len(rows) >= limit:
            return None
        kind = "tree" if mode == _TREE_MODE else "commit" if mode == _LINK_MODE else "blob"
        rows.append(Row(name.decode("utf-8", "replace"), kind, oid.hex()))
        at = end + 1 + _NAME_BYTES
    return rows
