"""The one table of what a person can do in the app.

Bindings, the help page, the footer, the command palette and the documentation are made from it, so they cannot
disagree. Every action that does something has a command with the same result (APP-1); one that only moves about the
screen says so. Keys can be changed by id (`[keys]` in the user's config file). Nothing here knows Textual.

A capital is wider or heavier than its small letter, nothing that cannot be taken back hangs on one key, and the key
that agrees is never the key that asked.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["ACTIONS", "PLACES", "Action", "Scope", "action_named", "actions_of"]


class Scope(StrEnum):
    """Where an action's keys work."""

    APP = "everywhere"
    LIST = "in a list"
    PLAN = "in a plan"
    OFFER = "when all is decided"
    SERVING = "where friends are served"
    LEFT = "where a text is in no draft"
    FIRST = "where there is no vault"
    HOME = "home"
    CONFLICTS = "conflicts"
    RESOLVE = "resolve"
    QUEUE = "queue"
    PEERS = "peers"
    HISTORY = "history"
    FILES = "in the files of a revision"
    KEPT = "in what is kept"
    DESKS = "in desks and rules"
    AUDIT = "audit"
    REFUSED = "in what was refused"
    EXPORT = "export"
    SETTINGS = "settings"


# The places that 1 to 8 lead to, in their order.
PLACES: tuple[Scope, ...] = (
    Scope.HOME,
    Scope.CONFLICTS,
    Scope.QUEUE,
    Scope.PEERS,
    Scope.HISTORY,
    Scope.AUDIT,
    Scope.EXPORT,
    Scope.SETTINGS,
)


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


def _do(scope: Scope, action_id: str, key: str, title: str, sentence: str, cli: str = "", *, hint: str = "") -> Action:
    """Return an action of one place; its method is `action_` and the id with underscores."""
    call, keys = action_id.replace("-", "_"), tuple(key.split(","))
    return Action(action_id, title, sentence, keys, "  ".join(keys), call, cli, scope, hint)


def _go(number: int, place: Scope, sentence: str) -> Action:
    key = str(number)
    return Action(f"go-{place}", f"Go to {place}", sentence, (key,), key, f"app.go('{place}')")


def _move(scope: Scope, action_id: str, key: str, title: str, sentence: str, call: str = "", shown: str = "") -> Action:
    """Return an action of one place that only moves about the screen."""
    keys = tuple(key.split(","))
    return Action(action_id, title, sentence, keys, shown or key, call or action_id.replace("-", "_"), "", scope)


# In the order of help and footer; "?" comes first so that it never falls off a narrow footer.
_EVERYWHERE: tuple[Action, ...] = (
    Action("help", "Help", "Show all keys.", ("question_mark", "f1"), "?  F1", "help", "lace help", hint="help"),
    _go(1, Scope.HOME, "Am I in step, and does anything need me?"),
    _go(2, Scope.CONFLICTS, "What needs a decision, and decide it."),
    _go(3, Scope.QUEUE, "What waits for whom, and why."),
    _go(4, Scope.PEERS, "Who has what, and where we meet."),
    _go(5, Scope.HISTORY, "Every release and commit, at any point in time."),
    _go(6, Scope.AUDIT, "Everything that was done here."),
    _go(7, Scope.EXPORT, "The history as tables, and what they answer."),
    _go(8, Scope.SETTINGS, "How lace behaves, looks, and which keys it takes."),
    Action("read", "Read again", "Read the vault and look at the places again.", ("f5",), "F5", "read", "lace status"),
    Action("stop", "Stop", "Stop what is running, at its next safe point.", ("escape",), "esc", "stop"),
    Action("copy", "Copy the command", "Copy the selected row's command.", ("y",), "y", "copy"),
    Action(
        "log", "Activity", "Show what was done in this sitting, with its commands.", ("exclamation_mark",), "!", "log"
    ),
    _do(Scope.APP, "changes", "D", "What changed here", "Show what you changed in the folder since your last commit.",
        "lace diff"),
    _do(Scope.APP, "undo", "U", "Undo",
        "Take back your last commit, update or change of places; shows the plan first.", "lace undo"),
    _do(Scope.APP, "redo", "Z", "Redo", "Do again what you took back last in this sitting; shows the plan first.",
        "lace commit -m TEXT"),
    Action("next-panel", "Next panel", "Go to the next panel.", ("tab",), "tab", "app.focus_next"),
    Action(
        "previous-panel", "Panel before", "Go to the panel before.", ("shift+tab",), "shift+tab", "app.focus_previous"
    ),
    Action("suspend", "Suspend",
           "Give the terminal back to the shell until fg; what runs stands still. Where one edits, ctrl+z undoes.",
           ("ctrl+z",), "ctrl+z", "app.suspend_process"),
    Action("palette", "Palette", "Find an action by name.", ("ctrl+p",), "ctrl+p", "command_palette", hint="all"),
    Action(
        "quit",
        "Quit",
        "Leave; asks first while something runs or serves, or where choices are not kept.",
        ("q", "ctrl+q"),
        "q",
        "quit",
        hint="quit",
    ),
)  # fmt: skip
_LIST: tuple[Action, ...] = (
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
    Action("down", "Down", "Go to the next row.", ("j", "down"), "j  down", "cursor_down", scope=Scope.LIST),
    Action("up", "Up", "Go to the row before.", ("k", "up"), "k  up", "cursor_up", scope=Scope.LIST),
    Action("first", "First", "Go to the first row.", ("g", "home"), "g  home", "first", scope=Scope.LIST),
    Action("last", "Last", "Go to the last row.", ("G", "end"), "G  end", "last", scope=Scope.LIST),
    Action("page-of-rows-down", "Page down", "Go down by a page.", ("pagedown", "ctrl+f"), "pgdn", "page_down",
           scope=Scope.LIST),
    Action("page-of-rows-up", "Page up", "Go up by a page.", ("pageup", "ctrl+b"), "pgup", "page_up", scope=Scope.LIST),
    Action("half-down", "Half a page down", "Go down by half a page.", ("ctrl+d",), "ctrl+d", "half_down",
           scope=Scope.LIST),
    Action("half-up", "Half a page up", "Go up by half a page.", ("ctrl+u",), "ctrl+u", "half_up", scope=Scope.LIST),
    Action("filter", "Filter", "Show only rows with some text; esc shows all again.", ("slash",), "/", "screen.filter",
           scope=Scope.LIST),
    Action("mark", "Mark", "Mark the row, or take its mark away.", ("space",), "space", "screen.mark",
           scope=Scope.LIST),
    Action("mark-all", "Mark all shown", "Mark every row that is shown, or none.", ("asterisk",), "*",
           "screen.mark_all", scope=Scope.LIST),
)  # fmt: skip
_PLAN: tuple[Action, ...] = (
    Action("confirm", "Do it", "Do what the plan says.", ("y",), "y", "confirm", "lace update", Scope.PLAN),
)
_OFFER: tuple[Action, ...] = (
    Action("sync-now", "Sync now", "Sync, so that your friends learn what you decided.", ("s",), "s", "sync_now",
           "lace sync NAME", Scope.OFFER),
)  # fmt: skip
_SERVING: tuple[Action, ...] = (
    Action("end-serving", "End serving", "Let no friend sync with this device any more.", ("x",), "x", "end_serving",
           "lace serve", Scope.SERVING),
)  # fmt: skip
_LEFT: tuple[Action, ...] = (
    Action("delete-text", "Delete it", "Delete the text that is in no draft; asks first.", ("x",), "x", "delete_text",
           "lace status", Scope.LEFT),
)  # fmt: skip
_F = Scope.FIRST
_FIRST: tuple[Action, ...] = (
    _do(_F, "found", "b", "Begin here", "Begin: make this folder one to share.", "lace init --name NAME --group GROUP",
        hint="begin"),
    _do(_F, "enter", "j", "Join friends", "Join: enter a friend's group with the line they sent you.",
        "lace accept INVITE", hint="join"),
    _do(_F, "look-around", "o", "Open the demo", "Look around first, with three made-up friends.", "lace demo",
        hint="demo"),
)  # fmt: skip
_H, _C, _R, _Q, _P = Scope.HOME, Scope.CONFLICTS, Scope.RESOLVE, Scope.QUEUE, Scope.PEERS
_HOME: tuple[Action, ...] = (
    _do(_H, "sync", "s", "Sync", "Sync the selected place or peer.", "lace sync NAME", hint="sync"),
    _do(_H, "update", "u", "Update the folder", "Bring friends' releases into your folder; shows the plan first.",
        "lace update", hint="update"),
    _do(_H, "release", "R", "Release", "Give what your folder holds a version, for your friends; asks which.",
        "lace release VERSION", hint="release"),
    _do(_H, "sync-all", "S", "Sync all", "Sync every place that is here; shows the plan first.", "lace sync",
        hint="sync all"),
    _do(_H, "dry-run", "d,t", "What would move",
        "Try the selected place or peer: what would a sync move?", "lace sync NAME --dry-run"),
    _do(_H, "forget-place", "x", "Forget a place", "Forget the selected place; what lies there stays; shows the plan.",
        "lace place remove NAME"),
    _do(_H, "new-place", "a", "Add a place", "Name a directory, a stick or a repository where you meet.",
        "lace place add NAME DIR"),
    _do(_H, "edit-place", "e", "Move a place", "Give the selected place another address; what lies there stays.",
        "lace place remove NAME; lace place add NAME DIR"),
    _do(_H, "invite-friend", "i", "Invite", "Make the line that lets one friend in.", "lace invite NAME"),
)  # fmt: skip
_CONFLICTS: tuple[Action, ...] = (
    _do(_C, "resolve", "enter", "Resolve", "See both sides of the conflict and choose.",
        "lace resolve CONFLICT --merged VERSION", hint="resolve"),
    _do(_C, "prefer-local", "L", "Prefer mine", "Take your side of the marked conflicts; shows the plan first.",
        "lace resolve CONFLICT --prefer local", hint="mine"),
    _do(_C, "prefer-remote", "R", "Prefer theirs", "Take their side of the marked conflicts; shows the plan first.",
        "lace resolve CONFLICT --prefer remote", hint="theirs"),
    _do(_C, "accept", "A", "Accept a decision", "Accept others' decisions on the marked conflicts; plan first.",
        "lace resolve CONFLICT --accept", hint="accept"),
    _move(_C, "set-aside", "z", "Set aside", "Put the marked conflicts last in this sitting, or back; they stay open."),
)  # fmt: skip
_REGION = "lace resolve CONFLICT --merged VERSION --path P --region N --take SIDE"
_WHOLE = "lace resolve CONFLICT --merged VERSION --path P --take SIDE"
_FILES = "lace resolve CONFLICT --merged VERSION --files DIR"


_RESOLVE: tuple[Action, ...] = (
    _do(_R, "take-left", "l", "Take mine", "Take the left side's lines for the region; yours, where you have a side.",
        _REGION, hint="yours"),
    _do(_R, "take-right", "r", "Take theirs", "Take the right side's lines for the region.", _REGION, hint="theirs"),
    _do(_R, "take-both", "o", "Take both", "Take both sides' lines, the left ones first.", _REGION, hint="both"),
    _do(_R, "edit-here", "e", "Edit", "Edit the result here; ctrl+z undoes, esc comes back with it.",
        _FILES, hint="edit"),
    _do(_R, "write", "w", "Write", "Show what would be written; y writes it.", _FILES, hint="write"),
    _do(_R, "whole-left", "L", "All mine", "Take the whole file from the left side.", _WHOLE, hint="all yours"),
    _do(_R, "whole-right", "R", "All theirs", "Take the whole file from the right side.", _WHOLE, hint="all theirs"),
    _do(_R, "take-swapped", "O", "Take both, other order", "Take both sides' lines, the right ones first.", _FILES),
    _do(_R, "undecide", "0", "Undecide", "Take the choice away again.", "lace conflicts --regions"),
    _do(_R, "edit-outside", "E", "Edit in your editor", "Edit the result in the program that EDITOR names.", _FILES),
    _do(_R, "name-version", "v", "Name the version", "Say which version the result becomes.", _FILES),
    _move(_R, "next-region", "n", "Next region", "Go to the next region, or file."),
    _move(_R, "previous-region", "N", "Region before", "Go to the region before, or file."),
    _move(_R, "next-conflict", "right_square_bracket", "Next conflict", "Go to the next conflict; choices stay.",
          shown="]"),
    _move(_R, "previous-conflict", "left_square_bracket", "Conflict before", "Go to the conflict before.", shown="["),
    _move(_R, "base", "b", "Base", "Show what was there before, or leave it out."),
    _move(_R, "flip", "tab", "Flip", "On a narrow screen: show both sides, the left one, the right one."),
    _move(_R, "lines-down", "j,down", "Scroll down", "Move both sides down, and the result once it is whole.",
          "scroll_lines(1)", "j  down"),
    _move(_R, "lines-up", "k,up", "Scroll up", "Move both sides up, and the result once it is whole.",
          "scroll_lines(-1)", "k  up"),
    _move(_R, "page-down", "pagedown", "Page down", "Move both sides down by a page, and the result once it is whole.",
          "scroll_pages(1)"),
    _move(_R, "page-up", "pageup", "Page up", "Move both sides up by a page, and the result once it is whole.",
          "scroll_pages(-1)"),
    _move(_R, "leave", "escape", "Later", "Go back; choices stay as a draft.", shown="esc"),
)  # fmt: skip
_QUEUE: tuple[Action, ...] = (
    _do(_Q, "retry", "r", "Retry", "Sync with a place of the selected peer.", "lace sync NAME", hint="retry"),
    _do(
        _Q,
        "drop",
        "x",
        "Drop",
        "Drop all that waits for the selected peer, who is left; plan and name first.",
        "lace leave NAME",
        hint="drop",
    ),
)
_PEERS: tuple[Action, ...] = (
    _do(_P, "sync-peer", "s", "Sync", "Sync with the selected peer or place.", "lace sync NAME", hint="sync"),
    _do(_P, "try-peer", "d,t", "Try", "Try the selected place or peer: what would a sync move?",
        "lace sync NAME --dry-run", hint="try"),
    _do(_P, "move-place", "e", "Move a place", "Give the selected place another address; what lies there stays.",
        "lace place remove NAME; lace place add NAME DIR"),
    _do(_P, "leave-peer", "x", "Leave", "Leave the selected peer, or forget the place; shows the plan first.",
        "lace leave NAME"),
    _do(_P, "revoke", "X", "Revoke", "Say that the selected member's log counts no further; plan and name first.",
        "lace revoke NAME"),
    _do(_P, "serve", "v", "Serve", "Let friends sync with this device over the network; v again shows where.",
        "lace serve", hint="serve"),
    _do(_P, "write-file", "b", "Write a file", "Write what the selected peer lacks to one file, or all there is.",
        "lace bundle create FILE"),
    _do(_P, "take-file", "B", "Take in a file", "Take in a file that a friend made; shows the plan first.",
        "lace bundle apply FILE"),
    _do(_P, "join", "J", "Join a friend", "Name a peer by key, where no invitation is; shows the plan first.",
        "lace join NAME URI --key V"),
    _do(_P, "identity", "I", "Who I am", "Show your own key and the words to compare aloud.", "lace id"),
)  # fmt: skip
_HI, _A, _E, _S = Scope.HISTORY, Scope.AUDIT, Scope.EXPORT, Scope.SETTINGS
_FI = Scope.FILES
_HISTORY: tuple[Action, ...] = (
    _do(_HI, "diff", "d", "Diff", "Show what the selected entry changed, or what lies between two marked ones.",
        "lace diff A B", hint="diff"),
    _do(_HI, "files", "f", "Files", "See the files as they were at the selected entry; read or fetch them.",
        "lace cat DESK@CASE PATH", hint="files"),
    _do(_HI, "travel", "t", "Back in time", "Name a time: a number, version, label or date; two show what differs.",
        "lace diff A B", hint="time"),
    _do(_HI, "commit", "c", "Commit", "Keep the folder as it is now, with a sentence why; it stays with you.",
        "lace commit -m TEXT", hint="commit"),
    _do(_HI, "label", "b", "Label", "Give the newest revision, or the selected one of yours, a name.",
        "lace label NAME"),
    _do(_HI, "check-out", "o", "Check out", "Bring the folder to the selected entry; shows the plan first.",
        "lace checkout DESK@CASE"),
    _do(_HI, "prune", "P", "Prune", "Let go of old content; asks how much stays, and shows the plan first.",
        "lace prune"),
    _do(_HI, "kept-states", "K", "Kept states", "See what an undo or a checkout kept before it wrote over it.",
        "lace desks"),
    _do(_HI, "desks", "w", "Desks and rules",
        "See the desks, who may write and read where, and how long files are kept; change it.", "lace desks"),
    _do(_HI, "record", "m", "The record itself", "Show the selected entry's record, byte for byte.",
        "lace record show HASH"),
)  # fmt: skip
_FILES_OF: tuple[Action, ...] = (
    _do(_FI, "read-file", "enter", "Read", "Read the selected file as it was.", "lace cat DESK@CASE PATH", hint="read"),
    _do(_FI, "compare", "d", "Compare", "Show what differs from another time; asks which, the newest if none.",
        "lace diff A B", hint="compare"),
    _do(_FI, "bring-file", "b", "Bring a file back", "Bring the selected file alone into the folder; shows the plan.",
        "lace checkout DESK@CASE PATH", hint="bring back"),
    _do(_FI, "bring-back", "o", "Check out", "Bring the folder to this revision; shows the plan first.",
        "lace checkout DESK@CASE", hint="check out"),
    _do(_FI, "copy-out", "x", "Copy out", "Write a copy of all these files into another folder.",
        "lace checkout DESK@CASE --to DIR", hint="copy out"),
    _move(_FI, "back", "escape", "Back", "Go back to the history.", "leave", "esc"),
)  # fmt: skip
_K = Scope.KEPT
_KEPT: tuple[Action, ...] = (
    _do(_K, "kept-files", "f", "Files", "See the files of the selected state; read them, or bring them back.",
        "lace cat DESK@CASE PATH", hint="files"),
    _do(_K, "kept-diff", "d", "Diff", "Show what the selected state has otherwise than your newest.", "lace diff A B",
        hint="diff"),
    _move(_K, "leave-kept", "escape", "Back", "Go back to the history.", "leave", "esc"),
)  # fmt: skip
_D = Scope.DESKS
_DESKS: tuple[Action, ...] = (
    _do(_D, "add-desk", "a", "Add a desk", "Make a sub-folder a desk of its own; asks for its name and folder.",
        "lace desk add NAME DIR", hint="add"),
    _do(_D, "permit", "p", "Who may write and read",
        "Say whose changes at a path you take in, or who is sent it.", "lace desk permit PATH --write --only NAME",
        hint="permit"),
    _do(_D, "keep-newest", "n", "How long files are kept",
        "Say how many of each member's newest releases keep files at a path.", "lace desk keep PATH N", hint="keep"),
    _do(_D, "take-back", "x", "Take a rule back", "Take the selected rule back; shows the plan.",
        "lace desk permit PATH --write --anyone", hint="take back"),
    _move(_D, "leave-desks", "escape", "Back", "Go back to the history.", "leave", "esc"),
)  # fmt: skip
_AUDIT: tuple[Action, ...] = (
    _do(_A, "verify", "V", "Verify", "Check every entry: sealed, numbered, chained.", "lace audit verify",
        hint="verify"),
    _do(_A, "check", "F", "Check everything",
        "Check every record, signature and view; asks before it repairs what is wrong.", "lace fsck", hint="check"),
    _do(_A, "refused", "r", "Refused", "Look at what was refused, and why.", "lace quarantine", hint="refused"),
)  # fmt: skip
_RF = Scope.REFUSED
_REFUSED: tuple[Action, ...] = (
    _do(_RF, "judge-again", "a", "Judge again", "Judge the selected record as if it arrived now.",
        "lace quarantine admit HASH", hint="judge again"),
    _do(_RF, "throw-away", "x", "Drop", "Throw away what is kept of the selected record; shows the plan first.",
        "lace quarantine drop HASH", hint="drop"),
    _move(_RF, "leave-refused", "escape", "Back", "Go back to the audit.", "leave", "esc"),
)  # fmt: skip
_EXPORT: tuple[Action, ...] = (
    _do(_E, "export", "x", "Export", "Write the tables into the named directory.", "lace export DIR", hint="export"),
    _do(_E, "count", "d", "Dry run", "Count the rows of each table; nothing is written.", "lace export DIR --dry-run",
        hint="dry run"),
    _do(_E, "report", "p", "Report", "Answer the selected question, over this vault or a directory of exports.",
        "lace report NAME --input DIR", hint="report"),
)  # fmt: skip
_SETTINGS: tuple[Action, ...] = (
    _do(_S, "change", "enter", "Change", "Give the selected setting another value.", "lace config set KEY VALUE",
        hint="change"),
    _do(_S, "passphrase", "p", "Passphrase", "Give your own key a passphrase, or take it away; asks first.",
        "lace key protect", hint="passphrase"),
)  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    *_EVERYWHERE, *_LIST, *_PLAN, *_OFFER, *_SERVING, *_LEFT, *_FIRST, *_HOME, *_CONFLICTS, *_RESOLVE, *_QUEUE, *_PEERS,
    *_HISTORY, *_FILES_OF, *_KEPT, *_DESKS, *_AUDIT, *_REFUSED, *_EXPORT, *_SETTINGS,
)  # fmt: skip


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
