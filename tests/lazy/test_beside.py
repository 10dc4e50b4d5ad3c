"""Equal heads stand beside my line until a commit names them: taken in by a fast-forward or a merge, they are taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.conflicts import conflicts, note_head_conflict
from lazy.folder.merging import fold
from lazy.folder.undo import undo
from lazy.folder.update import update
from lazy.relation import relation_of
from lazy.resolving.opening import open_conflict
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import found, gathered, write
from vault.desks.memory import MemoryObjects
from vault.desks.tree import lookup
from vault.folder.checked_out import checkout_of
from vault.folder.work import adopt_commit, commit, record_commit
from vault.names import Version
from vault.releasing import release
from vault.revisions.graph import ancestors
from vault.revisions.history import Relation
from vault.vault import Vault

Three = tuple[Vault, Vault, Vault]


@pytest.fixture
def three(shelf: Shelf) -> Iterator[Three]:
    """Alice and cara, who made the same edit, and bob, who has neither of the two yet."""
    alice, bob, cara = shelf.lay(_three)
    yield alice, bob, cara
    for vault in (cara, bob, alice):
        vault.close()


def _three(root: Path) -> Three:
    alice, bob, cara = gathered(root, "bob", "cara")
    for vault, patch in ((alice, 1), (cara, 2)):
        write(vault, "a.txt", "the same\n")
        release(vault, Version(1, 0, patch), "same")
        sync(vault, ["stick"])
    return alice, bob, cara


def _bobs_news(alice: Vault, bob: Vault) -> None:
    write(bob, "b.txt", "bob\n")
    release(bob, Version(1, 0, 3), "bob")
    for vault in (bob, alice):
        sync(vault, ["stick"])


def _goes_on(alice: Vault) -> None:
    """What was said to be taken is: a later edit of the same line clashes with nobody, and the next commit names it."""
    assert update(alice).relation in {Relation.AHEAD, Relation.SAME}
    assert relation_of(alice, "main") in {Relation.AHEAD, Relation.SAME}
    write(alice, "a.txt", "and more\n")
    commit(alice, "more")
    done = update(alice)
    assert (done.conflict, done.taken.sources, conflicts(alice)) == (None, (), [])


@pytest.mark.parametrize("is_known", [True, False])
def test_a_merge_names_equal_heads_beside_those_it_merges(three: Three, is_known: bool) -> None:
    """LAZ-35, APP-4: also those that were equal before another friend's work came, and only that is told as taken."""
    alice, bob, _ = three
    sync(alice, ["stick"])
    if is_known:
        assert update(alice).relation is Relation.SAME
    _bobs_news(alice, bob)
    planned = update(alice, dry_run=True)
    done = update(alice)
    assert (done.taken.sources, done.taken.versions, done.moves.written) == (("bob",), (Version(1, 0, 3),), ("b.txt",))
    assert (planned.taken.sources, planned.taken.versions, planned.moves.written) == (
        done.taken.sources,
        done.taken.versions,
        done.moves.written,
    )
    _goes_on(alice)


@pytest.mark.parametrize("is_known", [True, False])
def test_a_fast_forward_leaves_equal_heads_beside_my_line(three: Three, is_known: bool) -> None:
    """LAZ-35, APP-4: what bob built on mine has cara's equal work no less than mine had."""
    alice, bob, cara = three
    if is_known:
        sync(alice, ["stick"])
        assert update(alice).relation is Relation.SAME
    sync(bob, ["stick"])
    update(bob, peer="alice")
    _bobs_news(alice, bob)
    done = update(alice)
    assert (done.relation, done.taken.sources, done.moves.written) == (Relation.BEHIND, ("bob",), ("b.txt",))
    _goes_on(alice)
    hers, mine = checkout_of(cara), checkout_of(alice)
    assert hers is not None
    assert mine is not None
    assert hers.commit.text in ancestors(alice.store, mine.commit)


@pytest.mark.parametrize("is_known", [True, False])
def test_the_undo_of_an_update_brings_equal_heads_back(three: Three, is_known: bool) -> None:
    """APP-4, LAZ-35: an update after it is asked no more than the one that was taken back."""
    alice, _, cara = three
    sync(alice, ["stick"])
    if is_known:
        assert update(alice).relation is Relation.SAME
    write(cara, "a.txt", "the same, and more\n")
    release(cara, Version(1, 1, 0), "more")
    for vault in (cara, alice):
        sync(vault, ["stick"])
    if not is_known:
        assert update(alice, peer="cara", version=Version(1, 0, 2)).relation is Relation.SAME
    before = checkout_of(alice)
    first = update(alice)
    assert (first.conflict, first.moves.written) == (None, ("a.txt",))
    undo(alice)
    assert checkout_of(alice) == before
    again = update(alice)
    assert (again.conflict, again.moves.written, conflicts(alice)) == (None, ("a.txt",), [])


def test_what_stands_beside_mine_is_said_of_no_head_without_it(tmp_path: Path) -> None:
    """APP-4: a head merged first by its hash seemed to have taken back what it never had, and so it was lost."""
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    commit(alice, "first")
    first = checkout_of(alice)
    write(alice, "b.txt", "bob\n")
    commit(alice, "another's tree")
    other = checkout_of(alice)
    (alice.folder / "b.txt").unlink()
    write(alice, "a.txt", "the same\n")
    commit(alice, "same tree")
    same = checkout_of(alice)
    write(alice, "c.txt", "cara\n")
    commit(alice, "built tree")
    built = checkout_of(alice)
    write(alice, "a.txt", "the same, and more\n")
    commit(alice, "further tree")
    further = checkout_of(alice)
    assert first is not None
    assert other is not None
    assert same is not None
    assert built is not None
    assert further is not None
    with alice.writing() as w:
        mine, _ = record_commit(w, alice, "main", same.tree, [first.commit], "mine")
        equal, _ = record_commit(w, alice, "main", same.tree, [first.commit], "equal")
        upon, _ = record_commit(w, alice, "main", built.tree, [mine, equal], "built on both")
        apart = [record_commit(w, alice, "main", other.tree, [first.commit], f"bob {n}")[0] for n in range(4)]
        more, _ = record_commit(w, alice, "main", further.tree, [upon], "and more")
        adopt_commit(w, alice, "main", mine, same.tree, [equal])
        noted = [note_head_conflict(w, alice, "main", [more, head]) for head in apart]
    assert min(apart) < upon  # the order of the hashes
    for head in apart:
        overlay = MemoryObjects(fallback=alice.store)
        outcome = fold(overlay.of(alice.group), alice, [upon, head], ours=mine, also=[equal]).outcome
        assert outcome.root is not None
        found_there = [lookup(overlay, tree, "a.txt") for tree in (outcome.root, same.tree)]
        assert found_there[0] == found_there[1]
    assert min(apart) < more
    for one in noted:  # what is shown clashes with nothing that equal heads alone have
        assert open_conflict(alice, one).files == ()
    alice.close()
