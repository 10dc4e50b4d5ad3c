"""What Home shows, read without a screen (LAZ-54 to LAZ-56)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lace_tui.model.reading import look_at, read_home
from lace_tui.model.view import NeedKind, ago
from lace_tui.screens.marks import fitted, mark
from lace_tui.screenshots import Story
from lazy.belonging.admitting import admit
from lazy.belonging.circle import accept, invite
from lazy.belonging.requests import requests
from lazy.places.adding import add_place
from lazy.places.registry import places
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from vault.beginning import found_vault

NOW = 1_790_000_000


@pytest.mark.parametrize(
    ("iso", "text"),
    [
        (None, "never"),
        ("2026-09-21T14:13:20.0Z", "just now"),
        ("2026-09-21T14:12:20.0Z", "1 min ago"),
        ("2026-09-21T12:13:19.0Z", "2 h ago"),
        ("2026-09-11T14:13:20.0Z", "10 days ago"),
        ("2026-09-21T14:14:00.0Z", "just now"),
        ("2026-09-21T16:13:20.0Z", "2 h ahead of your clock"),
    ],
)
def test_ago_is_told_for_people(iso: str | None, text: str) -> None:
    assert ago(iso, NOW * 1_000_000_000) == text


def test_parts_leave_in_the_order_of_their_need() -> None:
    parts = [(2, mark("lace")), (0, mark("! 1 conflict")), (1, mark("notes"))]
    assert fitted(parts, 80).plain == "lace   ! 1 conflict   notes"
    assert fitted(parts, 26).plain == "! 1 conflict   notes"
    assert fitted(parts, 3).plain == "! 1 conflict", "the most needed part never leaves"


def test_who_is_not_a_member_yet_is_told_what_to_do(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.folder("alice").mkdir(parents=True)
    with found_vault(story.folder("alice"), story.around("alice"), name="alice", group="g") as alice:
        add_place(alice, "stick", str(story.stick), cwd=tmp_path)
        bob, _ = accept(story.folder("bob"), story.around("bob"), invite(alice, "bob").encode())
        with bob:
            (need,) = read_home(bob).needs
            assert need.kind is NeedKind.MEMBERSHIP
            assert need.command == "lace sync stick"
            sync(alice, ["stick"])
            sync(bob, ["stick"])
            assert read_home(bob).needs == ()


def test_a_request_that_proves_nothing_waits_for_a_person(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.folder("alice").mkdir(parents=True)
    with found_vault(story.folder("alice"), story.around("alice"), name="alice", group="g") as alice:
        add_place(alice, "stick", str(story.stick), cwd=tmp_path)
        line = invite(alice, "bob").encode()
        for name in ("bob", "dave"):
            accept(story.folder(name), story.around(name), line, name=name)[0].close()
        sync(alice, ["stick"])
        (asking,) = requests(alice)
        (need,) = read_home(alice).needs
        assert need.kind is NeedKind.REQUEST
        assert need.title == f"{asking.name} asks to belong"
        assert "already used" in need.facts
        assert need.command == f"lace admit {asking.name} --key {asking.node}"
        admit(alice, asking.name, asking.node)
        assert read_home(alice).needs == ()


def test_a_friends_decision_is_a_proposal_with_its_command(story: Story) -> None:
    """LAZ-42: what somebody else decided waits here until it is accepted."""
    for name in ("alice", "bob", "cara"):
        story.vaults[name] = story.open(name)
    story.sync("bob")
    resolve_prefer(story.vaults["bob"], "1.1.0", "local")
    story.sync("bob")
    story.sync("alice")
    view = read_home(story.vaults["alice"])
    proposal = next(need for need in view.needs if need.kind is NeedKind.PROPOSAL)
    assert "bob has decided" in proposal.title
    assert proposal.command.endswith(" --accept")
    story.close()


def test_a_place_is_looked_at_anew_each_time(story: Story) -> None:
    with story.open("alice") as alice:
        stick = next(place for place in places(alice) if place.name == "stick")
    assert look_at(stick).is_here
    away = story.stick.rename(story.root / "pocket")
    assert look_at(stick).text == "not here"
    story.stick.mkdir()
    assert not look_at(stick).is_here, "an empty mount point is no stick"
    story.stick.rmdir()
    away.rename(story.stick)
    assert look_at(stick).text == "here now"
