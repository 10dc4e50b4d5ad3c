"""A report that is asked for in the app tells which exports it leaves out, as on the command line (APP-8, APP-9)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.widgets import Input

from lace_tui.screens.export import Export
from lace_tui.screenshots import app_of, make_story
from lazy.belonging.adopting import adopt
from spark_export.export import export
from spark_export.manifest import read_manifests
from spark_export.reader import VaultReader
from tests.tui.conftest import page_of, press, settle
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault


@pytest.mark.usefixtures("spark")
async def test_exports_that_are_left_out_are_told_in_the_app_too(tmp_path: Path) -> None:
    """APP-8, APP-9: the app told of broken ones only, and was silent on an older one of a vault that was adopted."""
    story, out = make_story(tmp_path / "now"), tmp_path / "out"
    story.close()
    folder, copy = story.folder("alice"), tmp_path / "copy"
    with VaultReader(folder) as reader:
        export(reader, out)
    (older,), _ = read_manifests(out)
    shutil.copytree(folder, copy, symlinks=True)
    with Vault(copy, story.around("alice")) as other:
        (copy / "new.txt").write_text("new")
        release(other, Version.parse("3.0.0"))
    with Vault(folder, story.around("alice")) as vault:
        adopt(vault)
    with VaultReader(folder) as reader:
        export(reader, out)
    app = app_of(story, "alice")
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "7")
        assert isinstance(app.screen, Export)
        lines = app.screen.lines
        lines.cursor = max(at for at in range(lines.shown) if "vectors" in lines.rendered(at))  # below the table
        await settle(pilot)
        await press(pilot, "p")
        app.screen.query_one(Input).value = str(out)
        await press(pilot, "enter")
        page = page_of(app)
    assert "Left out: the export of " in page
    assert f"in {out}, for its vault went on as " in page
    assert older.exporter not in page, "who it is stands there by name"
