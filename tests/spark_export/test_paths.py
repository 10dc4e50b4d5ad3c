"""Which paths a release changed: the same in everybody's export, and nothing of what was never shared (APP-8)."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spark_export.reader import VaultReader
from spark_export.schema import OWN_TABLES, TABLES, table_named
from tests.people import Person
from tests.spark_export import meet, rows_of, sync


def _told(person: Person, *, unshared: bool = False) -> list[tuple[object, ...]]:
    versions = {row["commit"]: row["version"] for row in rows_of(person, "releases", unshared=unshared)}
    told = [
        (versions[row["commit"]], row["path"], row["change"]) for row in rows_of(person, "paths", unshared=unshared)
    ]
    return sorted(told, key=str)


def _begin(alice: Person) -> None:
    alice.write("cake.md", "flour\n")
    alice.write("soup.md", "water\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")


def test_a_file_that_was_never_shared_is_not_named(alice: Person, tmp_path: Path) -> None:
    """APP-8: a draft before a release had one; that it went was told to everybody who reads the export."""
    _begin(alice)
    alice.write("bobs-salary-4200.txt", "\n")
    alice.lace("commit", "-m", "draft")
    (alice.folder / "bobs-salary-4200.txt").unlink()
    alice.write("cake.md", "flour, eggs\n")
    alice.lace("release", "1.1.0")
    alice.lace("export", str(tmp_path / "out"))
    assert {row["path"] for row in pq.read_table(tmp_path / "out" / "paths").to_pylist()} == {"cake.md", "soup.md"}
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"salary" not in everything


def test_everybody_tells_the_same_changes(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-8: what came with drafts before a release belongs to it; who had them left it out, others told it anew."""
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    for path, text in (("added.md", "early\n"), ("soup.md", "water, salt\n"), ("cake.md", "flour, eggs\n")):
        alice.write(path, text)
        alice.lace("commit", "-m", path)
    alice.lace("release", "1.1.0")
    sync(alice, bob)
    wanted = [
        *(("1.0.0", path, "added") for path in ("cake.md", "soup.md")),
        ("1.1.0", "added.md", "added"),
        *(("1.1.0", path, "changed") for path in ("cake.md", "soup.md")),
    ]
    assert _told(alice) == _told(bob) == _told(alice, unshared=True) == wanted


def test_a_release_that_does_not_count_names_no_path(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-8: that of a revoked member stood in no table but this one."""
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    bob.lace("update")
    bob.write("bread.md", "rye\n")
    bob.lace("release", "1.1.0")
    sync(alice, bob)
    assert ("1.1.0", "bread.md", "added") in _told(alice)
    alice.lace("revoke", "bob", "--last", "0", "--yes")
    assert {row["commit"] for row in rows_of(alice, "paths")} <= {row["commit"] for row in rows_of(alice, "releases")}
    assert "bread.md" not in {row["path"] for row in rows_of(alice, "paths")}


def test_a_commit_under_several_versions_changed_its_paths_once(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-8: each reader of a range told them again."""
    _begin(alice)
    for version in ("2.0.0", "2.0.1", "2.1.0"):
        alice.lace("release", version)
    whole = rows_of(alice, "paths")
    wanted = table_named("paths")
    assert wanted is not None
    with VaultReader(alice.folder) as reader:
        steps = range(1, reader.last_position() + 1)
        each = [batch.to_pylist() for at in steps for batch in reader.batches(wanted, first=at, last=at)]
    assert [row for rows in each for row in rows] == whole
    monkeypatch.setattr("spark_export.reader.PART_POSITIONS", 2)
    alice.lace("export", str(tmp_path / "out"))
    assert len(pq.read_table(tmp_path / "out" / "paths")) == len(whole) == 2


def test_bit_by_bit_is_at_once_after_a_prune(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-8: what a release is compared with went, or its files did; the parts of before were kept."""
    monkeypatch.setattr("spark_export.reader.PART_POSITIONS", 8)
    _begin(alice)
    meet(alice, bob, tmp_path / "stick")
    for number in range(3):
        for draft in range(4):
            alice.write("cake.md", f"{number} {draft}\n")
            alice.lace("commit", "-m", f"draft {draft}")
        alice.lace("release", f"1.{number + 1}.0")
        sync(alice, bob)
    alice.lace("desk", "keep", ".", "1")
    scopes = {"shared": (), "all": ("--unshared",)}
    for name, words in scopes.items():
        alice.lace("export", str(tmp_path / name), *words)
    alice.lace("prune", "--keep", "1", "--yes")
    for name, words in scopes.items():
        alice.lace("export", str(tmp_path / name), *words)
        alice.lace("export", str(tmp_path / f"{name} anew"), *words)
        assert _files(tmp_path / name) == _files(tmp_path / f"{name} anew")


def _files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [table.name for table in TABLES if table.is_log and table.name not in OWN_TABLES])
def test_step_by_step_of_what_is_shared_is_all_of_it(alice: Person, name: str) -> None:
    """APP-8: a draft that is shared later comes with what shares it, and no row comes twice."""
    _begin(alice)
    wanted = table_named(name)
    assert wanted is not None
    came: list[dict[str, object]] = []
    at = 0
    for step in (("commit", "-m", "early"), ("release", "1.1.0"), ("release", "1.1.1"), ("commit", "-m", "kept")):
        alice.write("cake.md", f"{step}\n")
        alice.lace(*step)
        with VaultReader(alice.folder) as reader:
            last = reader.last_exposed()
            came += [row for batch in reader.batches(wanted, exposed=(at + 1, last)) for row in batch.to_pylist()]
            at = last
    assert sorted(map(str, came)) == sorted(map(str, rows_of(alice, name)))
