"""Decisions on one version, as records: which there are, which of them are the last, which agree (LAZ-40 to LAZ-43).

Of what a decision says it keeps, its result has the content: that of a side, or of a merge that was released. Beside
what the sides differ in it has also what the earlier decisions have on which it is built, and it is built on nothing
else. What says otherwise is no decision: nobody is asked to take one person's files under another one's name.

Each is judged once, after those that it is built on. What the sides are says the conflict, and no decision: who seals
one may name as a side what nobody sees. So the answer follows from the records that are shared and from who belongs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lazy.decision_graph import Graph, Made, above_sides
from lazy.decision_trees import Kept, Sides, Trees
from lazy.member_limits import as_logged, counted_decisions
from vault.names import Version
from vault.profile import Resolution
from vault.records import RecordHash
from vault.revisions.graph import json_texts
from vault.revisions.history import ReleaseInfo, sealed_record
from vault.store import Store
from vault.vault import Vault

__all__ = ["Decisions", "decided_trees", "decisions"]

# An older lace showed some whose result is no commit.
_SHOWN = (
    "SELECT r.hash, c.tree FROM resolution r JOIN commits c ON c.hash = r.result AND c.desk = r.desk"
    " WHERE r.desk = ? AND r.version = ? AND r.visible = 1 ORDER BY r.hash"
)
_NAMED = (
    "SELECT r.hash, r.commit_hash, c.tree, r.version, r.node IN (SELECT node FROM member)"
    " FROM release r JOIN commits c ON c.hash = r.commit_hash"
    " WHERE r.desk = ? AND r.hash IN (SELECT value FROM json_each(?))"
)
_RELEASED = ""  # in place of a maker: no decision is that release


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The decisions on one version that name every side there is and keep what they say (LAZ-42).

    Attributes:
        found: the resolutions, sorted by hash text; each has a signer.
    """

    found: tuple[Resolution, ...]
    _store: Store
    _sides: Sides
    _trees: Trees
    _graph: Graph
    _judged: _Judged

    def last(self, some: Iterable[Resolution]) -> list[Resolution]:
        """Return those of some that no other one of them is built on: a later decision includes the earlier."""
        some = list(some)
        covered = 0
        for value in some:
            covered |= self._judged.below[value.result.text]
        return [value for value in some if not self._judged.bits[value.result.text] & covered]

    def agreeing(self, settled: Sequence[Resolution]) -> list[Resolution]:
        """Return the decisions for what is settled here: of the same content, whichever of them knew which.

        Decisions of equal content are one. The results of all of them hold what anybody gave up for it, which nobody
        has to be asked about again (LAZ-43). One that is built on what others made beside the version is not among
        them, nor one that lacks something of a decision below it: in my line it would take that back without a word
        (LAZ-4). Of one maker, several that are not built on each other say no more than one.
        """
        tree = self._graph[settled[0].result.text].tree
        results = {value.result.text for value in settled}
        same = [one for one in self.found if one.result.text not in results and self._tree_of(one) == tree]
        if not same:
            return []
        held = self._held(results)
        beside = [one for one in self.found if one.result.text not in held]
        strange_trees = {self._tree_of(one) for one in beside}
        lost = {one for one in strange_trees if not self._trees.has_all_of(self._sides, tree, one)}
        lacking = 0
        for one in beside:
            if self._tree_of(one) in lost:
                lacking |= self._judged.bits[one.result.text]
        strange = self._with_strange_work(held)
        fitting = [
            one for one in same if one.result.text not in strange and not self._judged.below[one.result.text] & lacking
        ]
        return self._one_each(self.last([*settled, *fitting]), results)

    def _one_each(self, some: Iterable[Resolution], settled: Collection[str]) -> list[Resolution]:
        """Return of each maker's that are not settled the first: who goes on decides on top of their own decision."""
        of_maker: dict[str, list[Resolution]] = {}
        for one in some:
            if one.result.text not in settled:
                of_maker.setdefault(str(one.signer), []).append(one)
        return [as_logged(self._store, several)[0] if several[1:] else several[0] for several in of_maker.values()]

    def _tree_of(self, value: Resolution) -> RecordHash:
        return self._graph[value.result.text].tree

    def _held(self, results: Iterable[str]) -> set[str]:
        """Return the commits above the sides that are in these."""
        held: set[str] = set()
        waiting = list(results)
        while waiting:
            text = waiting.pop()
            if text in self._graph and text not in held:
                held.add(text)
                waiting += self._graph[text].parents
        return held

    def _with_strange_work(self, held: Collection[str]) -> set[str]:
        """Return the commits that hold work that is in no decision of its maker: beside what is held, and released."""
        makers: dict[str, set[str]] = {}
        for one in self.found:
            makers.setdefault(one.result.text, set()).add(str(one.signer))
        strange: dict[str, frozenset[str]] = {}
        for text, made in self._graph.items():
            deciding = makers.get(text, set())
            own = _RELEASED if made.is_released and made.signer not in deciding else made.signer
            whose = frozenset() if text in held else frozenset({own})
            strange[text] = whose.union(*(strange[one] for one in made.parents if one in strange)) - deciding
        return {text for text, whose in strange.items() if whose}


def decisions(vault: Vault, desk: str, version: Version, group: Sequence[ReleaseInfo]) -> Decisions:
    """Return the decisions on a version whose sides these releases are.

    Args:
        vault: where they are.
        desk: the desk.
        version: the version.
        group: the visible releases of it.
    """
    store, trees = vault.store, Trees(vault.store)
    shown = counted_decisions(store, decided_trees(store, desk, version))
    if not shown:
        return Decisions((), store, frozenset(), trees, {}, _Judged())
    sides = {release.hash.text for release in group}
    commits = {release.commit.text for release in group}
    claims = _claims(store, desk, shown, sides)
    graph = above_sides(store, [release.commit for release in group], [claim.value.result for claim in claims])
    judged = _judge(graph, claims, commits, trees)
    found = [value for value in judged.honest if sides <= {side.text for side in value.sides}]
    of_all = frozenset().union(*(claim.sides for claim in claims))
    return Decisions(tuple(sorted(found, key=lambda value: value.hash.text)), store, of_all, trees, graph, judged)


def decided_trees(store: Store, desk: str, version: Version) -> dict[Resolution, RecordHash]:
    """Return all that was decided on a version, be it looked at or not, each with the root tree of its result."""
    trees: dict[Resolution, RecordHash] = {}
    for text, tree in store.rows(_SHOWN, desk, str(version)):
        record = store.stored(RecordHash.parse(str(text)))
        value = Resolution.read(sealed_record(record)) if record is not None else None
        if value is not None and value.signer is not None:
            trees[value] = RecordHash.parse(str(tree))
    return trees


# What a decision keeps


class _Claim(NamedTuple):
    """What a decision says.

    Args:
        value: the decision.
        kept: hash text of the commit whose content its result has.
        kept_tree: the root tree of that.
        sides: the root trees of the sides that it names and that are in conflict.
        gone: hash texts of commits that it names as sides and that are none any more, since who released them was
            revoked.
    """

    value: Resolution
    kept: str
    kept_tree: RecordHash
    sides: Sides
    gone: frozenset[str]


class _Named(NamedTuple):
    """A release that a decision names: of which commit and tree, under which version, and whether by a member."""

    commit: str
    tree: RecordHash
    version: str
    is_members: bool


class _Judged:
    """What is known of the decisions that keep what they say, and grows while they are judged.

    Attributes:
        honest: the decisions.
        bits: a number of one bit for each of their results, by hash text.
        below: by hash text of any commit above the sides, the bits of those results that it was built on.
    """

    def __init__(self) -> None:
        self.honest: list[Resolution] = []
        self.bits: dict[str, int] = {}
        self.below: dict[str, int] = {}


def _claims(store: Store, desk: str, shown: Sequence[Resolution], sides: Collection[str]) -> list[_Claim]:
    """Return what decisions say, but for those that keep what is no side, or is about others.

    Args:
        store: where they are.
        desk: the desk.
        shown: the decisions.
        sides: hash texts of the releases in conflict.
    """
    asked = {text for value in shown for text in _names(value)}
    named = {
        str(text): _Named(str(commit), RecordHash.parse(str(tree)), str(version), bool(is_members))
        for text, commit, tree, version, is_members in store.rows(_NAMED, desk, json_texts(sorted(asked)))
    }
    return [claim for value in shown if (claim := _claim(value, named, sides)) is not None]


def _names(value: Resolution) -> list[str]:
    return [one.text for one in (*value.sides, value.release) if one is not None]


def _claim(value: Resolution, named: Mapping[str, _Named], sides: Collection[str]) -> _Claim | None:
    of_version = {
        side.text: named[side.text]
        for side in value.sides
        if side.text in named and named[side.text].version == str(value.version)
    }
    trees = frozenset(one.tree for text, one in of_version.items() if text in sides)
    gone = {text: one for text, one in of_version.items() if text not in sides and not one.is_members}
    kept = named.get(str(value.release)) if value.release else None
    if value.release is None and (str(value.chosen) in sides or str(value.chosen) in gone):
        kept = of_version.get(str(value.chosen))
    if kept is None or not trees:
        return None
    return _Claim(value, kept.commit, kept.tree, trees, frozenset(one.commit for one in gone.values()))


def _judge(graph: Graph, claims: Iterable[_Claim], sides: Collection[str], trees: Trees) -> _Judged:
    """Return the decisions whose results are what they say; each is judged after all that it may stand on.

    Args:
        graph: their results, and what these are built on.
        claims: what they say.
        sides: hash texts of the commits of the sides.
        trees: compares what they have.
    """
    by_result: dict[str, list[_Claim]] = {}
    for claim in claims:
        by_result.setdefault(claim.value.result.text, []).append(claim)
    judged = _Judged()
    nearest: dict[str, tuple[str, ...]] = {}  # of each commit, the last decisions that it has, itself included
    gone: set[str] = set()  # commits by who belongs no more, on nothing of a member's but sides and decisions
    for text, made in graph.items():
        of_parents = [nearest[one] for one in made.parents if one in nearest]
        judged.below[text] = _below(judged, made)
        earlier = of_parents[0] if len(of_parents) == 1 else _last(judged, of_parents)
        beside = [one for one in made.parents if one in graph and one not in judged.bits and one not in sides]
        is_of_gone = gone.issuperset(beside)
        fitting = [
            claim.value
            for claim in by_result.get(text, ())
            if claim.kept == text  # a merge holds its maker's other work, too, and is called a merge
            or (is_of_gone and _keeps(graph, claim, earlier, [one for one in beside if one not in claim.gone], trees))
        ]
        if fitting:
            judged.honest += fitting
            judged.bits[text] = 1 << len(judged.bits)
        elif is_of_gone and not made.is_members:
            gone.add(text)
        nearest[text] = (text,) if fitting else earlier
    return judged


def _below(judged: _Judged, made: Made) -> int:
    found = 0
    for parent in made.parents:
        found |= judged.below.get(parent, 0) | judged.bits.get(parent, 0)
    return found


def _last(judged: _Judged, several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return those of some results that no other one of them is built on."""
    results = dict.fromkeys(text for some in several for text in some)
    covered = 0
    for text in results:
        covered |= judged.below[text]
    return tuple(text for text in results if not judged.bits[text] & covered)


def _keeps(graph: Graph, claim: _Claim, earlier: Iterable[str], gone: Collection[str], trees: Trees) -> bool:
    """Tell whether a decision has what it says that it keeps, and beside that what is below it.

    Who was revoked may have decided what it is built on, and only some have what they decided. Nothing that anybody
    waits for is lost by it, so it is taken for theirs: else friends would differ, by who had it before it was cut.

    Args:
        graph: what it is built on.
        claim: what it says.
        earlier: hash texts of the last decisions below it.
        gone: parents of it by who belongs no more.
        trees: compares them.
    """
    return trees.keeps(
        Kept(
            sides=claim.sides,
            kept=claim.kept_tree,
            tree=graph[claim.value.result.text].tree,
            earlier=tuple(sorted({graph[text].tree for text in earlier}, key=str)),
            gone=tuple(sorted({graph[text].tree for text in gone if graph[text].is_shared}, key=str)),
            is_all_here=all(graph[text].is_shared for text in gone),
        )
    )
