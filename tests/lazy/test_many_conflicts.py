"""Two people who released much beside each other: each look at what clashes costs what clashes, not its square."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.conflicts import conflicts
from lazy.sync import sync
from tests.vault.vaults import gathered, write
from vault.names import Version
from vault.releasing import release
from vault.revisions import history

_MANY = 12


def test_common_ancestors_are_looked_for_among_what_is_common(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-36, APP-3: of 200 conflicts each read all 401 releases, and every screen stood still for two seconds."""
    alice, bob = gathered(tmp_path, "bob")
    for number in range(_MANY):
        for vault in (alice, bob):
            write(vault, f"{number}.txt", vault.name)
            release(vault, Version(2, 0, number), "both")
    for vault in (bob, alice):
        sync(vault, ["stick"])
    made: list[object] = []

    class Counted(history.ReleaseInfo):
        def __new__(cls, *values: object) -> Counted:
            made.append(values)
            return super().__new__(cls, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "ReleaseInfo", Counted)
    found = conflicts(alice)
    assert [one.common_words for one in found] == ["1.0.0"] * _MANY
    assert len(made) == _MANY * 3, "its two sides and what both were built on"
    for vault in (alice, bob):
        vault.close()
