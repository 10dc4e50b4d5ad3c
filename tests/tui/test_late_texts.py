"""What was typed for a conflict that is decided by then lies in a file that its page names (APP-13, LAZ-39, LAZ-42)."""

from __future__ import annotations

import re
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Leaving, Page, PlanPage
from lace_tui.screens.editor import Editor
from lace_tui.screens.late_text import Late, LatePage
from lace_tui.screenshots import Story, app_of
from lazy.resolving.drafts import Saved, save_draft
from lazy.resolving.opening import OpenFile
from tests.tui.conftest import is_showing, page_of, press, settle
from tests.tui.resolving import opened
from tests.tui.test_drafts import clash_in_two, drafts, told
from tests.tui.test_edited_late import decide_elsewhere

SIZE = (110, 34)


def named_in(page: str) -> Path:
    """Return the file that a page says the text lies in."""
    found = re.search(r"It lies in (.+) for a week\.", page)
    assert found is not None, page
    return Path(found[1])


async def typed_then_decided(pilot: Pilot[None], app: LaceApp, story: Story) -> None:
    """Type into the opened text, and let its conflict be decided elsewhere meanwhile."""
    await press(pilot, "e", *"typed ")
    decide_elsewhere(story)
    app.read_all()
    await settle(pilot)


async def test_texts_that_are_shown_lie_in_files_when_the_app_is_left(story: Story) -> None:
    """APP-13, LAZ-39: two pages alone still had them, and the key that leaves ended both without a question."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"first ", "escape", "n", "e", *"second ")
        decide_elsewhere(story)
        await press(pilot, "escape")
        app.read_all()
        await settle(pilot)
        pages = [screen for screen in app.screen_stack if isinstance(screen, LatePage)]
        assert len(pages) == 2
        texts = [named_in(page_of(app)).read_bytes()]
        await press(pilot, "escape")
        texts.append(named_in(page_of(app)).read_bytes())
        assert [text.split()[0] for text in texts] == [b"first", b"second"]
        await pilot.press("ctrl+q")
        assert app._exit, "nothing is lost"
    assert len(list((story.folder("alice") / ".vault").glob("edit-*/*.md"))) == 2


async def test_a_text_that_cannot_be_kept_is_asked_about(story: Story) -> None:
    """APP-13, LAZ-39: its page was the last of it, and any key ended that."""
    folder = story.folder("alice")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await typed_then_decided(pilot, app, story)
        away = folder.rename(folder.with_name("unplugged"))
        await press(pilot, *"more ", "escape")
        assert "It could not be kept: this page alone still has it." in page_of(app)
        await press(pilot, "ctrl+q")
        assert is_showing(app, Leaving)
        assert "What you wrote for menu.md is on its page alone." in page_of(app)
        await press(pilot, "n", "escape")
        assert is_showing(app, PlanPage)
        await press(pilot, "n")
        assert "typed more " in page_of(app)
        await press(pilot, "escape", "y")
        assert not is_showing(app, Page)
        away.rename(folder)


async def test_what_is_typed_after_the_decision_is_in_its_file_before_esc(story: Story) -> None:
    """APP-13, LAZ-39: it was in no file until esc, and a terminal that was closed lost it."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await typed_then_decided(pilot, app, story)
        await press(pilot, *"more ")
        editor = app.screen
        assert isinstance(editor, Editor)
        await editor.hand_over()
        (file,) = (story.folder("alice") / ".vault").glob("edit-*/menu.md")
        assert file.read_bytes().startswith(b"typed more ")
        frame = str(editor.query_one("#page").border_subtitle)
        assert f"! It needs no decision any more: what you type lies in .vault/{file.parent.name}/menu.md" in frame
        assert editor.losing == ""
        away = story.folder("alice").rename(story.folder("alice").with_name("unplugged"))
        await press(pilot, *"still ")
        await editor.hand_over()
        assert "Not kept: menu.md needs no decision any more." in editor.losing
        away.rename(story.folder("alice"))


async def test_a_text_that_is_kept_again_has_one_file(story: Story) -> None:
    """APP-13: what was typed since the decision was seen is in the file too, and no earlier state lies beside it."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await typed_then_decided(pilot, app, story)
        await press(pilot, *"more ", "escape")
        assert named_in(page_of(app)).read_bytes().startswith(b"typed more ")
    assert len(list((story.folder("alice") / ".vault").glob("edit-*"))) == 1


async def test_a_text_from_outside_for_a_decided_conflict_leaves_no_draft(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-42: it was kept as a draft of a conflict that no command names any more, and nothing was told."""
    app = app_of(story, "alice")

    def edit(path: Path) -> None:
        decide_elsewhere(story)
        path.write_text("typed outside\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "E")
        assert drafts(story) == []
        assert "menu.md needs no decision any more" in page_of(app)
        assert named_in(page_of(app)).read_bytes() == b"typed outside\n"
        await press(pilot, "escape")
        assert is_showing(app, Conflicts)


@pytest.mark.parametrize("written", [b"typed \xff outside\n", b"typed \x1b[2J outside\n"], ids=["no UTF-8", "control"])
async def test_a_text_that_is_not_copied_as_it_is_says_so(
    story: Story, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    """APP-12, APP-13: it was told that all of it is copied, where signs stood for some of its bytes."""
    app = app_of(story, "alice")

    def edit(path: Path) -> None:
        decide_elsewhere(story)
        path.write_bytes(written)

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "E")
        page = page_of(app)
        assert "y copies all of it" not in page
        assert "y copies it as it is shown, and that file alone has what you wrote, byte for byte." in page
        assert named_in(page).read_bytes() == written


async def test_a_text_whose_page_was_left_before_the_decision_was_seen_is_named(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13, LAZ-39: whoever went on before it was kept found it nowhere."""
    app, go = app_of(story, "alice"), threading.Event()

    def slowly(*args: Any) -> Saved:
        assert go.wait(30)
        return save_draft(*args)

    def edit(path: Path) -> None:
        decide_elsewhere(story)
        path.write_text("typed outside\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    monkeypatch.setattr("lace_tui.screens.keeping.save_draft", slowly)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await pilot.press("E", "escape")
        await pilot.pause()
        assert is_showing(app, Conflicts)
        go.set()
        await settle(pilot)
        (file,) = (story.folder("alice") / ".vault").glob("edit-*/menu.md")
        assert file.read_bytes() == b"typed outside\n"
        assert f"it lies in {file} for a week." in told(app)
        assert drafts(story) == []


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (b"x" * 1_900_000, "and the rest of the last line"),
        (b"\xff" * 1_900_000, "and the rest of the last line"),
        (b"x" * 30_000 + b"\nnext\n", "and the rest of the last line and 2 more lines"),
        (b"a line\n" * 600, "and 101 more lines"),
        (b"a longer line, of which there are many\n" * 6_000, "and 5501 more lines"),
        (b"a line\n" * 400, None),
    ],
    ids=["one line", "no UTF-8", "a long line first", "many lines", "very many lines", "few lines"],
)
async def test_of_a_long_text_the_beginning_is_shown(story: Story, content: bytes, more: str | None) -> None:
    """APP-3, APP-12: only its lines were counted, and one of 1.9 MB stopped the app for half a minute."""
    app = app_of(story, "alice")
    file = OpenFile("menu.md", "edit", None, (None, None))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        page = LatePage(Late(file, content, "needs no decision any more", Path("kept")))
        app.push_screen(page)
        await settle(pilot)
        lines = page_of(app).rstrip().split("\n")
        assert (lines[-1].strip() == more) if more else ("more line" not in lines[-1])
        assert sum(map(len, lines)) < 25_000
