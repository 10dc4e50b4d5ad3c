"""A member who releases ever more under one version, or decides ever more on it: others can decide all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lazy.conflicts import conflicts
from lazy.counted import MOST_RELEASES
from lazy.folder.update import update
from lazy.resolving.planning import plan_prefer
from lazy.resolving.resolve import accept_resolution, resolve_prefer
from lazy.resolving.sealed import TooManySides, require_room
from tests.lazy.by_hand import CONTESTED, release_by_hand, tree_by_hand
from tests.lazy.three import contested, meet
from tests.shelf import Shelf
from vault.folder.work import checkout_of
from vault.names import Version
from vault.profile.releases import MAX_SIDES
from vault.records import RecordHash
from vault.revisions.history import releases
from vault.vault import Vault

Three = tuple[Vault, Vault, Vault]


@pytest.fixture
def three(shelf: Shelf) -> Iterator[Three]:
    """Alice and bob, who released different content under one version, and cara, who knows of it and turns on them."""
    alice, bob, cara = shelf.lay(contested)
    yield alice, bob, cara
    for vault in (cara, bob, alice):
        vault.close()


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
        assert update(vault).written == ()
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
    assert update(alice).written == (f"cara {MOST_RELEASES}.txt",)


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
