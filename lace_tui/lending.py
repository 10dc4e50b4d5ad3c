"""Lending the terminal: to the shell at Ctrl-Z, and to the person's own editor (APP-3)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from lace_tui.parting import Parting
from lace_tui.pausing import pause

if TYPE_CHECKING:
    from vault.surroundings import Surroundings

__all__ = ["Lending"]

_PREFIX = "edit-"
_KEPT = 7 * 86_400  # seconds that a text stays whose app was killed: it may be all there is of it


class Lending(Parting):
    """An app that lends its terminal, and takes it back.

    Args:
        folder: the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it.
        monotonic: seconds of a clock that never goes back.
        edit: opens a file in the person's own editor and returns when they are done; None where there is none.
    """

    def __init__(
        self,
        folder: Path | None,
        surroundings: Callable[[], Surroundings],
        monotonic: Callable[[], float],
        edit: Callable[[Path], None] | None = None,
    ) -> None:
        super().__init__(folder, surroundings, monotonic)
        self._edit = edit

    @contextlib.contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal to what runs meanwhile, and take it back however that ends.

        Raises:
            SuspendNotSupported: this terminal cannot be lent.
            Exception: what was raised meanwhile.
        """
        fault: BaseException | None = None
        with super().suspend():  # which stays without the terminal where something is raised inside
            try:
                yield
            except BaseException as error:
                fault = error
        if fault is not None:
            raise fault

    def action_suspend_process(self) -> None:
        """Give the terminal back to the shell; `fg` comes back to the same screen, and work stands still meanwhile."""
        try:
            with self.suspend():
                pause()
        except SuspendNotSupported:
            self.notify("This terminal cannot be given back to a shell.", markup=False)

    def edit_outside(self, path: str, content: bytes) -> bytes | None:
        """Let the person edit a text in their own editor; None when nothing came of it.

        Raises:
            EditorFailed: the editor cannot be started, or ended with a failure.
            NotWritable, DiskFull: the text cannot be handed over.
        """
        from lace_tui.cli.message import EditorFailed  # noqa: PLC0415 - whoever edits can wait for it
        from vault.desks.diff import MAX_TEXT_BYTES  # noqa: PLC0415
        from vault.files import read_bounded, write_atomic  # noqa: PLC0415
        from vault.vault import DOT_VAULT  # noqa: PLC0415

        if self._edit is None or self._folder is None:
            self.notify("No editor is known: set EDITOR before you open lace, or edit here with e.", markup=False)
            return None
        dot = self._folder / DOT_VAULT
        _clear_away(dot, self._world().now_ns() / 1e9 - _KEPT)
        with _room(dot) as room:
            draft = room / Path(path).name  # whole: an editor knows by it how to show the text
            write_atomic(draft, content)
            try:
                with self.suspend():
                    self._edit(draft)
                return read_bounded(draft, MAX_TEXT_BYTES)
            except SuspendNotSupported:
                self.notify("This terminal cannot be lent to an editor; edit here with e.", markup=False)
                return None
            except EditorFailed as error:
                error.hint = (
                    "Edit here with e, or set EDITOR to a program that edits the file it is given, and open lace anew."
                )
                raise


@contextlib.contextmanager
def _room(dot: Path) -> Iterator[Path]:
    """Make a directory for one text, so that no other app, and no other text of that name, shares its file.

    Raises:
        NotWritable, DiskFull: it cannot be made.
    """
    import tempfile  # noqa: PLC0415 - whoever edits can wait for it

    from vault.files import refuse_write  # noqa: PLC0415

    try:
        made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=dot, ignore_cleanup_errors=True)
    except OSError as error:
        refuse_write(dot, error)
    with made as room:
        yield Path(room)


def _clear_away(dot: Path, before: float) -> None:
    """Remove texts that an app left here which was killed while they were edited.

    Args:
        dot: where they lie.
        before: seconds since 1970 UTC; what was written later may be in an editor still.
    """
    import shutil  # noqa: PLC0415 - whoever edits can wait for it

    for left in dot.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            parts = [left, *left.iterdir()] if left.is_dir() else [left]
            if max(part.lstat().st_mtime for part in parts) >= before:
                continue
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
