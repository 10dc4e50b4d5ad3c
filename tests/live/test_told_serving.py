"""What a person who serves is told of what friends brought, and what is not told again (LAZ-65, LAZ-69)."""

from __future__ import annotations

from typing import cast

from tests.live.servers import serving
from tests.live.test_live_sync import begin, found
from tests.people import Person


def test_who_serves_is_told_who_was_revoked(alice: Person, bob: Person) -> None:
    """LAZ-69: it came to her vault, and she who only serves makes no visit that could tell of it."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.lace("revoke", "self", "--yes")
        bob.lace("sync", "home")
    assert [said["revoked"] for said in server.told if said.get("revoked")] == [[{"name": "bob", "by": "bob"}]]


def test_who_was_revoked_is_told_once_while_serving_or_at_the_next_sync(alice: Person, bob: Person) -> None:
    """LAZ-69: a visit told as news what the server had said before."""
    found(alice)
    stick = alice.folder.parent / "stick"
    stick.mkdir()
    alice.lace("place", "add", "stick", str(stick))
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.lace("revoke", "self", "--yes")
        bob.lace("sync", "home")
    told = [gone for said in server.told for gone in cast("list[dict[str, str]]", said.get("revoked") or [])]
    told += alice.lace("sync", "stick")["revoked"]
    assert [gone["name"] for gone in told] == ["bob"]


def test_who_serves_is_told_what_was_released(alice: Person, bob: Person) -> None:
    """LAZ-65, APP-13: so many records came, it was said, and not that a friend's release was among them."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.write("new.txt", "of bob\n")
        bob.lace("release", "3.0.0")
        bob.lace("sync", "home")
    assert ["3.0.0" in str(said["releases"]) for said in server.told if said.get("releases")] == [True]


def test_who_serves_is_told_once_who_was_let_in_and_by_whom(alice: Person, bob: Person, cara: Person) -> None:
    """LAZ-71: by the server, and no more by the next sync; a friend is told it by their own visit to her."""
    found(alice)
    stick = alice.folder.parent / "stick"
    stick.mkdir()
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        for person in (alice, bob):
            person.lace("place", "add", "stick", str(stick))
        cara.lace("accept", bob.lace("invite", "cara")["invite"], "--name", "cara")
        for person in (cara, bob):
            person.lace("sync", "stick")
        bob.lace("sync", "home")
    told = [one for said in server.told for one in cast("list[dict[str, str]]", said.get("newcomers") or [])]
    assert told == [{"name": "cara", "by": "bob"}]
    assert [said["admitted"] for said in server.told if said.get("admitted")] == ["bob"]
    assert alice.lace("sync", "stick")["newcomers"] == []


def test_a_visit_to_a_server_tells_who_was_let_in_there(alice: Person, bob: Person, cara: Person) -> None:
    """LAZ-71, INT-131: as on a stick."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
        assert cara.lace("sync", "home")["newcomers"] == []
        assert "  alice let cara in\n" in bob.text("sync", "home")
        assert bob.lace("sync", "home")["newcomers"] == []
