"""The command `lace`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself takes longer to load than a kept answer to print
import atexit
import gc
import os
import sys

from lace_tui.cli.quick import kept_answer

TYPE_CHECKING = False  # `typing` takes longer to load than a kept answer takes to print
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lace_tui.cli.context import World

__all__ = ["GARBAGE", "main"]

# Objects between two looks for cycles, as `gc` counts them: a tenth of a short command went into looking, and of a
# first meeting, which makes a hundred thousand objects and no cycle, a thirtieth went into it at each 50,000.
GARBAGE = (200_000, 20, 20)
_ASKS_TO_END = [getattr(_signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(_signal, name)]


def main(argv: Sequence[str] | None = None, world: World | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: words after "lace"; the process's own when None.
        world: streams, environment, clock and so on; the process's own when None.
    """
    words = sys.argv[1:] if argv is None else argv
    if world is None:
        if argv is None:
            _end_when_asked()
            _read_names_as_utf8()
        gc.set_threshold(*GARBAGE)
        _open_what_was_closed()
        _show_any_name()
        if kept_answer(words, os.environ, sys.stdout):
            if argv is None:
                _leave(0)
            return 0
        from lace_tui.cli.loading import load_less  # a kept answer needs none of the program
        from vault.held_memory import hold_freed

        hold_freed()
        load_less()
    from lace_tui.cli.context import World  # a kept answer needs none of the program
    from lace_tui.cli.frame import run

    if world is not None:
        return run(words, world)
    code = _until_asked(lambda: run(words, World())) if argv is None else run(words, World())
    if argv is None:
        _leave(code)
    gc.freeze()  # the process ends: to look for cycles once more, as Python does then, took as long as a whole `status`
    return code


def _end_when_asked() -> None:
    """Let Ctrl-C end the process where it stands, without a word: nothing was begun yet, or all of it is done."""
    for number in _ASKS_TO_END:
        if _signal.getsignal(number) is _signal.default_int_handler:  # not where the caller lets it pass, as nohup does
            _signal.signal(number, _signal.SIG_DFL)


def _until_asked(run: Callable[[], int]) -> int:
    """Return the exit code of a command that Ctrl-C, a `kill` or the end of the terminal ends in words.

    They raise `KeyboardInterrupt`, so that git and whatever else was started is ended too.
    """
    from lace_tui.errors import EXIT_CANCELLED  # a kept answer needs none of the program

    for number in _ASKS_TO_END:
        if _signal.getsignal(number) is _signal.SIG_DFL:
            _signal.signal(number, _signal.default_int_handler)
    try:
        code = run()
        _end_when_asked()
    except KeyboardInterrupt:  # asked again, while the first time was told
        _end_when_asked()
        code = EXIT_CANCELLED
    return code


def _leave(code: int) -> None:
    """End the process at once where nothing is left to be done: to take each module apart takes longer than `status`.

    What Python would wait for or call at its end, a thread or what somebody registered, it still waits for and calls.
    """
    threads = sys.modules.get("threading")
    callbacks = getattr(atexit, "_ncallbacks", None)  # there is no other way to ask
    if callbacks is None or callbacks() or (threads is not None and threads.active_count() > 1):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


def _read_names_as_utf8() -> None:
    """Begin again with UTF-8 where the shell's language has another encoding: names would reach friends as other ones.

    Words and names are bytes to the system, and come back as the same ones.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - the same again


def _open_what_was_closed() -> None:
    """Give a standard stream that the caller closed its number back: else the first file opened would get it."""
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:  # not for writing: an answer that nobody gets is told as one that cannot be written
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _show_any_name() -> None:
    """Show a name that the terminal's encoding lacks as an escape; it is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        except (AttributeError, OSError, ValueError):
            continue


if __name__ == "__main__":
    sys.exit(main())
