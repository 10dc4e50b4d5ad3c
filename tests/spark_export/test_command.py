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


@pytest.mark.usefixtures("spark")
def test_a_report_is_written_again_over_its_own_files(alice: Person) -> None:
    """APP-9: whoever asks each week keeps one name, and no other file is taken for one of lace's."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    files = ("--csv", "../r.csv", "--html", "../r.html")
    alice.lace("report", "releases", *files)
    alice.lace("release", "2.0.0")
    assert alice.lace("report", "releases", *files)["written"] == ["../r.html", "../r.csv"]
    table, page = (alice.folder.parent / name for name in ("r.csv", "r.html"))
    assert len(table.read_text().splitlines()) == 3
    assert "2.0.0" in page.read_text()
    for words in (("chains", "--csv", "../r.csv"), ("releases", "--csv", "../new", "--html", "../new")):
        assert alice.lace("report", *words, expect=2)["error"]["code"] == "file-exists"
