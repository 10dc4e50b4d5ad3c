"""Graphs of commits: any small ones, and those of two who take each other's work in again and again."""

from __future__ import annotations

from hypothesis import strategies as st

from vault.records import RecordHash
from vault.store import Store

__all__ = ["any_graphs", "lay"]


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


def crossing(days: list[tuple[int, bool, bool]]) -> tuple[list[int], ...]:
    """Return the graph of two who go on for some commits each day, and then take each other's last in, or do not."""
    graph: list[list[int]] = [[]]
    mine = theirs = 0
    for further, takes, is_taken in days:
        for _ in range(further):
            graph += [[mine], [theirs]]
            mine, theirs = len(graph) - 2, len(graph) - 1
        before = mine, theirs
        for joins, whose in ((takes, 0), (is_taken, 1)):
            if joins and before[0] != before[1]:
                graph.append(list(before))
                mine, theirs = (len(graph) - 1, theirs) if whose == 0 else (mine, len(graph) - 1)
    return tuple(graph)


crossings = st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), min_size=1, max_size=4).map(crossing)
any_graphs = st.one_of(graphs, crossings)
