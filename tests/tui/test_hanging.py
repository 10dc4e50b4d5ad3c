"""Lines that are too long for their window hang, and break between their parts first (APP-4)."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from lace_tui.screens.hanging_text import Hanging, hung
from lace_tui.screenshots import Story
from lace_tui.words.inert import width_of
from tests.tui.conftest import press, settle
from tests.tui.test_home import bob_releases_songs


def _shown(app: LaceApp, selector: str) -> list[str]:
    """Return the lines of a widget as they are drawn."""
    widget = app.screen.query_one(selector)
    return [strip.text.rstrip() for strip in widget.render_lines(widget.size.region)]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("one two three", 8, "one two\n  three"),
        ("  one two three four", 10, "  one two\n    three\n    four"),
        ("sent 21   received 15   = safe to remove", 30, "sent 21   received 15\n= safe to remove"),
        ("sent 21   received 15 or so", 12, "sent 21\nreceived 15\n  or so"),
        ("a\n\n  b", 3, "a\n\n  b"),
        ("  abcdefghijkl", 8, "  abcdef\n    ghij\n    kl"),
        ("      abcdefgh", 9, "      abcdefgh"),
    ],
)
def test_a_line_hangs(text: str, width: int, expected: str) -> None:
    made = hung(Content(text), width).plain
    assert made == expected
    if width > 9 or not text.startswith("      "):
        assert all(width_of(line) <= width for line in made.split("\n"))


def test_a_sign_moves_nothing() -> None:
    """A row that is selected breaks where it broke before."""
    plain, signed = (Hanging(Content("  one two three"), Content(sign)) for sign in ("", "> "))
    lines = [one._at({}, 9).plain for one in (plain, signed)]
    assert lines == ["  one two\n    three", "> one two\n    three"]
    assert signed.plain == "> one two three"


async def _synced(pilot: Pilot[None]) -> None:
    await settle(pilot)
    await press(pilot, "s")


async def test_safe_to_remove_stays_in_one_piece(app: LaceApp, story: Story) -> None:
    """At 60 columns it was broken behind `safe to`."""
    bob_releases_songs(story)
    async with app.run_test(size=(60, 24)) as pilot:
        await _synced(pilot)
        lines = _shown(app, "#card-text")
        assert "= safe to remove" in lines
        assert lines[0].startswith("sent ")


async def test_what_needs_me_hangs(app: LaceApp) -> None:
    """What went on stood left of the row it belongs to, under the sign of the selected one."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "tab", "tab")
        lines = _shown(app, "#needs")
        assert "\u2551   lace resolve 5b340c3b --prefer local or" in lines
        assert "\u2551     remote" in lines
