"""Friends with vaults, and the app as one of them opens it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerCancelled

from lace_tui.app.lace import LaceApp
from lace_tui.screens.lines import Lines
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import Fitted
from lace_tui.screenshots import Story, app_of, make_story
from lazy.conflicts import conflicts
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync

__all__ = ["bob_decides", "is_showing", "page_of", "press", "rows_of", "settle", "text_of"]


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Return the story as it was told once; to tell it takes as long as fifty copies of it."""
    made = make_story(tmp_path_factory.mktemp("told") / "now")
    made.close()
    shutil.copytree(made.root, _kept(made), symlinks=True)
    return made


def _kept(story: Story) -> Path:
    return story.root.with_name("kept")


@pytest.fixture
def story(told: Story) -> Story:
    """Return alice, bob and cara with a stick and one open conflict, their vaults closed.

    They lie where all this happened, and not where the test is: their vaults know the way to the stick.
    """
    shutil.rmtree(told.root)
    shutil.copytree(_kept(told), told.root, symlinks=True)
    return replace(told, vaults={})


@pytest.fixture
def app(story: Story) -> LaceApp:
    """The app as alice opens it."""
    return app_of(story, "alice")


async def settle(pilot: Pilot[None]) -> None:
    """Wait until all work that was begun, and what it leads to, is done and shown."""
    for _ in range(4):
        await pilot.pause()
        await _all_done(pilot)
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, and wait until what they lead to is shown."""
    await pilot.press(*keys)
    await settle(pilot)


async def in_turn(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each once what the one before leads to is shown: a page to be answered may take its time to come."""
    for key in keys:
        await press(pilot, key)


async def _all_done(pilot: Pilot[None]) -> None:
    """Wait for the work there is; a reading that a newer one took the place of, as the clock asks for, is no fault."""
    for _ in range(100):
        try:
            await pilot.app.workers.wait_for_complete()
        except WorkerCancelled:
            await pilot.pause()
        else:
            return
    raise AssertionError("each reading is given up for a newer one")


def bob_decides(story: Story) -> None:
    """Let bob meet what clashes, decide all of it for his side, and share that."""
    with story.open("bob") as vault:
        sync(vault, ["stick"])
        for conflict in conflicts(vault):
            resolve_prefer(vault, conflict.id, "local")
        sync(vault, ["stick"])


def is_showing(app: LaceApp, screen: type[Screen[Any]]) -> bool:
    """Return whether a screen of that kind is in front."""
    return isinstance(app.screen, screen)


def page_of(app: LaceApp) -> str:
    """Return what the page or question that lies over a place says."""
    return str(app.screen.query_one("#page Static").render())


def rows_of(app: LaceApp) -> str:
    """Return all rows of the list of a place, also those that are out of sight."""
    lines = app.screen.query_one("#list", Lines)
    return "\n".join(lines._source.line(number).plain for number in range(len(lines._source)))


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
