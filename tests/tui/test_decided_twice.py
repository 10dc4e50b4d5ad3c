"""A version that both decided, each in their own way, as the app lists it beside the version of the two (LAZ-42)."""

from __future__ import annotations

from lace_tui.screenshots import Story, app_of
from lazy.resolving.picks import Choices
from lazy.resolving.resolve import resolve_merged
from lazy.sync import sync
from tests.tui.conftest import press, rows_of, settle, text_of
from vault.names import Version


async def test_the_first_ends_with_the_second(story: Story) -> None:
    """LAZ-33, LAZ-42, APP-1: two rows asked for one thing; Home asks for it once."""
    for name in ("bob", "alice", "bob"):
        with story.open(name) as vault:
            sync(vault, ["stick"])
    for name in ("alice", "bob"):
        with story.open(name) as vault:
            menu = vault.folder / "menu.md"
            menu.write_text(f"# Supper club\n\nboth, says {name}\n")
            resolve_merged(vault, "1.1.0", Version.parse("1.2.0"), Choices())
            sync(vault, ["stick"])
    with story.open("alice") as vault:
        sync(vault, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "main 1.2.0" in text_of(app, "#needs")
        assert "main 1.1.0" not in text_of(app, "#needs")
        await press(pilot, "2")
        first = next(row for row in rows_of(app).splitlines() if "main 1.1.0" in row)
        assert "ends with main 1.2.0" in first
        assert "it ends with that" in text_of(app, "#detail")
