"""What was refused is looked at, judged again, and thrown away in the app (APP-1, LAZ-71)."""

from __future__ import annotations

from lace_tui.app import LaceApp
from lace_tui.screens.audit import Audit
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.quarantine import Quarantine
from lace_tui.screenshots import Story
from lazy.receiving.quarantine import quarantined
from tests.lazy.test_quarantine import EVE, arrive, card
from tests.tui.conftest import is_showing, press, settle

SIZE = (110, 34)


async def test_what_was_refused_is_judged_again_or_thrown_away(app: LaceApp, story: Story) -> None:
    """APP-1, LAZ-71: it was to be had by command only."""
    with story.open("alice") as vault:
        arrive(vault, card(vault, "eve", EVE))
        (refused,) = quarantined(vault)
        assert refused.size
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "6", "r")
        assert is_showing(app, Quarantine)
        screen = app.screen
        assert isinstance(screen, Quarantine)
        assert refused.code in screen.lines.rendered(0)
        await press(pilot, "enter")
        assert is_showing(app, Page)
        assert refused.reason in str(app.screen.query_one("#page Static").render())
        await press(pilot, "escape", "a")
        assert "(signer-strange)" in "\n".join(str(note.message) for note in app._notifications)
        await press(pilot, "x", "n")
        assert not app._activity[1:]
        await press(pilot, "x")
        assert is_showing(app, PlanPage)
        await press(pilot, "y")
        with story.open("alice") as vault:
            (left,) = quarantined(vault)
            assert not left.size
        assert app._activity[1:] == [f"lace quarantine drop {refused.hash}"]
        await press(pilot, "x")
        assert "Nothing of it is kept." in [note.message for note in app._notifications]
        await press(pilot, "a")
        with story.open("alice") as vault:
            assert not quarantined(vault)
        assert "Nothing was refused" in screen.lines.render_line(0).text
        await press(pilot, "escape")
        assert is_showing(app, Audit)
