"""Plans of a vault that may sign nothing, as after a backup was restored, and of one that was revoked (APP-12)."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.looking import tree_of
from tests.people import Person
from tests.plans.states import made
from tests.shelf import Shelf


@pytest.fixture
def held(shelf: Shelf) -> Person:
    """Bob, whose `.vault` was restored from before his last release."""
    return shelf.lay(made, "restored")


@pytest.mark.parametrize(
    "words",
    [
        ("checkout", "main@1", "deep"),
        ("checkout", "main@1", "song.txt", "--keep-edits"),
        ("merge", "main", "--from", "main@1", "--strategy", "only-that"),
        ("prune", "--yes"),
        ("push", "stick"),
        ("release", "--yes"),
        ("release", "1.0.0"),
        ("revoke", "alice", "--yes"),
        ("undo",),
        ("update",),
    ],
)
def test_a_plan_refuses_what_may_not_be_signed(held: Person, words: tuple[str, ...]) -> None:
    """LAZ-65, APP-12: it said what would be done, and the doing that nothing may be."""
    before = tree_of(held.folder)
    plan, done = held.run("--json", *words, "--dry-run"), held.run("--json", *words)
    assert (plan.code, plan.json) == (done.code, done.json)
    assert (done.code, tree_of(held.folder)) == (19, before)


def test_what_clashes_is_decided_by_no_plan_of_it(shelf: Shelf) -> None:
    """LAZ-39, LAZ-65."""
    held = shelf.lay(made, "restored_conflict")
    (conflict,) = held.lace("conflicts")["conflicts"]
    for how in (("--prefer", "alice"), ("--merged", "9.0.0"), ("--accept",)):
        words = ("resolve", conflict["id"], *how)
        plan, done = held.run("--json", *words, "--dry-run"), held.run("--json", *words)
        assert (plan.code, plan.json) == (done.code, done.json)
        assert done.code == 19
    kept_out = ("commit", "-m", "private", "--keep-out", "list.txt")
    held.write(".laceignore", "list.txt\n")
    assert held.run("--json", *kept_out, "--dry-run").json == held.run("--json", *kept_out).json


def test_a_plan_that_reads_goes_on(held: Person) -> None:
    """LAZ-65: what is missing is fetched, and so is it planned."""
    for verb in ("sync", "pull"):
        assert held.lace(verb, "stick", "--dry-run")["planned"]


@pytest.mark.parametrize("words", [("sync", "stick"), ("push", "stick"), ("pull", "stick"), ("sync", "--all")])
def test_a_plan_of_a_revoked_vault_says_that_it_is_one(shelf: Shelf, words: tuple[str, ...]) -> None:
    """LAZ-69, APP-12: the plan ended with 0, and the visit with 1, for its word counts here only."""
    bob = shelf.lay(made, "revoked")
    plan, done = bob.lace(*words, "--dry-run", expect=1), bob.lace(*words, expect=1)
    assert [problem["code"] for problem in plan["problems"]] == ["revoked"]
    assert plan["problems"] == done["problems"]


def test_the_status_of_it_does_not_say_that_it_has_all_that_friends_released(pair: tuple[Person, Person]) -> None:
    """LAZ-54, LAZ-65: what came meanwhile is here, and shown only once this vault may sign again."""
    ann, bob = pair
    bob.lace("desk", "add", "songs", "songs")
    kept = {part: part.parent / f"backup-{part.name}" for part in (bob.folder, bob.home)}
    for part, backup in kept.items():
        shutil.copytree(part, backup)
    bob.write("songs/one.txt", "bob\n")
    bob.lace("release", "1.1.0", "--desk", "songs")
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.2.0")
    for person in (bob, ann):
        person.lace("sync", "stick")
    for part, backup in kept.items():
        shutil.rmtree(part)
        backup.rename(part)
    bob.write("songs/one.txt", "bob, otherwise\n")
    bob.lace("release", "1.1.0", "--desk", "songs")
    assert bob.lace("sync", "stick", expect=19)["error"]["code"] == "vault-forked"
    told = bob.text("status")
    assert "with all that friends released" not in told
    assert "main: nothing released, revision 1, with all that is shown of what friends released" in told
