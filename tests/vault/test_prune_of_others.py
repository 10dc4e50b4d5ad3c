"""Content of commits that no log shares, and that my key did not seal: a prune keeps it (CLAY-76, CLAY-79)."""

from __future__ import annotations

from pathlib import Path

from lazy.belonging.adopting import adopt
from lazy.vectors import my_vector
from tests.lazy.three import cut, meet, three
from tests.shelf import Shelf
from tests.vault.vaults import found, write
from vault.content.prune import plan_prune, prune
from vault.folder.work import commit
from vault.fsck.check import check
from vault.releasing import release
from vault.revisions.graph import tree_is_here
from vault.revisions.history import revisions


def test_drafts_that_were_sealed_with_a_former_key_stay(tmp_path: Path) -> None:
    """CLAY-76, LAZ-65: nobody else has them, so after an adopt a prune would take them from the world."""
    with found(tmp_path) as alice:
        write(alice, "a.txt", "first\n")
        release(alice)
        for number in range(3):
            write(alice, "a.txt", f"draft {number}\n")
            assert commit(alice, f"draft {number}")
        old = [revisions(alice.store, alice.node.text, "main", number)[0].commit for number in range(1, 5)]
        adopt(alice)
        write(alice, "a.txt", "under another key\n")
        assert commit(alice, "goes on")
        assert not plan_prune(alice).lets_go
        prune(alice)
        assert [tree_is_here(alice.store, each) for each in old] == [True] * 4
        assert check(alice).ok


def test_what_was_accepted_of_somebody_who_is_cut_off_before_it_stays(shelf: Shelf) -> None:
    """LAZ-66, LAZ-71: it can be taken by name still, and a cut may move or fall: then it counts again."""
    alice, _, carol = shelf.lay(three)
    before = my_vector(alice)[carol.node.text].seq
    write(carol, "carol.txt", "two\n")
    late = release(carol, None, "accepted, then cut away")
    meet(carol, alice)
    cut(alice, "carol", before)
    assert tree_is_here(alice.store, late.commit)
    assert not plan_prune(alice).lets_go
    prune(alice)
    assert tree_is_here(alice.store, late.commit)
    assert check(alice).ok
