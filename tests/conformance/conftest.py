"""Every road in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.roads import ROADS, Road, chosen_roads
from tests.people import Person


@pytest.fixture(params=chosen_roads())
def road(request: pytest.FixtureRequest, tmp_path: Path, alice: Person, bob: Person, cara: Person) -> Iterator[Road]:
    with ROADS[request.param](tmp_path) as made:
        made.equip(alice, bob, cara)
        yield made
