"""Tables of a vault: complete, deterministic, incremental, and without what is private (APP-8, APP-10, APP-11)."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lace_tui.docs import pages
from spark_export import reader
from spark_export.errors import BadExport, ExportForeign, ExtraMissing
from spark_export.export import export
from spark_export.manifest import exports_in, read_manifests
from spark_export.reader import Condition, Scope, VaultReader
from spark_export.schema import COMMON, TABLES, table_named
from tests.people import Person
from tests.spark_export import meet
from vault.lock import alone_in
from vault.records import Seal, parse_record
from vault.store import Store


def _table(directory: Path, name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(directory / name).to_pylist()
    return rows


def _bytes(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def _release(person: Person, version: str, text: str) -> None:
    person.write("a.txt", text)
    person.lace("release", version)


def _begin(person: Person) -> None:
    person.write("a.txt", "0\n")
    person.lace("init", "--name", person.name)
    person.lace("release", "1.0.0")


def test_twice_is_identical_byte_for_byte(alice: Person, tmp_path: Path) -> None:
    """APP-8: into two directories, and over itself."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    alice.lace("export", str(tmp_path / "two"))
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")
    again = alice.lace("export", str(tmp_path / "one"))
    assert again["files_kept"] > 0
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")


def test_what_a_killed_export_left_goes_with_the_next(alice: Person, tmp_path: Path) -> None:
    """APP-13: of its manifest, too."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    before = _bytes(tmp_path / "one")
    for name in before:
        (tmp_path / "one" / f"{name}.0.tmp").write_bytes(b"half")
    alice.lace("export", str(tmp_path / "one"))
    assert _bytes(tmp_path / "one") == before


def test_an_export_that_is_cut_off_takes_nothing_from_the_one_before(alice: Person, tmp_path: Path) -> None:
    """APP-8, APP-9: half of its files were new, half old, and nobody over the common directory got a report."""
    _begin(alice)
    out, releases = tmp_path / "out", table_named("releases")
    assert releases is not None
    alice.lace("export", str(out))
    before = _bytes(out)
    _release(alice, "2.0.0", "new\n")

    def progress(done: int, total: int, _what: str) -> None:
        if done == total:
            raise KeyboardInterrupt

    with VaultReader(alice.folder) as found, pytest.raises(KeyboardInterrupt):
        export(found, out, progress=progress)
    assert before.items() <= _bytes(out).items()
    inputs = exports_in([out])
    (state,) = inputs.files(releases)
    assert (inputs.broken, len(pq.read_table(state))) == ((), 1)
    alice.lace("export", str(out))
    alice.lace("export", str(tmp_path / "fresh"))
    assert _bytes(out) == _bytes(tmp_path / "fresh")


def test_a_second_export_of_the_same_writes_nothing(alice: Person, tmp_path: Path) -> None:
    """APP-8: it said that files were written, though each was as before; a damaged one is written again."""
    _begin(alice)
    first = alice.lace("export", str(tmp_path / "one"))
    before = _bytes(tmp_path / "one")
    again = alice.lace("export", str(tmp_path / "one"))
    assert (again["files_written"], again["bytes_written"], again["files_kept"]) == (0, 0, first["files_written"])
    (state,) = (tmp_path / "one" / "members").rglob("state-*.parquet")
    state.write_bytes(bytes(state.stat().st_size))
    assert alice.lace("export", str(tmp_path / "one"))["files_written"] == 1
    assert _bytes(tmp_path / "one") == before


def test_a_damaged_part_is_written_again(alice: Person, tmp_path: Path) -> None:
    """APP-8: `report` said to export anew, which kept the part for its size; nor is a link or a pipe one."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "one"))
    before = _bytes(tmp_path / "one")
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
    assert (_bytes(tmp_path / "one"), part.is_symlink()) == (before, False)


def test_two_exports_into_one_directory_wait_for_each_other(alice: Person, tmp_path: Path) -> None:
    """APP-13: each took what the other was writing for leftovers, and one ended with `not-writable`."""
    _begin(alice)
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
    _begin(alice)
    alice.lace("export", str(tmp_path / "steps"))
    for number in range(1, 5):
        _release(alice, f"1.{number}.0", f"{number}\n")
        alice.lace("export", str(tmp_path / "steps"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "steps" / "records").rglob("part-000000-*.parquet")}
    _release(alice, "2.0.0", "last\n")
    told = alice.lace("export", str(tmp_path / "steps"))
    assert before
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert told["files_kept"] > told["files_written"] / 2
    alice.lace("export", str(tmp_path / "once"))
    assert _bytes(tmp_path / "steps") == _bytes(tmp_path / "once")


def test_rows_are_every_shared_record_and_its_bytes(alice: Person, tmp_path: Path) -> None:
    """APP-8: sealed records keep their bytes, so that signatures can be checked from the export alone."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    rows = _table(tmp_path / "out", "records")
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
    _begin(alice)
    alice.write("diary.txt", "dear diary\n")
    alice.lace("commit", "-m", "a secret thought")
    alice.lace("place", "add", "grandma", str(tmp_path / "stick"))
    alice.lace("export", str(tmp_path / "out"))
    assert "a secret thought" not in {row["message"] for row in _table(tmp_path / "out", "commits")}
    assert {row["details"] for row in _table(tmp_path / "out", "audit")} == {None}
    everything = b"".join(_bytes(tmp_path / "out").values())
    assert b"grandma" not in everything
    alice.lace("export", str(tmp_path / "all"), "--unshared", "--details")
    assert "a secret thought" in {row["message"] for row in _table(tmp_path / "all", "commits")}
    assert any("grandma" in str(row["details"]) for row in _table(tmp_path / "all", "audit"))
    assert not any(str(row["record_group"]).startswith("local/") for row in _table(tmp_path / "all", "records"))
    (secret,) = (alice.home / "lace").rglob("*.key")
    assert secret.read_bytes().strip().splitlines()[-1] not in b"".join(_bytes(tmp_path / "all").values())


def test_another_scope_writes_the_parts_anew(alice: Person, tmp_path: Path) -> None:
    _begin(alice)
    alice.lace("commit", "-m", "nothing")
    alice.write("b.txt", "b\n")
    alice.lace("commit", "-m", "kept back")
    alice.lace("export", str(tmp_path / "out"))
    alice.lace("export", str(tmp_path / "out"), "--unshared")
    alice.lace("export", str(tmp_path / "fresh"), "--unshared")
    assert _bytes(tmp_path / "out") == _bytes(tmp_path / "fresh")


def test_paths_of_releases(alice: Person, tmp_path: Path) -> None:
    """Each released commit says which paths it changed against its first parent."""
    _begin(alice)
    alice.write("b/c.txt", "c\n")
    (alice.folder / "a.txt").unlink()
    alice.lace("release", "2.0.0")
    alice.lace("export", str(tmp_path / "out"))
    rows = {(row["path"], row["change"]) for row in _table(tmp_path / "out", "paths")}
    assert rows == {("a.txt", "added"), ("a.txt", "deleted"), ("b/c.txt", "added")}


def test_foreign_directories_are_refused(alice: Person, bob: Person, tmp_path: Path) -> None:
    _begin(alice)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("mine")
    refused = alice.lace("export", str(tmp_path / "full"), expect=2)
    assert refused["error"]["code"] == ExportForeign.code
    alice.lace("export", str(tmp_path / "out"))
    _begin(bob)
    assert bob.lace("export", str(tmp_path / "out"), expect=2)["error"]["code"] == ExportForeign.code


@pytest.mark.parametrize("place", ["exports", "paths", "paths/{node}", "log/{node}"])
def test_an_export_goes_through_no_link(alice: Person, tmp_path: Path, place: str) -> None:
    """APP-12, APP-8: whoever shares the directory had alice's own tables and notes deleted, and a part put there."""
    _begin(alice)
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
    assert _bytes(mine) == dict.fromkeys(names, b"mine")


def test_an_export_clears_away_its_own_parts_only(alice: Person, tmp_path: Path) -> None:
    """APP-8: every table that lay beside its parts was deleted, and a directory there ended it with a fault."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    before = _bytes(tmp_path / "out")
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
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "exports/._1.json", "exports/.DS_Store"):
        (tmp_path / "out" / name).write_bytes(b"\0")
    assert alice.lace("export", str(tmp_path / "out"))["files_written"] == 0
    assert len(exports_in([tmp_path / "out"]).read) == 1
    (tmp_path / "out" / ".git").mkdir()
    assert alice.lace("export", str(tmp_path / "out"), expect=2)["error"]["code"] == ExportForeign.code


@pytest.mark.parametrize("count", ["Infinity", "1e999", "NaN", "-5", "1.5", "true", '"7"'])
def test_a_manifest_counts_in_whole_numbers(alice: Person, tmp_path: Path, count: str) -> None:
    """APP-9: an endless one ended lace with a fault, whoever exported beside it; one below zero was taken."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    (manifest,) = (tmp_path / "out" / "exports").iterdir()
    value = json.loads(manifest.read_text())
    name = next(iter(value["files"]))
    for at in (0, 1):
        value["files"][name] = [1, 1, "0"]
        value["files"][name][at] = "COUNT"
        manifest.write_text(json.dumps(value).replace('"COUNT"', count))
        with pytest.raises(BadExport):
            exports_in([tmp_path / "out"])
        told = alice.lace("export", str(tmp_path / "out"), expect=BadExport.exit_code)
        assert told["error"]["code"] == BadExport.code


_DIGEST = "0" * 64
_STRANGE: dict[str, list[object]] = {
    "schema": [True, "1", [], None],
    "group": ["\ud800", "", "friends", 7, None, "local/0123456789abcdef", "x\x1b[2J/0123456789abcdef"],
    "exporter": ["\ud800", "", 7, None, *(f"V.{key}.H3" for key in ("A" * 42 + "\ud800", "z" * 43, "0" * 43))],
    "export_id": ["\ud800", "", 7, None, "x" * 10_000],
    "parts": ["0", 7, None, [7], ["\ud800"], [_DIGEST + "0"], [None]],
    "files": [
        {"strangers/{node}/state.parquet": [1, 1, _DIGEST]},
        {"log/{node}/state.parquet": [1, 1, _DIGEST]},
        {"members/{node}/part-000000.parquet": [1, 1, _DIGEST]},
        {"members/0123456789abcdef/state.parquet": [1, 1, _DIGEST]},
        {"members/{node}/../state.parquet": [1, 1, _DIGEST]},
        {"members/{node}/state.parquet": [1, 1, "\ud800"]},
        {"members/{node}/state.parquet": [1, 1, 7]},
        {"members/{node}/state.parquet": [1, 1 << 63, _DIGEST]},
        {"members/{node}/state.parquet": "abc"},
        [],
    ],
}


@pytest.mark.parametrize("name", _STRANGE)
def test_a_manifest_says_nothing_but_what_an_export_writes(alice: Person, tmp_path: Path, name: str) -> None:
    """APP-9, APP-14: a name in no encoding, and a table that there is not, ended a report with a fault of lace."""
    _begin(alice)
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        alice.lace("export", str(place))
    (manifest,) = (places[0] / "exports").iterdir()
    whole = json.loads(manifest.read_text())
    for strange in _STRANGE[name]:
        said = json.dumps(whole | {name: strange}).replace("{node}", manifest.stem)
        for place in places:
            (place / "exports" / manifest.name).write_text(said)
        given = [word for place in places for word in ("--input", str(place))]
        for words in (("report", "releases", *given), ("export", str(places[0]))):
            told = alice.lace(*words, expect=BadExport.exit_code)["error"]
            assert told["code"] == BadExport.code, strange
            assert alice.run(*words).code == BadExport.exit_code


def test_damaged_manifests_are_named(alice: Person, tmp_path: Path) -> None:
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    (manifest,) = (tmp_path / "out" / "exports").iterdir()
    whole = manifest.read_text()
    records = table_named("records")
    assert records is not None
    for broken in ("", "[]", "{}", whole.replace('"schema": 1', '"schema": 99'), whole[:-20], "[" * 100_000):
        manifest.write_text(broken)
        with pytest.raises(BadExport):
            exports_in([tmp_path / "out"])
    manifest.write_text(whole.replace("records/", "../records/"))
    with pytest.raises(BadExport):
        exports_in([tmp_path / "out"])
    manifest.write_text(whole)
    (file,) = (tmp_path / "out" / "records").rglob("*.parquet")
    assert exports_in([tmp_path / "out"]).files(records) == [file]
    stored = file.read_bytes()
    for damaged in (stored[:-1], stored + b"x", stored[:9] + bytes([stored[9] ^ 1]) + stored[10:]):
        file.write_bytes(damaged)
        with pytest.raises(BadExport, match="not as its export wrote it"):
            exports_in([tmp_path / "out"]).files(records)
    file.unlink()
    with pytest.raises(BadExport, match="missing"):
        exports_in([tmp_path / "out"]).files(records)


@pytest.mark.parametrize("said", ["", '{"schema": 2}', '{"schema": 1}'])
def test_a_damaged_manifest_of_another_stops_nobody(alice: Person, bob: Person, tmp_path: Path, said: str) -> None:
    """APP-8, APP-9: one of a friend, or of a newer lace, blocked every export into the directory, and every report."""
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    out = tmp_path / "out"
    alice.lace("export", str(out))
    (theirs,) = (out / "exports").iterdir()
    theirs.write_text(said)
    assert bob.lace("export", str(out))["files_written"] > 0
    assert theirs.read_text() == said
    inputs = exports_in([out])
    assert [placed.manifest.exporter for placed in inputs.read] == [bob.lace("id")["node"]]
    ((directory, exporter, problem),) = inputs.broken
    assert (directory, exporter, str(theirs) in problem) == (out, "", True)
    assert alice.lace("export", str(out), expect=BadExport.exit_code)["error"]["code"] == BadExport.code
    theirs.unlink()
    theirs.mkdir()  # nor does what is no file at all
    ((_, _, problem),) = exports_in([out]).broken
    assert problem == f"{theirs} cannot be read: it is not a regular file."


def test_after_a_prune_the_newer_export_is_read(alice: Person, tmp_path: Path) -> None:
    """APP-9: a prune takes more rows away than what was done since adds; the older export counted as the newest."""
    alice.lace("init", "--name", "alice")
    for number in range(4):
        for name in range(4):
            alice.write(f"{name}.txt", f"{number} {name}\n")
        alice.lace("commit", "-m", f"draft {number}")
    alice.lace("export", str(tmp_path / "old"), "--unshared")
    alice.lace("prune", "--keep", "1", "--yes")
    alice.lace("release", "1.0.0")
    alice.lace("export", str(tmp_path / "new"), "--unshared")
    assert len(_table(tmp_path / "old", "records")) > len(_table(tmp_path / "new", "records"))
    both = exports_in([tmp_path / "old", tmp_path / "new"])
    assert [placed.directory.name for placed in both.read] == ["new"]
    assert [(old.directory.name, new.directory.name) for old, new in both.left_out] == [("old", "new")]


@pytest.mark.parametrize("table", ["log", "audit"])
@pytest.mark.parametrize("said", [1000, 0])
def test_an_older_export_is_not_the_newest_by_its_own_word(
    alice: Person, tmp_path: Path, table: str, said: int
) -> None:
    """APP-9: one number edited in the manifest of an old copy took what the member released since from every report."""
    _begin(alice)
    older, newer = places = [tmp_path / "older", tmp_path / "newer"]
    alice.lace("export", str(older))
    _release(alice, "2.0.0", "new\n")
    alice.lace("export", str(newer))
    edited = older if said else newer
    (manifest,) = (edited / "exports").iterdir()
    value = json.loads(manifest.read_text())
    (name,) = (name for name in value["files"] if name.startswith(f"{table}/"))
    value["files"][name][0] = said
    manifest.write_text(json.dumps(value))
    inputs = exports_in(places)
    assert [(one.directory, name in one.problem) for one in inputs.broken] == [(edited, True)]
    assert [placed.directory for placed in inputs.read] == [newer if said else older]
    with pytest.raises(BadExport, match="as many rows"):
        exports_in([edited])


def test_a_vault_that_was_adopted_is_one(alice: Person, tmp_path: Path) -> None:
    """APP-9, APP-8: its export of before under the older key counted as the vault of somebody else."""
    _begin(alice)
    out = tmp_path / "out"
    alice.lace("export", str(out))
    older = read_manifests(out)[0][0].exporter
    moved = _moved(alice, tmp_path / "moved")
    moved.lace("adopt", "--yes")
    moved.lace("export", str(out))
    inputs = exports_in([out])
    assert [manifest.exporter for manifest in read_manifests(out)[0]].count(older) == 1
    ((left, read),) = inputs.left_out
    assert [placed.manifest.exporter for placed in inputs.read] == [read.manifest.exporter]
    assert (left.manifest.exporter, left.manifest.export_id == read.manifest.export_id) == (older, False)
    _release(alice, "2.0.0", "went on itself\n")
    alice.lace("export", str(out))
    assert len(exports_in([out]).read) == 2, "what the copied vault did since is in no other export"


def test_a_vault_whose_older_key_was_lost_is_two(alice: Person, tmp_path: Path) -> None:
    """APP-9: nothing but the word of the newer export said that the older one is the same vault; now that is told."""
    _begin(alice)
    out = tmp_path / "out"
    alice.lace("export", str(out))
    ((older,), _) = read_manifests(out)
    moved = _moved(alice, tmp_path / "moved")
    moved = replace(moved, home=tmp_path / "elsewhere")
    moved.lace("adopt", "--yes")
    moved.lace("export", str(out))
    inputs = exports_in([out])
    (newer,) = (placed.manifest for placed in inputs.read if placed.manifest.exporter != older.exporter)
    assert (len(inputs.read), inputs.left_out) == (2, ())
    ((first, second),) = inputs.doubled
    assert (first.manifest.exporter, second.manifest.exporter) == (older.exporter, newer.exporter)
    (told,) = inputs.doubts
    assert told.index(older.exporter) < told.index(newer.exporter)


def test_a_vault_that_was_adopted_twice_is_one(alice: Person, tmp_path: Path) -> None:
    """APP-9: the first key says who came next, and that one who came after it; an export of the second is not there."""
    _begin(alice)
    out = tmp_path / "out"
    alice.lace("export", str(out))
    alice.lace("adopt", "--yes")
    alice.lace("adopt", "--yes")
    alice.lace("export", str(out))
    inputs = exports_in([out])
    ((_, read),) = inputs.left_out
    assert [placed.manifest.exporter for placed in inputs.read] == [read.manifest.exporter]
    assert inputs.doubts == ()


def _moved(person: Person, folder: Path) -> Person:
    """Return a copy of somebody's folder, vault and all."""
    shutil.copytree(person.folder, folder)
    return replace(person, folder=folder)


def test_a_directory_that_is_named_twice_is_one(alice: Person, tmp_path: Path) -> None:
    """APP-9: it said that an export in it was left out, for the same directory had one that is no older."""
    _begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    (tmp_path / "link").symlink_to("out")
    inputs = exports_in([tmp_path / "out", tmp_path / "link", tmp_path / "x" / ".." / "out", tmp_path / "out"])
    assert [placed.directory for placed in inputs.read] == [tmp_path / "out"]
    assert inputs.left_out == ()


def test_without_the_extra_one_sentence_says_what_to_install(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-10: everything up to the point where a package is needed works; then a clear message."""
    _begin(alice)

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
    _begin(alice)
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
    _begin(alice)
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    for number in range(1, 4):
        _release(alice, f"1.{number}.0", f"{number}\n")
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
    _begin(alice)
    with VaultReader(alice.folder, Scope(unshared=True, details=True)) as found:
        for table in TABLES:
            whole = [row for batch in found.batches(table) for row in batch.to_pylist()]
            for column in table.all_columns:
                alone = [row for batch in found.batches(table, columns=(column.name,)) for row in batch.to_pylist()]
                assert alone == [{column.name: row[column.name]} for row in whole], (table.name, column.name)


def test_a_second_reader_sees_one_state(alice: Person, tmp_path: Path) -> None:
    """An export is one snapshot, whatever is written meanwhile."""
    _begin(alice)
    with VaultReader(alice.folder) as found:
        first = True

        def progress(_done: int, _total: int, _what: str) -> None:
            nonlocal first
            if first:
                _release(alice, "9.0.0", "meanwhile\n")
            first = False

        export(found, tmp_path / "out", progress=progress)
    assert {row["version"] for row in _table(tmp_path / "out", "releases")} == {"1.0.0"}


def test_the_page_of_tables_names_every_column() -> None:
    text = pages()["export.md"]
    assert all(f"`{column.name}`" in text for table in TABLES for column in (*COMMON, *table.columns))
    assert json.dumps(reader.PART_POSITIONS) == "65536"


def test_a_dry_run_counts_and_writes_nothing(alice: Person, tmp_path: Path) -> None:
    _begin(alice)
    told = alice.lace("export", str(tmp_path / "out"), "--dry-run")
    assert told["planned"] is True
    assert not (tmp_path / "out").exists()
    assert told["tables"] == alice.lace("export", str(tmp_path / "out"))["tables"]
