"""What a file has on its medium, and not in the system's cache, where the two can be told apart (faults.md row 6).

The cache is asked to let the file go, and may keep what it likes. So where the system takes reads past its cache, a
large file is read in that way, some pieces at once: with one alone the medium stands idle until the next is asked for.
That fills no pages anew either, which can cost more than the reading. Some file systems take such reads and serve them
from the cache all the same, hence both.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import closing, suppress
from io import FileIO
from typing import TYPE_CHECKING, Final

from blake3 import blake3

from transports.mailbox import ByteCount
from vault.write_behind import WriteBehind

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Future
    from mmap import mmap

__all__ = ["digest_past_cache"]

_LARGE: Final = 16 << 20  # bytes; what is less is read before threads have begun
_PIECE: Final = 1 << 20  # bytes of one read; a multiple of what any medium has for a block
_AT_ONCE: Final = 4


def digest_past_cache(descriptor: int, count: ByteCount) -> bytes:
    """Return the BLAKE3 of a file, read from its medium and not from the system's cache where it can be told to.

    Args:
        descriptor: of the file; it is closed.
        count: gets the bytes that were read.

    Raises:
        OSError: it cannot be read.
    """
    with FileIO(descriptor) as file:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        size = os.fstat(descriptor).st_size
        if size >= _LARGE and _read_directly(descriptor):
            digest = _directly(descriptor, size, count)
            if digest is not None:
                return digest
            _read_directly(descriptor, is_wanted=False)
        hasher = blake3()
        with WriteBehind() as behind:
            while done := file.readinto(behind.room):
                behind.hand(hasher.update, done)
                count.read += done
        return hasher.digest()


def _read_directly(descriptor: int, *, is_wanted: bool = True) -> bool:
    """Have a file read past the cache, or not; return whether its system knows of that."""
    if not hasattr(os, "O_DIRECT") or not hasattr(os, "preadv"):
        return False
    from fcntl import F_GETFL, F_SETFL, fcntl  # not on Windows

    flags = fcntl(descriptor, F_GETFL)
    try:
        fcntl(descriptor, F_SETFL, flags | os.O_DIRECT if is_wanted else flags & ~os.O_DIRECT)
    except OSError:
        return False
    return True


def _directly(descriptor: int, size: int, count: ByteCount) -> bytes | None:
    """Return the digest of a file that is read past the cache, or None: what was a fault of the medium comes again."""
    hasher = blake3()
    done = 0
    # Not in such pieces, not of such a file, or no threads; an OSError that is not of the way is met once more.
    with suppress(OSError, RuntimeError), closing(_pieces(descriptor, size)) as pieces:
        for piece in pieces:
            hasher.update(piece)
            count.read += len(piece)
            done += len(piece)
    return hasher.digest() if done == size else None


def _pieces(descriptor: int, size: int) -> Generator[memoryview]:
    """Yield a file piece by piece, each until the next is taken; it ends where one is shorter than it must be."""
    from concurrent.futures import ThreadPoolExecutor  # only a large file needs them
    from mmap import mmap

    asked: deque[tuple[Future[int], mmap]] = deque()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="lace-reread") as pool:
        for start in range(0, size, _PIECE):
            if len(asked) < _AT_ONCE:
                room = mmap(-1, _PIECE)  # it begins where a page does, as such reads must
            else:
                reading, room = asked.popleft()
                size_read = reading.result()
                yield memoryview(room)[:size_read]
                if size_read < _PIECE:
                    return
            asked.append((pool.submit(os.preadv, descriptor, [room], start), room))
        for reading, room in asked:
            yield memoryview(room)[: reading.result()]
