"""What could not be kept at once is kept once it can be, and nobody's text is dropped meanwhile (APP-13, LAZ-39)."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lace_tui.screens.dialogs import Leaving
from lace_tui.screens.editor import Editor
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.resolving.drafts import Saved, save_draft
from lazy.resolving.resolve import resolve_prefer
from tests.tui.conftest import is_showing, press, settle
from tests.tui.resolving import clash_twice, opened
from tests.tui.test_drafts import drafted, told
from tests.tui.test_kept_texts import kept
from vault.files import NotWritable

SIZE = (110, 34)


async def test_an_open_editor_keeps_again_once_the_disk_can(story: Story) -> None:
    """APP-13, LAZ-39: after one save that failed nothing was kept any more until the editor was left."""
    block = story.folder("alice") / ".vault" / "drafts"
    block.write_text("in the way")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"one ")
        editor = app.screen
        assert isinstance(editor, Editor)
        await editor.hand_over()
        await settle(pilot)
        await press(pilot, *"two ")
        await editor.hand_over()
        await settle(pilot)
        assert len(app._notifications) == 1, "it is told once, and not at each key"
        block.unlink()
        await press(pilot, *"three ")
        await editor.hand_over()
        await settle(pilot)
        assert str(drafted(story)["menu.md"]["edited"]).startswith("one two three ")


@pytest.mark.parametrize("is_failing", [False, True], ids=["decided", "failed"])
async def test_a_text_of_the_conflict_one_just_left_is_not_dropped(
    story: Story, monkeypatch: pytest.MonkeyPatch, is_failing: bool
) -> None:
    """APP-13, LAZ-39: a choice in the next conflict took the answer to it, and the text was in no file."""
    clash_twice(story)
    app, go = app_of(story, "alice"), threading.Event()
    left = ""

    def slowly(vault: Any, opened: Any, *rest: Any) -> Saved:
        assert go.wait(30)
        if is_failing and opened.conflict.id == left:
            raise NotWritable("The draft cannot be written: read-only file system.")
        return save_draft(vault, opened, *rest)

    def edit(path: Path) -> None:
        if not is_failing:
            with story.open("alice") as vault:
                resolve_prefer(vault, left, "local")
        path.write_text("typed outside\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    monkeypatch.setattr("lace_tui.screens.keeping.save_draft", slowly)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert isinstance(app.screen, Resolve)
        left = app.screen.conflict_id
        await pilot.press("E", "]")
        while app.screen.conflict_id == left or app.screen.walk.opened is None:
            await pilot.pause()
        await pilot.press("r")
        await pilot.pause()
        go.set()
        await settle(pilot)
        (file,) = kept(story)
        assert file.read_bytes() == b"typed outside\n"
        assert f"it lies in {file} for a week." in told(app)


@pytest.mark.parametrize("key", ["f5", "ctrl+q"])
async def test_choices_are_kept_once_the_folder_is_back(story: Story, key: str) -> None:
    """APP-3, LAZ-42: "then F5 reads it" brought them to no draft, and ctrl+q said that there is no vault."""
    folder, app = story.folder("alice"), app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        away = folder.rename(folder.with_name("unplugged"))
        await press(pilot, "r")
        away.rename(folder)
        await pilot.press(key)
        if key == "f5":
            await settle(pilot)
        assert not is_showing(app, Leaving)
    assert drafted(story)["menu.md"]["regions"] == {"1": "right"}
