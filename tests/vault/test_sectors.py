"""Parts of a store's files that the disk does not give any more: what is left is repaired (APP-13, APP-14)."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lazy.mend import examine, mend
from tests.faults.iolayer import kill_at
from tests.shelf import Shelf
from tests.vault.vaults import around, lived_in
from vault.errors import LaceError
from vault.files import AtomicFile, DiskFull, write_atomic
from vault.fsck import unopened
from vault.fsck.unopened import MendedFirst, mend_first
from vault.store import Store, wal
from vault.store.alone import closed_here
from vault.store.database import StoreDamaged, StoreUnwritable, name_fault
from vault.store.sectors import mend_sectors
from vault.store.wal import mend_log
from vault.store.wal_frames import FRAME, HEAD
from vault.vault import Vault, lock_of

_PAGE = 4096
_Break = Callable[[Path, range], None]
_HELD = (
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]);"
    " print(db.execute('SELECT count(*) FROM t').fetchone(), flush=True); input()"
)
_KEPT = """
import sys
from pathlib import Path
from vault.store.alone import kept_alone
with kept_alone(Path(sys.argv[1])) as file:
    print(file is not None)
"""
_LOOKED = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("PRAGMA user_version").fetchone()
    print("opened")
except sqlite3.OperationalError as fault:
    print(fault)
"""


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> _Break:
    """Return what lets a part of a file be read no more, under whatever name it has."""
    dead: dict[int, range] = {}
    real = Path.open

    class Failing(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            gone, at = dead[os.fstat(self.fileno()).st_ino], self.tell()
            if at < gone.stop and at + (size or 0) > gone.start:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().read(-1 if size is None else size)

    def opened(path: Path, mode: str = "r", *args: Any, **named: Any) -> Any:
        is_dead = path.exists() and path.stat().st_ino in dead
        return Failing(path, mode.replace("b", "")) if is_dead else real(path, mode, *args, **named)

    monkeypatch.setattr(Path, "open", opened)

    def let(path: Path, gone: range) -> None:
        dead[path.stat().st_ino] = gone

    return let


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store of 20 pages and more, with a log that a killed process left."""
    live, path = tmp_path / "live.db", tmp_path / "store.db"
    with closing(sqlite3.connect(live, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        db.execute("INSERT INTO t VALUES (1, randomblob(80000))")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(2, 12):
            db.execute("INSERT INTO t VALUES (?, randomblob(3000))", (number,))
        path.write_bytes(live.read_bytes())
        _log(path).write_bytes(_log(live).read_bytes())
    return path


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Have another process keep a store open."""
    other = subprocess.Popen(
        [sys.executable, "-c", _HELD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline()
        yield
        other.stdin.write("\n")


def test_a_sector_that_cannot_be_read_costs_what_lay_there_and_nothing_else(
    shelf: Shelf, tmp_path: Path, breaks: _Break
) -> None:
    """APP-13, APP-14: SQLite could not write over it, and each repair ended with what cannot be written."""
    for vault in shelf.lay(lived_in):
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        vault.close()
    here = around(tmp_path, "alice")
    path = tmp_path / "alice" / ".vault" / "store.db"
    with Vault(tmp_path / "alice", here) as alice:
        records = {*alice.store.rows("SELECT digest FROM body")}
        ((page,),) = alice.store.rows("SELECT rootpage FROM sqlite_master WHERE name = 'place'")
    whole, start = path.read_bytes(), (page - 1) * _PAGE
    breaks(path, range(start + 512, start + 1024))
    (told,) = mend_first(tmp_path / "alice", here).mended
    assert (told.name, told.code) == ("store.db", "sector")
    assert "kept in .vault/damaged where" in told.message  # a later one has a number behind its name
    assert path.read_bytes() == whole[:start] + bytes(_PAGE) + whole[start + _PAGE :]
    assert (path.parent / "damaged" / "store.db.unread").read_bytes() == whole
    with Vault(tmp_path / "alice", here, mending=True) as alice:
        report = mend(alice)
        assert (report.bad, report.lost) == ((), ())
        assert "place" in [thing.name for thing in report.repaired]
        assert {*alice.store.rows("SELECT digest FROM body")} >= records
    with Vault(tmp_path / "alice", here) as alice:
        assert examine(alice).ok
    assert mend_first(tmp_path / "alice", here) == MendedFirst()


def test_of_a_log_that_cannot_be_read_whole_it_is_told_what_is_lost(store: Path, breaks: _Break) -> None:
    """APP-13: the store could not be opened, and the way out that was named helped nothing."""
    log = _log(store)
    whole = log.read_bytes()
    breaks(log, range(HEAD + 9 * FRAME, HEAD + 9 * FRAME + 1))
    assert mend_sectors(store, store.parent / "damaged") == {log.name: _PAGE}
    assert (store.parent / "damaged" / f"{log.name}.unread").read_bytes() == whole
    rot = mend_log(store, store.parent / "damaged")
    assert rot is not None
    assert rot.lost
    with closing(sqlite3.connect(store)) as db:
        assert 1 < db.execute("SELECT count(*) FROM t").fetchone()[0] < 11


def test_a_store_of_which_all_or_most_cannot_be_read_is_left_as_it_is(store: Path, breaks: _Break) -> None:
    """APP-13: a disk that gives nothing may give all of it tomorrow."""
    whole, aside = store.read_bytes(), store.parent / "damaged"
    assert mend_sectors(store, aside) == {}
    breaks(store, range(len(whole)))
    assert mend_sectors(store, aside) == {}
    assert mend_sectors(store.with_name("none.db"), aside) == {}
    assert not aside.exists()
    assert store.stat().st_nlink == 1


def test_a_copy_that_does_not_fit_changes_nothing(store: Path, breaks: _Break, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: nor is there a second name for the file that stays."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    breaks(store, range(_PAGE, _PAGE + 1))
    before = store.stat().st_ino
    with monkeypatch.context() as cut:
        cut.setattr(os, "fsync", full)
        with pytest.raises(DiskFull):
            mend_sectors(store, store.parent / "damaged")
    assert (store.stat().st_ino, store.stat().st_nlink) == (before, 1)
    assert mend_sectors(store, store.parent / "damaged") == {"store.db": _PAGE}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_repair_that_is_killed_goes_on_and_leaves_no_copies(store: Path, breaks: _Break, tmp_path: Path) -> None:
    """APP-13: at each of its writes there is a store, as it was or mended; each copy is as large as the store."""
    whole, aside = store.read_bytes(), store.parent / "damaged"
    number, done = 0, tmp_path / "done"
    while not done.exists():
        number += 1
        shutil.rmtree(aside, ignore_errors=True)
        store.unlink()
        store.write_bytes(whole)
        breaks(store, range(_PAGE, _PAGE + 1))
        child = os.fork()
        if child == 0:
            try:
                kill_at(number).install()
                mend_sectors(store, aside)
                done.touch()
            finally:
                os._exit(70)
        os.waitpid(child, 0)
        assert store.read_bytes()[2 * _PAGE :] == whole[2 * _PAGE :]
        mend_sectors(store, aside)
        assert store.read_bytes() == whole[:_PAGE] + bytes(_PAGE) + whole[2 * _PAGE :]
        assert whole in [path.read_bytes() for path in aside.iterdir()]
        assert not [*tmp_path.rglob("*.tmp")]
    assert number > len(whole) // _PAGE


@pytest.mark.skipif(sys.platform == "win32", reason="there no file that somebody has open can be replaced")
def test_nobody_opens_a_store_before_its_log_was_replaced(
    store: Path, breaks: _Break, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: who came between the two wrote into the log that was there, and all of it was lost."""
    came: list[str] = []

    class Watched(AtomicFile):
        def __exit__(self, *fault: Any) -> None:
            super().__exit__(*fault)
            look = [sys.executable, "-c", _LOOKED, str(store)]
            came.append(subprocess.run(look, capture_output=True, text=True, check=True).stdout.strip())

    log = _log(store)
    breaks(store, range(_PAGE, _PAGE + 1))
    breaks(log, range(HEAD + 9 * FRAME, HEAD + 9 * FRAME + 1))
    monkeypatch.setattr("vault.store.sectors.AtomicFile", Watched)
    assert mend_sectors(store, store.parent / "damaged") == {log.name: _PAGE, store.name: _PAGE}
    assert came == ["database is locked", "opened"]


@pytest.mark.skipif(sys.platform == "win32", reason="there no file that somebody has open can be replaced")
def test_a_store_that_somebody_has_open_keeps_its_files(
    store: Path, breaks: _Break, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: who went on in the log that was replaced lost all that they wrote; not each system names its locks."""
    monkeypatch.setattr(wal, "is_left", lambda _store: True)
    breaks(store, range(_PAGE, _PAGE + 1))
    log, files = _log(store), (store, _log(store))
    with _held(store):
        data = bytearray(log.read_bytes())
        data[HEAD + 2 * FRAME + 300] ^= 5  # two bits
        log.write_bytes(data)
        before = [file.stat().st_ino for file in files]
        assert mend_log(store, store.parent / "damaged") is None
        assert mend_sectors(store, store.parent / "damaged") == {}
        assert [file.stat().st_ino for file in files] == before
        assert log.read_bytes() == data
        assert not (store.parent / "damaged").exists()  # nor is a copy left there by each try
        data[HEAD + 2 * FRAME + 300] ^= 5
        log.write_bytes(data)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (sqlite3.SQLITE_IOERR_CORRUPTFS, StoreDamaged),
        (sqlite3.SQLITE_IOERR_READ, StoreDamaged),
        (sqlite3.SQLITE_IOERR_WRITE, StoreUnwritable),
    ],
)
def test_what_cannot_be_read_is_not_called_unwritable(tmp_path: Path, code: int, named: type[LaceError]) -> None:
    """APP-14: the way out is a repair, and not free space."""
    fault = sqlite3.OperationalError("disk I/O error")
    fault.sqlite_errorcode = code
    with pytest.raises(named):
        name_fault(fault, tmp_path / "store.db")


@pytest.mark.skipif(sys.platform == "win32", reason="there no file that somebody has open can be replaced")
def test_who_waited_for_a_repair_opens_the_file_that_lies_there_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: they went on in the file that was there; what they wrote came into the store by half, or not at all."""
    path, kept = tmp_path / "store.db", tmp_path / "store.db.unread"
    Store(path, create=True).close()
    real = sqlite3.connect

    def waiting(*args: Any, **named: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = real(*args, **named)
        if not kept.exists():
            whole = path.read_bytes()
            os.link(path, kept)
            write_atomic(path, whole)
        return db

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", waiting)
        store = Store(path)
    with closing(store):
        for name in "VWX":  # more than is left in the log, which begins anew then
            rows = [(f"{name}.{number}", "stick" * 900) for number in range(5_000)]
            with store.transaction():
                store.db.executemany("INSERT INTO met(node, tai, place) VALUES (?, '@0', ?)", rows)
    with closing(real(path)) as db:
        assert db.execute("SELECT count(*) FROM met").fetchone() == (15_000,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _alice(shelf: Shelf, tmp_path: Path) -> Vault:
    for vault in shelf.lay(lived_in):
        vault.close()
    return Vault(tmp_path / "alice", around(tmp_path, "alice"))


@pytest.mark.skipif(sys.platform == "win32", reason="there no file that somebody has open can be replaced")
def test_a_store_that_another_thread_has_open_keeps_its_files_and_its_locks(
    shelf: Shelf, tmp_path: Path, breaks: _Break, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the app reads and serves meanwhile; it went on in the file that was there, with no lock on either."""
    monkeypatch.setattr(unopened, "_PATIENCE", 0)
    here, path = around(tmp_path, "alice"), tmp_path / "alice" / ".vault" / "store.db"
    with _alice(shelf, tmp_path) as alice:
        assert alice.store.exposed()
        breaks(path, range(_PAGE, _PAGE + 1))
        before = path.stat().st_ino
        left = mend_first(tmp_path / "alice", here)
        assert (left.mended, [thing.code for thing in left.left]) == ((), ["in-use"])
        assert path.stat().st_ino == before
        look = [sys.executable, "-c", _KEPT, str(path)]
        assert subprocess.run(look, capture_output=True, text=True, check=True).stdout == "False\n"
    assert [thing.name for thing in mend_first(tmp_path / "alice", here).mended] == ["store.db"]


def test_a_store_that_is_opened_while_a_repair_waits_is_told_of(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the app served friends again meanwhile; nothing was looked at then, and nobody was told."""
    monkeypatch.setattr(unopened, "_PATIENCE", 0)
    alice = _alice(shelf, tmp_path)
    alice.close()
    opened: list[Vault] = []
    kept = ExitStack()
    kept.enter_context(lock_of(alice.dot, alice.around).held(timeout=1))

    def waits(_seconds: float) -> None:
        if not opened:
            opened.append(Vault(alice.folder, alice.around))
            kept.close()

    left = mend_first(alice.folder, replace(alice.around, sleep=waits))
    assert [thing.code for thing in left.left] == ["in-use"]
    for vault in opened:
        vault.close()
    assert mend_first(alice.folder, alice.around) == MendedFirst()


def test_who_opens_a_store_waits_until_its_files_are_mended_here(tmp_path: Path) -> None:
    """APP-13: and who mends them waits for who has it open."""
    path = tmp_path / "store.db"
    steps: list[str] = []
    Store(path, create=True).close()

    def opens() -> None:
        with Store(path):
            steps.append("opened")

    with closed_here(path, 0) as is_closed:
        assert is_closed
        other = Thread(target=opens)
        other.start()
        other.join(0.2)
        steps.append("mended")
    other.join()
    assert steps == ["mended", "opened"]
    with Store(path):
        with closed_here(path, 0) as is_closed:
            assert not is_closed
        with closed_here(path.with_name("another.db"), 0) as is_closed:
            assert is_closed
    with pytest.raises(StoreDamaged), Store(path.with_name("another.db")):
        pass
    with closed_here(path.with_name("another.db"), 0) as is_closed:
        assert is_closed


@pytest.mark.skipif(sys.platform == "win32", reason="a link takes a right there, and what is open cannot be moved")
def test_a_store_is_open_here_by_whatever_way_it_is_reached(tmp_path: Path) -> None:
    """APP-13: a repair by another way put a file in its place, or gave up the locks of who had it open."""
    first, link, moved = (tmp_path / name / "store.db" for name in ("first", "link", "moved"))
    first.parent.mkdir()
    link.parent.symlink_to(first.parent)
    with Store(first, create=True):
        with closed_here(link, 0) as is_closed:
            assert not is_closed
        first.parent.rename(moved.parent)
        with closed_here(moved, 0) as is_closed:
            assert not is_closed
    with closed_here(moved, 0) as is_closed:
        assert is_closed


def test_a_vault_that_does_not_open_keeps_no_store_open(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13, APP-14: in the app each try left one with its locks, and its repair left the files as they were."""
    with _alice(shelf, tmp_path) as alice:
        path = alice.store.path

    def full(*_: object) -> None:
        raise DiskFull("There is no room left.")

    with monkeypatch.context() as cut:
        cut.setattr(Store, "note", full)
        with pytest.raises(DiskFull):
            Vault(tmp_path / "alice", around(tmp_path, "alice"))
    with closed_here(path, 0) as is_closed:
        assert is_closed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_repair_does_not_wait_for_a_pipe_where_the_store_was(tmp_path: Path) -> None:
    """APP-14: it waited for ever for somebody to write there."""
    with lived_in(tmp_path)[0] as alice:
        path = alice.store.path
    path.unlink()
    os.mkfifo(path)
    assert mend_first(tmp_path / "alice", around(tmp_path, "alice")) == MendedFirst()
