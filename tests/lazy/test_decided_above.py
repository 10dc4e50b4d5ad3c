"""Versions whose sides differ in the decisions on another one: thousands compared say what each two say (LAZ-42)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lazy.contested import Conflict, ConflictKind, Side, Status
from lazy.decided_above import with_ended
from tests.counting import counted_rows
from tests.vault.graphs import any_graphs, lay
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.store import Store

_MANY = 60


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("above") / "store.db", create=True) as made:
        yield made


def contested(number: int, sides: list[RecordHash], results: list[RecordHash], *, is_open: bool) -> Conflict:
    """Return a version that was decided, with one answer or with several that disagree."""
    return Conflict(
        id=str(number),
        kind=ConflictKind.VERSION,
        desk="main" if number % 5 else "other",
        version=Version(1, number, 0),
        sides=tuple(Side(commit, None, "", "", "", "", None) for commit in sides),
        in_common=(),
        detected="",
        status=Status.PENDING if is_open else Status.MERGED,
        proposals=(),
        results=tuple(results),
    )


def plain(store: Store, found: list[Conflict], mine: set[str]) -> dict[str, tuple[RecordHash, ...]]:
    """Say by hand what ends with what: of those above the nearest first, then of those below, again and again."""
    below = {commit: ancestors(store, commit) for one in found for commit in [*one.results, *_sides(one)]}
    ended: dict[str, tuple[RecordHash, ...]] = {}
    while True:
        before = len(ended)
        for one in reversed([one for one in found if one.status is Status.PENDING and one.results]):
            settled = [
                other
                for other in found
                if other.desk == one.desk and other.id != one.id
                if other.status is not Status.PENDING or other.id in ended
            ]
            for other in sorted(settled, key=lambda each: (int(each.id) < int(one.id), int(each.id))):
                held = [{result for result in one.results if result.text in below[side]} for side in _sides(other)]
                here = [result for result in ended.get(other.id, other.results) if result.text in mine]
                if (
                    one.id not in ended
                    and set[RecordHash]().union(*held) == set(one.results)
                    and all(len(some) < len(one.results) for some in held)
                    and here
                    and all(low.text in below[high] for high in here for low in one.results)
                ):
                    ended[one.id] = tuple(here)
        if len(ended) == before:
            return ended


def _sides(conflict: Conflict) -> list[RecordHash]:
    return [side.commit for side in conflict.sides]


@pytest.mark.parametrize(("few", "most"), [(10_000, 64), (0, 64), (0, 1)])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_graphs, st.data())
def test_what_ends_is_what_the_plain_definition_says(
    store: Store, few: int, most: int, parents: tuple[list[int], ...], data: st.DataObject
) -> None:
    commits = lay(store, list(parents))
    several = st.lists(st.sampled_from(commits), unique=True, min_size=1, max_size=3)
    found = [
        contested(number, data.draw(several), data.draw(several), is_open=data.draw(st.booleans()))
        for number in range(data.draw(st.integers(1, 7)))
    ]
    mine = data.draw(st.sets(st.sampled_from([commit.text for commit in commits])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lazy.decided_above._FEW", few)
        patch.setattr("vault.revisions.chains._MOST", most)
        told = with_ended(store, found, {"main": mine, "other": mine})
    ended = plain(store, found, mine)
    assert {one.id: one.results for one in told if one.status is not Status.PENDING} == {
        **{one.id: one.results for one in found if one.status is not Status.PENDING},
        **ended,
    }


def test_history_is_read_once_for_all_that_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-42: of 100 that waited beside 100 that were settled each two were compared, and it took minutes."""
    graph: list[list[int]] = [[]]
    for _ in range(_MANY):
        top = len(graph) - 1
        graph += [[top], [top], [top + 1, top + 2], [top + 1, top + 2], [top + 3, top + 4]]
    commits = lay(store, graph)
    found = [
        contested(number, commits[at : at + 2], commits[at + 2 : at + 4], is_open=number % 2 == 0)
        for number, at in enumerate(range(1, len(commits), 5))
    ]
    rows = counted_rows(monkeypatch)
    assert with_ended(store, found, {"main": set(), "other": set()}) == found
    assert sum(rows) < 4 * len(commits)
