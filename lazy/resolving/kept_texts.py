"""Texts that somebody wrote and that no draft has any more: each lies in `.vault/edit-*` for a week (APP-13, LAZ-39).

What an editor of the person's own is given lies in such a room too, and is removed by the app that lent it. What is
kept has rooms of another name, so that nothing else removes them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lazy.resolving.left_texts import KEPT, ROOM, WEEK
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.tree import lookup, read_entry
from vault.errors import LaceError
from vault.files import read_bounded, refuse_write, write_atomic
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["KeptText", "clear_away", "edited_text", "keep_text", "keep_unused", "room_in"]

_LONGEST = 255  # bytes of a name
_UNNAMED = "text"
_ONE_AT_A_TIME = threading.Lock()  # whoever keeps a text looks first whether another thread just kept the same


class KeptText(NamedTuple):
    """A text that was written for a file, and is not what the file got.

    Args:
        path: of the file.
        file: in which the text lies.
    """

    path: str
    file: Path


def edited_text(entry: object) -> bytes | None:
    """Return the text that an entry of a draft has; None where it has none, or one that nobody can have written."""
    match entry:
        case {"edited": str(text)}:
            with contextlib.suppress(UnicodeEncodeError):
                content = text.encode("utf-8", "surrogateescape")
                return content if len(content) <= MAX_TEXT_BYTES else None
    return None


def keep_unused(vault: Vault, entries: Mapping[str, Any], result: RecordHash | None) -> list[KeptText]:
    """Keep the edited texts of a draft that did not become the result (APP-13, LAZ-39).

    Args:
        vault: where they are kept.
        entries: of the draft, by path.
        result: the commit that was decided for; None where it is none of theirs.

    Raises:
        NotWritable, DiskFull: one cannot be kept.
    """
    texts = ((path, edited_text(entry)) for path, entry in sorted(entries.items()))
    unused = [(path, text) for path, text in texts if text is not None and not _is_in(vault, result, path, text)]
    now = vault.around.now_ns()
    return [KeptText(path, keep_text(vault.dot, now, path, text)) for path, text in unused]


def _is_in(vault: Vault, commit: RecordHash | None, path: str, text: bytes) -> bool:
    if commit is None:
        return False
    try:
        entry = lookup(vault.store, commit_info(vault.store, commit).tree, path)
        if entry is None or entry.kind != "f" or entry.size != len(text):
            return False
        return read_entry(vault.store, entry) == text
    except (LaceError, ValueError):  # no path of a tree, or not to be read: then a copy too many does no harm
        return False


def keep_text(dot: Path, now_ns: int, path: str, content: bytes, at: Path | None = None) -> Path:
    """Keep a text that is in no draft for a week (APP-13, LAZ-39).

    Args:
        dot: the directory of the vault.
        now_ns: the wall clock, nanoseconds since 1970 UTC.
        path: of the file it was written for; of any content.
        content: the text, as it is.
        at: the file that had it before, which is written over; None where none has it.

    Returns:
        The file; where the same text is kept already it is that one, for another week.

    Raises:
        NotWritable, DiskFull: it cannot be kept.
    """
    clear_away(dot, now_ns)
    name = _name_of(path)
    with _ONE_AT_A_TIME:
        file = at or _same(dot, name, content) or room_in(dot, KEPT) / name
        try:
            write_atomic(file, content)
        except BaseException:
            if at is None:
                with contextlib.suppress(OSError):  # one that was there keeps what it has
                    file.parent.rmdir()
            raise
        return file


def _name_of(path: str) -> str:
    """Return a file's name, whole: an editor knows by it how to show the text."""
    name = Path(path).name
    try:
        is_name = len(os.fsencode(name)) <= _LONGEST and name not in {"", ".."} and "\0" not in name
    except UnicodeEncodeError:
        is_name = False
    return name if is_name else _UNNAMED


def _same(dot: Path, name: str, content: bytes) -> Path | None:
    for file in sorted(dot.glob(f"{KEPT}*")):
        with contextlib.suppress(LaceError):
            if read_bounded(file / name, len(content)) == content:
                return file / name
    return None


def room_in(dot: Path, prefix: str) -> Path:
    """Make a directory of its own for a text.

    Raises:
        NotWritable, DiskFull: it cannot be made.
    """
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=dot))
    except OSError as error:
        refuse_write(dot, error)


def clear_away(dot: Path, now_ns: int) -> None:
    """Remove texts that have lain here for a week; what was written later may be in an editor still.

    Args:
        dot: where they lie.
        now_ns: the wall clock, nanoseconds since 1970 UTC.
    """
    before = now_ns / 1e9 - WEEK
    for left in dot.glob(f"{ROOM}*"):
        with contextlib.suppress(OSError):
            parts = [left, *left.iterdir()] if left.is_dir() else [left]
            if max(part.lstat().st_mtime for part in parts) >= before:
                continue
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
