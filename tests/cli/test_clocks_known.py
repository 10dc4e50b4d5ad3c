"""Whose clock is far from the one here is told for as long as their last release shows it (LAZ-16)."""

from __future__ import annotations

import time
from typing import Any

from tests.people import Person

_HOUR = 3_600 * 10**9


def _clock(person: Person, hours: int) -> None:
    person.world["now_ns"] = lambda: time.time_ns() + hours * _HOUR


def _release(person: Person, version: str) -> None:
    person.write("new.md", f"{version}\n")
    person.lace("release", version)
    person.lace("sync", "stick")


def _status(person: Person) -> Any:
    (peer,) = person.lace("status")["peers"]
    return peer["clock"]


def test_a_clock_that_is_ahead_is_told_until_a_release_shows_it_right(pair: tuple[Person, Person]) -> None:
    """LAZ-16, LAZ-54: it was told by the sync that brought it and never again; now also once its date is past."""
    alice, bob = pair
    assert _status(alice) is None
    _clock(bob, 3)
    _release(bob, "1.1.0")
    alice.lace("sync", "stick")
    told = _status(alice)
    assert (told["desk"], told["version"], told["beside"]) == ("main", "1.1.0", None)
    assert told["message"] == "1.1.0 was dated 3 hours ahead of the clock here as it came"
    assert 3 * 3600 - 600 < told["seconds_ahead"] <= 3 * 3600
    _clock(alice, 5)
    alice.lace("sync", "stick")
    said = "! 1.1.0 was dated 3 hours ahead of the clock here as it came: compare the clocks of both machines"
    assert said in alice.text("status")
    assert said in alice.text("peers")
    assert said in alice.text("peers", "bob")
    assert alice.lace("peers")["peers"][0]["clock"] == told == alice.lace("peers", "bob")["clock"]
    bob.lace("fsck")
    assert _status(bob) is None, "nobody else's clock is off for him"
    _clock(alice, 0)
    _clock(bob, 0)
    _release(bob, "1.2.0")
    alice.lace("sync", "stick")
    assert _status(alice) is None
    assert "clocks" not in alice.text("peers")


def test_a_release_before_mine_below_it_is_told_until_my_own_clock_goes_back(pair: tuple[Person, Person]) -> None:
    """LAZ-16: whose own clock was ahead sees a friend's release dated before theirs; set right, it is told no more."""
    alice, bob = pair
    _clock(bob, 72)
    _release(bob, "1.1.0")
    alice.lace("sync", "stick")
    alice.lace("update")
    _release(alice, "1.2.0")
    bob.lace("sync", "stick")
    told = _status(bob)
    assert told["message"] == "1.2.0 is dated 3 days before your 1.1.0, on which it stands"
    assert told["beside"] == "1.1.0"
    assert told["seconds_ahead"] < -71 * 3600
    _release(bob, "1.3.0")
    assert _status(bob) is not None, "a later release of mine changes nothing in theirs"
    _clock(bob, 0)
    bob.lace("sync", "stick")
    assert _status(bob) is None
