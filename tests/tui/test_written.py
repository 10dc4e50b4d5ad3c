"""What the app says of an update, without a screen."""

from __future__ import annotations

import pytest

from lace_tui.cli.travel import Foreseen
from lace_tui.screens.old import foreseen_lines
from lace_tui.screens.written import plan_lines, update_card
from lazy.folder.update import Updated
from vault.names import Version
from vault.revisions.history import Relation


def test_the_plan_of_an_update_says_whose_work_it_is() -> None:
    """LAZ-65: of friends, a decision or my own, and what of mine stays out; never of nobody."""
    version = (Version(1, 0, 0),)
    for plan, said in (
        (Updated(Relation.BEHIND, None, None, sources=("bob",), versions=version), "Your folder follows bob 1.0.0."),
        (Updated(Relation.BEHIND, None, None, decided=version), "Your folder follows the decision on 1.0.0."),
        (Updated(Relation.BEHIND, None, None), "Your folder follows another line of yours."),
        (
            Updated(Relation.MERGEABLE, None, None),
            "Your work and that of another line of yours are merged into one commit.",
        ),
    ):
        assert [line.plain for line in plan_lines(plan)] == [said]
    nothing = plan_lines(Updated(Relation.SAME, None, None, away="main 2.0.0"))
    assert "main 2.0.0" in nothing[-1].plain


@pytest.mark.parametrize(("count", "said"), [(1, "! 1 open conflict keeps "), (2, "! 2 open conflicts keep ")])
def test_what_keeps_releases_out_is_counted_in_its_words(count: int, said: str) -> None:
    update = Updated(Relation.MERGEABLE, None, None, sources=("bob",), waiting=("c",) * count)
    assert plan_lines(update)[-1].plain.startswith(said)
    assert update_card(update, ()).lines[-1].plain.startswith(said)


def test_a_plan_that_names_not_all_says_how_many_go() -> None:
    """A checkout that deletes thousands said `and 9993 more` of what it writes and deletes alike."""
    moved = (("changed", "a.txt"), *(("deleted", f"many/{number}.txt") for number in range(9_999)))
    assert foreseen_lines(Foreseen(None, moved))[0] == "  1 file would be written, 9999 deleted:"
    assert foreseen_lines(Foreseen(None, moved[:2])) == ["  ~ a.txt", "  - many/0.txt"]
