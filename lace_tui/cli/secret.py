"""A passphrase asked for at the terminal, which never shows it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import TextIO

from lace_tui.acts.stopping import stopped_at_once

__all__ = ["ask_secret"]

_TERMINAL = "/dev/tty"


def ask_secret(prompt: str, stream: TextIO) -> str:
    """Ask a person for what nobody is to read over their shoulder.

    Args:
        prompt: the question, with the space behind it.
        stream: where it is asked.

    Raises:
        EOFError: Ctrl-D was pressed.
        KeyboardInterrupt: Ctrl-C was pressed; nothing is under way that it could cut off.
    """
    import getpass  # hardly any command asks

    try:
        with stopped_at_once(), ExitStack() as stack:
            with suppress(ImportError, OSError, ValueError):  # no such terminal, or not the thread that may listen
                stack.enter_context(_shown_while_paused(prompt))
            return getpass.getpass(prompt, stream=stream)
    except (EOFError, KeyboardInterrupt):  # they leave the cursor behind the question
        stream.write("\n")
        raise


@contextmanager
def _shown_while_paused(prompt: str) -> Iterator[None]:
    """Let the terminal show what is typed while Ctrl-Z gives it to the shell, and hide it again behind that.

    A shell that wakes a program leaves the terminal as it had it itself, so that it would show the passphrase.

    Raises:
        ImportError, OSError: there is no terminal that can be told so.
        ValueError: this is not the main thread, which alone may listen.
    """
    import termios  # Windows has none

    def pause(_number: int, _frame: FrameType | None) -> None:
        hidden = termios.tcgetattr(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, shown)
        signal.signal(signal.SIGTSTP, before)
        signal.raise_signal(signal.SIGTSTP)  # stops here until the shell wakes it, or not at all where no shell could
        signal.signal(signal.SIGTSTP, pause)
        termios.tcsetattr(terminal, termios.TCSAFLUSH, hidden)
        os.write(terminal, prompt.encode())  # and not into the stream, which may be in the middle of asking

    terminal = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY)
    try:
        shown = termios.tcgetattr(terminal)
        before = signal.getsignal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, pause)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, before)
    finally:
        os.close(terminal)
