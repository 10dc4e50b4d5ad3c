"""What is shown already is neither styled nor laid out again (APP-1, APP-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from textual.app import App
from textual.dom import DOMNode
from textual.widgets.option_list import Option

from lace_tui.app.lace import LaceApp
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import PlaceScreen
from lace_tui.screenshots import Story
from tests.tui.conftest import press, settle, text_of
from vault.names import Version
from vault.releasing import release


@pytest.mark.parametrize("size", [(100, 30), (60, 20), (50, 12)])
async def test_a_place_is_styled_once_for_its_window(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """It was styled, laid out and drawn for a window of no size first, and then for the one there is."""
    styled: set[tuple[str, str]] = set()
    update = App.update_styles

    def counted(self: App[Any], node: DOMNode, animate: bool = True) -> None:
        if isinstance(node, PlaceScreen):
            styled.add((node.SCOPE, " ".join(sorted(node.classes))))
        update(self, node, animate)

    monkeypatch.setattr(App, "update_styles", counted)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert sorted(place for place, _ in styled) == ["conflicts", "home"]
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert app.screen.has_class("-wide", "-high"), "a window that changes is another one"
        assert not app.screen.has_class("-tiny")


async def test_a_list_in_which_nothing_is_new_is_left_alone(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reading filled all lists anew, and each look at the places did."""
    filled: Counter[str | None] = Counter()
    fill = Panel.set_options

    def counted(self: Panel, options: Iterable[Any]) -> Panel:
        filled[self.id] += 1
        return fill(self, options)

    monkeypatch.setattr(Panel, "set_options", counted)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert filled == {"meet": 2, "came": 1, "needs": 1}, "of the look the list of places tells"
        meet = app.screen.query_one("#meet", Panel)
        drawn: list[Option] = list(meet.options)
        await press(pilot, "f5")
        assert filled == {"meet": 2, "came": 1, "needs": 1}
        assert list(meet.options) == drawn
        with story.open("alice") as vault:
            story.write("alice", "songs.md", "one\n")
            release(vault, Version.parse("1.2.0"), "songs")
        await press(pilot, "f5")
        assert filled["meet"] == 3
        assert "2 waiting" in text_of(app, "#head")
