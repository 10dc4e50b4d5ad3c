"""Words of a friend of any length: rows show the beginning, and no key waits for the rest (APP-3, APP-12)."""

from __future__ import annotations

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.screens.history import History
from lace_tui.screens.lines import Lines
from lace_tui.screens.panel import Panel
from lace_tui.screenshots import Story
from lazy.places.adding import add_place
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from vault.names import Version
from vault.releasing import release

_LONG = 300_000  # characters


@pytest.fixture
def told_at_length(story: Story) -> Story:
    """Return the story with a release of bob's that alice has got, whose message has no end."""
    with story.open("bob") as bob:
        (bob.folder / "plums.md").write_text("plums\n")
        release(bob, Version.parse("1.2.0"), "plums " + "\u00e9" * _LONG + "\nand cream")
        sync(bob, ["stick"])
    with story.open("alice") as alice:
        sync(alice, ["stick"])
    return story


async def test_a_message_of_any_length_is_a_row_and_a_page(app: LaceApp, told_at_length: Story) -> None:
    """APP-3, LAZ-54: a message of 1 MB was laid out whole by Home and History at each key: 12 s start, 6 s a key."""
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        row = next(line for line in text_of(app, "#came").split("\n") if "plums" in line)
        assert row.endswith('..."')
        assert len(row) < 250
        app.query_one("#came", Panel).focus()
        app.query_one("#came", Panel).highlighted = 0
        await press(pilot, "enter")
        page = page_of(app)
        assert "plums" in page
        assert "more characters: its record holds them" in page
        assert len(page) < 10_000
        await press(pilot, "escape", "5")
        assert is_showing(app, History)
        lines = app.screen.query_one("#list", Lines)
        shown = [lines.rendered(at) for at in range(4)]
        assert [line for line in shown if "plums" in line]
        assert max(map(len, shown)) < 400
        await press(pilot, "/", *"plums", "enter", "enter")
        assert len(page_of(app)) < 10_000


async def test_a_long_name_of_the_folder_takes_no_count_away(app: LaceApp) -> None:
    """APP-4: of waiting and new nothing was told at 60 columns where the folder's name was long; now that is cut."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        assert app.view is not None
        for folder in ("recipes-of-" + "x" * 80, "\u6599\u7406" * 30):
            app.view = app.view._replace(folder=folder, conflicts=12, waiting=10, new=10)
            app.screen.show_head()  # type: ignore[attr-defined]
            shown = text_of(app, "#head")
            assert folder[:3] in shown
            assert "! 12 conflicts   ^ 10 waiting   v 10 new" in shown


async def test_a_long_name_of_a_place_leaves_the_other_keys_in_the_footer(app: LaceApp, story: Story) -> None:
    """APP-4: at 60 columns nothing but help was told below a place with a long name."""
    name = "the-blue-stick-" + "x" * 40
    with story.open("alice") as alice:
        add_place(alice, name, str(story.root / "other"), cwd=story.root)
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        assert app.screen.query_one("#meet", Panel).choose(f"place {name}")
        await settle(pilot)
        shown = text_of(app, "#foot")
        assert "s sync the-blue-" in shown
        assert "R release" in shown
