"""Keys: one table for the app, the command and the page; searched, run and rebound by name (APP-1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.keys import Keys
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.keys.actions import ACTIONS, Scope, action_named, actions_of
from lace_tui.keys.keymap import clashes, key_name, keys_of, no_keys, shown_keys
from lace_tui.keys.taste import Taste, read_taste
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.help import Help, help_rows, why_not
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screens.panel import Panel
from lace_tui.screens.settings import Settings
from lace_tui.screenshots import Story, app_of
from tests.people import Person
from tests.tui.conftest import is_showing, settle, text_of

SIZE = (100, 30)


def test_lace_keys_prints_the_table_with_the_persons_own_keys(alice: Person) -> None:
    """APP-1: the same table by command, as text and as JSON, needing no vault."""
    answer = alice.lace("keys")
    assert [action["id"] for action in answer["actions"]] == [action.id for action in ACTIONS]
    assert answer["remarks"] == []
    text = alice.text("keys")
    assert all(action.sentence in text for action in ACTIONS)
    path = Path(alice.lace("config", "path")["user"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[keys]\nsync = "?,f9"\nsnyc = "x"\n')
    answer = alice.lace("keys")
    sync = next(action for action in answer["actions"] if action["id"] == "sync")
    assert (sync["keys"], sync["changed"], sync["command"]) == (["question_mark", "f9"], True, "lace sync NAME")
    assert len(answer["remarks"]) == 2
    assert "the key ? would be both help and sync" in " ".join(answer["remarks"])
    assert "*sync                 ?  F9" in alice.text("keys")


@pytest.mark.parametrize(
    ("written", "name"),
    [("?", "question_mark"), ("/", "slash"), ("*", "asterisk"), ("]", "right_square_bracket"), ("-", "minus"),
     ("G", "G"), ("f9", "f9"), (" s ", "s"), ("!", "exclamation_mark"), ("@", "at"), ("_", "underscore")],
)  # fmt: skip
def test_a_key_may_be_written_as_it_is_typed(written: str, name: str) -> None:
    assert key_name(written) == name
    given = {"sync": written}
    assert keys_of(action_named("sync"), given) == (name,)
    assert shown_keys(action_named("sync"), given) == {"f9": "F9"}.get(name, written.strip())


def test_a_key_that_no_keyboard_has_is_told_and_the_usual_ones_stay(alice: Person) -> None:
    """APP-1: `quit = "banana"` was taken without a word, and no key left lace any more."""
    path = Path(alice.lace("config", "path")["user"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[keys]\nquit = "banana"\nsync = "esc,f9"\nhelp = "«,ctrl+shift+a,section_sign"\n')
    answer = alice.lace("keys")
    keys = {action["id"]: action["keys"] for action in answer["actions"]}
    assert keys["quit"] == list(action_named("quit").keys)
    assert keys["sync"] == ["f9"]
    assert len(keys["help"]) == 3
    assert [remark.removeprefix(f"{path}: ") for remark in answer["remarks"]] == [
        "quit: no key is called 'banana'.",
        "sync: no key is called 'esc'; did you mean 'escape'?",
    ]


def test_every_key_that_textual_knows_is_one() -> None:
    """APP-1: all that a terminal may tell can be chosen; what Textual says of the mouse is no key."""
    no_keyboard = {"<any>", "<scroll-up>", "<scroll-down>", "<ignore>", "ctrl-at"}
    assert {key.value for key in Keys if no_keys(key.value)} == no_keyboard
    assert not [key for action in ACTIONS for key in action.keys if no_keys(key)]


def test_clashes_are_seen_wherever_both_keys_are_within_reach() -> None:
    assert clashes({}) == [], "the table itself is sound"
    assert clashes({"sync": "q"}) == ["the key q would be both quit and sync."]
    assert clashes({"filter": "s"}), "a list's key would be hidden by the place's"
    assert clashes({"confirm": "s"}) == [], "a plan covers the place below it"
    assert clashes({"sync-peer": "u"}) == [], "two places are never shown at once"


def test_help_says_why_something_is_out_of_reach() -> None:
    assert why_not(action_named("sync"), Scope.HOME, {}, is_list=True) == ""
    assert why_not(action_named("sync"), Scope.AUDIT, {}, is_list=True) == "works in home: press 1"
    assert "press 2, then enter" in why_not(action_named("take-left"), Scope.HOME, {}, is_list=True)
    assert why_not(action_named("filter"), Scope.RESOLVE, {}, is_list=False)
    ids = [key for key, _ in help_rows(Scope.AUDIT, {}, {}) if key]
    assert sorted(ids) == sorted(action.id for action in ACTIONS)
    assert ids[0] == actions_of(Scope.AUDIT)[0].id, "this place's come first"


async def test_help_is_searched_and_does_what_is_selected(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("question_mark", *"brings friends")
        await settle(pilot)
        assert is_showing(app, Help)
        lines = app.screen.query_one(Lines)
        assert lines.shown == 0
        await pilot.press(*["backspace"] * 20, *"would a sync")
        await settle(pilot)
        assert (lines.shown, lines.key) == (2, "dry-run")  # on Home, and in Peers
        assert "lace sync NAME --dry-run" in text_of(app, "#about")
        await pilot.press("enter")
        await settle(pilot)
        assert is_showing(app, Home)
        assert app.card is not None
        assert app.card.title == "What would move"


async def test_help_moves_while_one_types_and_names_what_is_elsewhere(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("question_mark", *"verify", "down", "up")
        await settle(pilot)
        assert app.screen.query_one(Lines).key == "verify"
        assert "press 6" in text_of(app, "#about")
        await pilot.press("enter")
        await settle(pilot)
        assert is_showing(app, Help), "it says why and stays"
        await pilot.press("escape")
        assert is_showing(app, Home)
        await pilot.press("question_mark", *"last row", "enter")
        await settle(pilot)
        panel = app.screen.query_one("#meet", Panel)
        assert panel.highlighted == panel.option_count - 1


async def test_footer_and_plan_name_the_persons_own_keys(story: Story) -> None:
    taste = Taste(keys={"confirm": "f2", "help": "f1"})
    app = app_of(story, "alice", taste=taste)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert text_of(app, "#foot").startswith("F1 help")
        await pilot.press("S")
        await settle(pilot)
        assert is_showing(app, PlanPage)
        assert "F2 do it" in str(app.screen.query_one("#page").border_subtitle)
        await pilot.press("y")
        assert is_showing(app, PlanPage)
        await pilot.press("f2")
        await settle(pilot)
        assert is_showing(app, Home)


async def test_keys_are_changed_in_settings_and_kept(app: LaceApp, tmp_path: Path) -> None:
    app.config = tmp_path / "taste"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)

        async def change(name: str, keys: str) -> None:
            await pilot.press("8", "slash", *name, "enter", "enter")
            await settle(pilot)
            assert is_showing(app, Question)
            app.screen.query_one(Input).value = keys
            await pilot.press("enter", "slash", "escape")
            await settle(pilot)

        await change("go-audit", "q")
        assert read_taste(tmp_path / "taste").keys == {}, "q leaves, so it cannot be this too"
        await pilot.press("slash", "escape")
        await change("go-audit", "f9,&")
        assert read_taste(tmp_path / "taste").keys == {"go-audit": "f9,ampersand"}
        await pilot.press("ampersand")
        await settle(pilot)
        assert not is_showing(app, Settings)
        await change("go-audit", "")
        assert read_taste(tmp_path / "taste").keys == {}
        await pilot.press("6")
        await settle(pilot)
        assert not is_showing(app, Settings)


async def test_one_wrong_key_in_the_file_keeps_no_other_from_being_changed(story: Story, tmp_path: Path) -> None:
    """APP-1: Settings refused each change with the clash of two other actions; and it took keys that do not exist."""
    app = app_of(story, "alice", taste=Taste(keys={"sync": "u"}))
    app.config = tmp_path / "taste"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("8", "slash", *"invite-friend", "enter", "enter")
        await settle(pilot)
        for keys, why in (("banana", "no key is called 'banana'."), ("u", "would be both")):
            app.screen.query_one(Input).value = keys
            await pilot.press("enter")
            await settle(pilot)
            assert is_showing(app, Question)
            assert "Not changed: " in text_of(app, "#question")
            assert why in text_of(app, "#question")
        app.screen.query_one(Input).value = "f8"
        await pilot.press("enter")
        await settle(pilot)
        assert is_showing(app, Settings)
        assert read_taste(tmp_path / "taste").keys == {"invite-friend": "f8"}


async def test_ctrl_c_names_the_persons_own_keys_and_ends_nothing(story: Story) -> None:
    """APP-1: it spoke of another key than `q`, and of quitting, not of stopping what runs."""
    app = app_of(story, "alice", taste=Taste(keys={"quit": "f10"}))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+c")
        await settle(pilot)
        assert [note.message for note in app._notifications] == ["F10 leaves lace; esc stops what runs."]
        assert is_showing(app, Home)
