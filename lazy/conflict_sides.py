"""The sides of a conflict: who each is, what it is called, what is common to all, and what of it is mine (LAZ-36)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from lazy.contested import Side
from lazy.people import label_of
from vault.folder.checked_out import checkout_of
from vault.names import SIDE_WORDS, Version
from vault.records import RecordHash
from vault.revisions.graph import all_parents, covered_by
from vault.revisions.history import ReleaseInfo
from vault.revisions.versions import Released, highest
from vault.store import Store
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.revisions.chains import Chains

__all__ = ["InCommon", "in_line", "release_side", "with_words"]

_NEAR = 32  # releases that are looked at first
_PAIR = 2
_FEW = 4  # sides
_NONE = math.inf

_Found: TypeAlias = "tuple[tuple[Version, tuple[int, ...]], ...]"


def release_side(vault: Vault, release: ReleaseInfo) -> Side:
    """Return the side that a release is; it has no word yet, which `with_words` gives it."""
    return Side(
        release.commit,
        release.hash,
        release.node,
        label_of(vault, release.node),
        release.content_sha512,
        release.tai,
        release.version,
    )


def with_words(vault: Vault, sides: Sequence[Side], line: set[str], *, owned: bool = True) -> tuple[Side, ...]:
    """Give each side a word of its own, and say which are local.

    Args:
        vault: whose words they are.
        sides: of one conflict, in the order they are listed.
        line: commits of my line.
        owned: whether what I released is local, wherever my line went; else only my line counts.
    """
    contents: dict[str, set[str]] = {}
    for side in sides:
        contents.setdefault(side.name, set()).add(side.content_sha512 or side.commit.text)
    local = {side.commit for side in sides if owned and side.node == vault.node.text}
    if not local:
        held = [side.commit for side in sides if side.commit.text in line]
        local = set(held if owned else held[:1])  # of heads, mine stands first
    number: dict[str, int] = {}
    found = []
    for side in sides:
        number[side.name] = number.get(side.name, 0) + 1
        is_plain = len(contents[side.name]) == 1 and side.name not in SIDE_WORDS
        word = side.name if is_plain else f"{side.name}:{number[side.name]}"
        found.append(side._replace(word=word, is_local=side.commit in local))
    return tuple(found)


class InCommon:
    """The highest releases that the sides of conflicts were built upon.

    What the next conflicts of a desk share with the first is read once.

    Args:
        store: where they are.
        desk: whose releases.
        commits: of all sides that will be asked about.
    """

    def __init__(self, store: Store, desk: str, commits: Collection[RecordHash]) -> None:
        self._store = store
        self._desk = desk
        self._commits = {commit.text for commit in commits}
        self._near: list[Released] | None = None
        self._far: _Far | None = None

    def of(self, commits: Sequence[RecordHash]) -> _Found:
        """Return the highest releases that several commits were built upon, and which of them were (H-18).

        The highest stands first. After it stand those that others have in common, so that of three commits that have
        no release in common it is told which two of them have one.
        """
        texts = [commit.text for commit in commits]
        if self._far is None:
            found = self._found_near(texts) if len(texts) <= _FEW else None
            if found is not None:
                return found
            self._far = _Far(self._store, self._desk, self._commits)
        return self._far.of(texts)

    def _found_near(self, texts: Sequence[str]) -> _Found | None:
        """Return the same where the highest releases alone tell it: what clashes was mostly released last."""
        if self._near is None:
            self._near = highest(self._store, self._desk, _NEAR)
        if {one.commit for one in self._near}.isdisjoint(texts):
            return None
        found: _Found = ()
        below = [set[str]() for _ in texts]
        looked = 0
        while looked < len(self._near):  # what is lower mostly lies further down, and is looked for last
            more = self._near[looked : max(_FEW, 2 * looked)]
            looked += len(more)
            held = covered_by(self._store, {one.commit for one in more}, [[text] for text in texts])
            below = [known | new for known, new in zip(below, held, strict=True)]
            found, is_all = _shared(self._near[:looked], below)
            if is_all:
                return found
        return found if len(self._near) < _NEAR else None


class _Far:
    """What is in common where it lies far below: all of the history is read, and put in chains where many ask."""

    def __init__(self, store: Store, desk: str, commits: Collection[str]) -> None:
        self._parents = all_parents(store, commits)
        self._releases = [one for one in highest(store, desk) if one.commit in self._parents]
        self._chains: Chains | None = None
        if len(commits) > _FEW:
            from vault.revisions.chains import chained  # hardly any command needs it

            self._chains = chained(self._parents)
        self._best = _best(self._chains, self._releases) if self._chains is not None else []

    def of(self, commits: Sequence[str]) -> _Found:
        """As of `InCommon`."""
        chains = self._chains
        if chains is None:
            return _shared(self._releases, [_below(self._parents, commit) for commit in commits])[0]
        reach = [chains.reach[commit] for commit in commits]
        if len(reach) == _PAIR:  # of thousands of pairs each is asked by itself
            first = min((best[min(of)] for best, *of in zip(self._best, *reach, strict=False)), default=_NONE)
            return ((Version.parse(self._releases[int(first)].version), (0, 1)),) if first < _NONE else ()
        places = ((one, chains.place[one.commit]) for one in self._releases)
        held = (
            (one.version, tuple(side for side, of in enumerate(reach) if at < (of[chain] if chain < len(of) else 0)))
            for one, (chain, at) in places
        )
        return _highest(held, len(reach))[0]


def _best(chains: Chains, releases: Sequence[Released]) -> list[list[float]]:
    """Return of each chain, by how far one reaches into it, which of the releases is the first that one contains."""
    own = {releases[at].commit: at for at in reversed(range(len(releases)))}
    best: list[list[float]] = [[_NONE] for _ in range(chains.total)]
    for commit, (chain, _) in chains.place.items():  # what stands lower in a chain comes first
        best[chain].append(min(best[chain][-1], own.get(commit, _NONE)))
    return best


def _below(parents: Mapping[str, Sequence[str]], commit: str) -> set[str]:
    found: set[str] = set()
    waiting = [commit]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += parents[at]
    return found


def _shared(releases: Iterable[Released], below: Sequence[Collection[str]]) -> tuple[_Found, bool]:
    """Return what `InCommon.of` does for releases, the highest first, and whether all sides have the last of it."""
    held = ((one.version, tuple(at for at, texts in enumerate(below) if one.commit in texts)) for one in releases)
    return _highest(held, len(below))


def _highest(held: Iterable[tuple[str, tuple[int, ...]]], count: int) -> tuple[_Found, bool]:
    found: list[tuple[Version, tuple[int, ...]]] = []
    for version, of in held:
        if len(of) > 1 and not any(set(of) <= set(higher) for _, higher in found):
            found.append((Version.parse(version), of))
            if len(of) == count:  # whatever is lower is in common to no more of them
                return tuple(found), True
    return tuple(found), False


def in_line(vault: Vault, desk: str, commits: Collection[str]) -> tuple[set[str], set[str]]:
    """Return which of some commits are in my line on a desk, and which are in it or in what stands beside it.

    Beside it are heads with my folder's content, which my next commit names. All are hash texts.
    """
    base = checkout_of(vault, desk)
    if base is None:
        return set(), set()
    line, beside = covered_by(vault.store, commits, [[base.commit.text], [one.text for one in base.also]])
    return line, line | beside
