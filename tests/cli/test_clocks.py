"""A clock that is far from another one: whoever meets what it dated is told whose, on both sides (LAZ-16)."""

from __future__ import annotations

import time

from tests.people import Person

_YEAR_NS = 365 * 86_400 * 10**9


def _ahead(person: Person) -> None:
    person.world["now_ns"] = lambda: time.time_ns() + 2 * _YEAR_NS


def _right(person: Person) -> None:
    person.world.pop("now_ns", None)


def _clocks(person: Person) -> list[tuple[str, str]]:
    answer = person.lace("sync", "stick")
    return [(row["peer"], row["message"]) for row in answer["problems"] if row["code"] == "clock-apart"]


def test_a_clock_that_is_ahead_is_told_to_both(pair: tuple[Person, Person]) -> None:
    """LAZ-16: all later commits were dated two years ahead in everybody's log, and nobody was told by whom."""
    alice, bob = pair
    _ahead(bob)
    bob.write("new.md", "from the future\n")
    bob.lace("release", "1.1.0")
    assert _clocks(bob) == []
    ((who, told),) = _clocks(alice)
    assert who == "bob"
    assert told == "1.1.0 is dated 730 days ahead of the clock here."
    assert _clocks(alice) == [], "it is told once, with what came"
    alice.lace("update")
    alice.write("list.md", "milk, eggs\n")
    alice.lace("release", "1.2.0")
    assert _clocks(alice) == []
    ((who, told),) = _clocks(bob)
    assert who == "alice"
    assert told == "1.2.0 is dated 730 days before your 1.1.0, on which it stands."


def test_a_clock_that_was_set_right_is_told_to_nobody(pair: tuple[Person, Person]) -> None:
    """LAZ-16: what is dated by a commit below it says nothing of its maker's clock."""
    alice, bob = pair
    _ahead(bob)
    bob.write("new.md", "from the future\n")
    bob.lace("release", "1.1.0")
    _right(bob)
    bob.write("new.md", "of today\n")
    bob.lace("release", "1.2.0")
    bob.lace("sync", "stick")
    assert _clocks(alice) == []
    alice.lace("update")
    alice.write("list.md", "milk, eggs\n")
    alice.lace("release", "1.3.0")
    alice.lace("sync", "stick")
    assert _clocks(bob) == []


def test_a_small_difference_is_told_to_nobody(pair: tuple[Person, Person]) -> None:
    """LAZ-16: clocks of friends may differ by some minutes."""
    alice, bob = pair
    bob.world["now_ns"] = lambda: time.time_ns() + 20 * 60 * 10**9
    bob.write("new.md", "bob's\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    assert _clocks(alice) == []


def test_it_needs_no_person(pair: tuple[Person, Person]) -> None:
    """LAZ-16: nothing waits for a clock, so a script goes on; the line for people names both ways."""
    alice, bob = pair
    _ahead(bob)
    bob.write("new.md", "from the future\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    told = alice.text("sync", "stick")
    assert "  ! bob: " in told
    assert "compare the clocks of both machines" in told
