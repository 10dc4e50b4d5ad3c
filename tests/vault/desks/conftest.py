"""A desk for each test of desks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.desks.support import Desk, ManyObjects
from vault.desks.memory import MemoryObjects


def _made(tmp_path: Path) -> Desk:
    root = tmp_path / "desk"
    root.mkdir()
    return Desk(root)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty desk."""
    return _made(tmp_path)


@pytest.fixture(params=[MemoryObjects, ManyObjects], ids=["singly", "at-once"])
def desk_of_each_kind(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    """An empty desk, asked for its objects singly, and for many at once as a store is."""
    made = _made(tmp_path)
    made.objects = request.param()
    return made
