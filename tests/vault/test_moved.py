"""A vault whose folder is moved while it is open: the store goes along, and what lies by name does not (APP-13)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.folder.update import update
from lazy.sync import sync
from tests.vault.vaults import around, gathered, write
from vault.fsck.check import check
from vault.releasing import release
from vault.store.packs import PACK_MIN_BYTES
from vault.vault import Vault, VaultMoved
from vault.writer import Writer


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Vault, Vault]]:
    """Alice and bob on a stick, with a release of hers that he has and one that lies there for him."""
    alice, bob = gathered(tmp_path, "bob")
    (alice.folder / "film.bin").write_bytes(random.Random(1).randbytes(4 * PACK_MIN_BYTES))
    release(alice, None, "second")
    sync(alice, ["stick"])
    yield alice, bob
    alice.close()
    bob.close()


def test_a_vault_that_was_moved_writes_nothing_where_it_lay(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """faults.md row 4: a second lock grew there, and packs that the moved store knew of."""
    _, bob = pair
    bob.folder.rename(tmp_path / "moved")
    with pytest.raises(VaultMoved, match="is there no longer"):
        sync(bob, ["stick"])
    assert not bob.folder.exists()
    with Vault(tmp_path / "moved", around(tmp_path, "bob")) as there:
        sync(there, ["stick"])
        update(there)
        assert (there.folder / "film.bin").stat().st_size == 4 * PACK_MIN_BYTES
        assert check(there).ok


def test_nor_does_it_where_another_stands_now(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """faults.md rows 4 and 18: a backup that was restored in its place has a lock and packs of its own."""
    _, bob = pair
    shutil.copytree(bob.folder, tmp_path / "backup")
    bob.folder.rename(tmp_path / "moved")
    (tmp_path / "backup").rename(bob.folder)
    before = sorted(bob.folder.rglob("*"))
    for write_there in (lambda: sync(bob, ["stick"]), lambda: release(bob, None, "mine")):
        with pytest.raises(VaultMoved):
            write_there()
    assert sorted(bob.folder.rglob("*")) == before


def test_what_was_under_way_when_it_was_moved_is_not_kept(
    pair: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """faults.md row 4: content whose pack was written by name belongs to no store."""
    alice, _ = pair
    write(alice, "a.txt", "three\n")
    (alice.folder / "song.bin").write_bytes(random.Random(2).randbytes(4 * PACK_MIN_BYTES))
    flush = Writer.flush

    def moving(writer: Writer) -> None:
        flush(writer)
        if alice.folder.exists():
            alice.folder.rename(tmp_path / "moved")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "flush", moving)
        with pytest.raises(VaultMoved):
            release(alice, None, "third")
    with Vault(tmp_path / "moved", around(tmp_path, "alice")) as there:
        assert check(there).ok
        assert str(release(there, None, "third").version) == "1.0.2"
