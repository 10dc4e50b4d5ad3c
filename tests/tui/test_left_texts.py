"""Texts that are in no draft: each is in a file before its draft goes, and Home and `lace status` name it (APP-13)."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.screens.home import Home
from lace_tui.screens.left_text import LeftPage
from lace_tui.screenshots import Story, app_of
from lace_tui.verbs.status import status_data
from lazy.conflicts import conflicts
from lazy.resolving.deciding import Pick
from lazy.resolving.draft_files import DraftFile, write_draft
from lazy.resolving.drafts import load_draft, save_draft
from lazy.resolving.left_texts import TextChanged, delete_text, left_texts, lent_room
from lazy.resolving.opening import Opened, open_conflict
from lazy.status import status
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from tests.tui.resolving import opened
from tests.tui.test_drafts import clash_in_two, clashing, drafts, told
from tests.tui.test_edited_late import decide_elsewhere
from vault.vault import Vault

SIZE = (110, 34)
TYPED = Pick(edited=b"typed")


def _open(vault: Vault) -> Opened:
    (conflict,) = conflicts(vault)
    return open_conflict(vault, conflict.id)


def _room(story: Story, name: str, *files: str) -> Path:
    room = story.folder("alice") / ".vault" / name
    room.mkdir()
    for file in files:
        (room / file).write_text("typed")
    return room


def test_a_text_is_in_a_file_before_a_choice_for_other_contents_takes_its_place(story: Story) -> None:
    """APP-13, LAZ-42: it was in no draft any more and in no file, and nothing was said."""
    clash_in_two(story)
    with story.open("alice") as alice:
        assert save_draft(alice, _open(alice), {"menu.md": TYPED}) == (True, ())
    clashing(story, "5.2.0", {"menu.md": "# Menu\n\nBob's, later\n"})
    with story.open("alice") as alice:
        now = _open(alice)
        assert load_draft(alice, now).stale == ("menu.md",)
        assert save_draft(alice, now, {"list.md": Pick(side=0)}) == (True, ())
        ((path, file),) = save_draft(alice, now, {"menu.md": Pick(side=0)}).texts
        assert (path, file.read_bytes()) == ("menu.md", b"typed")
        assert save_draft(alice, now, {"menu.md": TYPED}) == (True, ())


@pytest.mark.parametrize("path", ["menu.md", "gone.md"])
def test_a_text_of_a_former_draft_is_in_a_file_before_that_goes(story: Story, path: str) -> None:
    """APP-13, LAZ-42: of a draft whose conflict is no more all went that nothing could take over."""
    clash_in_two(story)
    with story.open("alice") as alice:
        write_draft(alice, DraftFile("0" * 12, "main", {path: {"key": "of others", "edited": "typed"}}))
        ((named, file),) = save_draft(alice, _open(alice), {"list.md": Pick(side=0)}).texts
        assert (named, file.read_bytes()) == (path, b"typed")
    assert len(drafts(story)) == 1


def test_a_text_that_was_taken_over_by_what_is_decided_already_is_in_a_file(story: Story) -> None:
    """APP-13, LAZ-42: taken from the draft of a former id, it went with the new one that came too late."""
    clash_in_two(story)
    with story.open("alice") as alice:
        known = _open(alice)
        key = next(file.key for file in known.files if file.path == "menu.md")
    decide_elsewhere(story)
    with story.open("alice") as alice:
        write_draft(alice, DraftFile("0" * 12, "main", {"menu.md": {"key": key, "edited": "typed"}}))
        is_kept, ((path, file),) = save_draft(alice, known, {"list.md": Pick(side=0)})
        assert (is_kept, path, file.read_bytes()) == (False, "menu.md", b"typed")


async def test_the_page_says_where_such_a_text_lies(story: Story) -> None:
    """APP-13, LAZ-42: it said that something changed, and the key that chose anew let the text go."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape")
    clashing(story, "5.2.0", {"list.md": "bob, later\n"})
    again = app_of(story, "alice")
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "R")
        (left,) = left_texts(story.folder("alice") / ".vault")
        assert f"What you wrote for list.md before is in no draft any more: it lies in {left.file}" in told(again)


def test_what_a_killed_app_left_is_named_and_what_nobody_wrote_is_not(story: Story) -> None:
    """APP-13, LAZ-39: it lay there for a week, then it went, and nothing had named it."""
    dot = story.folder("alice") / ".vault"
    saved, several = _room(story, "edit-saved", "menu.md"), _room(story, "edit-swap", ".menu.md.swp", "menu.md")
    _room(story, f"{lent_room(b'typed')}x", "menu.md")
    _room(story, "edit-empty")
    kept = _room(story, "edit-kept-x", "list.md")
    assert {(one.name, one.file) for one in left_texts(dot)} == {
        ("menu.md", saved / "menu.md"),
        ("menu.md", several),
        ("list.md", kept / "list.md"),
    }
    with story.open("alice") as alice:
        assert len(status_data(status(alice), None)["texts"]) == 3


def test_what_an_editor_has_now_is_no_text_that_was_left(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: another window, and `lace status`, told of it as of one whose app was killed."""
    app = app_of(story, "alice")
    monkeypatch.setattr(app, "suspend", nullcontext)
    dot = story.folder("alice") / ".vault"

    def edit(path: Path) -> None:
        path.write_bytes(b"saved")
        assert left_texts(dot) == ()
        shutil.copytree(path.parent, dot / "edit-of_another")

    app._edit = edit
    assert app.edit_outside("menu.md", b"text") == b"saved"
    (left,) = left_texts(dot)
    assert left.file == dot / "edit-of_another" / "menu.md"


async def test_home_names_it_and_shows_it(story: Story) -> None:
    """APP-13, LAZ-39: the next start said nothing of it."""
    room = _room(story, "edit-saved", "menu.md")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        needs = text_of(app, "#needs")
        assert "! What you wrote for menu.md is in no draft" in needs
        assert "it lies in .vault/edit-saved/menu.md until" in needs
        await press(pilot, "tab", "tab", "end", "enter")
        assert f"It lies in {room / 'menu.md'} until" in page_of(app)
        assert page_of(app).endswith("typed")
        await press(pilot, "escape")
        shutil.rmtree(room)
        app.read_all()
        await settle(pilot)
        assert "in no draft" not in text_of(app, "#needs")


async def test_a_left_text_is_deleted_once_that_is_agreed_to(app: LaceApp, story: Story) -> None:
    """APP-1, APP-13: the page said that somebody may delete it there, and the app could not."""
    room, other = _room(story, "edit-kept-x", "menu.md"), _room(story, "edit-kept-z", "list.md", ".list.md.swp")
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "tab", "tab", "end", "enter")
        assert is_showing(app, LeftPage)
        await press(pilot, "x")
        assert "goes for good" in page_of(app)
        assert "y " not in page_of(app), "the key that copies on its page deletes here"
        await press(pilot, "escape")
        assert is_showing(app, LeftPage)
        assert (room.exists(), other.exists()) == (True, True)
        await press(pilot, "escape", "up", "enter", "x", "y")
        assert is_showing(app, Home)
        assert (room.exists(), other.exists()) == (False, True)
        assert "what you wrote for menu.md is gone" in text_of(app, "#card-text")
        assert "for menu.md" not in text_of(app, "#needs")


@pytest.mark.parametrize("files", [("menu.md",), ("menu.md", ".menu.md.swp")])
def test_a_left_text_is_deleted_with_its_room(story: Story, files: tuple[str, ...]) -> None:
    """APP-13: an empty room, or what an editor had beside it, would have stayed for a week."""
    room = _room(story, "edit-kept-x", *files)
    (left,) = left_texts(room.parent)
    delete_text(room.parent, left)
    assert not room.exists()


def test_a_left_text_that_was_written_meanwhile_stays(story: Story) -> None:
    """APP-13: nobody agreed to lose what was written since."""
    room = _room(story, "edit-kept-x", "menu.md")
    (left,) = left_texts(room.parent)
    os.utime(room / "menu.md", (left.until, left.until))
    with pytest.raises(TextChanged):
        delete_text(room.parent, left)
    assert (room / "menu.md").read_text() == "typed"
