"""A text that is lent to the person's own editor, and what lies about of one whose app was killed (APP-4, APP-13)."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.cli.message import EditorFailed, edit_file
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from tests.tui.conftest import press
from tests.tui.resolving import opened
from tests.tui.test_drafts import told
from vault.desks.diff import MAX_TEXT_BYTES
from vault.files import FileTooLarge
from vault.fsck.check import check

DAY = 86_400
_SAVES_AND_FAILS = "import sys; open(sys.argv[-1], 'a').write('saved'); sys.exit(1)"
_LEAVES_ITS_OWN = "import sys; open(sys.argv[-1] + '.swp', 'a').write('typed'); sys.exit(1)"


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
    now = lending.working.world().now_ns() / 1e9
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


@pytest.mark.parametrize(
    ("program", "name", "text"),
    [(_SAVES_AND_FAILS, "menu.md", "textsaved"), (_LEAVES_ITS_OWN, "menu.md.swp", "typed")],
    ids=["saved", "not saved"],
)
def test_what_was_saved_stays_where_the_editor_fails(
    story: Story, lending: LaceApp, program: str, name: str, text: str
) -> None:
    """APP-13: it was deleted where the editor did not end with 0, as each does whose terminal is closed."""
    lending._edit = partial(edit_file, editor=f"'{sys.executable}' -c \"{program}\"")
    with pytest.raises(EditorFailed) as failed:
        lending.edit_outside("menu.md", b"text")
    (room,) = left(story)
    path = story.folder("alice") / ".vault" / room
    assert (path / name).read_text() == text
    assert f"lies in {path / name if name == 'menu.md' else path} for a week. Edit here with e" in failed.value.hint


def test_nothing_stays_where_the_editor_fails_and_nothing_was_saved(story: Story, lending: LaceApp) -> None:
    """APP-13: what no editor changed is in the vault still."""
    lending._edit = partial(edit_file, editor="false")
    with pytest.raises(EditorFailed) as failed:
        lending.edit_outside("menu.md", b"text")
    assert left(story) == []
    assert failed.value.hint.startswith("Edit here with e")


async def test_a_result_that_is_too_long_stays_where_it_was_edited(story: Story, lending: LaceApp) -> None:
    """APP-13: it was deleted, and the advice was to move away the file that was gone."""
    long = b"soup\n" * (MAX_TEXT_BYTES // 5 + 1)

    def edit(path: Path) -> None:
        path.write_bytes(long)

    lending._edit = edit
    async with lending.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "E")
        assert isinstance(lending.screen, Resolve)
        assert lending.screen.walk.pick.edited is None
        (room,) = left(story)
        path = story.folder("alice") / ".vault" / room / "menu.md"
        assert path.read_bytes() == long
        assert "The result of menu.md is over 2 MiB now, and nothing was changed." in told(lending)
        assert f"lies in {path} for a week. Shorten it, or decide with it" in told(lending)


def test_a_text_that_was_too_long_before_is_no_result(story: Story, lending: LaceApp) -> None:
    """APP-13: the markers of a clash may make it longer than what is taken; who leaves it so changed nothing."""
    long = b"x" * (MAX_TEXT_BYTES + 1)
    lending._edit = lambda _path: None
    assert lending.edit_outside("menu.md", long) == long
    lending._edit = go_on
    with pytest.raises(FileTooLarge):
        lending.edit_outside("menu.md", long)
    assert len(left(story)) == 1
