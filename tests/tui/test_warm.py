"""What is loaded behind the first frame, so that the first key does not wait for it (APP-3)."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from lace_tui.app.lace import LaceApp
from tests.tui.conftest import settle


@pytest.mark.parametrize("module", ["lace_tui.app.places", "lace_tui.model.deeds"])
async def test_the_other_places_are_loaded_once_the_vault_was_read(
    app: LaceApp, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tidying of imports had left nothing of it: the first key that went to another place waited for all of them."""
    room, _, name = module.rpartition(".")
    monkeypatch.setattr(sys.modules[room], name, import_module(module))  # so that it is put back with the next line
    monkeypatch.delitem(sys.modules, module)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert module in sys.modules
