"""Desks and their rules in the app: seen, made and taken back by the words of the commands (APP-1, CLAY-3, 79, 80)."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.cli.frame import parsed
from lace_tui.screens.desks import Desks
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.history import History
from lace_tui.screenshots import Story, app_of
from lazy.people import node_of
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press, rows_of, settle, text_of
from tests.tui.test_desks import songs_of_bob
from vault.commands import words_of
from vault.content.keeping import Keep, keeps, set_keep
from vault.desk_folders import add_desk, desks
from vault.names import Version
from vault.permits import Act, Permit, permits, set_permit
from vault.releasing import release
from vault.revisions.history import releases

SIZE = (100, 30)


async def _answer(pilot: Pilot[None], key: str, text: str) -> None:
    await press(pilot, key)
    assert is_showing(pilot.app, Question)  # type: ignore[arg-type]
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


def _rules(story: Story, desk: str = "main") -> list[tuple[str, Act, bool, int]]:
    with story.open("alice") as vault:
        return [(rule.path, rule.act, rule.is_white, len(rule.nodes)) for rule in permits(vault.store, desk)]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_who_may_write_is_said_and_taken_back(app: LaceApp, story: Story, size: tuple[int, int]) -> None:
    """CLAY-80: a rule kept friends' changes out, and the app could neither show nor change it."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w")
        assert is_showing(app, Desks)
        assert "no rule: everybody may write and read here" in rows_of(app)
        await press(pilot, "p")
        assert "Members: bob, cara." in text_of(app, "#question"), "who could be named is said"
        await press(pilot, "escape")
        await _answer(pilot, "p", "docs --write --only bob")
        assert _rules(story) == [("docs", Act.WRITE, True, 1)]
        assert "docs  write  you and bob" in rows_of(app)
        assert app.card is not None
        assert app.card.lines[0].plain == "= docs  write  you and bob", "what the command says"
        await press(pilot, "j", "p")
        assert app.screen.query_one(Input).value == "docs --write --only bob"
        await press(pilot, "escape", "x", "n")
        assert _rules(story)
        await press(pilot, "x")
        assert is_showing(app, PlanPage)
        assert "lace desk permit docs --write --anyone" in page_of(app)
        await press(pilot, "y")
        assert _rules(story) == []
        assert "no rule: everybody may write and read here" in rows_of(app)
        await press(pilot, "escape")
        assert is_showing(app, History)


async def test_how_long_files_are_kept_is_said_and_taken_back(app: LaceApp, story: Story) -> None:
    """CLAY-79: a prune in the app speaks of such rules, and nobody could make one there."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w")
        await _answer(pilot, "n", "videos 3")
        with story.open("alice") as vault:
            assert keeps(vault.store, "main") == (Keep("videos", 3),)
        assert "videos  kept in the newest 3 of each member's releases" in rows_of(app)
        assert app.card is not None
        assert "lace prune --dry-run says what would" in app.card.lines[1].plain
        await press(pilot, "j", "x", "y")
        with story.open("alice") as vault:
            assert keeps(vault.store, "main") == ()
        await press(pilot, "exclamation_mark")
        assert page_of(app).split("\n")[-2:] == ["lace desk keep videos 3", "lace desk keep videos all"]


async def test_a_sub_folder_becomes_a_desk(app: LaceApp, story: Story) -> None:
    """CLAY-3: only a desk that friends had released could get a folder."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w")
        await _answer(pilot, "a", "songs music/songs")
        with story.open("alice") as vault:
            assert [(desk.name, desk.dir) for desk in desks(vault)] == [("main", ""), ("songs", "music/songs")]
        assert app.card is not None
        told = [line.plain for line in app.card.lines]
        assert told[0] == "= music/songs is the desk songs from now on, and main leaves it alone."
        assert told[-1] == "Next: lace release 1.0.0 --desk songs"
        assert "songs  revision 0" in rows_of(app)


async def test_a_desk_of_a_friend_gets_the_folder_that_is_proposed(story: Story) -> None:
    songs_of_bob(story, is_mapped=False)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w", "j")
        await press(pilot, "y")
        assert app.clipboard == "lace desk add songs songs"
        await press(pilot, "p")
        assert "Select a desk that has a folder here." in [note.message for note in app._notifications]
        await press(pilot, "a", "enter")
        with story.open("alice") as vault:
            assert [desk.name for desk in desks(vault)] == ["main", "songs"]


async def test_a_rule_of_another_desk_is_of_that_desk(app: LaceApp, story: Story) -> None:
    """CLAY-80: its row says whose it is, and the command that is copied names it."""
    with story.open("alice") as vault:
        add_desk(vault, "songs", "songs")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w", "G")
        await _answer(pilot, "p", "demos --read --not bob cara")
        assert _rules(story, "songs") == [("demos", Act.READ, False, 2)]
        assert _rules(story) == []
        await press(pilot, "G", "enter")
        assert is_showing(app, Page)
        assert "lace desk permit demos --read --not bob cara --desk songs" in page_of(app)
        await press(pilot, "escape", "x", "y")
        assert _rules(story, "songs") == []


@pytest.mark.parametrize(
    ("key", "typed", "said"),
    [
        ("p", "docs", "Something is missing."),
        ("p", "docs --write", "--only"),
        ("p", "docs --write --only 'bob", "A quote is open."),
        ("p", "docs --write --only nobody", "nobody"),
        ("n", "videos many", "say how many releases, or all."),
        ("a", "songs ../songs", "outside the shared folder"),
        ("a", "songs -h", "See: lace help desk add"),
    ],
)
async def test_what_cannot_be_done_is_said_in_the_question(
    app: LaceApp, story: Story, key: str, typed: str, said: str
) -> None:
    """APP-5: as by command; what was typed stays to be mended."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w")
        await _answer(pilot, key, typed)
        assert is_showing(app, Question)
        assert said in " ".join(text_of(app, "#question").split())
        assert app.screen.query_one(Input).value == typed
        await press(pilot, "escape")
    with story.open("alice") as vault:
        assert len(desks(vault)) == 1
        assert not permits(vault.store, "main")
        assert not keeps(vault.store, "main")


async def test_a_rule_that_another_command_made_comes_into_the_list(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w")
        with story.open("alice") as vault:
            set_permit(vault, "main", Permit("docs", Act.READ, is_white=True, nodes=(vault.node.text,)))
        await press(pilot, "f5")
        assert "docs  read  you alone" in rows_of(app)


@pytest.mark.parametrize("path", ["-drafts", "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{COOKING} it's", "a b"])
async def test_a_rule_is_said_again_as_it_stands(app: LaceApp, story: Story, path: str) -> None:
    """CLAY-79, CLAY-80: what a shell takes in quotes was refused, and the command shown was of another path."""
    with story.open("alice") as vault:
        set_permit(vault, "main", Permit(path, Act.READ, False, (node_of(vault, "bob"),)))
        set_keep(vault, "main", Keep(path, 3))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "w", "j", "p", "enter")
        assert _rules(story) == [(path, Act.READ, False, 1)]
        await press(pilot, "g", "j", "j", "n", "enter")
        with story.open("alice") as vault:
            assert keeps(vault.store, "main") == (Keep(path, 3),)
        for key in ("exclamation_mark", "escape"):
            await press(pilot, key)
        await press(pilot, "x", "y", "g", "j", "x", "y")
        assert _rules(story) == []
        with story.open("alice") as vault:
            assert keeps(vault.store, "main") == ()
        for line in app._activity:
            verb, words = " ".join(words_of(line)[1:3]), words_of(line)[3:]
            assert parsed(verb, words).path == path
        assert len(app._activity) == 4


async def test_home_says_that_rules_keep_a_release_out(story: Story) -> None:
    """CLAY-80, LAZ-54: its row named an update, which took nothing in."""
    with story.open("alice") as alice, story.open("cara") as cara:
        (head,) = releases(alice.store, "main", node=cara.node.text)
        set_permit(alice, "main", Permit("prices.md", Act.WRITE, is_white=False, nodes=(cara.node.text,)))
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 50)) as pilot:
        await settle(pilot)
        assert "o kept out by your rules" in text_of(app, "#came")
        assert app.view is not None
        (row,) = [one for one in app.view.came if one.kept_out]
        assert row.id == head.hash.text
        assert row.command == "lace desk permit prices.md --write --anyone"


async def test_home_marks_each_release_that_the_last_one_stands_on(story: Story) -> None:
    """CLAY-80, LAZ-54: of releases on each other the last one is told of, and each row says what it waits for."""
    with story.open("alice") as alice, story.open("cara") as cara:
        set_permit(alice, "main", Permit("prices.md", Act.WRITE, is_white=False, nodes=(cara.node.text,)))
        (cara.folder / "prices.md").write_text("prices for December\n")
        release(cara, Version.parse("1.0.2"))
        for vault in (cara, alice):
            sync(vault, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 50)) as pilot:
        await settle(pilot)
        assert app.view is not None
        rows = [(one.what, one.command) for one in app.view.came if one.kept_out]
        way = "lace desk permit prices.md --write --anyone"
        assert rows == [("main 1.0.2", way), ("main 1.0.1", way)]
