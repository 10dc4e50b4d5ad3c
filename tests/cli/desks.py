"""What tests of desks do: friends meet at their stick, and an update of a desk asks."""

from __future__ import annotations

from tests.people import Person

__all__ = ["clashing", "meet"]


def meet(*people: Person) -> None:
    """Let each sync once, one after the other."""
    for person in people:
        person.lace("sync", "stick")


def clashing(person: Person, desk: str) -> list[str]:
    """Update a desk, which has to ask, and return at which paths; the plan says the same."""
    planned, done = person.lace("update", desk, "--dry-run", expect=1), person.lace("update", desk, expect=1)
    paths = [clash["path"] for clash in done["conflicts"]]
    assert [clash["path"] for clash in planned["conflicts"]] == paths
    return paths
