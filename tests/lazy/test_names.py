"""What a name means: mine is mine, and a place that was removed is forgotten."""

from __future__ import annotations

from pathlib import Path

from lazy.circle import accept, invite
from lazy.people import label_of, node_of
from lazy.places import remove_place
from lazy.sync import sync
from tests.vault import vaults


def test_a_friend_with_my_own_name_is_told_apart_from_me(tmp_path: Path) -> None:
    """LAZ-51: my name means me, and hers is another."""
    alice = vaults.found(tmp_path)
    vaults.befriend(tmp_path, alice, "bob")
    other, _ = accept(tmp_path / "o", vaults.around(tmp_path, "o"), invite(alice).encode(), name="alice")
    for vault in (alice, other, alice):
        sync(vault, ["stick"])
    shown = label_of(alice, other.node.text)
    assert shown != "alice"
    assert node_of(alice, shown) == other.node.text
    assert node_of(alice, "alice") == alice.node.text


def test_a_removed_place_leaves_no_last_sync(tmp_path: Path) -> None:
    """LAZ-54."""
    alice = vaults.found(tmp_path)
    vaults.befriend(tmp_path, alice, "bob")
    assert alice.store.rows("SELECT place FROM last_sync") == [("stick",)]
    remove_place(alice, "stick")
    assert alice.store.rows("SELECT place FROM last_sync") == []
