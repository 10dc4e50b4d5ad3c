"""What sides were built upon, near and far below them: what the plain definition says (H-18, LAZ-34)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lazy.conflict_sides import InCommon
from tests.counting import counted_rows
from tests.vault.graphs import any_graphs, lay
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.store import Store

Found = tuple[tuple[Version, tuple[int, ...]], ...]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("common") / "store.db", create=True) as made:
        yield made


def released(store: Store, commits: list[RecordHash], versions: list[int]) -> list[tuple[Version, RecordHash]]:
    """Release commits under versions, in this order; return them so."""
    made = []
    with store.transaction():
        store.run("DELETE FROM release")
        for p, (commit, number) in enumerate(zip(commits, versions, strict=False)):
            if number:
                text = f"release {p}"
                store.run(
                    "INSERT INTO release VALUES (?, ?, 'bob', 'main', ?, ?, '', '', ?, ?, 1)",
                    *(p, text, f"1.{number}.0", commit.text, p, p),
                )
                made.append((Version(1, number, 0), commit))
    return made


def plain(store: Store, shown: list[tuple[Version, RecordHash]], sides: list[RecordHash]) -> Found:
    """Say it by hand: each release that several sides contain, but for those that no further side has in common."""
    below = [ancestors(store, side) for side in sides]
    found: list[tuple[Version, tuple[int, ...]]] = []
    for version, commit in sorted(shown, key=lambda one: one[0], reverse=True):
        of = tuple(at for at, texts in enumerate(below) if commit.text in texts)
        if len(of) > 1 and not any(set(of) <= set(higher) for _, higher in found):
            found.append((version, of))
    return tuple(found)


@pytest.mark.parametrize(("near", "few", "most"), [(32, 4, 64), (2, 4, 64), (2, 0, 64), (1, 0, 1)])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_graphs, st.lists(st.integers(0, 6), max_size=30), st.data())
def test_it_is_what_the_plain_definition_says(
    store: Store,
    near: int,
    few: int,
    most: int,
    parents: tuple[list[int], ...],
    versions: list[int],
    data: st.DataObject,
) -> None:
    commits = lay(store, list(parents))
    shown = released(store, commits, versions)
    several = st.lists(st.sampled_from(commits), unique=True, min_size=1, max_size=4)
    asked = data.draw(st.lists(several, min_size=1, max_size=4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lazy.conflict_sides._NEAR", near)
        patch.setattr("lazy.conflict_sides._FEW", few)
        patch.setattr("vault.revisions.chains._MOST", most)
        in_common = InCommon(store, "main", {commit for sides in asked for commit in sides})
        assert [in_common.of(sides) for sides in asked] == [plain(store, shown, sides) for sides in asked]


def test_what_is_near_costs_the_same_on_a_long_history(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-34: also where one of few releases lies at the bottom of it."""
    rows = counted_rows(monkeypatch)
    costs = []
    for length in (500, 5000):
        line = [[number - 1] if number else [] for number in range(length)]
        commits = lay(store, [*line, [length - 1], [length - 1]])
        versions = [1, *(0 for _ in range(length - 5)), 2, 3, 4, 5, 6, 6]
        released(store, commits, versions)
        rows.clear()
        found = InCommon(store, "main", commits[-2:]).of(commits[-2:])
        assert found == ((Version(1, 5, 0), (0, 1)),)
        costs.append(sum(rows))
    assert costs[0] == costs[1]
