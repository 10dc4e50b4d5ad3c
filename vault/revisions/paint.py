"""Painting down a graph of commits: colours run from commits to their parents until nothing open is left.

This is how version-control systems look for merge bases (git: paint down to common). No clock and no order is trusted
to tell what is below what: a colour that comes late to a commit runs on at once through all that was walked below it.
So the walk ends where the answer is known, and goes as far as commits are apart, not as long as their history is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Colours", "paint"]

Colours: TypeAlias = "dict[str, int]"
"""Of each commit that was met the colours it has, as bits."""

_SELDOM = 8  # what is to be done is asked anew once an eighth more was walked


def paint(
    start: Mapping[str, int],
    parents: Callable[[Collection[str]], Mapping[str, Sequence[str]]],
    is_done: Callable[[Colours, Collection[str]], bool],
    passes: Callable[[str, int], int] = lambda _commit, colours: colours,
) -> Colours:
    """Return the colours of all that was met; what is below the last ones may lack some.

    Args:
        start: commits and their colours.
        parents: returns the parents of commits; what it gave it may give again.
        is_done: told all colours and the commits that were not walked from yet, whether what is below does not matter.
        passes: which colours a commit of some colours gives its parents; of more colours never fewer.
    """
    colours, edge = dict(start), list(start)
    walked: set[str] = set()
    late: list[str] = []  # what was walked from with fewer colours than it has
    due = 0
    while edge:
        if len(walked) >= due:
            if is_done(colours, edge):
                break
            due = len(walked) + len(walked) // _SELDOM
        below = parents(edge)
        following: list[str] = []
        for commit in edge:
            given = passes(commit, colours[commit])
            for parent in below[commit]:
                had = colours.get(parent)
                if had is None:
                    colours[parent] = given
                    following.append(parent)
                elif given & ~had:
                    colours[parent] = had | given
                    late.append(parent)
        walked.update(edge)
        while late:
            at = late.pop()
            if at in walked:
                given = passes(at, colours[at])
                for parent in below[at]:
                    had = colours[parent]
                    if given & ~had:
                        colours[parent] = had | given
                        late.append(parent)
        edge = following
    return colours
