"""The command `lace`."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence

from lace_tui.cli.context import World
from lace_tui.cli.frame import run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None, world: World | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: words after "lace"; the process's own when None.
        world: streams, environment, clock and so on; the process's own when None.
    """
    if world is None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A name the terminal's encoding lacks is shown as an escape; it is no reason to fail.
                with contextlib.suppress(OSError, ValueError):
                    stream.reconfigure(errors="backslashreplace")
        world = World()
    return run(sys.argv[1:] if argv is None else argv, world)


if __name__ == "__main__":
    sys.exit(main())
