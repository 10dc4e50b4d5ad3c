"""The pictures in the documentation are of the real app, and the command that makes them works."""

from __future__ import annotations

from pathlib import Path

from lace_tui.screenshots import SHOTS, main
from tests.people import ROOT


def test_pictures_are_made(tmp_path: Path) -> None:
    made = main(tmp_path / "new", only=["home", "resolve-narrow"])
    assert [path.name for path in made] == ["home.png", "resolve-narrow.png"]
    for path in made:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 20_000, "an empty screen is far smaller"


def test_every_picture_is_kept() -> None:
    for name in [*(f"{name}.png" for name in SHOTS), "visit.gif"]:
        assert (ROOT / "screenshots" / name).is_file(), name
