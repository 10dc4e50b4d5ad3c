"""What the many visits of somebody who follows leave behind, and what makes them visit (INT-127, CYB-11)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lazy.live.own_news import OwnNews
from lazy.sync import sync
from tests.live.test_news import vault_of
from tests.people import Person
from transports.errors import PlaceUnreachable


@pytest.fixture
def stick(alice: Person, bob: Person, tmp_path: Path) -> Path:
    """A stick that alice and bob share, of which both have everything."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    invite = alice.lace("invite", "bob")["invite"]
    alice.lace("sync")
    bob.lace("accept", invite, "--name", "bob")
    for person in (bob, alice, bob):
        person.lace("sync")
    return tmp_path / "stick"


def trail(person: Person) -> list[dict[str, Any]]:
    """Return somebody's audit trail."""
    entries: list[dict[str, Any]] = person.lace("audit")["entries"]
    return entries


def test_visits_that_nothing_came_of_do_not_fill_the_audit_trail(
    alice: Person, bob: Person, stick: Path, tmp_path: Path
) -> None:
    """CYB-11: who follows a stick looks every other second: 43,000 signed entries a day said nothing."""
    before = len(trail(bob))
    with closing(vault_of(bob)) as vault:
        for _ in range(3):
            sync(vault, ["stick"], is_again=True)
        assert len(trail(bob)) == before
        stick.rename(tmp_path / "away")
        for _ in range(3):
            with pytest.raises(PlaceUnreachable):
                sync(vault, ["stick"], is_again=True)
        assert len(trail(bob)) == before + 1  # that it went away is told once
        (tmp_path / "away").rename(stick)
        for _ in range(3):
            sync(vault, ["stick"], is_again=True)
        assert len(trail(bob)) == before + 2  # and that it is there again
        alice.lace("release", "1.1.0")
        alice.lace("sync")
        sync(vault, ["stick"], is_again=True)
        assert len(trail(bob)) == before + 3
        head = next(stick.glob(f"*/{key_of(alice)}/head.rec"))
        head.write_bytes(b"no head")
        sync(vault, ["stick"], is_again=True)
        told = trail(bob)
        assert "alice: bad-snapshot" in repr(told[-1])
        for _ in range(3):
            sync(vault, ["stick"], is_again=True)
        assert trail(bob) == told
        sync(vault, ["stick"])  # whoever asks for a visit finds it there, whatever came of it
        assert len(trail(bob)) == len(told) + 1


def key_of(person: Person) -> str:
    """Return the key of somebody's node in hex, as mailboxes are called."""
    with closing(vault_of(person)) as vault:
        return vault.node.key.hex()


def test_two_who_follow_in_one_vault_do_not_wake_each_other(bob: Person, stick: Path) -> None:
    """INT-127: each noted its visit, which woke the other: five visits a second for as long as both ran."""
    with closing(vault_of(bob)) as vault, closing(vault_of(bob)) as other:
        own = OwnNews(vault)
        own.begin()
        sync(vault, ["stick"], is_again=True)
        own.end()
        assert not own.is_there()
        sync(other, ["stick"])
        assert not own.is_there()
        bob.lace("commit", "-m", "mine alone", *[str(bob.write("b.txt", "two\n"))])
        assert not own.is_there()
        bob.lace("release", "1.1.0")
        assert own.is_there()
        assert own.is_there()


def test_what_was_shared_during_a_visit_is_news(bob: Person, stick: Path) -> None:
    """INT-127: what was released after the visit had looked at what goes waited for the next look, a minute later."""
    with closing(vault_of(bob)) as vault:
        own = OwnNews(vault)
        own.begin()
        sync(vault, ["stick"])
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        own.end()
        assert own.is_there()
        own.begin()
        sync(vault, ["stick"])
        own.end()
        assert not own.is_there()
