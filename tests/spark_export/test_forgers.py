"""Whoever exports can write what they like: nothing of it counts for others without their signature (APP-9)."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from spark_export.audits import AUDITS
from spark_export.errors import BadExport, SparkFailed
from spark_export.html import page
from spark_export.inputs import exports_in
from spark_export.reports import Report, audit_called, open_exports, run
from spark_export.schema import table_named
from tests.people import Person
from tests.spark_export import every_report
from tests.spark_export.groups import Faults, make_group
from vault.profile import Member
from vault.records import RecordHash, Seal, Tai, Verifier, parse_record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]


class Forged(NamedTuple):
    """What every audit says of forged exports.

    Args:
        reports: by name.
        forger: the name of who forged.
        proofs: hashes of what was forged.
    """

    reports: dict[str, Report]
    forger: str
    proofs: set[str]


class _Forger:
    """The last exporter of a directory, who adds rows to their own files and sums them anew."""

    def __init__(self, directory: Path) -> None:
        self.manifest = sorted((directory / "exports").iterdir())[-1]
        self.directory, self.node = directory, self.manifest.stem

    def _path(self, table: str) -> Path:
        (path,) = (self.directory / table / self.node).iterdir()
        return path

    @property
    def name(self) -> str:
        """What the others call them."""
        return next(str(row["name"]) for row in self.rows("members") if row["node"] == row["exporter"])

    def rows(self, table: str) -> list[Row]:
        """Return what the export says."""
        found: list[Row] = pq.read_table(self._path(table)).to_pylist()
        return found

    def add(self, table: str, like: Row, **other: Any) -> None:
        """Add a row that is like another one, and differs from it."""
        path = self._path(table)
        whole = pq.read_table(path)
        pq.write_table(pa.concat_tables([whole, pa.Table.from_pylist([like | other], whole.schema)]), path)
        self._sum(path, len(whole) + 1)

    def replace(self, table: str, rows: list[Row]) -> None:
        """Write other rows in place of a table's."""
        path = self._path(table)
        pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(path)), path)
        self._sum(path, len(rows))

    def put(self, table: str, change: Callable[[bytes], bytes]) -> Path:
        """Change the bytes of a table, and return where they lie."""
        path = self._path(table)
        path.write_bytes(change(path.read_bytes()))
        try:
            rows = pq.read_metadata(path).num_rows
        except pa.ArrowInvalid:
            rows = 1
        self._sum(path, rows)
        return path

    def _sum(self, path: Path, rows: int) -> None:
        value = json.loads(self.manifest.read_text())
        stored = path.read_bytes()
        name = path.relative_to(self.directory).as_posix()
        value["files"][name] = [rows, len(stored), blake3(stored).hexdigest()]
        self.manifest.write_text(json.dumps(value))


def _made_up(kind: str, text: str) -> str:
    return RecordHash(kind, blake3(text.encode()).digest()).text


@pytest.fixture(scope="module")
def forged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Forged:
    """An honest group with a forger, who needs no key but their own."""
    directory = tmp_path_factory.mktemp("forged")
    make_group(directory, members=3, releases=2)
    forger = _Forger(directory)
    entry = next(row for row in forger.rows("log") if row["exporter"] != row["node"] and row["seq"] == 2)
    release, *_ = forger.rows("releases")
    member = next(row for row in forger.rows("members") if row["hash"])
    record = next(row for row in forger.rows("records") if row["hash"] == entry["hash"])

    names = {word: _made_up("S", word) for word in ("entry", "far entry", "release", "member")}
    forger.add("log", entry, hash=names["entry"], plex=_made_up("P", "entry"))
    forger.add("log", entry, hash=names["far entry"], plex=_made_up("P", "far entry"), seq=99)
    forger.add("log", entry, seq=entry["seq"] + 1)  # what another one signed, under a number that they did not
    forger.add("releases", release, hash=names["release"], version="9.9.9")
    forger.add("releases", release, content_sha512="sha512:" + "0" * 128)  # nor did they release that
    forger.add("members", member, hash=names["member"], node=_stranger(entry["node"]))
    seal = parse_record(record["bytes"])
    assert isinstance(seal, Seal)
    unsigned = Seal(seal.signer, bytes(64), seal.plex)
    whole = {"hash": unsigned.hash.text, "plex": seal.plex.hash.text}
    forger.add("records", record, **whole, bytes=unsigned.encode())
    vector, *_ = forger.rows("vectors")
    forger.add("vectors", vector, holder=entry["node"], node=entry["node"], seq=99)
    proofs = {*names.values(), entry["hash"], release["hash"], unsigned.hash.text}
    for seq in (entry["seq"], 77):  # a row in both tables, so that one seems to prove the other
        both = {"hash": _made_up("S", f"both {seq}"), "plex": _made_up("P", f"both {seq}")}
        forger.add("records", record, name=str(seq), **both)
        forger.add("log", entry, seq=seq, **both)
        proofs.add(both["hash"])
    return Forged(every_report(spark, directory), forger.name, proofs)


def _stranger(node: str) -> str:
    return node[:-8] + "A" * 8


def _of_text(stored: bytes) -> bytes:
    """Return the table with texts where numbers belong."""
    whole = pq.read_table(io.BytesIO(stored))
    sink = io.BytesIO()
    at = whole.schema.get_field_index("seq")
    pq.write_table(whole.set_column(at, "seq", pa.array(["many"] * len(whole))), sink)
    return sink.getvalue()


def _without_pages(stored: bytes) -> bytes:
    """Return the table with its end, which says what there is, and zeros for all rows."""
    end = len(stored) - 8 - int.from_bytes(stored[-8:-4], "little")
    return stored[:4] + bytes(end - 4) + stored[end:]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("change", [lambda _: b"xxxxx", _of_text, _without_pages], ids=["none", "types", "pages"])
@pytest.mark.parametrize("table", ["log", "vectors"])
def test_a_file_that_is_no_table_is_named(
    alice: Person, tmp_path: Path, table: str, change: Callable[[bytes], bytes]
) -> None:
    """APP-9, APP-14: a raw trace of Python and Java, and 1, which says that something was found."""
    make_group(tmp_path / "out", members=1, releases=1)
    path = _Forger(tmp_path / "out").put(table, change)
    told = alice.lace("report", {"log": "gaps"}.get(table, table), "--input", str(tmp_path / "out"), expect=45)["error"]
    assert (told["code"], str(path) in told["message"]) == (BadExport.code, True)


@pytest.mark.usefixtures("spark")
def test_one_broken_export_is_left_out_and_named(alice: Person, tmp_path: Path) -> None:
    """APP-9: a file of one member that was copied in part blocked every report of all others."""
    make_group(tmp_path / "out", members=3, releases=1)
    forger = _Forger(tmp_path / "out")
    node, path = forger.rows("audit")[0]["exporter"], forger.put("log", bytes)
    path.write_bytes(path.read_bytes()[:-9])
    told = alice.lace("report", "vectors", "--input", str(tmp_path / "out"))
    (left,) = told["left_out"]
    assert (left["exporter"], left["read"], str(path) in left["problem"]) == (node, None, True)
    assert len({row["member"] for row in told["rows"]}) == 2
    assert len(told["rows"]) == 6


@pytest.mark.usefixtures("spark")
def test_one_broken_manifest_is_left_out_and_named(alice: Person, tmp_path: Path) -> None:
    """APP-9: that of one member blocked every report of all others."""
    make_group(tmp_path / "out", members=3, releases=1)
    path = _Forger(tmp_path / "out").manifest
    path.write_bytes(path.read_bytes()[:-9])
    words = ("report", "vectors", "--input", str(tmp_path / "out"))
    told = alice.lace(*words)
    (left,) = told["left_out"]
    assert (left["exporter"], left["read"], str(path) in left["problem"]) == ("", None, True)
    assert len({row["member"] for row in told["rows"]}) == 2
    assert f"Left out: an export in {tmp_path / 'out'}, for it is broken. {path}" in alice.run(*words).text


@pytest.mark.parametrize("column", ["group", "exporter", "export_id"])
def test_a_row_of_another_export_is_no_part_of_this_one(tmp_path: Path, column: str) -> None:
    """APP-9: a row in a friend's name broke their audit trail, and one of another group stopped every report."""
    make_group(tmp_path, members=2, releases=1)
    forger = _Forger(tmp_path)
    row, table = forger.rows("audit")[0], table_named("audit")
    assert table is not None
    other = {
        "group": "band/0123456789abcdef",
        "exporter": next(one["node"] for one in forger.rows("members") if one["node"] != one["exporter"]),
        "export_id": "another",
    }
    for value in (other[column], None):
        assert exports_in([tmp_path]).broken == ()
        before = forger.put("audit", bytes).read_bytes()
        forger.add("audit", row, number=99, **{column: value})
        inputs = exports_in([tmp_path])
        assert [forger.node in one.problem for one in inputs.broken] == [True]
        assert not any(forger.node in str(path) for path in inputs.files(table))
        forger.put("audit", lambda _, before=before: before)  # type: ignore[misc]


def test_nobody_is_left_out_by_who_has_their_trail(tmp_path: Path) -> None:
    """APP-9: a member put another one's audit rows and an adoption into their own export, and that one was gone."""
    make_group(tmp_path, members=3, releases=1)
    forger = _Forger(tmp_path)
    mine = forger.rows("audit")[-1]
    other = next(path.stem for path in (tmp_path / "exports").iterdir() if path.stem != forger.node)
    theirs = pq.read_table(next((tmp_path / "audit" / other).iterdir())).to_pylist()
    victim = theirs[0]["exporter"]
    own = {name: mine[name] for name in ("exporter", "export_id")}
    forger.replace("audit", [*(row | own for row in theirs), mine | {"verb": "lace-adopt"}])
    record = next(row for row in forger.rows("records") if row["app"] == "lace/member")
    forger.add("records", record, **_says_own(record, victim, mine["exporter"]))
    inputs = exports_in([tmp_path])
    assert (len(inputs.read), inputs.left_out) == (3, ())
    ((first, second),) = inputs.doubled
    assert (first.manifest.exporter, second.manifest.exporter) == (victim, mine["exporter"])


def _says_own(record: Row, signer: str, node: str) -> Row:
    """Return the row of an admission of a key as the signer's own next one, which the signer did not seal."""
    plex = Member.to_plex(
        group=record["group"], node=Verifier.parse(node), label="mine", same_person=True, tai=Tai(1_700_000_000)
    )
    seal = Seal(Verifier.parse(signer), bytes(64), plex)
    return {"hash": seal.hash.text, "plex": plex.hash.text, "name": node, "signer": signer, "bytes": seal.encode()}


def test_a_member_that_is_no_node_stops_no_report(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: by one such row of a friend `conflicts` ended, with a reason that said nothing."""
    make_group(tmp_path, members=2, releases=1)
    forger = _Forger(tmp_path)
    forger.add("members", forger.rows("members")[0], node=None)
    open_exports(spark, [tmp_path])
    assert run(spark, audit_called("conflicts")).rows == ()
    for hash_text in ("one", "two"):
        forger.add("records", forger.rows("records")[0], hash=hash_text, size=_ENDS[0])
    open_exports(spark, [tmp_path])
    with pytest.raises(SparkFailed, match=r"The report endangered could not be run: \[ARITHMETIC_OVERFLOW"):
        run(spark, audit_called("endangered"))


def _with(column: str, value: int | None) -> Callable[[bytes], bytes]:
    """Return what says so in a column of each row."""

    def change(stored: bytes) -> bytes:
        whole = pq.read_table(io.BytesIO(stored))
        at = whole.schema.get_field_index(column)
        told = pa.array([value] * len(whole), whole.schema.field(at).type)
        sink = io.BytesIO()
        pq.write_table(whole.set_column(at, whole.schema.field(at), told), sink)
        return sink.getvalue()

    return change


_ENDS = ((1 << 63) - 1, -(1 << 63))


@pytest.mark.parametrize("time", [None, *_ENDS])
def test_a_page_is_drawn_whatever_a_time_or_a_number_is(spark: SparkSession, tmp_path: Path, time: int | None) -> None:
    """APP-9: a release without a time, or of the year 32103, ended `report --html` with a fault of lace."""
    make_group(tmp_path, members=1, releases=1)
    forger = _Forger(tmp_path)
    forger.put("releases", _with("time", time))
    forger.put("vectors", _with("seq", time))
    open_exports(spark, [tmp_path])
    reports = [run(spark, audit_called(name)) for name in ("releases", "vectors")]
    assert [len(report.rows) for report in reports] == [1, 1]
    released = reports[0].columns.index("released")
    assert reports[0].rows[0][released].startswith("2023-11-"), "the time is the signed one"
    for told in (None, "+32103-01-01T00:00:00Z", ""):
        row = (*reports[0].rows[0][:released], told, *reports[0].rows[0][released + 1 :])
        text = "".join(page("band", [reports[0]._replace(rows=(row,)), reports[1]], exporters=1))
        assert "Releases over time" not in text
        assert text.count("<svg") == 1
        assert text.endswith("</html>\n")


def test_a_finding_stands_on_nobody_elses_name(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: one exporter's `members` put what another had done on the name of a third."""
    make_group(tmp_path, members=3, releases=1, faults=Faults(fork=1))
    forger = _Forger(tmp_path)
    guilty = next(row for row in forger.rows("members") if row["name"] == "member-1")
    open_exports(spark, [tmp_path])
    (told,) = run(spark, audit_called("equivocation")).as_objects()
    assert (told["member"], told["node"]) == ("member-1", guilty["node"])
    forger.add("members", guilty, name="a-friend")
    open_exports(spark, [tmp_path])
    (told,) = run(spark, audit_called("equivocation")).as_objects()
    assert (told["member"], told["node"]) == ("member-1", guilty["node"])


def test_a_trail_is_sealed_by_its_vault(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: an entry that any key at all had sealed fitted; before an adoption another one may have."""
    make_group(tmp_path, members=2, releases=1)
    forger = _Forger(tmp_path)
    (other,) = (path.stem for path in (tmp_path / "exports").iterdir() if path.stem != forger.node)
    foreign = pq.read_table(next((tmp_path / "audit" / other).iterdir())).to_pylist()[0]
    sealed = {name: foreign[name] for name in ("plex", "signer", "signature")}
    last = forger.rows("audit")[-1]
    made_up = _made_up("S", "foreign")
    forger.add("audit", last, number=last["number"] + 1, parent=last["hash"], hash=made_up, **sealed)
    open_exports(spark, [tmp_path])
    (told,) = run(spark, audit_called("chains")).as_objects()
    assert (told["node"], told["problem"], told["proof"]) == (last["exporter"], "another node sealed it", made_up)
    again = {"number": last["number"] + 2, "parent": made_up, "hash": _made_up("S", "adopted"), "verb": "lace-adopt"}
    forger.add("audit", last, **again)
    open_exports(spark, [tmp_path])
    (told,) = run(spark, audit_called("chains")).as_objects()
    assert told["proof"] == made_up, "the key changed without a word"


def test_nobody_is_told_to_have_said_what_they_did_not(spark: SparkSession, tmp_path: Path) -> None:
    """APP-9: time, message, numbers and revocation of a friend were whatever an exporter wrote, and nothing told."""
    make_group(tmp_path, members=3, releases=1)
    forger = _Forger(tmp_path)
    release = next(row for row in forger.rows("releases") if row["node"] != row["exporter"])
    commit = next(row for row in forger.rows("commits") if row["node"] != row["exporter"])
    member = next(row for row in forger.rows("members") if row["hash"] and row["node"] != row["exporter"])
    founder = next(row for row in forger.rows("members") if not row["hash"])
    early = "1000000000:000000000"
    changes: list[tuple[str, Row, Row]] = [
        ("releases", release, {"message": "I stole it"}),
        ("releases", release, {"tai": early}),
        ("releases", release, {"seq": release["seq"] - 1}),
        ("releases", release, {"lamport": release["lamport"] + 1}),
        ("commits", commit, {"message": "I stole it"}),
        ("commits", commit, {"tai": early}),
        ("members", member, {"tai": early}),
        ("members", founder, {"tai": early}),
        ("members", member, {"last_seq": 1, "revoked_by": forger.rows("members")[0]["exporter"]}),
        ("members", founder, {"last_seq": 1, "revoked_by": founder["node"]}),
    ]
    for table, like, other in changes:
        forger.add(table, like, **other)
    open_exports(spark, [tmp_path])
    found = run(spark, audit_called("signatures")).as_objects()
    assert Counter(row["proof"] for row in found) == Counter(
        {release["hash"]: 2, commit["hash"]: 1, member["hash"]: 2, None: 2}
    )
    belong = run(spark, audit_called("membership")).as_objects()
    assert {(row["last_seq"], row["revoked_by"]) for row in belong} == {(None, None)}
    told = run(spark, audit_called("releases")).as_objects()
    assert {row["released"][:7] for row in told} == {"2023-11"}


def test_nobody_is_accused_by_what_they_did_not_sign(forged: Forged) -> None:
    """APP-9: a row of an exporter's own made a friend one who says different things under one number."""
    reports = forged.reports
    finding = [audit.name for audit in AUDITS if audit.finds and audit.name != "signatures"]
    accused = {name: {row.get("member", "") for row in reports[name].as_objects()} for name in finding}
    assert accused == {name: {forged.forger} if name == "silent-conflicts" else set() for name in finding}
    assert reports["conflicts"].rows == ()
    assert {row["version"] for row in reports["releases"].as_objects()} == {
        f"{turn}.{who}.0" for turn in (1, 2) for who in range(3)
    }


def test_what_no_record_proves_is_named(forged: Forged) -> None:
    """APP-9: only rows of `records` were checked, so the report of signatures said that all is well."""
    assert {row["proof"] for row in forged.reports["signatures"].as_objects()} == forged.proofs
