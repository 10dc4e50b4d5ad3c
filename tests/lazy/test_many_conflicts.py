"""Two people who released much beside each other: each look at what clashes costs what clashes, not its square."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

import lazy.conflicts
from lazy.conflict_sides import InCommon
from lazy.conflicts import NoSuchConflict, conflict_named, conflict_of, conflicts
from lazy.contested import Conflict
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.counting import counted_rows
from tests.shelf import Shelf
from tests.vault.vaults import gathered, write
from vault.names import Version
from vault.releasing import release
from vault.revisions import history
from vault.vault import Vault

_MANY = 12


@pytest.fixture
def alice(shelf: Shelf) -> Iterator[Vault]:
    """Alice's vault, who released as much as bob did, each time with other content."""
    alice, bob = shelf.lay(gathered, "bob")
    for number in range(_MANY):
        for vault in (alice, bob):
            write(vault, f"{number}.txt", vault.name)
            release(vault, Version(2, 0, number), "both")
    for vault in (bob, alice):
        sync(vault, ["stick"])
    bob.close()
    yield alice
    alice.close()


def test_common_ancestors_are_looked_for_among_what_is_common(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-36, APP-3: of 200 conflicts each read all 401 releases, and every screen stood still for two seconds."""
    made: list[object] = []

    class Counted(history.ReleaseInfo):
        def __new__(cls, **values: object) -> Counted:
            made.append(values)
            return super().__new__(cls, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "ReleaseInfo", Counted)
    found = conflicts(alice)
    assert [one.common_words for one in found] == ["1.0.0"] * _MANY
    assert len(made) == _MANY * 2, "its two sides"


def test_the_others_are_not_looked_at_where_one_is_named(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-39: to decide 200 conflicts looked at each of them some 400 times, and took four minutes."""
    name = conflicts(alice)[3].id
    made: list[str] = []
    whole = lazy.conflicts._version_conflict

    def counted(vault: Vault, desk: str, version: Version, *more: Any) -> Conflict:
        made.append(str(version))
        return whole(vault, desk, version, *more)

    monkeypatch.setattr(lazy.conflicts, "_version_conflict", counted)
    assert conflict_named(alice, name).id == name
    assert conflict_of(alice, name).id == name
    assert made == ["2.0.3"] * 2
    resolve_prefer(alice, name, "local")
    with pytest.raises(NoSuchConflict, match="resolved already"):
        conflict_named(alice, name)


def test_many_sides_are_gone_through_once(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-24, LAZ-34: 400 releases of one version took 12.7 s at each look, for every two of them were compared."""
    monkeypatch.setattr("lazy.conflict_sides._NEAR", 2)
    commits = [one.commit for one in history.releases(alice.store, "main")]
    rows = counted_rows(monkeypatch)
    in_common = InCommon(alice.store, "main", commits)
    found = in_common.of(commits)
    assert found[0][0] == Version(2, 0, _MANY - 2), "all but the newest are in what its maker released next"
    read = sum(rows)
    assert read < 6 * len(commits)
    for one, other in combinations(commits, 2):
        in_common.of([one, other])
    assert sum(rows) == read
