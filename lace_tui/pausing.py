"""Ctrl-Z in the app, which takes every key itself: the terminal goes back to the shell until `fg` (APP-3)."""

from __future__ import annotations

import os
import signal

__all__ = ["pause"]


def pause() -> None:
    """Stand still, with all that was started here, until the shell wakes it; at once over where no shell could.

    Call it while the terminal is as the shell had it, and in the main thread.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)  # SIGSTOP would stop it where nobody can wake it, too
    try:
        os.kill(0, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)
