"""Fixtures that several of the fault tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.hostile import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)
