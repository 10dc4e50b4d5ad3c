"""Friends with vaults, and the app as one of them opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from lace_tui.app import LaceApp
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import Fitted
from lace_tui.screenshots import Story, app_of, make_story

__all__ = ["is_showing", "settle", "text_of"]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Return alice, bob and cara with a stick and one open conflict, their vaults closed."""
    made = make_story(tmp_path)
    made.close()
    return made


@pytest.fixture
def app(story: Story) -> LaceApp:
    """The app as alice opens it."""
    return app_of(story, "alice")


async def settle(pilot: Pilot[None]) -> None:
    """Wait until all work that was begun, and what it leads to, is done and shown."""
    for _ in range(4):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def is_showing(app: LaceApp, screen: type[Screen[Any]]) -> bool:
    """Return whether a screen of that kind is in front."""
    return isinstance(app.screen, screen)


def text_of(app: LaceApp, selector: str) -> str:
    """Return the text a widget shows."""
    widget = app.screen.query_one(selector)
    if isinstance(widget, Panel):
        rows = [widget.get_option_at_index(number).prompt for number in range(widget.option_count)]
        return "\n".join(getattr(row, "plain", str(row)) for row in rows)
    if isinstance(widget, Fitted):
        return widget.render().plain
    if isinstance(widget, Static):
        return getattr(widget.content, "plain", str(widget.content))
    raise AssertionError(selector)
