"""Where a key of a screen does it, the screen names the key, as its person has it (APP-1)."""

from __future__ import annotations

from lace_tui.keys.taste import Taste
from lace_tui.model.view import Need, NeedKind
from lace_tui.screens.rows import need_row
from lace_tui.screens.written import plan_lines
from lace_tui.screenshots import Story, app_of
from lazy.folder.updated import NotTakenIn, Updated
from lazy.places.registry import places, remove_place
from tests.tui.conftest import press, rows_of, settle
from vault.revisions.history import Relation


async def test_peers_names_the_key_that_adds_a_place(story: Story) -> None:
    """APP-1: it named a command, and on Home a key asks for the place; a changed key is said as changed."""
    with story.open("alice") as vault:
        for place in places(vault):
            remove_place(vault, place.name)
    app = app_of(story, "alice", taste=Taste(keys={"new-place": "n"}))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        assert "None yet: n on Home adds one" in rows_of(app)
        assert "lace place add" not in rows_of(app)


def test_a_need_of_a_place_names_the_key() -> None:
    """APP-1: a command with placeholders was all that it said."""
    need = Need("member", NeedKind.MEMBERSHIP, "You are not a member yet", "sync", "lace place add NAME DIR")
    assert "a here, or lace place add NAME DIR" in need_row(need, {}).plain
    assert "  lace sync stick" in need_row(need._replace(command="lace sync stick"), {}).plain


def test_what_is_away_names_the_key_that_syncs() -> None:
    """APP-1: the plan of an update named the command that a key of Home does."""
    plan = Updated(Relation.SAME, not_taken=NotTakenIn(away="main 1.0.0"))
    told = "\n".join(line.plain for line in plan_lines(plan, {}))
    assert "is not here: S on Home syncs all places" in told
