"""States that lace kept before it wrote over them: named for a while, read and brought back as any time (APP-4)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.content import Content

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.files import Files, show_difference
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import NOTE, QUIET, STRONG, mark
from lace_tui.screens.old_revisions import OldFiles, between, files_at
from lace_tui.words.inert import inert
from vault.commands import as_typed
from vault.desk_folders import desks
from vault.desks.diff import diff_trees
from vault.desks.pages import Entry
from vault.errors import DataError
from vault.folder.checked_out import checkout_of
from vault.notes.revisions import MOST_KEPT, KeptState
from vault.plural import few
from vault.revisions.kept_states import kept_states
from vault.vault import Vault

__all__ = ["Kept"]


class _State(NamedTuple):
    """A state that is kept.

    Args:
        desk: whose.
        address: its name, such as `main@kept-1`.
        paths: where it is otherwise than what the folder stands on; None where not all of it is here.
    """

    desk: str
    address: str
    paths: tuple[str, ...] | None


class Kept(Listing):
    """One row for each state, the newest of a desk first."""

    SCOPE = Scope.KEPT
    TITLE = "Kept states"
    EMPTY = """= Nothing is kept.
What an undo or a checkout writes over, and nothing
else here has, is named here for a while."""
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.KEPT)

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, _State] = {}

    def read(self, vault: Vault) -> list[_State]:
        """Read which states are kept, and what each holds otherwise."""
        with vault.store.reading():
            return [
                _read(vault, known.name, state)
                for known in desks(vault)
                for state in reversed(kept_states(vault.store, known.name))
            ]

    def show(self, value: list[_State]) -> None:
        """Show them."""
        self._found = {one.address: one for one in value}
        self.fill([(one.address, _line(one)) for one in value])

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected state."""
        one = self._found.get(self.lines.key)
        if one is None:
            return "", (), ""
        one_file, all_files = self.key_of("bring-file"), self.key_of("bring-back")
        lines = (
            f"It has otherwise than {inert(one.desk)} now: {_paths(one)}",
            f"{self.key_of('kept-files')} shows its files; there {one_file} brings one back, {all_files} all.",
            f"{MOST_KEPT} newer ones of its desk, or a prune, push it out.",
        )
        return "A kept state", lines, as_typed("checkout", one.address, "PATH")

    def runnable(self) -> str:
        """Return the command that tells which files it has otherwise: which of them to have back is a choice."""
        one = self._found.get(self.lines.key)
        return as_typed("diff", one.desk, one.address) if one is not None else ""

    def _selected(self) -> _State | None:
        """Return the selected state; say why there is none."""
        one = self._found.get(self.lines.key)
        if one is None:
            self.notify("Select a state that is kept." if self._found else "Nothing is kept.", markup=False)
        return one

    def action_kept_files(self) -> None:
        """See the files of the selected state."""
        if (one := self._selected()) is not None:
            self.lace.ask(lambda vault: files_at(vault, one.address), self._open, "files", asked="Files")

    def _open(self, old: OldFiles) -> None:
        self.lace.open_page(self, "kept-files", Files(old))

    def action_kept_diff(self) -> None:
        """Show what the selected state has otherwise than the newest of its desk."""
        if (one := self._selected()) is not None:
            self.lace.ask(
                lambda vault: between(vault, one.desk, one.address),
                lambda found: show_difference(self, "kept-diff", found),
                "diff",
                asked="Diff",
            )


def _read(vault: Vault, desk: str, state: KeptState) -> _State:
    address, base = f"{desk}@{state.label}", checkout_of(vault, desk)
    try:
        found = diff_trees(vault.store, base.tree if base else None, state.tree)
        paths = tuple(path for path, _, before, after in found if not _is_directory(before, after))
    except DataError:
        return _State(desk, address, None)
    return _State(desk, address, paths)


def _is_directory(*entries: Entry | None) -> bool:
    return all(entry.is_dir for entry in entries if entry is not None)


def _paths(one: _State) -> str:
    if one.paths is None:
        return "not all of it is here"
    return inert(few(one.paths)) if one.paths else "nothing"


def _line(one: _State) -> Content:
    return mark(f"{one.address}  ", STRONG) + mark(_paths(one), QUIET if one.paths else NOTE)
