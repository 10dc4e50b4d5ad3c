"""A write-ahead log proves its frames, and one bit of it that rotted is found, whatever the order of bytes (APP-13)."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from vault.store.wal import find_rot, mend_log
from vault.store.wal_frames import FRAME, HEAD, read_head, sums
from vault.store.wal_look import Rot

_ROWS = 12
_BITS = 250  # of each order


def _plain(data: bytes | bytearray, first: int, second: int, order: str) -> tuple[int, int]:
    """Return the sum as SQLite's file format says it, section 4.2."""
    words = struct.unpack(f"{'<' if order == 'little' else '>'}{len(data) // 4}I", data)
    for at in range(0, len(words), 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return first, second


def _turned(log: bytes, order: Literal["little", "big"]) -> bytes:
    """Return a log with its sums of words in that order."""
    made = bytearray(log)
    made[:4] = struct.pack(">I", 0x377F0682 + (order == "big"))
    now = _plain(made[:24], 0, 0, order)
    made[24:HEAD] = struct.pack(">2I", *now)
    for at in range(HEAD, len(made), FRAME):
        now = _plain(made[at : at + 8] + made[at + 24 : at + FRAME], *now, order)
        made[at + 16 : at + 24] = struct.pack(">2I", *now)
    return bytes(made)


@pytest.fixture(params=["little", "big"])
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a store whose writer was killed, with a log of some transactions beside it."""
    path, live = tmp_path / "store.db", tmp_path / "live.db"
    with closing(sqlite3.connect(live, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(_ROWS):
            db.execute(
                "INSERT INTO t VALUES(?, ?, ?)", (number, f"row {number}", random.Random(number).randbytes(3000))
            )
        shutil.copy(live, path)
        path.with_name("store.db-wal").write_bytes(_turned(live.with_name("live.db-wal").read_bytes(), request.param))
    return path


def _log(path: Path) -> Path:
    return path.with_name("store.db-wal")


def _rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return int(db.execute("SELECT count(*) FROM t").fetchone()[0])


def _flip(path: Path, data: bytes, bit: int) -> bytes:
    rotten = bytearray(data)
    rotten[bit // 8] ^= 1 << bit % 8
    _log(path).write_bytes(rotten)
    return bytes(rotten)


def test_sums_are_those_of_sqlite(left: Path) -> None:
    """APP-13: worked out for all frames at once, and SQLite takes in each of them."""
    data = _log(left).read_bytes()
    head = read_head(data[:HEAD])
    assert head is not None
    stored = b"".join(data[at + 16 : at + 24] for at in range(HEAD, len(data), FRAME))
    assert sums(data[HEAD:], head.sum, head.order) == stored
    assert find_rot(left) is None
    assert _rows(left) == _ROWS


def test_each_bit_that_rotted_is_told_and_none_is_changed_that_did_not(left: Path) -> None:
    """APP-13: in head and frames; where it is not clear which bit it was, nothing but the sums is written anew."""
    data, draw = _log(left).read_bytes(), random.Random(4)
    mended = 0
    for _ in range(_BITS):
        _log(left).write_bytes(data)
        bit = draw.randrange(len(data) * 8)
        rotten = _flip(left, data, bit)
        rot = find_rot(left)
        assert rot is not None, bit
        told = mend_log(left, left.parent / "damaged")
        assert told is not None
        kept = sorted((left.parent / "damaged").iterdir())
        assert rotten in [file.read_bytes() for file in kept]
        after = _log(left).read_bytes()
        if told.flips:
            assert after == data, bit
            mended += 1
        elif told.unsure:
            pages = [(after[at : at + 8], after[at + 24 : at + FRAME]) for at in range(HEAD, len(after), FRAME)]
            was = [(rotten[at : at + 8], rotten[at + 24 : at + FRAME]) for at in range(HEAD, len(after), FRAME)]
            assert pages == was
        else:
            assert after == rotten[: HEAD + told.whole * FRAME]
        assert find_rot(left) is None
        shutil.rmtree(left.parent / "damaged")
    assert mended > _BITS * 0.8


def test_a_repair_that_was_cut_off_is_gone_on_with(left: Path) -> None:
    """APP-13: two frames rotted, and one bit was changed back before the power went."""
    data = _log(left).read_bytes()
    first = bytearray(_flip(left, data, (HEAD + 2 * FRAME + 60) * 8))
    first[HEAD + 9 * FRAME + 61] ^= 2
    _log(left).write_bytes(first)
    rot = find_rot(left)
    assert rot is not None
    assert [flip.at for flip in rot.flips] == [HEAD + 2 * FRAME + 60, HEAD + 9 * FRAME + 61]
    first[HEAD + 2 * FRAME + 60] ^= 1
    _log(left).write_bytes(first)
    assert mend_log(left, left.parent / "damaged") == Rot(10, rot.frames, rot.flips[1:], (), rot.frames, 0)
    assert _log(left).read_bytes() == data
    assert _rows(left) == _ROWS


def test_what_an_older_log_left_behind_a_newer_one_is_no_rot(left: Path) -> None:
    """APP-13: a log is begun anew in the same file, with other salts."""
    data = bytearray(_log(left).read_bytes())
    older = bytes(data)
    for at in range(HEAD, len(data), FRAME):
        data[at + 8 : at + 16] = struct.pack(">2I", 7, 99)
    _log(left).write_bytes(bytes(older[: HEAD + 3 * FRAME]) + bytes(data[HEAD + 3 * FRAME :]))
    assert find_rot(left) is None


def test_what_is_no_log_of_ours_is_left_as_it_is(tmp_path: Path) -> None:
    """APP-13: nothing, noise, and a head that was being written."""
    path = tmp_path / "store.db"
    path.write_bytes(bytes(4096))
    for data in (b"", b"short", bytes(HEAD), random.Random(1).randbytes(HEAD + 3 * FRAME)):
        _log(path).write_bytes(data)
        assert find_rot(path) is None
        assert mend_log(path, tmp_path / "damaged") is None
    assert not (tmp_path / "damaged").exists()


def test_a_log_that_was_begun_over_a_whole_one_is_no_rot(left: Path) -> None:
    """APP-13: its first frames are written, its head is not yet there, and all of the former log is in the store."""
    data = bytearray(_log(left).read_bytes())
    (salt,) = struct.unpack(">I", data[16:20])
    data[HEAD + 8 : HEAD + 16] = struct.pack(">2I", salt + 1 & 0xFFFFFFFF, 99)
    data[HEAD + 100 : HEAD + 200] = random.Random(1).randbytes(100)
    _log(left).write_bytes(data)
    assert find_rot(left) is None
    data[HEAD + 8 : HEAD + 16] = bytes(8)  # a sector that was lost has none
    _log(left).write_bytes(data)
    assert find_rot(left) is not None


@pytest.mark.parametrize("seed", range(6))
def test_a_sector_that_holds_something_else_is_told_whatever_it_holds(left: Path, seed: int) -> None:
    """APP-13: where it has a frame's salts that was taken for one of another log, and all behind it was dropped."""
    data, draw = bytearray(_log(left).read_bytes()), random.Random(seed)
    at = HEAD + draw.randrange(_ROWS // 2) * FRAME
    data[at : at + 24] = draw.randbytes(24) if seed else b"\xff" * 24
    _log(left).write_bytes(data)
    rot = mend_log(left, left.parent / "damaged")
    assert rot is not None
    assert rot.lost > 1
    assert _rows(left) <= _ROWS - rot.lost  # it may have ended a transaction itself


@pytest.mark.parametrize("held", [bytes(4096), bytes(7 * 4096), random.Random(3).randbytes(4096)])
def test_a_sector_over_the_head_is_told_and_the_store_opens_without_the_log(left: Path, held: bytes) -> None:
    """APP-13: it was taken for a log that nobody had begun, and all of it went without a word."""
    whole = _log(left).read_bytes()
    _log(left).write_bytes(held + whole[len(held) :])
    assert find_rot(left) is not None
    rot = mend_log(left, left.parent / "damaged")
    assert rot is not None
    assert 1 < rot.lost <= _ROWS
    assert (left.parent / "damaged" / "store.db-wal").read_bytes() == held + whole[len(held) :]
    assert find_rot(left) is None
    assert _rows(left) == 0


def test_a_head_that_was_written_in_part_over_a_former_one_is_no_rot(left: Path) -> None:
    """APP-13: what lies behind it is in the store, for no log is begun anew before."""
    data = bytearray(_log(left).read_bytes())
    data[16:24] = struct.pack(">2I", 7, 99)
    for end in (20, 24, 28):
        _log(left).write_bytes(bytes(data[:end]) + _log(left).read_bytes()[end:])
        assert find_rot(left) is None


@pytest.mark.parametrize("seed", range(12))
def test_what_a_power_cut_can_leave_of_a_last_transaction_is_no_rot(tmp_path: Path, seed: int) -> None:
    """APP-13: spilled, taken back, or over a former log, in sectors and blocks; a head is flushed before its frames."""
    draw, live, path = random.Random(seed), tmp_path / "live.db", tmp_path / "store.db"
    with closing(sqlite3.connect(live, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA cache_size={draw.choice([5, 2000])}")
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        for step in range(12):
            if step == 6 and seed % 2:
                db.execute("PRAGMA wal_checkpoint")
            before = live.with_name("live.db-wal").read_bytes()
            db.execute("BEGIN")
            for _ in range(draw.choice([1, 30])):
                db.execute("INSERT INTO t(b) VALUES(?)", (draw.randbytes(draw.choice([5, 500, 9000])),))
            db.execute("ROLLBACK" if draw.random() < 0.25 else "COMMIT")
            after = live.with_name("live.db-wal").read_bytes()
            shutil.copy(live, path)
            for piece in (512, 4096):
                torn = bytearray(before.ljust(len(after), b"\0"))
                for at in range(0, len(after), piece):
                    if draw.random() < 0.5:
                        torn[at : at + piece] = after[at : at + piece]
                torn[:HEAD] = after[:HEAD]
                _log(path).write_bytes(torn)
                assert find_rot(path) is None
