"""What a name means: mine is mine, and a place that was removed is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.belonging.circle import accept, invite
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.people import formers, label_of, node_of
from lazy.places import adding, roads
from lazy.places.adding import PlaceKnown, add_place
from lazy.places.registry import NameTaken, Place, places, remove_place
from lazy.sync import sync
from tests.vault import vaults
from vault.errors import CallerError
from vault.vault import Vault


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


@pytest.mark.parametrize(
    ("name", "where", "refusal"), [("stick", "elsewhere", NameTaken), ("other", "stick", PlaceKnown)]
)
def test_of_two_who_add_a_place_at_once_the_second_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, where: str, refusal: type[CallerError]
) -> None:
    """LAZ-51: what another process took between the look and the write is a sentence, and one place is there."""
    alice = vaults.found(tmp_path)
    make = roads.make_place

    def slow(vault: Vault, *args: str, **options: object) -> Place:
        made = make(vault, *args, **options)  # type: ignore[arg-type]
        if vault is alice:
            with Vault(alice.folder, alice.around) as twin:
                add_place(twin, name, str(tmp_path / where), cwd=tmp_path)
        return made

    monkeypatch.setattr(adding, "make_place", slow)
    with pytest.raises(refusal):
        add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    assert [place.name for place in places(alice)] == [name]


def test_who_was_revoked_is_told_apart_from_a_member_of_that_name(tmp_path: Path) -> None:
    """LAZ-51: of a lost device and the one that replaced it, both of one name, `bo was revoked` stood beside bo."""
    alice = vaults.found(tmp_path)
    lost = vaults.befriend(tmp_path, alice, "bob").node.text
    new, _ = accept(tmp_path / "n", vaults.around(tmp_path, "n"), invite(alice).encode(), name="bob")
    for vault in (new, alice):
        sync(vault, ["stick"])
    named = label_of(alice, lost)
    assert named != "bob"
    revoke(alice, plan_revocation(alice, lost), "")
    assert (label_of(alice, lost), label_of(alice, new.node.text)) == (named, "bob")
    assert [gone.name for gone in formers(alice)] == [named]
    assert (node_of(alice, named), node_of(alice, "bob")) == (lost, new.node.text)
    plan = plan_revocation(alice, new.node.text)
    revoke(alice, plan, "")
    assert len({gone.name for gone in formers(alice)}) == 2


def test_who_is_let_in_is_told_by_the_name_they_go_by(tmp_path: Path) -> None:
    """LAZ-51: a second bob was told as bob, whom no command knew from then on."""
    alice = vaults.found(tmp_path)
    vaults.befriend(tmp_path, alice, "bob")
    new, _ = accept(tmp_path / "n", vaults.around(tmp_path, "n"), invite(alice).encode(), name="bob")
    sync(new, ["stick"])
    (done,) = sync(alice, ["stick"])
    (name,) = done.came.admitted
    assert node_of(alice, name) == new.node.text
