"""What no program can save when it carries large files by stick in these formats: bytes read, digested and written.

No record, no index, no transaction and no journal: three passes over the same bytes, with all that C does for a sync
and nothing that Python does, and on two processors as a sync has it: what is written is written by a thread while more
is read. Onto the stick: each chunk compared with its record, the bundle's digest, a flush, and all of it read back,
since a stick is read again before it is called safe. Off it: a chunk's three digests (its name, its Blob, its record),
the frames of the pack summed, written and flushed, and beside that in a thread the SHA-512 of the release, the
manifests' digests and the cuts. Into the folder: each byte compared once more and written.

`python -m tests.bench.floor SOURCE ROOT` does it once; `tests.bench.w2` times it beside lace and rsync, and what is
received in the same way from a bare TLS download beside the live road.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha512
from pathlib import Path

from blake3 import blake3
from pyfastcdc import FastCDC

from transports.mailbox import ByteCount
from transports.past_cache import digest_past_cache
from vault.desks.cutting import CHUNK_AVERAGE, CHUNK_MAX, CHUNK_MIN
from vault.held_memory import hold_freed
from vault.write_behind import BLOCK_BYTES, WriteBehind

_MIB = 1 << 20
_AHEAD = 16  # pieces that the thread may lag behind


def carry(source: Path, root: Path) -> None:
    """Carry every file of a folder onto a stick, off it, and into another folder."""
    files = sorted(path for path in source.iterdir() if path.is_file())
    stick, vault, folder = root / "stick", root / "vault", root / "folder"
    _write(stick, (piece for file in files for piece in _verified(file)))
    _read_back(stick)
    receive(_pieces(stick), vault)
    folder.mkdir()
    with vault.open("rb", buffering=0) as stored, WriteBehind() as behind:
        for file in files:
            whole, left = blake3(), file.stat().st_size
            with (folder / file.name).open("wb", buffering=0) as out:
                while left:
                    size = stored.readinto(behind.room[:left]) or 0
                    whole.update(behind.room[:size])
                    behind.hand(out.write, size)
                    left -= size
                behind.wait()
    os.sync()


def receive(pieces: Iterable[bytes], vault: Path) -> None:
    """Digest what comes as often as these formats ask for, and write it into one flushed file."""
    stored: queue.Queue[bytes | None] = queue.Queue(_AHEAD)

    def prove() -> None:
        total, content = sha512(), blake3()
        cutter = FastCDC(CHUNK_AVERAGE, min_size=CHUNK_MIN, max_size=CHUNK_MAX)
        while (piece := stored.get()) is not None:
            total.update(piece)
            content.update(piece)
            for _ in cutter.cut_buf(piece):
                pass

    def digested() -> Iterator[bytes]:
        for piece in pieces:
            _digested(piece, 3)
            stored.put(piece)
            yield piece

    thread = threading.Thread(target=prove)
    thread.start()
    try:
        _write(vault, digested())
    finally:
        stored.put(None)
        thread.join()


def copy(vault: Path, folder: Path, sizes: Mapping[str, int]) -> None:
    """Copy the files that lie one after the other into a folder, as the kernel does it."""
    folder.mkdir()
    with vault.open("rb", buffering=0) as stored:
        for name, size in sizes.items():
            left = size
            with (folder / name).open("wb", buffering=0) as out:
                while left:
                    left -= os.copy_file_range(stored.fileno(), out.fileno(), left)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_MIB):
            yield piece


def _digested(piece: bytes, times: int) -> None:
    view = memoryview(piece)
    for start in range(0, len(piece), CHUNK_AVERAGE):
        for _ in range(times):
            blake3(view[start : start + CHUNK_AVERAGE]).digest()


def _verified(path: Path) -> Iterator[bytes]:
    for piece in _pieces(path):
        _digested(piece, 1)
        yield piece


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    total = blake3()
    with path.open("wb", buffering=0) as file, WriteBehind() as behind:

        def store(block: memoryview) -> None:
            file.write(block)
            total.update(block)

        for piece in pieces:
            for start in range(0, len(piece), BLOCK_BYTES):
                block = piece[start : start + BLOCK_BYTES]
                behind.room[: len(block)] = block
                behind.hand(store, len(block))
        behind.wait()
        os.fsync(file.fileno())


def _read_back(path: Path) -> None:
    digest_past_cache(os.open(path, os.O_RDONLY), ByteCount())


if __name__ == "__main__":
    hold_freed()  # as the program does
    carry(Path(sys.argv[1]), Path(sys.argv[2]))
