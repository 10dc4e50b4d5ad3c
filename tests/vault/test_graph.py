"""The graph of commits and what became visible, asked of a part: the same answers as of the whole (CLAY-7, LAZ-23)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.counting import counted_rows
from tests.vault.graphs import any_graphs, lay
from tests.vault.vaults import found, write
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.graph import ancestors, covered, covered_by, is_ancestor, merge_bases, newest, only_above
from vault.revisions.history import line_head, releases, releases_of, releases_shown, releases_since
from vault.store import Store
from vault.vault import Vault

LONG = 700  # more commits than are looked at first


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("graph") / "store.db", create=True) as made:
        yield made


@pytest.fixture(params=[(1, 32), (4, 32), (1, 1)], ids=str)
def looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have little looked at first, so that what follows a first look is asked of small graphs too."""
    first, colours = request.param
    monkeypatch.setattr("vault.revisions.graph._FIRST_LOOK", first)
    monkeypatch.setattr("vault.revisions.graph._MOST_COLOURS", colours)


@pytest.mark.usefixtures("looks")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_graphs, st.data())
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
    others = data.draw(st.lists(st.sampled_from(commits), unique=True))
    below, above = (set[str]().union(*(lines[one] for one in each)) for each in (some, others))
    assert covered(store, {one.text for one in others}, {one.text for one in some}) == below & {
        one.text for one in others
    }
    assert only_above(store, {one.text for one in others}, {one.text for one in some}) == above - below
    groups = data.draw(st.lists(st.lists(st.sampled_from([one.text for one in commits])), max_size=4))
    asked = {one.text for one in others}
    assert covered_by(store, asked, groups) == [
        asked & set[str]().union(*(lines[RecordHash.parse(one)] for one in group)) for group in groups
    ]


def nearest_with_trees(lines: dict[str, set[str]], common: set[str], here: set[str]) -> tuple[set[str], int]:
    """Say by hand what `merge_bases` says: a layer of newest ones after the other, until all of one have trees."""
    found: set[str] = set()
    skipped = 0
    while common:
        heads = {one for one in common if not any(one in lines[other] - {other} for other in common)}
        found |= heads & here
        if heads <= here:
            break
        skipped += len(heads - here)
        common = common - heads - set[str]().union(*(lines[base] for base in heads & here))
    return {one for one in found if not any(one in lines[other] - {other} for other in found)}, skipped


@pytest.mark.usefixtures("looks")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_graphs, st.sets(st.integers(0, 29)))
def test_merge_bases_are_the_nearest_whose_trees_are_here(
    store: Store, parents: tuple[list[int], ...], trees: set[int]
) -> None:
    """What a friend did not release is skipped, and what lies below it asked."""
    commits = lay(store, list(parents))
    lines = {commit.text: ancestors(store, commit) for commit in commits}
    here = {commit.text for number, commit in enumerate(commits) if number in trees}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vault.revisions.graph.tree_is_here", lambda _store, commit: commit.text in here)
        for ours in commits[-3:]:
            for theirs in commits[-3:]:
                bases, skipped = nearest_with_trees(lines, lines[ours.text] & lines[theirs.text], here)
                assert merge_bases(store, ours, theirs) == (
                    tuple(sorted(map(RecordHash.parse, bases), key=lambda base: base.text)),
                    skipped,
                )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows each query gave; it goes on to grow."""
    return counted_rows(monkeypatch)


def test_thousands_of_common_commits_without_trees_are_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, read: list[int]
) -> None:
    commits = lay(store, [*([number - 1] if number else [] for number in range(LONG)), [LONG - 1], [LONG - 1]])
    monkeypatch.setattr("vault.revisions.graph.tree_is_here", lambda _store, _commit: False)
    assert merge_bases(store, commits[-1], commits[-2]) == ((), LONG)
    assert sum(read) < 4 * LONG


def sides(length: int) -> list[list[int]]:
    """Return a line of so many commits, with two sides of three commits at its end, and one that left it before."""
    line = [[number - 1] if number else [] for number in range(length)]
    for start in (length - 1, length - 1, length - 30):
        line += [[start], [len(line)], [len(line) + 1]]
    return line


def test_what_is_asked_of_two_sides_costs_how_far_they_are_apart(
    store: Store, monkeypatch: pytest.MonkeyPatch, read: list[int]
) -> None:
    """Of ten times the history no row more is read (CLAY-7, CLAY-73)."""
    monkeypatch.setattr("vault.revisions.graph.tree_is_here", lambda _store, _commit: True)
    costs = []
    for length in (LONG, 10 * LONG):
        commits = lay(store, sides(length))
        top, last, other, old = (commits[at] for at in (length - 1, -7, -4, -1))
        read.clear()
        assert not is_ancestor(store, last, other)
        assert newest(store, [top, last, other]) == sorted([last, other], key=lambda head: head.text)
        assert merge_bases(store, last, other) == ((top,), 0)
        assert merge_bases(store, last, old) == ((commits[length - 30],), 0)
        assert only_above(store, {last.text}, {old.text}) == {
            one.text for one in [*commits[length - 29 : length], *commits[-9:-6]]
        }
        assert covered(store, {top.text, old.text}, {last.text}) == {top.text}
        costs.append(sum(read))
    assert costs[0] == costs[1] < 2 * LONG


def crossed(length: int) -> tuple[list[list[int]], int, int]:
    """Return a line of so many commits with two sides, of which one has the other's base by a long way alone.

    And just below it by a short one: so the walk is over before it is seen that the base is in both.
    """
    graph = [*([number - 1] if number else [] for number in range(length)), [length - 1]]
    base = length
    graph += [[base], *([base + 1 + number] for number in range(199))]
    graph += [[length - 1], [len(graph), len(graph) - 1], [base]]
    return graph, len(graph) - 1, len(graph) - 2


def test_what_is_above_costs_how_far_sides_are_apart_where_they_crossed(store: Store, read: list[int]) -> None:
    """Of ten times the history no row more is read (CLAY-7)."""
    costs = []
    for length in (4 * LONG, 40 * LONG):
        graph, upper, lower = crossed(length)
        commits = lay(store, graph)
        read.clear()
        assert only_above(store, {commits[upper].text}, {commits[lower].text}) == {commits[upper].text}
        costs.append(sum(read))
    assert costs[0] == costs[1]


def test_the_heads_of_a_hundred_cost_how_far_they_are_apart(store: Store, read: list[int]) -> None:
    """Of ten times the history no row more is read (CLAY-7)."""
    costs = []
    for length in (4 * LONG, 40 * LONG):
        line = [[number - 1] if number else [] for number in range(length)]
        commits = lay(store, [*line, *([length - 1 - number] for number in range(100))])
        read.clear()
        heads = commits[length:]
        assert newest(store, [*heads, *commits[length - 9 : length]]) == sorted(heads, key=lambda head: head.text)
        costs.append(sum(read))
    assert costs[0] == costs[1]


def test_what_is_below_many_is_read_once_for_all_of_them(store: Store, read: list[int]) -> None:
    """LAZ-42: the last releases of everybody are asked for the sides of hundreds of contested versions."""
    commits = lay(store, [*([number - 1] if number else [] for number in range(4 * LONG)), *([[4 * LONG - 1]] * 300)])
    texts = [commit.text for commit in commits]
    sides, heads = texts[4 * LONG - 10 :], texts[-20:]
    read.clear()
    found = covered_by(store, sides, [[head] for head in heads])
    assert found == [{*texts[4 * LONG - 10 : 4 * LONG], head} for head in heads]
    assert sum(read) < 2 * len(commits)


@pytest.mark.parametrize(
    ("numbers", "head"), [((1, 2, 3), 3), ((1, 2, 2, 4, 2**63 - 1), 2), ((2, 3), None), ((), None)]
)
def test_a_friend_s_line_ends_before_its_first_gap(store: Store, numbers: tuple[int, ...], head: int | None) -> None:
    """CLAY-6: revisions are 1 to the head; a friend may seal any number."""
    with store.transaction():
        store.run("DELETE FROM rev")
        for p, number in enumerate(numbers):
            commit = RecordHash("S", p.to_bytes(32, "big"))
            store.run("INSERT INTO rev VALUES ('friend', 'main', ?, ?, ?, ?)", number, commit.text, commit.text, p)
    found = line_head(store, "friend", "main")
    assert (found.number if found else None) == head


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
