"""Desks, who may write and read where, and how long files are kept: seen, and said as by command (CLAY-3, CLAY-79, 80).

What one types is what the command takes, taken apart as there and done by what the command does.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import BindingType

from lace_tui.acts.desk_rules import (
    EVERY,
    RuleWords,
    Told,
    desk_add,
    desk_row,
    keep,
    keep_text,
    keep_typed,
    keep_words,
    permit,
    permit_typed,
    permit_words,
    typed_words,
)
from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.words.inert import inert
from lace_tui.words.permits import permit_text
from lazy.people import label_of, members
from vault.commands import as_option, as_typed, as_word, as_words, words_of
from vault.content.keeping import keeps
from vault.desk_folders import MAIN, desk_at, desks, unmapped
from vault.errors import DataError, LaceError
from vault.permits import permits
from vault.plural import few
from vault.vault import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from lace_tui.screens.host import Refused
    from vault.permits import Act

    _Typed = Callable[[Vault, Path, argparse.Namespace], Told]

__all__ = ["Desks"]

_NAMED = 8  # members of a question


class _Rule(NamedTuple):
    """A rule of a desk.

    Args:
        path: as the desk calls it, `.` for all of it.
        text: it in one line.
        words: what sets it.
        act: what it is about; None where it says how long files are kept.
    """

    path: str
    text: str
    words: RuleWords
    act: Act | None = None

    @property
    def verb(self) -> str:
        """Of the command that set it."""
        return self.words.verb


class _Desk(NamedTuple):
    """A desk.

    Args:
        name: its name.
        folder: its path; empty where it has none here.
        text: what is known of it, in a line.
        rules: who may write and read, and how long files are kept.
        trouble: why its rules cannot be read; empty where they can.
    """

    name: str
    folder: str
    text: str
    rules: tuple[_Rule, ...] = ()
    trouble: str = ""


class _View(NamedTuple):
    """All desks, the one of the folder that the app was opened in, and the names of the other members."""

    desks: tuple[_Desk, ...]
    here: str
    members: tuple[str, ...]


class Desks(Listing):
    """One row for each desk, and below it one for each of its rules."""

    SCOPE = Scope.DESKS
    TITLE = "Desks and rules"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.DESKS)

    def __init__(self) -> None:
        super().__init__()
        self._view = _View((), MAIN, ())
        self._rows: dict[str, tuple[_Desk, _Rule | None]] = {}

    def read(self, vault: Vault) -> _View:
        """Read the desks and their rules."""
        with vault.store.reading():
            found = [_read(vault, row) for row in (desk_row(vault, desk) for desk in desks(vault))]
            found += [_Desk(name, "", "friends released it; it has no folder here yet") for name in unmapped(vault)]
            names = sorted(label_of(vault, one.node) for one in members(vault) if one.node != vault.node.text)
            return _View(tuple(found), desk_at(vault, Path(self.lace.here)), tuple(names))

    def show(self, value: _View) -> None:
        """Show them."""
        self._view = value
        self._rows = {}
        shown = []
        for desk in value.desks:
            self._rows[f"desk {desk.name}"] = desk, None
            sign = "" if desk.folder else "? "
            head = mark(f"{sign}{desk.name}  ", STRONG) + mark(desk.text, QUIET if desk.folder else NOTE)
            shown.append((f"desk {desk.name}", head))
            for rule in desk.rules:
                key = f"{rule.words.back} {desk.name} {rule.path}"
                self._rows[key] = desk, rule
                shown.append((key, mark(f"    {rule.text}")))
            if desk.trouble:
                shown.append(("", mark(f"    ! {desk.trouble}", BAD)))
            elif desk.folder and not desk.rules:
                shown.append(("", mark("    no rule: everybody may write and read here", QUIET)))
        self.fill(shown)

    @property
    def _selected(self) -> tuple[_Desk | None, _Rule | None]:
        return self._rows.get(self.lines.key, (None, None))

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected desk or rule."""
        desk, rule = self._selected
        if desk is None:
            return "", (), ""
        if rule is None:
            if not desk.folder:
                told = (
                    f"{desk.name}: {desk.text}",
                    "What friends release of it comes once it has a sub-folder of yours.",
                )
                return "A desk", told, as_typed("desk add", desk.name, "DIR")
            return "A desk", (f"{desk.name}: {desk.text}", f"Folder: {desk.folder}"), "lace desks"
        what = {
            "desk permit": "Only this vault goes by it; friends are not told.",
            "desk keep": "Nothing goes by itself: a prune lets go of the rest.",
        }[rule.verb]
        return "A rule", (f"{rule.text}, of {desk.name}", what), self._command(desk, rule, rule.words)

    def runnable(self) -> str:
        """Return the command that runs: the folder of a desk that has none is a choice, its name a good one."""
        desk, rule = self._selected
        if desk is not None and rule is None and not desk.folder:
            return as_typed("desk add", desk.name, desk.name)
        return super().runnable()

    def _command(self, desk: _Desk, rule: _Rule, words: RuleWords) -> str:
        return words.command(self._typed(desk, rule.path), "" if desk.name == self._view.here else desk.name)

    def _typed(self, desk: _Desk, path: str) -> str:
        """Return a path of a desk as it is typed in the folder that the app was opened in."""
        here = self.lace.here
        if Path(here).is_relative_to(desk.folder):
            return os.path.relpath(os.path.join(desk.folder, path), here)  # noqa: PTH118 - text alone
        return path

    # Do

    def action_add_desk(self) -> None:
        """Ask which sub-folder is to be a desk, and make it one."""
        desk, _ = self._selected
        text = "A desk has versions of its own, and the desk around it leaves it alone. Type its name, then its"
        text += " sub-folder of your shared folder. For example:\n  songs music/songs"
        name = desk.name if desk is not None and not desk.folder else ""
        self._ask("Add a desk", text, "desk add", desk_add, as_words(name, name) if name else "", [])

    def action_permit(self) -> None:
        """Ask who may write or read where, and say so."""
        desk, rule = self._chosen()
        if desk is not None:
            is_one = rule is not None and rule.verb == "desk permit"
            value = rule.words.typed(self._typed(desk, rule.path)) if rule is not None and is_one else ""
            names = few(self._view.members, _NAMED) if self._view.members else "nobody but you yet"
            text = f"Whose changes at a path of {desk.name} you take in (--write), or who is sent it (--read)."
            text += " A dot is all of it. For example:\n  drafts --read --not bob\n  . --write --only bob"
            text += f"\n  . --write --anyone takes that back\nMembers: {inert(names)}."
            self._ask("Who may write and read", text, "desk permit", permit_typed, value, self._option(desk))

    def action_keep_newest(self) -> None:
        """Ask in how many releases files at a path are kept, and say so."""
        desk, rule = self._chosen()
        if desk is not None:
            is_one = rule is not None and rule.verb == "desk keep"
            value = rule.words.typed(self._typed(desk, rule.path)) if rule is not None and is_one else ""
            text = f"At which path of {desk.name}, and in how many of each member's newest releases? A prune lets go"
            text += " of the others. A dot is all of it. For example:\n  videos 3\n  videos all takes that back"
            self._ask("How long files are kept", text, "desk keep", keep_typed, value, self._option(desk))

    def action_take_back(self) -> None:
        """Take the selected rule back, after the plan."""
        desk, rule = self._selected
        if desk is None or rule is None:
            self.notify("Select a rule.", markup=False)
            return
        command = self._command(desk, rule, rule.words.back)
        after = "every release keeps its files there" if rule.act is None else "everybody may, as without it"
        lines = [
            mark(f"{rule.text}, of {desk.name}", STRONG),
            mark(f"This rule would go: {after}, unless a rule above it says otherwise."),
            mark(command, QUIET),
        ]

        path = self._typed(desk, rule.path)

        def take_back(vault: Vault, here: Path) -> Told:
            if rule.act is None:
                return keep(vault, here, path, EVERY, desk=desk.name)
            return permit(vault, here, path, rule.act, desk=desk.name)

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self._do("Take a rule back", take_back, command)

        if self.lace.can_start:
            self.app.push_screen(PlanPage("Take a rule back?", lines), decided)

    def _chosen(self) -> tuple[_Desk | None, _Rule | None]:
        """Return the selected desk and rule; say why there is none that a rule can be of."""
        desk, rule = self._selected
        if desk is None or not desk.folder:
            self.notify("Select a desk that has a folder here.", markup=False)
            return None, None
        return desk, rule

    def _option(self, desk: _Desk) -> list[str]:
        return [] if desk.name == self._view.here else words_of(as_option("--desk", desk.name))

    def _ask(self, title: str, text: str, verb: str, act: _Typed, value: str, option: list[str]) -> None:
        """Ask for the words of a command, and do what it does."""

        def named(line: str | None, refused: Refused) -> None:
            if line:
                words = typed_words(verb, line)
                words = words if "--desk" in words else [*option, *words]
                command = f"lace {verb} {' '.join(map(as_word, words))}"
                taken_apart = partial(self.lace.taken_apart, verb, words)
                self._do(title, lambda vault, here: act(vault, here, taken_apart()), command, refused)

        def check(line: str) -> None:
            self.lace.taken_apart(verb, [*option, *typed_words(verb, line)])

        self.lace.put(Question(title, text, value, check=check, goes_on=bool(value)), named)

    def _do(self, title: str, act: Callable[[Vault, Path], Told], command: str, refused: Refused | None = None) -> None:
        here = Path(self.lace.here)
        self.lace.begin(title, lambda vault, _: act(vault, here), partial(_done, title), command, refused)


def _done(title: str, told: Told) -> Card:
    first, *rest = told.text.split("\n")
    return Card(f"{title}: done", (mark(f"= {first}", GOOD), *map(mark, rest)))


def _read(vault: Vault, row: dict[str, object]) -> _Desk:
    name, folder = str(row["desk"]), str(row["folder"])
    where = os.path.relpath(folder, vault.folder)
    text = f"revision {row['revision']}, {row['shown']}, {'your shared folder' if where == os.curdir else where}"
    kept = tuple(_Rule(rule.path or ".", keep_text(rule), keep_words(rule)) for rule in keeps(vault.store, name))
    try:
        found = permits(vault.store, name)
        rules = tuple(
            _Rule(rule.path or ".", permit_text(vault, rule), permit_words(vault, rule), rule.act) for rule in found
        )
    except DataError as error:
        return _Desk(name, folder, text, kept, _sentence(error))
    return _Desk(name, folder, text, (*rules, *kept))


def _sentence(error: LaceError) -> str:
    return f"{error.message} {error.hint}"
