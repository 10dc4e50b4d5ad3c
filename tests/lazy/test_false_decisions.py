"""A member seals decisions that are not what they say: nobody's conflict ends by them, and nothing goes by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lazy.conflicts import conflicts
from lazy.people import label_of
from lazy.resolving.resolve import resolve_prefer
from lazy.status import status
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import gathered, write
from vault.audit.entries import read_audit
from vault.audit.trail import trail
from vault.fsck.check import check
from vault.names import Version
from vault.profile import Commit, Resolution
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info, releases
from vault.vault import Vault

CONTESTED = Version(2, 0, 0)


@pytest.fixture
def three(shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Alice and bob, who released different content under one version, and cara, who knows of it and turns on them."""
    alice, bob, cara = shelf.lay(_three)
    yield alice, bob, cara
    for vault in (cara, bob, alice):
        vault.close()


def _three(root: Path) -> tuple[Vault, ...]:
    alice, bob, cara = gathered(root, "bob", "cara")
    for vault in (alice, bob):
        write(vault, "a.txt", f"{vault.name}\n")
        release(vault, CONTESTED, "second")
    for vault in (alice, bob, cara, alice):
        sync(vault, ["stick"])
    return alice, bob, cara


def _released(vault: Vault, version: Version, name: str) -> tuple[RecordHash, RecordHash]:
    """Somebody's release of a version, and its commit."""
    found = (one for one in releases(vault.store, "main", version=version) if label_of(vault, one.node) == name)
    return next((one.hash, one.commit) for one in found)


def _sides(vault: Vault) -> list[RecordHash]:
    return [_released(vault, CONTESTED, name)[1] for name in ("alice", "bob")]


def _commit(vault: Vault, tree: RecordHash, parents: Sequence[RecordHash]) -> RecordHash:
    """A commit by hand, whatever it is built on."""
    with vault.writing() as w:
        plex = Commit.to_plex(
            group=vault.group, desk="main", parents=tuple(sorted(parents)), tree=tree, message="by hand", tai=w.tai()
        )
        return w.seal(plex).hash


def _decide(
    vault: Vault, result: RecordHash, chosen: RecordHash | None = None, merged: RecordHash | None = None
) -> RecordHash:
    """A resolution of the contested version by hand, whatever its result is."""
    with vault.writing() as w:
        sides = [_released(vault, CONTESTED, name)[0] for name in ("alice", "bob")]
        plex = Resolution.to_plex(
            group=vault.group,
            desk="main",
            version=CONTESTED,
            sides=sides,
            chosen=chosen,
            release=merged,
            result=result,
            tai=w.tai(),
        )
        sealed = w.seal(plex).hash
        w.log([sealed])
    return sealed


def _harms_nobody(people: tuple[Vault, Vault, Vault], decision: RecordHash, named: str) -> None:
    """The friends are asked as before and can decide; each is told once who made the decision, and it stays stored."""
    alice, bob, cara = people
    sync(cara, ["stick"])
    for vault in (alice, bob):
        (result,) = sync(vault, ["stick"])
        told = {record: reason for record, code, reason in result.rejected if code == "result-mismatch"}
        assert list(told) == ([decision] if named else [])
        assert all("cara" in reason and named in reason for reason in told.values())
        (again,) = sync(vault, ["stick"])
        assert again.rejected == []
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
    of_alice, commit = _released(cara, CONTESTED, "alice")
    result = {
        "no commit": of_alice,
        "the release before": _released(cara, Version(1, 0, 0), "alice")[1],
        "a side": commit,
    }.get(what)
    if result is None:
        write(alice, "b.txt", "later\n")
        release(alice, Version(2, 1, 0), "third")
        for vault in (alice, cara):
            sync(vault, ["stick"])
        result = _released(cara, Version(2, 1, 0), "alice")[1]
    _harms_nobody(three, _decide(cara, result, chosen=of_alice), "2.0.0")


def test_a_merge_that_is_none_decides_nothing(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-4, LAZ-42: its result joins the sides, and the release that it calls the merged one does not."""
    cara = three[2]
    first, commit = _released(cara, Version(1, 0, 0), "alice")
    result = _commit(cara, commit_info(cara.store, commit).tree, [commit, *_sides(cara)])
    _harms_nobody(three, _decide(cara, result, merged=first), "2.0.0")
