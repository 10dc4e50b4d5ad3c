"""A result is edited in the app whatever its lines end in, and keeps that (APP-12, LAZ-36)."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from lace_tui.screens.dialogs import Leaving
from lace_tui.screens.editor import Editor, put_back
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lace_tui.words.inert import is_harmless
from tests.tui.conftest import is_showing, page_of, press, settle
from tests.tui.resolving import clash, opened, pane
from tests.tui.test_drafts import told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\r\ntwo\n\tthree", True),
        ("\ufeffa byte order mark", True),
        ("\U0001f469\u200d\U0001f33e \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u05d0\u200f", True),
        ("a lone\rreturn", False),
        ("\x1b[2J", False),
        ("\x9b2J", False),
        ("\u202eturned", False),
        ("\u2066turned\u2069", False),
        ("another\u2028line", False),
    ],
)
def test_control_characters_alone_are_kept_from_the_editor(text: str, expected: bool) -> None:
    """APP-12: a return at the end of each line, a byte order mark and joined emoji were called dangerous."""
    assert is_harmless(text) is expected


@pytest.mark.parametrize(
    ("before", "edited", "after"),
    [
        ("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"),
        ("a\r\nb\r\n", "a\nnew\nb\n", "a\r\nnew\r\nb\r\n"),
        ("a\r\nb\nc\r\n", "new\na\nb\nc\n", "new\r\na\r\nb\nc\r\n"),
        ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("a\nb\r\nc\n", "b\nd\n", "b\r\nd\n"),
        ("a\nb", "", ""),
        ("a\n" * 9 + "b", "a\n\nb\n", "a\n\nb\n"),
        ("", "a\nb", "a\nb"),
    ],
)
def test_lines_end_as_they_did(before: str, edited: str, after: str) -> None:
    """LAZ-36: to edit one line changes no other."""
    assert put_back(before, edited) == after


async def test_a_text_with_returns_is_edited_and_keeps_them(story: Story) -> None:
    """APP-12, LAZ-36: `e` said of each text from Windows that it could drive the terminal."""
    clash(story, {"menu.md": b"# Menu\r\nleek\r\n"}, {"menu.md": b"# Menu\r\nbeet\r\n"})
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "e")
        assert is_showing(app, Editor)
        assert "<<<<<<<" in app.screen.query_one(TextArea).text
        await press(pilot, "escape")
        resolve = app.screen
        assert isinstance(resolve, Resolve)
        assert resolve.walk.pick.edited is None, "nothing was typed"
        await press(pilot, "l", "e")
        app.screen.query_one(TextArea).insert("soup\n", (1, 0))
        await press(pilot, "escape", "w", "y")
    assert (story.folder("alice") / "menu.md").read_bytes() == b"# Menu\r\nsoup\r\nleek\r\n"


async def test_bytes_of_another_encoding_stay_what_they_are(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-36: `e` on a text that `E` left in Latin-1 wrote U+FFFD for each letter that nobody touched."""
    clash(story, {"menu.md": b"leek\n"}, {"menu.md": b"beet\n"})
    app = app_of(story, "alice")

    def edit(path: Path) -> None:
        path.write_bytes(b"caf\xe9\nleek\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "E", "e")
        assert "not UTF-8: edit it with E" in told(app)
        assert is_showing(app, Resolve)
        await press(pilot, "w", "y")
    assert (story.folder("alice") / "menu.md").read_bytes() == b"caf\xe9\nleek\n"


async def test_a_line_that_is_too_long_to_type_in_is_left_to_the_other_editor(story: Story) -> None:
    """APP-3: one of 300 KB opened after three seconds, and each key in it took two."""
    clash(story, {"menu.md": b"leek " * 12_000}, {"menu.md": b"beet " * 12_000})
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "e")
        assert "too long to type in here: edit it with E" in told(app)
        assert is_showing(app, Resolve)


async def test_what_filled_the_screen_is_taken_back(story: Story) -> None:
    """APP-3, LAZ-39: the key that takes back what was pasted ended the app, and with it what was typed last."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e", *"typed ")
        area = app.screen.query_one(TextArea)
        before = area.text
        app.post_message(events.Paste("soup\n" * 200))
        await settle(pilot)
        assert area.text == "typed " + "soup\n" * 200 + before.removeprefix("typed ")
        await press(pilot, "ctrl+z")
        assert area.text == before
        await press(pilot, "ctrl+y", "ctrl+z", "escape")
        assert "typed # Supper club" in pane(app, "result")


async def test_a_text_over_2_mib_is_refused_while_it_can_be_mended(story: Story) -> None:
    """LAZ-39, LAZ-42: it counted as kept, was gone at the next reading, and one was told to choose again."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e", *"typed ")
        app.post_message(events.Paste(("x" * 1000 + "\n") * 2100))
        await pilot.pause(1.5)
        await settle(pilot)
        assert "over 2 MiB" in str(app.screen.query_one("#page").border_subtitle), "it is said before anybody asks"
        await press(pilot, "escape")
        assert is_showing(app, Editor)
        assert "over 2 MiB now. Shorten it" in told(app)
        await press(pilot, "ctrl+q")
        assert is_showing(app, Leaving)
        assert "RESULT of menu.md: Not kept: the text is over 2 MiB" in page_of(app)
        await press(pilot, "n", "ctrl+z")
        await press(pilot, "escape", "f5")
        assert is_showing(app, Resolve)
        assert "typed # Supper club" in pane(app, "result")


async def test_what_is_typed_is_kept_before_anybody_comes_back(story: Story) -> None:
    """LAZ-39: a terminal that was closed took along all that had been typed, for esc alone handed it over."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e", *"typed ")
        await pilot.pause(1.5)
        await settle(pilot)
        assert is_showing(app, Editor)
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        assert "typed # Supper club" in pane(app, "result")
        await press(pilot, "e", "x")
        await pilot.pause(1.5)
        await press(pilot, "backspace", "escape")
        assert "typed # Supper club" in pane(app, "result"), "what was typed and taken back is as before"
        assert "xtyped" not in pane(app, "result")


async def test_a_choice_stays_behind_a_text_that_came_to_nothing(story: Story) -> None:
    """LAZ-39: what was kept while somebody typed, and deleted it again, leaves the choice that was there before."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e", "x")
        await pilot.pause(1.5)
        resolve = app.screen_stack[-2]
        assert isinstance(resolve, Resolve)
        kept = resolve.walk.pick.edited
        assert kept is not None
        await press(pilot, "backspace", "escape")
        assert resolve.walk.pick.edited is None
        assert resolve.walk.pick.regions == {1: "right"}


def test_a_long_text_of_equal_lines_is_put_back_at_once() -> None:
    """APP-3: what both texts begin and end with was searched too, for ten seconds."""
    lines = [f"line {number % 50}\r\n" for number in range(40_000)]
    edited = [line.replace("\r\n", "\n") for line in lines]
    edited.insert(20_000, "new\n")
    assert put_back("".join(lines), "".join(edited)) == "".join([*lines[:20_000], "new\r\n", *lines[20_000:]])


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_a_text_whose_lines_end_alike_is_put_back_at_once(end: str) -> None:
    """APP-3: after each burst of typing the app stood still, for 13 s in a file of 71 KB."""
    lines = ["soup", ""] * 6_000
    edited = ["first", *lines[1:-1], "last"]
    began = time.process_time()
    assert put_back(end.join(lines), "\n".join(edited)) == end.join(edited)
    assert time.process_time() - began < 0.5


def test_of_a_long_text_with_both_ends_each_line_keeps_its_own() -> None:
    """APP-3, LAZ-36: also where it is edited at its beginning and at its end, and lines come again and again."""
    lines = [f"line {number}" if number % 3 else "" for number in range(30_000)]
    ended = [f"{line}\r\n" if number < 10_000 else f"{line}\n" for number, line in enumerate(lines)]
    edited = ["first", *lines[1:15_000], "new", "", *lines[15_000:-1], "last"]
    began = time.process_time()
    found = put_back("".join(ended), "\n".join([*edited, ""]))
    assert time.process_time() - began < 1
    assert found == "".join(["first\n", *ended[1:15_000], "new\n", "\n", *ended[15_000:-1], "last\n"])


def test_equal_lines_with_both_ends_do_not_hold_up_the_screen() -> None:
    """APP-3: where no line tells which is which, a new one ends as most do."""
    before = "x\r\nx\n" * 20_000 + "x\r\n"
    edited = ["a", *["x"] * 39_999, "b", ""]
    began = time.process_time()
    assert put_back(before, "\n".join(edited)) == "\r\n".join(edited)
    assert time.process_time() - began < 1
