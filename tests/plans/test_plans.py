"""What a plan says is what the doing does then (APP-12): some commands in some states.

The whole form, every command with a dry run in every state, is `python -m tests.plans`.
"""

from __future__ import annotations

import pytest

from lace_tui.cli.verbs import VERBS
from tests.people import Person
from tests.plans.comparing import COMMANDS, differences, typed
from tests.plans.states import STATES, made
from tests.shelf import Shelf

_IN_A_FOLDER = ("update", "undo", "checkout main@1 song.txt --keep-edits", "release --yes")
_SHORT = {
    **dict.fromkeys(
        [
            "edits_that_clash",
            "looked_and_edited",
            "path_brought_and_edited",
            "cut_update_more_news",
            "left_update",
            "cut_look_edited",
            "cut_undo_edited",
            "cut_merge_edited",
            "emptied",
            "restored_and_met_edited",
        ],
        _IN_A_FOLDER,
    ),
    "desk_mapped_filled": ("update songs", "release --yes --desk songs", "checkout alice/songs la.txt"),
    "file_for_folder": ("checkout main@1 deep", "checkout main@1 deep --keep-edits", "update"),
    "part_fetched": ("update", "sync stick", "checkout alice/main"),
    "proposed_decision_edited": ("resolve CONFLICT --accept", "resolve CONFLICT --prefer local", "update"),
    "pruned": ("checkout main@1", "prune --yes", "export EXPORT"),
    "ruled_out_committed": ("commit -m out --keep-out song.txt", "commit -m out --keep-out deep", "update"),
    "stick_gone": ("sync stick", "push stick", "bundle apply BUNDLE"),
    "unpermitted": ("update", "merge main --from alice/main --strategy only-that", "revoke alice --yes"),
    "version_conflict_left": ("resolve CONFLICT --prefer alice", "resolve CONFLICT --merged 9.0.0", "update"),
}


@pytest.mark.parametrize(
    ("state", "command"), [(state, command) for state, commands in _SHORT.items() for command in commands]
)
def test_a_plan_answers_as_the_doing(shelf: Shelf, state: str, command: str) -> None:
    """APP-12: exit codes, refusals with their way out, what is written and deleted, and what waits for a person."""
    bob: Person = shelf.lay(made, state)
    words = typed(command, bob)
    assert words
    assert list(differences(words, bob)) == []


def test_a_difference_is_found(shelf: Shelf) -> None:
    """Where the folder changes between the two, what they say differs."""
    bob: Person = shelf.lay(made, "clean")

    class Late(Person):
        def run(self, *words: str, **given: object) -> object:  # type: ignore[override]
            if "--dry-run" not in words:
                bob.write("late.txt", "late\n")
            return bob.run(*words)

    late = Late("bob", bob.home, bob.folder)
    assert any(one.startswith("files: the plan 3, the doing 4") for one in differences(["release", "--yes"], late))


def test_what_a_plan_writes_is_found(shelf: Shelf) -> None:
    """APP-12: a file anywhere, a row of a store."""
    bob: Person = shelf.lay(made, "clean")

    class Writing(Person):
        def run(self, *words: str, **given: object) -> object:  # type: ignore[override]
            if "--dry-run" in words:
                bob.lace("config", "set", "share", "commits")
                bob.lace("label", "now")
            return bob.run(*words)

    found = list(differences(["release", "--yes"], Writing("bob", bob.home, bob.folder)))
    assert "the plan changed bob/.vault/config.toml" in found
    assert "the plan changed bob/.vault/store.db body" in found


def test_every_command_with_a_dry_run_is_compared() -> None:
    """A new one has its line in the table, and every state of the short form is one."""
    compared = {command.split()[0] for command in COMMANDS}
    assert {verb.name.split()[0] for verb in VERBS if "--dry-run" in verb.arguments} <= compared
    assert {command for commands in _SHORT.values() for command in commands} <= set(COMMANDS)
    assert _SHORT.keys() <= STATES.keys()
