"""The graph of commits and what became visible, asked of a part: the same answers as of the whole (CLAY-7, LAZ-23)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vault.vaults import found, write
from vault.graph import ancestors, is_ancestor, newest
from vault.history import releases, releases_of, releases_shown, releases_since
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.store import Store
from vault.vault import Vault

LONG = 700  # more commits than are looked at first


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("graph") / "store.db", create=True) as made:
        yield made


def lay(store: Store, parents: list[list[int]]) -> list[RecordHash]:
    """Put a graph in the place of the one before: each commit with its parents, which stand before it."""
    commits = [RecordHash("S", number.to_bytes(32, "big")) for number in range(len(parents))]
    with store.transaction():
        store.run("DELETE FROM parent")
        for child, below in zip(commits, parents, strict=True):
            for number in below:
                store.run("INSERT INTO parent VALUES (?, ?)", child.text, commits[number].text)
    return commits


graphs = st.integers(1, 14).flatmap(
    lambda size: st.tuples(
        *(
            st.lists(st.integers(0, number - 1), max_size=3, unique=True) if number else st.just([])
            for number in range(size)
        )
    )
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs, st.data())
def test_part_of_the_graph_says_what_the_whole_says(
    store: Store, parents: tuple[list[int], ...], data: st.DataObject
) -> None:
    commits = lay(store, list(parents))
    lines = {commit: ancestors(store, commit) for commit in commits}
    for lower in commits:
        for upper in commits:
            assert is_ancestor(store, lower, upper) == (lower.text in lines[upper])
    some = data.draw(st.lists(st.sampled_from(commits), unique=True))
    heads = [one for one in some if not any(one.text in lines[other] for other in some if other != one)]
    assert newest(store, some) == sorted(heads, key=lambda head: head.text)
    for lower in commits:
        assert is_ancestor(store, lower, *some) == any(lower.text in lines[upper] for upper in some)


def test_far_apart_and_on_branches_that_never_meet(store: Store) -> None:
    line = [[number - 1] if number else [] for number in range(LONG)]
    other = [[LONG + number - 1] if number else [] for number in range(LONG)]
    commits = lay(store, line + other)
    first, last, strange = commits[0], commits[LONG - 1], commits[-1]
    assert is_ancestor(store, first, last)
    assert is_ancestor(store, first, strange, last)
    for lower, upper in ((last, first), (last, strange), (strange, last)):
        assert not is_ancestor(store, lower, upper)
    assert not is_ancestor(store, last, first, strange)
    assert newest(store, [first, last, strange]) == sorted([last, strange], key=lambda head: head.text)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    vault = found(tmp_path_factory.mktemp("line"))
    release_one(vault, 0)
    return vault


def release_one(vault: Vault, number: int) -> RecordHash:
    write(vault, "a.txt", f"{number}\n")
    return release(vault, Version(1, number, 0)).release


def test_what_became_visible_since_a_moment(line: Vault) -> None:
    """Also what was there, hidden or of a node that was cut, and what is visible already is never told again."""
    store = line.store
    before = releases_shown(store)
    assert releases_since(store, before) == []
    second = release_one(line, 1)
    assert [found.hash for found in releases_since(store, before)] == [second]
    for hidden in (0, 2):
        store.run("UPDATE release SET visible = ? WHERE hash = ?", hidden, second.text)
        aside = releases_shown(store)
        third = release_one(line, 2 + hidden)
        store.run("UPDATE release SET visible = 1 WHERE hash = ?", second.text)
        assert {found.hash for found in releases_since(store, aside)} == {second, third}
    assert releases_since(store, releases_shown(store)) == []


def test_releases_of_some_commits_are_those_of_all(line: Vault) -> None:
    release_one(line, 9)
    everything = releases(line.store)
    for commits in ({one.commit for one in everything}, {everything[-1].commit}, set()):
        assert releases_of(line.store, commits) == [one for one in everything if one.commit in commits]
        assert releases_of(line.store, commits, "main") == [one for one in everything if one.commit in commits]
    assert releases_of(line.store, [everything[-1].commit], "other") == []
