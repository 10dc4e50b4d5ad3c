"""What is typed for one file never becomes the result of another one, whatever is read meanwhile (LAZ-39, LAZ-42)."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import TextArea

from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Leaving, Page
from lace_tui.screens.editor import Editor
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.conflicts import conflicts
from lazy.resolving.resolve import resolve_prefer
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from tests.tui.resolving import opened
from tests.tui.test_drafts import clash_in_two, clashing, drafts, picks_of
from vault.vault import Vault

SIZE = (110, 34)


def decide_elsewhere(story: Story) -> None:
    """Let a command of alice's decide all there is."""
    with story.open("alice") as vault:
        for conflict in conflicts(vault):
            resolve_prefer(vault, conflict.id, "local")


async def test_a_text_does_not_land_in_another_file(story: Story) -> None:
    """LAZ-39: the friend's next release made the edited file equal, and the text became the result of the next one."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        resolve = app.screen
        assert isinstance(resolve, Resolve)
        assert resolve.walk.file is not None
        assert resolve.walk.file.path == "list.md"
        await press(pilot, "e", *"typed ")
        clashing(story, "5.2.0", {"list.md": "mine\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "escape")
        assert is_showing(app, Page)
        assert "list.md needs no decision any more" in page_of(app)
        assert "typed " in page_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("typed ")
        await press(pilot, "escape")
        assert app.screen is resolve
        assert picks_of(app) == {}


async def test_a_text_does_not_hide_what_a_friend_added_meanwhile(story: Story) -> None:
    """LAZ-42: it was taken for the decision on what the friend released since, whose line was left out unseen."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ")
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "escape")
        assert "list.md has other sides now" in page_of(app)
        await press(pilot, "escape")
        assert picks_of(app) == {}
        assert "undecided" in text_of(app, "#what")


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_text_is_shown_where_its_conflict_was_decided_meanwhile(story: Story, is_read: bool) -> None:
    """LAZ-39: it was gone, in a draft that no command names."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e")
        app.screen.query_one(TextArea).insert("\ttyped\n", (0, 0))
        decide_elsewhere(story)
        app.read_all()
        if is_read:
            await settle(pilot)
        await press(pilot, "escape")
        assert "menu.md needs no decision any more" in page_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("\ttyped\n")
        await press(pilot, "escape")
        assert not is_showing(app, Editor)
        assert not is_showing(app, Resolve)


async def test_a_text_from_outside_is_shown_where_its_file_changed_meanwhile(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-42: all that was told is that a file changed; the text lay where nothing led to it."""
    clash_in_two(story)
    app = app_of(story, "alice")

    def edit(path: Path) -> None:
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        path.write_text("typed outside\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "E")
        app.read_all()
        await settle(pilot)
        assert "list.md has other sides now" in page_of(app)
        assert "typed outside" in page_of(app)


async def test_what_was_agreed_to_counts_for_the_contents_that_were_shown(story: Story) -> None:
    """LAZ-42: another result took the place of an edited one whose file had become another meanwhile."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "L")
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "y")
        assert "list.md has other sides now" in page_of(app), "what was edited is there to be copied"
        await press(pilot, "escape")
        assert picks_of(app) == {}


async def test_a_page_out_of_sight_is_read_again(story: Story) -> None:
    """APP-4, LAZ-42: it showed the conflict as open that was decided meanwhile, and kept choices for it."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "1")
        decide_elsewhere(story)
        app.read_all()
        await settle(pilot)
        await press(pilot, "2")
        assert "menu.md needs no decision any more" in page_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("typed ")
        await press(pilot, "escape")
        assert is_showing(app, Conflicts)
        assert drafts(story) == []


async def test_a_page_is_not_read_again_where_nobody_wrote(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: to come back costs nothing then."""
    read: list[str] = []
    before = Resolve.read
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)

        def counting(self: Resolve, vault: Vault) -> object:
            read.append("")
            return before(self, vault)

        monkeypatch.setattr(Resolve, "read", counting)
        await press(pilot, "r", "1", "2", "e", "escape", "w", "n")
        assert is_showing(app, Resolve)
        assert read == []


async def test_leaving_asks_about_a_text_whose_conflict_was_decided_elsewhere(story: Story) -> None:
    """LAZ-39: its draft was gone with the conflict, and the key that leaves ended the app with all there was of it."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "1")
        decide_elsewhere(story)
        await press(pilot, "q")
        assert is_showing(app, Leaving)
        assert "What you wrote for menu.md is in no draft any more: its page shows it." in page_of(app)
        await press(pilot, "n", "f5", "2")
        assert "typed " in page_of(app)
        await press(pilot, "escape")
        await pilot.press("q")
        assert app._exit, "it was seen"


async def test_leaving_does_not_ask_about_a_text_that_waits_under_the_former_id(story: Story) -> None:
    """LAZ-42: nothing is written before one chooses anew, and the former draft has it."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "escape")
    clashing(story, "5.2.0", {"b.txt": "b\n"})
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert set(picks_of(app)) == {"list.md"}
        await pilot.press("q")
        assert app._exit


async def test_every_text_that_is_lost_is_shown(story: Story) -> None:
    """LAZ-39: of several the first one alone was."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"first ", "escape", "n", "e", *"second ", "escape")
        assert set(picks_of(app)) == {"list.md", "menu.md"}
        decide_elsewhere(story)
        app.read_all()
        await settle(pilot)
        for path, text in (("list.md", "first "), ("menu.md", "second ")):
            assert f"{path} needs no decision any more" in page_of(app)
            await press(pilot, "y")
            assert app.clipboard.startswith(text)
            await press(pilot, "escape")
        assert is_showing(app, Conflicts)


async def test_a_text_is_shown_that_was_lost_below_another_one(story: Story) -> None:
    """LAZ-39: while one was typed, another one whose file changed was gone without a word."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"first ", "escape", "n", "e", *"second ")
        decide_elsewhere(story)
        app.read_all()
        await settle(pilot)
        shown = []
        await press(pilot, "escape")
        while is_showing(app, Page):
            await press(pilot, "y")
            shown.append(app.clipboard[:6])
            await press(pilot, "escape")
        assert sorted(shown) == ["first ", "second"]
        assert is_showing(app, Conflicts)
