"""What this machine's kernel says of a line: how little of what is sent may lie there, and whether it has ended."""

from __future__ import annotations

import socket
import struct
import sys
from contextlib import suppress
from typing import Final

__all__ = ["STEP_BYTES", "UNSENT_BYTES", "has_ended", "keep_little_unsent", "unconfirmed"]

STEP_BYTES: Final = 64 * 1024
"""What one silence is measured by, whatever is sent at once."""
UNSENT_BYTES: Final = 128 * 1024
"""What the kernel is asked to take at most before it has gone."""
_ESTABLISHED = 1  # what TCP_INFO begins with where neither side has ended a connection
_OPTION: Final[int | None] = getattr(socket, "TCP_NOTSENT_LOWAT", 25 if sys.platform == "linux" else None)


def keep_little_unsent(wire: socket.socket) -> None:
    """Let the kernel take more as soon as little is left.

    Of several MiB that it takes at first it says nothing before a third is gone, and over a thin line that is a minute
    in which nothing seems to move. Where it knows no such wish all is as before.
    """
    if _OPTION is not None:
        with suppress(OSError):
            wire.setsockopt(socket.IPPROTO_TCP, _OPTION, UNSENT_BYTES)


def unconfirmed(wire: socket.socket) -> int | None:
    """Return how many bytes the kernel keeps until the other side confirms them; None where it does not say."""
    if sys.platform != "linux":
        return None
    import fcntl  # there is none on Windows
    import termios  # as above

    try:
        said = fcntl.ioctl(wire.fileno(), termios.TIOCOUTQ, bytes(4))  # SIOCOUTQ has the same number
    except (OSError, ValueError):
        return None  # it is closed
    return int(struct.unpack("i", said)[0])


def has_ended(wire: socket.socket) -> bool:
    """Tell whether the other side ended, though what it sent before may lie here unread; False where nobody says so."""
    if sys.platform != "linux":
        return False
    try:
        return wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED
    except OSError:
        return True  # this side closed it
