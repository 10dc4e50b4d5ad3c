"""Texts that lie in `.vault/edit-*` and that somebody may look for: what was kept, and what a killed app left (APP-13).

A room whose text an editor has now is locked by the app that lent it, and one whose text is as it was lent holds
nothing that anybody wrote: neither is told.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from vault.errors import CallerError, LaceError
from vault.files import read_bounded, refuse_write
from vault.lock import lock_now

__all__ = ["KEPT", "ROOM", "WEEK", "LeftText", "TextChanged", "delete_text", "left_texts", "lent_room"]

ROOM = "edit-"
KEPT = "edit-kept-"
"""How rooms begin that hold a text which was kept: no room that is lent has another hyphen."""
WEEK = 7 * 86_400
"""Seconds that a text stays: it may be all there is of it."""

_DIGEST = 4  # bytes of the content that was lent, in the name of its room
_LONGEST = 16 << 20  # bytes of a text that is compared with what was lent


class TextChanged(CallerError):
    """A text is not any more what somebody saw of it, or an editor has it."""

    code = "text-changed"
    hint = "Look at it again."


class LeftText(NamedTuple):
    """A text that is in no draft.

    Args:
        name: of the file that it was written for.
        file: in which it lies; the room where an editor left more than one file in it.
        until: when it goes, seconds since 1970 UTC.
    """

    name: str
    file: Path
    until: int


def lent_room(content: bytes) -> str:
    """Return how the room of a text begins that is lent to an editor."""
    return f"{ROOM}{_digest(content)}_"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=_DIGEST).hexdigest()


def left_texts(dot: Path) -> tuple[LeftText, ...]:
    """Return the texts that are in no draft, the one first that goes first (APP-13, LAZ-39).

    Args:
        dot: the directory of the vault; what cannot be read there is left out.
    """
    found: list[LeftText] = []
    for room in dot.glob(f"{ROOM}*"):
        with contextlib.suppress(OSError):
            found += _left_in(room)
    return tuple(sorted(found, key=lambda one: (one.until, one.file)))


def delete_text(dot: Path, seen: LeftText) -> None:
    """Delete a text that is in no draft, before its week is over (APP-13).

    Args:
        dot: the directory of the vault.
        seen: the text, as it was when somebody agreed to that.

    Raises:
        TextChanged: it was written since, is gone, or an editor has it.
        NotWritable: it cannot be deleted.
    """
    if seen not in left_texts(dot):
        raise TextChanged(f"What was written for {seen.name} is not what it was, and nothing was deleted.")
    try:
        if seen.file.is_dir():
            shutil.rmtree(seen.file)
            return
        seen.file.unlink()
        if seen.file.parent != dot:
            seen.file.parent.rmdir()
    except OSError as error:
        refuse_write(seen.file, error)


def _left_in(room: Path) -> Iterator[LeftText]:
    if not room.is_dir():  # as an earlier version left it
        yield LeftText(room.name.removeprefix(ROOM), room, _until(room))
        return
    files = sorted(room.iterdir(), key=lambda file: (len(file.name), file.name))  # an editor adds to the name
    if not files or (not room.name.startswith(KEPT) and (_is_lent(room) or _is_as_lent(room, files))):
        return
    yield LeftText(files[0].name, files[0] if len(files) == 1 else room, _until(room, *files))


def _until(*parts: Path) -> int:
    return int(max(part.lstat().st_mtime for part in parts)) + WEEK


def _is_lent(room: Path) -> bool:
    """Tell whether an app that runs has lent it; where the system locks no directories, none counts as lent."""
    if os.name == "nt":
        return False
    fd = os.open(room, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return not lock_now(fd)
    finally:
        os.close(fd)


def _is_as_lent(room: Path, files: list[Path]) -> bool:
    if len(files) != 1:
        return False
    try:
        return room.name.startswith(lent_room(read_bounded(files[0], _LONGEST)))
    except LaceError:  # then it is not known
        return False
