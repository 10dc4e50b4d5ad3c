"""A text that is lent to the person's own editor, and what lies about of one whose app was killed (APP-4, APP-13)."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from lace_tui.app import LaceApp
from lace_tui.screenshots import Story, app_of
from vault.fsck.check import check

DAY = 86_400


@pytest.fixture
def lending(story: Story, monkeypatch: pytest.MonkeyPatch) -> LaceApp:
    """An app whose terminal need not be lent."""
    app = app_of(story, "alice")
    monkeypatch.setattr(app, "suspend", nullcontext)
    return app


def go_on(path: Path) -> None:
    """Do what an editor does."""
    path.write_bytes(path.read_bytes() + b", edited")


def left(story: Story) -> list[str]:
    """Return what lies about of texts that were edited."""
    return sorted(path.name for path in (story.folder("alice") / ".vault").glob("edit-*"))


def test_two_apps_edit_files_of_one_name_each_for_itself(
    story: Story, lending: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4: both had one file, so that one took the other's text and deleted it under its editor."""
    other = app_of(story, "alice")
    monkeypatch.setattr(other, "suspend", nullcontext)
    names: list[str] = []

    def edit(path: Path) -> None:
        names.append(path.name)
        assert other.edit_outside("b/menu.md", b"b") == b"b, edited"
        assert path.read_bytes() == b"a"

    lending._edit = edit
    other._edit = go_on
    assert lending.edit_outside("a/menu.md", b"a") == b"a"
    assert names == ["menu.md"], "an editor knows by the name how to show it"
    assert left(story) == []


def test_a_name_of_any_length_goes_to_an_editor(lending: LaceApp) -> None:
    """APP-4: a name of letters of four bytes each became one that no file system has."""
    name = "\N{GRINNING FACE}" * 63 + ".md"
    lending._edit = go_on
    assert lending.edit_outside(name, b"text") == b"text, edited"


def test_what_a_killed_app_left_stays_for_a_week_and_troubles_nobody(story: Story, lending: LaceApp) -> None:
    """APP-13: it may be all there is of a text; later it would only pile up."""
    dot = story.folder("alice") / ".vault"
    now = lending._world().now_ns() / 1e9
    for name, days in (("edit-old", 8), ("edit-new", 6)):
        (dot / name).mkdir()
        (dot / name / "menu.md").write_text("typed")
        for path in (dot / name / "menu.md", dot / name):
            os.utime(path, (now - days * DAY, now - days * DAY))
    (dot / "edit-menu.md").write_text("of an earlier version")
    os.utime(dot / "edit-menu.md", (now - 8 * DAY, now - 8 * DAY))
    with story.open("alice") as vault:
        assert check(vault).ok
    lending._edit = lambda _path: None
    lending.edit_outside("menu.md", b"text")
    assert left(story) == ["edit-new"]
