"""What waits for a person on Home is one enter away: half of an update, somebody who asks to belong (APP-4, APP-13)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.model import deeds
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.home import Home
from lace_tui.screens.panel import Panel
from lace_tui.screenshots import Story, app_of, begin_visit
from lazy.belonging.circle import accept, invite
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.people import members
from lazy.places.adding import add_place
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import bob_decides, is_showing, page_of, press, settle, text_of
from tests.tui.test_desks import songs_of_bob
from vault.beginning import found_vault
from vault.desks import checkout
from vault.folder.unfinished import finish_checkout
from vault.identity.words import fingerprint_words
from vault.vault import Vault
from vault.watch import Watch

SIZE = (110, 34)


async def _open(pilot: Pilot[None], beginning: str) -> None:
    """Open the row of what needs me whose id begins so."""
    panel = pilot.app.screen.query_one("#needs", Panel)
    panel.focus()
    ids = [str(panel.get_option_at_index(number).id) for number in range(panel.option_count)]
    panel.highlighted = next(number for number, one in enumerate(ids) if one.startswith(beginning))
    await press(pilot, "enter")


def _cut_off(story: Story, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Begin an update of alice that dies before it writes prices.md; return her folder."""

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = story.folder("alice")
    with Vault(folder, story.around("alice")) as vault, monkeypatch.context() as cut:
        for conflict in conflicts(vault):
            resolve_prefer(vault, conflict.id, "local")
        cut.setattr(checkout, "apply_plan", dies)
        with pytest.raises(KeyboardInterrupt):
            update(vault)
    assert not (folder / "prices.md").exists()
    return folder


async def test_an_update_that_was_cut_off_is_told_and_written_to_its_end(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: `u` said that there is nothing to bring in, over a folder that was written in part."""
    folder = _cut_off(story, monkeypatch)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "! main: its folder is written in part" in text_of(app, "#needs")
        await press(pilot, "u")
        assert is_showing(app, PlanPage)
        assert "cut off" in page_of(app)
        assert "prices.md" in page_of(app)
        await press(pilot, "n")
        assert not (folder / "prices.md").exists()
        await _open(pilot, "unfinished")
        await press(pilot, "y")
        assert (folder / "prices.md").exists()
        assert "written to its end: 1 file" in text_of(app, "#card-text")
        assert "written in part" not in text_of(app, "#needs")
        await press(pilot, "u")
        assert is_showing(app, Home)
        assert "nothing to bring in" in text_of(app, "#card-text")


async def test_what_was_cut_off_is_written_as_shown_or_not_at_all(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4: somebody else may write it to its end, or be cut off again, while its plan is looked at."""
    folder = _cut_off(story, monkeypatch)
    app, real, seen = app_of(story, "alice"), deeds.cut_off, ["soup.md", "prices.md"]

    def another(vault: Vault, watch: Watch) -> deeds.CutOff | None:
        found = real(vault, watch)
        return found and deeds.CutOff({"main": ((seen.pop(0) if len(seen) > 1 else seen[0],), ())})

    monkeypatch.setattr(deeds, "cut_off", another)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "u")
        assert "soup.md" in page_of(app)
        await press(pilot, "y")
        assert "Something changed since you saw the plan" in page_of(app)
        assert "prices.md" in page_of(app)
        assert not (folder / "prices.md").exists()
        with Vault(folder, story.around("alice")) as vault:
            finish_checkout(vault, "main", Watch())
        await press(pilot, "y")
        assert is_showing(app, Home)
        assert "nothing was done now" in text_of(app, "#card-text")


async def test_who_asks_to_belong_is_let_in_after_the_words_were_shown(tmp_path: Path) -> None:
    """The app named a command with a key of fifty characters, cut into two lines, and had no key for it."""
    story = Story(tmp_path)
    story.folder("alice").mkdir(parents=True)
    with found_vault(story.folder("alice"), story.around("alice"), name="alice", group="g") as alice:
        add_place(alice, "stick", str(story.stick), cwd=tmp_path)
        line = invite(alice, "bob").encode()
        nodes = []
        for name in ("bob", "dave"):
            with accept(story.folder(name), story.around(name), line, name=name)[0] as vault:
                nodes.append(vault.node)
        sync(alice, ["stick"])
        before = {member.node for member in members(alice)}
    (asking,) = [node for node in nodes if node.text not in before]
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _open(pilot, "request")
        assert fingerprint_words(asking) in " ".join(page_of(app).split())
        await press(pilot, "n")
        assert "asks to belong" in text_of(app, "#needs")
        await _open(pilot, "request")
        await press(pilot, "y")
        assert "is a member now" in text_of(app, "#card-text")
        assert "asks to belong" not in text_of(app, "#needs")
        assert app._activity[-1].endswith(f"--key {asking.text}")
    with story.open("alice") as alice:
        assert asking.text in {member.node for member in members(alice)}


async def test_a_decision_is_accepted_by_what_it_decides(story: Story) -> None:
    """LAZ-41: the plan said that a decision of bob would count, and not for what he decided."""
    begin_visit(story)
    with story.open("alice") as vault:
        sync(vault, ["stick"])
    bob_decides(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "2")
        assert is_showing(app, Conflicts)
        assert text_of(app, "#detail").endswith(" --accept"), "it named `--prefer local or remote`, as if nobody had"
        await press(pilot, "y")
        assert app.clipboard.endswith(" --accept")
        await press(pilot, "A")
        assert "bob decided for the side of bob" in page_of(app)


async def test_decisions_on_all_marked_conflicts_are_accepted_at_once(story: Story) -> None:
    """LAZ-41, APP-1: of thirteen that were marked only the one below the cursor was taken, without a word."""
    begin_visit(story)
    with story.open("alice") as vault:
        sync(vault, ["stick"])
    bob_decides(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s", "2")
        await press(pilot, "slash", *"zzz", "enter")
        for key in ("L", "A"):
            app.clear_notifications()
            await press(pilot, key)
            assert [note.message for note in app._notifications] == ["Select a conflict."], key
        await press(pilot, "escape", "asterisk", "A")
        for version in ("2.0.0", "2.1.0"):
            assert f"main {version}: bob decided for the side of bob" in page_of(app)
        await press(pilot, "n", "A", "y")
        assert "0 conflicts" in text_of(app, "#head")
        assert "0 conflicts. Nothing is left to send." in [note.message for note in app._notifications]
    with story.open("alice") as vault:
        assert not conflicts(vault)


async def test_what_is_known_of_a_row_stands_below_a_list_that_leaves_room_for_it(app: LaceApp) -> None:
    """APP-4: in a window of 80 by 24 one row stood above seventeen empty ones, and its end was cut off."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        assert "Why: on stick; bob has not confirmed it yet" in text_of(app, "#detail")
        assert app.screen.query_one("#detail").display
        await pilot.resize_terminal(80, 20)
        await settle(pilot)
        assert app.screen.query_one("#detail").display
        await press(pilot, "5")
        assert not app.screen.query_one("#detail").display, "the rows go before it"
        await pilot.resize_terminal(80, 27)
        await settle(pilot)
        assert app.screen.query_one("#detail").display
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert not app.screen.query_one("#detail").display


async def test_a_directory_is_made_for_a_place_only_where_that_is_agreed_to(app: LaceApp, tmp_path: Path) -> None:
    """APP-1: a name that was mistyped, or a stick that is not here, became a directory of this disk at once."""
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await pilot.press("a")
        for answer in ("usb", f"'{tmp_path / 'absent'}'"):
            await pilot.pause()
            app.screen.query_one(Input).value = answer
            await pilot.press("enter")
        await settle(pilot)
        assert is_showing(app, PlanPage)
        assert str(tmp_path / "absent") in page_of(app).replace("\n", "")
        await press(pilot, "n")
        assert is_showing(app, Question)
        assert app.screen.query_one(Input).value == f"'{tmp_path / 'absent'}'", "it is mended, not typed anew"
        assert "There is no directory" in text_of(app, "#question")
        assert not (tmp_path / "absent").exists()
        await press(pilot, "enter", "y")
        assert (tmp_path / "absent").is_dir(), "quotes are as in a shell"
        told = " ".join(text_of(app, "#card-text").split())
        assert "was made now" in told
        assert "lace place remove usb" in told


async def test_who_begins_reads_what_to_do(tmp_path: Path) -> None:
    """At 100 columns the sentence ended in the middle."""
    story = Story(tmp_path)
    story.folder("alice").mkdir(parents=True)
    found_vault(story.folder("alice"), story.around("alice"), name="alice", group="g").close()
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        seen = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "i invites a friend." in seen


async def test_a_desk_without_a_folder_is_given_one(story: Story) -> None:
    """APP-1, CLAY-3: its row named a command with a blank in it, and no key did anything about it."""
    songs_of_bob(story, is_mapped=False)
    folder = story.folder("alice")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "? songs: released by friends, no folder here" in text_of(app, "#needs")
        await _open(pilot, "desk songs")
        assert is_showing(app, Question)
        assert app.screen.query_one(Input).value == "songs"
        await pilot.press("escape", "y")
        assert app.clipboard == "lace desk add songs songs", "it runs as it is"
        for wrong in ("../songs", ".", "/etc"):
            await _open(pilot, "desk songs")
            app.screen.query_one(Input).value = wrong
            await press(pilot, "enter")
            assert is_showing(app, Question), wrong
            assert "is not a sub-folder of" in text_of(app, "#question")
            await pilot.press("escape")
        await _open(pilot, "desk songs")
        app.screen.query_one(Input).value = "music/songs/"
        await press(pilot, "enter")
        assert "= music/songs is the desk songs from now on" in text_of(app, "#card-text")
        assert "songs" not in text_of(app, "#needs")
        await press(pilot, "u")
        assert "songs:" in page_of(app)
        await press(pilot, "y")
        assert (folder / "music/songs/a.txt").exists(), (
            text_of(app, "#card-text"),
            page_of(app) if is_showing(app, PlanPage) else "",
        )


async def test_a_vault_that_may_sign_nothing_is_not_called_well(app: LaceApp, story: Story) -> None:
    """APP-5: `lace status` said so first, and Home that nothing needs me and that I am in step with everybody."""
    for mark in (story.root / "homes" / "alice").rglob("*.mark"):
        mark.unlink()
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        (story.folder("alice") / "new.txt").write_text("new")
        await press(pilot, "5", "c", *"why", "enter")
        assert "(mark-missing)" in text_of(app, "#question")
        await press(pilot, "escape", "1", "f5")
        needs = text_of(app, "#needs")
        assert "! This vault has" in needs
        assert "lace adopt" in needs
        assert needs.index("! This vault has") < needs.index("! main 1.1.0"), "it comes first"
        await _open(pilot, "held")
        assert "lace adopt" in page_of(app)


async def test_a_new_place_is_the_one_that_is_synced(app: LaceApp) -> None:
    """Its card says that `s` syncs it, and `s` synced the one that was selected before."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert text_of(app, "#foot").startswith("? help   s sync stick")
        await press(pilot, "a")
        assert app.view is not None
        for answer in ("host", f"https://bob.example.org:7433/#{app.view.peers[0].status.node}"):
            app.screen.query_one(Input).value = answer
            await press(pilot, "enter")
        assert "s syncs it" in text_of(app, "#card-text")
        assert text_of(app, "#foot").startswith("? help   s sync host")
        for key in ("j", "f5"):
            await press(pilot, key)
            assert "s sync host" not in text_of(app, "#foot"), "from then on one goes where one wants"
