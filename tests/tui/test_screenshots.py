"""The pictures in the documentation are of the real app as it is, and the command that makes them works."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from textual.widgets import Input

from lace_tui.screenshots import SHOTS, Story, app_of, drawing_of, main, picture
from tests.people import ROOT
from tests.tui.test_snapshots import DRAWN_WITH


def test_pictures_are_made(tmp_path: Path) -> None:
    made = main(tmp_path / "new", only=["home", "resolve-narrow"])
    assert [path.name for path in made] == ["home.png", "resolve-narrow.png"]
    for path in made:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 20_000, "an empty screen is far smaller"


def test_every_picture_is_kept() -> None:
    for name in [*(f"{name}.png" for name in SHOTS), "visit.gif"]:
        assert (ROOT / "screenshots" / name).is_file(), name


@pytest.mark.skipif(version("textual") != DRAWN_WITH, reason=f"the pictures are Textual {DRAWN_WITH}'s")
@pytest.mark.parametrize("name", SHOTS)
def test_a_picture_is_of_the_app_as_it_is(name: str, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed screen went on under its old picture; `python -m lace_tui.screenshots` makes them anew."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(Input, "cursor_blink", False)
    drawn = drawing_of(picture(app_of(story, "alice"), SHOTS[name]))
    assert drawn in (ROOT / "screenshots" / f"{name}.png").read_bytes()
