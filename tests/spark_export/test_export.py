"""Tables of a vault: complete, deterministic, incremental, and without what is private (APP-8, APP-10, APP-11)."""

from __future__ import annotations

import importlib
import json
import os
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lace_tui.docs import pages
from spark_export import reader
from spark_export.errors import ExportForeign, ExtraMissing
from spark_export.export import export
from spark_export.inputs import exports_in
from spark_export.manifest import read_manifests
from spark_export.reader import Condition, Scope, VaultReader
from spark_export.schema import COMMON, TABLES, table_named
from tests.people import Person
from tests.spark_export import begin, bytes_below, release_text, table
from vault.lock import alone_in
from vault.records import Seal, parse_record
from vault.store import Store


def test_twice_is_identical_byte_for_byte(alice: Person, tmp_path: Path) -> None:
    """APP-8: into two directories, and over itself."""
    begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    alice.lace("export", str(tmp_path / "two"))
    assert bytes_below(tmp_path / "one") == bytes_below(tmp_path / "two")
    again = alice.lace("export", str(tmp_path / "one"))
    assert again["files_kept"] > 0
    assert bytes_below(tmp_path / "one") == bytes_below(tmp_path / "two")


def test_what_a_killed_export_left_goes_with_the_next(alice: Person, tmp_path: Path) -> None:
    """APP-13: of its manifest, too."""
    begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    before = bytes_below(tmp_path / "one")
    for name in before:
        (tmp_path / "one" / f"{name}.0.tmp").write_bytes(b"half")
    alice.lace("export", str(tmp_path / "one"))
    assert bytes_below(tmp_path / "one") == before


def test_an_export_that_is_cut_off_takes_nothing_from_the_one_before(alice: Person, tmp_path: Path) -> None:
    """APP-8, APP-9: half of its files were new, half old, and nobody over the common directory got a report."""
    begin(alice)
    out, releases = tmp_path / "out", table_named("releases")
    assert releases is not None
    alice.lace("export", str(out))
    before = bytes_below(out)
    release_text(alice, "2.0.0", "new\n")

    def progress(done: int, total: int, _what: str) -> None:
        if done == total:
            raise KeyboardInterrupt

    with VaultReader(alice.folder) as found, pytest.raises(KeyboardInterrupt):
        export(found, out, progress=progress)
    assert before.items() <= bytes_below(out).items()
    inputs = exports_in([out])
    (state,) = inputs.files(releases)
    assert (inputs.broken, len(pq.read_table(state))) == ((), 1)
    alice.lace("export", str(out))
    alice.lace("export", str(tmp_path / "fresh"))
    assert bytes_below(out) == bytes_below(tmp_path / "fresh")


def test_a_second_export_of_the_same_writes_nothing(alice: Person, tmp_path: Path) -> None:
    """APP-8: it said that files were written, though each was as before; a damaged one is written again."""
    begin(alice)
    first = alice.lace("export", str(tmp_path / "one"))
    before = bytes_below(tmp_path / "one")
    again = alice.lace("export", str(tmp_path / "one"))
    assert (again["files_written"], again["bytes_written"], again["files_kept"]) == (0, 0, first["files_written"])
    (state,) = (tmp_path / "one" / "members").rglob("state-*.parquet")
    state.write_bytes(bytes(state.stat().st_size))
    assert alice.lace("export", str(tmp_path / "one"))["files_written"] == 1
    assert bytes_below(tmp_path / "one") == before


def test_a_damaged_part_is_written_again(alice: Person, tmp_path: Path) -> None:
    """APP-8: `report` said to export anew, which kept the part for its size; nor is a link or a pipe one."""
    begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    before = bytes_below(tmp_path / "one")
    (part,) = (tmp_path / "one" / "records").rglob("part-000000-*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    assert alice.lace("export", str(tmp_path / "one"))["files_written"] == 1
    elsewhere = part.replace(tmp_path / "elsewhere")
    part.symlink_to(elsewhere)
    assert alice.lace("export", str(tmp_path / "one"))["files_written"] == 1
    part.unlink()
    os.mkfifo(part)
    (manifest,) = (tmp_path / "one" / "exports").iterdir()
    value = json.loads(manifest.read_text())
    value["files"][part.relative_to(tmp_path / "one").as_posix()][1] = 0  # what the system says of a pipe
    manifest.write_text(json.dumps(value))
    assert alice.lace("export", str(tmp_path / "one"))["files_written"] == 1
    assert (bytes_below(tmp_path / "one"), part.is_symlink()) == (before, False)


def test_two_exports_into_one_directory_wait_for_each_other(alice: Person, tmp_path: Path) -> None:
    """APP-13: each took what the other was writing for leftovers, and one ended with `not-writable`."""
    begin(alice)
    where = tmp_path / "one"
    where.mkdir()
    said: list[str] = []
    with ExitStack() as other:
        other.enter_context(alone_in(where, lambda _seconds: None))

        def progress(_done: int, _total: int, what: str) -> None:
            said.append(what)
            other.close()

        with VaultReader(alice.folder) as reader:
            export(reader, where, progress=progress)
    assert said[0] == "wait for another export into it"
    assert said.count(said[0]) == 1
    assert len(read_manifests(where)[0]) == 1


def test_bit_by_bit_is_the_same_as_at_once(alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-8: incremental by position; full parts are not written again."""
    monkeypatch.setattr("spark_export.reader.PART_POSITIONS", 8)
    begin(alice)
    alice.lace("export", str(tmp_path / "steps"))
    for number in range(1, 5):
        release_text(alice, f"1.{number}.0", f"{number}\n")
        alice.lace("export", str(tmp_path / "steps"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "steps" / "records").rglob("part-000000-*.parquet")}
    release_text(alice, "2.0.0", "last\n")
    told = alice.lace("export", str(tmp_path / "steps"))
    assert before
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert told["files_kept"] > told["files_written"] / 2
    alice.lace("export", str(tmp_path / "once"))
    assert bytes_below(tmp_path / "steps") == bytes_below(tmp_path / "once")


def test_rows_are_every_shared_record_and_its_bytes(alice: Person, tmp_path: Path) -> None:
    """APP-8: sealed records keep their bytes, so that signatures can be checked from the export alone."""
    begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    rows = table(tmp_path / "out", "records")
    with Store(alice.folder / ".vault" / "store.db") as store:
        shared = {record.text for p, record, _ in store.bodies() if store.rows("SELECT 1 FROM shared WHERE p = ?", p)}
    assert {row["hash"] for row in rows} == shared
    for row in rows:
        if row["signer"] is None:
            assert row["app"] in {"lace/data", "lace/tree"}
            assert row["bytes"] is None
            continue
        assert isinstance(row["bytes"], bytes)
        seal = parse_record(row["bytes"])
        assert isinstance(seal, Seal)
        assert (seal.hash.text, seal.plex.hash.text, seal.signer.text) == (row["hash"], row["plex"], row["signer"])
        assert row["time"].isoformat()[:19] == seal.plex.tai.to_utc_iso()[:19]  # type: ignore[attr-defined]
    assert {row["export_id"] for row in rows} == {read_manifests(tmp_path / "out")[0][0].export_id}


def test_nothing_private_unless_asked_for(alice: Person, tmp_path: Path) -> None:
    """APP-8, APP-11: unshared work, audit details and keys stay at home."""
    begin(alice)
    alice.write("diary.txt", "dear diary\n")
    alice.lace("commit", "-m", "a secret thought")
    alice.lace("place", "add", "grandma", str(tmp_path / "stick"))
    alice.lace("export", str(tmp_path / "out"))
    assert "a secret thought" not in {row["message"] for row in table(tmp_path / "out", "commits")}
    assert {row["details"] for row in table(tmp_path / "out", "audit")} == {None}
    everything = b"".join(bytes_below(tmp_path / "out").values())
    assert b"grandma" not in everything
    alice.lace("export", str(tmp_path / "all"), "--unshared", "--details")
    assert "a secret thought" in {row["message"] for row in table(tmp_path / "all", "commits")}
    assert any("grandma" in str(row["details"]) for row in table(tmp_path / "all", "audit"))
    assert not any(str(row["record_group"]).startswith("local/") for row in table(tmp_path / "all", "records"))
    (secret,) = (alice.home / "lace").rglob("*.key")
    assert secret.read_bytes().strip().splitlines()[-1] not in b"".join(bytes_below(tmp_path / "all").values())


def test_another_scope_writes_the_parts_anew(alice: Person, tmp_path: Path) -> None:
    begin(alice)
    alice.lace("commit", "-m", "nothing")
    alice.write("b.txt", "b\n")
    alice.lace("commit", "-m", "kept back")
    alice.lace("export", str(tmp_path / "out"))
    alice.lace("export", str(tmp_path / "out"), "--unshared")
    alice.lace("export", str(tmp_path / "fresh"), "--unshared")
    assert bytes_below(tmp_path / "out") == bytes_below(tmp_path / "fresh")


def test_paths_of_releases(alice: Person, tmp_path: Path) -> None:
    """Each released commit says which paths it changed against its first parent."""
    begin(alice)
    alice.write("b/c.txt", "c\n")
    (alice.folder / "a.txt").unlink()
    alice.lace("release", "2.0.0")
    alice.lace("export", str(tmp_path / "out"))
    rows = {(row["path"], row["change"]) for row in table(tmp_path / "out", "paths")}
    assert rows == {("a.txt", "added"), ("a.txt", "deleted"), ("b/c.txt", "added")}


def test_foreign_directories_are_refused(alice: Person, bob: Person, tmp_path: Path) -> None:
    begin(alice)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("mine")
    refused = alice.lace("export", str(tmp_path / "full"), expect=2)
    assert refused["error"]["code"] == ExportForeign.code
    alice.lace("export", str(tmp_path / "out"))
    begin(bob)
    assert bob.lace("export", str(tmp_path / "out"), expect=2)["error"]["code"] == ExportForeign.code


@pytest.mark.parametrize("place", ["exports", "paths", "paths/{node}", "log/{node}"])
def test_an_export_goes_through_no_link(alice: Person, tmp_path: Path, place: str) -> None:
    """APP-12, APP-8: whoever shares the directory had alice's own tables and notes deleted, and a part put there."""
    begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    (manifest,) = (tmp_path / "out" / "exports").iterdir()
    mine = tmp_path / "mine"
    mine.mkdir()
    names = ("research.parquet", "notes.tmp", "part-000007.parquet", "keep.txt")
    for name in names:
        (mine / name).write_text("mine")
    for stays in (False, True):  # with what was there before, and in a directory that is new
        where = tmp_path / ("out" if stays else "new")
        link = where / place.format(node=manifest.stem)
        link.parent.mkdir(parents=True, exist_ok=True)
        if stays:
            link.rename(tmp_path / "moved")
        link.symlink_to(mine)
        told = alice.lace("export", str(where), expect=2)["error"]
        assert (told["code"], str(link) in told["message"]) == (ExportForeign.code, True)
        link.unlink()
        link.write_text("no directory")
        assert alice.lace("export", str(where), expect=2)["error"]["code"] == ExportForeign.code
    assert bytes_below(mine) == dict.fromkeys(names, b"mine")


def test_an_export_clears_away_its_own_parts_only(alice: Person, tmp_path: Path) -> None:
    """APP-8: every table that lay beside its parts was deleted, and a directory there ended it with a fault."""
    begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    before = bytes_below(tmp_path / "out")
    (own,) = (tmp_path / "out" / "paths").iterdir()
    (tmp_path / "mine").write_text("mine")
    for name in ("part-000099.parquet", "state.parquet", "part-000000.parquet.7.tmp"):
        (own / name).write_text("of before")
    for name in ("research.parquet", "part-1.tmp", "notes.tmp", "state.parquet.mine.tmp"):
        (own / name).write_text("mine")
    (own / "part-000098.parquet").symlink_to(tmp_path / "mine")
    (own / "part-000097.parquet").mkdir()
    alice.lace("export", str(tmp_path / "out"))
    left = {str(path.relative_to(tmp_path / "out")) for path in own.iterdir()} - set(before)
    assert {Path(name).name for name in left} == {
        "research.parquet",
        "part-1.tmp",
        "notes.tmp",
        "state.parquet.mine.tmp",
        "part-000098.parquet",
        "part-000097.parquet",
    }
    assert (tmp_path / "mine").read_text() == "mine"


def test_what_file_managers_leave_is_no_stranger(alice: Person, tmp_path: Path) -> None:
    """APP-8: after a look into the common directory nobody could export into it."""
    begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "exports/._1.json", "exports/.DS_Store"):
        (tmp_path / "out" / name).write_bytes(b"\0")
    assert alice.lace("export", str(tmp_path / "out"))["files_written"] == 0
    assert len(exports_in([tmp_path / "out"]).read) == 1
    (tmp_path / "out" / ".git").mkdir()
    assert alice.lace("export", str(tmp_path / "out"), expect=2)["error"]["code"] == ExportForeign.code


def test_without_the_extra_one_sentence_says_what_to_install(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-10: everything up to the point where a package is needed works; then a clear message."""
    begin(alice)

    def absent(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    assert alice.lace("report")["reports"]
    monkeypatch.setattr(importlib, "import_module", absent)
    told = alice.lace("export", str(tmp_path / "out"), expect=15)
    assert told["error"]["code"] == ExtraMissing.code
    assert "pip install '.[spark]'" in told["error"]["hint"]
    assert not (tmp_path / "out").exists()


def test_conditions_select_rows_in_the_store(alice: Person) -> None:
    """What the data source pushes down gives the same rows as filtering afterwards."""
    begin(alice)
    records = table_named("records")
    assert records is not None
    with VaultReader(alice.folder) as found:
        every = [row for batch in found.batches(records) for row in batch.to_pylist()]
        some = [
            row
            for batch in found.batches(
                records,
                columns=("hash", "app"),
                conditions=[Condition("app", "IN", ("lace/log", "lace/release")), Condition("position", ">", (2,))],
            )
            for row in batch.to_pylist()
        ]
    wanted = [row for row in every if row["app"] in {"lace/log", "lace/release"} and row["position"] > 2]
    assert some == [{"hash": row["hash"], "app": row["app"]} for row in wanted]
    assert some


@pytest.mark.parametrize("name", ["paths", "audit", "syncs", "log"])
def test_some_positions_are_these_and_not_those_between(alice: Person, tmp_path: Path, name: str) -> None:
    """APP-8: of the tables that no single query gives, all rows from the first to the last came."""
    begin(alice)
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    for number in range(1, 4):
        release_text(alice, f"1.{number}.0", f"{number}\n")
        alice.lace("sync", "stick")
    table = table_named(name)
    assert table is not None
    with VaultReader(alice.folder) as found:
        every = [row for batch in found.batches(table) for row in batch.to_pylist()]
        assert len(every) > 2
        ends = (every[0]["position"], every[-1]["position"])
        given = [Condition("position", "IN", ends), Condition("position", ">", (ends[0] - 1,))]
        some = [row for batch in found.batches(table, conditions=given) for row in batch.to_pylist()]
    assert some == [every[0], every[-1]]


def test_every_column_of_every_table_can_be_read_alone(alice: Person) -> None:
    begin(alice)
    with VaultReader(alice.folder, Scope(unshared=True, details=True)) as found:
        for table in TABLES:
            whole = [row for batch in found.batches(table) for row in batch.to_pylist()]
            for column in table.all_columns:
                alone = [row for batch in found.batches(table, columns=(column.name,)) for row in batch.to_pylist()]
                assert alone == [{column.name: row[column.name]} for row in whole], (table.name, column.name)


def test_a_second_reader_sees_one_state(alice: Person, tmp_path: Path) -> None:
    """An export is one snapshot, whatever is written meanwhile."""
    begin(alice)
    with VaultReader(alice.folder) as found:
        first = True

        def progress(_done: int, _total: int, _what: str) -> None:
            nonlocal first
            if first:
                release_text(alice, "9.0.0", "meanwhile\n")
            first = False

        export(found, tmp_path / "out", progress=progress)
    assert {row["version"] for row in table(tmp_path / "out", "releases")} == {"1.0.0"}


def test_the_page_of_tables_names_every_column() -> None:
    text = pages()["export.md"]
    assert all(f"`{column.name}`" in text for table in TABLES for column in (*COMMON, *table.columns))
    assert json.dumps(reader.PART_POSITIONS) == "65536"


def test_a_dry_run_counts_and_writes_nothing(alice: Person, tmp_path: Path) -> None:
    begin(alice)
    told = alice.lace("export", str(tmp_path / "out"), "--dry-run")
    assert told["planned"] is True
    assert not (tmp_path / "out").exists()
    assert told["tables"] == alice.lace("export", str(tmp_path / "out"))["tables"]
