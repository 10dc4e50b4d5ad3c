"""History: lineage, old revisions by every case, what differs, and bringing them back (APP-4, CLAY-13 to CLAY-16)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input, Static

from lace_tui.app.lace import LaceApp
from lace_tui.model.lineage import WIDEST, Row, draw
from lace_tui.screens import history, old_revisions
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.files import Files, cat_command
from lace_tui.screens.help import Help
from lace_tui.screens.history import History
from lace_tui.screens.lines import Lines
from lace_tui.screens.viewer import Texts, Viewer
from lace_tui.screenshots import Story
from lazy.folder.going_back import check_out
from tests.tui.conftest import is_showing, page_of, rows_of, settle
from vault.folder.work import changes, commit
from vault.revisions.history import revisions
from vault.revisions.labels import set_label
from vault.vault import Vault

SIZE = (120, 34)


async def _answer(pilot: Pilot[None], text: str) -> None:
    await settle(pilot)
    app = pilot.app
    assert isinstance(app.screen, Question), app.screen
    app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await settle(pilot)


# Lineage


def test_a_straight_line_a_fork_and_a_merge_are_drawn() -> None:
    rows = [
        Row(None),
        Row("m", ["a2", "b2"]),
        Row("b2", ["b1"]),
        Row(None),
        Row("a2", ["base"]),
        Row("b1", ["base"]),
        Row("base"),
        Row("other"),
    ]
    assert draw(rows) == ["", "*\\", "|*", "||", "*|", "|*", "*/", "*"]


def test_a_parent_without_a_row_ends_its_line() -> None:
    assert draw([Row("a", ["gone"]), Row("b", ["a"]), Row(None)]) == ["*", "*", ""], "a parent above is no line either"


def test_many_lines_side_by_side_are_counted() -> None:
    tips = [Row(f"t{number}", ["base"]) for number in range(WIDEST + 3)]
    drawn = draw([*tips, Row("base")])
    assert drawn[WIDEST + 2] == "|" * WIDEST + "+3"
    assert drawn[-1].startswith("*//")


@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(1, 5), max_size=3)), max_size=40))
def test_every_commit_has_one_star_and_no_line_outlives_its_end(given_rows: list[tuple[bool, list[int]]]) -> None:
    """Whatever the graph: one drawing a row, one star a commit in sight, and nothing left below the last row."""
    rows = [
        Row(str(at), [str(at + step) for step in sorted(set(steps))]) if is_commit else Row(None)
        for at, (is_commit, steps) in enumerate(given_rows)
    ]
    drawn = draw([*rows, Row(None)])
    assert len(drawn) == len(rows) + 1
    assert drawn[-1] == ""
    for row, text in zip(rows, drawn, strict=False):
        assert text.count("*") <= (row.commit is not None)
        assert "+" in text or text.count("*") == (row.commit is not None)


async def test_the_log_of_a_real_circle_has_its_lineage(app: LaceApp) -> None:
    """Two people's commits over one base are two lines that meet at it."""
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        commits = [row for row in rows_of(app).splitlines() if " commit" in row]
    assert all("*" in row[:4] for row in commits)
    assert commits[0].startswith("*")
    assert any(row.startswith("|*") for row in commits)
    assert any("*/" in row[:4] for row in commits), "and they meet"
    assert any("committed main@2  pumpkin soup" in row for row in commits), "each by the number that leads back to it"


async def test_more_of_the_selected_row_stands_below_where_there_is_room(app: LaceApp) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("2")
        await settle(pilot)
        detail = app.screen.query_one("#detail", Static)
        assert detail.display
        assert "Common ancestor: 1.0.0" in str(detail.render())
        await pilot.resize_terminal(100, 14)
        await settle(pilot)
        assert not detail.display, "the list comes first"


async def test_the_selected_row_of_a_16_colour_terminal_is_reversed_as_one(app: LaceApp) -> None:
    """Reversed colours of several parts would be patches."""
    app.theme = "ansi-dark"
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("2")
        await settle(pilot)
        lines = app.screen.query_one(Lines)
        styles = {str(segment.style) for segment in lines.render_line(0) if segment.text.strip()}
        assert len(styles) == 1


# Back in time


async def test_an_old_revision_is_read_by_number_version_label_and_date(app: LaceApp, story: Story) -> None:
    """CLAY-13 to CLAY-16: four ways to name a time, each shows the files as they were."""
    with story.open("alice") as vault:
        (first,) = revisions(vault.store, vault.node.text, "main", 1)
        set_label(vault, "first-menu", "main", first.commit)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        for case in ("main@1", "main@1.0.0", "main@first-menu", "main@2026-09-21T14:30Z"):
            await pilot.press("t")
            await _answer(pilot, case)
            assert is_showing(app, Files), case
            assert "menu.md" in rows_of(app)
            assert str(app.screen.query_one(Lines).border_title).startswith("self/main@1"), case
            await pilot.press("slash", *"menu", "enter", "enter")
            await settle(pilot)
            assert is_showing(app, Viewer)
            assert "Tomato, 4.00" in rows_of(app), "as it was, not as it is"
            await pilot.press("escape", "escape", "escape")  # the file, the filter, the files
            await settle(pilot)
            assert is_showing(app, History)
        assert "Pumpkin" in (story.folder("alice") / "menu.md").read_text()


async def test_what_was_asked_for_opens_over_nothing_else(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: whoever reads something else by then reads on, and is told that it is ready."""
    go = threading.Event()

    def slowly(find: Callable[..., Any]) -> Callable[..., Any]:
        def found(*asked: Any) -> Any:
            assert go.wait(30)
            return find(*asked)

        return found

    for name in ("what_changed", "entry_at", "files_at", "show_record"):
        monkeypatch.setattr(history, name, slowly(getattr(history, name)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        for keys in (["d"], ["m"], ["t", "enter"]):
            go.clear()
            for key in (*keys, "question_mark"):
                await pilot.press(key)
                await pilot.pause()
            go.set()
            await settle(pilot)
            assert is_showing(app, Help)
            assert app.card is not None
            assert f"{keys[0]} shows it" in app.card.lines[0].plain
            await pilot.press("escape")
            await settle(pilot)
            assert is_showing(app, History)


async def test_a_time_that_is_not_there_is_told_and_nothing_opens(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        card = app.card
        for case, code in (("main@99", "not-yet"), ("main@0", "never"), ("main@1.9", "bad-case"), ("eve/main", "peer")):
            await pilot.press("t")
            await _answer(pilot, case)
            assert is_showing(app, Question), "it stands there to be mended"
            assert code in page_of(app), case
            assert app.screen.query_one(Input).value == case
            await pilot.press("escape")
            await settle(pilot)
            assert is_showing(app, History)
        assert app.card is card, "an answer is no failure of the vault, so no card stays for it"


async def test_two_times_show_what_differs(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        await pilot.press("t")
        await _answer(pilot, "main@1 bob/main@1.1.0")
        assert is_showing(app, Viewer)
        assert "+Leek, 4.20" in rows_of(app)
        assert "+++ wine.md (bob/main@1.1.0)" in rows_of(app)
        await pilot.press("y")
        assert app.clipboard == "lace diff self/main@1 bob/main@1.1.0"
        await pilot.press("slash", *"leek")
        await settle(pilot)
        assert app.screen.query_one(Lines).shown == 1


async def test_two_marked_entries_and_one_revision_with_another_are_compared(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        lines = app.screen.query_one(Lines)
        for words in ("pumpkin", "the first menu"):
            await pilot.press("slash", *words, "enter", "g", "space", "slash", "escape")
            await settle(pilot)
        assert len(lines.marked) == 2
        await pilot.press("d")
        await settle(pilot)
        assert "-Tomato, 4.00" in rows_of(app)
        await pilot.press("escape")
        await pilot.press("f")
        await settle(pilot)
        assert is_showing(app, Files)
        await pilot.press("d")
        await _answer(pilot, "main@1")
        assert is_showing(app, Viewer)


async def test_the_folder_goes_back_after_the_plan_and_keeps_what_is_not_committed(app: LaceApp, story: Story) -> None:
    menu = story.folder("alice") / "menu.md"
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        menu.write_text(menu.read_text() + "Coffee\n")
        await pilot.press("t")
        await _answer(pilot, "main@1")
        await pilot.press("o")
        await settle(pilot)
        assert is_showing(app, Files), "what the deed would refuse, no plan offers"
        assert any("uncommitted-changes" in str(note.message) for note in app._notifications)
        assert "Coffee" in menu.read_text()
        await pilot.press("escape", "c")
        await _answer(pilot, "coffee at last")
        assert app.card is not None
        assert "main@3" in app.card.lines[0].plain
        await pilot.press("slash", *"the first menu", "enter", "g", "o")
        await settle(pilot)
        assert "~ menu.md" in page_of(app)
        await pilot.press("y")
        await settle(pilot)
        assert "Tomato, 4.00" in menu.read_text()
        with story.open("alice") as vault:
            assert changes(vault).paths("changed") == ["menu.md"], "the line stays where it is"


async def test_the_way_back_from_an_old_state_says_what_it_changes(app: LaceApp, story: Story) -> None:
    """The plan is of the folder as it is, not of what it stands on; of a folder changed since, it is made anew."""
    folder = story.folder("alice")
    newest = {path.name: path.read_text() for path in folder.glob("*.md")}
    with Vault(folder, story.around("alice")) as vault:
        (folder / "wine.md").write_text("Riesling\n")
        commit(vault, "wine")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        await pilot.press("slash", *"the first menu", "enter", "g", "o")
        await settle(pilot)
        assert "- wine.md" in page_of(app)
        await pilot.press("y")
        await settle(pilot)
        assert not (folder / "wine.md").exists()
        await pilot.press("slash", "escape", "g", "o")
        await settle(pilot)
        assert "~ menu.md" in page_of(app)
        assert "+ wine.md" in page_of(app)
        assert "no file" not in page_of(app)
        with Vault(folder, story.around("alice")) as vault:
            check_out(vault, old_revisions.files_at(vault, "main@2").at)
        await pilot.press("y")
        await settle(pilot)
        assert is_showing(app, PlanPage), "another plan than the one that was agreed to"
        assert "changed meanwhile" in page_of(app)
        assert "~ menu.md" not in page_of(app)
        assert not (folder / "wine.md").exists(), "and nothing was done"
        await pilot.press("y")
        await settle(pilot)
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == newest | {"wine.md": "Riesling\n"}


async def test_a_copy_is_written_elsewhere_and_never_over_something(app: LaceApp, tmp_path: Path) -> None:
    to = tmp_path / "copy"
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        await pilot.press("t")
        await _answer(pilot, "bob/main@1.1.0")
        for expected in ("= 3 files of bob/main@1.1.0", "folder-in-the-way"):
            await pilot.press("x")
            await _answer(pilot, str(to))
            assert app.card is not None
            assert expected in app.card.lines[0].plain
            (to / "menu.md").write_text("mine")
        assert (to / "menu.md").read_text() == "mine"
        for where, told in (
            ("old", "! old lies in your shared folder"),
            ("~no-such-person/old", "! ~no-such-person/old lies in your shared folder"),
            (".vault/x", "in-the-vault"),
        ):
            await pilot.press("x")
            await _answer(pilot, where)
            assert app.card is not None
            assert told in "\n".join(line.plain for line in app.card.lines), "as `lace checkout --to` says it"


async def test_a_commit_needs_a_change_and_a_sentence(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert is_showing(app, History)
        (story.folder("alice") / "new.txt").write_text("x")
        await pilot.press("c")
        await _answer(pilot, "")
        assert "A commit needs a sentence." in str(app.screen.query_one("#question", Static).render())
        await pilot.press("escape")
        await settle(pilot)
        assert is_showing(app, History)
        await pilot.press("slash", *"pumpkin soup", "enter", "g", "b")
        await _answer(pilot, "harvest")
        assert app.card is not None
        assert "main@harvest" in app.card.lines[0].plain
        await pilot.press("m")
        await settle(pilot)
        assert is_showing(app, Viewer)
        assert "lace/" in rows_of(app)


async def test_a_label_names_what_it_says_and_nobody_elses(app: LaceApp, story: Story) -> None:
    """CLAY-9: it is for good, so the question names the revision; the command is shown only where it does the same."""
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await settle(pilot)
        await pilot.press("slash", *"autumn menu", "enter", "g", "b")
        await settle(pilot)
        assert is_showing(app, History), "bob's"
        assert any("nothing-to-label" in str(note.message) for note in app._notifications)
        for words, case, name in (("the first menu", "main@1", "first"), ("pumpkin soup", "main@2", "second")):
            await pilot.press("slash", "escape", "slash", *words, "enter", "g", "b")
            await settle(pilot)
            assert f"names {case} for good" in page_of(app)
            await _answer(pilot, name)
            assert app.card is not None
            assert f"{case} is main@{name} now" in app.card.lines[0].plain
    assert [line for line in app._activity if "label" in line] == ["lace label second"]


def test_content_is_shown_as_what_it_is(story: Story) -> None:
    """Text as lines; binary and large content as size, hash and first bytes; an empty file says so."""
    folder = story.folder("alice")
    (folder / "empty").write_bytes(b"")
    (folder / "logo.png").write_bytes(b"\x89PNG\0\x01")
    (folder / "latin").write_bytes(b"caf\xe9\n")
    (folder / "way").symlink_to("menu.md")
    with Vault(folder, story.around("alice")) as vault:
        commit(vault, "several kinds")
        files = dict(old_revisions.files_at(vault, "main").files)
        assert old_revisions.content_lines(vault, files["empty"]) == ("An empty file.",)
        assert "89 50 4e 47 00 01" in old_revisions.content_lines(vault, files["logo.png"])[-1]
        assert "Not shown as text" in old_revisions.content_lines(vault, files["latin"])[0]
        assert old_revisions.content_lines(vault, files["way"]) == ("A link to menu.md",)
        assert old_revisions.content_lines(vault, files["menu.md"])[0] == "# Supper club"


def test_the_command_for_an_old_file_is_as_it_is_typed_where_the_app_was_opened(story: Story) -> None:
    """APP-14: typed in a sub-folder, it named a file in there that no revision has."""
    folder = story.folder("alice")
    (folder / "deep").mkdir()
    (folder / "deep" / "song.txt").write_text("la\n")
    with Vault(folder, story.around("alice")) as vault:
        commit(vault, "deep")
        found = old_revisions.files_at(vault, "main")
        what, deep = found.at.what, str(folder / "deep")
    assert cat_command(found, "deep/song.txt", str(folder)) == f"lace cat {what} deep/song.txt"
    assert cat_command(found, "deep/song.txt", deep) == f"lace cat {what} song.txt"
    assert cat_command(found, "menu.md", deep) == f"lace cat {what} ../menu.md"
    assert cat_command(found, "menu.md", str(folder.parent)) == f"lace cat {what} menu.md"


def test_a_difference_of_many_files_is_cut_with_a_sentence(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_revisions, "DIFFERENCES", 3)
    folder = story.folder("alice")
    for number in range(9):
        (folder / f"{number}.txt").write_text(f"{number}\n")
    with Vault(folder, story.around("alice")) as vault:
        commit(vault, "many")
        found = old_revisions.between(vault, "main@2", "main@3")
    assert sum(line.startswith("+++") for line in found.lines) == 3
    assert found.lines[-1] == "More than 3 files differ; name one by command: lace diff A B PATH"


async def test_a_friends_text_is_inert_and_can_be_moved_sideways(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.push_screen(Viewer("a\x1b[2Jb", Texts(["x" * 300, "evil \x1b]0;t\x07 \u202e text"])))
        await settle(pilot)
        lines = app.screen.query_one(Lines)
        assert "\x1b" not in rows_of(app)
        assert "\u202e" not in rows_of(app)
        before = lines.rendered(0)
        await pilot.press("right")
        assert len(lines.rendered(0)) == len(before) - 16
        await pilot.press("left", "left")
        assert lines.rendered(0) == before
        await pilot.press("q")


async def test_a_history_that_is_not_all_shown_says_so(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before the newest 20,000 entries was left out without a word."""
    monkeypatch.setattr(history, "LIMIT", 5)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("5")
        await settle(pilot)
        lines = app.screen.query_one("#list", Lines)
        assert lines.shown == 5
        assert str(lines.border_title) == "History, the newest 5 entries (more: lace log -n K)"
