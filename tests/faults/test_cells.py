"""A letter that rots in a cell that no record carries ends no command for good; whole: python -m tests.faults.cells."""

from __future__ import annotations

import random

import pytest

from tests.faults.cells import TABLES, Cells, grown, rotten
from tests.shelf import Shelf


@pytest.mark.parametrize("table", TABLES)
def test_a_cell_that_rotted_ends_no_command_for_good(shelf: Shelf, table: str) -> None:
    """APP-13, APP-14: commands ended as a fault of lace, also after the repair."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    draw = random.Random(table)
    cell = draw.choice(cells.of(table))
    assert cells.rot(cell, draw.choice(list(rotten(cell.value)))) or table == "place"
    assert cells.faults() == [], cell
