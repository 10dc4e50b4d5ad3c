"""Every place as it looks, compared cell by cell with a picture that somebody has seen (APP-4).

Names, clock and randomness are the story's own, so the pictures are the same on every machine. After a change that is
meant, look at the report a failure leaves, then write them anew with `python -m pytest tests/tui/test_snapshots.py
--snapshot-update`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screenshots import Story, app_of, make_story
from tests.tui.conftest import settle

Compare = Callable[..., bool]
USUAL, WIDE, NARROW = (80, 24), (120, 40), (60, 20)
DRAWN_WITH = "8.2.8"  # another Textual draws a frame or a scrollbar otherwise, and nothing of lace changed

pytestmark = pytest.mark.skipif(version("textual") != DRAWN_WITH, reason=f"the pictures are Textual {DRAWN_WITH}'s")


@pytest.fixture(autouse=True)
def usual_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the wish for no colours away, whoever has it."""
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(autouse=True)
def steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no cursor blink: a picture taken half a second late has none."""
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The story for pictures that change nothing; made once."""
    story = make_story(tmp_path_factory.mktemp("story"))
    story.close()
    yield story
    story.close()


def _visit(keys: str) -> Callable[[Pilot[None]], object]:
    """Return what presses keys one by one and waits for what each leads to."""

    async def visit(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in keys.split():
            await pilot.press(key)
            await settle(pilot)

    return visit


@pytest.mark.parametrize(
    ("size", "keys"),
    [
        pytest.param(USUAL, "", id="home"),
        pytest.param(USUAL, "2", id="conflicts"),
        pytest.param(USUAL, "2 enter", id="resolve"),
        pytest.param(USUAL, "3", id="queue"),
        pytest.param(USUAL, "4", id="peers"),
        pytest.param(USUAL, "5", id="history"),
        pytest.param(USUAL, "6", id="audit"),
        pytest.param(USUAL, "8", id="settings"),
        pytest.param(USUAL, "question_mark", id="help"),
        pytest.param(WIDE, "", id="home-wide"),
        pytest.param(WIDE, "2 enter", id="resolve-wide"),
        pytest.param(WIDE, "5", id="history-wide"),
        pytest.param(WIDE, "5 t enter", id="files-wide"),
        pytest.param(WIDE, "5 d", id="diff-wide"),
        pytest.param(NARROW, "", id="home-narrow"),
    ],
)
def test_a_place_looks_as_it_did(snap_compare: Compare, seen: Story, size: tuple[int, int], keys: str) -> None:
    assert snap_compare(app_of(seen, "alice"), terminal_size=size, run_before=_visit(keys))


@pytest.mark.parametrize("keys", ["", "2 enter", "5"], ids=["home", "resolve", "history"])
def test_a_place_looks_as_it_did_without_colours(
    snap_compare: Compare, seen: Story, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_of(seen, "alice"), terminal_size=USUAL, run_before=_visit(keys))


def test_a_plan_to_write_looks_as_it_did(snap_compare: Compare, story: Story) -> None:
    assert snap_compare(app_of(story, "alice"), terminal_size=USUAL, run_before=_visit("2 enter o w"))


def test_the_first_page_looks_as_it_did(snap_compare: Compare, story: Story) -> None:
    app = LaceApp(
        lambda: None,
        lambda: story.around("alice"),
        here=str(Path("/friends/supper")),
        monotonic=lambda: 0.0,
        look_every=0,
    )
    assert snap_compare(app, terminal_size=USUAL, run_before=_visit(""))
