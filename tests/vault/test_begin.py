"""A vault is begun whole or not at all (APP-12, APP-13): cut off anywhere, the same command begins it anew."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.belonging.circle import accept, invite
from lazy.files import write_lazy_files
from lazy.places.adding import add_place
from lazy.places.registry import places
from lazy.sync import sync
from tests.vault import vaults
from vault.beginning import VaultExists, found_vault
from vault.notes.people import INVITATION, INVITER
from vault.releasing import release
from vault.store import Store
from vault.store.database import StoreDamaged
from vault.surroundings import Surroundings
from vault.vault import NoVault, Vault, VaultUnfinished


def cut_at(world: Surroundings, look: int, cut: Callable[[], None]) -> Surroundings:
    """Return the world in which something happens at the given look at the clock or draw of randomness."""
    looks = [0]

    def count() -> None:
        looks[0] += 1
        if looks[0] == look:
            cut()

    def now_ns() -> int:
        count()
        return world.now_ns()

    def entropy(size: int) -> bytes:
        count()
        return world.entropy(size)

    return replace(world, now_ns=now_ns, entropy=entropy)


def interrupt() -> None:
    raise KeyboardInterrupt


def found(folder: Path, world: Surroundings) -> Vault:
    return found_vault(folder, world, name="alice", group="friends")


def test_a_group_cut_off_while_it_is_founded_is_founded_by_the_same_command(tmp_path: Path) -> None:
    """APP-13: Ctrl-C at every look at the clock; never is a vault left that can never belong."""
    look = 0
    while True:
        look += 1
        folder, world = tmp_path / f"f{look}", vaults.around(tmp_path, f"alice{look}")
        try:
            found(folder, cut_at(world, look, interrupt)).close()
            break
        except KeyboardInterrupt:
            pass
        with pytest.raises((VaultUnfinished, NoVault)):
            Vault(folder, world)
        with found(folder, world) as vault:
            assert vault.store.rows("SELECT node FROM member") == [(vault.node.text,)]
            (folder / "a.txt").write_text("one\n")
            assert release(vault, None, "first").seq == 2
        with pytest.raises(VaultExists):
            found(folder, world)
    assert look > 5


@pytest.mark.parametrize("how", ["emptied", "gone", "laid out anew"])
@pytest.mark.parametrize("left", ["lazy", "packs"])
def test_a_vault_that_lost_its_store_is_not_one_that_was_never_finished(tmp_path: Path, how: str, left: str) -> None:
    """APP-13, APP-14: it was said to hold nothing, and to begin it again wrote over all that rested in its packs."""
    folder, world = tmp_path / "f", vaults.around(tmp_path, "alice")
    with found(folder, world) as vault:
        (folder / "large").write_bytes(world.entropy(64) * 4_000)
        release(vault, None, "Large")
        write_lazy_files(vault)
        store, packs = vault.store.path, sorted((vault.dot / "packs").iterdir())
    assert packs
    before = [path.read_bytes() for path in packs]
    shutil.rmtree(store.with_name("packs" if left == "lazy" else "lazy"))
    for path in store.parent.glob("store.db*"):
        path.unlink()
    if how == "emptied":
        store.touch()
    elif how == "laid out anew":
        Store(store, create=True).close()
    with pytest.raises(StoreDamaged, match="has lost") as caught:
        Vault(folder, world)
    assert "backup" in caught.value.hint
    with pytest.raises(VaultExists):
        found(folder, world)
    assert left == "lazy" or [path.read_bytes() for path in packs] == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is killed")
@pytest.mark.parametrize("look", [2, 4, 6, 8])
def test_a_killed_process_leaves_no_half_vault(tmp_path: Path, look: int) -> None:
    """APP-13."""
    folder, world = tmp_path / "f", replace(vaults.around(tmp_path, "alice"), entropy=os.urandom)
    child = os.fork()
    if child == 0:
        found(folder, cut_at(world, look, lambda: os._exit(9)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    with found(folder, world) as vault:
        assert vault.store.rows("SELECT node FROM member") == [(vault.node.text,)]
        assert vault.store.rows("SELECT seq FROM log") == [(1,)]
    with Vault(folder, world) as again:
        again.check_mark()


def test_an_invitation_whose_acceptance_was_cut_off_is_accepted_again(tmp_path: Path) -> None:
    """APP-13: whatever is left opens with invitation, inviter and places, or not at all."""
    alice = vaults.found(tmp_path)
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    line = invite(alice, "bob").encode()
    sync(alice, ["stick"])
    look, refused, complete = 0, 0, 0
    while True:
        look += 1
        folder, world = tmp_path / f"bob{look}", vaults.around(tmp_path, f"bob{look}")
        try:
            bob, _ = accept(folder, cut_at(world, look, interrupt), line)
            bob.close()
            bob = Vault(folder, world)
            break
        except KeyboardInterrupt:
            pass
        try:
            bob = Vault(folder, world)
            complete += 1
        except (VaultUnfinished, NoVault):
            refused += 1
            bob, _ = accept(folder, world, line)
        with bob:
            assert bob.store.note(INVITATION) == line
            assert bob.store.note(INVITER) == alice.node.text
            assert [place.name for place in places(bob)] == ["stick"]
    assert refused > 5
    assert complete > 0
    sync(bob, ["stick"])
    sync(alice, ["stick"])
    # All of them asked with the one line; it admits one.
    assert alice.store.rows("SELECT count(*) FROM member") == [(2,)]
