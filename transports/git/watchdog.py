"""A watchdog over a talk of git's: it ends git, and what git started, where this process was killed meanwhile.

Git waits for as long as a host keeps the line open, and it is this process that ends a talk that hardly gets on. A
process of its own waits for the end of a pipe that only this one holds, so that nothing has to be asked in between.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from types import TracebackType
from typing import Self

__all__ = ["Watchdog"]

_SHELL = "/bin/sh"
# A second line says that the talk is over; none comes where whoever began it is no more.
_WATCHING = 'read -r group && { read -r over || { kill -s TERM -- "-$group"; sleep 5; kill -s KILL -- "-$group"; }; }'
_PATIENCE = 5.0  # seconds that it gets to end


class Watchdog:
    """Watches over one group of processes while it is entered; does nothing where the system has no shell."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if hasattr(os, "killpg"):
            with suppress(OSError):
                self._process = subprocess.Popen(  # noqa: S603 - fixed words
                    [_SHELL, "-c", _WATCHING],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    start_new_session=True,  # a key pressed to stop lace is for lace
                )
        return self

    def watch(self, group: int) -> None:
        """Say which group: the number of the process that leads it, as of one started in a session of its own."""
        self._say(str(group))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._say("over")
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.communicate(timeout=_PATIENCE)

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(f"{line}\n".encode())
