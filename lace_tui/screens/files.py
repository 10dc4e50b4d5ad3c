"""The files of one revision: read them, compare them with another time, bring them back, copy them out (CLAY-24)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from lace_tui.acts.typed import expanded
from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of
from lace_tui.screens.bringing import offer_file
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.host import Refused
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.old_revisions import (
    Found,
    OldFiles,
    as_planned,
    content_lines,
    foreseen_lines,
    in_folder,
    latest,
)
from lace_tui.screens.place import PlaceScreen
from lace_tui.screens.viewer import Texts, Viewer, painted
from lace_tui.screens.written import out_lines
from lace_tui.words.folder import sharing_note
from lazy.folder.checkout_files import CheckedOut, Foreseen
from lazy.folder.copying_out import copy_out
from lazy.folder.going_back import plan_check_out
from vault.commands import as_option, as_typed
from vault.desks.checkout import CheckoutResult
from vault.desks.pages import Entry
from vault.desks.paths import files_in
from vault.plural import bytes_text, plural
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Files", "cat_command", "checked_out_card", "offer_checkout", "show_changes", "show_difference"]


class _Rows:
    """The files as rows, made when they are seen."""

    def __init__(self, files: tuple[tuple[str, Entry], ...]) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def line(self, number: int) -> Content:
        """Return one row."""
        path, entry = self._files[number]
        sign = {"l": "-> ", "f": "*  " if entry.mode == "x" else "   "}[entry.kind]
        return mark(f"{bytes_text(entry.size):>10}  ", QUIET) + mark(sign + path)

    def key(self, number: int) -> str:
        """Return the row's number, from 1."""
        return str(number + 1)

    def text(self, number: int) -> str:
        """Return what a filter searches."""
        return self._files[number][0].lower()


class Files(Listing):
    """One row for each file.

    Args:
        old: the revision and its files.
    """

    SCOPE = Scope.FILES
    TITLE = "Files"
    EMPTY = "No file was here."
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.FILES)

    def __init__(self, old: OldFiles) -> None:
        super().__init__()
        self.title = f"Files of {old.at.what}"
        self._old = old

    def read(self, vault: Vault) -> OldFiles:
        """Return what is known already: an old revision never changes."""
        return self._old

    def show(self, value: OldFiles) -> None:
        """Show the files."""
        self.lines.title = f"{value.at.what}: {plural(len(value.files), 'file')}"
        self.fill(_Rows(value.files))

    @property
    def _entry(self) -> tuple[str, Entry] | None:
        key = self.lines.key
        return self._old.files[int(key) - 1] if key else None

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected file."""
        found = self._entry
        if found is None:
            return "", (), ""
        path, entry = found
        return "A file", (path, f"Size: {entry.size} bytes", f"Content: {entry.hash}"), self._command(path)

    def _command(self, path: str) -> str:
        return cat_command(self._old, path, self.lace.here)

    def action_open_row(self) -> None:
        """Read the selected file."""
        self.action_read_file()

    def action_read_file(self) -> None:
        """Read the selected file as it was."""
        found = self._entry if self.selected_key() else None
        if found is None:
            return
        path, entry = found
        title = f"{path}, {self._old.at.what}"

        def shown(lines: tuple[str, ...]) -> None:
            self.lace.open_page(self, "read-file", Viewer(title, Texts(lines), self._command(path)))

        self.lace.ask(lambda vault: content_lines(vault, entry), shown, "file", asked=title)

    def action_compare(self) -> None:
        """Show what differs from another time."""

        def named(text: str | None, refused: Refused) -> None:
            if text is not None:
                self.lace.ask(
                    lambda vault: latest(vault, self._old.at, text.strip()),
                    lambda found: show_difference(self, "compare", found),
                    "diff",
                    asked="Compare",
                    refused=refused,
                )

        text = "With which time? DESK@NUMBER, DESK@1.0.0, DESK@LABEL, DESK@2026-05-01; empty for the newest."
        self.lace.put(Question(f"Compare {self._old.at.what}", text, lacks=""), named)

    def action_bring_back(self) -> None:
        """Bring the folder to this revision, after the plan."""
        offer_checkout(self, self._old)

    def action_bring_file(self) -> None:
        """Bring the selected file alone into the folder, after the plan."""
        if self.selected_key() and (found := self._entry) is not None:
            offer_file(self, self._old.at, found[0], _as_called(self._old, found[0], self.lace.here))

    def action_copy_out(self) -> None:
        """Write a copy elsewhere."""

        def named(text: str | None, refused: Refused) -> None:
            if text:
                given, at = expanded(text), self._old.at
                to = Path(os.path.normpath(Path(self.lace.here) / given))

                def do(vault: Vault, watch: Watch) -> tuple[CheckoutResult, str]:
                    return copy_out(vault, at, to, watch), sharing_note(vault.folder.absolute(), to)

                self.lace.begin(
                    f"Copy out: {at.what}",
                    do,
                    lambda told: _copied(told[0], told[1], at.what, to),
                    as_typed("checkout", at.what, options=as_option("--to", str(given))),
                    refused,
                )

        text = "Into which folder? It must hold none of these files yet."
        text += f"\nAs one file, by command: {as_typed('archive', self._old.at.what, 'FILE')}"
        self.lace.put(Question("Copy out", text), named)


def cat_command(old: OldFiles, path: str, here: str) -> str:
    """Return the command that prints a file of a revision, as it is typed in the folder the app was opened in."""
    return as_typed("cat", old.at.what, _as_called(old, path, here))


def _as_called(old: OldFiles, path: str, here: str) -> str:
    """Return a path as a command takes it there; elsewhere than in the folder of its desk, as the desk calls it."""
    if old.folder and Path(here).is_relative_to(old.folder):
        return os.path.relpath(os.path.join(old.folder, path), here)  # noqa: PTH118 - text alone
    return path


def show_changes(place: PlaceScreen) -> None:
    """Show what differs between the folder as it is and its last commit."""
    here = place.lace.here
    place.lace.ask(
        lambda vault: in_folder(vault, here),
        lambda found: show_difference(place, "changes", found),
        "diff",
        asked="What changed here",
    )


def show_difference(place: PlaceScreen, action_id: str, found: Found) -> None:
    """Show what differs, to whoever asked for it by an action of a place."""
    place.lace.open_page(place, action_id, Viewer(found.title, Texts(found.lines, painted), found.command))


def offer_checkout(place: Listing, old: OldFiles) -> None:
    """Show what bringing the folder to a revision would change, and do it when agreed."""
    at = old.at
    act = as_typed("checkout", at.what)

    def planned(plan: Foreseen, first: str = f"The folder becomes as {at.what} was:") -> None:
        lines = [mark(first, STRONG), *(mark(line) for line in foreseen_lines(plan))]
        lines += out_lines(plan.left_out)
        if not plan.moved:
            lines.append(mark("  no file changes: the folder is like that already", QUIET))
        lines.append(mark("Your line stays where it is: what differs then is an uncommitted change.", QUIET))
        lines.append(mark(act, NOTE))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                place.lace.begin("Check out", lambda vault, watch: as_planned(vault, at, plan, watch), done, act)

        action = "check-out" if place.SCOPE is Scope.HISTORY else "bring-back"
        place.lace.open_page(place, action, PlanPage("Check out: the plan", lines), decided)

    def done(what: CheckedOut | Foreseen) -> Card | None:
        if isinstance(what, CheckedOut):
            return checked_out_card(what, at.what, place.lace.taste.keys)
        planned(what, f"Your folder changed meanwhile, and nothing was done. It becomes as {at.what} was:")
        return None

    place.lace.ask(lambda vault: plan_check_out(vault, at), planned, "plan", asked="Check out")


def checked_out_card(done: CheckedOut, what: str, keys: Mapping[str, str]) -> Card:
    """Return the card of a checkout that just ended; `keys` are those that the person changed."""
    result = done.result
    count = files_in([*result.written, *result.deleted])
    lines = [mark(f"= the folder is as {what} was: {plural(count, 'file')} changed", GOOD)]
    lines += out_lines([skip for skip in result.skipped if not skip.blocking])
    late = [skip for skip in result.skipped if skip.blocking]
    lines += [mark(f"! {skip.path} {skip.reason}, so it is left as it is", BAD) for skip in late]
    commits, goes = key_of("commit", keys), key_of("check-out", keys)
    lines.append(mark(f"next: {commits} in History commits it; {goes} on your newest there brings you back"))
    return Card("Check out: done", tuple(lines), bool(late))


def _copied(result: CheckoutResult, note: str, what: str, to: Path) -> Card:
    lines = [mark(f"= {plural(files_in(result.written), 'file')} of {what} are in {to}", GOOD)]
    lines += [mark(f"! {note}", BAD)] if note else []
    return Card("Copy out: done", tuple(lines))
