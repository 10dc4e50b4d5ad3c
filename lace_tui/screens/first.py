"""First run: what there is to do where no vault is, and doing it (APP-4): begin, join, or look around."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import Static

from lace_tui.keys.actions import Scope, action_named, actions_of
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of
from lace_tui.screens.dialogs import Question
from lace_tui.screens.marks import BAD, QUIET, STRONG, mark, rows
from lace_tui.screens.place import Fitted, footer
from lazy.belonging import circle
from lazy.places.registry import places
from vault.beginning import found_vault
from vault.commands import as_option
from vault.names import check_group_name, check_person
from vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path

    from textual.content import Content

    from lace_tui.screens.host import Host
    from vault.surroundings import Surroundings

__all__ = ["FirstRun"]

_CALLED = "What shall your friends call you?"


class FirstRun(Screen[None]):
    """Three ways to begin.

    Args:
        folder: where it was started, for people.
        name: what the person is probably called.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.FIRST)

    DEFAULT_CSS = """
    FirstRun { align: center middle; }
    FirstRun #choices { width: auto; max-width: 100%; height: auto; border: round $primary; padding: 1 2; }
    FirstRun #foot { dock: bottom; height: 1; background: $panel; padding: 0 1; }
    """

    def __init__(self, folder: str, name: str = "") -> None:
        super().__init__()
        self._folder = folder
        self._name_known = name

    @property
    def lace(self) -> Host:
        """The app, by its own type."""
        return self.app  # type: ignore[return-value]

    def compose(self) -> ComposeResult:
        """Lay out the three choices."""
        choices = [
            line
            for action in actions_of(Scope.FIRST)
            for line in (
                mark(f"{key_of(action.id, self.lace.taste.keys)}  ", STRONG) + mark(action.sentence),
                mark(f"   or in a shell: {action.cli}", QUIET),
            )
        ]
        box = Static(
            rows(mark(f"No vault in {self._folder} yet.", QUIET), mark(""), *choices, mark(""),
                 mark("Press the key in front.", QUIET)),
            id="choices",
        )  # fmt: skip
        box.border_title = "lace: share a folder with friends, without a server"
        yield box
        yield Fitted("foot")

    def on_mount(self) -> None:
        """Name the keys that work here."""
        shown = [action_named("help"), *actions_of(Scope.FIRST), action_named("quit")]
        self.query_one("#foot", Fitted).show(footer(shown, {}, self.lace.taste.keys))

    def action_found(self) -> None:
        """Begin a group with this folder."""

        def named(name: str | None) -> None:
            if not name:
                return

            def grouped(group: str | None) -> None:
                if group:
                    command = f"lace init {as_option('--name', name)} {as_option('--group', group)}"
                    self.lace.make_vault(partial(_found, name, group), command, "You have begun")

            asked = Question("Begin here", "What shall the group be called?", "friends", check=check_group_name)
            self.app.push_screen(asked, grouped)

        self.app.push_screen(Question("Begin here", _CALLED, self._name_known, check=check_person), named)

    def action_enter(self) -> None:
        """Enter a friend's group with the line they sent."""
        from lazy.belonging.invitations import Invitation  # no part of the first frame

        keys = self.lace.taste.keys

        def given(line: str | None) -> None:
            if not line:
                return

            def named(name: str | None) -> None:
                if name is not None:
                    self.lace.make_vault(partial(_accept, line, name, keys), "lace accept INVITE", "You have joined")

            text = _CALLED + " Leave it empty for the name your friend suggests."
            self.app.push_screen(Question("Join friends", text, check=check_person, lacks=""), named)

        text = "Paste the line your friend sent you; it begins with lace-."
        self.app.push_screen(Question("Join friends", text, is_invitation=True, check=Invitation.decode), given)

    def action_look_around(self) -> None:
        """Leave this screen for the made-up friends."""
        self.lace.wants_demo = True
        self.app.exit()


def _found(name: str, group: str, folder: Path, around: Surroundings) -> tuple[Vault, list[Content]]:
    """Begin a group, in a thread; return what a release would share that nobody means to."""
    from lace_tui.words.joining import repository_note  # no part of the first frame

    vault = found_vault(folder, around, name=name, group=group)
    note = repository_note(folder)
    return vault, [mark(f"! {note}", BAD)] if note else []


def _accept(
    line: str, name: str, keys: Mapping[str, str], folder: Path, around: Surroundings
) -> tuple[Vault, list[Content]]:
    """Enter by the line, in a thread; return what shows whom one joined, and all that is not as it may seem."""
    from lace_tui.words.joining import left_out_places, repository_note, words_to_compare

    vault, invitation = circle.accept(folder, around, line, name=name)
    theirs, mine = words_to_compare(vault, invitation)
    syncs, updates, adds = (key_of(name, keys) for name in ("sync", "update", "new-place"))
    following = f"{syncs} syncs, then {updates} updates" if places(vault) else f"{adds} adds the place where you meet"
    told = [
        mark(f"You are {vault.name} in the group {invitation.group}.", STRONG),
        mark(""),
        mark(theirs),
        mark(mine),
        mark("Hear theirs by a way that you trust: if they differ, it is not your friend whom you joined.", QUIET),
        mark(""),
        mark(f"Next: {following}."),
        mark("You are a member once your friend has synced too."),
    ]
    doubts = [invitation.doubt(around.tai()), *left_out_places(vault, invitation), repository_note(folder)]
    return vault, told + [part for doubt in doubts if doubt for part in (mark(""), mark(f"! {doubt}", BAD))]
