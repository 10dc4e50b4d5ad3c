"""A letter that rots in a cell that no record carries ends no command for good; whole: python -m tests.faults.cells."""

from __future__ import annotations

import random

import pytest

from tests.faults.cells import TABLES, Cells, grown, rotten
from tests.shelf import Shelf


@pytest.mark.parametrize(("column", "value"), [("node", "T" + "z" * 48), ("tai", "1796028327~347187306")])
def test_a_request_that_rotted_hides_no_other(shelf: Shelf, column: str, value: str) -> None:
    """APP-13, APP-14: `requests` ended with 40, and blamed the program of whoever asked."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    count = len(alice.lace("requests")["requests"])
    cell = next(cell for cell in cells.of("request") if cell.column == column)
    assert cells.rot(cell, value)
    found = alice.lace("requests")["requests"]
    assert (len(found), [row["words"] is None or row["time"] is None for row in found].count(True)) == (count, 1)
    told = alice.run("requests").text
    assert (told.count("To admit: "), told.count("is damaged: lace fsck --repair")) == (count - 1, 1)
    alice.run("fsck", "--repair")
    assert "damaged" not in alice.run("requests").text


@pytest.mark.parametrize("table", TABLES)
def test_a_cell_that_rotted_ends_no_command_for_good(shelf: Shelf, table: str) -> None:
    """APP-13, APP-14: commands ended as a fault of lace, also after the repair."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    draw = random.Random(table)
    cell = draw.choice(cells.of(table))
    assert cells.rot(cell, draw.choice(list(rotten(cell.value)))) or table == "place"
    assert cells.faults() == [], cell
