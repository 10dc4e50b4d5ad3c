"""What the app says of an update, without a screen."""

from __future__ import annotations

from lace_tui.screens.written import plan_lines
from lazy.update import Updated
from vault.history import Relation
from vault.names import Version


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
