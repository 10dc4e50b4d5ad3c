"""Folders in a folder that are vaults or desks of their own: a scan leaves them be (CLAY-71, APP-12)."""

from __future__ import annotations

import shutil

import pytest

from tests.vault.desks.support import Desk, model_of, skipped, write
from vault.desks.scan import Scanning


def test_a_folder_with_a_vault_of_its_own_is_left_out(desk: Desk) -> None:
    write(desk, ".vault/store.db")
    write(desk, "other/.vault/store.db")
    write(desk, "other/file")
    write(desk, "mine")
    found = desk.scan()
    assert model_of(desk.objects, found.root) == {"mine": b"1"}
    assert set(skipped(found.problems)) == {"other"}


@pytest.mark.parametrize("state", ["there", "moved", "gone", "file"])
def test_the_folder_of_another_desk_is_never_deleted_from_this_one(desk: Desk, state: str) -> None:
    """CLAY-3, APP-12: a moved or unmounted folder is no deletion, and nothing is taken in its place."""
    write(desk, "deep/songs/old")
    write(desk, "mine")
    base = desk.scan().root
    match state:
        case "moved":
            (desk.root / "deep/songs").rename(desk.root / "music")
        case "gone":
            shutil.rmtree(desk.root / "deep")
        case "file":
            shutil.rmtree(desk.root / "deep")
            write(desk, "deep")
        case _:
            write(desk, "deep/songs/new")
    found = desk.scan(base, how=Scanning(without=frozenset({"deep/songs", "never/there"})))
    new = {"music/old": b"1"} if state == "moved" else {}
    assert model_of(desk.objects, found.root) == {"deep/songs/old": b"1", "mine": b"1", **new}
    assert set(skipped(found.problems)) == ({"deep"} if state == "file" else set())
