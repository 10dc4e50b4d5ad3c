"""Several conflicts decided at once: how far it is, and what a wish to stop leaves (APP-3, APP-4)."""

from __future__ import annotations

from typing import Any

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.screenshots import Story, app_of, begin_visit
from lazy.belonging.circle import accept, invite
from lazy.conflicts import conflicts
from lazy.resolving.opening import open_conflict
from lazy.resolving.resolve import Resolved, accept_resolution, resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import page_of, press, settle
from tests.tui.resolving import clash, clash_twice, clash_with_cara, opened
from vault.folder.work import commit
from vault.vault import Vault


@pytest.fixture
def app(story: Story) -> LaceApp:
    """The app as alice opens it, with two conflicts of bob's and hers."""
    begin_visit(story)
    with story.open("alice") as alice:
        sync(alice, ["stick"])
    return app_of(story, "alice")


async def test_it_is_told_how_many_of_them_are_decided(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: of 200 it took a minute, and the header told of folders that were looked through, 200 times."""
    seen: list[object] = []

    def noted(*given: Any, **named: Any) -> Resolved:
        done = resolve_prefer(*given, **named)
        seen.append(app.job and app.job.progress[:3])
        return done

    monkeypatch.setattr("lace_tui.screens.conflicts.resolve_prefer", noted)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "asterisk", "L", "y")
    assert seen == [(0, 2, "decide"), (1, 2, "decide")]


async def test_what_was_decided_before_a_wish_to_stop_is_told(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-3: it told that it was stopped, and not that some were decided."""

    def stopped(*given: Any, **named: Any) -> Resolved:
        done = resolve_prefer(*given, **named)
        assert app.job is not None
        app.job.token.set()
        return done

    monkeypatch.setattr("lace_tui.screens.conflicts.resolve_prefer", stopped)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "asterisk", "L", "y")
        assert app.card is not None
        assert app.card.title == "Resolve: ended early"
        assert app.card.lines[0].plain == (
            "- Stopped as you asked, 1 of 2 conflicts decided; the others stay open. (cancelled)"
        )
    with story.open("alice") as alice:
        assert len(conflicts(alice)) == 1


async def test_the_others_are_not_read_to_tell_of_each(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: what each decision came to was told after all conflicts were read once more for it."""
    asked: list[str] = []

    def noted(_vault: Vault, conflict_id: str) -> None:
        asked.append(conflict_id)

    monkeypatch.setattr("lace_tui.screens.resolve.conflict_of", noted)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "asterisk", "L", "y")
        assert app.card is not None
        assert app.card.title == "Resolve: done"
    assert not asked, "no file was saved meanwhile, of which there would be something to tell"


async def test_what_a_side_decides_is_not_kept_from_it_by_what_it_does_not(story: Story) -> None:
    """LAZ-37, LAZ-39: of two marked, "their side" means none of the three of one, and that stopped the other too."""
    clash_twice(story)
    clash_with_cara(story, "a.txt", b"cara", "2.9.0")
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "asterisk", "R")
        assert "Take their side of 1 conflict:" in page_of(app)
        assert "! main 2.9.0 stays open: several sides are not yours" in page_of(app)
        await press(pilot, "y")
    with story.open("alice") as alice:
        assert [str(conflict.version) for conflict in conflicts(alice)] == ["2.9.0"]


@pytest.mark.parametrize("key", ["L", "R"])
async def test_the_plan_of_a_side_names_what_the_other_did_elsewhere(story: Story, key: str) -> None:
    """LAZ-37, APP-4: R took a file out of the folder that was mine alone, and the plan had not a word of it."""
    both: dict[str, bytes | None] = {"menu.md": b"mine\n", "mine.txt": b"mine\n"}
    clash(story, both, {"menu.md": b"theirs\n", "theirs.txt": b"theirs\n"})
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", key)
        assert "! main 2.0.0: mine.txt, theirs.txt differ too, and would be that side's, or gone" in page_of(app)
        await press(pilot, "y")
    assert (story.folder("alice") / "mine.txt").exists() is (key == "L")


async def test_the_plan_of_a_side_that_was_proposed_names_it_too(story: Story) -> None:
    """LAZ-41, APP-4: so did A, for a side that a friend had decided for."""
    clash(story, {"menu.md": b"mine\n", "mine.txt": b"mine\n"}, {"menu.md": b"theirs\n"})
    with story.open("bob") as bob, story.open("alice") as alice:
        sync(bob, ["stick"])
        resolve_prefer(bob, "2.0.0", "local")
        sync(bob, ["stick"])
        sync(alice, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "A")
        assert "! main 2.0.0: mine.txt differs too, and would be that side's, or gone" in page_of(app)


async def test_the_page_of_a_result_names_what_was_mine_alone(story: Story) -> None:
    """LAZ-39, APP-4: the release gave friends files that nobody released, as paths that merge by themselves."""
    (story.folder("alice") / "diary.md").write_text("mine\n")
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        await press(pilot, "L", "w")
        assert "! Your friends get what only your folder has so, too: diary.md" in page_of(app)


async def test_a_file_that_only_the_folder_has_so_is_committed_before_it_is_chosen(story: Story) -> None:
    """LAZ-39, LAZ-42, APP-4: it went to everybody with the result, and there was no side to choose for it."""
    clash(story, {"menu.md": b"mine\n", "both.md": b"alike\n"}, {"menu.md": b"theirs\n", "both.md": b"alike\n"})
    with story.open("alice") as alice:
        story.folder("dave").mkdir(parents=True)
        dave, _ = accept(story.folder("dave"), story.around("dave"), invite(alice, "dave").encode(), name="dave")
        with dave:
            for vault in (alice, dave, alice, dave):
                sync(vault, ["stick"])
            for conflict in conflicts(dave):
                if str(conflict.version) == "1.1.0":
                    accept_resolution(dave, conflict.id)
    (story.folder("dave") / "both.md").write_text("an old copy\n")
    app = app_of(story, "dave")
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        await press(pilot, "R", "w")
        (said,) = [one.message for one in app._notifications if "Nothing is written yet" in one.message]
        assert said.endswith("only your folder has both.md so, and no side does. Commit it, then choose here.")
        with story.open("dave") as dave:
            commit(dave, "mine")
            names = [file.path for file in open_conflict(dave, conflicts(dave)[0].id).files]
    assert names == ["both.md", "menu.md"]
