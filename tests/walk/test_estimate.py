"""What a visit would cost is said before, and is what it then costs (LAZ-13)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from lazy.results import PlaceResult, Planned, Traffic
from lazy.visits.estimate import LINKS, BadLink, estimate, parse_link
from tests.live.servers import serving
from tests.people import Person
from tests.transports.git_hosts import bare_repository


def _meet(alice: Person, bob: Person, uri: str) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "meet", uri)
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "meet")
    bob.lace("accept", line)
    for person in (alice, bob, alice, bob):
        person.lace("sync", "meet")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("road", ["stick", "git"])
def test_what_is_estimated_is_what_moves(alice: Person, bob: Person, tmp_path: Path, road: str) -> None:
    """LAZ-13: records there and back as planned, the bytes within what they rest in; planning changes nothing there."""
    uri = str(tmp_path / "stick") if road == "stick" else f"git+file:{bare_repository(tmp_path / 'host.git')}"
    _meet(alice, bob, uri)
    alice.write("big.bin", Random(7).randbytes(600_000))
    alice.lace("release", "1.0.0")
    alice.lace("sync", "meet")
    bob.write("song.md", "la la la\n" * 50)
    bob.lace("release", "1.1.0")
    before = _files(tmp_path / "stick") if road == "stick" else {}
    plan = bob.lace("sync", "meet", "--estimate", "isdn")
    assert before == (_files(tmp_path / "stick") if road == "stick" else {})
    assert plan["planned"] is True
    assert plan["is_whole"] is True
    moved = plan["bytes_to_send"] + plan["bytes_to_receive"]
    assert plan["seconds"] == pytest.approx(moved / 16_000 + plan["trips"] * 0.05)
    assert (plan["trips"] > 0) is (road == "git")
    done = bob.lace("sync", "meet")
    assert (done["received"], done["sent"]) == (plan["received"], plan["sent"])
    assert plan["received"] > 0
    assert plan["sent"] > 0
    if road == "stick":
        assert 600_000 <= plan["bytes_to_receive"] <= done["bytes_received"]
    again = bob.lace("sync", "meet", "--estimate", "isdn")
    assert (again["received"], again["sent"], again["bytes_to_send"], again["trips"]) == (0, 0, 0, plan["trips"] // 2)
    assert again["seconds"] < plan["seconds"]
    assert "On isdn: at least" in bob.text("sync", "meet", "--estimate", "isdn")


def test_a_live_server_does_not_say_how_much_comes(alice: Person, bob: Person) -> None:
    """LAZ-13: what is not known is not made up."""
    alice.lace("init", "--name", "alice")
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        bob.lace("accept", alice.lace("invite", "bob")["invite"])
        bob.lace("sync", "home")
        alice.write("big.bin", bytes(100_000))
        alice.lace("release", "1.0.0")
        plan = bob.lace("sync", "home", "--estimate", "satellite")
        assert plan["received"] > 0
        assert plan["is_whole"] is False
        assert plan["trips"] >= 2
        assert "how much comes is not known" in bob.text("sync", "home", "--estimate", "satellite")


@pytest.mark.parametrize(
    ("text", "rate", "latency"),
    [
        ("10Mbit@40ms", 1.25e6, 0.04),
        ("128kbit/s,1s", 16e3, 1),
        ("2.5MB/s@0.5ms", 2.5e6, 0.0005),
        ("900B@0ms", 900, 0),
        ("128Kb/s,40ms", 16e3, 0.04),  # as RFC-016 writes them (LAZ-9)
        ("1Mb/s@40ms", 125e3, 0.04),
        ("128 Kb/s, 40 ms", 16e3, 0.04),
    ],
)
def test_a_link_is_a_rate_and_a_latency(text: str, rate: float, latency: float) -> None:
    link = parse_link(text)
    assert link.rate == pytest.approx(rate)
    assert link.latency == pytest.approx(latency)


@pytest.mark.parametrize("text", ["", "modem", "0Mbit@4ms", "10Mbit", "-1MB@3ms", "1MB@3", "9" * 40 + "B@1s"])
def test_what_is_no_link_is_refused_with_the_names(alice: Person, text: str) -> None:
    with pytest.raises(BadLink):
        parse_link(text)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", "../stick")
    result = alice.run("sync", f"--estimate={text}")
    assert result.code == 2
    assert all(name in result.err for name in LINKS) if text else "--estimate is empty" in result.err


def test_several_places_are_one_sum() -> None:
    results = [
        PlaceResult("a", "git", Planned(1_000, 0, 0), sent=1, traffic=Traffic(500, round_trips=2)),
        PlaceResult("b", "drop", Planned(0, 9, 3_000), traffic=Traffic(1_500)),
    ]
    found = estimate(results, parse_link("1kB@1s"))
    assert (found.sent, found.received, found.trips, found.is_whole) == (1_000, 5_000, 4, True)
    assert found.seconds == pytest.approx(10.0)
