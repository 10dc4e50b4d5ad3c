"""Each way of opening a vault does with each state of it what the table says (APP-13, APP-14)."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.vault.vaults import around, found
from vault.beginning import VaultExists, found_vault
from vault.fsck.repair import repair
from vault.states import ANSWERS, Answer, Opening, Standing, unopened
from vault.store import Store
from vault.store.database import BEYOND, StoreDamaged
from vault.store.guard import install
from vault.vault import READABLE, NoVault, Vault, VaultUnfinished


def _run(dot: Path, *statements: str) -> None:
    with closing(sqlite3.connect(dot / "store.db", isolation_level=None)) as db:
        install(db)
        for statement in statements:
            db.execute(statement)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _unfinish(dot: Path) -> None:
    for name in (READABLE, "packs"):
        shutil.rmtree(dot / name, ignore_errors=True)


def _lose(dot: Path) -> None:
    for file in dot.glob("store.db*"):
        file.unlink()


def _absent(dot: Path) -> None:
    _unfinish(dot)
    _lose(dot)


def _gone(dot: Path) -> None:
    shutil.rmtree(dot)


def _bytes_lost(dot: Path) -> None:
    _lose(dot)
    (dot / "store.db").touch()


def _emptied(dot: Path) -> None:
    _run(dot, "DELETE FROM meta WHERE key = 'node'", "DELETE FROM body")


def _unfinished(dot: Path) -> None:
    _absent(dot)
    Store(dot / "store.db", create=True).close()


def _begun(dot: Path) -> None:
    _absent(dot)
    (dot / "store.db").touch()


def _unnamed(dot: Path) -> None:
    _run(dot, "DELETE FROM meta WHERE key = 'node'")


def _rot(dot: Path, name: str) -> None:
    """Let the first page rot of a table or an index."""
    with closing(sqlite3.connect(dot / "store.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchall()
        ((size,),) = db.execute("PRAGMA page_size").fetchall()
    data = bytearray((dot / "store.db").read_bytes())
    data[(page - 1) * size] ^= 1
    (dot / "store.db").write_bytes(data)


def _unread(dot: Path) -> None:
    """Let the page rot that holds the notes; nothing beside the store says that it was finished."""
    _unfinish(dot)
    _rot(dot, "meta")


def _unnamed_and_unread(dot: Path) -> None:
    """And where the note is gone, that by which SQLite sees whether there are records."""
    _unfinish(dot)
    _unnamed(dot)
    _rot(dot, "sqlite_autoindex_body_1")


_WAYS: list[tuple[Standing, Callable[[Path], None]]] = [
    (Standing.ABSENT, _absent),
    (Standing.ABSENT, _gone),
    (Standing.LOST, _lose),
    (Standing.LOST, _bytes_lost),
    (Standing.UNFINISHED, _unfinished),
    (Standing.UNFINISHED, _begun),
    (Standing.EMPTIED, _emptied),
    (Standing.UNNAMED, _unnamed),
    (Standing.UNREAD, _unread),
    (Standing.UNREAD, _unnamed_and_unread),
    (Standing.WHOLE, lambda _dot: None),
]


def _opened(root: Path, how: Opening) -> Answer:
    """Open alice's vault, or begin it, and return what became of that."""
    folder, here = root / "alice", around(root / "again", "alice")
    try:
        if how is Opening.BEGIN:
            found_vault(folder, here, name="alice", group="friends").close()
            return Answer.BEGINS
        Vault(folder, around(root, "alice"), mending=how is Opening.MEND).close()
    except NoVault:
        return Answer.NO_VAULT
    except VaultUnfinished:
        return Answer.UNFINISHED
    except VaultExists:
        return Answer.EXISTS
    except StoreDamaged as error:
        return {BEYOND: Answer.BEYOND, StoreDamaged.hint: Answer.DAMAGED}[error.hint]
    return Answer.OPENS


@pytest.mark.parametrize("how", Opening)
@pytest.mark.parametrize(("standing", "lay"), _WAYS)
def test_a_vault_is_opened_by_the_table(
    tmp_path: Path, standing: Standing, lay: Callable[[Path], None], how: Opening
) -> None:
    """APP-13, APP-14: it opens, is refused with a way out, or is begun, by how it is found alone."""
    found(tmp_path).close()
    (tmp_path / "alice" / ".vault" / READABLE).mkdir(exist_ok=True)  # as the first command leaves it
    lay(tmp_path / "alice" / ".vault")
    assert _opened(tmp_path, how) is ANSWERS[standing, how]


@pytest.mark.parametrize("lay", [_unnamed, _unread, _unnamed_and_unread])
def test_a_repair_opens_what_it_can_mend(tmp_path: Path, lay: Callable[[Path], None]) -> None:
    """APP-13: one whose records tell whose it is was refused where these are counted, and sent to join again."""
    with found(tmp_path) as vault:
        node = vault.node
    lay(tmp_path / "alice" / ".vault")
    here = around(tmp_path, "alice")
    with Vault(tmp_path / "alice", here, mending=True) as vault:
        repair(vault)
    with Vault(tmp_path / "alice", here) as vault:
        assert vault.node == node


def test_the_table_is_whole() -> None:
    """And whatever a repair opens or a new vault begins is nothing that is in use."""
    assert set(ANSWERS) == {(standing, how) for standing in Standing for how in Opening}
    assert {standing for standing, _ in _WAYS} == set(Standing)
    for standing in Standing:
        use, mend, begin = (ANSWERS[standing, how] for how in Opening)
        assert use is mend or (use, mend) == (Answer.DAMAGED, Answer.OPENS)
        assert (begin is Answer.BEGINS) is (use in {Answer.NO_VAULT, Answer.UNFINISHED})


def test_what_was_finished_is_never_begun_anew_by_its_files() -> None:
    """APP-14: where the store is gone and what lies beside it is not, its key still counts for friends."""
    for is_file, has_bytes in ((False, False), (True, False), (True, True)):
        known = unopened(is_file=is_file, has_bytes=has_bytes, was_finished=True)
        assert known is (None if has_bytes else Standing.LOST)
