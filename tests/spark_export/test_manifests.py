"""Manifests, and which export of a member is read: what others wrote is strictly read and stops nobody (APP-9)."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from spark_export.errors import BadExport
from spark_export.inputs import exports_in
from spark_export.manifest import read_manifests
from spark_export.schema import table_named
from tests.people import Person
from tests.spark_export import begin, meet, release_text, table


@pytest.mark.parametrize("count", ["Infinity", "1e999", "NaN", "-5", "1.5", "true", '"7"'])
def test_a_manifest_counts_in_whole_numbers(alice: Person, tmp_path: Path, count: str) -> None:
    """APP-9: an endless one ended lace with a fault, whoever exported beside it; one below zero was taken."""
    begin(alice)
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
    begin(alice)
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
    begin(alice)
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
    begin(alice)
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
    assert len(table(tmp_path / "old", "records")) > len(table(tmp_path / "new", "records"))
    both = exports_in([tmp_path / "old", tmp_path / "new"])
    assert [placed.directory.name for placed in both.read] == ["new"]
    assert [(old.directory.name, new.directory.name) for old, new in both.left_out] == [("old", "new")]


@pytest.mark.parametrize("table", ["log", "audit"])
@pytest.mark.parametrize("said", [1000, 0])
def test_an_older_export_is_not_the_newest_by_its_own_word(
    alice: Person, tmp_path: Path, table: str, said: int
) -> None:
    """APP-9: one number edited in the manifest of an old copy took what the member released since from every report."""
    begin(alice)
    older, newer = places = [tmp_path / "older", tmp_path / "newer"]
    alice.lace("export", str(older))
    release_text(alice, "2.0.0", "new\n")
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
    begin(alice)
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
    release_text(alice, "2.0.0", "went on itself\n")
    alice.lace("export", str(out))
    assert len(exports_in([out]).read) == 2, "what the copied vault did since is in no other export"


def test_a_vault_whose_older_key_was_lost_is_two(alice: Person, tmp_path: Path) -> None:
    """APP-9: nothing but the word of the newer export said that the older one is the same vault; now that is told."""
    begin(alice)
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
    begin(alice)
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
    begin(alice)
    alice.lace("export", str(tmp_path / "out"))
    (tmp_path / "link").symlink_to("out")
    inputs = exports_in([tmp_path / "out", tmp_path / "link", tmp_path / "x" / ".." / "out", tmp_path / "out"])
    assert [placed.directory for placed in inputs.read] == [tmp_path / "out"]
    assert inputs.left_out == ()
