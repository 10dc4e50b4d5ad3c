"""A layer between lace and the disk, for tests: it sees every call that changes a file, and may stop the world there.

Installed in a child process only. SQLite's commit counts as one step: what SQLite does below it, with
`synchronous=FULL`, is SQLite's own well-tested business.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Call", "Layer", "can_fail", "die", "fail_from", "kill_at"]

_PLAIN = ("fsync", "replace", "rename", "link", "symlink", "unlink", "mkdir", "rmdir", "ftruncate", "write")
Call = Callable[[], Any]


class Layer:
    """Puts itself in front of the calls of `os` that change a disk, of SQLite's commits, and of git.

    Args:
        step: called instead of each of them with its number from 1 on, its name, its arguments, and the call itself.
    """

    def __init__(self, step: Callable[[int, str, tuple[Any, ...], dict[str, Any], Call], Any]) -> None:
        self.count = 0
        self.names: list[str] = []
        self._step = step

    def install(self) -> None:
        """Take the place of the calls, for the rest of this process."""
        for name in _PLAIN:
            setattr(os, name, self._wrapped(name, getattr(os, name)))
        os.remove = os.unlink
        os.open = self._opening(os.open)
        layer = self

        class Counted(sqlite3.Connection):
            def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                if sql == "COMMIT":
                    done: sqlite3.Cursor = layer.go(
                        "commit", (self,), {}, lambda: super(Counted, self).execute(sql, *rest)
                    )
                    return done
                return super().execute(sql, *rest)

        real = sqlite3.connect
        sqlite3.connect = lambda *args, **named: real(*args, **{"factory": Counted, **named})
        import transports.git.command
        import vault.desks.checkout
        import vault.desks.filling
        import vault.files
        import vault.store.database
        import vault.store.schema
        import vault.store.store

        # A new store is SQLite's commit too, without the word, and so is one that becomes the copy of another.
        lay_out = self._wrapped("commit", vault.store.schema.lay_out)
        vault.store.database.lay_out = lay_out  # type: ignore[attr-defined]
        copy_whole = self._wrapped("commit", vault.store.schema.copy_whole)
        vault.store.store.copy_whole = copy_whole  # type: ignore[attr-defined]
        git = transports.git.command.GitRunner
        git._begin = self._wrapped("git", git._begin)  # type: ignore[method-assign]
        flush = self._wrapped("syncfs", vault.files.flush_everything)
        for module in (vault.files, vault.desks.checkout, vault.desks.filling):
            module.flush_everything = flush  # type: ignore[attr-defined]

    def go(self, name: str, args: tuple[Any, ...], named: dict[str, Any], call: Call) -> Any:
        """Count one call and let the step decide."""
        self.count += 1
        self.names.append(name)
        return self._step(self.count, name, args, named, call)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **named: Any) -> Any:
            if name in {"write", "fsync", "ftruncate"} and not _on_disk(args[0]):
                return real(*args, **named)
            return self.go(name, args, named, lambda: real(*args, **named))

        return wrapped

    def _opening(self, real: Callable[..., int]) -> Callable[..., int]:
        def wrapped(path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
            if not flags & os.O_CREAT or _is_there(path, named.get("dir_fd")):
                return real(path, flags, mode, **named)
            done: int = self.go("create", (path, flags, mode), named, lambda: real(path, flags, mode, **named))
            return done

        return wrapped


def _on_disk(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _is_there(path: Any, dir_fd: int | None) -> bool:
    try:
        os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


def die() -> None:
    """End this process as a crash does."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(number: int) -> Layer:
    """Return a layer that lets `number` - 1 calls through and ends the process in the next; half of a write is done."""

    def step(count: int, name: str, args: tuple[Any, ...], _named: dict[str, Any], call: Call) -> Any:
        if count == number:
            if name == "write" and len(args[1]) > 1:
                _write(args[0], bytes(args[1])[: len(args[1]) // 2])
            die()
        return call()

    return Layer(step)


_write = os.write


def can_fail(name: str, code: int) -> bool:
    """Tell whether a call can fail so: taking away goes on working on a full disk, and closing always does."""
    if name == "git":
        return False  # how git fails is its own business, and `tests.transports.test_git_faults` has it fail
    if code == errno.EMFILE:
        return name == "create"
    return code not in {errno.ENOSPC, errno.EDQUOT} or name not in {"unlink", "rmdir", "ftruncate"}


def fail_from(number: int, code: int, *, for_ever: bool) -> Layer:
    """Return a layer in which call `number`, or every call from it on, fails as a broken or full disk does."""

    def step(count: int, name: str, args: tuple[Any, ...], _named: dict[str, Any], call: Call) -> Any:
        hit = count >= number if for_ever else count == number
        if not hit or not can_fail(name, code):
            return call()
        if name == "commit":
            is_full = code == errno.ENOSPC
            fault = sqlite3.OperationalError("database or disk is full" if is_full else "disk I/O error")
            fault.sqlite_errorcode = sqlite3.SQLITE_FULL if is_full else sqlite3.SQLITE_IOERR
            raise fault
        raise OSError(code, os.strerror(code), str(Path(os.fspath(args[0]))) if isinstance(args[0], str) else None)

    return Layer(step)
