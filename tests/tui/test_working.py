"""Work under way is in sight in every place, and every way it can fail is told (APP-3, APP-5)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from textual.events import Paste
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.docs import pages
from lace_tui.keys.actions import PLACES
from lace_tui.model.job import Far, Job
from lace_tui.screens.cards import Trouble, failed_card, working_card, working_parts
from lace_tui.screens.dialogs import Question
from lace_tui.screens.place import PlaceScreen
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story
from lace_tui.words.inert import inert
from lazy.conflicts import conflicts
from lazy.sync import sync
from tests.tui.conftest import press, settle, text_of
from vault.errors import CallerError, LaceError, all_errors
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault
from vault.watch import Watch

pages()  # imports every module that has errors of its own
ERRORS = [error for error in all_errors() if not error.__module__.startswith("tests.")]
NASTY = "\x1b[2J\u202egpj.exe [bold]x[/bold]"


def _made(error: type[LaceError]) -> LaceError:
    made = error.__new__(error)
    LaceError.__init__(made, f"It went wrong with {NASTY}.")
    return made


def test_the_pace_is_told_when_it_is_known() -> None:
    """APP-3: done, total and rate; the time that is left only with a total."""
    job = Job("Sync: stick")
    watch = job.watch()

    def paced(now: float) -> tuple[float, float | None]:
        far = job.far(now)
        return far.rate, far.left

    watch.progress(10, 110, "verify")
    assert paced(5.0) == (0.0, None)
    watch.progress(30, 110, "verify")
    assert paced(5.5) == (0.0, None)
    assert paced(7.0) == (10.0, 8.0)
    watch.progress(5, 0, "read")
    assert paced(8.0) == (0.0, None)
    watch.progress(9, 0, "read")
    assert paced(10.0) == (2.0, None)
    watch.travelled(1, 3, 1000, 9000, "receive")
    assert paced(11.0) == (0.0, None)
    watch.travelled(2, 3, 5000, 9000, "receive")
    assert paced(13.0) == (2000.0, 2.0), "where bytes are moved, their pace counts"


def test_work_of_which_no_more_is_known_tells_how_long_it_lasts() -> None:
    """APP-3: at a place that answers after seconds nothing moved for half a minute, and it looked dead."""
    job = Job("Sync: web")

    def shown(now: float) -> list[str]:
        return [part.plain for _, part in working_parts(job.what, job.far(now))]

    assert shown(5.0) == ["Sync: web: beginning"]
    job.watch().progress(0, 0, "ask web")
    assert shown(6.0) == ["Sync: web: ask web"], "what ends at once is told nothing of"
    assert shown(19.0) == ["Sync: web: ask web", "14 s"]
    assert working_card(job.what, job.far(19.0), "esc").lines[1].plain == "14 s"
    job.watch().progress(1, 4, "read mailboxes")
    assert shown(20.0) == ["Sync: web: read mailboxes 1 of 4", "15 s"]
    job.watch().progress(2, 4, "read mailboxes")
    assert shown(22.0) == ["Sync: web: read mailboxes 2 of 4", "0.5/s", "4 s left"]


def test_a_visit_tells_of_each_thing_that_it_waits_for(story: Story) -> None:
    """APP-3: before the first record came, and where none did, `beginning` was all that it told."""
    job = Job("Sync: stick")
    told: list[tuple[int, int, str]] = []
    with story.open("alice") as vault:
        sync(vault, ["stick"], watch=Watch(lambda *far: told.append(far), job.token.check))
    asked = [(done, total) for done, total, what in told if what == "read mailboxes"]
    assert told[0] == (0, 0, "ask stick")
    assert asked == [(0, 3), (1, 3), (2, 3)]


def test_the_header_names_the_rest_only_with_a_total() -> None:
    def texts(far: Far) -> list[str]:
        return [part.plain for _, part in working_parts("Sync: stick", far)]

    assert texts(Far()) == ["Sync: stick: beginning"]
    assert texts(Far("verify", 30, 110, rate=10.0, left=8.0)) == ["Sync: stick: verify 30 of 110", "10/s", "8 s left"]
    assert texts(Far("read", 9, rate=2.0)) == ["Sync: stick: read 9", "2.0/s"]
    assert texts(Far("read", 9, rate=2.0, is_stopping=True)) == ["Sync: stick: stopping 9"]
    moving = Far("send", 1, 4, 1 << 20, 8 << 20, rate=float(2 << 20), left=3.5)
    assert texts(moving) == ["Sync: stick: send 1 of 4", "1.0 MiB of 8.0 MiB", "2.0 MiB/s", "4 s left"]


def test_the_card_of_work_shows_bytes_and_their_pace() -> None:
    """APP-5: phase, count, bytes, rate and rest, and the way to stop."""
    card = working_card("Sync: stick", Far("send", 1, 4, 1 << 20, 8 << 20, rate=float(2 << 20), left=3.5), "esc")
    assert [line.plain for line in card.lines] == [
        "send  1 of 4  [##..................]",
        "1.0 MiB of 8.0 MiB   2.0 MiB/s   4 s left",
        "esc stops at the next safe point",
    ]


async def test_a_real_sync_tells_its_bytes(story: Story) -> None:
    """APP-3: a sync's own reports carry bytes; the last one of sending is whole."""
    told: list[tuple[int, int, str, int, int]] = []
    with story.open("alice") as vault:
        (vault.folder / "film.bin").write_bytes(bytes(range(256)) * 4096)
        release(vault, Version.parse("3.0.0"))
        job = Job("Sync: stick")
        watch = job.watch()

        def moved(done: int, total: int, size: int, total_size: int, what: str) -> None:
            watch.travelled(done, total, size, total_size, what)
            told.append(job.progress)

        sync(vault, ["stick"], watch=Watch(watch.progress, watch.cancelled, moved))
    sent = [entry for entry in told if entry[2] == "send"]
    assert sent
    done, total, _, size, total_size = sent[-1]
    assert done == total
    assert 0 < size <= total_size


async def test_work_is_in_sight_in_every_place_and_esc_stops_it(app: LaceApp) -> None:
    """APP-3, APP-4: the header of every place tells it, the conflicts stay, `esc` ends it, the card stays."""
    began, go = threading.Event(), threading.Event()

    def work(vault: Vault, watch: Watch) -> None:
        watch.progress(3, 9, "receiving")
        began.set()
        go.wait(30)
        watch.cancelled()

    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert app.begin("Sync: stick", work, lambda _: None)
        try:
            assert await asyncio.to_thread(began.wait, 30)
            for number, place in enumerate(PLACES, 1):
                await pilot.press(str(number))
                await pilot.pause()
                assert isinstance(app.screen, PlaceScreen)
                assert app.screen.SCOPE is place
                app.screen.show_head()
                assert "Sync: stick: receiving 3 of 9" in text_of(app, "#head")
                assert "! 1 conflict" in text_of(app, "#head")
                assert "esc stop" in text_of(app, "#foot")
            await pilot.press("4", "escape")
            assert "Sync: stick: stopping 3 of 9" in text_of(app, "#head")
        finally:
            go.set()
        await settle(pilot)
        assert "Sync: stick" not in text_of(app, "#head")
        await pilot.press("1")
        await settle(pilot)
        assert app.card is not None
        assert app.card.title == "Sync: stick: ended early"
        assert "(cancelled)" in app.card.lines[0].plain


async def test_work_that_ends_while_another_place_opens_harms_nothing(app: LaceApp, story: Story) -> None:
    """APP-3: a place that is not laid out yet shows the frame itself once it is; one that was left shows none."""
    with story.open("alice") as vault:
        clash = conflicts(vault)[0]
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        place = Resolve(clash.id)
        opening = app.push_screen(place)
        assert app.screen is place
        app.tell_working(is_working=False)
        await opening
        await settle(pilot)
        await app.pop_screen()
        place.on_screen_resume()


async def test_work_that_ended_before_it_could_stop_says_so(app: LaceApp) -> None:
    """APP-3: who pressed `esc` believes it stopped."""
    began, go = threading.Event(), threading.Event()

    def work(vault: Vault, watch: Watch) -> None:
        began.set()
        go.wait(30)

    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert app.begin("Release 1.0.0", work, lambda _: None)
        try:
            assert await asyncio.to_thread(began.wait, 30)
            await pilot.press("escape")
        finally:
            go.set()
        await settle(pilot)
        told = [note.message for note in app._notifications]
        assert told == ["Release 1.0.0 was done before it could be stopped."]


def _way_out(error: LaceError) -> str:
    """Return what the app says to do: as by command, but a passphrase is typed here."""
    return "Do it again, and type the passphrase of your key." if error.code == "key-locked" else error.hint


def test_every_error_has_a_card_with_its_code_and_its_way_out() -> None:
    """APP-5: whatever the core raises, what happened and what to do are told, and foreign text is inert."""
    assert len(ERRORS) > 50
    for error in ERRORS:
        made = _made(error)
        card = failed_card("Sync", Trouble.of(made), {})
        told = "\n".join(line.plain for line in card.lines)
        assert f"It went wrong with {inert(NASTY)}. ({error.code})" in told
        assert made.hint, error.code
        assert _way_out(made) in told, error.code
        assert card.is_bad is (error.code != "cancelled")


async def test_an_error_is_shown_with_its_code_and_its_way_out(app: LaceApp) -> None:
    """APP-5: of the errors some, and those that the app treats unlike the others."""
    shown = [
        error for number, error in enumerate(ERRORS) if not number % 20 or error.code in {"key-locked", "cancelled"}
    ]
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for error in shown:
            made = _made(error)

            def read(vault: Vault, made: LaceError = made) -> None:
                raise made

            app.ask(read, lambda _: None)
            await app.workers.wait_for_complete()
            await pilot.pause()
            if error.code == "key-locked":  # this one is asked about first
                await pilot.press("escape")
                await pilot.pause()
            card = app.card
            assert card is not None
            told = text_of(app, "#card-text")
            assert f"({error.code})" in told
            assert "It went wrong with" in told
            assert _way_out(made) in " ".join(line.plain for line in card.lines), error.code
            assert not {"\x1b", "\u202e"} & set(told)
            assert "[bold]x[/bold]" in told
            assert card.is_bad is (error.code != "cancelled")


@pytest.mark.parametrize(
    ("pasted", "kind", "expected"),
    [
        ("line one\nline two\n", {}, "line one line two"),
        (" pass word ", {"is_secret": True}, " pass word "),
        ("\u2502 lace-ab \u2502\n\u2502 cd \u2502", {"is_invitation": True}, "lace-abcd"),
    ],
)
async def test_what_is_pasted_is_what_was_copied(
    app: LaceApp, pasted: str, kind: dict[str, Any], expected: str
) -> None:
    """Lines stay apart, a secret stays as it is; only an invitation is put together again."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        app.push_screen(Question("A question", "What?", "", **kind))
        await settle(pilot)
        line = app.screen.query_one(Input)
        line.post_message(Paste(pasted))
        await settle(pilot)
        assert line.value == expected


async def test_a_folder_that_went_away_is_told_as_such_and_read_when_it_is_back(app: LaceApp, story: Story) -> None:
    """APP-3: nobody is told to begin a new vault where one is open; what was said goes when it is back."""
    folder = story.folder("alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        folder.rename(folder.with_name("renamed"))
        await pilot.press("f5")
        await settle(pilot)
        told = text_of(app, "#card-text")
        assert "any more" in told
        assert "lace init" not in told
        await pilot.press("5", "f5")
        await settle(pilot)
        folder.with_name("renamed").rename(folder)
        await pilot.press("4", "f5")
        await settle(pilot)
        await pilot.press("1")
        await settle(pilot)
        assert "any more" not in text_of(app, "#card-text")
        assert not [note for note in app._notifications if "cannot be read" in note.title]


async def test_a_folder_that_goes_away_and_comes_back_is_noticed(app: LaceApp, story: Story) -> None:
    """APP-3, LAZ-56: Home said neither that it was gone nor that it was back until a key was pressed."""
    folder = story.folder("alice")
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        app._look()  # the clock does this every two seconds
        await settle(pilot)
        before, readings = text_of(app, "#card-text"), app.looking.readings
        folder.rename(folder.with_name("renamed"))
        for _ in range(3):
            app._look()
            await settle(pilot)
            assert "any more" in text_of(app, "#card-text")
        assert app.looking.readings == readings + 1, "what cannot be read is tried once"
        folder.with_name("renamed").rename(folder)
        app._look()
        await settle(pilot)
        assert text_of(app, "#card-text") == before


async def test_a_folder_that_went_away_again_is_told_again(app: LaceApp, story: Story) -> None:
    """APP-3: once work had failed in between, Peers never said any more that the vault cannot be read."""
    folder = story.folder("alice")

    def fail(_vault: Vault, _watch: Watch) -> None:
        raise CallerError("That cannot be.")

    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        for _ in range(2):
            app.clear_notifications()
            folder.rename(folder.with_name("renamed"))
            app.read()
            await settle(pilot)
            assert [note.title for note in app._notifications] == ["The vault cannot be read"]
            folder.with_name("renamed").rename(folder)
            app.begin("Work", fail, lambda _: None)
            await settle(pilot)
        assert "That cannot be." in [note.message for note in app._notifications][-1], "it is told beside the reading"


async def test_a_vault_that_could_not_be_read_at_the_beginning_is_noticed(app: LaceApp, story: Story) -> None:
    """APP-3, LAZ-56: Home stayed empty until a key was pressed, though what was missing was there again."""
    store = story.folder("alice") / ".vault" / "store.db"
    store.rename(store.with_name("away"))
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        told = text_of(app, "#card-text")
        assert "lost its store" in told
        for _ in range(3):
            app._look()  # the clock does this every two seconds
            await settle(pilot)
        assert text_of(app, "#card-text") == told
        assert app.looking.readings <= 2, "what cannot be read is tried once"
        store.with_name("away").rename(store)
        app._look()
        await settle(pilot)
        assert app.view is not None
        assert "lost its store" not in text_of(app, "#card-text")
