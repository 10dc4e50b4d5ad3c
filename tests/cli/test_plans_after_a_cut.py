"""A plan over an update that was cut off refuses what the doing refuses, and plans what it does (APP-4, APP-12)."""

from __future__ import annotations

import pytest

from tests.cli.looking import tree_of
from tests.people import Person
from tests.plans.states import made
from tests.shelf import Shelf


def _answers(bob: Person, *words: str) -> tuple[dict[str, object], dict[str, object]]:
    """Return what a plan answers and what the doing does; both end alike."""
    plan, done = bob.run("--json", *words, "--dry-run"), bob.run("--json", *words)
    assert (plan.code, plan.json.get("error")) == (done.code, done.json.get("error"))
    return plan.json, done.json


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("left_update", ("checkout", "main@1", "deep", "--keep-edits")),
        ("cut_update_new_clashing", ("checkout", "main@1", "song.txt", "--keep-edits")),
        ("cut_keep_edits_edited", ("checkout", "main@1", "deep", "--keep-edits")),
        ("cut_update_clashing", ("undo",)),
        ("path_brought_and_left", ("undo",)),
    ],
)
def test_what_would_wait_for_a_person_is_refused_by_the_plan_too(
    shelf: Shelf, state: str, words: tuple[str, ...]
) -> None:
    """APP-4, APP-12: it said what would be written, and the doing refused."""
    bob = shelf.lay(made, state)
    plan, _ = _answers(bob, *words)
    assert "error" in plan


def test_a_file_that_would_be_kept_by_name_first_is_no_hindrance(shelf: Shelf) -> None:
    """CYB-8: the commit of its path ends what was left of the update."""
    bob = shelf.lay(made, "left_update")
    plan, done = _answers(bob, "checkout", "main@1", "song.txt", "--keep-edits")
    assert plan["written"] == done["written"] == ["song.txt"]


def test_what_finishing_would_merge_is_no_hindrance_to_an_undo(shelf: Shelf) -> None:
    """APP-4: the plan refused what was done then, and kept the edit."""
    bob = shelf.lay(made, "cut_update_merging")
    plan, done = _answers(bob, "undo")
    assert (plan["written"], plan["lone"]) == (done["written"], done["lone"]) == (["song.txt"], ["song.txt"])
    assert "vier" in bob.text("cat", str(done["kept_as"]), "song.txt")


def test_what_a_look_left_is_no_hindrance_to_its_undo(shelf: Shelf) -> None:
    """APP-4, CLAY-24: it moved no line, so what was saved meanwhile is an edit as any other, and stays."""
    bob = shelf.lay(made, "looked_and_left")
    plan, done = _answers(bob, "undo")
    assert (plan["written"], plan["lone"]) == (done["written"], done["lone"])
    assert (done["kept_as"], (bob.folder / "song.txt").read_text()) == (None, "late\n")


@pytest.mark.parametrize("state", ["cut_undo", "cut_undo_of_look", "cut_undo_of_path"])
def test_an_undo_that_goes_on_says_what_it_writes(shelf: Shelf, state: str) -> None:
    """APP-4, APP-13: the plan named files, and the answer none."""
    bob = shelf.lay(made, state)
    plan, done = _answers(bob, "undo")
    assert plan["written"]
    for name in ("written", "deleted", "lone", "kept_as"):
        assert plan[name] == done[name]


@pytest.mark.parametrize("state", ["cut_update_beside_edit", "cut_update_merging"])
def test_a_plan_of_a_release_leaves_an_update_that_was_cut_off_as_it_is(shelf: Shelf, state: str) -> None:
    """APP-12: who asked what a release would share had files written, and did not hear of it; what merges counts."""
    bob = shelf.lay(made, state)
    before = tree_of(bob.folder)
    assert "was cut off, and would be finished first.\n" in bob.text("release", "--dry-run")
    plan = bob.lace("release", "--dry-run")
    assert (plan["unfinished"], tree_of(bob.folder)) == (True, before)
    done = bob.lace("release", "--yes")
    for name in ("version", "added", "changed", "deleted", "files", "bytes", "since_release"):
        assert plan[name] == done[name]
    assert tree_of(bob.folder) != before
    assert not bob.lace("release", "9.0.0", "--dry-run")["unfinished"]


@pytest.mark.parametrize("state", ["left_update", "cut_update_clashing"])
def test_a_plan_of_a_release_refuses_what_waits_for_a_person(shelf: Shelf, state: str) -> None:
    """APP-12, LAZ-39."""
    bob = shelf.lay(made, state)
    before = tree_of(bob.folder)
    plan = bob.run("--json", "release", "--dry-run")
    assert tree_of(bob.folder) == before
    assert plan.json["error"] == bob.lace("release", "--yes", expect=2)["error"]
    assert plan.json["error"]["code"] == "saved-meanwhile"


@pytest.mark.parametrize(("state", "strategy"), [("looked", "fine"), ("left_update", "init")])
def test_a_plan_of_a_merge_refuses_first_what_the_merge_does(shelf: Shelf, state: str, strategy: str) -> None:
    """CLAY-75, CLAY-78, APP-12: it named the folder, and the merge that the histories do not fit."""
    bob = shelf.lay(made, state)
    plan, _ = _answers(bob, "merge", "main", "--from", "alice/main", "--strategy", strategy)
    assert "error" in plan


@pytest.mark.parametrize("state", ["cut_update_merging", "cut_look_edited"])
def test_an_update_that_finishes_another_says_what_it_merged_and_left(shelf: Shelf, state: str) -> None:
    """APP-12, APP-13: a file into which what came was merged was named by neither; one left as it is, by the doing."""
    bob = shelf.lay(made, state)
    plan, done = _answers(bob, "update")
    assert (plan["written"], plan["kept"]) == (done["written"], done["kept"])
    assert "song.txt" in {*plan["written"], *plan["kept"]}  # type: ignore[misc]


@pytest.mark.parametrize(
    "state", ["cut_update", "cut_update_merging", "cut_update_clashing", "cut_keep_edits_edited", "left_update"]
)
def test_a_plan_of_a_prune_counts_what_finishing_sets_free(shelf: Shelf, state: str) -> None:
    """CLAY-79, APP-12: the prune let go of more than it had said to who agreed to it."""
    bob = shelf.lay(made, state)
    before = tree_of(bob.folder)
    plan = bob.lace("prune", "--dry-run")
    assert tree_of(bob.folder) == before
    done = bob.lace("prune", "--yes")
    for name in ("commits", "records", "bytes", "freed"):
        assert plan[name] == done[name]


@pytest.mark.parametrize(
    "words",
    [
        ("checkout", "main@2"),
        ("checkout", "main@1", "deep"),
        ("checkout", "main@1", "deep", "--keep-edits"),
        ("merge", "main", "--from", "alice/main", "--strategy", "mate"),
        ("merge", "main", "--from", "main@1", "--strategy", "only-that"),
    ],
)
def test_what_is_finished_first_is_said_before_and_after(shelf: Shelf, words: tuple[str, ...]) -> None:
    """APP-12, APP-13: files were written of which neither the plan nor the answer said a word."""
    bob = shelf.lay(made, "cut_update")
    assert bob.text(*words, "--dry-run").startswith("The last update of this folder was cut off, and would be finished")
    plan, done = bob.lace(*words, "--dry-run"), bob.lace(*words)
    assert (plan["unfinished"], plan["finished"]) == (True, False)
    assert (done["unfinished"], done["finished"]) == (False, True)
    assert (plan["written"], plan["deleted"]) == (done["written"], done["deleted"])


def test_a_merge_names_what_it_finished(shelf: Shelf) -> None:
    """APP-13, CLAY-76."""
    bob = shelf.lay(made, "cut_update")
    told = bob.text("merge", "main", "--from", "alice/main", "--strategy", "mate")
    assert told.startswith("The last update of this folder was cut off.\nNothing to do: your line has alice/main")
    assert told.endswith("  new.txt\n  song.txt\n")
