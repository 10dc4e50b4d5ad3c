"""A file to mail is written and taken in by the app, and old content goes after its plan (APP-1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.peers import Peers
from lace_tui.screenshots import Story, app_of
from lazy.folder.undo import undo
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from vault.content.prune import plan_prune
from vault.folder.work import commit
from vault.names import Version
from vault.releasing import release

SIZE = (110, 34)


async def _answer(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


@pytest.mark.parametrize("is_for_bob", [True, False])
async def test_a_file_is_written_and_taken_in(app: LaceApp, story: Story, tmp_path: Path, is_for_bob: bool) -> None:
    """APP-1: a sync by one file was to be had by command only."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        release(vault, Version.parse("1.2.0"), "plums")
    file = tmp_path / "plums.lace"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        peers = app.screen
        assert isinstance(peers, Peers)
        wanted = "bob" if is_for_bob else "stick"
        while wanted not in peers.lines.rendered(peers.lines.cursor):
            await press(pilot, "j")
        await press(pilot, "b")
        assert is_showing(app, Question)
        assert app.screen.query_one(Input).value == f"~/for-{'bob' if is_for_bob else 'everybody'}.lace"
        await _answer(pilot, str(file))
        assert file.is_file()
        assert app.card is not None
        assert "lace bundle apply plums.lace" in app.card.lines[1].plain
        assert app._activity == [f"lace bundle create {file}{' --for bob' if is_for_bob else ''}"]
        await press(pilot, "b")
        (tmp_path / "mine").write_text("something else")
        await _answer(pilot, str(tmp_path / "mine"))
        assert "exists already" in text_of(app, "#question")
    bob = app_of(story, "bob")
    async with bob.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4", "B")
        await _answer(pilot, str(tmp_path / "none"))
        assert "There is no file" in text_of(bob, "#question")
        await _answer(pilot, str(file))
        assert is_showing(bob, PlanPage)
        assert "that you lack" in page_of(bob)
        await press(pilot, "n", "B")
        await _answer(pilot, str(file))
        await press(pilot, "y", "1")
        assert "1.2.0" in text_of(bob, "#came")
        assert bob._activity[-1] == f"lace bundle apply {file}"


async def test_old_content_goes_after_its_plan(app: LaceApp, story: Story) -> None:
    """APP-1: `lace prune` had no key; nothing goes before `y`."""
    with story.open("alice") as vault:
        for number in range(4):
            story.write("alice", "draft.md", f"{number}\n")
            commit(vault, f"draft {number}", desk="main")
        planned = plan_prune(vault)
        assert planned.commits
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "P")
        await _answer(pilot, "none")
        assert "not a number" in text_of(app, "#question")
        await _answer(pilot, "1")
        assert is_showing(app, PlanPage)
        assert "would go for good" in page_of(app)
        assert f"main@{planned.commits[0].number}" in page_of(app)
        await press(pilot, "n")
        with story.open("alice") as vault:
            assert plan_prune(vault) == planned
        await press(pilot, "P", "enter", "y")
        with story.open("alice") as vault:
            assert not plan_prune(vault).commits
        assert app._activity == ["lace prune --keep 1"]
        await press(pilot, "P", "enter")
        assert app.card is not None
        assert app.card.title == "Prune: nothing to do"


async def test_what_an_undo_left_goes_after_its_plan(app: LaceApp, story: Story) -> None:
    """APP-1, CLAY-79: it was in no plan; the app says in words of its own what no revision has."""
    what = "no revision here has any more (as after an undo)"
    with story.open("alice") as vault:
        for number in range(2):
            story.write("alice", "draft.md", f"{number}\n")
            commit(vault, f"draft {number}", desk="main")
        undo(vault)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "P")
        await _answer(pilot, "9")
        assert f"Content that {what} would go for good" in page_of(app)
        await press(pilot, "y")
        assert app.card is not None
        assert f"= content that {what} is gone" in app.card.lines[0].plain
        with story.open("alice") as vault:
            assert not plan_prune(vault, keep=9).lets_go


async def test_another_prune_than_the_one_that_was_shown_is_not_done(app: LaceApp, story: Story) -> None:
    """What somebody committed between the plan and `y` changes what would go."""
    with story.open("alice") as vault:
        for number in range(2):
            story.write("alice", "draft.md", f"{number}\n")
            commit(vault, f"draft {number}", desk="main")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "P", "enter")
        with story.open("alice") as vault:
            for number in range(2, 4):
                story.write("alice", "draft.md", f"{number}\n")
                commit(vault, f"draft {number}", desk="main")
            before = plan_prune(vault)
        await press(pilot, "y")
        assert "Something changed since you saw the plan" in page_of(app)
        with story.open("alice") as vault:
            assert plan_prune(vault) == before
