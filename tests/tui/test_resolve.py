"""Resolve, told as decisions of one person (APP-4, LAZ-35, LAZ-39)."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.widgets import TextArea

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Offer, PlanPage
from lace_tui.screens.editor import Editor
from lace_tui.screens.pane import Pane
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.conflict_words import OVERTAKEN
from lazy.conflicts import conflicts
from lazy.resolving.deciding import decide
from lazy.resolving.resolve import resolve_merged, resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from tests.tui.resolving import clash, clash_twice, clash_with_cara, menu, opened, pane
from vault.files import NotWritable
from vault.names import Version
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault


async def test_sides_are_named_and_a_region_is_chosen(app: LaceApp, story: Story) -> None:
    """LAZ-35, LAZ-39: who, where, when, version; base; the result lives; `y` writes what `w` showed."""
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        left, right = app.screen.query_one("#left", Pane), app.screen.query_one("#right", Pane)
        assert "YOU @ alice-desk  1.1.0" in str(left.border_title)
        assert "BOB @ bob-desk  1.1.0" in str(right.border_title)
        assert "+ Pumpkin, 4.50" in left.text
        assert "+ Leek, 4.20" in right.text
        assert "- Tomato, 4.00" in left.text
        await pilot.press("b")
        assert "- Tomato" not in pane(app, "left")
        assert "? region 1:  l yours  r bob's  o both" in pane(app, "result")
        assert "! 1 conflict" in text_of(app, "#head")
        await pilot.press("w", "y")
        assert isinstance(app.screen, Resolve), "nothing to write while a region is undecided"
        assert app.clipboard == "lace conflicts --regions"
        assert "(write: 1 left)" in text_of(app, "#foot")
        await pilot.press("r")
        assert "= Leek, 4.20" in pane(app, "result")
        assert "= decided: w writes it" in text_of(app, "#what")
        assert "Pumpkin" in menu(story), "nothing is written before the preview"
        await pilot.press("w")
        assert isinstance(app.screen, PlanPage)
        assert "release main 1.1.1" in page_of(app)
        await pilot.press("w", "n")
        assert "Pumpkin" in menu(story)
        await settle(pilot)
        await press(pilot, "w", "y")
        assert "Leek" in menu(story)
        assert (story.folder("alice") / "wine.md").exists(), "what merged by itself came too"
        assert isinstance(app.screen, Offer)
    with story.open("alice") as vault:
        assert conflicts(vault) == []
        assert Version.parse("1.1.1") in {found.version for found in releases(vault.store, "main")}
        assert not list((vault.dot / "drafts").iterdir())


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (["l"], ["Pumpkin, 4.50"]),
        (["o"], ["Pumpkin, 4.50", "Leek, 4.20"]),
        (["O"], ["Leek, 4.20", "Pumpkin, 4.50"]),
        (["L"], ["Pumpkin, 4.50"]),
        (["R"], ["Leek, 4.20"]),
        (["r", "0", "R", "0", "l"], ["Pumpkin, 4.50"]),
    ],
)
async def test_every_choice_gives_its_lines(app: LaceApp, story: Story, keys: list[str], lines: list[str]) -> None:
    """LAZ-39: per region and whole file; taking a choice away leaves it undecided."""
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, *keys, "w", "y")
    found = [line for line in menu(story).splitlines() if "4." in line]
    assert found == lines


async def test_a_decision_that_is_written_behind_something_else_leaves_that_alone(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-3: whoever is elsewhere by then stays there, and comes back to the list, as the conflict is no more."""
    go = threading.Event()

    def slowly(*args: Any, **named: Any) -> Any:
        assert go.wait(30)
        return decide(*args, **named)

    monkeypatch.setattr("lace_tui.screens.resolve.decide", slowly)
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await pilot.press("r", "w", "y")
        await pilot.pause()
        await pilot.press("question_mark")
        await pilot.pause()
        front = app.screen
        assert not isinstance(front, Resolve)
        go.set()
        await settle(pilot)
        assert app.screen is front
        await press(pilot, "escape")
        assert isinstance(app.screen, Conflicts)
        assert "0 conflicts" in text_of(app, "#head")


async def test_leaving_keeps_the_draft(story: Story) -> None:
    """The choices survive `esc` and the end of the app; they are no decision yet."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "escape")
        assert isinstance(app.screen, Conflicts)
        assert "! 1 conflict" in text_of(app, "#head")
    again = app_of(story, "alice")
    async with again.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        assert "= Leek, 4.20" in pane(again, "result")
        await press(pilot, "0")
    assert not list((story.folder("alice") / ".vault" / "drafts").iterdir())


async def test_choices_that_cannot_be_kept_are_not_said_to_be(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that can only be read: `esc` said that they are a draft, and they were gone."""

    def refuses(*_: object) -> None:
        raise NotWritable("The draft cannot be written: read-only file system.")

    def told() -> list[str]:
        return [f"{note.title} {note.message}" for note in app._notifications]

    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        with monkeypatch.context() as full:
            full.setattr("lace_tui.screens.keeping.save_draft", refuses)
            await press(pilot, "r")
            assert "not kept" in " ".join(told())
            assert "vault cannot be read" not in " ".join(told())
            await press(pilot, "escape")
            assert is_showing(app, Resolve), "the first time it is told"
            assert "the same key leaves them" in " ".join(told())
        await press(pilot, "l")
        await press(pilot, "escape")
        assert is_showing(app, Conflicts)
        assert "kept as a draft" in told()[-1], "and here they are"


async def test_a_draft_of_other_contents_is_not_taken(story: Story) -> None:
    """A choice names what it was made for; newer work of mine asks again. A broken draft counts as none."""
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r")
    story.write("alice", "menu.md", menu(story).replace("Pumpkin, 4.50", "Pumpkin, 4.90"))
    again = app_of(story, "alice")
    async with again.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        assert "+ Pumpkin, 4.90" in pane(again, "left"), "my side is what my folder holds now"
        assert "? region 1:" in pane(again, "result")
    (draft,) = (story.folder("alice") / ".vault" / "drafts").iterdir()
    draft.write_bytes(b'{"format": 1, "files": {"menu.md": {"regions": {"x": "left"}}}')
    third = app_of(story, "alice")
    async with third.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "l", "w", "y")
    assert "4.90" in menu(story)


async def test_the_result_is_edited_here(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "e")
        shown = app.screen
        assert isinstance(shown, Editor)
        assert app.focused is not None
        await press(pilot, "X", "escape")
        assert "markers are left" in str(app.screen.query_one("#result").border_title)
        await pilot.press("w")
        assert isinstance(app.screen, Resolve), "markers are no decision"
        await press(pilot, "0", "y", "r", "e")
        await press(pilot, *"New ", "escape")
        await press(pilot, "w", "y")
    assert menu(story).startswith("New # Supper club")
    assert "Leek" in menu(story)


@pytest.mark.parametrize("size", [(110, 34), (60, 20)])
async def test_a_result_that_is_whole_is_read_to_its_end(story: Story, size: tuple[int, int]) -> None:
    """APP-4: by no key could more of it be seen than seven lines, so that the rest was written unseen."""
    mine, theirs = (b"".join(b"%b %d\n" % (who, number) for number in range(20)) for who in (b"mine", b"bob"))
    clash(story, {"long.txt": mine}, {"long.txt": theirs})
    app = app_of(story, "alice")
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        result = app.screen.query_one("#result", Pane)
        await press(pilot, "j")
        assert result.scroll_offset.y == 0, "what is to be chosen stays in sight"
        for keys in (["r"], ["R"], ["L", "e", "X", "escape"]):
            await press(pilot, *keys)
            begin = result.scroll_offset.y
            await press(pilot, "j")
            assert result.scroll_offset.y == begin + 1
            await press(pilot, *["pagedown"] * 8)
            assert result.scroll_offset.y == result.max_scroll_y > 0
            await press(pilot, "k")
            assert result.scroll_offset.y == result.max_scroll_y - 1


@pytest.mark.parametrize("key", ["l", "r", "o", "O", "L", "R", "0"])
async def test_no_key_throws_away_what_was_edited_without_a_question(app: LaceApp, key: str) -> None:
    """LAZ-42: the next key that suggests itself took a side, and the text was gone for good."""
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"Mine ", "escape")
        screen = app.screen
        assert isinstance(screen, Resolve)
        edited = screen.walk.pick.edited
        assert edited is not None
        await press(pilot, key)
        assert app.screen is not screen
        await press(pilot, "escape")
        assert screen.walk.pick.edited == edited
        await press(pilot, key, "y")
        assert screen.walk.pick.edited is None


async def test_a_result_that_holds_half_its_markers_is_not_decided(app: LaceApp) -> None:
    """LAZ-42: where the clash begins a file, a word typed there made its first marker none, and it was released."""
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "e")
        area = app.screen.query_one(TextArea)
        assert "<<<<<<< " in area.text
        area.text = area.text.replace("<<<<<<< ", "typed <<<<<<< ")
        await press(pilot, "escape")
        assert "markers are left" in str(app.screen.query_one("#result").border_title)
        await pilot.press("w")
        assert isinstance(app.screen, Resolve)


async def test_a_reading_from_before_a_choice_does_not_take_it_back(app: LaceApp) -> None:
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, Resolve)
        readings: list[Any] = []
        app.ask(screen.read, readings.append)  # it begins before the choice, and is shown after it
        await settle(pilot)
        await pilot.press("l")
        chosen = screen.walk.pick
        assert chosen.regions
        screen.show(readings[0])
        assert screen.walk.pick == chosen


async def test_another_reading_stays_at_the_file_and_region_in_sight(story: Story) -> None:
    """APP-4: something else writes the vault, and a key still chooses for what the person sees."""
    clash(
        story,
        {"a.md": b"a\nb\nc\nd\ne\n", "b.md": b"1\nb\nc\nd\n2\n"},
        {"a.md": b"A\nb\nc\nd\nE\n", "b.md": b"3\nb\nc\nd\n4\n"},
    )
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, Resolve)
        assert screen.walk.file is not None
        first = screen.walk.file.path
        while screen.walk.file.path == first:
            await pilot.press("n")
        seen = (screen.walk.file.path, screen.walk.region)
        app.read_place(screen)
        await settle(pilot)
        assert screen.walk.file is not None
        assert (screen.walk.file.path, screen.walk.region) == seen


async def test_a_conflict_that_another_command_decided_is_left(app: LaceApp, story: Story) -> None:
    """APP-4: it stayed on the screen, with all its keys, and each answer was that the vault cannot be read."""
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, Resolve)
        await press(pilot, "r", "w")
        with story.open("alice") as vault:
            resolve_prefer(vault, screen.conflict_id, "local")
        await press(pilot, "y")
        assert isinstance(app.screen, Conflicts)
        assert app.card is not None
        assert "ended early" in app.card.title
        assert not [note for note in app._notifications if "cannot be read" in note.title]


async def test_a_reading_that_ends_once_its_page_was_left_shows_nothing(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4: the app ended with an error where a reading came back while its page was being taken away."""
    go, before = threading.Event(), Resolve.read

    def slowly(self: Resolve, vault: Vault) -> Any:
        value = before(self, vault)
        assert go.wait(30)
        return value

    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        monkeypatch.setattr(Resolve, "read", slowly)
        await pilot.press("f5", "escape")
        await pilot.pause()
        assert isinstance(app.screen, Conflicts)
        go.set()
        await settle(pilot)
        assert isinstance(app.screen, Conflicts)


async def test_coming_back_does_not_read_a_conflict_again(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        readings: list[object] = []
        monkeypatch.setattr(app, "read_place", readings.append)
        await press(pilot, "question_mark")
        await press(pilot, "escape")
        assert isinstance(app.screen, Resolve)
        assert not readings


async def test_the_persons_editor_gets_the_screen(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def edit(path: Path) -> None:
        seen.append(path.read_text())
        path.write_text(path.read_text().replace("Leek, 4.20", "Leek and pumpkin, 5.00"))

    @contextlib.contextmanager
    def suspended() -> Iterator[None]:
        yield

    app = app_of(story, "alice")
    app._edit = edit
    monkeypatch.setattr(app, "suspend", suspended)
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        await press(pilot, "r", "E")
        assert "Leek, 4.20" in seen[0]
        await press(pilot, "w", "y")
    assert "Leek and pumpkin" in menu(story)
    assert not list((story.folder("alice") / ".vault").glob("edit-*"))


async def test_a_file_without_lines_is_shown_from_its_beginning(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4: behind a text whose last region was far down its pane stayed there, and was empty."""
    mine, theirs = (menu(story).replace("Friday", day).encode() for day in ("Sunday", "Monday"))
    clash(story, {"menu.md": mine, "z.png": b"\0mine"}, {"menu.md": theirs, "z.png": b"\0bob"})
    shown: list[int | None] = []
    show = Pane.show

    def seen(pane: Pane, title: str, rows: list[Content], at: int | None = None) -> None:
        if pane.id == "left":
            shown.append(at)
        show(pane, title, rows, at)

    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        monkeypatch.setattr(Pane, "show", seen)
        await press(pilot, "n")
        assert "a file, 5 bytes" in pane(app, "left")
        assert shown[0] == 0
        shown.clear()
        await press(pilot, "b")
        assert shown[0] is None, "it stays where one reads it"


@pytest.mark.parametrize("name", ["x" * 200, "\u65e5\u672c" * 40])
async def test_a_long_path_leaves_room_for_what_is_undecided(story: Story, name: str) -> None:
    """APP-4: the line said Resolve and nothing else; of a path its end says most."""
    clash(story, {f"{name}.txt": b"mine\n"}, {f"{name}.txt": b"bob\n"})
    app = app_of(story, "alice")
    for size in ((80, 24), (60, 20)):
        async with app.run_test(size=size) as pilot:
            await opened(pilot)
            what = app.screen.query_one("#what").render_line(0).text
            assert re.fullmatch(r" *Resolve \.\.\.\S{9,}\.txt   ! undecided: 1 region *", what), what
        app = app_of(story, "alice")


async def test_the_header_counts_what_is_undecided_over_all_files(story: Story) -> None:
    """APP-4: it told the regions of one file, without a unit, so that with four files open one seemed to be left."""
    mine: dict[str, bytes | None] = {"a.txt": b"1\nx\n2\ny\n", "b.txt": b"mine\n", "c.bin": b"\0mine"}
    theirs: dict[str, bytes | None] = {"a.txt": b"1\nv\n2\nw\n", "b.txt": b"bob\n", "c.bin": b"\0bob"}
    clash(story, mine, theirs)
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        seen = []
        for key in ("", "L", "n", "L", "n", "L"):
            await press(pilot, *([key] if key else []))
            seen.append(text_of(app, "#what").partition("! undecided: ")[2])
    assert seen[0].endswith(" in 3 files")
    assert " in 2 files" in seen[1]
    assert seen[2] == seen[1], "wherever one is in them"
    assert len(set(seen)) == 4, "once for each file, and the end"
    assert seen[-1] == ""


async def test_conflicts_stand_in_the_order_of_their_versions(story: Story) -> None:
    """LAZ-36: 2.10.0 stood before 2.9.0, also in `lace conflicts`."""
    clash_twice(story)
    with story.open("alice") as alice:
        assert [str(conflict.version) for conflict in conflicts(alice)] == ["2.9.0", "2.10.0"]


async def test_the_key_that_goes_on_counts_each_time(story: Story) -> None:
    """APP-4: pressed twice it said that there is no other open conflict, as long as the next one was being read."""
    clash_twice(story)
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, Resolve)
        first = screen.conflict_id
        for times in (2, 3):
            for _ in range(times):  # faster than anything is read
                screen.action_next_conflict()
            await settle(pilot)
            assert screen.walk.opened is not None
            assert screen.walk.opened.conflict.id == screen.conflict_id
            assert (screen.conflict_id == first) is (times == 2)
        assert not app._notifications


async def test_what_merges_beside_a_conflict_is_counted_on_every_screen(app: LaceApp, story: Story) -> None:
    """The line was cut off amid it on a screen of 80 columns, and its words fitted no number."""
    clash(story, {"logo.png": b"\0mine", "one.txt": b"1"}, {"logo.png": b"\0bob", "two.txt": b"2"})
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        assert re.search(r"history\.   \d+ more paths merge by themselves\.$", text_of(app, "#said"))
        assert len(text_of(app, "#said")) <= 78


async def test_a_narrow_screen_has_one_pane(app: LaceApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await opened(pilot)
        assert not app.screen.query_one("#right").display
        shown = pane(app, "left")
        assert "< Pumpkin, 4.50" in shown
        assert "> Leek, 4.20" in shown
        await pilot.press("tab")
        assert "Leek" not in pane(app, "left")
        await pilot.press("tab")
        assert "Pumpkin" not in pane(app, "left")
        assert "! 1 conflict" in text_of(app, "#head")
        assert app.screen.query_one("#result").region.height == 5
        await pilot.press("l")
        assert "= decided" in text_of(app, "#what")


async def test_binary_and_deleted_sides_are_told_and_decided(story: Story) -> None:
    """A side without lines shows kind, size, hash and first bytes; a deleted one says so; both can be chosen."""
    clash(
        story,
        {"logo.png": b"\x89PNG\0mine", "guests.txt": None, "esc.md": b"a\x1b[2Jb\n"},
        {"logo.png": b"\x89PNG\0their longer one", "guests.txt": b"ada\nben\ncy\n", "esc.md": b"c\xe2\x80\xaed\n"},
    )
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 40)) as pilot:
        await opened(pilot)
        assert "file 1 of 3" in text_of(app, "#what")
        shown = pane(app, "left") + pane(app, "right") + text_of(app, "#what")
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\\x1b[2J" in shown
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, Resolve), "what could drive the terminal is not put into the editor"
        await pilot.press("L", "n")
        assert "deleted here" in pane(app, "left")
        await pilot.press("L", "n")
        assert "a file, 9 bytes" in pane(app, "left")
        assert "89504e47" in pane(app, "right")
        assert "e edit" not in pane(app, "result")
        foot = text_of(app, "#foot")
        assert "both" not in foot, "nothing is offered that this file cannot be decided by"
        assert "edit" not in foot
        await pilot.press("o")
        await pilot.press("r")
        assert "= decided" in text_of(app, "#what")
        await press(pilot, "w", "y")
    folder = story.folder("alice")
    assert (folder / "logo.png").read_bytes() == b"\x89PNG\0their longer one"
    assert not (folder / "guests.txt").exists()
    assert (folder / "esc.md").read_bytes() == b"a\x1b[2Jb\n"


async def test_three_sides_are_decided_step_by_step(story: Story) -> None:
    menu_of_cara = "# Supper club\n\n## Soups\n\nCelery, 4.10\n\n## Mains\n\nRisotto, 9.50\n\n## Open\n\nFriday\n"
    clash_with_cara(story, "menu.md", menu_of_cara.encode(), "1.1.0")
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        assert "step 1 of 2" in text_of(app, "#what")
        await pilot.press("l")
        assert "step 2 of 2" in text_of(app, "#what")
        assert "RESULT SO FAR" in str(app.screen.query_one("#left").border_title)
        await pilot.press("o", "w")
        plan = page_of(app)
        assert "region 1: yours, region 2: both, so far first" in plan, "each region has the names of its own step"
        await press(pilot, "y")
    soups = [line for line in menu(story).splitlines() if "4." in line]
    assert soups[0] == "Pumpkin, 4.50"
    assert len(soups) == 2


async def test_each_of_three_whole_files_is_shown_and_can_be_taken(story: Story) -> None:
    """LAZ-35: `n` goes from side to side where a file has no lines, and each is named by whose it is."""
    clash(story, {"logo.png": b"\x89PNG\0mine"}, {"logo.png": b"\x89PNG\0bob"})
    clash_with_cara(story, "logo.png", b"\x89PNG\0cara", "2.0.0")
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await opened(pilot)
        assert "n the next side" in pane(app, "result")
        seen = []
        for number in (1, 2):
            assert f"side {number} of 2" in text_of(app, "#what")
            seen.append(str(app.screen.query_one("#right").border_title).split()[0])
            await pilot.press("R")
            assert f"the whole file is {seen[-1].lower()}'s" in str(app.screen.query_one("#result").border_title)
            if seen[-1] == "BOB":
                chosen = number
            await pilot.press("n")
        assert sorted(seen) == ["BOB", "CARA"]
        await press(pilot, *"N"[: 2 - chosen], "R", "w", "y")
    assert (story.folder("alice") / "logo.png").read_bytes() == b"\x89PNG\0bob"


@pytest.mark.parametrize("size", [(80, 24), (110, 34)])
async def test_it_is_said_that_a_version_was_overtaken(app: LaceApp, story: Story, size: tuple[int, int]) -> None:
    """LAZ-34, LAZ-42: `lace conflicts` said that the folder stays as it is, and the app spoke as of any version."""
    for name in ("alice", "bob"):
        with story.open(name) as vault:
            story.write(name, "menu.md", f"{name}'s own\n")
            release(vault, Version(1, 1, 1), "later")
            sync(vault, ["stick"])
    with story.open("bob") as vault:
        story.write("bob", "menu.md", "of both\n")
        later = next(found for found in conflicts(vault) if found.version == Version(1, 1, 1))
        resolve_merged(vault, later.id, Version(1, 1, 2))
        sync(vault, ["stick"])
    with story.open("alice") as vault:
        sync(vault, ["stick"])
        assert [found.version for found in conflicts(vault) if found.is_overtaken] == [Version(1, 1, 0)]
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert isinstance(app.screen, Conflicts)
        assert OVERTAKEN in app.screen.row()[1]
        await press(pilot, "enter")
        assert OVERTAKEN in text_of(app, "#said")
