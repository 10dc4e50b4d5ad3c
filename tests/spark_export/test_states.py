"""Who belonged, and how things came: what an export tells of the vault itself (APP-8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.servers import serving
from tests.people import Person
from tests.spark_export import meet, rows_of, sync


def _begin(alice: Person) -> None:
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")


@pytest.mark.parametrize("by", ["alice", "bob"])
def test_who_was_revoked_stays_a_row(alice: Person, bob: Person, tmp_path: Path, by: str) -> None:
    """APP-8: they had no row, and so their name was lost from every report."""
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    key = {person.name: person.lace("id")["node"] for person in (alice, bob)}
    if by == "alice":
        alice.lace("revoke", "bob", "--last", "1", "--yes")
    else:
        bob.lace("revoke", "self", "--yes")
        sync(alice, bob)
    rows = {row["name"]: row for row in rows_of(alice, "members")}
    assert {name: row["node"] for name, row in rows.items()} == key
    assert (rows["alice"]["last_seq"], rows["alice"]["revoked_by"]) == (None, None)
    assert (rows["bob"]["admitted_by"], rows["bob"]["revoked_by"]) == (key["alice"], key[by])
    assert isinstance(rows["bob"]["last_seq"], int)


def test_what_a_friend_brings_to_a_server_is_a_sync(alice: Person, bob: Person) -> None:
    """APP-8: who serves had no row of it, and a release seemed to come with the next sync elsewhere."""
    _begin(alice)
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        bob.lace("sync", "home")
        bob.lace("update")
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        bob.lace("sync", "home")
    (served,) = [row for row in rows_of(alice, "syncs") if row["verb"] == "lazy-serve"][-1:]
    assert (served["road"], served["rejected"], served["sent"]) == ("live", 0, None)
    assert isinstance(served["received"], int)
    assert served["received"] > 0
    (release,) = [row for row in rows_of(alice, "releases") if row["version"] == "1.1.0"]
    assert isinstance(release["position"], int)
    assert isinstance(served["position"], int)
    assert release["position"] < served["position"]


def test_a_decision_of_a_friend_is_proposed_until_it_is_taken_in(
    alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """APP-8, LAZ-42: a version that was open for all but its decider was exported as resolved."""
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    invite = alice.lace("invite", "cara")["invite"]
    alice.lace("sync", "stick")
    cara.lace("accept", invite, "--name", "cara")
    sync(alice, bob, cara)
    for friend in (bob, cara):
        friend.lace("update")
    for person in (alice, bob):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "1.1.0")
    people = (alice, bob, cara)
    sync(*people)
    assert [_states(person) for person in people] == [(["open"], 1)] * 3
    alice.lace("resolve", "1.1.0", "--prefer", "bob")
    sync(*people)
    assert [_states(person) for person in people] == [(["resolved"], 0), (["proposed"], 1), (["proposed"], 1)]
    bob.lace("resolve", "1.1.0", "--accept")
    cara.lace("resolve", "1.1.0", "--accept")
    assert [_states(person) for person in people] == [(["resolved"], 0)] * 3


def _states(person: Person) -> tuple[list[object], int]:
    """Return what an export says of the conflicts, and how many are open."""
    return [row["state"] for row in rows_of(person, "conflicts")], len(person.lace("conflicts")["conflicts"])
