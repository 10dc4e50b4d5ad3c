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


@pytest.mark.parametrize("column", ["before", "after"])
def test_a_note_of_a_cut_off_update_that_rotted_hides_no_status(shelf: Shelf, column: str) -> None:
    """APP-13: `status` told nothing of any desk; that the update was cut off stands in the row all the same."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    desks = alice.lace("status")["desks"]
    cell = next(cell for cell in cells.of("unfinished") if cell.column == column)
    assert cells.rot(cell, "R" + str(cell.value)[1:])
    assert alice.lace("status")["desks"] == desks
    assert alice.lace("fsck", expect=1)["bad"]
    assert alice.run("update", "words").code == 41


@pytest.mark.parametrize(
    ("table", "column", "value", "words"),
    [("peer_vector", "seq", -3, ["status"]), ("tomb", "hash", "P" + "A" * 43, ["prune", "--dry-run"])],
)
def test_a_value_that_names_nothing_ends_no_command(
    shelf: Shelf, table: str, column: str, value: str | int, words: list[str]
) -> None:
    """APP-13, APP-14: `status` stopped as a fault of lace, and a prune blamed the program of whoever wrote a record."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    assert cells.rot(next(cell for cell in cells.of(table) if cell.column == column), value)
    assert alice.run(*words).code == 0
    alice.run("fsck", "--repair")
    assert alice.lace("fsck")["bad"] == []


@pytest.mark.parametrize("column", ["before", "after"])
@pytest.mark.parametrize("letter", [0, 9])
def test_what_a_rotted_note_of_a_cut_off_update_stops_names_the_way_out(shelf: Shelf, column: str, letter: int) -> None:
    """APP-13: one letter of it that still makes a hash sent a person to friends, who have nothing to give."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    cell = next(cell for cell in cells.of("unfinished") if cell.column == column)
    value = str(cell.value)
    other = "0" if value[letter] == "1" else "1"
    assert cells.rot(cell, value[:letter] + other + value[letter + 1 :])
    for words in (["prune", "--dry-run"], ["prune"], ["update", "words"], ["update", "words", "--dry-run"]):
        error = alice.lace(*words, expect=41)["error"]
        assert (error["code"], error["hint"]) == ("store-damaged", "Run: lace fsck --repair"), words
    assert alice.run("fsck", "--repair").code in {0, 1}
    for words in (["prune", "--dry-run"], ["update", "words"]):
        assert alice.run(*words).code == 0, words


@pytest.mark.parametrize("table", TABLES)
def test_a_cell_that_rotted_ends_no_command_for_good(shelf: Shelf, table: str) -> None:
    """APP-13, APP-14: commands ended as a fault of lace, also after the repair."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    draw = random.Random(table)
    cell = draw.choice(cells.of(table))
    assert cells.rot(cell, draw.choice(list(rotten(cell.value)))) or table == "place"
    assert cells.faults() == [], cell
