"""Friends are served while the app is open, at an address that is in sight (APP-1, APP-3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from socket import has_ipv6
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.acts import server
from lace_tui.app.lace import LaceApp
from lace_tui.model.job import Job
from lace_tui.screens.dialogs import Leaving, Question, ServingPage
from lace_tui.screens.peers import Peers
from lace_tui.screenshots import Story
from lazy.belonging.adopting import adopt
from lazy.belonging.circle import accept, invite
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.live.answering import Served
from lazy.live.serving import Service
from lazy.places.adding import add_place
from lazy.receiving.membership_news import unheard_news
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from transports.errors import AddressInUse, PlaceUnreachable, RefusedThere
from transports.http.identity import LIFETIME
from vault.errors import EnvironmentFault, LaceError
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault

SIZE = (120, 34)


async def _serve(app: LaceApp, pilot: Pilot[None]) -> None:
    await press(pilot, "4", "v")
    app.screen.query_one(Input).value = "127.0.0.1:0"
    await press(pilot, "enter")


async def _serve_until_due(app: LaceApp, pilot: Pilot[None], story: Story) -> server.Server:
    """Serve until the certificate is to be made anew."""
    await settle(pilot)
    await _serve(app, pilot)
    assert app.server is not None
    story.seconds += LIFETIME - 3600 * 20
    return app.server


def _is_serving(app: LaceApp) -> bool:
    return app.server is not None


async def test_friends_are_served_until_that_is_ended(app: LaceApp, story: Story) -> None:
    """APP-1: `lace serve`; the app goes on meanwhile, and shows where friends reach it."""
    with story.open("alice") as vault:
        story.write("alice", "plums.md", "one\n")
        release(vault, Version.parse("1.2.0"), "plums")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4", "v")
        assert is_showing(app, Question)
        app.screen.query_one(Input).value = "nowhere"
        await press(pilot, "enter")
        assert "not HOST:PORT" in text_of(app, "#question")
        app.screen.query_one(Input).value = "127.0.0.1:0"
        await press(pilot, "enter")
        found = re.search(r"serving (127\.0\.0\.1:\d+)", text_of(app, "#head"))
        assert found is not None
        uri = app.clipboard
        assert found[1] in uri
        assert app.card is not None
        assert uri in app.card.lines[2].plain
        with story.open("bob") as bob:
            add_place(bob, "alices", uri, cwd=story.root)
            (result,) = sync(bob, ["alices"])
            assert [release.version for release in result.came.releases][-1:] == [Version.parse("1.2.0")]
        await settle(pilot)
        assert "bob: received" in "\n".join(str(note.message) for note in app._notifications)
        await press(pilot, "s")
        assert app.job is None, "other work goes on meanwhile"
        await press(pilot, "v", "n")
        assert _is_serving(app)
        await press(pilot, "v")
        assert is_showing(app, ServingPage)
        assert uri in page_of(app).replace("\n", "")
        app.copy_to_clipboard("")
        await press(pilot, "y", "v")
        assert uri in app.clipboard, "as on every page that names something"
        assert _is_serving(app)
        assert is_showing(app, ServingPage)
        await press(pilot, "x")
        assert is_showing(app, Peers)
        assert "serving" not in text_of(app, "#head")
        assert not _is_serving(app)
        with story.open("bob") as bob, pytest.raises(PlaceUnreachable):
            sync(bob, ["alices"])
        assert app._activity[0] == "lace serve --listen 127.0.0.1:0"


async def _is_told_once(app: LaceApp, story: Story, act: Callable[[Vault], object], sentence: str) -> None:
    """Serve while bob, who has this vault as a place, does something; look that the app says it, and no sync again."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _serve(app, pilot)
        assert app.server is not None
        with story.open("bob") as bob:
            add_place(bob, "alices", app.server.uri, cwd=story.root)
            act(bob)
        await settle(pilot)
        assert sentence in [str(note.message) for note in app._notifications]
    with story.open("alice") as vault:
        assert unheard_news(vault) == []


async def test_who_was_revoked_is_told_once_by_the_server_or_by_a_sync(app: LaceApp, story: Story) -> None:
    """LAZ-69, APP-1: the next sync told as news what the app had said while it served."""

    def leave(bob: Vault) -> None:
        revoke(bob, plan_revocation(bob, "self"))
        with pytest.raises(RefusedThere):  # once it is there
            sync(bob, ["alices"])

    await _is_told_once(app, story, leave, "bob revoked their own key")


async def test_who_was_let_in_is_told_once_by_the_server_or_by_a_sync(app: LaceApp, story: Story) -> None:
    """LAZ-71, APP-1: who serves in the app sees at once who belongs, and the next sync tells it no more."""

    def let_in(bob: Vault) -> None:
        line = invite(bob, "dora").encode()
        with accept(story.folder("dora"), story.around("dora"), line)[0] as dora:
            sync(dora, ["stick"])
        sync(bob, ["stick"])
        sync(bob, ["alices"])

    await _is_told_once(app, story, let_in, "bob let dora in")


async def test_nobody_is_served_once_the_app_is_left(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4", "v")
        app.screen.query_one(Input).value = "127.0.0.1:0"
        await press(pilot, "enter")
        serving = app.server
        assert serving is not None
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        assert "serving 127.0.0.1" in text_of(app, "#head"), "each place says so in every window"
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert "serving 127.0.0.1" in text_of(app, "#small")
    assert serving.is_over


async def test_what_is_served_waits_as_long_as_it_needs(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """`esc` that came too late for the work that began it would have stopped every answer that waits for the vault."""
    opened: list[Callable[[], Vault]] = []

    def noted(open_vault: Callable[[], Vault], tell: Callable[[Served], None]) -> Service:
        opened.append(open_vault)
        return Service(open_vault, tell)

    monkeypatch.setattr(server, "Service", noted)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        began = app.begin
        jobs: list[Job | None] = []

        def begin(*args: Any) -> bool:
            is_begun = began(*args)
            jobs.append(app.job)
            return is_begun

        monkeypatch.setattr(app, "begin", begin)
        await press(pilot, "4", "v")
        app.screen.query_one(Input).value = "127.0.0.1:0"
        await press(pilot, "enter")
        (job,) = jobs
        assert job is not None
        job.token.set()
        with opened[0]() as vault:
            vault.around.sleep(0)


async def test_a_server_that_ended_by_itself_is_told(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4", "v")
        app.screen.query_one(Input).value = "127.0.0.1:0"
        await press(pilot, "enter")
        assert app.server is not None
        app.look_after_server()
        assert app.server is not None
        app.server.stop()
        app.look_after_server()  # the clock does this
        await settle(pilot)
        assert not _is_serving(app)
        assert "serving" not in text_of(app, "#head")
        assert app.card is not None
        assert app.card.title == "Serving: ended"


async def test_a_server_of_a_vault_that_was_adopted_since_is_over(app: LaceApp, story: Story) -> None:
    """Friends know it by a key that is no longer this vault's (LAZ-70)."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _serve(app, pilot)
        assert app.server is not None
        with story.open("alice") as alice, story.open("bob") as bob:
            adopt(alice)
            add_place(bob, "alices", app.server.uri, cwd=story.root)
            with pytest.raises(LaceError):
                sync(bob, ["alices"])
        assert not app.server.is_due
        app.look_after_server()
        await settle(pilot)
        assert not _is_serving(app)
        assert app.card is not None
        assert app.card.title == "Serving: ended"
        assert "this vault has another key now" in app.card.lines[0].plain, "else friends wait at the former address"
        assert "v in Peers begins again" in app.card.lines[0].plain


async def test_to_leave_while_friends_are_served_is_asked(app: LaceApp) -> None:
    """APP-1: `q` ended it without a word where nobody was being answered just then."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await _serve(app, pilot)
        await press(pilot, "q")
        assert is_showing(app, Leaving)
        assert "Friends reach you at 127.0.0.1" in page_of(app)
        for key in ("n", "v", "x", "q"):
            await press(pilot, key)
        assert app._exit


async def test_what_ended_meanwhile_is_not_asked_about_any_more(app: LaceApp) -> None:
    """APP-3: the question went on to say that it still runs, and that to leave would stop it."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        go_on = Event()
        app.begin("Sync: stick", lambda _vault, _watch: go_on.wait(30), lambda _: None)
        await pilot.press("q")
        await pilot.pause()
        assert is_showing(app, Leaving)
        assert "Sync: stick is still running." in page_of(app)
        go_on.set()
        await settle(pilot)
        app.show_progress()  # the clock does this
        await pilot.pause()
        assert "still running" not in page_of(app)
        assert "Nothing is running any more" in page_of(app)
        assert "y leave[" in str(app.screen.query_one("#page").border_subtitle)
        await press(pilot, "y")
        assert app._exit


def test_an_address_of_many_colons_stands_in_brackets(story: Story) -> None:
    """APP-1: `serving ::1:7433` cannot be told from another address."""
    if not has_ipv6:
        pytest.skip("this machine has no such addresses")
    with story.open("alice") as vault:
        try:
            made = server.Server(vault, "[::1]:0", lambda _served: None, lambda: 0.0)
        except AddressInUse:
            pytest.skip("this machine has no such addresses")
        made.stop()
        assert re.fullmatch(r"\[::1\]:\d+", made.where)


async def test_a_server_gets_a_new_certificate_before_the_old_one_ends(app: LaceApp, story: Story) -> None:
    """APP-1: `lace serve` renews it; the app ended serving instead, a day before, unasked."""
    async with app.run_test(size=SIZE) as pilot:
        served = await _serve_until_due(app, pilot, story)
        where, before = served.where, served.uri
        app.look_after_server()
        await settle(pilot)
        assert app.server is not None
        assert (app.server.where, app.server.uri) == (where, before)
        assert not app.server.is_over
        assert not app.server.is_due
        with story.open("bob") as bob:
            add_place(bob, "alices", before, cwd=story.root)
            (result,) = sync(bob, ["alices"])
            assert not result.queued


def _told(app: LaceApp) -> list[str]:
    return [str(note.message) for note in app._notifications if note.title == "Serving: no new certificate"]


async def test_a_server_that_gets_no_new_certificate_goes_on_with_the_old_one(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-1: the old one was good for a day; serving ended at once, and so did each later try."""
    async with app.run_test(size=SIZE) as pilot:
        served = await _serve_until_due(app, pilot, story)

        def refuse(*_given: Any) -> Any:
            raise EnvironmentFault("The key is away.")

        with monkeypatch.context() as away:
            away.setattr(server, "make_identity", refuse)
            for _ in range(2):
                app.look_after_server()
                await settle(pilot)
        assert len(_told(app)) == 1, "said once, and tried at each look"
        assert "The key is away." in _told(app)[0]
        with story.open("bob") as bob:
            add_place(bob, "alices", served.uri, cwd=story.root)
            (result,) = sync(bob, ["alices"])
            assert not result.queued
        app.look_after_server()
        await settle(pilot)
        assert app.server is served
        assert not served.is_due


async def test_a_server_whose_address_is_gone_for_a_while_comes_back(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-1: `lace serve` tries until it can listen again; the app gave up for good."""
    async with app.run_test(size=SIZE) as pilot:
        served = await _serve_until_due(app, pilot, story)

        def gone(*_given: Any, **_named: Any) -> Any:
            raise AddressInUse("Nobody can listen there.")

        with monkeypatch.context() as away:
            away.setattr(server, "LiveServer", gone)
            app.look_after_server()
            await settle(pilot)
        assert len(_told(app)) == 1
        assert app.server is served
        assert f"! not serving {served.where}" in text_of(app, "#head")
        app.look_after_server()
        await settle(pilot)
        assert not served.is_over
        assert f"   serving {served.where}" in text_of(app, "#head")
