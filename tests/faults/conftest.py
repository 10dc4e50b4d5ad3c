"""Fixtures that several of the fault tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.circle import befriended
from tests.faults.hostile import Scene
from tests.shelf import Shelf


@pytest.fixture
def scene(tmp_path: Path, shelf: Shelf) -> Scene:
    alice, mallory = shelf.lay(befriended, "mallory")
    return Scene(tmp_path, alice, mallory)
