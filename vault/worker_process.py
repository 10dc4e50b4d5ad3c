"""A worker process, for what can be worked out beside this one: Python runs one thread at a time.

It is started anew, never forked, runs one function of lace, and is spoken to by two pipes without ever waiting for it
longer than it is told. It holds nothing: whoever asked it can always do the work itself.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from io import RawIOBase

__all__ = ["WorkerProcess", "is_ready"]

_SECONDS = 5.0  # after it was killed; who waits for a broken disk ends when that answers
_CODE = (
    "import sys; sys.path[:] = {path!r}; from vault.held_memory import hold_freed; hold_freed(); "
    "from {module} import {name}; {name}{arguments!r}"
)


class WorkerProcess:
    """One such process. It ends when this is closed, or forgotten, or when this process ends.

    Args:
        module: where the function stands.
        name: the function; it reads standard input until that ends, and answers by standard output.
        arguments: what it is called with.
    """

    def __init__(self, module: str, name: str, *arguments: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if not hasattr(select, "poll"):  # as on Windows: nothing could be asked without waiting
            return
        code = _CODE.format(path=sys.path, module=module, name=name, arguments=arguments)
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and no word from outside
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # a key pressed to stop lace is for lace
            )
            if self._process.stdin is not None:
                os.set_blocking(self._process.stdin.fileno(), False)

    def __del__(self) -> None:
        self.close()

    @property
    def number(self) -> int | None:
        """Its process number; None where it never started, or was closed."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Let the process end at once."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.kill()  # it holds nothing
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS)

    def write(self, data: bytes | bytearray | memoryview, seconds: float = 0) -> int:
        """Hand over what the pipe takes, and return how many bytes that was: 0 where it takes none for that long.

        Raises:
            OSError: the process ended.
        """
        pipe = cast("RawIOBase", self._pipes().stdin)
        written = pipe.write(data)
        if written is None and seconds and is_ready(pipe.fileno(), select.POLLOUT, seconds):
            written = pipe.write(data)
        return written or 0

    def end_input(self) -> None:
        """Say that nothing more comes."""
        pipe = self._pipes().stdin
        if pipe is not None:
            with suppress(OSError):
                pipe.close()

    def wait(self, seconds: float) -> bool:
        """Tell whether an answer, or the end of them, comes within that time."""
        process = self._process
        pipe = process.stdout if process is not None else None
        return pipe is not None and is_ready(pipe.fileno(), select.POLLIN, seconds)

    def read(self, size: int) -> bytes:
        """Return some of what it answered, waiting for it; nothing where it ended."""
        process = self._process
        if process is None or process.stdout is None:
            return b""
        try:
            return process.stdout.read(size) or b""
        except OSError:
            return b""

    def _pipes(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise BrokenPipeError("It ended.")
        return self._process


def is_ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait for a pipe, or for its end; whatever its number is: `select` takes none above 1,023."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(1000 * seconds))
