"""A clock that is far from the one here, as Home and the Peers screen tell of it (LAZ-16)."""

from __future__ import annotations

import pytest

from lace_tui.screenshots import Story, app_of
from lazy.sync import sync
from tests.tui.conftest import press, rows_of, settle, text_of
from vault.names import Version
from vault.releasing import release

_HOUR = 3_600
_SAID = "! 9.0.0 was dated 3 hours ahead of the clock here as it came"


@pytest.fixture
def ahead(story: Story) -> Story:
    """Let bob, whose clock is ahead, release something that alice gets."""
    story.seconds += 3 * _HOUR
    with story.open("bob") as vault:
        (story.folder("bob") / "new.md").write_text("bob's\n")
        release(vault, Version.parse("9.0.0"))
        sync(vault, ["stick"])
    story.seconds -= 3 * _HOUR
    with story.open("alice") as vault:
        sync(vault, ["stick"])
    return story


async def test_a_clock_that_is_ahead_stays_in_sight(ahead: Story) -> None:
    """LAZ-16, APP-1: the row of who it is says it in both places, and its page how it is mended."""
    app = app_of(ahead, "alice")
    async with app.run_test(size=(120, 50)) as pilot:
        await settle(pilot)
        assert _SAID in text_of(app, "#meet")
        await press(pilot, "4")
        assert _SAID in rows_of(app)
        await press(pilot, "j")
        assert "compare the clocks of both machines" in text_of(app, "#detail")
