"""The one table of what a person can do in the app.

Bindings, the help page, the footer, the command palette and the documentation are made from it, so they cannot
disagree. Every action that does something has a command with the same result (APP-1); one that only moves about the
screen says so. Nothing here knows Textual.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["ACTIONS", "Action", "Scope", "action_named", "actions_of"]


class Scope(StrEnum):
    """Where an action's keys work."""

    APP = "everywhere"
    LIST = "in a list"
    PLAN = "in a plan"


class Action(NamedTuple):
    """One thing a person can do.

    Args:
        id: stable name, also of its key binding.
        title: what the palette calls it.
        sentence: what it does.
        keys: as Textual spells them.
        shown: how help spells the keys.
        call: the Textual action that does it.
        cli: the command with the same result; empty for one that only moves about the screen.
        scope: where its keys work.
        hint: word for the footer; empty leaves it out there.
    """

    id: str
    title: str
    sentence: str
    keys: tuple[str, ...]
    shown: str
    call: str
    cli: str = ""
    scope: Scope = Scope.APP
    hint: str = ""

    @property
    def is_move(self) -> bool:
        """Whether it concerns the screen only, so that there is nothing to do by command."""
        return not self.cli


# In the order of help and footer; "?" comes first so that it never falls off a narrow footer.
ACTIONS: tuple[Action, ...] = (
    Action("help", "Help", "Show all keys.", ("question_mark", "f1"), "?  F1", "help", "lace help", hint="help"),
    Action("sync", "Sync", "Sync the selected place or peer.", ("s",), "s", "sync", "lace sync NAME", hint="sync"),
    Action(
        "update",
        "Update the folder",
        "Bring friends' releases into your folder; shows the plan first.",
        ("u",),
        "u",
        "update",
        "lace update",
        hint="update",
    ),
    Action(
        "read",
        "Read again",
        "Read the vault and look at the places again.",
        ("r", "f5"),
        "r  F5",
        "read",
        "lace status",
    ),
    Action("stop", "Stop", "Stop what is running, at its next safe point.", ("escape",), "esc", "stop"),
    Action(
        "open",
        "Open",
        "Show all of the selected row, and its command.",
        ("enter",),
        "enter",
        "select",
        scope=Scope.LIST,
        hint="open",
    ),
    Action("copy", "Copy the command", "Copy the selected row's command.", ("y",), "y", "copy"),
    Action("down", "Down", "Go to the next row.", ("j", "down"), "j  down", "cursor_down", scope=Scope.LIST),
    Action("up", "Up", "Go to the row before.", ("k", "up"), "k  up", "cursor_up", scope=Scope.LIST),
    Action("first", "First", "Go to the first row.", ("g", "home"), "g  home", "first", scope=Scope.LIST),
    Action("last", "Last", "Go to the last row.", ("G", "end"), "G  end", "last", scope=Scope.LIST),
    Action("next-panel", "Next panel", "Go to the next panel.", ("tab",), "tab", "app.focus_next"),
    Action(
        "previous-panel", "Panel before", "Go to the panel before.", ("shift+tab",), "shift+tab", "app.focus_previous"
    ),
    Action("confirm", "Do it", "Do what the plan says.", ("y",), "y", "confirm", "lace update", Scope.PLAN),
    Action("palette", "Palette", "Find an action by name.", ("ctrl+p",), "ctrl+p", "command_palette", hint="all"),
    Action("quit", "Quit", "Leave; what is running stops first.", ("q", "ctrl+q"), "q", "quit", hint="quit"),
)


def action_named(action_id: str) -> Action:
    """Return the action of that id.

    Raises:
        KeyError: there is none.
    """
    for action in ACTIONS:
        if action.id == action_id:
            return action
    raise KeyError(action_id)


def actions_of(scope: Scope) -> list[Action]:
    """Return the actions whose keys work there, in the table's order."""
    return [action for action in ACTIONS if action.scope is scope]
