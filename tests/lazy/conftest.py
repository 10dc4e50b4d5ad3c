"""What several modules of tests here begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lazy.three import contested
from tests.shelf import Shelf
from vault.vault import Vault


@pytest.fixture
def three(shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Alice and bob, who released different content under one version, and cara, who knows of it and turns on them."""
    alice, bob, cara = shelf.lay(contested)
    yield alice, bob, cara
    for vault in (cara, bob, alice):
        vault.close()
