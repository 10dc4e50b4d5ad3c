"""The table of actions: every one has its twin, its keys and its words (APP-1)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.app.places import SCREENS
from lace_tui.cli.naming import find_verb
from lace_tui.cli.verbs import VERBS
from lace_tui.keys.actions import ACTIONS, PLACES, Action, Scope, action_named
from lace_tui.screens.desks import Desks
from lace_tui.screens.dialogs import Offer, PlanPage, ServingPage
from lace_tui.screens.files import Files
from lace_tui.screens.first import FirstRun
from lace_tui.screens.kept import Kept
from lace_tui.screens.left_text import LeftPage
from lace_tui.screens.lines import Lines
from lace_tui.screens.listing import Listing
from lace_tui.screens.quarantine import Quarantine
from lace_tui.screens.resolve import Resolve
from tests.people import ROOT

MOVES = {
    "stop", "open", "copy", "down", "up", "first", "last", "next-panel", "previous-panel", "palette", "quit",
    "filter", "page-of-rows-down", "page-of-rows-up", "half-down", "half-up", "mark", "mark-all", "log",
    "next-region", "previous-region", "next-conflict", "previous-conflict", "base", "flip", "lines-down",
    "lines-up", "page-down", "page-up", "leave", "back", "set-aside", "leave-kept", "leave-refused",
    "leave-desks", "suspend",
    *(f"go-{place}" for place in PLACES),
}  # fmt: skip


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_has_a_command_that_exists(action: Action) -> None:
    """APP-1: what the app does, a command does; only moving about the screen has none."""
    assert bool(action.cli) == (action.id not in MOVES)
    if action.cli:
        lace, *words = action.cli.split()
        assert lace == "lace"
        verb, _ = find_verb(words)
        assert verb is not None, action.cli
        assert verb in VERBS


def test_ids_and_keys_do_not_clash() -> None:
    ids = [action.id for action in ACTIONS]
    assert len(ids) == len(set(ids))
    for scope in Scope:
        keys = [key for action in ACTIONS if action.scope is scope for key in action.keys]
        assert len(keys) == len(set(keys)), scope
    everywhere = {key for action in ACTIONS if action.scope is Scope.APP for key in action.keys}
    in_lists = {key for action in ACTIONS if action.scope is Scope.LIST for key in action.keys}
    assert not everywhere & in_lists


def test_the_confirming_key_is_never_the_starting_one() -> None:
    assert not set(action_named("confirm").keys) & set(action_named("update").keys)


def test_bindings_come_from_the_table() -> None:
    """Every action is bound by its id, where its scope says, to a method that is there."""
    owners: dict[Scope, Any] = {
        Scope.APP: LaceApp,
        Scope.LIST: Lines,
        Scope.PLAN: PlanPage,
        Scope.OFFER: Offer,
        Scope.SERVING: ServingPage,
        Scope.LEFT: LeftPage,
        Scope.FIRST: FirstRun,
        Scope.RESOLVE: Resolve,
        Scope.FILES: Files,
        Scope.KEPT: Kept,
        Scope.DESKS: Desks,
        Scope.REFUSED: Quarantine,
        **{place: SCREENS[place] for place in PLACES},
    }
    for scope, owner in owners.items():
        bound = {binding.id: binding for binding in owner.BINDINGS if not isinstance(binding, tuple)}
        for action in ACTIONS:
            if action.scope is scope:
                assert bound[action.id].key.split(",") == list(action.keys)
                call = bound[action.id].action.split("(")[0]
                target, _, name = call.rpartition(".")
                assert hasattr(Listing if target == "screen" else owner, f"action_{name}"), call


def test_the_table_needs_no_textual() -> None:
    """Documentation and commands may read the table without loading the app."""
    code = "import sys, lace_tui.keys.actions, lace_tui.app.tui\nassert 'textual' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
