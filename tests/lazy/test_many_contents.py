"""A member who releases ever more under one version, or decides ever more on it: others can decide all the same."""

from __future__ import annotations

import random

import pytest

import lazy.decision_trees
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.decision_trees import _lacks, _lacks_of
from lazy.folder.update import update
from lazy.member_limits import MOST_RELEASES, MOST_TREES
from lazy.resolving.picks import Choices
from lazy.resolving.planning import plan_accept, plan_merged, plan_prefer
from lazy.resolving.resolve import accept_resolution, resolve_merged, resolve_prefer
from lazy.resolving.sealed import TooManySides, require_room
from tests.lazy.by_hand import (
    CONTESTED,
    commit_by_hand,
    decide_by_hand,
    release_by_hand,
    released_by,
    sides_of,
    tree_by_hand,
)
from tests.lazy.three import meet
from tests.vault.vaults import write
from vault.desks import diff
from vault.desks.pages import Entry
from vault.desks.tree import lookup
from vault.folder.checked_out import checkout_of
from vault.names import Version
from vault.profile.releases import MAX_SIDES
from vault.records import RecordHash
from vault.revisions.history import commit_info, releases
from vault.vault import Vault

Three = tuple[Vault, Vault, Vault]


def _contradict(cara: Vault, first: int, last: int) -> None:
    base = checkout_of(cara)
    assert base is not None
    for number in range(first, last):
        tree = tree_by_hand(cara, base.tree, f"cara {number}.txt")
        release_by_hand(cara, CONTESTED, tree, [base.commit])


def _sides(vault: Vault) -> list[RecordHash | None]:
    (asked,) = conflicts(vault)
    return [side.release for side in asked.sides]


def test_who_contradicts_themselves_without_end_keeps_nobody_from_deciding(three: Three) -> None:
    """LAZ-42, LAZ-24: a resolution names 64 sides, and of 70 contents of one member no decision could be sealed."""
    alice, bob, cara = three
    _contradict(cara, 0, 5)
    meet(cara, bob)
    assert len(_sides(bob)) == 2 + 5
    _contradict(cara, 5, MAX_SIDES + 6)
    meet(cara, alice, bob)
    of_cara = [one.hash for one in releases(alice.store, "main", version=CONTESTED) if one.node == cara.node.text]
    counting = [one for one in _sides(alice) if one in of_cara]
    assert counting == of_cara[:MOST_RELEASES], "the first that she released, whatever came first"
    assert _sides(alice) == _sides(bob) == _sides(cara)

    assert "a.txt" not in plan_prefer(alice, str(CONTESTED), "bob").clashes
    resolve_prefer(alice, str(CONTESTED), "bob")
    meet(alice, bob, cara)
    for vault in (bob, cara):
        accept_resolution(vault, str(CONTESTED))
    assert conflicts(cara) == []
    for vault in (alice, bob):
        assert conflicts(vault) == []
        assert update(vault).moves.written == ()
        assert (vault.folder / "a.txt").read_text() == "bob\n"
        assert not list(vault.folder.glob("cara*")), "what does not count comes to nobody as if it was news"


def test_what_does_not_count_under_a_version_counts_under_its_own(three: Three) -> None:
    """LAZ-4, LAZ-37: it stays readable, and is taken in where its maker releases it as something else."""
    alice, _, cara = three
    _contradict(cara, 0, MOST_RELEASES + 1)
    meet(cara, alice)
    (*_, last) = [one for one in releases(alice.store, "main", version=CONTESTED) if one.node == cara.node.text]
    assert last.hash not in _sides(alice)
    assert last.commit not in {side.commit for side in conflicts(alice)[0].sides}
    base = checkout_of(cara)
    assert base is not None
    tree = tree_by_hand(cara, base.tree, f"cara {MOST_RELEASES}.txt")
    release_by_hand(cara, Version(2, 1, 0), tree, [base.commit])
    meet(cara, alice)
    assert update(alice).moves.written == (f"cara {MOST_RELEASES}.txt",)


def test_more_sides_than_a_decision_joins_are_refused_with_the_way(three: Three) -> None:
    """LAZ-42: many who contradict themselves are more than one commit joins; it was found out in the middle."""
    alice, _, cara = three
    _contradict(cara, 0, MOST_RELEASES)
    meet(cara, alice)
    (asked,) = conflicts(alice)
    require_room(alice, asked)
    # Hers stand for those of nine such members, who take long to gather.
    _contradict(cara, MOST_RELEASES, MAX_SIDES)
    meet(cara, alice)
    every = releases(alice.store, "main", version=CONTESTED)
    sides = tuple(asked.sides[0]._replace(commit=one.commit, release=one.hash) for one in every)
    with pytest.raises(TooManySides, match="64 of them are by cara") as refused:
        require_room(alice, asked._replace(sides=sides))
    assert refused.value.hint.endswith(": lace revoke cara")


def _merges(cara: Vault, first: int, last: int) -> list[RecordHash]:
    """Merges that cara proposes, each with another file."""
    base = commit_info(cara.store, sides_of(cara)[0]).tree
    made = []
    for number in range(first, last):
        version = Version(2, 1, number)
        tree = tree_by_hand(cara, base, f"cara {number}.txt")
        made.append(release_by_hand(cara, version, tree, sides_of(cara)))
        decide_by_hand(cara, made[-1], merged=released_by(cara, version, "cara")[0])
    return made


def _asked(vault: Vault) -> Conflict:
    (asked,) = conflicts(vault)
    return asked


def test_of_ever_more_merges_the_first_of_a_member_are_looked_at(three: Three) -> None:
    """LAZ-42, LAZ-24: each is compared file by file, and 120 of 20000 files held up every command for 20 seconds."""
    alice, bob, cara = three
    first = _merges(cara, 0, 3)
    meet(cara, bob)
    assert {one.result for one in _asked(bob).proposals} == set(first)
    first += _merges(cara, 3, MOST_TREES)
    _merges(cara, MOST_TREES, MOST_TREES + 4)
    meet(cara, alice, bob)
    for vault in (alice, bob, cara):
        known = _asked(vault)
        assert {*(one.result for one in known.proposals), *known.results} == set(first), "whatever came first"
    accept_resolution(bob, str(CONTESTED), _asked(bob).proposals[0].word)


def test_trees_of_many_decisions_are_compared_once_each(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-42, LAZ-24: a settled version cost its decisions times the files in their trees at every command."""
    alice, _, cara = three
    chosen, of_alice = released_by(cara, CONTESTED, "alice")
    tree = commit_info(cara.store, of_alice).tree
    decide_by_hand(cara, commit_by_hand(cara, tree, sides_of(cara)), chosen=chosen)
    merges = _merges(cara, 0, 2 * MOST_TREES)
    last = release_by_hand(cara, Version(2, 2, 0), tree, merges)
    decide_by_hand(cara, last, merged=released_by(cara, Version(2, 2, 0), "cara")[0])
    meet(cara, alice)
    resolve_prefer(alice, str(CONTESTED), "local")
    compared: list[tuple[RecordHash, RecordHash]] = []
    whole = diff.diff_trees

    def counting(store: object, before: RecordHash, after: RecordHash) -> object:
        compared.append((before, after))
        return whole(store, before, after)  # type: ignore[arg-type]

    monkeypatch.setattr(lazy.decision_trees, "diff_trees", counting)
    assert conflicts(alice) == []
    assert len(compared) == len(set(compared)) <= MOST_TREES + 2


def test_several_decisions_of_one_member_that_agree_are_one(three: Three) -> None:
    """LAZ-43: each of them was to be beside everybody's line, and there is room for few."""
    alice, _, cara = three
    chosen, of_alice = released_by(cara, CONTESTED, "alice")
    tree = commit_info(cara.store, of_alice).tree
    made = [commit_by_hand(cara, tree, sides_of(cara)) for _ in range(5)]
    for result in made:
        decide_by_hand(cara, result, chosen=chosen)
    done = resolve_prefer(alice, str(CONTESTED), "local")
    meet(cara, alice)
    (settled,) = conflicts(alice, include_settled=True)
    assert set(settled.results) == {done.commit, made[0]}, "the first that she made"


def test_who_decided_as_often_as_counts_is_told_instead_of_not_heard(three: Three) -> None:
    """LAZ-42, LAZ-43: one more would be sealed and shared, and end nothing."""
    alice, _, cara = three
    _merges(cara, 0, MOST_TREES)
    with pytest.raises(TooManySides, match=f"in {MOST_TREES} ways already") as refused:
        plan_prefer(cara, str(CONTESTED), "bob")
    assert refused.value.hint.endswith("--accept NAME")
    meet(cara, alice)
    plan_prefer(alice, str(CONTESTED), "bob")
    resolve_prefer(alice, str(CONTESTED), "bob")
    meet(alice, cara)
    for accept in (plan_accept, accept_resolution):  # it would join that with hers, as one more
        with pytest.raises(TooManySides, match=f"in {MOST_TREES} ways already") as refused:
            accept(cara, str(CONTESTED))
        assert refused.value.hint.endswith("--accept cara")


def _own_decisions(vault: Vault) -> int:
    return int(vault.store.rows("SELECT count(*) FROM resolution WHERE node = ?", vault.node.text)[0][0])


def test_who_decided_as_often_as_counts_ends_it_by_what_a_friend_decided(three: Three) -> None:
    """LAZ-40, LAZ-42: another side came, of which none of the eight says anything; to accept seals nothing."""
    alice, bob, cara = three
    _merges(cara, 0, MOST_TREES)
    _contradict(cara, 0, 1)
    meet(cara, bob)
    resolve_prefer(bob, str(CONTESTED), "local")
    meet(bob, cara)
    with pytest.raises(TooManySides) as refused:
        resolve_prefer(cara, str(CONTESTED), "cara")
    assert refused.value.hint == f"Accept a friend's decision: lace resolve {_asked(cara).id} --accept"
    with pytest.raises(TooManySides):
        plan_merged(cara, str(CONTESTED), Version(2, 2, 0), Choices(takes={"a.txt": "bob"}))
    plan_accept(cara, str(CONTESTED))
    accept_resolution(cara, str(CONTESTED))
    assert _own_decisions(cara) == MOST_TREES
    meet(cara, bob, alice)
    assert conflicts(cara) == conflicts(bob) == []


def test_a_decision_of_a_content_that_counts_already_is_sealed_after_eight(three: Three) -> None:
    """LAZ-42: it is looked at like the first one of that content, so it ends what came since."""
    _, bob, cara = three
    chosen, of_alice = released_by(cara, CONTESTED, "alice")
    tree = commit_info(cara.store, of_alice).tree
    decide_by_hand(cara, commit_by_hand(cara, tree, sides_of(cara)), chosen=chosen)
    _merges(cara, 0, MOST_TREES - 1)
    _contradict(cara, 0, 1)
    meet(cara, bob)
    plan_prefer(cara, str(CONTESTED), "alice")
    resolve_prefer(cara, str(CONTESTED), "alice")
    assert conflicts(cara) == []
    meet(cara, bob)
    assert [one.name for one in _asked(bob).proposals] == ["cara"]


def test_after_eight_a_decision_that_includes_mine_is_accepted_as_it_is(three: Three) -> None:
    """LAZ-40, LAZ-42: one of mine on top of it would count for nobody after eight."""
    _, bob, cara = three
    _merges(cara, 1, MOST_TREES)
    _contradict(cara, 0, 1)
    meet(cara, bob)
    resolve_prefer(cara, str(CONTESTED), "alice")
    write(bob, "more.txt", "of bob\n")
    resolve_merged(bob, str(CONTESTED), Version(2, 1, 0), Choices(takes={"a.txt": "bob"}))
    meet(cara, bob)
    assert _own_decisions(cara) == MOST_TREES
    made = accept_resolution(bob, str(CONTESTED)).commit
    meet(bob, cara)
    plan_accept(cara, str(CONTESTED))
    assert accept_resolution(cara, str(CONTESTED)).commit == made
    assert _own_decisions(cara) == MOST_TREES
    assert (cara.folder / "more.txt").read_text() == "of bob\n"
    meet(cara, bob)
    assert conflicts(cara) == conflicts(bob) == []


def test_of_one_other_tree_is_said_what_is_said_of_several(three: Three) -> None:
    """LAZ-4, LAZ-42: what a tree lacks of another one, however it is looked for."""
    alice = three[0]
    base = checkout_of(alice)
    assert base is not None
    entry, drawn = lookup(alice.store, base.tree, "a.txt"), random.Random(42)
    paths = ["a", "A", "a/b", "a/b/c", "B", "b/c", "c", "C/d", "d"]

    def some(paths: list[str]) -> dict[str, Entry | None]:
        return {path: drawn.choice((entry, None)) for path in paths if drawn.random() < 0.3}

    answers = set()
    for _ in range(4_000):
        disputed = {path for path in paths if drawn.random() < 0.1}
        free = [path for path in paths if path not in disputed]
        has, other = some(free), some(free)
        answer = _lacks_of(has, other, disputed)
        assert answer == _lacks(has, [has, other], disputed), (has, other, disputed)
        answers.add(answer)
    assert answers == {True, False}
