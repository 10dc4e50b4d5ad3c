"""The store: records are the truth, views follow in one transaction, and neither order nor a crash shows in them."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.people import ROOT
from tests.shelf import Shelf
from tests.vault.vaults import befriended, derived, found, lived_in, write
from vault.files import DiskFull
from vault.folder.checked_out import checkout_of
from vault.folder.work import adopt_commit, commit
from vault.fsck.check import check
from vault.notes.own import GROUP, NAME, WRITTEN_CONFIG
from vault.profile import Commit, LogEntry
from vault.records import Blob, Plex, Record, RecordHash, Seal, Tai, parse_record
from vault.releasing import release
from vault.store import Store, views
from vault.store.database import insert_many
from vault.suite import SigningKey
from vault.vault import Vault

# What a view says, without positions and symbol numbers, which follow the order of arrival.
_SAID = {
    "member": "SELECT * FROM member",
    "vector": "SELECT * FROM vector",
    "log": "SELECT node, seq, hash, prev, lamport FROM log",
    "commits": "SELECT hash, desk, tree, signer, tai FROM commits",
    "parent": "SELECT * FROM parent",
    "rev": "SELECT node, desk, number, hash, commit_hash FROM rev",
    "release": "SELECT hash, node, desk, version, commit_hash, sha512, tai, seq, lamport, visible FROM release",
    "shared": "SELECT b.kind, b.digest, s.content FROM shared s JOIN body b USING (p)",
    "exposure": "SELECT b.kind, b.digest FROM exposure e JOIN body b USING (p)",
    "hole": "SELECT * FROM hole",
    "counts": "SELECT s.s, c.records, c.bytes FROM counts c JOIN sym s ON s.id = c.app",
    "field": "SELECT b.digest, n.s, f.idx, v.s FROM field f JOIN body b USING (p) JOIN sym n ON n.id = f.name"
    " JOIN sym v ON v.id = f.val",
}


def said(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {view: sorted(store.rows(sql), key=repr) for view, sql in _SAID.items()}


def fill(path: Path, records: list[tuple[Record, bytes]], me: str, founding: str, batch: int) -> Store:
    store = Store(path, create=True)
    for start in range(0, len(records), batch):
        with store.transaction():
            store.add(records[start : start + batch])
            store.settle(me, founding, final=start % 2 == 0)
    with store.transaction():
        store.settle(me, founding)
    return store


@pytest.fixture(scope="module")
def friends(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tuple[Record, bytes]], Vault]:
    """All records of two people's shared life, and one of their vaults."""
    alice, bob = lived_in(tmp_path_factory.mktemp("store"))
    bob.close()
    return [(parse_record(stored), stored) for _, _, stored in alice.store.bodies()], alice


def forked(records: list[tuple[Record, bytes]], vault: Vault) -> list[tuple[Record, bytes]]:
    """Return the records with a second log entry under the number of the last, as a copy of the vault would make."""
    key = vault.key()
    rows = vault.store.rows("SELECT hash FROM log WHERE node = ? ORDER BY seq DESC LIMIT 1", vault.node.text)
    last = LogEntry.read(next(r for r, _ in records if isinstance(r, Seal) and r.hash.text == rows[0][0]))
    plex = LogEntry.to_plex(
        group=vault.group,
        seq=last.seq,
        lamport=last.lamport + 3,
        prev=last.prev,
        entries=last.entries,
        tai=Tai.parse("1900000000:000000000"),
    )
    other = Seal.sign(plex, key)
    return [*records, (other, other.encode())]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), batch=st.integers(1, 40), fork=st.booleans(), noted=st.sampled_from([1, 4, 16_384]))
def test_views_are_a_function_of_the_set_of_records(
    friends: tuple[list[tuple[Record, bytes]], Vault],
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    batch: int,
    fork: bool,
    noted: int,
) -> None:
    """INT-125: order of arrival and size of batches show nowhere, also when a log forks, or little is noted of them."""
    records, alice = friends
    records = forked(records, alice) if fork else records
    me, founding = alice.node.text, alice.founding or ""
    root = tmp_path_factory.mktemp("order")
    shuffled = data.draw(st.permutations(records))
    with (
        patch.object(views, "_ADDED", noted),
        fill(root / "a.db", shuffled, me, founding, batch) as one,
        fill(root / "b.db", records, me, founding, 999) as two,
    ):
        assert said(one) == said(two)
        before = said(one)
        with one.transaction():
            one.rebuild(me, founding)
        assert said(one) == before
        if not fork:
            assert {k: v for k, v in before.items() if k != "field"} == {
                k: v for k, v in said(alice.store).items() if k != "field"
            }


def test_a_fork_is_told_and_hides_what_came_after_it(tmp_path: Path) -> None:
    """Architecture, Counting: the vector stays at the last common entry and says forked."""
    alice = found(tmp_path)
    write(alice, "a", "1")
    release(alice, None, "One")
    records = [(parse_record(stored), stored) for _, _, stored in alice.store.bodies()]
    seen = alice.store.rows("SELECT seq FROM vector WHERE node = ?", alice.node.text)[0][0]
    other = forked(records, alice)[-1]
    with alice.store.transaction():
        alice.store.add([other])
        alice.store.settle(alice.node.text, alice.founding)
    assert alice.store.rows("SELECT seq, forked FROM vector WHERE node = ?", alice.node.text) == [
        (int(str(seen)) - 1, 1)
    ]
    assert alice.store.rows("SELECT visible FROM release") == [(0,)]
    assert check(alice).ok
    alice.close()


def test_records_come_back_as_they_went_in(friends: tuple[list[tuple[Record, bytes]], Vault]) -> None:
    """REC-83, FAC-1."""
    records, alice = friends
    for record, stored in records:
        assert alice.store.stored(record.hash) == stored
        assert isinstance(record, Seal | Plex)
        plex = record.plex if isinstance(record, Seal) else record
        assert alice.store.content(record.hash) == plex.blob.data
        assert alice.store.position(record.hash) is not None
    strange = RecordHash("S", bytes(32))
    same_digest = RecordHash("P" if records[0][0].hash.kind == "S" else "S", records[0][0].hash.digest)
    assert alice.store.stored(strange) is None
    assert alice.store.content(strange) is None
    assert alice.store.position(strange) is None
    assert alice.store.have([*(r.hash for r, _ in records), strange, same_digest]) == {r.hash for r, _ in records}


def test_a_record_is_stored_once(friends: tuple[list[tuple[Record, bytes]], Vault], tmp_path: Path) -> None:
    records, alice = friends
    with fill(tmp_path / "s.db", records, alice.node.text, alice.founding or "", 999) as store:
        before = said(store)
        with store.transaction():
            assert store.add(records) == []
            store.settle(alice.node.text, alice.founding)
        assert said(store) == before


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """APP-13: all or nothing, and the numbers of symbols are free again."""
    alice = found(tmp_path)
    before, rows = derived(alice), alice.store.rows("SELECT * FROM body")
    plex = Plex.build(
        group=alice.group, app="lace/other", name="x", tai=Tai.ZERO, extras=[("New", "text")], data=b"data"
    )
    record = Seal.sign(plex, SigningKey.from_seed(bytes(32)))

    def fail() -> None:
        with alice.store.transaction():
            alice.store.add([(record, record.encode())])
            alice.store.settle(alice.node.text, alice.founding)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (derived(alice), alice.store.rows("SELECT * FROM body")) == (before, rows)
    write(alice, "a", "1")
    commit(alice, "After")
    assert check(alice).ok
    alice.close()


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 63, 64, 65, 256, 333])
def test_many_rows_go_in_as_one_by_one(count: int) -> None:
    """Whatever stands around the row of a statement, and however many rows there are."""
    tables = []
    for at_once in (True, False):
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v INTEGER, w)")
        db.execute("CREATE TABLE n(at INTEGER PRIMARY KEY AUTOINCREMENT, k UNIQUE)")
        rows = [(number * 7 % 200, number) for number in range(count)]
        add = "INSERT INTO t VALUES (?, ?, NULL) ON CONFLICT(k) DO UPDATE SET v = v + excluded.v, w = (1)"
        note = "INSERT OR IGNORE INTO n(k) VALUES (?)"
        keys = [(key,) for key, _ in rows]
        if at_once:
            assert insert_many(db, add, [value for row in rows for value in row]) == count
            assert insert_many(db, note, [key for key, _ in rows]) == min(count, 200)
        else:
            db.executemany(add, rows)
            db.executemany(note, keys)
        tables.append([db.execute(f"SELECT * FROM {name}").fetchall() for name in ("t", "n", "sqlite_sequence")])
        twice = [(1_000 + number % (count + 9), 0) for number in range(300 + count)]
        strict = "INSERT INTO t(k, v) VALUES (?, ?)"
        with pytest.raises(sqlite3.IntegrityError):
            insert_many(db, strict, [value for row in twice for value in row]) if at_once else db.executemany(
                strict, twice
            )
        tables[-1] += db.execute("SELECT * FROM t").fetchall()
        db.close()
    assert tables[0] == tables[1]


def test_no_adapter_is_asked_for_what_is_stored_or_looked_up(
    friends: tuple[list[tuple[Record, bytes]], Vault], tmp_path: Path
) -> None:
    """`sqlite3` asks for one of each value that is bytes, or nothing, which takes as long as to insert it."""
    asked: list[bytes | None] = []

    def adapt(value: bytes | None) -> bytes | None:
        asked.append(value)
        return value

    records = friends[0]
    content = [pair for pair in records if isinstance(pair[0], Plex)]
    with Store(tmp_path / "s.db", create=True) as store, pytest.MonkeyPatch.context() as patch:
        keys: list[tuple[type[Any], type[Any]]] = [(kind, sqlite3.PrepareProtocol) for kind in (bytes, type(None))]
        for key in keys:
            patch.setitem(sqlite3.adapters, key, adapt)
        with store.transaction():
            store.add(content)
            assert asked == []
            store.add(records)
            assert [value for value in asked if value is not None] == []
            assert len(store.have([record.hash for record, _ in records])) == len(records)
            assert [value for value in asked if value is not None] == []


def test_a_bare_blob_writes_no_facts(tmp_path: Path) -> None:
    blob = Blob(b"x")
    with Store(tmp_path / "s.db", create=True) as store, store.transaction():
        assert store.add([(blob, blob.encode())]) == []


_CRASH = """
import os, sys
from pathlib import Path
from tests.vault.vaults import around, write
from vault.vault import Vault
from vault import releasing
root, stop = Path(sys.argv[1]), int(sys.argv[2])
vault = Vault(root / "alice", around(root, "crash"))
seen = 0
def kill(statement):
    global seen
    seen += 1
    if seen == stop:
        os.kill(os.getpid(), 9)
vault.store.db.set_trace_callback(kill)
write(vault, "b.txt", "b" * 5000)
releasing.release(vault, None, "Crash")
print(seen)
"""


def test_a_crash_at_any_statement_leaves_a_vault_that_opens(tmp_path: Path) -> None:
    """APP-13: killed in the middle of a release, at many points; each time the vault opens, is whole and goes on."""
    alice = found(tmp_path)
    alice_root = alice.folder
    keys = tmp_path / "home-alice"
    (tmp_path / "home-crash").symlink_to(keys)
    alice.close()
    code = _CRASH.replace('around(root, "crash")', "AROUND")
    code = code.replace(
        "AROUND", '__import__("dataclasses").replace(around(root, "crash"), machine=around(root, "alice").machine)'
    )
    killed = 0
    for stop in (3, 9, 20, 40, 60, 80, 100, 140):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), str(stop)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
        )
        killed += done.returncode == -signal.SIGKILL
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()
        with Vault(alice_root, alice.around) as again:
            assert check(again).bad == ()
    assert killed >= 3
    with Vault(alice_root, alice.around) as again:
        write(again, "c.txt", "c")
        release(again, None, "After the crashes")
        assert check(again).ok


def test_two_members_see_the_same(shelf: Shelf) -> None:
    alice, bob = shelf.lay(befriended, "bob")
    assert alice.store.rows(_SAID["member"]) == bob.store.rows(_SAID["member"])
    assert said(alice.store)["vector"] == said(bob.store)["vector"]
    alice.close()
    bob.close()


def test_a_long_line_is_shared_as_if_all_of_it_had_come_at_once(tmp_path: Path) -> None:
    """A line that was never shared is read ahead by its links; a header that no kind knows is no link of it."""
    alice = found(tmp_path)
    write(alice, "a.txt", "0\n")
    first = commit(alice, "First")
    assert first
    tree = checkout_of(alice)
    assert tree is not None
    with alice.writing() as w:
        told = Commit.to_plex(
            group=alice.group, desk="main", parents=(), tree=tree.tree, message="To nobody", tai=w.tai()
        )
        secret = w.seal(told).hash
        extras = [("+Link", f"parent {first.commit}"), ("+Link", f"tree {tree.tree}")]
        extras += [("Other+Link", f"parent {secret}")]
        odd = w.seal(
            Plex.build(group=alice.group, app=Commit.APP, name="main", tai=w.tai(), extras=extras, data=b"Odd")
        )
        adopt_commit(w, alice, "main", odd.hash, tree.tree)
    for number in range(60):
        write(alice, "a.txt", f"{number + 1}\n")
        commit(alice, f"Step {number}")
        if number == 40:
            release(alice, None, "Some")
    release(alice, None, "All")
    shared = set(alice.store.rows("SELECT b.kind, b.digest FROM shared JOIN body b USING (p)"))
    assert odd.hash in shared
    assert first.commit in shared
    assert secret not in shared
    records = [(parse_record(stored), stored) for _, _, stored in alice.store.bodies()]
    again = fill(tmp_path / "at-once.db", records, alice.node.text, alice.founding or "", len(records))
    assert {view: said(again)[view] for view in ("shared", "exposure", "hole", "release")} == {
        view: said(alice.store)[view] for view in ("shared", "exposure", "hole", "release")
    }
    again.close()
    alice.close()


def test_texts_are_numbered_in_the_order_that_stores_have(tmp_path: Path) -> None:
    """FAC-2: fsck numbers all texts anew, so another order would call every store damaged that was written before."""
    vault = found(tmp_path)
    write(vault, "a.txt", "one")
    commit(vault, "one")
    commit_texts = [str(text) for (text,) in vault.store.rows("SELECT s FROM sym ORDER BY id")]
    order = ["lace/founding", "Founder", "Profile", "lace/node", "Label", "Machine", "lace/log", "+Link", "entry"]
    order += ["lace/audit", "Verb", "lace-init", "lace/commit", "tree", "lace/rev", "commit", "seal-commit", "parent"]
    assert [text for text in commit_texts if text in order] == order
    vault.close()


def test_what_is_known_of_notes_holds_until_somebody_writes(tmp_path: Path) -> None:
    """LAZ-1, APP-13: an action asks a note once, and what another process or nobody wrote is never believed."""
    with Store(tmp_path / "store.db", create=True) as store, Store(tmp_path / "store.db") as other:
        for value in ("one", "two"):
            with other.transaction():
                other.set_note(NAME, value)
            assert store.note(NAME) == value
            with store.transaction():
                assert (store.note(NAME), store.note(GROUP), store.has_note(GROUP)) == (value, "", False)
        with suppress(KeyError), store.transaction():
            store.set_note(NAME, "three")
            raise KeyError
        with store.transaction():
            assert store.note(NAME) == "two"
            store.drop_note(NAME)
            assert store.note(NAME) == ""
        with other.transaction():
            assert other.note(NAME) == ""


def test_a_question_is_asked_once_until_the_store_changes(tmp_path: Path) -> None:
    """LAZ-1: inside a write an answer holds until a row changes; outside of one, others write at any time."""
    asked: list[str] = []

    def ask() -> int:
        asked.append("desks")
        return len(store.rows("SELECT 1 FROM desk"))

    with Store(tmp_path / "store.db", create=True) as store:
        with store.transaction():
            assert [store.answer("desks", ask), store.answer("desks", ask)] == [0, 0]
            store.run("INSERT INTO desk VALUES ('plans', 'plans')")
            assert [store.answer("desks", ask), store.answer("desks", ask)] == [1, 1]
        assert len(asked) == 2
        assert [store.answer("desks", ask), store.answer("desks", ask)] == [1, 1]
        assert len(asked) == 4
        with store.transaction():
            assert store.answer("desks", ask) == 1
        assert len(asked) == 5


def test_a_disk_without_room_for_the_store_is_named_as_that(tmp_path: Path) -> None:
    """APP-14: it ended as one that cannot be written, with another code than the same disk had for content."""
    with found(tmp_path) as vault:
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        vault.store.db.execute("PRAGMA max_page_count=1")  # as many as there are, at the least
        with pytest.raises(DiskFull, match=r"no room left .* the vault in "), vault.writing() as w:
            w.store.set_note(WRITTEN_CONFIG, "x" * 1_000_000)
        assert vault.store.note(WRITTEN_CONFIG) == ""


def test_a_disk_without_any_room_is_named_as_that(tmp_path: Path) -> None:
    """APP-14: to open a store takes 32 KiB beside it, and a check cannot do without; a look can (LAZ-56)."""
    resource = pytest.importorskip("resource")
    found(tmp_path).close()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(DiskFull, match=r"no room left .* the vault in "):
            Store(tmp_path / "alice" / ".vault" / "store.db", mending=True)
        with Store(tmp_path / "alice" / ".vault" / "store.db") as store:
            assert store.rows("SELECT count(*) FROM body")[0][0] > 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
