"""The form of a store: steps from each version to this one, and versions and definitions that rotted (APP-13)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.rows import text_at
from tests.vault.vaults import found, write
from vault.folder.work import commit
from vault.fsck.check import check
from vault.notes.own import NAME
from vault.store import Store, schema
from vault.store.database import StoreDamaged, StoreUnwritable
from vault.store.guard import changed, install
from vault.store.schema import SCHEMA_VERSION, StoreTooNew, migrate, misshapen
from vault.vault import Vault


def test_a_new_store_is_what_all_steps_make(tmp_path: Path) -> None:
    """APP-13: laid out at once, and one that was laid out before keeps what is in it."""
    path = tmp_path / "s.db"
    asked = ("SELECT * FROM sqlite_master ORDER BY rowid", "SELECT * FROM guard", "PRAGMA user_version")
    with closing(sqlite3.connect(tmp_path / "steps.db", isolation_level=None)) as steps:
        install(steps)
        migrate(steps)
        with Store(path, create=True) as store:
            assert [store.rows(sql) for sql in asked] == [steps.execute(sql).fetchall() for sql in asked]
            assert store.rows("PRAGMA journal_mode") == [("wal",)]
            with store.transaction():
                store.set_note(NAME, "alice")
    with Store(path, create=True) as again:
        assert again.note(NAME) == "alice"


def test_what_lies_on_a_place_is_told_by_its_name_from_version_13_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13, CYB-18: an older store takes along what it knew, also of a place that was removed.

    Of two copies it did not know which was left so: of both it says that nothing lies there, until they are visited.
    """
    path = tmp_path / "s.db"
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 12)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        install(db)
        migrate(db)
        for name, of in (("one", "a"), ("two", "a"), ("new", "c"), ("alone", "d")):
            db.execute("INSERT INTO place VALUES (?, 'drop', 'file:///x', ?, NULL)", (name, of))
        for of in ("a", "b", "d"):
            db.execute("INSERT INTO published VALUES (?, 7, x'aa', 'e', 5, 3)", (of,))
        for key in ("files a", "copied a", "files of mine"):
            db.execute("INSERT INTO meta VALUES (?, ?)", (key, f"{key} was"))
    monkeypatch.undo()
    with Store(path) as store:
        rest, unknown = (7, b"\xaa", "e", 5, 3), (7, b"", "e", 0, 0)
        assert store.rows("SELECT * FROM published ORDER BY place_id, name") == [
            ("a", "one", *unknown, "files a was", "copied a was"),
            ("a", "two", *unknown, "files a was", "copied a was"),
            ("b", "", *rest, "", ""),
            ("d", "alone", *rest, "", ""),
        ]
        assert [text_at(store, key) for key in ("files a", "copied a", "files of mine")] == [
            "",
            "",
            "files of mine was",
        ]
        assert (misshapen(store.db), changed(store.db)) == ([], [])


def older_store(path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """Make a store as an older lace made it, with a friend that it met."""
    monkeypatch.setattr(schema, "SCHEMA_VERSION", version)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        install(db)
        migrate(db)
        db.execute("INSERT INTO met(node, tai, place) VALUES ('V.x', '@0', 'stick')")
        db.execute("INSERT INTO peer VALUES ('bob', 'V.x')")
    monkeypatch.undo()


@pytest.mark.parametrize("version", [6, 11, 12, 13])
def test_a_table_that_rotted_before_its_store_came_to_this_form_is_still_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """APP-13: the sums were made anew over what had rotted, and fsck called it sound."""
    older_store(tmp_path / "s.db", monkeypatch, version)
    older_store(tmp_path / "whole.db", monkeypatch, version)
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as db:
        db.create_function("fold", -1, lambda total, *_values: total)
        db.execute("UPDATE peer SET name = 'rob'")
    with Store(tmp_path / "s.db") as store:
        assert changed(store.db) == ["peer"]
        with store.transaction():
            store.run("INSERT INTO peer VALUES ('cara', 'V.y')")
        assert changed(store.db) == ["peer"]
    with Store(tmp_path / "whole.db") as store:
        assert changed(store.db) == []


def test_a_step_that_was_cut_off_between_two_leaves_nothing_that_looks_like_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: what a step itself changes is no rot to whoever goes on with the next one."""
    path = tmp_path / "s.db"
    older_store(path, monkeypatch, 11)
    monkeypatch.setattr(schema, "_MIGRATIONS", (*schema._MIGRATIONS[:12], lambda db: db.execute("no SQL")))
    with pytest.raises(sqlite3.OperationalError):
        Store(path)
    monkeypatch.undo()
    with Store(path) as store:
        assert store.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
        assert changed(store.db) == []


def test_a_disk_that_takes_no_more_while_a_store_comes_to_this_form_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: SQLite had ended the transaction by itself, and lace told of a fault of its own."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "s.db"
    older_store(path, monkeypatch, 6)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, limits[1]))
    try:
        with pytest.raises(StoreUnwritable):
            Store(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with Store(path) as store:
        assert store.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
        assert changed(store.db) == []


def test_a_newer_store_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path, create=True) as store:
        store.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreTooNew):
        Store(path)
    with pytest.raises(StoreDamaged):
        Store(tmp_path / "absent.db")


@pytest.mark.parametrize(
    "version", [SCHEMA_VERSION ^ 1 << bit for bit in (2, 3, 8, 20, 30)] + [0, 3, -1, -(1 << 31) + 12]
)
def test_a_version_that_rotted_is_set_right(tmp_path: Path, version: int) -> None:
    """APP-13, APP-14: every command ended as a fault of lace, and no table or row is lost to a wrong number."""
    vault = found(tmp_path)
    write(vault, "a.txt", "one")
    commit(vault, "one")
    said = "SELECT name, sql FROM sqlite_master ORDER BY name"
    before = (vault.store.rows(said), vault.store.rows("SELECT * FROM body"))
    vault.store.db.execute(f"PRAGMA user_version = {version}")
    vault.close()
    for create in (False, True):
        with Store(vault.dot / "store.db", create=create) as store:
            assert store.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
            assert (store.rows(said), store.rows("SELECT * FROM body")) == before
    with Vault(vault.folder, vault.around) as again:
        assert check(again).ok


@pytest.mark.parametrize("version", [8, -1])
def test_a_version_that_rotted_in_a_store_of_another_form_is_damage_with_a_way_out(
    tmp_path: Path, version: int
) -> None:
    """APP-14: what the form is cannot be told then, and nothing is changed."""
    path = tmp_path / "s.db"
    with Store(path, create=True) as store:
        store.db.execute("DROP TABLE tomb")
        store.db.execute(f"PRAGMA user_version = {version}")
        before = store.rows("SELECT * FROM sqlite_master")
    with pytest.raises(StoreDamaged) as caught:
        Store(path)
    assert "backup" in caught.value.hint
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT * FROM sqlite_master").fetchall() == before


def test_a_definition_that_is_no_text_any_more_is_damage_with_a_way_out(tmp_path: Path) -> None:
    """APP-14: what SQLite says of it cannot be read, and every command ended as a fault of lace."""
    path = tmp_path / "s.db"
    with Store(path, create=True) as store:
        store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    assert b"CREATE TABLE meta(" in data
    path.write_bytes(data.replace(b"CREATE TABLE meta(", b"CREATE TABL\xe5 meta("))
    with pytest.raises(StoreDamaged) as caught:
        Store(path)
    assert "backup" in caught.value.hint
