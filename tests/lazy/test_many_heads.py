"""More heads than one commit has parents: an update takes what there is room for, and the rest comes with the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lazy.folder.update import update
from lazy.resolving.resolve import resolve_prefer
from tests.lazy.by_hand import (
    CONTESTED,
    commit_by_hand,
    decide_by_hand,
    release_by_hand,
    released_by,
    sides_of,
    tree_by_hand,
)
from tests.lazy.three import contested, meet
from tests.shelf import Shelf
from tests.vault.vaults import gathered, write
from vault.folder.checked_out import checkout_of
from vault.names import Version
from vault.profile.lines import MAX_PARENTS
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info
from vault.vault import Vault

MANY = MAX_PARENTS + 6


@pytest.fixture
def crowded(shelf: Shelf) -> Iterator[Vault]:
    """Alice's vault: bob released much beside each other on her first release, and cara once."""
    alice, bob, cara = shelf.lay(gathered, "bob", "cara")
    base = checkout_of(bob)
    assert base is not None
    for number in range(MANY):
        tree = tree_by_hand(bob, base.tree, f"{number}.txt")
        release_by_hand(bob, Version(2, 0, number), tree, [base.commit])
    write(cara, "cara.txt", "cara\n")
    release(cara, Version(3, 0, 0), "mine")
    meet(bob, cara, alice)
    for vault in (bob, cara):
        vault.close()
    yield alice
    alice.close()


def _files(vault: Vault) -> set[str]:
    return {path.name for path in vault.folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("is_dirty", [False, True])
def test_what_a_merge_has_no_room_for_comes_with_the_next_update(crowded: Vault, is_dirty: bool) -> None:
    """CLAY-10, LAZ-24: 70 releases on one base made every update fail, for it named more parents than a commit has."""
    own = {"a.txt"}
    if is_dirty:
        write(crowded, "mine.txt", "mine\n")
        own.add("mine.txt")
    plan = update(crowded, dry_run=True)
    done = update(crowded)
    assert plan.not_taken.more == done.not_taken.more > 0
    assert plan.moves.written == done.moves.written
    assert "cara.txt" in done.moves.written, "who released most keeps nobody else's work out"
    planned = update(crowded, dry_run=True)
    rest = update(crowded)
    assert (planned.not_taken.more, rest.not_taken.more, planned.moves.written) == (0, 0, rest.moves.written)
    assert len(done.moves.written) + len(rest.moves.written) == MANY + 1
    assert _files(crowded) == own | {"cara.txt"} | {f"{number}.txt" for number in range(MANY)}
    assert update(crowded).revision is None


def test_a_hundred_decisions_for_one_side_stand_for_no_more_than_one(shelf: Shelf) -> None:
    """LAZ-40, LAZ-43: each was a head beside a decision of the same content, and no update succeeded any more."""
    alice, bob, cara = shelf.lay(contested)
    chosen, of_alice = released_by(cara, CONTESTED, "alice")
    tree = commit_info(cara.store, of_alice).tree
    made = [commit_by_hand(cara, tree, sides_of(cara)) for _ in range(2 * MAX_PARENTS)]
    for result in made:
        decide_by_hand(cara, result, chosen=chosen)
    write(alice, "mine.txt", "mine\n")
    release(alice, Version(3, 0, 0), "later")
    meet(cara, alice)
    resolve_prefer(alice, str(CONTESTED), "alice")
    write(bob, "bob.txt", "bob\n")
    release(bob, Version(4, 0, 0), "his")
    meet(bob, alice)
    plan, done = update(alice, dry_run=True), update(alice)
    assert (plan.not_taken.more, done.not_taken.more, done.moves.written) == (0, 0, plan.moves.written)
    assert "bob.txt" in done.moves.written
    write(alice, "more.txt", "more\n")
    release(alice, Version(5, 0, 0), "more")
    assert len(_parents(alice)) <= MAX_PARENTS
    assert update(alice).revision is None
    for vault in (cara, bob, alice):
        vault.close()


def _parents(vault: Vault) -> list[RecordHash]:
    base = checkout_of(vault)
    assert base is not None
    rows = vault.store.rows("SELECT parent FROM parent WHERE child = ?", base.commit.text)
    return [RecordHash.parse(str(text)) for (text,) in rows]
