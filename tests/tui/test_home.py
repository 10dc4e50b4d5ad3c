"""Home, told as visits of one person (APP-1, APP-3, APP-5)."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.app.tui import NoTerminal
from lace_tui.model import deeds
from lace_tui.model.job import Job
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.first import FirstRun
from lace_tui.screens.home import Home
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.interlace.scope import Scope as SyncScope
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync as real_sync
from tests.people import Person
from tests.transports.git_hosts import bare_repository
from tests.tui.conftest import is_showing, page_of, settle, text_of
from vault.errors import Cancelled
from vault.names import Version
from vault.releasing import release
from vault.settings_file import save_settings
from vault.vault import Vault

SIZE = (100, 30)


def test_what_asks_for_the_screen_before_there_is_one_gets_nothing(app: LaceApp) -> None:
    """APP-1: a place's line to type in does so where tasks begin at once (Python 3.12): the app ended as it came up."""
    app.clear_selection()
    assert not app.screen_stack


def opened(story: Story, name: str) -> Vault:
    """Open a friend's vault; the caller closes it."""
    return story.open(name)


def bob_releases_songs(story: Story) -> None:
    """Let bob release something new and bring it to the stick."""
    with opened(story, "bob") as vault:
        story.write("bob", "songs.md", "one\n")
        release(vault, Version.parse("1.2.0"), "songs for the evening")
        real_sync(vault, ["stick"])


async def test_home_shows_where_i_stand(app: LaceApp) -> None:
    """APP-4 (status): places with reachability and whom they serve, peers, what came, what needs me, the last sync."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        head = text_of(app, "#head")
        assert "supper" in head
        assert "you: alice@alice-desk" in head
        assert "! 1 conflict" in head
        assert "^ 1 waiting" in head
        assert "v 2 new" in head
        meet = text_of(app, "#meet")
        assert "stick  drop  * here now\n  synced 12 min ago, serves bob, cara" in meet
        assert re.search(r"office  drop  o not here\n  never synced, \d+ records to send, serves bob, cara", meet)
        assert "bob  peer  ^ lacks 1 that you have\n  released 1.1.0, 1 waiting" in meet
        came = text_of(app, "#came")
        assert 'cara  main 1.0.1  1 file, 2 h ago\n  "prices for November"' in came
        assert 'bob  main 1.1.0  2 files, 2 h ago\n  ! in conflict  "autumn menu"' in came
        needs = text_of(app, "#needs")
        assert "! main 1.1.0: bob <> you" in needs
        command = re.search(r"lace resolve ([0-9a-f]{8}) --prefer local or remote", needs)
        assert command is not None
        assert text_of(app, "#card-text").startswith("sent 21   received 15   refused 0   ! new conflicts 1")
        assert "sync stick" in text_of(app, "#foot"), "the place that is here is offered first"


async def test_nothing_is_well_while_a_conflict_is_open(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "in step with everybody" not in text_of(app, "#needs")
        with opened(story, "alice") as vault:
            resolve_prefer(vault, "1.1.0", "local")
        await pilot.press("f5")
        await settle(pilot)
        assert "0 conflicts" in text_of(app, "#head")
        assert "= Nothing needs a decision." in text_of(app, "#needs"), "something still waits, so all is not well"


async def test_a_release_that_is_not_all_here_is_told(story: Story) -> None:
    """CLO-2, DWN-36: nobody is in step, and has everything, while a friend's release waits for what is missing."""
    bob_releases_songs(story)
    with opened(story, "cara") as vault:
        real_sync(vault, ["stick"], scope=SyncScope(paths=frozenset({"nothing"})))
    app = app_of(story, "cara")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert re.search(r"bob  peer  .*\n  (released .*, )?[12] releases? not all here", text_of(app, "#meet"))


async def test_sync_brings_what_a_friend_released(app: LaceApp, story: Story) -> None:
    """APP-3, APP-5: the result stays, with counts, the exchange and the next command."""
    bob_releases_songs(story)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "1.2.0" not in text_of(app, "#came")
        await pilot.press("s")
        await settle(pilot)
        card = text_of(app, "#card-text")
        assert "= safe to remove" in card
        assert "v bob main 1.2.0, 1 file" in card
        assert "all that was offered is here" in card
        assert "next: lace " in card
        assert "songs for the evening" in text_of(app, "#came")
        assert "v 3 new" in text_of(app, "#head")
        await pilot.press("f5")
        await settle(pilot)
        assert text_of(app, "#card-text") == card, "the card stays until the next sync"


async def test_progress_is_shown_and_esc_stops_at_a_safe_point(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-3: the screen lives while the work runs, and `esc` ends it where it looks at its watch."""
    bob_releases_songs(story)
    reached, pressed = threading.Event(), threading.Event()

    def watched(vault, names, *, watch, **how):  # type: ignore[no-untyped-def]
        def cancelled() -> None:
            watch.progress(7, 40, "receive")
            reached.set()
            assert pressed.wait(30)
            watch.cancelled()

        return real_sync(vault, names, watch=watch._replace(cancelled=cancelled), **how)

    monkeypatch.setattr(deeds, "sync", watched)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        while not reached.is_set():
            assert app.job is not None, "the sync ended before it was looked at"
            await pilot.pause()
        app.show_progress()
        await pilot.pause()
        assert "receive  7 of 40" in text_of(app, "#card-text")
        assert "esc" in text_of(app, "#foot")
        await pilot.press("s")
        assert len(app.workers) == 1, "a second sync does not begin while the first one runs"
        await pilot.press("escape")
        assert "stopping at the next safe point" in text_of(app, "#card-text")
        pressed.set()
        await settle(pilot)
        card = text_of(app, "#card-text")
        assert "Stopped as you asked. (cancelled)" in card
        assert Cancelled.hint in card
        assert app.job is None
        monkeypatch.setattr(deeds, "sync", real_sync)
        await pilot.press("s")
        await settle(pilot)
        assert "v bob main 1.2.0" in text_of(app, "#card-text"), "it goes on from what was stored"


def _is_stopping(job: Job) -> bool:
    return job.token.is_set


async def test_leaving_stops_what_runs(app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """`q` during a sync asks; agreed to, it ends at its next safe point, and what was stored stays."""
    bob_releases_songs(story)
    reached, left = threading.Event(), threading.Event()
    ended: list[type[BaseException]] = []
    over = threading.Event()

    def watched(vault, names, *, watch, **how):  # type: ignore[no-untyped-def]
        def cancelled() -> None:
            reached.set()
            assert left.wait(30)
            watch.cancelled()

        try:
            return real_sync(vault, names, watch=watch._replace(cancelled=cancelled), **how)
        except BaseException as error:
            ended.append(type(error))
            over.set()
            raise

    monkeypatch.setattr(deeds, "sync", watched)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        while not reached.is_set():
            assert app.job is not None, "the sync ended before it was looked at"
            await pilot.pause()
        job = app.job
        assert job is not None
        await pilot.press("q")
        await pilot.pause()
        assert is_showing(app, PlanPage), "it stopped what ran, unasked"
        assert "Sync: stick is still running" in page_of(app)
        assert not _is_stopping(job)
        await pilot.press("n")
        await pilot.pause()
        assert is_showing(app, Home)
        assert not _is_stopping(job)
        for key in ("ctrl+q", "ctrl+q", "y"):
            await pilot.press(key)
            await pilot.pause()
        assert _is_stopping(job)
        left.set()
    assert over.wait(30)
    assert ended == [Cancelled]
    with opened(story, "alice") as vault:
        assert vault.name == "alice"


async def test_a_flood_of_progress_costs_nothing(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: the newest report wins, and the screen is drawn by the clock, not by the reports."""
    drawn: list[Card] = []
    show_card = Home.show_card

    def counting(home: Home, card: Card, now_ns: int) -> None:
        drawn.append(card)
        show_card(home, card, now_ns)

    monkeypatch.setattr(Home, "show_card", counting)

    def busy(vault, names, *, watch, **how):  # type: ignore[no-untyped-def]
        for number in range(20_000):
            watch.progress(number, 20_000, "receive")
        return real_sync(vault, names, watch=watch, **how)

    monkeypatch.setattr(deeds, "sync", busy)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "safe to remove" in text_of(app, "#card-text")
    assert len(drawn) < 200


async def test_a_place_that_is_away_is_named_with_its_reason(app: LaceApp) -> None:
    """APP-5: a failed sync names the reason from the table of errors and the way out."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("k", "s")
        await settle(pilot)
        card = text_of(app, "#card-text")
        assert "(place-unreachable)" in card
        assert "Plug the stick in" in card


async def test_what_is_to_be_known_of_a_new_place_is_on_its_card(
    app: LaceApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-1, CYB-16: the same as the command says: others do not know the names of my own ssh settings."""
    program = tmp_path / "ssh"
    program.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")
    where = f"friend:{bare_repository(tmp_path / 'v.git')}"
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await pilot.press("a")
        for answer in ("host", where):
            await pilot.pause()
            app.screen.query_one(Input).value = answer
            await pilot.press("enter")
        await settle(pilot)
        card = text_of(app, "#card-text")
        assert f"= host: {where}" in card
        assert "! It is found only where ssh knows friend" in card
        assert app._activity == [f"lace place add host {where}"]


async def test_the_password_of_a_place_is_nowhere_in_the_app(app: LaceApp) -> None:
    """CYB-15: neither on the card that says why the place was refused, nor among what was done in this sitting."""
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await pilot.press("a")
        for answer in ("host", "https://alice:geheim@host.example/v.git"):
            await pilot.pause()
            app.screen.query_one(Input).value = answer
            await pilot.press("enter")
        await settle(pilot)
        assert "may be a password" in text_of(app, "#card-text")
        assert "geheim" not in text_of(app, "#card-text")
        assert app._activity == []


async def test_update_shows_the_plan_and_waits_for_another_key(app: LaceApp, story: Story) -> None:
    """Nothing is written before `y`; `n` and `esc` leave everything as it is."""
    prices = story.folder("alice") / "prices.md"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for leave in ("n", "escape"):
            await pilot.press("u")
            await settle(pilot)
            assert isinstance(app.screen, PlanPage)
            await pilot.press(leave)
            await settle(pilot)
            assert isinstance(app.screen, Home)
            assert not prices.exists()
        await pilot.press("u")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert prices.read_text() == "Flour 1.10\nRice 2.40\n"
        assert "v 1 new" in text_of(app, "#head")
        await pilot.press("u")
        await settle(pilot)
        assert isinstance(app.screen, Home), "nothing left to agree to"
        card = text_of(app, "#card-text")
        assert "There is nothing to bring in." in card
        assert "1 open conflict" in card


async def test_another_update_than_the_one_that_was_shown_is_not_done(app: LaceApp, story: Story) -> None:
    """What came between the plan and `y` was never agreed to: it is shown first."""
    folder = story.folder("alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("u")
        await settle(pilot)
        assert isinstance(app.screen, PlanPage)
        with opened(story, "cara") as vault:
            story.write("cara", "songs.md", "one\n")
            release(vault, Version.parse("1.0.2"))
            real_sync(vault, ["stick"])
        with opened(story, "alice") as vault:
            real_sync(vault, ["stick"])
        await pilot.press("y")
        await settle(pilot)
        assert isinstance(app.screen, PlanPage)
        shown = page_of(app)
        assert "Something changed since you saw the plan" in shown
        assert "songs.md" in shown
        assert not (folder / "prices.md").exists()
        assert not (folder / "songs.md").exists()
        await pilot.press("y")
        await settle(pilot)
        assert isinstance(app.screen, Home)
        assert (folder / "songs.md").read_text() == "one\n"
        assert (folder / "prices.md").exists()


async def test_a_plan_does_not_open_over_what_is_typed_meanwhile(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`u`, then at once `i` and a name with a `y` in it: the name is typed, and nothing is agreed to."""
    go = threading.Event()
    real_plans = deeds.plan_updates

    def slowly(vault, watch):  # type: ignore[no-untyped-def]
        assert go.wait(30)
        return real_plans(vault, watch)

    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        monkeypatch.setattr(deeds, "plan_updates", slowly)
        await pilot.press("u", "i")
        go.set()
        await settle(pilot)
        await pilot.press(*"yves")
        await settle(pilot)
        assert isinstance(app.screen, Question)
        assert app.screen.query_one(Input).value == "yves"
        await pilot.press("escape")
        await settle(pilot)
        assert "u shows it" in text_of(app, "#card-text")
        assert not (story.folder("alice") / "prices.md").exists()
        await pilot.press("u")
        await settle(pilot)
        assert isinstance(app.screen, PlanPage)


async def test_a_page_is_not_agreed_to_before_it_can_be_seen(app: LaceApp) -> None:
    agreed: list[bool | None] = []
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        page = PlanPage("A plan", [])
        app.push_screen(page, agreed.append)
        page.action_confirm()
        await settle(pilot)
        assert agreed == []
        await pilot.press("y")
        assert agreed == [True]


async def test_a_release_in_the_app_is_that_of_the_command(app: LaceApp, story: Story) -> None:
    """APP-1: it is pushed where the vault is to, and the card tells what it leaves out and decides for nobody."""
    with opened(story, "alice") as vault:
        save_settings(vault, vault.settings.set("sync-strategy", "on-release"))
    os.mkfifo(story.folder("alice") / "pipe")
    (story.folder("alice") / "new.txt").write_text("new")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("R")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        card = text_of(app, "#card-text")
    assert "pushed to stick" in card
    assert "! pipe " in card
    assert "A conflict of main stays open" in card


async def test_a_row_opens_and_its_command_can_be_copied(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "> stick  drop" in text_of(app, "#meet")
        assert "\n  office" in "\n" + text_of(app, "#meet")
        assert ">" not in text_of(app, "#needs").replace("<>", "")
        await pilot.press("tab", "tab", "y")
        assert "> ! main 1.1.0" in text_of(app, "#needs"), "the selected row has a sign, whatever the colours"
        assert "> stick  drop" in text_of(app, "#meet"), "that is what s would sync"
        assert app.clipboard == "lace conflicts", "a shell takes no line that says `local or remote`"
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, Resolve), "what needs a decision opens where it is decided"
        await pilot.press("escape")
        assert isinstance(app.screen, Home)
        await pilot.press("shift+tab", "y", "enter")
        await pilot.pause()
        assert isinstance(app.screen, Page)
        shown = app.screen.query_one("#page Static").render()
        assert app.clipboard in str(shown)
        await pilot.press("escape")
        assert isinstance(app.screen, Home)


async def test_no_sync_is_offered_where_a_filter_leaves_nothing_to_sync(app: LaceApp) -> None:
    """APP-1: the footer went on to name the place that was selected before, and its key said to select one."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"nosuch", "enter")
        await settle(pilot)
        assert "No row has this text." in text_of(app, "#meet")
        foot = text_of(app, "#foot")
        assert "s sync" not in foot
        assert "S sync all" in foot
        await pilot.press("escape")
        await settle(pilot)
        assert "s sync" in text_of(app, "#foot")


def _nowhere(found: list[Path], story: Story, here: Path, look_every: float) -> LaceApp:
    """Return an app where no vault is, until one is found."""
    return LaceApp(
        lambda: found[0] if found else None,
        lambda: story.around("alice"),
        here=str(here),
        monotonic=lambda: 0.0,
        look_every=look_every,
    )


async def test_first_run_says_how_to_begin(tmp_path: Path, story: Story) -> None:
    """Where no vault is: three commands; reading again finds a vault made meanwhile."""
    found: list[Path] = []
    app = _nowhere(found, story, tmp_path, 0)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, FirstRun)
        shown = text_of(app, "#choices")
        for line in ("b  Begin", "lace init", "j  Join", "lace accept INVITE", "o  Look", "lace demo"):
            assert line in shown
        await pilot.press("s", "u", "y")
        assert isinstance(app.screen, FirstRun)
        found.append(story.folder("alice"))
        await pilot.press("f5")
        await settle(pilot)
        assert isinstance(app.screen, Home)
        assert "supper" in text_of(app, "#head")


async def test_a_vault_that_another_command_made_is_shown(story: Story, tmp_path: Path) -> None:
    """APP-1: after `lace init` in another terminal the app went on to say that there is no vault, until F5."""
    found: list[Path] = []
    app = _nowhere(found, story, tmp_path, 0.05)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        found.append(story.folder("alice"))
        await pilot.press("j")
        await pilot.pause(0.3)
        assert isinstance(app.screen, Question), "what is typed is not taken away"
        await pilot.press("escape")
        await pilot.pause(0.3)
        await settle(pilot)
        assert isinstance(app.screen, Home)
        assert "supper" in text_of(app, "#head")


async def test_what_friends_wrote_cannot_drive_the_screen(app: LaceApp, story: Story) -> None:
    with opened(story, "bob") as vault:
        story.write("bob", "x.md", "x\n")
        release(vault, Version.parse("1.3.0"), "[red]look[/red] \x1b[2J\u202e@click=app.quit")
        real_sync(vault, ["stick"])
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        came = text_of(app, "#came")
        assert "[red]look[/red]" in came
        assert not {"\x1b", "\u202e"} & set(came)


async def test_a_fault_in_the_work_is_told_and_the_app_lives(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_named: object) -> None:
        raise RuntimeError("the wheel came off")

    monkeypatch.setattr(deeds, "sync", broken)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "RuntimeError: the wheel came off" in text_of(app, "#card-text")
        assert app.job is None
        await pilot.press("q")
    assert app.return_code == 0


async def test_a_vault_that_cannot_be_read_is_told(app: LaceApp, story: Story) -> None:
    (story.folder("alice") / ".vault" / "store.db").write_bytes(b"no database at all" * 100)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        card = text_of(app, "#card-text")
        assert "(store-damaged)" in card
        assert "lace fsck" in card
        await pilot.press("s", "u")
        assert app.is_running


def test_without_a_terminal_one_line_says_so(alice: Person) -> None:
    """In a pipe the app does not open, and nothing is drawn into the pipe."""
    result = alice.run("tui")
    assert (result.code, result.out) == (2, b"")
    assert "needs a terminal" in result.err
    assert NoTerminal.hint in result.err
    assert alice.lace("tui", expect=2)["error"]["code"] == "no-terminal"


def test_the_app_is_not_served_to_a_browser(alice: Person) -> None:
    """One sentence says why, and another way to reach it from elsewhere."""
    error = alice.lace("tui", "--serve", expect=2)["error"]
    assert error["code"] == "not-served"
    assert "any web page" in error["message"]
    assert "ssh -t" in error["hint"]


async def test_what_another_process_writes_is_shown_by_itself(story: Story) -> None:
    """APP-4, LAZ-56: the clock looks every two seconds; nothing is read, and no store asked, where nothing changed."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        head = text_of(app, "#head")
        app._look()  # the clock does this
        await settle(pilot)
        watch = app.looking.store
        assert watch is not None
        before = (app.looking.readings, watch.asked)
        for _ in range(3):
            app._look()
            await settle(pilot)
        assert (app.looking.readings, watch.asked) == before
        with story.open("alice") as other:
            resolve_prefer(other, "1.1.0", "local")
        assert text_of(app, "#head") == head
        app._look()
        await settle(pilot)
        assert "! 1 conflict" in head
        assert "0 conflicts" in text_of(app, "#head")
        assert app.looking.readings == before[0] + 1
        app._look()
        await settle(pilot)
        assert app.looking.readings == before[0] + 1
