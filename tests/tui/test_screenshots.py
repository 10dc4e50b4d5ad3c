"""The pictures in the documentation are of the real app, and the command that makes them works."""

from __future__ import annotations

from pathlib import Path

from lace_tui.screenshots import SIZES, main
from tests.people import ROOT


def test_every_picture_is_made_and_kept(tmp_path: Path) -> None:
    made = main(tmp_path / "new")
    assert [path.name for path in made] == [f"{name}.png" for name in SIZES]
    for path in made:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 20_000, "an empty screen is far smaller"
        assert (ROOT / "screenshots" / path.name).is_file()
