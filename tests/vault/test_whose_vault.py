"""Whose vault it is, told again where the note of it has rotted, and never guessed (APP-13, APP-14)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lazy.belonging.adopting import adopt
from lazy.mend import mend
from tests.cli.conftest import make_ann
from tests.faults.cells import Cell, Cells
from tests.rows import put_text, text_at
from tests.shelf import Shelf
from tests.vault.vaults import around, found, write
from vault.fsck.check import check
from vault.notes.note import Note, Rotten
from vault.notes.registry import NOTES
from vault.releasing import release
from vault.store.database import StoreDamaged
from vault.vault import Vault

_ROTTEN = "V.rotten"


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    vault = found(tmp_path)
    write(vault, "a.txt", "one\n")
    release(vault, None, "first")
    yield vault
    vault.close()


def _forget(vault: Vault, text: str = "") -> None:
    """Let the note of the node rot."""
    with vault.store.transaction():
        put_text(vault.store, "node", text)


def _damage_adoption(vault: Vault) -> None:
    """Let the entry of the trail rot that tells of the adoption."""
    with vault.store.transaction():
        (p,) = vault.store.rows("SELECT p FROM audit WHERE verb = 'lace-adopt'")[0]
        vault.store.run("UPDATE body SET bytes = CAST(bytes || '!' AS BLOB) WHERE p = ?", p)


def test_a_key_of_the_node_s_row_that_rotted_is_healed_by_a_repair(shelf: Shelf) -> None:
    """APP-13, APP-14: every command ended with 41, the repair too, and said that the vault is to be moved away."""
    ann = shelf.lay(make_ann)
    before = ann.lace("id")
    assert Cells(ann).rot(Cell("meta", "key", (("key", "node"),), "node"), "nodf")
    refused = ann.run("status")
    assert refused.code == StoreDamaged.exit_code
    assert "lace fsck --repair" in refused.err
    ann.lace("fsck", expect=1)
    assert ann.lace("fsck", "--repair")["ok"]
    assert ann.lace("id") == before
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    assert ann.lace("fsck")["ok"]


def test_a_node_that_rotted_is_no_fault_of_a_friend_s_program(alice: Vault) -> None:
    """APP-14: commands ended with 40, and said that it can only be mended where it was made."""
    _forget(alice, _ROTTEN)
    with pytest.raises(StoreDamaged):
        _ = alice.node


@pytest.mark.parametrize("text", ["", _ROTTEN])
def test_what_the_trail_the_key_and_the_mark_tell_alike_is_healed_after_an_adoption(alice: Vault, text: str) -> None:
    """APP-13: the keys of both are here."""
    adopt(alice)
    node = alice.node
    _forget(alice, text)
    assert mend(alice).ok
    assert alice.node == node


def test_a_repair_never_gives_a_vault_back_to_the_node_before_its_adoption(alice: Vault) -> None:
    """APP-13: with the entry of the adoption damaged the old key would have signed again, here and on its machine."""
    adopt(alice)
    node = alice.node
    _damage_adoption(alice)
    mend(alice)
    assert alice.node == node


def test_where_the_trail_and_the_mark_name_two_nodes_none_is_guessed(alice: Vault) -> None:
    """APP-13, APP-14: the entry of the adoption is lost with the note, and both keys are here."""
    adopt(alice)
    _damage_adoption(alice)
    _forget(alice)
    epoch = alice.store.rows("SELECT value FROM meta WHERE key = 'epoch'")
    with pytest.raises(StoreDamaged) as refused:
        mend(alice)
    assert "backup" in refused.value.hint
    assert alice.store.rows("SELECT value FROM meta WHERE key = 'epoch'") == epoch


def test_without_key_and_mark_it_waits_for_them_and_changes_nothing(alice: Vault, tmp_path: Path) -> None:
    """APP-13, APP-14: keys on a disk that is not plugged in come back with it, and the same repair heals then."""
    node = alice.node
    _forget(alice)
    away = Vault(alice.folder, around(tmp_path, "nobody"), mending=True)
    assert not check(away).ok
    with pytest.raises(StoreDamaged) as refused:
        mend(away)
    assert "LACE_HOME" in refused.value.hint
    away.close()
    with pytest.raises(StoreDamaged):
        Vault(alice.folder, alice.around)
    with Vault(alice.folder, alice.around, mending=True) as back:
        assert mend(back).ok
        assert back.node == node


def test_a_store_with_no_record_is_not_opened_to_be_mended(alice: Vault) -> None:
    """APP-14: a repair has nothing there to tell it by."""
    with alice.store.transaction():
        alice.store.run("DELETE FROM body")
    _forget(alice)
    shutil.rmtree(alice.dot / "packs", ignore_errors=True)
    (alice.dot / "lazy").mkdir(exist_ok=True)
    with pytest.raises(StoreDamaged) as refused:
        Vault(alice.folder, alice.around, mending=True)
    assert "backup" in refused.value.hint


def _of(rotten: Rotten) -> list[Note[Any]]:
    return [note for note in NOTES if note.rotten is rotten]


@pytest.mark.parametrize("note", _of(Rotten.TOLD_AGAIN), ids=lambda note: note.name)
def test_what_the_records_tell_again_is_what_stood_there(alice: Vault, note: Note[Any]) -> None:
    """APP-13: docs/notes.md says so of each of these notes."""
    before = text_at(alice.store, note.name)
    with alice.store.transaction():
        put_text(alice.store, note.name, _ROTTEN)
    mend(alice)
    assert text_at(alice.store, note.name) == before


@pytest.mark.parametrize("note", _of(Rotten.WRITTEN_ANEW), ids=lambda note: note.name)
def test_what_no_record_tells_is_written_anew_by_each_repair(alice: Vault, note: Note[Any]) -> None:
    """APP-13: cursors that counted in the log before the repair are not believed, so its epoch never comes back."""
    with alice.store.transaction():
        put_text(alice.store, note.name, _ROTTEN)
    mend(alice)
    after = text_at(alice.store, note.name)
    assert after not in {"", _ROTTEN}
    assert mend(alice).ok
    assert text_at(alice.store, note.name) not in {"", after}
