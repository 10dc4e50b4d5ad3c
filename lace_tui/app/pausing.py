"""When the app and its terminal part: at Ctrl-Z until `fg`, and for good where the terminal goes away (APP-3)."""

from __future__ import annotations

import os
import select
import signal

__all__ = ["has_hung_up", "pause"]


def pause() -> None:
    """Stand still, with all that was started here, until the shell wakes it; at once over where no shell could.

    Call it while the terminal is as the shell had it, and in the main thread.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)  # SIGSTOP would stop it where nobody can wake it, too
    try:
        os.kill(0, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)


def has_hung_up(descriptor: int) -> bool:
    """Tell whether the terminal behind a descriptor is gone; where SIGHUP is ignored nothing else says so."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(found & select.POLLHUP for _, found in poll.poll(0))
