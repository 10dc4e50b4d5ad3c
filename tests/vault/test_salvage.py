"""A page of the store's file that rotted: the file is made anew from what can be read of it (APP-13, APP-14)."""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lazy.mend import examine, mend
from tests.shelf import Shelf
from tests.vault.vaults import around, derived, lived_in, write
from vault.folder.work import commit
from vault.fsck.unopened import mend_first
from vault.store import Store
from vault.store.carve import carve
from vault.store.database import StoreDamaged
from vault.store.guard import changed, guard, install
from vault.store.salvage import copy_missing, copy_readable, keep_whole, missing_names
from vault.store.schema import DERIVED_TABLES, SCHEMA_VERSION, copy_whole, form_of, lay_out_as, migrate, misshapen
from vault.vault import Vault

_HEADER_FREE = 36  # where the header says how many pages are free
_LEAF_CELLS = 3  # where a page says how many cells it has
_VIEWS = ("rec", "link_target", "packed_frame", "sqlite_autoindex_body_1", "field")
_LOCAL = ("dircache", "meta", "met", "place", "refused", "seen")


@pytest.fixture
def root(shelf: Shelf, tmp_path: Path) -> Path:
    """Where alice and bob have lived, over a stick, with nothing of alice's store in its log."""
    for vault in shelf.lay(lived_in):
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        vault.close()
    return tmp_path


def _flip(root: Path, at: int, bit: int = 1) -> None:
    path = root / "alice" / ".vault" / "store.db"
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(data)


def _store(root: Path) -> Path:
    return root / "alice" / ".vault" / "store.db"


def _all(data: bytearray, part: bytes) -> Iterator[int]:
    """Yield where some bytes lie."""
    at = -1
    while (at := data.find(part, at + 1)) >= 0:
        yield at


def _page(root: Path, name: str) -> int:
    """Return where the first page of a table or an index begins."""
    db = sqlite3.connect(root / "alice" / ".vault" / "store.db")
    ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    ((size,),) = db.execute("PRAGMA page_size").fetchall()
    db.close()
    return int((page - 1) * size)


def _alice(root: Path) -> Vault:
    return Vault(root / "alice", around(root, "alice"), mending=True)


def _as_version_13(root: Path) -> None:
    """Let alice's store be one of the lace before: its sums are made otherwise, and nothing else is."""
    with closing(sqlite3.connect(_store(root), isolation_level=None)) as db:
        install(db)
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        guard(db, DERIVED_TABLES, (), 13)
        db.execute("PRAGMA user_version = 13")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _records(vault: Vault) -> set[bytes]:
    return {bytes(digest) for (digest,) in vault.store.rows("SELECT digest FROM body")}


@pytest.mark.parametrize("name", _VIEWS)
def test_of_a_page_of_what_records_give_again_nothing_is_lost(root: Path, name: str) -> None:
    """APP-13: the repair could not drop it, and said that the vault is to be moved away and joined again."""
    with _alice(root) as alice:
        records, views = _records(alice), derived(alice)
    _flip(root, _page(root, name))
    with _alice(root) as alice:
        assert {bad.code for bad in examine(alice).bad} >= {"integrity"}
        report = mend(alice)
        assert (report.bad, report.lost) == ((), ())
        assert _records(alice) >= records
        assert {*derived(alice)["release"]} == {*views["release"]}
    with _alice(root) as alice:
        assert examine(alice).ok


def test_a_wrong_count_of_free_pages_costs_nothing(root: Path) -> None:
    """APP-13: SQLite refused every write, the repair's too."""
    _flip(root, _HEADER_FREE + 3)
    with _alice(root) as alice:
        (bad,) = examine(alice).bad
        assert "\n" not in bad.message  # which was shown as two signs
        assert (mend(alice).bad, examine(alice).bad) == ((), ())


@pytest.mark.parametrize("name", _LOCAL)
def test_of_a_page_of_a_local_table_only_that_one_is_lost(root: Path, name: str) -> None:
    """APP-13, APP-14: also of the notes, of which one says whose vault it is."""
    with _alice(root) as alice:
        records, node, friend = _records(alice), alice.node, alice.store.rows("SELECT name FROM peer")
    _flip(root, _page(root, name))
    with _alice(root) as alice:
        assert not examine(alice).ok
        mend(alice)
        assert alice.node == node
        assert _records(alice) >= records
        assert alice.store.rows("SELECT name FROM peer") == friend
    with _alice(root) as alice:
        assert examine(alice).ok


@pytest.mark.parametrize("deeper", [0, _LEAF_CELLS])
def test_records_below_a_page_that_rotted_are_found_in_the_file(root: Path, deeper: int) -> None:
    """APP-13: the page above all records, or how many cells it has; drafts and the trail are nowhere else."""
    with _alice(root) as alice:
        write(alice, "notes.txt", "mine alone\n")
        commit(alice, "a message that goes on in other pages\n" * 300)
        records, log = _records(alice), alice.store.rows("SELECT * FROM log")
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    at = _page(root, "body")
    _flip(root, at + deeper, 1 if deeper == 0 else 128)
    rotten = _store(root).read_bytes()
    with _alice(root) as alice:
        assert not examine(alice).ok
        report = mend(alice)
        assert (report.lost, report.bad) == ((), ())
        assert _records(alice) >= records
        assert alice.store.rows("SELECT * FROM log") == log
    kept = (root / "alice/.vault/damaged/store.db").read_bytes()
    assert (len(kept), kept[at : at + 4096]) == (len(rotten), rotten[at : at + 4096])


def test_what_was_shared_of_lost_records_comes_back_from_the_stick(root: Path) -> None:
    """APP-13: the names are in an index, the kinds in a view."""
    with _alice(root) as alice:
        ((lost,),) = alice.store.rows("SELECT digest FROM body JOIN exposure USING (p) WHERE kind = 'S' LIMIT 1")
        said = alice.store.rows("SELECT substr(bytes, 20, 8) FROM body WHERE digest = ?", lost)[0][0]
    data = bytearray(_store(root).read_bytes())
    data[_page(root, "body")] ^= 1
    row = next(at for at in _all(data, bytes(lost)) if said in data[at + 32 : at + 64])
    data[row + 40] ^= 1
    _store(root).write_bytes(data)
    with _alice(root) as alice:
        report = mend(alice)
        assert [record.digest for record in report.lost] == [lost]
        assert report.ok
        assert lost in _records(alice)


def test_what_was_let_go_of_is_not_found_in_the_file(root: Path) -> None:
    """APP-13, CLAY-79: its row lies in the page yet, and no index has its name."""
    with _alice(root) as alice:
        ((gone, p),) = alice.store.rows("SELECT digest, p FROM body WHERE kind = 'P' AND bytes <> x'' LIMIT 1")
        alice.store.db.execute("PRAGMA secure_delete=OFF")
        with alice.store.transaction():
            alice.store.run("UPDATE body SET p = 1000 WHERE p = ?", p)  # what frees a row writes over a shorter number
        with alice.store.transaction():
            alice.store.forget(1000)
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _flip(root, _page(root, "body"))
    with _alice(root) as alice, Store(root / "made.db", create=True) as made, made.transaction():
        copy_readable(alice.store.db, made.db)
        missing = missing_names(alice.store.db, made.db)
        keep_whole(alice.store.db, root / "whole.db")
        assert [*carve(root / "whole.db", {bytes(gone)})]
        copy_missing(alice.store.db, made.db, missing, root / "whole.db")
        found = {bytes(digest) for (digest,) in made.rows("SELECT digest FROM body")}
        assert found == {*missing}
        assert gone not in found


def test_a_repair_that_has_no_room_for_it_leaves_the_file_as_it_was(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the new file is made beside the old one, and takes its place in one step."""
    _flip(root, _page(root, "rec"))
    path = root / "alice" / ".vault" / "store.db"
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("cut off")

    with monkeypatch.context() as cut, _alice(root) as alice:
        cut.setattr("vault.store.store.copy_whole", full)
        with pytest.raises(sqlite3.OperationalError):
            mend(alice)
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert path.read_bytes() == before
    assert not list(path.parent.glob("fsck*"))
    with _alice(root) as alice:
        assert mend(alice).ok


def test_a_repair_that_is_killed_once_the_file_is_new_leaves_a_vault_with_its_views(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: without them each command took it for a restored backup, whose own log was lost."""
    with _alice(root) as alice:
        log = alice.store.rows("SELECT node, seq FROM vector")
    _flip(root, _page(root, "rec"))

    def killed(made: sqlite3.Connection, live: sqlite3.Connection) -> None:
        copy_whole(made, live)
        raise KeyboardInterrupt

    with monkeypatch.context() as cut, _alice(root) as alice:
        cut.setattr("vault.store.store.copy_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            mend(alice)
    with Vault(root / "alice", around(root, "alice")) as alice:
        assert alice.store.rows("SELECT node, seq FROM vector") == log
        alice.check_mark()
        assert examine(alice).ok


def test_the_store_as_a_copy_has_no_rotten_page_left(root: Path) -> None:
    """APP-13: the same file, so whoever has it open goes on in it."""
    with _alice(root) as reader:
        _flip(root, _page(root, "rec"))
        with _alice(root) as alice:
            assert mend(alice).ok
        assert (
            reader.store.rows("SELECT count(*) FROM rec")[0][0] == reader.store.rows("SELECT count(*) FROM body")[0][0]
        )
    shutil.copytree(root / "alice" / ".vault", root / "copy")
    db = sqlite3.connect(root / "copy" / "store.db")
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


@pytest.mark.parametrize(("name", "is_kept"), [("packed", True), ("place", True), ("rec", False)])
def test_a_file_that_could_not_be_read_whole_is_kept(root: Path, name: str, *, is_kept: bool) -> None:
    """APP-13: where content rests in packs is said nowhere else; of what records give again nothing is lost."""
    at = _page(root, name)
    _flip(root, at)
    rotten = _store(root).read_bytes()[at : at + 4096]
    with _alice(root) as alice:
        mend(alice)
    kept = root / "alice/.vault/damaged/store.db"
    assert kept.exists() == is_kept
    assert not is_kept or kept.read_bytes()[at : at + 4096] == rotten


@pytest.mark.parametrize("name", ["met", "meta", "place", ""], ids=lambda name: name or "free pages")
def test_a_store_of_a_former_version_is_mended_before_it_is_brought_to_this_one(root: Path, name: str) -> None:
    """APP-13, APP-14: no step could be made over a rotten page, and the whole vault was to be moved away."""
    with _alice(root) as alice:
        write(alice, "notes.txt", "mine alone\n")
        commit(alice, "a draft")
        records, node, log = _records(alice), alice.node, alice.store.rows("SELECT * FROM log")
    _as_version_13(root)
    _flip(root, _page(root, name) if name else _HEADER_FREE + 3)
    before = _store(root).read_bytes()
    with pytest.raises(StoreDamaged, match="malformed"):
        Vault(root / "alice", around(root, "alice")).close()
    with _alice(root) as alice:
        assert [bad.code for bad in examine(alice).bad][-1] == "integrity"
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert _store(root).read_bytes() == before
        report = mend(alice)
        assert (report.bad, report.lost) == ((), ())
        is_local = name in {"met", "meta", "place"}
        assert [bad.name for bad in report.repaired if bad.code == "changed"] == ([name] if is_local else [])
        assert (alice.node, alice.store.rows("SELECT * FROM log")) == (node, log)
        assert _records(alice) >= records
    with Vault(root / "alice", around(root, "alice")) as alice:
        assert alice.store.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
        assert examine(alice).ok


@pytest.mark.parametrize("version", [1, 5, 6, 11, 12])
def test_an_empty_store_of_any_form_takes_what_such_a_store_has(tmp_path: Path, version: int) -> None:
    """APP-13: and comes to the form of this one with it."""
    with closing(sqlite3.connect(tmp_path / "old.db", isolation_level=None)) as old:
        install(old)
        lay_out_as(old, version)
        assert form_of(old) == version
        old.execute("INSERT INTO met(node, tai, place) VALUES ('V.x', '@0', 'stick')")
        with Store(tmp_path / "made.db", create=True) as made:
            lay_out_as(made.db, version)
            with made.transaction():
                assert copy_readable(old, made.db)
            migrate(made.db)
            assert made.rows("SELECT node FROM met") == [("V.x",)]
            assert (form_of(made.db), misshapen(made.db), changed(made.db)) == (SCHEMA_VERSION, [], [])


@pytest.mark.parametrize("name", ["packed", "frame", "pack"])
def test_what_rests_in_packs_is_found_by_what_the_file_still_says_of_it(root: Path, name: str) -> None:
    """APP-13: drafts of a large file are nowhere else; one bit, and the repair put each of them aside for good."""
    with _alice(root) as alice:
        for number in range(3):
            (alice.folder / "film.bin").write_bytes(random.Random(number).randbytes(60_000))
            commit(alice, f"film {number}")
        with alice.store.transaction():  # as a prune that writes a pack anew leaves it behind
            alice.store.run("UPDATE packed SET frame = frame + 900")
        with alice.store.transaction():
            alice.store.run("UPDATE packed SET frame = frame - 900")
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        stored = {*alice.store.rows("SELECT kind, digest, stored(p, bytes) FROM body")}
        places = alice.store.rows("SELECT * FROM packed ORDER BY p")
    _flip(root, _page(root, name))
    (root / "alice" / "film.bin").unlink()
    with _alice(root) as alice:
        assert not examine(alice).ok
        report = mend(alice)
        assert (report.bad, report.lost) == ((), ())
        assert {*alice.store.rows("SELECT kind, digest, stored(p, bytes) FROM body")} >= stored
        assert alice.store.rows("SELECT * FROM packed ORDER BY p")[: len(places)] == places
        alice.store.packs.clear()
    with _alice(root) as alice:
        assert examine(alice).ok


def test_a_file_that_an_earlier_repair_kept_is_not_lost_to_a_later_one(root: Path) -> None:
    """APP-13: what was in it alone may not have been looked for yet; the same once more takes no room."""
    kept = []
    for name in ("place", "tomb"):
        _flip(root, _page(root, name))
        with _alice(root) as alice:
            for _ in range(2):
                keep_whole(alice.store.db, root / "alice/.vault/damaged/store.db")
            mend(alice)
            alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept.append((root / "alice/.vault/damaged/store.db").read_bytes())
    assert kept[0] != kept[1]
    found = {path.name: path.read_bytes() for path in (root / "alice/.vault/damaged").glob("store.db*")}
    assert found == {"store.db": kept[1], "store.db.2": kept[0]}


def test_of_a_long_local_table_only_the_rows_of_one_page_are_lost(root: Path) -> None:
    """APP-13, CLAY-79: of what a prune let go of; whatever is not known there any more is asked for again."""
    many = 30_000
    with _alice(root) as alice:
        with alice.store.transaction():
            rows = [(f"P.{number:043}.H3", 1, "", "", 0) for number in range(many)]
            alice.store.db.executemany("INSERT INTO tomb VALUES (?, ?, ?, ?, ?)", rows)
        alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    at = (root / "alice" / ".vault" / "store.db").read_bytes().index(rows[many // 2][0].encode())
    _flip(root, at - at % 4096)
    with _alice(root) as alice:
        assert mend(alice).bad == ()
        assert alice.store.rows("SELECT count(*) FROM tomb")[0][0] > many - 100


@pytest.mark.parametrize("fault", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR_SHMMAP])
def test_what_could_not_be_read_just_now_is_not_taken_for_lost(root: Path, fault: int) -> None:
    """APP-13: nothing is written then, and the same repair goes on later."""
    _flip(root, _page(root, "rec"))

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if "FROM body" in sql:
                error = sqlite3.OperationalError("not now")
                error.sqlite_errorcode = fault
                raise error
            return super().execute(sql, *rest)

    path = root / "alice" / ".vault" / "store.db"
    with (
        closing(sqlite3.connect(path, factory=Failing)) as live,
        Store(root / "made.db", create=True) as made,
        pytest.raises(sqlite3.OperationalError),
        made.transaction(),
    ):
        copy_readable(live, made.db)


def test_of_a_store_that_was_cut_off_inside_a_page_what_is_left_is_repaired(root: Path) -> None:
    """APP-13: the vault was to be moved away, and with it all that nobody else has."""
    with _alice(root) as alice:
        shared = {bytes(digest) for (digest,) in alice.store.rows("SELECT digest FROM body JOIN exposure USING (p)")}
    os.truncate(_store(root), _store(root).stat().st_size - 3 * 4096 - 77)
    with pytest.raises(StoreDamaged):
        _alice(root)
    assert mend_first(root / "alice", around(root, "alice")).mended
    with _alice(root) as alice:
        mend(alice)
        assert shared <= _records(alice)


def test_a_damaged_record_of_my_own_before_all_others_keeps_no_repair_from_its_end(root: Path) -> None:
    """APP-13: what said so held on to a row that was read, and the vault was said to be in use, each time anew."""
    with _alice(root) as alice:
        wanted = f"\nSigned-By: {alice.node.text}\n".encode()
        (first, *_), *_ = alice.store.rows("SELECT p FROM body WHERE instr(bytes, ?) ORDER BY p", wanted)
    with closing(sqlite3.connect(_store(root), isolation_level=None)) as db:
        install(db)
        ((stored,),) = db.execute("SELECT bytes FROM body WHERE p = ?", (first,)).fetchall()
        at = stored.index(b"\nApp: ") + 7
        rotten = stored[:at] + bytes([stored[at] ^ 128]) + stored[at + 1 :]
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (rotten, first))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    gc.disable()  # which would let go of it, sooner or later
    try:
        with _alice(root) as alice:
            report = mend(alice)
    finally:
        gc.enable()
    assert report.ok
    assert report.lost
