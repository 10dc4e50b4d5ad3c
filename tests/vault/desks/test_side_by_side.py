"""A directory that holds files and folders side by side is not listed again for each of them (CLAY-71, APP-12)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.vault.desks.support import Desk, check_out, model_of, on_disk, skipped, started, tree_of, write
from vault.desks import paths, plan

_COUNT = 300
_ALBUMS = {f"alb/A{number:05}/song": b"la" for number in range(_COUNT)}
_LISTS = {f"alb/A{number:05}.m3u": b"list" for number in range(_COUNT)}
_STAYS = {f"alb/Z{number:05}": b"stays" for number in range(_COUNT)}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each name that a directory was listed with, or that was compared with others, as often as it was."""
    found: list[str] = []
    listed, keyed = os.listdir, paths.twin_key

    def listdir(path: Any = ".") -> list[str]:
        told = listed(path)
        found.extend(told)
        return told

    def twin_key(name: str) -> str:
        found.append(name)
        return keyed(name)

    monkeypatch.setattr(os, "listdir", listdir)
    monkeypatch.setattr(plan, "twin_key", twin_key)
    return found


def test_what_goes_beside_folders_costs_no_listing_each(desk: Desk, names: list[str]) -> None:
    """CLAY-71: to delete some thousand of both took seconds, and twice as many four times as long."""
    before = started(desk, _ALBUMS | _LISTS | _STAYS)
    names.clear()
    assert len(check_out(desk, before, tree_of(desk.objects, _STAYS)).deleted) == 2 * _COUNT
    assert len(names) < 40 * _COUNT
    assert on_disk(desk.root) == _STAYS


def test_what_comes_beside_folders_costs_no_listing_each(desk: Desk, names: list[str]) -> None:
    """CLAY-71: likewise to write them, into a folder that holds others already."""
    before = started(desk, _STAYS)
    names.clear()
    check_out(desk, before, tree_of(desk.objects, _ALBUMS | _LISTS | _STAYS))
    assert len(names) < 40 * _COUNT
    assert on_disk(desk.root) == _ALBUMS | _LISTS | _STAYS


def test_twins_are_found_wherever_the_walk_comes_back_to(desk: Desk) -> None:
    """APP-12: of folders that are missing the first that would be made, beside files, and at the top."""
    before = started(desk, {"a/deep/x": b"1", "b": b"1"})
    for path in ("a/Twin", "TOP", "a/deep/Low"):
        write(desk, path)
    new = ["a/deep/low/y/z", "a/deep/lower", "a/twin/y", "a/twinned/y", "top/y/z"]
    after = tree_of(desk.objects, {"a/deep/x": b"1", "b": b"1"} | dict.fromkeys(new, b"2"))
    found = check_out(desk, before, after, force=True)
    assert {skip.path for skip in found.skipped} == {"a/deep/low/y/z", "a/twin/y", "top/y/z"}
    assert set(found.written) == {"a/deep/lower", "a/twinned/y"}
    assert model_of(desk.objects, desk.scan().root).keys() >= {"a/Twin", "TOP", "a/deep/Low", "a/twinned/y"}
    assert skipped(desk.scan().problems) == {}
