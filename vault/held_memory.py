"""Memory that a process holds for what it takes next, so that the kernel need not give it anew each time."""

from __future__ import annotations

__all__ = ["hold_freed"]

_HELD_BYTES = 8 << 20


def hold_freed() -> None:
    """Have memory that is freed held for what comes next: large content is read and joined in blocks of up to 1 MiB.

    glibc learns from the largest block that was freed how much it holds (mallopt(3), dynamic threshold); else each of
    them goes back to the kernel, and the next one comes as fresh pages, which cost more than a digest of what they
    take. Where memory is held otherwise this is a block taken and freed.
    """
    bytes(_HELD_BYTES)
