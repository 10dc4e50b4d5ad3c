"""The record table of an export (APP-8)."""

from __future__ import annotations

from spark_export.rows import record_rows
from tests.people import Person
from vault.store import Store


def test_rows_are_every_record_once_and_the_same_twice(alice: Person) -> None:
    """APP-8: deterministic, incremental by position, joined on the hash."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    with Store(alice.folder / ".vault" / "store.db") as store:
        rows = list(record_rows(store))
        assert rows == list(record_rows(store))
        assert [row.hash for row in rows] == [record.text for _, record, _ in store.bodies()]
        assert list(record_rows(store, after=rows[2].position)) == rows[3:]
    apps = {row.app for row in rows}
    assert {"lace/founding", "lace/node", "lace/log", "lace/data", "lace/tree", "lace/commit", "lace/release"} <= apps
    assert all((row.signer is None) == (row.app in {"lace/data", "lace/tree"}) for row in rows)
