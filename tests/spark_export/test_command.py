"""`lace report` over exports of a real vault, in this process, whose Spark it shares (APP-9)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.people import Person


@pytest.mark.usefixtures("spark")
def test_one_report_as_rows_and_a_table(alice: Person) -> None:
    """Nothing a spreadsheet would run reaches the file; an older export of a member is named."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0", "-m", "=HYPERLINK(1)")
    for place in ("../past", "../stick"):
        alice.lace("export", place)
    given = ("--input", "../past", "--input", "../stick")
    told = alice.lace("report", "releases", *given, "--csv", "r.csv")
    (row,) = told["rows"]
    assert (row["version"], row["released_by"], row["holders"]) == ("1.0.0", "alice", 1)
    assert told["written"] == ["r.csv"]
    (left,) = told["left_out"]
    assert left["name"] == "alice"
    assert [Path(left[name]).name for name in ("read", "directory")] == ["past", "stick"]
    with Path(alice.folder / "r.csv").open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["message"] == "'=HYPERLINK(1)"
