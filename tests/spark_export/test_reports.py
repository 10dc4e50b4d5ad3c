"""Every audit on a real Spark session: what was planted is found, and nothing else (APP-9)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_export.audits import AUDITS
from spark_export.errors import BadExport, NoSuchReport
from spark_export.html import page
from spark_export.naming import distinct
from spark_export.reports import Report, audit_called, open_exports, run
from tests.people import Person
from tests.spark_export import begin, every_report, meet, release_text, rows_of, sync
from tests.spark_export.groups import Group, make_group
from vault.suite import SigningKey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FINDING = [audit.name for audit in AUDITS if audit.finds]


def _proofs(report: Report) -> set[str]:
    column = "missing" if report.audit.name == "missing" else "proof"
    return {str(row[column]) for row in report.as_objects()}


def test_every_planted_fault_is_found_and_no_other(faulty: Group, faulty_reports: dict[str, Report]) -> None:
    """APP-9: equivocation, gap, forged signature, missing record, silent conflict, broken chain, rollback."""
    assert set(faulty.planted) == set(_FINDING), "each finding report has its planted fault"
    for name in _FINDING:
        assert _proofs(faulty_reports[name]) == faulty.planted[name], name


def test_every_report_has_the_columns_that_its_table_is_known_by(faulty_reports: dict[str, Report]) -> None:
    """APP-9: a file with others is not written over."""
    told = {name: " ".join(report.columns) for name, report in faulty_reports.items()}
    assert told == {audit.name: audit.columns for audit in AUDITS}


def test_an_honest_group_has_no_finding(spark: SparkSession, honest: Group) -> None:
    """APP-9: no false finding; everybody has everything."""
    reports = every_report(spark, honest.directory)
    assert {name: reports[name].rows for name in _FINDING} == dict.fromkeys(_FINDING, ())
    assert reports["lacking"].rows == reports["endangered"].rows == reports["divergence"].rows == ()
    assert {row["holders"] for row in reports["releases"].as_objects()} == {8}
    assert len(reports["releases"].rows) == 24


def test_a_real_circle(spark: SparkSession, circle: tuple[Path, list[Person]]) -> None:
    """APP-9: the same audits over vaults that went through the real program."""
    directory, people = circle
    reports = every_report(spark, directory)
    assert {name: reports[name].rows for name in _FINDING} == dict.fromkeys(_FINDING, ())
    released = {(row["version"], row["released_by"]) for row in reports["releases"].as_objects()}
    assert released == {("1.0.0", "alice"), ("1.1.0", "alice"), ("1.1.0", "bob")}
    (conflict,) = reports["conflicts"].as_objects()
    assert (conflict["version"], conflict["state"], conflict["decided_by"]) == ("1.1.0", "proposed", ["alice"])
    assert [(row["member"], row["admitted_by"]) for row in reports["membership"].as_objects()] == [
        ("alice", None),
        ("bob", "alice"),
    ]
    arrived = {(row["version"], row["arrived_at"], row["road"]) for row in reports["propagation"].as_objects()}
    assert arrived == {("1.0.0", "bob", "drop"), ("1.1.0", "bob", "drop"), ("1.1.0", "alice", "drop")}
    assert all(row["seconds"] >= 0 for row in reports["propagation"].as_objects())
    own = people[0].lace("vectors")["vectors"]["self"]
    told = {row["about"]: row["seq"] for row in reports["vectors"].as_objects() if row["member"] == "alice"}
    assert sorted(told.values()) == sorted(entry["seq"] for entry in own.values())


def test_a_decision_holds_once_everybody_took_it_in(
    spark: SparkSession, alice: Person, bob: Person, tmp_path: Path
) -> None:
    """APP-9, LAZ-42: what one of them had decided was told as resolved while it was open for the other."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    meet(alice, bob, tmp_path / "stick")
    for person in (bob, alice):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "1.1.0")
    sync(alice, bob)
    states = []
    for person, words in ((alice, ("--prefer", "bob")), (bob, ("--accept",))):
        person.lace("resolve", "1.1.0", *words)
        sync(alice, bob)
        for each in (alice, bob):
            each.lace("export", str(tmp_path / "out"))
        open_exports(spark, [tmp_path / "out"])
        states += [row["state"] for row in run(spark, audit_called("conflicts")).as_objects()]
    assert states == ["proposed", "resolved"]


def test_two_decisions_end_with_a_decision_on_both(
    spark: SparkSession, alice: Person, bob: Person, tmp_path: Path
) -> None:
    """APP-9, LAZ-42: two decided one version differently, and though both were decided since that seemed to wait."""
    begin(alice)
    meet(alice, bob, tmp_path / "stick")
    bob.lace("update")

    def states() -> list[tuple[str, str, str | None]]:
        sync(alice, bob)
        for each in (alice, bob):
            each.lace("export", str(tmp_path / "out"))
        open_exports(spark, [tmp_path / "out"])
        rows = run(spark, audit_called("conflicts")).as_objects()
        return [(row["version"], row["state"], row["ended_by"]) for row in rows]

    for person in (alice, bob):
        release_text(person, "2.0.0", f"{person.name}\n")
    sync(alice, bob)
    for person in (alice, bob):
        person.write("a.txt", f"both, says {person.name}\n")
        person.lace("resolve", "2.0.0", "--merged", "2.1.0", "--yes")
    assert states() == [("2.0.0", "decided twice", None), ("2.1.0", "open", None)]
    alice.lace("resolve", "2.1.0", "--prefer", "bob")
    assert states() == [("2.0.0", "proposed", "2.1.0"), ("2.1.0", "proposed", None)]
    bob.lace("resolve", "2.1.0", "--accept")
    assert states() == [("2.0.0", "ended", "2.1.0"), ("2.1.0", "resolved", None)]


def test_two_of_one_name_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: friends of one name were one, and the picture of vectors had the row of only one of them."""
    make_group(tmp_path, members=3, releases=1, labels=["alice", "bob", "alice"])
    open_exports(spark, [tmp_path])
    belong = run(spark, audit_called("membership")).as_objects()
    called = {row["node"]: row["member"] for row in belong}
    assert {name for node, name in called.items() if name != "bob"} == {
        f"alice-{node[2:8]}" for node, name in called.items() if name != "bob"
    }
    assert [row["admitted_by"] for row in belong] == [None, belong[0]["member"], belong[0]["member"]]
    vectors = run(spark, audit_called("vectors"))
    assert len({(row["member"], row["about"]) for row in vectors.as_objects()}) == 9
    assert "".join(page("band", [vectors], exporters=3)).count("<rect") == 9


def test_a_name_beside_a_key_is_no_way_to_take_one() -> None:
    """APP-9: who calls themselves as two others are told apart by is told by their key."""
    first, second, third = f"V.AAAAAA{'x' * 10}", f"V.BBBBBB{'x' * 10}", f"V.CCCCCC{'x' * 10}"
    told = distinct({first: "bob", second: "bob", third: "bob-AAAAAA"})
    assert told == {first: first, second: "bob-BBBBBB", third: third}


@pytest.mark.parametrize(("off", "states"), [(0, ["open"]), (1, [])])
def test_what_a_revocation_cut_off_decides_nothing(
    spark: SparkSession, alice: Person, bob: Person, tmp_path: Path, off: int, states: list[str]
) -> None:
    """APP-9: a conflict stood there as settled by a decision that counts for nobody; who went has a name."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    meet(alice, bob, tmp_path / "stick")
    for person in (bob, alice):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "1.1.0")
    sync(alice, bob)
    mine = bob.lace("id")["node"]
    (own,) = (int(str(row["seq"])) for row in rows_of(bob, "releases") if row["node"] == mine)
    bob.lace("resolve", "1.1.0", "--prefer", "alice")
    sync(alice, bob)
    alice.lace("revoke", "bob", "--last", str(own - off), "--yes")
    alice.lace("export", str(tmp_path / "out"), "--unshared")
    open_exports(spark, [tmp_path / "out"])
    assert [row["state"] for row in run(spark, audit_called("conflicts")).as_objects()] == states
    (_, gone) = run(spark, audit_called("membership")).as_objects()
    assert (gone["member"], gone["last_seq"], gone["revoked_by"]) == ("bob", own - off, "alice")
    assert run(spark, audit_called("signatures")).rows == ()


def test_who_revoked_themselves_or_went_on_is_told_so(
    spark: SparkSession, alice: Person, bob: Person, tmp_path: Path
) -> None:
    """APP-9: of who revokes themselves the entry that says so counts last; before an adoption another key sealed."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0", "-m", "f\u00fcnf\nzeilen")
    meet(alice, bob, tmp_path / "stick")
    alice.lace("export", str(tmp_path / "out"))
    bob.lace("revoke", "self", "--yes")
    sync(alice, bob)
    alice.lace("adopt", "--yes")
    alice.lace("export", str(tmp_path / "out"))
    inputs = open_exports(spark, [tmp_path / "out"])
    ((old, new),) = inputs.left_out
    assert [placed.manifest.exporter for placed in inputs.read] == [new.manifest.exporter]
    told = alice.run("report", "vectors", "--input", str(tmp_path / "out")).text
    line = f"for its vault went on as {new.manifest.exporter}, whose export lies there too and is read."
    assert (line in told, told.count(str(tmp_path / "out"))) == (True, 1), "the directory was named twice, no key"
    (left,) = alice.lace("report", "vectors", "--input", str(tmp_path / "out"))["left_out"]
    assert (left["exporter"], left["newer_key"]) == (old.manifest.exporter, new.manifest.exporter)
    for name in _FINDING:
        assert run(spark, audit_called(name)).rows == (), name
    rows = {row["node"]: row for row in run(spark, audit_called("membership")).as_objects()}
    gone = rows[bob.lace("id")["node"]]
    assert (gone["member"], gone["revoked_by"], gone["last_seq"] > 0) == ("bob", "bob", True)
    assert {row["member"] for row in rows.values()} == {"bob", *(f"alice-{n[2:8]}" for n in rows if n != gone["node"])}


def test_nobody_is_called_by_the_key_of_another() -> None:
    """APP-9: whose first three names are taken is shown as their key, and another card gave that as a name."""
    shown = SigningKey(bytes(31) + b"\x01").verifier.text
    said = {shown: "bob", "V.first": "bob", "V.second": f"bob-{shown[2:8]}", "V.third": shown}
    told = distinct(said)
    assert len(set(told.values())) == len(said)
    assert (told[shown], told["V.third"]) == (shown, "V.third")


def test_a_page_of_exports_that_are_not_whole_gives_no_all_clear(faulty_reports: dict[str, Report]) -> None:
    """APP-9: the page is what is handed on, and the terminal alone told what was left out."""
    sound = [report._replace(rows=()) for report in faulty_reports.values()]
    note = "Left out: the export of <bob>, for it is broken."
    text = "".join(page("band", sound, exporters=2, notes=[note], is_whole=False))
    assert "Nothing was found that needs your eye" not in text
    assert "&lt;bob&gt;, for it is broken" in text
    assert "Nothing was found that needs your eye" in "".join(page("band", sound, exporters=2))


def test_html_shows_every_report_and_no_foreign_markup(faulty_reports: dict[str, Report]) -> None:
    """Names and messages of others are inert in the page."""
    reports = list(faulty_reports.values())
    evil = Report(audit_called("releases"), ("released_by", "released", "desk", "version"), (
        ("<script>alert(1)</script>\u202e", "2026-01-01T00:00:00Z", "main", "1.0.0"),
    ))  # fmt: skip
    text = "".join(page("<b>group", [*reports[1:], evil], exporters=8))
    assert "<script" not in text
    assert "<b>group" not in text
    assert "\u202e" not in text
    assert text.count("<svg") == 3
    for audit in AUDITS:
        assert audit.question.replace("'", "&#x27;") in text
    assert "://" not in text, "the page needs nothing else"


def test_an_unknown_report_names_the_known_ones() -> None:
    with pytest.raises(NoSuchReport, match="equivocation"):
        audit_called("nonsense")


def test_an_older_export_of_a_member_is_left_out(spark: SparkSession, alice: Person, tmp_path: Path) -> None:
    """APP-9: a copy on a stick accuses nobody and doubles no row, whichever is named first."""
    older, newer = places = [tmp_path / "older", tmp_path / "newer"]
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    for number, place in enumerate(places):
        alice.lace("release", f"1.{number}.0")
        alice.write("a.txt", f"{number}\n")
        alice.lace("export", str(place))
    for named, left in (([older, newer], [older]), ([newer, older], [older]), ([newer, newer], [])):
        inputs = open_exports(spark, named)
        assert [placed.directory for placed in inputs.read] == [newer]
        assert [old.directory for old, _ in inputs.left_out] == left
        assert run(spark, audit_called("chains")).rows == ()
        told = run(spark, audit_called("releases")).as_objects()
        assert sorted(row["version"] for row in told) == ["1.0.0", "1.1.0"]


def test_a_directory_is_called_as_it_is_called(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: Spark took `[1]` in a name for one of several, found nothing, and `*` doubled the rows."""
    for name in ("1", "history [1]", "{a,b}", "a*", "a?", "open[", "a\\b"):
        make_group(tmp_path / name, members=1, releases=1)
    for place in tmp_path.iterdir():
        open_exports(spark, [place])
        assert spark.table("members").count() == 1, place.name


def test_two_groups_are_not_mixed(spark: SparkSession, honest: Group, tmp_path: Path) -> None:
    other = make_group(tmp_path, members=2, releases=1, seed=7)
    with pytest.raises(BadExport, match="2 groups"):
        open_exports(spark, [honest.directory, other.directory])
