"""The visit of every day, and the first one of all: from an empty directory to a decided conflict (APP-3 to APP-5)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Offer, Page, PlanPage, Question
from lace_tui.screens.first import FirstRun
from lace_tui.screens.help import Help
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import Fitted
from lace_tui.screens.resolve import Resolve
from lace_tui.screens.viewer import Viewer
from lace_tui.screenshots import Story, app_of, begin_visit
from lazy.conflicts import conflicts
from lazy.places.adding import add_place
from lazy.resolving.resolve import resolve_prefer
from lazy.status import status
from lazy.sync import sync
from tests.tui.conftest import bob_decides, is_showing, page_of, press, settle, text_of
from vault.names import Version
from vault.notes.own import GENERATION
from vault.releasing import release
from vault.vault import Vault

SIZE = (110, 34)


async def test_the_visit_of_eleven_keys(story: Story) -> None:
    """Plug in the stick, sync, decide, sync again, leave: eleven keys, and the folder is as decided."""
    begin_visit(story)
    away = story.stick.with_name("in-the-drawer")
    shutil.move(story.stick, away)
    app = app_of(story, "alice")
    keys = 0
    async with app.run_test(size=SIZE) as pilot:

        async def counted(key: str) -> None:
            nonlocal keys
            keys += 1
            await press(pilot, key)

        await settle(pilot)
        assert "stick  drop  o not here" in text_of(app, "#meet")
        shutil.move(away, story.stick)
        app._look()  # the clock does this every two seconds
        await settle(pilot)
        assert "stick  drop  * here now" in text_of(app, "#meet")
        assert "s sync stick" in text_of(app, "#foot"), "what was just plugged in is what s syncs"
        await counted("s")
        assert "! 2 conflicts" in text_of(app, "#head")
        await counted("2")
        await counted("enter")
        assert isinstance(app.screen, Resolve)
        for key in ("l", "w", "y"):
            await counted(key)
        assert isinstance(app.screen, Resolve), "the next conflict comes by itself"
        for key in ("R", "w", "y"):
            await counted(key)
        assert isinstance(app.screen, Offer)
        await counted("s")
        assert isinstance(app.screen, Home)
        assert "safe to remove" in text_of(app, "#card-text")
        assert "0 conflicts" in text_of(app, "#head")
        await counted("q")
    assert keys == 11
    folder = story.folder("alice")
    assert "Beet" in (folder / "menu.md").read_text()
    assert (folder / "logo.png").read_bytes().endswith(b"Kale, 4.00")
    with Vault(folder, story.around("alice")) as vault:
        assert conflicts(vault) == []


def _fresh(story: Story, name: str) -> LaceApp:
    folder = story.folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    return app_of(story, name)


async def test_from_an_empty_directory_to_a_decided_conflict(tmp_path: Path) -> None:
    """Two people, two empty directories and a stick: everything is done in the app."""
    story = Story(tmp_path)
    line = ""
    app = _fresh(story, "ada")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, FirstRun)
        assert "Begin: make this folder one to share." in text_of(app, "#choices")
        await pilot.press("b", *"ada/", "enter")
        await pilot.pause()
        assert app.screen.query_one(Input).value == "ada/", "a name that cannot be one is refused before the group"
        await pilot.press("backspace", "enter")
        await pilot.pause()
        assert app.screen.query_one(Input).value == "friends"
        await press(pilot, "enter")
        assert isinstance(app.screen, Home)
        assert "a adds a place, i invites a friend" in text_of(app, "#meet")
        story.write("ada", "soup.md", "# Soup\n\nPumpkin\n\nSalt\n")
        await press(pilot, "R")
        assert isinstance(app.screen, Question)
        proposed = app.screen.query_one(Input).value
        await pilot.press("ctrl+u", *"1.x", "enter")
        await pilot.pause()
        assert app.screen.query_one(Input).value == "1.x", "what cannot be taken stays to be mended"
        assert "'1.x' is not a version." in text_of(app, "#question")
        await press(pilot, "ctrl+u", *proposed, "enter")
        told = text_of(app, "#card-text")
        assert "is released" in told
        assert "your first release: all of it goes to your friends, 1 file" in told
        assert "next: a adds the place" in told
        await pilot.press("a", *"a/b", "enter")
        await pilot.pause()
        assert app.screen.query_one(Input).value == "a/b", "a name that no place can have is refused before the next"
        await pilot.press("ctrl+u", *"stick", "enter")
        await pilot.pause()
        await press(pilot, *str(story.stick), "enter")
        assert isinstance(app.screen, PlanPage), "a directory is made there, and the address may be mistyped"
        await press(pilot, "y")
        assert "stick  drop" in text_of(app, "#meet")
        await press(pilot, "i", *"ben", "enter")
        assert isinstance(app.screen, Page)
        line = app.clipboard
        await press(pilot, "escape", "s")
    ben = _fresh(story, "ben")
    async with ben.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("j")
        await pilot.pause()
        framed = "\n".join(f"\u2502 {line[at : at + 76]} \u2502" for at in range(0, len(line), 76))
        ben.screen.query_one(Input).post_message(Paste(framed))  # as it stands on the screen
        await pilot.pause()
        assert ben.screen.query_one(Input).value == line
        await pilot.press("enter")
        await pilot.pause()
        await press(pilot, "enter")
        assert "Your words: " in page_of(ben), "they wait until they are read"
        await press(pilot, "enter")
        assert isinstance(ben.screen, Home)
        assert "you: ben@" in text_of(ben, "#head")
        await press(pilot, "s")
    for name in ("ada", "ben"):
        with story.open(name) as vault:
            sync(vault, ["stick"])
    ben = _fresh(story, "ben")
    async with ben.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "u")
        assert isinstance(ben.screen, PlanPage)
        await press(pilot, "y")
        assert "Pumpkin" in (story.folder("ben") / "soup.md").read_text()
    for name, soup in (("ada", "Leek"), ("ben", "Celery")):
        story.write(name, "soup.md", f"# Soup\n\n{soup}\n\nSalt\n")
        with story.open(name) as vault:
            release(vault, Version.parse("2.0.0"), soup)
            sync(vault, ["stick"])
    app = _fresh(story, "ben")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "! 1 conflict" in text_of(app, "#head")
        await press(pilot, "2")
        await press(pilot, "enter")
        await press(pilot, "o", "w", "y")
        assert isinstance(app.screen, Offer)
        await press(pilot, "s")
        assert "safe to remove" in text_of(app, "#card-text")
    assert (story.folder("ben") / "soup.md").read_text() == "# Soup\n\nCelery\nLeek\n\nSalt\n"


async def test_what_cannot_be_begun_is_told(tmp_path: Path) -> None:
    story = Story(tmp_path)
    app = _fresh(story, "ada")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "j", *"nonsense", "enter")
        assert "An invitation begins with" in text_of(app, "#question"), "before a name is asked for"
        assert app.screen.query_one(Input).value == "nonsense"
        await press(pilot, "escape", "b", *"ada", "enter")
        app.screen.query_one(Input).value = "a/b"
        await press(pilot, "enter")
        assert app.screen.query_one(Input).value == "a/b", "a group's name is mended too"
        await press(pilot, "escape")
        assert isinstance(app.screen, FirstRun)
        await press(pilot, "o")
    assert app.wants_demo


async def test_plans_before_moves(story: Story) -> None:
    """`d` moves nothing, `S` shows its plan, and the key that agrees is another one."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        with story.open("alice") as vault:
            before = vault.store.note(GENERATION)
        await press(pilot, "d")
        assert "stick: would send" in text_of(app, "#card-text")
        assert "Nothing was moved" in text_of(app, "#card-text")
        await pilot.press("S")
        assert isinstance(app.screen, PlanPage)
        shown = page_of(app)
        assert "Sync 1 of 2 places" in shown
        assert "not here: office" in shown
        await pilot.press("S")
        with story.open("alice") as vault:
            assert vault.store.note(GENERATION) == before
        await press(pilot, "y")
        assert "safe to remove" in text_of(app, "#card-text")


async def test_the_header_below_a_page_is_true(story: Story) -> None:
    """While a sync is offered after the last decision, the place behind it says 0 conflicts (APP-4)."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "2", "R", "y")
        assert isinstance(app.screen, Offer)
        below = app.screen_stack[-2]
        assert "0 conflicts" in below.query_one("#head", Fitted).render().plain


async def test_accept_is_offered_only_where_somebody_decided(story: Story) -> None:
    """APP-4: the footer names no key that would answer with a refusal."""
    begin_visit(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "2")
        assert isinstance(app.screen, Conflicts)
        foot = app.screen.query_one("#foot", Fitted).render().plain
        assert "R theirs" in foot
        assert "A accept" not in foot


async def test_a_friends_decision_is_one_enter_away(story: Story) -> None:
    """A proposal in Needs you leads to the conflicts, whose row names the key that accepts it."""
    begin_visit(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        bob_decides(story)
        await press(pilot, "s")
        panel = app.screen.query_one("#needs", Panel)
        panel.focus()
        panel.highlighted = next(
            number
            for number in range(panel.option_count)
            if str(panel.get_option_at_index(number).id).endswith("proposals")
        )
        await press(pilot, "enter")
        assert isinstance(app.screen, Conflicts)
        assert "bob decided: A accepts" in app.screen.query_one(Lines).rendered(0)
        assert "A accept" in app.screen.query_one("#foot", Fitted).render().plain
        while app.screen.query_one(Lines).key:
            await press(pilot, "A", "y")
        assert isinstance(app.screen, Conflicts), "an acceptance is nothing that friends have to learn of"
        assert app.card is not None
        assert not [line for line in app.card.lines if "next" in line.plain]


async def test_of_two_decisions_that_differ_one_is_named(story: Story) -> None:
    """LAZ-41: what two friends decided differently is asked for by name, and naming one ends the conflict."""
    begin_visit(story)
    for name in ("bob", "alice", "cara", "bob"):
        with story.open(name) as vault:
            sync(vault, ["stick"])
            contested = [conflict for conflict in conflicts(vault) if conflict.version is not None]
    for name, side in zip(("bob", "cara"), contested[0].sides, strict=True):
        with story.open(name) as vault:
            resolve_prefer(vault, contested[0].id, side.word)
    for name in ("bob", "cara"):
        with story.open(name) as vault:
            sync(vault, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "2")
        lines = app.screen.query_one(Lines)
        while lines.key != contested[0].id:
            await press(pilot, "down")
        await press(pilot, "A")
        assert isinstance(app.screen, Question)
        app.screen.query_one(Input).value = "cara"
        await press(pilot, "enter")
        assert isinstance(app.screen, PlanPage)
        await press(pilot, "y")
    with story.open("alice") as vault:
        assert all(conflict.id != contested[0].id for conflict in conflicts(vault))


async def _click(pilot: Pilot[None], words: str) -> None:
    """Press with the mouse what the screen shows in these words, wherever it stands."""
    screen = pilot.app.screen
    for y, strip in enumerate(screen._compositor.render_strips()):
        at = strip.text.find(words)
        if at >= 0:
            await pilot.click(offset=(at + 1, y))
            await settle(pilot)
            return
    raise AssertionError(f"{words!r} is not to be seen")


async def test_the_mouse_alone_is_enough(app: LaceApp, story: Story) -> None:
    """From Home to a decided conflict and a sync without a key: places, rows, footers and pages can be pressed."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _click(pilot, "2 conflicts")
        await _click(pilot, "! main 1.1.0")
        assert is_showing(app, Resolve)
        await _click(pilot, "r bob's")
        await _click(pilot, "w write   L")
        assert is_showing(app, PlanPage)
        await _click(pilot, "n leave it")
        assert is_showing(app, Resolve)
        await _click(pilot, "w write   L")
        await _click(pilot, "y do it")
        assert is_showing(app, Offer)
        await _click(pilot, "s sync now")
        assert is_showing(app, Home)
        assert app.card is not None
        assert "Last sync" in app.card.title
        await _click(pilot, "R release")
        assert is_showing(app, Question)
        await _click(pilot, "esc back")
        await _click(pilot, "5 history")
        await _click(pilot, "t time")
        await _click(pilot, "enter takes it")
        await _click(pilot, "menu.md")
        await _click(pilot, "menu.md")
        assert is_showing(app, Viewer)
        await _click(pilot, "esc back")
        await _click(pilot, "? help")
        assert is_showing(app, Help)
    assert "Leek" in (story.folder("alice") / "menu.md").read_text()


async def test_what_came_of_work_stays_in_sight_below_lists_that_it_makes_longer(app: LaceApp, story: Story) -> None:
    """APP-4: at 60 columns what an update or an undo came to, and what is next, was pushed down by what came of it."""
    bob_decides(story)
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "s", "u", "y")
        card, room = app.screen.query_one("#card"), app.screen.query_one("#scroll")
        assert "Update: done" in str(card.border_title)
        assert room.region.contains_region(card.region)
        await press(pilot, "U", "y")
        assert "Undo: done" in str(card.border_title)
        assert "main" in text_of(app, "#came")
        assert room.region.contains_region(card.region)
        await press(pilot, "j")  # somebody goes on: nothing moves under their hands any more
        app.refresh_places()
        await settle(pilot)
        assert app.screen.query_one("#meet").region.y >= room.region.y


async def test_what_a_place_lacks_is_counted_as_on_the_command_line(story: Story) -> None:
    """APP-1, LAZ-46: the row told records or releases by one word, so that a release made it fall, and the plan 0."""

    def lacks() -> str:
        with story.open("alice") as vault:
            (planned,) = sync(vault, ["second"], dry_run=True)
            told = next(place for place in status(vault).places if place.name == "second")
            assert planned.sent == told.waiting
        return f"{planned.sent} records to send"

    with story.open("alice") as vault:
        add_place(vault, "second", str(story.root / "second"), cwd=story.root)
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        first = lacks()
        assert f"never synced, {first}" in text_of(app, "#meet")
        await press(pilot, "S")
        assert f"second  {first}" in page_of(app)
        assert "stick  nothing to send" in page_of(app)
        await press(pilot, "n")
        story.write("alice", "songs.md", "one\n")
        with story.open("alice") as vault:
            release(vault, Version.parse("1.2.0"), "songs")
        await press(pilot, "f5")
        assert lacks() != first
        assert f"never synced, {lacks()}" in text_of(app, "#meet")
        assert re.search(r"stick .*\n  synced 12 min ago, \d+ records to send", text_of(app, "#meet"))


async def test_the_last_sync_is_the_newest_whoever_made_it(story: Story) -> None:
    """APP-4: after a sync on the command line Home went on to call its own the last, for the whole sitting."""
    with story.open("alice") as vault:
        add_place(vault, "second", str(story.root / "second"), cwd=story.root)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "f5")
        assert "safe to remove" in text_of(app, "#card-text"), "its own tells more than is stored, until a newer one"
        story.seconds += 60
        with story.open("alice") as other:
            sync(other, ["second"])
        app._look()  # the clock does this
        await settle(pilot)
        title = app.screen.query_one("#card").border_title
        assert "Last sync: second, just now" in str(title)
        story.seconds += 60
        await press(pilot, "s")
        assert "safe to remove" in text_of(app, "#card-text")
