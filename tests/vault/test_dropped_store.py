"""A store that is dropped and not closed goes, gives up its locks, and says so where that is asked for (APP-13)."""

from __future__ import annotations

import gc
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from weakref import ref

import pytest

from tests.vault.vaults import around, found
from vault.store import Store
from vault.store.alone import closed_here
from vault.store.database import StoreDamaged
from vault.vault import Vault

_DROPPED = "was dropped and not closed"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    gc.collect()
    found(tmp_path).close()
    yield tmp_path / "alice" / ".vault" / "store.db"
    gc.collect()


def _drop(kept: list[Store] | list[Vault]) -> None:
    kept.clear()
    gc.collect()


def _run(thread: Thread) -> None:
    thread.start()
    thread.join()


def _drop_elsewhere(kept: list[Store]) -> None:
    """Drop a store where another thread collects it; what is warned of keeps it for as long as it is kept itself."""
    with pytest.warns(ResourceWarning, match=_DROPPED) as told:
        _run(Thread(target=_drop, args=(kept,)))
    told.clear()
    gc.collect()


def test_a_store_that_is_dropped_goes_and_says_so(path: Path) -> None:
    """It stayed for as long as the process lived: SQLite held what it calls of it, where no collector looks."""
    kept = [Store(path)]
    seen = ref(kept[0])
    with pytest.warns(ResourceWarning, match=_DROPPED):
        _drop(kept)
    assert seen() is None


def test_what_a_dropped_store_held_is_given_up(path: Path) -> None:
    """A repair in the same process would leave the files as they are, and name the app for it."""
    folder = path.parent.parent
    kept = [Vault(folder, around(folder.parent, "alice"))]
    with closed_here(path, 0) as is_closed:
        assert not is_closed
    with pytest.warns(ResourceWarning, match=_DROPPED):
        _drop(kept)
    with closed_here(path, 0) as is_closed:
        assert is_closed
    with sqlite3.connect(path, timeout=0, isolation_level=None) as db:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
    db.close()


def test_a_store_may_be_collected_by_another_thread(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is closed by the thread that opened it alone; whichever comes to collect it lets it go."""
    stray: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", stray.append)
    _drop_elsewhere([Store(path)])
    with closed_here(path, 0) as is_closed:
        assert is_closed
    assert not stray


def test_one_that_another_thread_collects_counts_as_open_for_as_long_as_its_files_are(path: Path) -> None:
    """Who mends them would lose its locks when they are closed, and what it wrote to who brings a log in then."""
    kept = [Store(path)]
    connections = [kept[0].db]
    _drop_elsewhere(kept)
    with closed_here(path, 0) as is_closed:
        assert not is_closed
    connections.clear()
    gc.collect()  # each holds what it was asked, which holds it
    with closed_here(path, 0) as is_closed:
        assert is_closed


def test_one_that_was_closed_or_never_opened_says_nothing(path: Path, recwarn: pytest.WarningsRecorder) -> None:
    Store(path).close()
    with pytest.raises(StoreDamaged):
        Store(path.with_name("none.db"))
    gc.collect()
    assert not recwarn.list
