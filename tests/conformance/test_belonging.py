"""Who belongs, on every road: proven by one's own mailbox, and cut by a revocation (LAZ-71, CYB-11)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.roads import Road, chosen_roads, meet, written
from tests.conformance.telling import records, settle
from tests.people import Person


def meet_by_stick(stick: Path, *people: Person) -> None:
    """Let people exchange what they have over a stick that nobody else ever sees."""
    for person in people:
        person.lace("place", "add", stick.name, str(stick))
    for person in (*people, *people):
        person.lace("sync", stick.name)
    for person in people:
        person.lace("place", "remove", stick.name)


def admit_by_stick(host: Person, friend: Person, stick: Path) -> None:
    """Let somebody join who meets their host over a stick only, and nobody else."""
    host.lace("place", "add", stick.name, str(stick))
    friend.lace("accept", host.lace("invite", friend.name)["invite"], "--name", friend.name)
    for place in friend.lace("places")["places"]:
        if place["place"] != stick.name:
            friend.lace("place", "remove", place["place"])
    for person in (friend, host, friend, host):
        person.lace("sync", stick.name)
    for person in (host, friend):
        person.lace("place", "remove", stick.name)


def names(person: Person) -> set[str]:
    return {member["name"] for member in person.lace("members")["members"]}


@pytest.mark.parametrize("road", written(), indirect=True)
def test_who_was_admitted_elsewhere_proves_it_by_their_own_mailbox(
    road: Road, alice: Person, bob: Person, cara: Person, people: Callable[[str], Person], tmp_path: Path
) -> None:
    # Bob admits Cara, and she Dan, each over a stick; Bob never comes to the road again
    dan = people("dan")
    meet(road, alice, bob)
    admit_by_stick(bob, cara, tmp_path / "stick")
    admit_by_stick(cara, dan, tmp_path / "other")
    made = {}
    for number, person in enumerate((cara, dan)):
        person.write(f"{person.name}.txt", "here I am\n")
        made[person.name] = person.lace("release", f"1.{number}.0")["release"]
        person.lace("place", "add", "road", road.uri, *road.options)
    road.sync(dan)  # he says who admitted Cara, of whom there is nothing here
    got = road.sync(alice)
    assert [(new["name"], new["release"]) for new in got["releases"]] == [("dan", made["dan"])]
    assert got["rejected_hashes"] == []
    # Cara's request lies there, to her inviter.
    assert {problem["code"] for problem in got["problems"]} <= {"sealed-to-others"}
    assert {"cara", "dan"} <= names(alice)
    road.sync(cara)
    got = road.sync(alice)
    assert [(new["name"], new["release"]) for new in got["releases"]] == [("cara", made["cara"])]
    settle(road, alice, cara, dan)


@pytest.mark.parametrize("road", written(), indirect=True)
def test_a_stranger_is_looked_at_once_and_leaves_nothing_behind(
    road: Road, alice: Person, bob: Person, cara: Person
) -> None:
    # Only Alice knows the invitation, so to Bob Cara is a stranger however often he comes
    meet(road, alice, bob)
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    road.sync(cara)
    for number in range(20):
        cara.write("a.txt", f"{number}\n")
        cara.lace("commit", "-m", "mine")
    cara.lace("release", "1.0.0")
    road.sync(cara)
    before = records(bob)
    first, second = road.sync(bob), road.sync(bob)
    for told in (first, second):
        assert {problem["code"] for problem in told["problems"]} <= {"stranger", "sealed-to-others"}
        assert (told["received"], told["rejected_hashes"]) == (0, [])
    assert second["bytes_received"] <= first["bytes_received"]
    assert records(bob) == before
    assert bob.lace("quarantine")["quarantine"] == []
    assert "cara" not in names(bob)


@pytest.mark.parametrize("road", written(), indirect=True)
def test_of_a_revoked_mailbox_counts_what_is_within_the_cut(
    road: Road, alice: Person, bob: Person, cara: Person, people: Callable[[str], Person], tmp_path: Path
) -> None:
    # CLO-17, CLO-55: what she released while she belonged is valid for good, also for who comes after the revocation
    meet(road, alice, bob, cara)
    cara.write("cara.txt", "within\n")
    within = cara.lace("release", "1.0.0")["release"]
    settle(road, cara, alice)
    bob.write("bob.txt", "carried\n")
    carried = bob.lace("release", "2.0.0")["release"]
    meet_by_stick(tmp_path / "stick", bob, cara)
    cara.write("cara.txt", "after\n")
    after = cara.lace("release", "3.0.0")["release"]
    alice.lace("revoke", "cara", "--yes")
    road.sync(cara)  # she does not know yet; of Bob's release hers is the only mailbox here that has it
    got = road.sync(alice, expect=1)
    assert {new["release"] for new in got["releases"]} == {carried}
    assert {bad["code"] for bad in got["rejected_hashes"]} == {"after-cut"}
    assert road.sync(alice)["rejected_hashes"] == []
    dan = people("dan")
    dan.lace("accept", alice.lace("invite", "dan")["invite"], "--name", "dan")
    for person in (dan, alice, dan):
        person.run("--json", "sync", "road")
    assert {carried, within} <= {entry["hash"] for entry in dan.lace("log", "-n", "50")["entries"]}
    for person in (alice, dan):
        entries = person.lace("log", "-n", "50")["entries"]
        shared = {entry["hash"] for entry in entries if not entry["after_cut"]}
        assert after not in shared
        assert "cara" not in names(person)
    told = cara.run("--json", "sync", "road").json
    assert cara.lace("status")["member"] is False
    if road.options:  # what is encrypted since then is no more for her, and a box that is says so
        (closed,) = (problem for problem in told["problems"] if problem["code"] == "closed-to-you")
        assert "alice revoked you" in closed["message"]
        assert "lace adopt" in closed["hint"]
        assert cara.run("sync", "road").code == 1  # a person is needed, at each visit
    assert cara.lace("adopt")["admitted"] is False
    cara.run("sync", "road")
    alice.run("sync", "road")
    asks = {request["name"]: request["node"] for request in alice.lace("requests")["requests"]}
    alice.lace("admit", "cara", "--key", asks["cara"])
    for person in (alice, cara, alice):
        person.run("--json", "sync", "road")
    assert cara.lace("status")["member"] is True


def test_who_belongs_still_is_told_once_who_was_revoked_and_by_whom(
    road: Road, alice: Person, bob: Person, cara: Person
) -> None:
    """LAZ-69, APP-13: a friend heard nothing of it, until what the revoked one went on to say was refused."""
    _with_a_release_of_hers(road, alice, bob, cara)
    alice.lace("revoke", "cara", "--yes")
    told = [road.sync(person)["revoked"] for person in (alice, bob, bob)]
    assert told == [[], [{"name": "cara", "by": "alice"}], []]


@pytest.mark.parametrize("road", written(), indirect=True)
def test_who_is_new_is_told_of_no_revocation_before_their_time(
    road: Road, alice: Person, bob: Person, cara: Person, people: Callable[[str], Person]
) -> None:
    """LAZ-69: it changes nothing for them."""
    _with_a_release_of_hers(road, alice, bob, cara)
    alice.lace("revoke", "cara", "--yes")
    road.sync(alice)
    dan = people("dan")
    dan.lace("accept", alice.lace("invite", "dan")["invite"], "--name", "dan")
    told = [person.run("--json", "sync", "road").json["revoked"] for person in (dan, alice, dan)]
    assert told == [[], [], []]
    assert "cara" not in names(dan)
    assert "  alice revoked cara\n" in bob.text("sync", "road")


def _with_a_release_of_hers(road: Road, alice: Person, bob: Person, cara: Person) -> None:
    meet(road, alice, bob, cara)
    cara.write("cara.txt", "hers\n")
    cara.lace("release", "1.0.0")
    settle(road, cara, alice, bob)


@pytest.mark.parametrize("road", [name for name in chosen_roads() if name == "live"], indirect=True)
def test_a_live_server_refuses_who_was_revoked(road: Road, alice: Person, bob: Person) -> None:
    meet(road, alice, bob)
    alice.lace("revoke", "bob", "--yes")
    road.sync(alice)
    before = records(alice)
    bob.write("b.txt", "late\n")
    bob.lace("release", "1.0.0")
    told = bob.run("--json", "sync", "road")
    assert 30 <= told.code < 40, told.err
    assert "revoked" in told.json["error"]["message"]
    road.sync(alice)
    assert records(alice) == before


@pytest.mark.parametrize("road", written(), indirect=True)
def test_who_belongs_is_told_once_who_was_let_in_and_by_whom(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-71, APP-13: so many records came, it was said, and not that somebody belongs whom she never met."""
    meet(road, alice, bob)
    admit_by_stick(bob, cara, tmp_path / "stick")
    road.sync(bob)
    told = [road.sync(person) for person in (alice, alice, bob)]
    assert [came["newcomers"] for came in told] == [[{"name": "cara", "by": "bob"}], [], []]
    assert [came["admitted"] for came in told] == [[], [], []]


@pytest.mark.parametrize("road", written(), indirect=True)
def test_who_is_new_is_told_of_nobody_who_belonged_before(
    road: Road, alice: Person, bob: Person, cara: Person, people: Callable[[str], Person], tmp_path: Path
) -> None:
    """LAZ-71: neither by the visit that makes them a member, nor by another place that knows of more."""
    meet(road, alice, bob)
    admit_by_stick(bob, cara, tmp_path / "stick")
    dan = people("dan")
    admit_by_stick(alice, dan, tmp_path / "other")
    for person in (alice, bob):
        road.sync(person)
    dan.lace("place", "add", "road", road.uri, *road.options)
    assert road.sync(dan)["newcomers"] == []
    assert {"cara", "dan"} <= names(dan)
