"""What was let go comes back from a friend, in part or whole, and is asked for no longer than it helps (CLAY-79)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.films import begin_to_fetch, content, film, films, gone, prune_copied, visible
from tests.vault.vaults import derived, write
from vault.content.keeping import Keep, fetch, give_up, set_keep
from vault.content.prune import prune
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    return shelf.lay(films)


def test_what_was_let_go_comes_back_from_a_friend(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: only what is asked for; a sync without asking brings nothing back; the stick need not be new."""
    alice, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("", 1))
    assert prune_copied(bob).files == 10  # of 1.0.0 to 1.0.3: four texts, three small films, three large ones
    for vault in (bob, alice, bob):
        (result,) = sync(vault, ["stick"])
        assert not result.problems
    assert gone(bob, "1.0.2", "films/large.bin")
    old = resolve(bob, "alice/main@1.0.2")
    assert fetch(bob, old.tree, "films/large.bin") == ["films/large.bin"]
    assert fetch(bob, old.tree, "nothing/there") == []
    assert check(bob).bad == ()
    (result,) = sync(bob, ["stick"])
    assert not result.problems
    assert content(bob, "1.0.2", "films/large.bin") == film(2)
    assert gone(bob, "1.0.2", "films/small.bin")
    assert sorted(fetch(bob, old.tree, "")) == ["a.txt", "films/small.bin"]
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "a.txt") == b"text 2\n"
    assert check(bob).bad == ()
    assert bob.store.rows("SELECT 1 FROM hole") == []
    write(bob, "mine.txt", "bob's\n")
    assert release(bob).files == 5
    for vault in (bob, alice):
        sync(vault, ["stick"])
    assert update(alice).conflict is None


def test_what_nobody_has_any_more_is_asked_for_no_longer(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: a fetch that nobody can fulfil is taken back; what has begun to come is named, and a prune takes it."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune_copied(bob).files == 6
    old = resolve(bob, "alice/main@1.0.2").tree
    assert give_up(bob, old, "") == ([], [])
    assert sorted(fetch(bob, old, "")) == ["films/large.bin", "films/small.bin", "other.bin"]
    assert bob.store.rows("SELECT 1 FROM hole")
    assert give_up(bob, old, "films/small.bin") == (["films/small.bin"], [])
    assert give_up(bob, old, "nothing/there") == ([], [])
    assert give_up(bob, old, "films") == (["films/large.bin"], [])
    assert give_up(bob, old, "other.bin") == ([], []), "the same content"
    assert bob.store.rows("SELECT 1 FROM hole") == []
    state = derived(bob)
    assert repair(bob).ok
    assert derived(bob) == state
    (result,) = sync(bob, ["stick"])
    assert len(result.came.received) == 0
    assert gone(bob, "1.0.2", "films/small.bin")
    assert check(bob).bad == ()
    begin_to_fetch(bob, "1.0.2")
    assert give_up(bob, old, "films") == ([], ["films/large.bin"])
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)


def test_what_is_here_again_by_another_way_is_not_asked_for(pair: tuple[Vault, Vault]) -> None:
    """The same bytes came back in a file of its own; a fetch of the old path changes nothing."""
    _, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("films", 1))
    assert prune_copied(bob).files
    sync(bob, ["stick"])
    old = resolve(bob, "alice/main@1.0.2")
    assert gone(bob, "1.0.2", "films/small.bin")
    (bob.folder / "again.bin").write_bytes(b"%d" % 2 * 600)
    release(bob)
    assert not gone(bob, "1.0.2", "films/small.bin")
    assert fetch(bob, old.tree, "films/small.bin") == []
    assert check(bob).bad == ()


def test_what_came_back_in_part_is_let_go_again_or_fetched_to_its_end(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, APP-13: a fetch was stopped; another one goes on with it, and a prune takes it back."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune_copied(bob).files == 6
    begin_to_fetch(bob, "1.0.2")
    sync(bob, ["stick"], pull=False)  # what did come lies on the place now
    assert prune(bob).unproven == 1
    sync(bob, ["stick"], pull=False)
    assert prune(bob).files == 1
    assert gone(bob, "1.0.2", "films/large.bin")
    assert bob.store.rows("SELECT 1 FROM hole") == []
    assert check(bob).bad == ()
    begin_to_fetch(bob, "1.0.2")
    assert fetch(bob, resolve(bob, "alice/main@1.0.2").tree, "other.bin") == ["other.bin"]  # the same content
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)
    assert bob.store.rows("SELECT wanted FROM tomb WHERE wanted > 0") == []
    assert check(bob).bad == ()


def test_a_new_release_that_holds_what_is_being_fetched_is_shown_once_all_of_it_is_here(
    pair: tuple[Vault, Vault],
) -> None:
    """CLAY-79: asked for, it is missing like anything else; what was shown before stays."""
    alice, bob = pair
    for path in ("films", "other.bin"):
        set_keep(alice, "main", Keep(path, 1))
    assert prune(alice).files == 6
    before = visible(alice)
    (bob.folder / "films/large.bin").write_bytes(film(2))
    release(bob, Version(2, 0, 0))
    sync(bob, ["stick"])
    begin_to_fetch(alice, "1.0.2")
    sync(alice, ["stick"], pull=False)  # judges what the stopped one left
    assert visible(alice) == before
    assert update(alice).conflict is None
    assert check(alice).bad == ()
    sync(alice, ["stick"])
    assert visible(alice) == [*before, "2.0.0"]
    update(alice)
    assert (alice.folder / "films/large.bin").read_bytes() == film(2)


def test_what_an_earlier_version_asked_for_stays_shown(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: it kept that it asked, and not when."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune_copied(bob).files == 6
    before = visible(bob)
    begin_to_fetch(bob, "1.0.2")
    with bob.store.transaction():
        bob.store.run("UPDATE tomb SET wanted = 1 WHERE wanted > 0")
    assert repair(bob).ok
    assert visible(bob) == before
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)


def test_a_part_of_a_new_file_is_fetched_though_a_file_of_its_bytes_was_let_go(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, CLAY-35: a large file of zeros has one of 256 KiB as a part; nobody lied, and nothing is missing."""
    alice, bob = pair
    (alice.folder / "zeros").write_bytes(bytes(256 << 10))
    release(alice)
    (alice.folder / "zeros").write_bytes(b"one\n")
    release(alice)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    update(bob)
    set_keep(alice, "main", Keep("zeros", 1))
    assert prune(alice).files == 1
    (bob.folder / "large").write_bytes(bytes(1 << 20))
    release(bob, Version(2, 0, 0))
    sync(bob, ["stick"])
    (result,) = sync(alice, ["stick"])
    assert result.came.rejected == []
    update(alice)
    assert (alice.folder / "large").read_bytes() == bytes(1 << 20)
    assert check(alice).bad == ()
