"""What an update says it would do is what it does then (APP-12, LAZ-1, LAZ-29): one case for each way that heads come.

Each case is alice's vault, in which something was released by her friends, and in some a folder that is not committed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.bringing_back import bring_back
from lazy.folder.desk_merge import merge_desk
from lazy.folder.update import update
from lazy.folder.updated import Updated
from tests.lazy.three import meet
from tests.shelf import Shelf
from tests.vault.vaults import befriended, gathered, write
from vault.desks.strategies import Strategy
from vault.errors import LaceError
from vault.folder.checked_out import checkout_of
from vault.folder.work import commit
from vault.names import Version
from vault.releasing import release
from vault.revisions.history import Relation
from vault.vault import Vault

_LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def _known(root: Path) -> tuple[Vault, ...]:
    """Alice, bob and cara, who all stand on one release of two files."""
    people = gathered(root, "bob", "cara")
    alice, *friends = people
    write(alice, "song.txt", _LINES)
    release(alice, Version(1, 1, 0), "a song")
    meet(*people)
    for friend in friends:
        update(friend)
    return people


def _new(root: Path) -> tuple[Vault, ...]:
    """The three, of whom alice has committed nothing yet, nor anybody released."""
    return befriended(root, "bob", "cara")


def _releases(who: Vault, number: int, **files: str) -> None:
    for name, text in files.items():
        write(who, f"{name}.txt", text)
    release(who, Version(2, number, 0), "news")


def _nothing(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    return Relation.SAME


def _ahead(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    write(alice, "a.txt", "mine\n")
    commit(alice, "mine")
    return Relation.AHEAD


def _forward(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    return Relation.BEHIND


def _dirty_forward(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    write(alice, "song.txt", f"mine\n{_LINES}")
    return Relation.MERGEABLE


def _merge(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", song=f"{_LINES}bob\n")
    write(alice, "song.txt", f"mine\n{_LINES}")
    commit(alice, "mine")
    return Relation.MERGEABLE


def _dirty_merge(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    write(alice, "mine.txt", "mine\n")
    _merge(alice, bob, cara)
    write(alice, "dirty.txt", "dirty\n")
    write(alice, "song.txt", f"mine\nand more\n{_LINES}")
    return Relation.MERGEABLE


def _clash(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n", song=f"{_LINES}bob\n")
    write(alice, "a.txt", "mine\n")
    commit(alice, "mine")
    return Relation.CONFLICTING


def _clash_beside_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    write(alice, "dirty.txt", "dirty\n")
    _clash(alice, bob, cara)
    write(alice, "dirty.txt", "dirty, and more\n")
    return Relation.CONFLICTING


def _clash_of_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    write(alice, "a.txt", "mine\n")
    return Relation.CONFLICTING


def _clash_of_dirty_too(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _clash(alice, bob, cara)
    write(alice, "song.txt", f"{_LINES}mine\n")
    return Relation.CONFLICTING


def _clash_ended_by_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _clash(alice, bob, cara)
    write(alice, "a.txt", "bob\n")
    return Relation.MERGEABLE


def _dirty_beside_forward(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    write(alice, "dirty.txt", "dirty\n")
    return Relation.MERGEABLE


def _dirty_ahead(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _ahead(alice, bob, cara)
    write(alice, "a.txt", "mine, and more\n")
    return Relation.AHEAD


def _other_name(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """A name that no disk may hold beside the one here: it is asked about by every strategy, or refused."""
    _releases(bob, 1, Notes="bob\n")
    write(alice, "notes.txt", "mine\n")
    return Relation.CONFLICTING


def _several(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, bob="bob\n", song=f"{_LINES}bob\n")
    _releases(cara, 2, cara="cara\n", song=f"cara\n{_LINES}")
    return Relation.MERGEABLE


def _several_and_mine(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _several(alice, bob, cara)
    write(alice, "a.txt", "mine\n")
    commit(alice, "mine")
    return Relation.MERGEABLE


def _several_and_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _several_and_mine(alice, bob, cara)
    write(alice, "song.txt", _LINES.replace("four", "mine"))
    return Relation.MERGEABLE


def _several_clash(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, bob="bob\n", a="bob\n")
    _releases(cara, 2, cara="cara\n", a="cara\n")
    return Relation.CONFLICTING


def _several_clash_beside_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _several_clash(alice, bob, cara)
    write(alice, "song.txt", f"{_LINES}mine\n")
    return Relation.CONFLICTING


def _several_clash_with_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _several(alice, bob, cara)
    write(alice, "bob.txt", "mine\n")
    return Relation.CONFLICTING


def _dirty_as_theirs(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n")
    write(alice, "a.txt", "bob\n")
    return Relation.AHEAD


def _dirty_as_one(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n")
    _releases(cara, 2, song=f"{_LINES}cara\n")
    write(alice, "a.txt", "bob\n")
    return Relation.MERGEABLE


def _first_as_theirs(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n")
    write(alice, "a.txt", "bob\n")
    return Relation.AHEAD


def _first(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    return Relation.BEHIND


def _first_beside_mine(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    write(alice, "mine.txt", "mine\n")
    return Relation.MERGEABLE


def _first_clashes(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", new="bob\n")
    write(alice, "a.txt", "mine\n")
    return Relation.CONFLICTING


def _first_several(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, bob="bob\n")
    _releases(cara, 2, cara="cara\n")
    return Relation.MERGEABLE


def _first_several_beside_mine(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _first_several(alice, bob, cara)
    write(alice, "mine.txt", "mine\n")
    return Relation.MERGEABLE


def _first_several_clash_with_mine(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _first_several(alice, bob, cara)
    write(alice, "bob.txt", "mine\n")
    write(alice, "cara.txt", "mine\n")
    return Relation.CONFLICTING


def _first_several_clash(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _releases(bob, 1, a="bob\n", bob="bob\n")
    _releases(cara, 2, a="cara\n", cara="cara\n")
    write(alice, "mine.txt", "mine\n")
    return Relation.CONFLICTING


def _both_merged(alice: Vault, bob: Vault, cara: Vault, **clashing: str) -> None:
    """Bob and cara released each their own, merged both, each in another way, and released that under one version."""
    _releases(bob, 1, bob="bob\n", **clashing)
    _releases(cara, 2, cara="cara\n", **{name: f"{text}cara\n" for name, text in clashing.items()})
    meet(bob, cara, bob)
    for who, other in ((bob, "cara"), (cara, "bob")):
        merge_desk(who, "main", resolve(who, f"{other}/main"), Strategy.TAKE_THIS)
        _releases(who, 3, both=f"{who.name}\n")


def _below_a_version(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """The sides of a version wait for a decision; what both contain merges, and comes in meanwhile."""
    _both_merged(alice, bob, cara)
    return Relation.MERGEABLE


def _below_a_version_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    write(alice, "dirty.txt", "dirty\n")
    return _below_a_version(alice, bob, cara)


def _below_a_version_clash(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """What both sides contain clashes, and they merged it: nobody is asked about that once more."""
    _both_merged(alice, bob, cara, a="bob\n")
    return Relation.SAME


def _below_a_version_clash_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    write(alice, "dirty.txt", "dirty\n")
    return _below_a_version_clash(alice, bob, cara)


def _below_a_version_clash_of_dirty(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """What both sides contain clashes with what the folder holds alone."""
    _both_merged(alice, bob, cara)
    write(alice, "bob.txt", "mine\n")
    return Relation.SAME


def _part(alice: Vault, bob: Vault, cara: Vault) -> None:
    """Alice has of bob's release one folder alone, and he goes on from it."""
    write(bob, "part/a.txt", _LINES)
    write(bob, "part/b.txt", _LINES)
    _releases(bob, 1, bob="bob\n")
    meet(bob, alice)
    bring_back(alice, resolve(alice, "bob/main"), "part")


def _part_goes_on(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _part(alice, bob, cara)
    write(bob, "part/a.txt", f"{_LINES}bob\n")
    _releases(bob, 2, new="bob\n")
    return Relation.MERGEABLE


def _part_as_it_is(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _part(alice, bob, cara)
    return Relation.MERGEABLE


def _part_committed(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _part(alice, bob, cara)
    commit(alice, "a part")
    write(bob, "part/a.txt", f"{_LINES}bob\n")
    _releases(bob, 2, new="bob\n")
    return Relation.MERGEABLE


def _part_edited(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """What of a part is otherwise here may be so for any reason: it is asked about (`vault.folder.brought_paths`)."""
    _part_goes_on(alice, bob, cara)
    write(alice, "part/a.txt", f"mine\n{_LINES}")
    return Relation.CONFLICTING


def _part_edited_after(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _part_committed(alice, bob, cara)
    write(alice, "part/a.txt", f"mine\n{_LINES}")
    write(alice, "dirty.txt", "dirty\n")
    return Relation.CONFLICTING


def _part_clashes(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    _part_goes_on(alice, bob, cara)
    write(alice, "part/a.txt", f"{_LINES}mine\n")
    return Relation.CONFLICTING


def _part_left_by_its_maker(alice: Vault, bob: Vault, cara: Vault) -> Relation:
    """Bob goes back to what alice stands on: that says something of her folder, though it is equal in content."""
    _part(alice, bob, cara)
    for name in ("part/a.txt", "part/b.txt", "bob.txt"):
        (bob.folder / name).unlink()
    (bob.folder / "part").rmdir()
    _releases(bob, 2)
    return Relation.MERGEABLE


Case = Callable[[Vault, Vault, Vault], Relation]
_PARTS = (
    _part_goes_on,
    _part_as_it_is,
    _part_committed,
    _part_edited,
    _part_edited_after,
    _part_clashes,
    _part_left_by_its_maker,
)
_AGREE = {
    _known: (
        _nothing,
        _ahead,
        _forward,
        _dirty_forward,
        _dirty_beside_forward,
        _merge,
        _dirty_merge,
        _clash,
        _clash_beside_dirty,
        _clash_of_dirty,
        _clash_of_dirty_too,
        _clash_ended_by_dirty,
        _several,
        _several_and_mine,
        _several_and_dirty,
        _several_clash,
        _several_clash_beside_dirty,
        _several_clash_with_dirty,
        _dirty_as_theirs,
        _dirty_as_one,
        _dirty_ahead,
        _other_name,
        _below_a_version,
        _below_a_version_dirty,
        _below_a_version_clash,
        _below_a_version_clash_dirty,
        _below_a_version_clash_of_dirty,
        *_PARTS,
    ),
    _new: (
        _nothing,
        _first,
        _first_beside_mine,
        _first_clashes,
        _first_as_theirs,
        _first_several,
        _first_several_beside_mine,
        _first_several_clash_with_mine,
        _first_several_clash,
    ),
}


@pytest.mark.parametrize(
    ("begin", "case"),
    [
        pytest.param(begin, case, id=f"{begin.__name__}{case.__name__}")
        for begin, cases in _AGREE.items()
        for case in cases
    ],
)
def test_a_plan_says_what_the_update_does(shelf: Shelf, begin: Callable[[Path], tuple[Vault, ...]], case: Case) -> None:
    """APP-12, LAZ-1, LAZ-29, LAZ-42: whose work comes, what moves and what clashes is decided once, for both."""
    alice, bob, cara = shelf.lay(begin)
    expected = case(alice, bob, cara)
    meet(bob, cara, alice)
    before = checkout_of(alice)
    plan = update(alice, dry_run=True)
    assert checkout_of(alice) == before, "a plan writes nothing"
    done = update(alice)
    assert done.relation is expected
    assert _said(plan) == _said(done)
    assert (plan.saves, done.saves) == (done.saved is not None, False)
    for vault in (alice, bob, cara):
        vault.close()


_NAMED = {
    _known: (
        _nothing,
        _ahead,
        _forward,
        _dirty_forward,
        _dirty_beside_forward,
        _merge,
        _dirty_merge,
        _clash,
        _clash_beside_dirty,
        _clash_of_dirty,
        _clash_of_dirty_too,
        _clash_ended_by_dirty,
        _dirty_as_theirs,
        _dirty_ahead,
        _other_name,
        *_PARTS,
    ),
    _new: (_first, _first_beside_mine, _first_clashes, _first_as_theirs),
}


@pytest.mark.parametrize("strategy", Strategy, ids=str)
@pytest.mark.parametrize(
    ("begin", "case"),
    [
        pytest.param(begin, case, id=f"{begin.__name__}{case.__name__}")
        for begin, cases in _NAMED.items()
        for case in cases
    ],
)
def test_a_plan_of_a_merge_by_name_says_what_it_does(
    shelf: Shelf, begin: Callable[[Path], tuple[Vault, ...]], case: Case, strategy: Strategy
) -> None:
    """APP-12, CLAY-72 to CLAY-78: what the folder holds would be committed first, and is no way forward then."""
    alice, bob, cara = shelf.lay(begin)
    case(alice, bob, cara)
    meet(bob, alice)
    that = resolve(alice, "main@1.1.0" if case in {_nothing, _ahead, _dirty_ahead} else "bob/main")

    def said(*, is_planned: bool) -> tuple[Updated, bool] | tuple[type[LaceError], str]:
        try:
            one = merge_desk(alice, "main", that, strategy, dry_run=is_planned)
        except LaceError as error:
            return type(error), error.message
        return _said(one), one.saves if is_planned else one.saved is not None

    assert said(is_planned=True) == said(is_planned=False)
    for vault in (alice, bob, cara):
        vault.close()


def _said(one: Updated) -> Updated:
    """All but what has a name only once it is done: commits, and the conflict."""
    conflict = one.conflict and replace(one.conflict, id="")
    return replace(one, commit=None, revision=None, saved=None, saves=False, conflict=conflict)
