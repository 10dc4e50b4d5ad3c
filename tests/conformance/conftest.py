"""Every road in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.roads import Road, chosen_roads, road_in
from tests.people import Person
from tests.shelf import Shelf


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of a road to one process, which lets people meet on it once."""
    for item in items:
        name = getattr(item, "callspec", None) and item.callspec.params.get("road")  # type: ignore[attr-defined]
        if name and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group(f"road {name}"))


@pytest.fixture(params=chosen_roads())
def road(
    request: pytest.FixtureRequest, tmp_path: Path, shelf: Shelf, alice: Person, bob: Person, cara: Person
) -> Iterator[Road]:
    with road_in(tmp_path, request.param, shelf) as made:
        made.equip(alice, bob, cara)
        yield made
