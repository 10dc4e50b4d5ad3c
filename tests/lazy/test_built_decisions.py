"""What a decision is built on: it takes back nothing of that unasked, and everybody judges it alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.people import label_of
from lazy.resolving.picks import Choices
from lazy.resolving.resolve import accept_resolution, resolve_merged, resolve_prefer
from lazy.sync import sync
from tests.lazy.by_hand import CONTESTED, commit_by_hand, decide_by_hand, released_by, sides_of
from tests.lazy.three import cut, meet, sound
from tests.shelf import Shelf
from tests.vault.vaults import befriend, gathered, write
from vault.folder.work import Committed, commit
from vault.names import Version
from vault.profile import Release
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info, line_head, releases
from vault.vault import Vault

MERGED, LATER = Version(2, 1, 0), Version(2, 2, 0)


def _both(path: str) -> bytes | None:
    return b"both\n" if path == "a.txt" else None


def _release_unseen(vault: Vault, like: Version) -> RecordHash:
    """A release of the contested version by hand, of bob's commit under another one; no log entry shares it."""
    (of_bob,) = [one for one in releases(vault.store, "main", version=like) if label_of(vault, one.node) == "bob"]
    ((rev,),) = vault.store.rows("SELECT hash FROM rev WHERE commit_hash = ? LIMIT 1", of_bob.commit.text)
    with vault.writing() as w:
        plex = Release.to_plex(
            group=vault.group,
            desk="main",
            version=CONTESTED,
            commit=of_bob.commit,
            rev=RecordHash.parse(str(rev)),
            content_sha512=of_bob.content_sha512,
            message="",
            tai=w.tai(),
        )
        return w.seal(plex).hash


def _proposed(vault: Vault) -> list[tuple[str, str]]:
    """Who proposes what of the one conflict there is."""
    (asked,) = conflicts(vault)
    return [(one.name, asked.proposed_words(one)) for one in asked.proposals]


@pytest.mark.parametrize("named", ["a release that nobody sees", "the sides alone"])
def test_a_decision_takes_back_nothing_of_the_one_it_is_built_on(three: tuple[Vault, Vault, Vault], named: str) -> None:
    """LAZ-4, LAZ-42: cara says what alice decided, on top of bob's merge and without what that has beside it."""
    alice, bob, cara = three
    resolve_prefer(alice, str(CONTESTED), "local")
    write(bob, "bob.md", "bob\n")
    resolve_merged(bob, str(CONTESTED), MERGED, Choices(edited=_both))
    for vault in (bob, cara):
        sync(vault, ["stick"])
    (chosen, of_alice), merged = released_by(cara, CONTESTED, "alice"), released_by(cara, MERGED, "bob")[1]
    more = (_release_unseen(cara, MERGED),) if named != "the sides alone" else ()
    tree = commit_info(cara.store, of_alice).tree
    decide_by_hand(cara, commit_by_hand(cara, tree, [*sides_of(cara), merged]), chosen=chosen, more=more)
    meet(cara, alice, bob)
    assert _proposed(alice) == [("bob", "a merge, released as 2.1.0")]
    assert _proposed(bob) == [("alice", "the side of alice")]
    accept_resolution(alice, str(CONTESTED))
    write(alice, "later.txt", "later\n")
    release(alice, LATER, "later")
    meet(alice, bob)
    for vault in (alice, bob):
        assert update(vault).moves.deleted == ()
        assert ((vault.folder / "bob.md").read_text(), conflicts(vault)) == ("bob\n", [])


def test_what_is_called_a_side_and_is_none_is_nothing_to_build_on(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-4, LAZ-42: bob's next release, named as a side by cara alone, does not go by her decision."""
    alice, bob, cara = three
    resolve_prefer(alice, str(CONTESTED), "local")
    write(bob, "bob.md", "bob\n")
    release(bob, MERGED, "third")
    meet(bob, cara)
    (chosen, of_alice), later = released_by(cara, CONTESTED, "alice"), released_by(cara, MERGED, "bob")[1]
    tree, unseen = commit_info(cara.store, of_alice).tree, _release_unseen(cara, MERGED)
    decide_by_hand(cara, commit_by_hand(cara, tree, [*sides_of(cara), later]), chosen=chosen, more=(unseen,))
    meet(cara, alice, bob)
    assert conflicts(alice) == []
    assert _proposed(bob) == [("alice", "the side of alice")]
    assert update(alice).moves.written == ("bob.md",)


def test_a_side_that_only_its_decision_names_is_not_proposed(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-42: who accepts a side gets one that they were shown."""
    alice, bob, cara = three
    write(bob, "evil.sh", "rm -r ~\n")
    release(bob, MERGED, "third")
    meet(bob, cara)
    unseen = _release_unseen(cara, MERGED)
    later = released_by(cara, MERGED, "bob")[1]
    result = commit_by_hand(cara, commit_info(cara.store, later).tree, [*sides_of(cara), later])
    decide_by_hand(cara, result, chosen=unseen, more=(unseen,))
    meet(cara, alice)
    assert _proposed(alice) == []


def test_many_decisions_one_on_the_other_are_judged_once_each(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-42: two hundred small records of a member made every command of her friends take a quarter of a minute."""
    alice, _, cara = three
    write(cara, "cara.md", "cara\n")
    resolve_merged(cara, str(CONTESTED), MERGED, Choices(edited=_both))
    write(cara, "a.txt", "alice\n")
    made = commit(cara, "as alice has it")
    assert isinstance(made, Committed)
    tree = commit_info(cara.store, made.commit).tree
    chosen, below = released_by(cara, CONTESTED, "alice")[0], [released_by(cara, MERGED, "cara")[1]]
    for _ in range(200):
        below = [commit_by_hand(cara, tree, below)]
        decide_by_hand(cara, below[0], chosen=chosen)
    meet(cara, alice)
    statements: list[str] = []
    alice.store.db.set_trace_callback(statements.append)
    (asked,) = conflicts(alice)
    alice.store.db.set_trace_callback(None)
    assert len(statements) < 5 * 200, "each was looked at again for each other one"
    assert [one.result for one in asked.proposals] == below


def test_hundreds_of_proposals_keep_nobody_from_deciding(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-39: a commit has room for 64 parents, and each proposal for one side wanted to be one."""
    alice, bob, cara = three
    sync(cara, ["stick"])
    sides, (chosen, of_bob) = sides_of(cara), released_by(cara, CONTESTED, "bob")
    for _ in range(70):
        decide_by_hand(cara, commit_by_hand(cara, commit_info(cara.store, of_bob).tree, sides), chosen=chosen)
    for vault in (cara, alice, bob):
        sync(vault, ["stick"])
    resolve_prefer(alice, str(CONTESTED), "local")
    head = line_head(alice.store, alice.node.text, "main")
    assert head is not None
    assert len(commit_info(alice.store, head.commit).parents) <= 64


def test_what_was_decided_on_top_of_who_was_revoked_counts_for_who_joins_later(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-42: it counted for who had met the revoked friend before, and for nobody who came afterwards, for good."""
    alice, bob, carol, dan = people = shelf.lay(gathered, "bob", "carol", "dan")
    for vault in (alice, bob):
        write(vault, "a.txt", f"{vault.name}\n")
        release(vault, CONTESTED, "second")
    meet(alice, bob, dan, carol, alice)
    write(dan, "dan.txt", "dan\n")
    resolve_merged(dan, str(CONTESTED), MERGED, Choices(edited=_both))
    meet(dan, carol, alice)
    accept_resolution(carol, str(CONTESTED))
    resolve_prefer(bob, str(CONTESTED), "alice")
    meet(bob, carol)
    accept_resolution(carol, str(CONTESTED), "bob")
    meet(carol, alice)
    cut(alice, "dan", last=1)
    meet(alice, carol, bob)
    eve = befriend(tmp_path, alice, "eve")
    meet(bob, carol, alice, eve)
    for vault in (alice, eve):
        assert _proposed(vault) == [("carol", "the side of alice")]
    for vault in (alice, eve):
        accept_resolution(vault, str(CONTESTED))
        assert (conflicts(vault), (vault.folder / "a.txt").read_text()) == ([], "alice\n")
    assert (eve.folder / "dan.txt").read_text() == "dan\n"
    sound(*people[:3], eve)
    for vault in (eve, *people):
        vault.close()
