"""What was refused is looked at, judged again, and thrown away in the app (APP-1, LAZ-71)."""

from __future__ import annotations

from lace_tui.app.lace import LaceApp
from lace_tui.screens.audit import Audit
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.lines import Lines
from lace_tui.screens.quarantine import Quarantine
from lace_tui.screenshots import Story
from lazy.receiving.quarantine import quarantined
from tests.lazy.test_quarantine import EVE, arrive, card
from tests.tui.conftest import is_showing, page_of, press, settle

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
        assert refused.reason in page_of(app)
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


async def test_a_row_says_first_who_when_and_where(app: LaceApp, story: Story) -> None:
    """APP-1: a key's name of 48 letters stood before all of that, and nothing else was seen in 80 columns."""
    with story.open("alice") as vault:
        arrive(vault, card(vault, "eve", EVE))
        (refused,) = quarantined(vault)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "r")
        screen = app.screen
        assert isinstance(screen, Quarantine)
        shown = screen.lines.rendered(0)[: screen.lines.size.width - 4]
        assert f"stranger  lace/node by {refused.signer}  from stick, just now" in shown


async def test_what_is_not_read_yet_or_left_out_by_a_filter_is_not_denied(app: LaceApp, story: Story) -> None:
    """APP-1: both keys said that nothing was refused."""
    with story.open("alice") as vault:
        arrive(vault, card(vault, "eve", EVE))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "6", "r", "slash", *"zzz", "enter")
        for key in ("a", "x"):
            app.clear_notifications()
            await press(pilot, key)
            assert [note.message for note in app._notifications] == ["Select what was refused."], key
            assert "No row has this text." in app.screen.query_one(Lines).render_line(0).text
