"""Work under way is in sight in every place, and every way it can fail is told (APP-3, APP-5)."""

from __future__ import annotations

import asyncio
import threading

from lace_tui.actions import PLACES
from lace_tui.app import LaceApp
from lace_tui.docs import pages
from lace_tui.job import Job
from lace_tui.screens.cards import working_parts
from lace_tui.screens.place import Place
from tests.tui.conftest import settle, text_of
from vault.errors import LaceError, all_errors
from vault.vault import Vault
from vault.work import Watch

pages()  # imports every module that has errors of its own
ERRORS = [error for error in all_errors() if not error.__module__.startswith("tests.")]
NASTY = "\x1b[2J\u202egpj.exe [bold]x[/bold]"


def test_the_pace_is_told_when_it_is_known() -> None:
    """APP-3: done, total and rate; the time that is left only with a total."""
    job = Job("Sync: stick")
    job.progress = (10, 110, "receiving")
    assert job.pace(5.0) == (0.0, None)
    job.progress = (30, 110, "receiving")
    assert job.pace(5.5) == (0.0, None)
    assert job.pace(7.0) == (10.0, 8.0)
    job.progress = (5, 0, "reading")
    assert job.pace(8.0) == (0.0, None)
    job.progress = (9, 0, "reading")
    assert job.pace(10.0) == (2.0, None)


def test_the_header_names_the_rest_only_with_a_total() -> None:
    def texts(progress: tuple[int, int, str], pace: tuple[float, float | None], *, stop: bool = False) -> list[str]:
        return [part.plain for _, part in working_parts("Sync: stick", progress, pace, is_stopping=stop)]

    assert texts((0, 0, ""), (0.0, None)) == ["Sync: stick: beginning"]
    assert texts((30, 110, "receiving"), (10.0, 8.0))[:2] == ["Sync: stick: receiving 30 of 110", "10/s"]
    assert "left" in texts((30, 110, "receiving"), (10.0, 8.0))[2]
    assert texts((9, 0, "reading"), (2.0, None)) == ["Sync: stick: reading 9", "2.0/s"]
    assert texts((9, 0, "reading"), (2.0, None), stop=True) == ["Sync: stick: stopping 9"]


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
                assert isinstance(app.screen, Place)
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


async def test_every_error_is_told_with_its_code_and_its_way_out(app: LaceApp) -> None:
    """APP-5: whatever the core raises, the app says what happened and what to do, and shows foreign text inert."""
    assert len(ERRORS) > 50

    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for error in ERRORS:
            made = error.__new__(error)
            LaceError.__init__(made, f"It went wrong with {NASTY}.")

            def read(vault: Vault, made: LaceError = made) -> None:
                raise made

            app.ask(read, lambda _: None)
            await app.workers.wait_for_complete()
            await pilot.pause()
            card = app.card
            assert card is not None
            told = text_of(app, "#card-text")
            assert f"({error.code})" in told
            assert "It went wrong with" in told
            assert made.hint in " ".join(line.plain for line in card.lines), error.code
            assert made.hint, error.code
            assert not {"\x1b", "\u202e"} & set(told)
            assert "[bold]x[/bold]" in told
            assert card.is_bad is (error.code != "cancelled")
