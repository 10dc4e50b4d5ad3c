"""Lending the terminal to the person's own editor (APP-3).

What an editor left that failed, and texts that no draft has any more, lie in `.vault/edit-*` for a week (APP-13).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from lace_tui.keys.keymap import key_of

if TYPE_CHECKING:
    from lace_tui.app.front import Front
    from lace_tui.app.working import Working

__all__ = ["Lending"]

_LONG = "Shorten it, or decide with it as it is: lace resolve CONFLICT --merged VERSION --files DIR"


class Lending:
    """What lends the terminal to an editor, and keeps texts that are in no draft.

    Args:
        front: the app.
        working: knows the clock.
    """

    def __init__(self, front: Front, working: Working) -> None:
        self._front = front
        self._working = working

    def edit_outside(self, edit: Callable[[Path], None] | None, path: str, content: bytes) -> bytes | None:
        """Let the person edit a text in their own editor; None when nothing came of it.

        Args:
            edit: opens a file in that editor and returns when they are done; None where none is known.
            path: of the file in the shared folder that it is the text of.
            content: the text.

        Raises:
            EditorFailed: the editor cannot be started, or ended with a failure.
            NotWritable, DiskFull: the text cannot be handed over.
            FileTooLarge: the result is over 2 MiB.
            Unreadable: it cannot be read.
        """
        from lace_tui.cli.message import EditorFailed  # whoever edits can wait for it
        from lazy.resolving.kept_texts import clear_away
        from vault.desks.diff import MAX_TEXT_BYTES
        from vault.desks.paths import DOT_VAULT
        from vault.files import FileTooLarge, read_bounded

        here = key_of("edit-here", self._front.taste.keys)
        if edit is None or self._front.folder is None:
            told = f"No editor is known: set EDITOR before you open lace, or edit here with {here}."
            self._front.notify(told, markup=False)
            return None
        dot = self._front.folder / DOT_VAULT
        clear_away(dot, self._working.world().now_ns())
        with _lent(dot, Path(path).name, content) as draft:
            try:
                with self._front.suspend():
                    edit(draft)
            except SuspendNotSupported:
                told = f"This terminal cannot be lent to an editor; edit here with {here}."
                self._front.notify(told, markup=False)
                return None
            except EditorFailed as error:
                error.hint = (
                    f"Edit here with {here}, or set EDITOR to a program that edits the file it is given, and open lace"
                    " anew."
                )
                raise
            if _is_as_lent(draft, content):  # it may be longer than what is taken: the markers of a clash are in it
                return content
            try:
                return read_bounded(draft, MAX_TEXT_BYTES)
            except FileTooLarge as error:
                raise FileTooLarge(
                    f"The result of {path} is over 2 MiB now, and nothing was changed.", hint=_LONG
                ) from error

    def keep_text(self, path: str, content: bytes, at: Path | None = None) -> Path:
        """Keep a text that is in no draft for a week, as what an editor left is kept (APP-13, LAZ-39).

        Args:
            path: of the file it was written for.
            content: the text, as it is.
            at: the file that had it before, which is written over; None where none has it.

        Returns:
            The file.

        Raises:
            NoVault: there is no vault any more.
            NotWritable, DiskFull: it cannot be kept.
        """
        from lazy.resolving.kept_texts import keep_text  # hardly any text is late
        from vault.desks.paths import DOT_VAULT
        from vault.vault import NoVault

        if self._front.folder is None:
            raise NoVault("There is no vault here any more.")
        return keep_text(self._front.folder / DOT_VAULT, self._working.world().now_ns(), path, content, at)


@contextlib.contextmanager
def _lent(dot: Path, name: str, content: bytes) -> Iterator[Path]:
    """Write a text into a directory of its own, so that no other app, and no other text of that name, shares its file.

    Where something goes wrong after an editor wrote there, that stays, and the error says where: it may be all there
    is of hours of work (APP-13).

    Args:
        dot: where the directory is made.
        name: of the file, whole: an editor knows by it how to show the text.
        content: the text.

    Raises:
        NotWritable, DiskFull: it cannot be made.
    """
    import shutil  # whoever edits can wait for it

    from lazy.resolving.kept_texts import room_in
    from lazy.resolving.left_texts import lent_room
    from vault.errors import LaceError
    from vault.files import write_atomic
    from vault.lock import alone_in

    room = room_in(dot, lent_room(content))
    draft, left = room / name, None
    try:
        with alone_in(room, lambda _seconds: None):  # so that nobody is told of it as of one that was left
            write_atomic(draft, content)
            yield draft
    except BaseException as error:
        left = _left_in(draft, content)
        if left is not None and isinstance(error, LaceError):
            error.hint = f"What was saved lies in {left} for a week. {error.hint}"
        raise
    finally:
        if left is None:
            shutil.rmtree(room, ignore_errors=True)


def _left_in(draft: Path, content: bytes) -> Path | None:
    """Return what an editor left of its work: the text, else the directory with what it keeps besides; or nothing."""
    if draft.exists() and not _is_as_lent(draft, content):
        return draft
    with contextlib.suppress(OSError):
        if any(path != draft for path in draft.parent.iterdir()):  # as vim and emacs keep what nobody saved
            return draft.parent
    return None


def _is_as_lent(draft: Path, content: bytes) -> bool:
    """Tell whether a text is as it was handed over; one that cannot be read is not known to be."""
    from vault.errors import LaceError  # whoever edits can wait for it
    from vault.files import read_bounded

    try:
        return read_bounded(draft, len(content)) == content
    except LaceError:
        return False
