"""Every place, as one person visits it (APP-1, APP-4)."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.app.themes import THEMES
from lace_tui.keys.actions import PLACES, Scope
from lace_tui.keys.keymap import clashes
from lace_tui.keys.taste import Taste, keep_keys, keep_theme, read_taste
from lace_tui.screens.dialogs import Offer, Page, PlanPage, Question
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.help import Help
from lace_tui.screens.lines import Lines
from lace_tui.screens.listing import Listing
from lace_tui.screens.place import PlaceScreen
from lace_tui.screenshots import Story, app_of
from lace_tui.words.inert import width_of
from lazy.belonging.admitting import admit
from lazy.belonging.circle import accept, invite
from lazy.sync import sync
from tests.tui.conftest import page_of, press, rows_of, settle, text_of
from vault.names import Version
from vault.releasing import release


async def test_numbers_lead_to_every_place_and_conflicts_stay_in_sight(app: LaceApp) -> None:
    """APP-4: the count of conflicts stands in the header of every place."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for number, place in enumerate(PLACES, 1):
            await press(pilot, str(number))
            assert isinstance(app.screen, PlaceScreen)
            assert app.screen.SCOPE is place
            assert "! 1 conflict" in text_of(app, "#head")
            assert f" {number} {place} " in text_of(app, "#nav")
            assert "? help" in text_of(app, "#foot")
        await pilot.press("1")
        assert "1 home" in text_of(app, "#nav")


async def test_a_place_of_60_by_20_keeps_its_list(app: LaceApp) -> None:
    """What is known of a row stands below it only where no row goes for that."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        for number in range(2, len(PLACES) + 1):
            await press(pilot, str(number))
            shown = app.screen.query_one("#list", Lines)
            assert shown.region.height >= min(10, shown.shown + 2)
            assert "! 1 conflict" in text_of(app, "#head")
            assert "2 conflicts 1" in text_of(app, "#nav")


async def test_a_screen_of_80_by_24_names_every_place(app: LaceApp) -> None:
    """APP-4: the last one, where keys and colours are chosen, was named nowhere but in the help."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for number, place in enumerate(PLACES, 1):
            assert f"{number} {place}" in text_of(app, "#nav")


async def test_conflicts_are_decided_only_after_the_plan(app: LaceApp, story: Story) -> None:
    """LAZ-36: nothing happens on one key; afterwards the conflict is gone and the friend's file is here."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert "main 1.1.0  bob <> you" in rows_of(app)
        await press(pilot, "R", "n")
        assert "Pumpkin" in (story.folder("alice") / "menu.md").read_text()
        await pilot.press("R")
        assert isinstance(app.screen, PlanPage)
        await press(pilot, "y")
        assert isinstance(app.screen, Offer), "after the last one a sync is offered"
        conflicts = app.screen_stack[-2]
        assert isinstance(conflicts, PlaceScreen)
        assert not len(conflicts.query_one("#list", Lines)._source), "the list below it is no old one"
        await pilot.press("escape")
        assert rows_of(app) == ""
        assert "Leek" in (story.folder("alice") / "menu.md").read_text()
        assert "0 conflicts" in text_of(app, "#head")
        assert text_of(app, "#foot").split() == ["?", "help", "ctrl+p", "all", "q", "quit"]
        for key in ("L", "A"):
            app.clear_notifications()
            await pilot.press(key)
            await pilot.pause()
            assert [note.message for note in app._notifications] == ["No conflict is open."], key
        for key in ("escape", "question_mark"):  # told things hide half of a narrow screen, help itself too
            await pilot.press("L", key)
            await pilot.pause()
            assert not app._notifications, key
        await pilot.press("escape")
        await pilot.press("exclamation_mark")
        await pilot.pause()
        assert isinstance(app.screen, Page)
        assert "--prefer remote" in page_of(app)


async def test_queue_says_what_waits_for_whom(app: LaceApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        assert "bob  release main 1.1.0" in rows_of(app)
        await pilot.press("enter")
        await pilot.pause()
        shown = page_of(app)
        assert "lace sync bob" in shown
        await pilot.press("escape")
        await press(pilot, "r")
        assert app.card is not None
        assert "Last sync" in app.card.title


async def test_peers_is_a_matrix_of_who_has_what(app: LaceApp) -> None:
    """LAZ-54: a row for each member, a column for each peer, a sign in every cell."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        rows = rows_of(app).splitlines()
        assert rows[0].split() == ["you", "bob", "cara"]
        alice = next(row for row in rows if row.startswith("alice"))
        assert "< " in alice
        assert "stick" in rows_of(app)
        await pilot.press("I")
        await pilot.pause()
        assert "Words to compare aloud" in page_of(app)


async def test_peers_tells_two_machines_of_one_person_apart(story: Story) -> None:
    """LAZ-54: both rows were called alice, though a column and every other page call one of them otherwise."""
    with story.open("alice") as alice:
        line = invite(alice, "laptop").encode()
        with accept(story.folder("laptop"), story.around("laptop"), line, name="alice")[0] as laptop:
            admit(alice, "alice", laptop.node.text)
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        called = [
            row.split()[0] for row in rows_of(app).splitlines() if row.split() and row.split()[0].startswith("alice")
        ]
        assert len(called) == len(set(called)) == 2, called


async def test_wide_names_keep_the_columns(story: Story) -> None:
    """APP-4: letters that take two cells were counted as one, and every column behind such a name stood elsewhere."""
    wide = "\u65e5\u672c\u8a9e\u306e\u540d"
    with story.open("alice") as alice:
        line = invite(alice, wide).encode()
        with accept(story.folder("laptop"), story.around("laptop"), line, name=wide)[0] as friend:
            admit(alice, wide, friend.node.text)
    app = app_of(story, "alice")
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        head, *members = [row for row in rows_of(app).splitlines() if row.strip()][:5]
        assert {width_of(row) for row in (head, *members)} == {14 + 9 + 3 * (width_of(wide) + 1)}, (head, members)
        assert wide in head, "the columns are as wide as the widest name above them"
        assert any(wide in row for row in members)
        await press(pilot, "5")
        ends = {width_of(row.partition(" released ")[0]) for row in rows_of(app).splitlines() if " released " in row}
        assert len(ends) == 1


async def test_history_shows_what_an_entry_changed(app: LaceApp) -> None:
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        assert "released main 1.1.0" in rows_of(app)
        await pilot.press("slash")
        await pilot.press(*"pumpkin")
        await pilot.pause()
        lines = app.screen.query_one("#list", Lines)
        assert 0 < lines.shown < len(lines._source)
        await press(pilot, "enter", "d")
        shown = rows_of(app)
        assert "+Pumpkin, 4.50" in shown
        assert "-Tomato, 4.00" in shown
        await pilot.press("escape")
        await pilot.press("slash", "escape")
        assert not app.screen.query_one("#list", Lines).is_filtered
        assert not app.screen.query_one(FilterLine).has_class("-open")


async def test_audit_lists_and_verifies(app: LaceApp) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        assert "seal-release" in rows_of(app)
        await press(pilot, "V")
        assert app.card is not None
        assert app.card.title == "Audit: verified"


async def test_audit_lists_the_others_where_an_entry_is_damaged(app: LaceApp, story: Story) -> None:
    """CYB-13: the whole page could not be read."""
    with story.open("alice") as vault, vault.store.transaction():
        sql = "UPDATE body SET bytes = replace(bytes, x'286175646974', x'286175646975') WHERE p ="
        vault.store.run(f"{sql} (SELECT p FROM audit WHERE verb = 'seal-release')")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        assert "! damaged, and cannot be read" in rows_of(app)
        assert "lace-init" in rows_of(app)
        await press(pilot, "V")
        assert app.card is not None
        assert app.card.title == "Audit: broken"


async def test_export_writes_and_counts(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "7")
        assert "equivocation" in rows_of(app)
        await press(pilot, "x")
        assert isinstance(app.screen, Question)
        await press(pilot, "enter")
        assert (story.folder("alice").parent / "history" / "records").is_dir()
        assert isinstance(app.screen, Page)
        for where, told in (("tables", "! tables lies in your shared folder"), (".vault/x", "in-the-vault")):
            await press(pilot, "escape", "x")
            app.screen.query_one(Input).value = str(story.folder("alice") / where)
            await press(pilot, "enter")
            assert app.card is not None
            assert told in "\n".join(line.plain for line in app.card.lines), "as `lace export` says it"


async def test_export_counts_without_writing(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "7")
        await press(pilot, "d")
        assert re.search(r"releases +4 ", rows_of(app))
        assert not (story.folder("alice").parent / "history").exists()


async def test_the_key_of_a_report_leads_to_the_questions(app: LaceApp) -> None:
    """APP-4: it said that they stand further down, below all tables, and one had to find them."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "7", "p")
        lines = app.screen.query_one("#list", Lines)
        assert lines.key.startswith("report ")
        assert lines.scroll_offset.y > 0, "it is in sight"
        assert [note.message for note in app._notifications] == ["Select a question; p answers it."]
        await press(pilot, "p")
        assert isinstance(app.screen, Question)
        await press(pilot, "escape", "/", *"commits", "enter", "p")
        assert [note.message for note in app._notifications][-1] == "No question has the text of the filter."


@pytest.mark.xdist_group("spark")
async def test_a_report_answers_a_question_or_says_what_is_missing(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-10: with Spark the rows; without it one sentence and the way out."""
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> object:
        if name.split(".", maxsplit=1)[0] == "pyspark":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "7")
        lines = app.screen.query_one("#list", Lines)
        while lines.key != "report membership":
            await pilot.press("j")
        monkeypatch.setattr(importlib, "import_module", absent)
        await press(pilot, "p")
        await press(pilot, "enter")
        assert app.card is not None
        assert "extra-missing" in app.card.lines[0].plain
        monkeypatch.undo()
        await press(pilot, "p")
        await pilot.press("enter")
        for _ in range(3):
            await settle(pilot)
        shown = page_of(app)
        assert "member bob" in shown
        assert "Over this vault alone" in shown, "or whoever asks what is endangered is told: all"
        assert "admitted_by alice" in shown


async def test_export_and_report_take_a_path_from_the_same_folder(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """APP-4, APP-10: a report looked for it in another folder, and did not find what was just exported."""
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> object:
        if name.split(".", maxsplit=1)[0] == "pyspark":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    monkeypatch.chdir(tmp_path)
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "7", "x")
        app.screen.query_one(Input).value = "sub/../../out"
        await press(pilot, "enter")
        await press(pilot, "escape")
        assert app.card is not None
        assert app.card.title == f"Export: {story.folder('alice').parent / 'out'}"
        monkeypatch.setattr(importlib, "import_module", absent)
        lines = app.screen.query_one("#list", Lines)
        while lines.key != "report membership":
            await pilot.press("j")
        await press(pilot, "p")
        app.screen.query_one(Input).value = "../out"
        await press(pilot, "enter")
        assert "extra-missing" in app.card.lines[0].plain, "it was found: Spark alone is missing"
        assert app._activity[-1] == f"lace report membership --input {story.folder('alice').parent / 'out'}"


async def _at_setting(pilot: Pilot[Any], key: str) -> None:
    """Go to a line of the settings."""
    await press(pilot, "8")
    lines = pilot.app.screen.query_one("#list", Lines)
    while lines.key != key:
        await pilot.press("j")


async def test_settings_are_changed_here_and_kept(app: LaceApp, story: Story, tmp_path: Path) -> None:
    app.config = tmp_path / "taste"
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await _at_setting(pilot, "setting sync-strategy")
        await press(pilot, "enter")
        await press(pilot, *["backspace"] * 20, *"on-release", "enter")
        with story.open("alice") as vault:
            assert vault.settings.get("sync-strategy") == "on-release"
        await _at_setting(pilot, "theme light")
        await press(pilot, "enter")
        assert app.theme == "lace-light"
        assert read_taste(tmp_path / "taste") == Taste("light")
        palette = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        palette["Theme: contrast"]()
        await settle(pilot)
        assert app.theme == "lace-contrast"
        assert "* contrast" in rows_of(app)
        assert read_taste(tmp_path / "taste") == Taste("contrast"), "as one that is chosen in Settings"


async def test_a_choice_leaves_the_rest_of_a_persons_own_file(app: LaceApp, tmp_path: Path) -> None:
    """What cannot be read is not written over; else the one line changes, and nothing that was written meanwhile."""
    app.config = tmp_path
    path = tmp_path / "config.toml"
    broken = '# mine\ntheme = "dark\n'
    path.write_text(broken)
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        await _at_setting(pilot, "theme light")
        await press(pilot, "enter")
        assert path.read_text() == broken
        assert any("nothing is written over it" in str(note.message) for note in app._notifications)
        path.write_text('# mine\ntheme = "dark"  # at night\nfont = 3\n\n# hands\n[keys]\nsnyc = "f9"\n')
        await press(pilot, "enter")
    whole = '# mine\ntheme = "light"  # at night\nfont = 3\n\n# hands\n[keys]\nsnyc = "f9"\n'
    assert path.read_text() == whole


def test_keys_are_kept_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    keep_keys(tmp_path, "sync", "")
    keep_keys(tmp_path, "sync", 's,"')
    keep_theme(tmp_path, "light")
    assert path.read_text() == 'theme = "light"\n[keys]\nsync = "s,\\""\n'
    path.write_text("# top\n[keys]  # mine\n'sync' = 's' # as ever\nquit = \"f10\"")
    keep_keys(tmp_path, "sync", "f9")
    keep_theme(tmp_path, "contrast")
    assert path.read_text() == '# top\ntheme = "contrast"\n[keys]  # mine\nsync = "f9" # as ever\nquit = "f10"\n'
    keep_keys(tmp_path, "sync", "")
    assert path.read_text() == '# top\ntheme = "contrast"\n[keys]  # mine\nquit = "f10"\n'
    for odd in ('keys = { sync = "s" }\n', 'x = """\n[keys]\n"""\n', "keys = 3\n"):
        path.write_text(odd)
        with pytest.raises(ValueError, match="by hand"):
            keep_keys(tmp_path, "sync", "f9")
        assert path.read_text() == odd


async def test_keys_are_rebound_by_id(story: Story) -> None:
    app = app_of(story, "alice")
    app.taste = Taste(keys={"go-audit": "f9"})
    app.set_keymap(app.taste.keys)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "f9")
        assert isinstance(app.screen, Listing)
        assert app.screen.SCOPE is Scope.AUDIT
        await pilot.press("question_mark")
        await pilot.pause()
        await settle(pilot)
        assert isinstance(app.screen, Help)
        rows = app.screen.query_one(Lines)
        await press(pilot, *"go to audit")
        assert rows.key == "go-audit"
        assert rows.rendered(rows.cursor).startswith("> F9")
        await pilot.press("escape")


def test_a_broken_taste_is_told_and_the_rest_counts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('theme = "lihgt"\nfont = 3\n[keys]\nsnyc = "f9"\nquit = "f10"\nsync = "u"\n')
    taste = read_taste(tmp_path)
    assert taste.theme == "dark"
    assert taste.keys == {"quit": "f10", "sync": "u"}
    told = " ".join(taste.remarks)
    assert "did you mean 'light'?" in told
    assert "did you mean 'sync'?" in told
    assert "font" in told
    assert "the key u would be both sync and update" in told
    (tmp_path / "config.toml").write_text("theme = ")
    assert "cannot be read" in read_taste(tmp_path).remarks[0]
    assert clashes({}) == []


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours in `#rrggbb`, from 1 to 21, as WCAG 2 computes it."""
    first, second = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_contrast_of_every_theme(theme: object) -> None:
    """4.5 to 1 for text, 7 to 1 where high contrast was asked for."""
    values = {name: str(getattr(theme, name)) for name in ("foreground", "primary", "success", "warning", "error")}
    least = 7.0 if theme.name == "lace-contrast" else 4.5  # type: ignore[attr-defined]
    for ground in ("background", "surface", "panel"):
        for name, colour in values.items():
            assert _contrast(colour, str(getattr(theme, ground))) >= least, (name, ground)


async def test_headings_are_passed_over() -> None:
    """The highlighted row is always one that can be opened; headings are no rows."""

    class Holder(App[None]):
        def compose(self) -> ComposeResult:
            yield Lines("Many", "list")

    app = Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        rows = [
            ("", Content("A")),
            ("one", Content("1")),
            ("", Content("B")),
            ("two", Content("2")),
            ("", Content("C")),
        ]
        lines.fill(rows)
        lines.focus()
        assert lines.key == "one"
        await pilot.press("j")
        assert lines.key == "two"
        await pilot.press("j", "G", "pagedown", "ctrl+d")
        assert lines.key == "two"
        await pilot.press("k")
        assert lines.key == "one"
        await pilot.press("g", "pageup", "ctrl+u")
        assert lines.key == "one"
        lines.fill([("", Content("nothing can be opened"))])
        assert lines.key == ""
        await pilot.press("j", "k", "enter")


async def test_a_long_name_has_the_room_that_there_is(story: Story) -> None:
    """APP-4: of who wrote and who has what, ten characters were told in a row that was empty but for them."""
    name = "A very long name of a friend"
    with story.open("alice") as alice:
        made = invite(alice, "eve")
    with accept(story.folder("eve"), story.around("eve"), made.encode(), name=name)[0] as eve:
        sync(eve, ["stick"])
        with story.open("alice") as alice:
            sync(alice, ["stick"])
        sync(eve, ["stick"])
        story.write("eve", "cake.md", "Cake\n")
        release(eve, Version.parse("7.0.0"), "a cake")
        sync(eve, ["stick"])
    with story.open("alice") as alice:
        sync(alice, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        head, *below = rows_of(app).splitlines()
        assert name in head
        assert any(name in row for row in below)
        await press(pilot, "5")
        assert all(name in row for row in rows_of(app).splitlines() if "7.0.0" in row)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        (cut,) = [row for row in rows_of(app).splitlines() if "7.0.0" in row]
        assert "A very long name ... " in cut
        assert width_of(cut.partition("a cake")[0]) < 76, "what was done is in sight too"
        await press(pilot, "4")
        assert name not in rows_of(app)
        assert all(width_of(row) <= 76 for row in rows_of(app).splitlines()), "every column is in sight still"
        await pilot.resize_terminal(140, 40)
        await settle(pilot)
        assert name in rows_of(app)


def test_a_taste_that_nests_too_deep_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    """APP-14: no traceback, whatever lies in a file."""
    path = tmp_path / "config.toml"
    path.write_text("a = " + "[" * 3_000)
    assert "cannot be read" in read_taste(tmp_path).remarks[0]
    with pytest.raises(ValueError, match="nothing is written over it"):
        keep_theme(tmp_path, "light")
