"""The file that makes a directory a drop, and tells one drop from another (docs/formats.md section 4)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from transports.errors import DropEmptied, NotADrop, UnreadableFile
from transports.layout import DROP_ID
from transports.medium import fault_of, is_real_directory, open_plain
from vault.files import AtomicFile

__all__ = ["MARKER", "Marker", "holds_mailboxes", "marker_text", "parse_marker", "read_marker", "write_marker"]

MARKER = "lace-drop.txt"
_TEXT = re.compile(r"lace-drop/0\nid ([0-9a-f]{32})\n", re.ASCII)
_NEWER = re.compile(r"lace-drop/[1-9][0-9]{0,8}\n", re.ASCII)
_LIMIT = 256  # bytes
_ROOM, _MAILBOX = re.compile(r"[0-9a-f]{16}", re.ASCII), re.compile(r"[0-9a-f]{64}", re.ASCII)
_Stamp = tuple[int, int, int, int, int]  # what tells a file from another that took its place


class Marker(NamedTuple):
    """A marker as it was read.

    Attributes:
        drop_id: the id in it.
        size: its bytes.
        stamp: which file it was, and as of when.
    """

    drop_id: str
    size: int
    stamp: _Stamp

    def lies_in(self, path: Path) -> bool:
        """Tell whether the very file that was read lies in a directory; reads no byte of it."""
        try:
            return _stamp(os.lstat(path / MARKER)) == self.stamp
        except OSError:
            return False


def parse_marker(data: bytes) -> str | None:
    """Return the id in the bytes of a marker file, or None if they are none."""
    match = _TEXT.fullmatch(data.decode("utf-8", "replace"))
    return None if match is None or DROP_ID.fullmatch(match[1]) is None else match[1]


def marker_text(drop_id: str) -> bytes:
    """Return the bytes of a drop's marker file."""
    return f"lace-drop/0\nid {drop_id}\n".encode()


def read_marker(path: Path, *, is_known: bool) -> Marker:
    """Read the marker of a drop.

    Args:
        path: the directory.
        is_known: whether a drop was there before.

    Raises:
        PlaceUnreachable: the directory is missing.
        DropEmptied: the directory is there, and the known drop that should be in it is not.
        NotADrop: the directory holds something else, or its marker is damaged or gone.
    """
    try:
        descriptor = open_plain(path / MARKER)
        try:
            stamp = _stamp(os.fstat(descriptor))
            data = os.read(descriptor, _LIMIT)
        finally:
            os.close(descriptor)
    except UnreadableFile as error:
        raise NotADrop(f"{path / MARKER} is not a plain file.") from error
    except OSError as error:
        # The empty directory under an unplugged stick looks like any directory without a marker.
        if isinstance(error, FileNotFoundError) and path.is_dir():
            if holds_mailboxes(path):
                what = f"{path} holds mailboxes, but no {MARKER}: it was deleted, or not copied with them."
                hint = (
                    "Whoever synced here before writes it anew with: lace fsck --repair. Where nobody's mailbox is"
                    f" whole, begin in a new sub-directory, for example {path / 'lace'}"
                )
                raise NotADrop(what, hint=hint) from error
            if not is_known:
                raise NotADrop(f"{path} holds no drop.") from error
            what = f"{path} is there, but holds no {MARKER}: the stick is not plugged in, or it was emptied."
            raise DropEmptied(what) from error
        raise fault_of(error, f"The drop {path}", is_here=False) from error
    drop_id = parse_marker(data)
    if drop_id is None:
        way = f"{'write it' if is_known else 'whoever synced here before writes it'} anew with: lace fsck --repair"
        if _NEWER.match(data.decode("utf-8", "replace")):
            hint = f"Install a newer lace; where nobody has one, {way}"
            raise NotADrop(f"{path / MARKER} was written by a newer lace, or is damaged.", hint=hint)
        raise NotADrop(f"{path / MARKER} is damaged.", hint=f"{way[0].upper()}{way[1:]}")
    return Marker(drop_id, len(data), stamp)


def write_marker(path: Path, drop_id: str) -> None:
    """Write the marker of a drop, for all who may use its directory to read.

    Raises:
        DiskFull, NotWritable: it cannot be written.
    """
    with AtomicFile(path / MARKER) as file:
        file.let_read(path.stat().st_mode & 0o044)
        file.write(marker_text(drop_id))


def holds_mailboxes(path: Path) -> bool:
    """Tell whether the directory of a mailbox is seen to lie where a drop has those of some group."""
    rooms = (each for each in _inside(path) if _ROOM.fullmatch(each.name) and is_real_directory(each))
    return any(_MAILBOX.fullmatch(each.name) and is_real_directory(each) for room in rooms for each in _inside(room))


def _inside(path: Path) -> list[Path]:
    """Return what lies in a directory; nothing where it is not shown, or gone by now."""
    try:
        return list(path.iterdir())
    except OSError:
        return []


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
