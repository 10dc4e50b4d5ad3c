"""A member seals decisions that are not what they say: nobody's conflict ends by them, and nothing goes by them."""

from __future__ import annotations

import pytest

from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.resolving.resolve import accept_resolution, resolve_prefer
from lazy.status import status
from lazy.sync import sync
from tests.lazy.by_hand import CONTESTED, commit_by_hand, decide_by_hand, released_by, sides_of
from tests.vault.vaults import trail, write
from vault.audit.entries import read_audit
from vault.folder.work import commit
from vault.fsck.check import check
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault

BASE = Version(1, 0, 0)


def _head(vault: Vault) -> RecordHash:
    head = line_head(vault.store, vault.node.text, "main")
    assert head is not None
    return head.commit


def _harms_nobody(people: tuple[Vault, Vault, Vault], decision: RecordHash, named: str) -> None:
    """The friends are asked as before and can decide; each is told once who made the decision, and it stays stored."""
    alice, bob, cara = people
    sync(cara, ["stick"])
    for vault in (alice, bob):
        (result,) = sync(vault, ["stick"])
        told = {record: reason for record, code, reason in result.came.rejected if code == "result-mismatch"}
        assert list(told) == ([decision] if named else [])
        assert all("cara" in reason and named in reason for reason in told.values())
        (again,) = sync(vault, ["stick"])
        assert again.came.rejected == []
        audited = [entry.object for entry in map(read_audit, trail(vault)) if entry.verb == "lace-refuse"]
        assert audited.count(decision.text) == bool(named)
        (asked,) = conflicts(vault)
        assert asked.proposals == ()
        assert status(vault).conflicts == 1
        assert check(vault).bad == ()
    resolve_prefer(alice, str(CONTESTED), "bob")
    assert (conflicts(alice), (alice.folder / "a.txt").read_text()) == ([], "bob\n")


@pytest.mark.parametrize("what", ["no commit", "the release before", "a side", "what alice made later"])
def test_a_decision_whose_result_joins_nothing_is_named_and_asks_nobody_less(
    three: tuple[Vault, Vault, Vault], what: str
) -> None:
    """LAZ-4, LAZ-42: everybody has its result already, or nobody could read it; both sides stay to be decided."""
    alice, _, cara = three
    of_alice, side = released_by(cara, CONTESTED, "alice")
    result = {
        "no commit": of_alice,
        "the release before": released_by(cara, BASE, "alice")[1],
        "a side": side,
    }.get(what)
    if result is None:
        write(alice, "b.txt", "later\n")
        release(alice, Version(2, 1, 0), "third")
        for vault in (alice, cara):
            sync(vault, ["stick"])
        result = released_by(cara, Version(2, 1, 0), "alice")[1]
    _harms_nobody(three, decide_by_hand(cara, result, chosen=of_alice), "2.0.0")


def test_a_merge_that_is_none_decides_nothing(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-4, LAZ-42: its result joins the sides, and the release that it calls the merged one does not."""
    cara = three[2]
    first, lower = released_by(cara, BASE, "alice")
    result = commit_by_hand(cara, commit_info(cara.store, lower).tree, [lower, *sides_of(cara)])
    _harms_nobody(three, decide_by_hand(cara, result, merged=first), "2.0.0")


@pytest.mark.parametrize("what", ["her files", "another side", "one file more", "a side of another version"])
def test_a_side_that_is_not_what_its_maker_released_is_not_proposed_as_theirs(
    three: tuple[Vault, Vault, Vault], what: str
) -> None:
    """LAZ-42: who accepts the side of alice gets what alice released, and nothing that cara put there."""
    cara = three[2]
    (chosen, of_alice), (_, of_bob) = released_by(cara, CONTESTED, "alice"), released_by(cara, CONTESTED, "bob")
    tree = commit_info(cara.store, of_bob).tree
    if what in {"her files", "one file more"}:
        write(cara, "a.txt", "alice\n" if what == "one file more" else "cara\n")
        write(cara, "evil.sh", "rm -r ~\n")
        commit(cara, "mine")
        tree = commit_info(cara.store, _head(cara)).tree
    more: tuple[RecordHash, ...] = ()
    if what == "a side of another version":
        chosen, lower = released_by(cara, BASE, "alice")
        tree, more = commit_info(cara.store, lower).tree, (chosen,)
    result = commit_by_hand(cara, tree, [of_alice, of_bob])
    _harms_nobody(three, decide_by_hand(cara, result, chosen=chosen, more=more), "" if more else "2.0.0")


def test_a_second_decision_brings_nothing_that_the_first_has_not(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-42: beside a side stands only what earlier decisions have; the first one is proposed as before."""
    alice, bob, cara = three
    (chosen, of_alice), of_bob = released_by(cara, CONTESTED, "alice"), released_by(cara, CONTESTED, "bob")[1]
    first = commit_by_hand(cara, commit_info(cara.store, of_alice).tree, [of_alice, of_bob])
    proposed = decide_by_hand(cara, first, chosen=chosen)
    write(cara, "a.txt", "alice\n")
    write(cara, "evil.sh", "rm -r ~\n")
    commit(cara, "mine")
    decide_by_hand(cara, commit_by_hand(cara, commit_info(cara.store, _head(cara)).tree, [first]), chosen=chosen)
    for vault in (cara, alice, bob):
        sync(vault, ["stick"])
    for vault in (alice, bob):
        assert [[one.resolution for one in asked.proposals] for asked in conflicts(vault)] == [[proposed]]
    accept_resolution(bob, str(CONTESTED))
    assert sorted(path.name for path in bob.folder.iterdir()) == [".vault", "a.txt"]


@pytest.mark.parametrize("how", ["at once", "in two steps"])
def test_what_a_friend_made_since_goes_by_nobodys_decision_on_what_was_before(
    three: tuple[Vault, Vault, Vault], how: str
) -> None:
    """LAZ-4, LAZ-42: cara says what alice decided, and builds it on bob's next release without what that has."""
    alice, bob, cara = three
    resolve_prefer(alice, str(CONTESTED), "local")
    write(bob, "bob.md", "bob\n")
    release(bob, Version(2, 1, 0), "third")
    for vault in (bob, alice, cara, bob):
        sync(vault, ["stick"])
    ((decided,),) = cara.store.rows("SELECT result FROM resolution")
    mine, next_one = RecordHash.parse(str(decided)), released_by(cara, Version(2, 1, 0), "bob")[1]
    (chosen, of_alice), (of_bob, lower) = released_by(cara, CONTESTED, "alice"), released_by(cara, CONTESTED, "bob")
    if how == "in two steps":
        next_one = commit_by_hand(cara, commit_info(cara.store, lower).tree, [of_alice, next_one])
        decide_by_hand(cara, next_one, chosen=of_bob)
    decide_by_hand(cara, commit_by_hand(cara, commit_info(cara.store, mine).tree, [mine, next_one]), chosen=chosen)
    for vault in (cara, alice, bob):
        sync(vault, ["stick"])
    assert update(alice).moves.written == ("bob.md",)
    ((_, words),) = [(one, asked.proposed_words(one)) for asked in conflicts(bob) for one in asked.proposals]
    assert words == "the side of alice"
    write(alice, "later.txt", "later\n")
    release(alice, Version(2, 2, 0), "fourth")
    for vault in (alice, bob):
        sync(vault, ["stick"])
    assert update(bob).moves.deleted == ()
    for vault in (alice, bob):
        assert (vault.folder / "bob.md").read_text() == "bob\n"
        assert ((vault.folder / "a.txt").read_text(), conflicts(vault)) == ("alice\n", [])
