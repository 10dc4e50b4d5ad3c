"""Packs: large content outside the database, durable before it is named, found when it is damaged."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shelf import Shelf
from tests.vault.vaults import found
from vault.content.prune import prune
from vault.desks.content import data_plex
from vault.desks.cutting import add_content
from vault.desks.memory import MemoryObjects
from vault.errors import DataError, EnvironmentFault
from vault.files import DiskFull, NotWritable, Unreadable
from vault.folder.work import commit
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.fsck.unopened import DAMAGED
from vault.records import Plex, RecordHash
from vault.releasing import release
from vault.store import Store, packappend, schema
from vault.store.packio import PackIO
from vault.store.packread import PackDamaged
from vault.store.packs import PACK_MIN_BYTES
from vault.vault import Vault

_GROUP = "friends/0123456789abcdef"


def plexes(count: int, size: int = 20_000, seed: int = 1) -> list[Plex]:
    draw = random.Random(seed)
    return [data_plex(_GROUP, draw.randbytes(size)) for _ in range(count)]


def put(store: Store, records: list[Plex]) -> None:
    with store.transaction():
        store.add((record, record.encode()) for record in records)
        store.settle(None, None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.db", create=True) as made:
        yield made


def pack_files(store: Store) -> list[Path]:
    return sorted((store.path.parent / "packs").glob("*"))


def test_many_are_told_as_each_is_told_alone(store: Store) -> None:
    """What rests in a pack, lists parts or is not here is left to a question of its own."""
    chunks = plexes(3, 9_000)
    manifest = add_content(_GROUP, random.Random(5).randbytes(3_000_000), sink := MemoryObjects())
    records = [*chunks, *plexes(700, 100, seed=2), *plexes(30, 5_000, seed=3), data_plex(_GROUP, b""), *sink]
    put(store, records)
    asked = [*(record.hash for record in records), data_plex(_GROUP, b"not here").hash, manifest]
    lengths = store.lengths(asked)
    assert {record: store.length(record) for record in asked} == {record: lengths.get(record) for record in asked}
    small = {record: part for record in asked if isinstance(part := store.part(record), bytes) and len(part) <= 8_192}
    assert len(small) > 730
    assert store.small_parts(asked) == {record: part for record, part in small.items() if part}
    (path,) = pack_files(store)
    path.write_bytes(bytes(path.stat().st_size))
    with Store(store.path) as again:
        assert len(again.small_parts(asked)) == 700  # what is damaged is not handed out (REC-5)


def test_what_came_together_is_told_as_each_is_told_alone(store: Store) -> None:
    """Be it asked for in order or not, all of it or every other, or with what lies apart."""
    records = [*plexes(300, 100), *plexes(9, 5_000, seed=2), data_plex(_GROUP, b""), *plexes(300, 200, seed=3)]
    put(store, records)
    parts = {record.hash: record.blob.data for record in records}
    names = [*parts]
    lost = data_plex(_GROUP, b"not here").hash
    shuffled = random.Random(4).sample(names[1:-1], len(names) - 2)
    for asked in (names, names[40::2], names[::-1], [*names[:20], *names[-20:]], [names[0], *shuffled, names[-1]]):
        wanted = {record: parts[record] for record in asked if parts[record]}
        assert store.small_parts(asked) == wanted
        assert store.small_parts([asked[0], lost, *asked[1:]]) == wanted
        assert store.small_parts([lost, *asked, lost]) == wanted


@pytest.mark.parametrize("count", [3, 300])
def test_a_small_content_that_rotted_is_not_read(store: Store, count: int) -> None:
    """REC-5: its row was taken as it lies, and a checkout wrote that into the folder without a word."""
    records = plexes(count, 100)
    put(store, records)
    rotten = records[1]
    store.db.execute("UPDATE body SET bytes = ? WHERE digest = ?", (rotten.encode()[:-1] + b"!", rotten.hash.digest))
    others = {record.hash: record.blob.data for record in records if record is not rotten}
    assert store.small_parts([record.hash for record in records]) == others
    assert store.part(records[0].hash) == records[0].blob.data
    with pytest.raises(PackDamaged):
        store.part(rotten.hash)


def test_large_content_rests_in_packs_and_small_in_rows(store: Store) -> None:
    """REC-5: what is read is proven again."""
    large, small = plexes(40), plexes(3, 100, seed=2)
    text = data_plex(_GROUP, b"the same line again\n" * 3_000)
    with store.transaction():
        store.add((record, record.encode()) for record in [*large, *small, text])
        for record in [*large, text]:  # also before anything is on the disk
            assert store.stored(record.hash) == record.encode()
            assert store.content(record.hash) == record.blob.data
        store.settle(None, None)
    for record in [*large, *small, text]:
        assert store.stored(record.hash) == record.encode()
        assert store.part(record.hash) == record.blob.data
    assert store.rows("SELECT count(*) FROM packed")[0][0] == 41
    (path,) = pack_files(store)
    assert path.name == "00000001.pack"
    assert path.stat().st_size == store.rows("SELECT size FROM pack")[0][0]
    assert path.stat().st_size < 41 * 20_500  # the text shrank, the noise did not grow
    assert [bytes(stored) for _, _, stored in store.bodies()] == [r.encode() for r in [*large, *small, text]]


def test_a_record_as_small_as_the_bound_stays_in_its_row(store: Store) -> None:
    overhead = len(data_plex(_GROUP, b"x" * 1_000).encode()) - 1_000
    below = data_plex(_GROUP, b"x" * (PACK_MIN_BYTES - overhead - 1))
    at = data_plex(_GROUP, b"x" * (PACK_MIN_BYTES - overhead))
    assert (len(below.encode()), len(at.encode())) == (PACK_MIN_BYTES - 1, PACK_MIN_BYTES)
    put(store, [below, at])
    assert store.rows("SELECT p FROM packed") == [(2,)]


def test_what_a_crash_left_unnamed_is_cut_by_the_next_writer(store: Store) -> None:
    """APP-13: bytes that nothing names cost nothing and harm nothing."""
    put(store, plexes(2))
    (path,) = pack_files(store)
    named = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"torn" * 1_000)
    more = plexes(1, seed=3)
    put(store, more)
    assert path.stat().st_size == store.rows("SELECT size FROM pack")[0][0] < named + 21_000
    assert store.stored(more[0].hash) == more[0].encode()
    for record in plexes(2):
        assert store.stored(record.hash) == record.encode()


@pytest.mark.parametrize("wrong", [8, 20_000])
def test_a_pack_whose_length_rotted_is_never_cut_to_it(store: Store, wrong: int) -> None:
    """APP-13: a writer that comes before the next check destroys nothing that is named."""
    put(store, records := plexes(2))
    (path,) = pack_files(store)
    before = path.read_bytes()
    store.db.execute("UPDATE pack SET size = ?", (wrong,))
    put(store, more := plexes(1, seed=3))
    assert path.read_bytes() == before
    for record in [*records, *more]:
        assert store.stored(record.hash) == record.encode()


@pytest.mark.parametrize(
    "rot", ["UPDATE pack SET id = 0", "UPDATE pack SET id = 7", "UPDATE pack SET id = 1 << 62", "DELETE FROM pack"]
)
def test_a_pack_whose_row_rotted_is_never_written_over_and_its_row_comes_back(grown: Vault, rot: str) -> None:
    """APP-13: what rests in a pack names it too; a commit, a prune or a repair destroyed all that rests there."""
    path = grown.dot / "packs" / "00000001.pack"
    before = path.read_bytes()
    content = grown.store.rows("SELECT digest, stored(p, bytes) FROM body ORDER BY p")
    grown.store.db.execute(rot)
    report = check(grown)
    assert ("pack", path.name) in {(bad.kind, bad.name) for bad in report.bad}
    assert {bad.kind for bad in report.bad} == {"pack"}
    (grown.folder / "more").write_bytes(random.Random(5).randbytes(300_000))
    commit(grown, "more")
    assert path.read_bytes() == before
    prune(grown)
    assert path.read_bytes() == before
    done = repair(grown)
    assert done.ok, done.bad
    assert done.lost == ()
    assert repair(grown).ok
    assert path.read_bytes() == before
    with Vault(grown.folder, grown.around) as fresh:
        now = fresh.store.rows("SELECT digest, stored(p, bytes) FROM body ORDER BY p")
        assert now[: len(content)] == content
        prune(fresh)
        assert check(fresh).bad == ()


def test_a_row_of_the_list_that_is_lost_between_others_lets_no_writer_over_its_pack(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: numbers go on after the highest that is named anywhere, also where the newest row is the one lost."""
    monkeypatch.setattr(packappend, "PACK_BYTES", 200_000)
    records = plexes(30)
    for record in records:
        put(store, [record])
    assert len(pack_files(store)) > 2
    before = {path: path.read_bytes() for path in pack_files(store)}
    store.db.execute("DELETE FROM pack WHERE id > 1")
    store.db.execute("UPDATE frame SET pack = 1 WHERE id = (SELECT max(id) FROM frame)")
    put(store, plexes(30, seed=3))
    assert store.packs.strays() == []
    assert {path: path.read_bytes() for path in before} == before
    assert all(store.stored(record.hash) == record.encode() for record in records[:-1])


def test_a_pack_nobody_names_is_begun_anew(store: Store, tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "00000001.pack").write_bytes(b"left by a crash" * 10_000)
    records = plexes(2)
    put(store, records)
    assert pack_files(store)[0].stat().st_size == store.rows("SELECT size FROM pack")[0][0]
    assert store.stored(records[0].hash) == records[0].encode()


def test_a_transaction_that_is_undone_leaves_no_record(store: Store) -> None:
    records = plexes(80)

    def cut_off() -> None:
        with store.transaction():
            store.add((record, record.encode()) for record in records)
            raise KeyError

    with pytest.raises(KeyError):
        cut_off()
    assert store.stored(records[0].hash) is None
    assert store.rows("SELECT count(*) FROM frame") == [(0,)]
    put(store, records)
    assert all(store.stored(record.hash) == record.encode() for record in records)


@pytest.mark.parametrize("count", [2, 200])
def test_a_transaction_that_is_undone_gives_its_room_back(
    store: Store, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """APP-13: all that a commit had written stayed on the disk that it had filled, and nothing freed it."""
    monkeypatch.setattr(packappend, "PACK_BYTES", 300_000)
    put(store, first := plexes(3))
    before = {path: path.read_bytes() for path in pack_files(store)}

    def cut_off() -> None:
        with store.transaction():
            store.add((record, record.encode()) for record in plexes(count, seed=4))
            store.packs.finish()
            store.add((record, record.encode()) for record in plexes(count, seed=5))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_off()
    assert {path: path.read_bytes() for path in pack_files(store)} == before
    put(store, more := plexes(count, seed=4))
    assert all(store.stored(record.hash) == record.encode() for record in [*first, *more])


def test_a_commit_that_does_not_fit_gives_its_room_back(store: Store) -> None:
    """APP-13: no row of it can come to light; the store itself is full, and the packs are not."""
    put(store, plexes(3))
    before = {path: path.read_bytes() for path in pack_files(store)}
    store.db.execute(f"PRAGMA max_page_count = {store.rows('PRAGMA page_count')[0][0]}")
    with pytest.raises(DiskFull):
        put(store, [*plexes(40, seed=2), *plexes(100, 3_000, seed=3)])
    assert {path: path.read_bytes() for path in pack_files(store)} == before
    assert store.rows("SELECT count(*) FROM body") == [(3,)]


def test_a_commit_of_which_nobody_can_tell_takes_nothing_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: its rows may be on the disk though it failed, and a power cut may bring them to light."""
    put(store, plexes(3))
    (path,) = pack_files(store)
    named = path.stat().st_size
    real = store.db

    class Failing:
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return real.execute(sql, *values)

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    with monkeypatch.context() as patch:
        patch.setattr(store, "db", Failing())
        with pytest.raises(EnvironmentFault):
            put(store, plexes(40, seed=2))
    assert path.stat().st_size > named
    assert store.packs.left() == [path.stat().st_size - named]
    store.packs.clear()
    assert path.stat().st_size == named


def test_packs_that_a_killed_writer_began_go_with_the_next_one(store: Store) -> None:
    """APP-13: nobody counts on them, and they took room until somebody pruned."""
    put(store, plexes(2))
    for number in (2, 3):
        store.packs.path(number).write_bytes(b"left by a kill" * 1_000)
    put(store, plexes(1, seed=3))
    assert [path.name for path in pack_files(store)] == ["00000001.pack"]


def test_packs_beyond_all_that_is_named_stay_where_a_row_may_have_rotted(store: Store) -> None:
    """APP-13: a repair may find in them what nothing names any more."""
    put(store, plexes(2))
    store.packs.path(3).write_bytes(before := b"perhaps content" * 1_000)
    store.db.execute("UPDATE pack SET size = size - 1")
    put(store, plexes(1, seed=3))
    assert store.packs.path(3).read_bytes() == before


def test_a_full_pack_is_followed_by_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packappend, "PACK_BYTES", 600_000)
    first, second = plexes(60), plexes(60, seed=9)
    put(store, first)
    put(store, second)
    assert len(pack_files(store)) >= 3
    for record in [*first, *second]:
        assert store.stored(record.hash) == record.encode()
    with Store(store.path) as other:
        assert all(other.stored(record.hash) == record.encode() for record in first)


def test_the_thread_that_writes_stays_with_the_store_and_ends_with_it(tmp_path: Path) -> None:
    def writing() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name == "lace-pack_0"} - others

    others: set[threading.Thread] = set()
    others = writing()  # of stores that tests before this one left open
    with Store(tmp_path / "store.db", create=True) as store:
        for seed in range(3):
            put(store, plexes(150, seed=seed))
            assert len(writing()) == 1
        records = plexes(10, seed=9)  # fewer than are handed over at once
        put(store, records)
        assert all(store.stored(record.hash) == record.encode() for record in records)
    assert not writing()


def test_damaged_packs_are_named_and_never_read_as_content(store: Store) -> None:
    """REC-5: no wrong byte is handed out."""
    records = plexes(3)
    put(store, records)
    (path,) = pack_files(store)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with Store(store.path) as fresh, pytest.raises(PackDamaged):
        [fresh.part(record.hash) for record in records]
    path.write_bytes(data[:5_000])
    with Store(store.path) as fresh, pytest.raises(PackDamaged):
        fresh.stored(records[2].hash)
    more = plexes(1, seed=5)
    put(store, more)  # never written over: a pack that lost bytes is left alone
    assert len(pack_files(store)) == 2
    path.unlink()
    with Store(store.path) as fresh:
        with pytest.raises(PackDamaged):
            fresh.stored(records[0].hash)
        assert fresh.stored(more[0].hash) == more[0].encode()


def test_a_frame_that_rests_on_itself_or_too_deep_is_refused(store: Store) -> None:
    text = data_plex(_GROUP, b"the same line again\n" * 3_000)
    put(store, [text])
    with store.transaction():
        store.run("UPDATE frame SET bases = ?, depth = 1", (1).to_bytes(8, "little"))
    with Store(store.path) as fresh, pytest.raises(DataError):
        fresh.stored(text.hash)
    with store.transaction():
        store.run("UPDATE frame SET depth = 99")
    with Store(store.path) as fresh, pytest.raises(DataError):
        fresh.stored(text.hash)


@pytest.fixture
def grown(shelf: Shelf) -> Vault:
    return shelf.lay(_grown)


def _grown(root: Path) -> Vault:
    vault = found(root)
    (vault.folder / "noise").write_bytes(random.Random(4).randbytes(600_000))
    (vault.folder / "text").write_bytes(b"".join(b"line %d\n" % n for n in range(60_000)))
    commit(vault, "first")
    release(vault)
    return vault


@pytest.mark.parametrize("seed", range(12))
def test_any_flipped_bit_of_a_pack_is_found_named_and_put_aside(grown: Vault, seed: int) -> None:
    """REC-82: one bit, anywhere in what a pack's frames hold."""
    path = grown.dot / "packs" / "00000001.pack"
    assert check(grown).ok
    data = bytearray(path.read_bytes())
    at = random.Random(seed).randrange(8 * 8, len(data) * 8)
    data[at // 8] ^= 1 << at % 8
    path.write_bytes(data)
    with Vault(grown.folder, grown.around) as fresh:
        report = check(fresh)
        assert ("pack", path.name) in {(bad.kind, bad.name) for bad in report.bad}
        assert "record" in {bad.kind for bad in report.bad}
        repaired = repair(fresh)
        assert repaired.ok, repaired.bad
        missing = {hash_text for (hash_text,) in fresh.store.rows("SELECT want FROM hole")}
        assert missing


def test_a_vault_without_packs_goes_on_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: what lies in rows stays there and is read beside what lies in packs."""
    records = plexes(4)
    path = tmp_path / "store.db"
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 2)
    db = sqlite3.connect(path, isolation_level=None)
    schema.migrate(db)
    for record in records[:2]:
        row = (record.hash.kind, record.hash.digest, record.encode())
        db.execute("INSERT INTO body(kind, digest, bytes) VALUES (?, ?, ?)", row)
    db.close()
    monkeypatch.undo()
    with Store(path) as store:
        assert store.rows("PRAGMA user_version") == [(schema.SCHEMA_VERSION,)]
        with store.transaction():
            store.rebuild(None, None)
        put(store, records[2:])
        assert all(store.stored(record.hash) == record.encode() for record in records)
        assert store.rows("SELECT p FROM packed ORDER BY p") == [(3,), (4,)]


def test_a_repair_after_packs_were_lost_keeps_no_empty_files(grown: Vault) -> None:
    """APP-13: what is put aside is for whoever looks at its bytes; a file for each record that has none is litter."""
    (grown.dot / "packs" / "00000001.pack").unlink()
    with Vault(grown.folder, grown.around) as fresh:
        assert repair(fresh).lost
        assert not (fresh.dot / DAMAGED).exists()


@pytest.mark.parametrize("code", [errno.EACCES, errno.EMFILE])
def test_a_pack_that_may_not_be_read_now_is_not_called_damaged(
    grown: Vault, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """APP-13: a repair by somebody who may not read the content puts none of it aside."""
    monkeypatch.setattr(PackIO, "open_read", lambda _self, path: os.open(path, refused(code)))

    def refused(number: int) -> int:
        raise OSError(number, os.strerror(number))

    with Vault(grown.folder, grown.around) as fresh, pytest.raises(Unreadable):
        repair(fresh)
    monkeypatch.undo()
    assert check(grown).ok
    assert not (grown.dot / DAMAGED).exists()


@pytest.mark.parametrize(
    "change", ["packed SET size = 1 << 57", "packed SET at = 1 << 62", "frame SET stored = 1 << 50"]
)
def test_a_length_that_rotted_takes_no_memory(grown: Vault, change: str) -> None:
    """APP-13: what is said of a record is checked before bytes are asked for; it was a MemoryError to every command."""
    grown.store.db.execute(f"UPDATE {change}")
    with Vault(grown.folder, grown.around) as fresh:
        report = check(fresh)
        assert "record" in {bad.kind for bad in report.bad}
        assert repair(fresh).ok


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *((f"frame.{name}", "x''") for name in ("pack", "at", "stored", "raw", "form", "depth")),
        *((f"packed.{name}", "''") for name in ("frame", "at", "size")),
        *(("pack.size", "x''"), ("frame.stored", "''"), ("frame.bases", "'abc'"), ("frame.sum", "'abc'")),
    ],
)
def test_a_place_of_content_that_became_a_value_of_another_type_is_named_and_repaired(
    grown: Vault, column: str, value: str
) -> None:
    """APP-13: one bit of a type ended fsck, its repair and each command as a fault of lace."""
    table, _, name = column.partition(".")
    grown.store.db.execute(f"UPDATE {table} SET {name} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})")
    before = grown.store.rows("SELECT count(*) FROM body")
    with Vault(grown.folder, grown.around) as fresh:
        (bad,) = check(fresh).bad
        assert (bad.kind, bad.name, bad.code) == ("store", table, "wrong-type")
        for (digest,) in fresh.store.rows("SELECT digest FROM body"):
            fresh.store.stored_or_none(RecordHash("P", bytes(digest)))  # and no error but of damage
        (fresh.folder / "more").write_bytes(random.Random(6).randbytes(30_000))
        commit(fresh, "more")
        assert repair(fresh).ok
        assert check(fresh).ok
        if column == "pack.size":
            assert fresh.store.rows("SELECT count(*) FROM body") > before, "nothing was lost"


def test_bases_that_rotted_are_a_damaged_frame(store: Store) -> None:
    text = data_plex(_GROUP, b"the same line again\n" * 3_000)
    put(store, [text])
    with store.transaction():
        store.run("UPDATE frame SET bases = ?, depth = 1", b"\xff" * 8)
    with Store(store.path) as fresh:
        with pytest.raises(DataError):
            fresh.stored(text.hash)
        assert fresh.resting_on(text.hash) == []


def _directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("stands", [_directory, os.mkfifo])
def test_what_stands_in_place_of_a_pack_and_is_no_file_is_a_missing_pack(
    grown: Vault, stands: Callable[[Path], None]
) -> None:
    """APP-13, APP-14: a pipe had fsck wait for ever, and of a directory commands named the one that it lies in."""
    path = grown.dot / "packs" / "00000001.pack"
    path.unlink()
    stands(path)
    with Vault(grown.folder, grown.around) as fresh:
        report = check(fresh)
        assert any(path.name in bad.message and "no file" in bad.message for bad in report.bad if bad.kind == "pack")
        (fresh.folder / "more").write_bytes(random.Random(6).randbytes(30_000))
        commit(fresh, "more")
        assert repair(fresh).ok
        assert check(fresh).ok
        assert (path.parent / "00000002.pack").is_file()


def test_a_pack_that_cannot_be_made_is_named_itself(grown: Vault) -> None:
    """APP-14: the directory that it lies in was named, which is sound."""
    (grown.dot / "packs" / "00000001.pack").unlink()
    path = grown.dot / "packs" / "00000002.pack"
    path.mkdir()
    (grown.folder / "more").write_bytes(random.Random(6).randbytes(30_000))
    with Vault(grown.folder, grown.around) as fresh, pytest.raises(NotWritable) as caught:
        commit(fresh, "more")
    assert str(path) in caught.value.message
