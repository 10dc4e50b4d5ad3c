"""What the scenarios of the conformance suite ask of people, by commands only."""

from __future__ import annotations

import random

from tests.conformance.roads import Road
from tests.people import Person

__all__ = ["noise", "records", "settle", "whole"]


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def records(person: Person) -> set[str]:
    """Return all that a person shares by now: on every road the sets are equal in the end."""
    found = person.run("record", "export", "shared")
    assert found.code == 0
    checked = person.stream("record", "verify", "-", stdin=found.out)
    assert all(line["ok"] for line in checked)
    return {line["hash"] for line in checked}


def settle(road: Road, *people: Person) -> None:
    """Let everybody visit until nothing is new for anybody; check that they then hold the same."""
    for _ in range(4):
        if not sum(road.sync(person, expect=0)["received"] for person in people):
            break
    sets = [records(person) for person in people]
    assert all(found == sets[0] for found in sets)
    vectors = [person.lace("vectors")["vectors"]["self"] for person in people]
    assert all(vector == vectors[0] for vector in vectors)


def whole(person: Person) -> bool:
    """Tell whether a person's vault is sound, whatever lies on the medium."""
    found = person.run("--json", "fsck").json
    return all(bad["kind"] == "place" for bad in found["bad"])
