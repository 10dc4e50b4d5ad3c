"""`lace report`: the list, one report, a page, a file for spreadsheets (APP-9, APP-10)."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from lace_tui.cli.output import Paint
from lace_tui.verbs.exporting import csv_of, rows_text
from spark_export.audits import AUDITS
from spark_export.errors import ExtraMissing, NoSuchReport
from spark_export.reports import Report, audit_called
from tests.people import Person


def _begin(person: Person) -> None:
    person.write("a.txt", "a\n")
    person.lace("init", "--name", person.name)
    person.lace("release", "1.0.0", "-m", "=HYPERLINK(1)")


def test_the_list_needs_no_vault_and_no_spark(alice: Person) -> None:
    assert [row["name"] for row in alice.lace("report")["reports"]] == [audit.name for audit in AUDITS]
    assert "releases" in alice.text("report", "--list")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--list", "--html", "x.html"], "--html goes with the NAME of a report"),
        (["--csv", "x.csv"], "--csv goes with the NAME of a report"),
        (["--input", "nowhere"], "--input goes with the NAME of a report"),
        (["--master", "local"], "--master goes with the NAME of a report"),
        (["--remote", "sc://x:1"], "--remote goes with the NAME of a report"),
        (["releases", "--list"], "either a NAME or --list"),
        (["releases", "--master", "local", "--remote", "sc://x:1"], "either --master or --remote"),
    ],
)
def test_what_would_have_no_effect_on_a_report_is_refused(alice: Person, words: list[str], told: str) -> None:
    """APP-14: the questions were listed, no file was written, and it ended with 0."""
    _begin(alice)
    error = alice.lace("report", *words, expect=2)["error"]
    assert (error["code"], error["message"]) == ("bad-arguments", f"lace report: {told}.")


def test_an_unknown_name_is_told_before_spark_starts(alice: Person) -> None:
    _begin(alice)
    assert alice.lace("report", "nonsense", expect=2)["error"]["code"] == NoSuchReport.code


def test_without_pyspark_one_sentence_says_what_to_install(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-10: the history is exported before Spark is missed."""
    _begin(alice)
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> object:
        if name.split(".", maxsplit=1)[0] == "pyspark":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    told = alice.lace("report", "releases", expect=15)
    assert told["error"]["code"] == ExtraMissing.code
    assert "pyspark" in told["error"]["message"]


def test_a_number_below_zero_is_a_number_and_a_text_like_a_formula_is_none() -> None:
    """APP-9: in a table a spreadsheet reads; a person reads every text as it is."""
    report = Report(audit_called("releases"), ("seconds", "who", "all"), ((-576.4, "-x", ["=1", "b"]), (-3, None, [])))
    assert csv_of(report).splitlines() == ["seconds,who,all", "-576.4,'-x,'=1 b", "-3,,"]
    shown = list(rows_text(report, Paint(is_on=False)))
    assert shown == ["  seconds -576.4  who -x  all =1 b", "  seconds -3  all "]


def _as_written(folder: Path) -> dict[Path, tuple[int, int, int, int]]:
    """Return what is seen of each file once it is written: a look at it may change when it was read last."""
    looked = {path: path.lstat() for path in folder.iterdir()}
    return {path: (one.st_mode, one.st_ino, one.st_size, one.st_mtime_ns) for path, one in looked.items()}


@pytest.mark.parametrize("option", ["--csv", "--html"])
def test_what_is_no_report_is_never_written_over(alice: Person, tmp_path: Path, option: str) -> None:
    """APP-9, APP-13: a note, a pipe, a link and a folder stay as they are, and it is told before Spark starts."""
    _begin(alice)
    other = tmp_path / "note.md"
    other.write_text("mine\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "loose").symlink_to(tmp_path / "not there yet")
    alike = tmp_path / "alike"  # the table of another report, and a page by somebody else
    alike.write_text("member,node,number,problem,proof\n" if option == "--csv" else "<!doctype html>\n<html></html>\n")
    before = _as_written(tmp_path)
    for name in ("note.md", "pipe", "folder", "link", "loose", "alike"):
        result = alice.run("--json", "report", "releases", option, str(tmp_path / name))
        assert (result.code, result.json["error"]["code"]) == (2, "file-exists"), name
        assert "Spark" not in result.err
    assert _as_written(tmp_path) == before
    assert other.read_text() == "mine\n"


@pytest.mark.parametrize("made", [False, True])
def test_a_directory_without_an_export_is_no_damage(alice: Person, tmp_path: Path, made: bool) -> None:
    """APP-5: a word typed wrong ended with 45, as damaged data does."""
    _begin(alice)
    if made:
        (tmp_path / "past").mkdir()
    error = alice.lace("report", "missing", "--input", str(tmp_path / "past"), expect=2)["error"]
    assert (error["code"], error["hint"]) == ("no-export", "Make one with: lace export DIR")
