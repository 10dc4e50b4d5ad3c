"""A desk for each test of desks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.desks.support import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty desk."""
    root = tmp_path / "desk"
    root.mkdir()
    return Desk(root)
