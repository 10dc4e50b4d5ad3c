"""Who may write and read where: white and black lists by path, applied to peers (CLAY-80)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.address import resolve
from lazy.belonging.adopting import adopt
from lazy.belonging.trust import Trust, trust_of
from lazy.folder.change_sets import commit_changes
from lazy.folder.desk_merge import merge_desk
from lazy.folder.permitted import Refused
from lazy.folder.update import update
from lazy.people import linked, members
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import befriend, found, write
from vault.audit.trail import verify_trail
from vault.desks.changeset import change_set
from vault.desks.strategies import Strategy
from vault.folder.checked_out import checkout_of
from vault.folder.work import commit
from vault.fsck.check import check
from vault.names import Version
from vault.permits import Act, BadPermit, NotPermitted, Permit, may, permits, ruling, set_permit
from vault.profile import Member
from vault.readers import check_readers
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import Relation, commit_info, line_head
from vault.vault import Vault

PATHS = ("", "docs", "docs/a", "docs/a/b", "docs2", "song")


def _out(refused: Iterable[Refused]) -> list[tuple[RecordHash, str, tuple[str, ...]]]:
    return [(one.head, one.who, one.paths) for one in refused]


@given(st.dictionaries(st.sampled_from(PATHS), st.booleans()), st.sampled_from((*PATHS, "docs/a/c", "docs2/x")))
def test_the_rule_with_the_longest_path_that_fits_decides(rules: dict[str, bool], path: str) -> None:
    """CLAY-80: whole names count, so docs says nothing of docs2 (H-38)."""
    made = [Permit(at, Act.WRITE, is_white, ()) for at, is_white in rules.items()]
    above = {"/".join(path.split("/")[:n]) for n in range(len(path.split("/")) + 1)}
    expected = max((rule for rule in made if rule.path in above), key=lambda rule: len(rule.path), default=None)
    assert ruling(made, Act.WRITE, path) == expected
    assert ruling(made, Act.READ, path) is None


@pytest.fixture
def circle(shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Alice, bob and carol, who share one folder over one stick."""
    alice, bob, carol = shelf.lay(_circle)
    yield alice, bob, carol
    for vault in (alice, bob, carol):
        vault.close()


def _circle(root: Path) -> tuple[Vault, Vault, Vault]:
    alice = found(root)
    write(alice, "docs/plan.txt", "plan\n")
    write(alice, "song.txt", "la\n")
    release(alice)
    bob = befriend(root, alice, "bob")
    carol = befriend(root, alice, "carol")
    for vault in (bob, carol):
        sync(vault, ["stick"])
        update(vault)
    return alice, bob, carol


def meet(*vaults: Vault) -> None:
    for vault in (*vaults, *vaults):
        sync(vault, ["stick"])


def rule(path: str, act: Act, white: bool, *people: Vault) -> Permit:
    return Permit(path, act, white, tuple(sorted(person.node.text for person in people)))


def test_lists_name_who_may_or_who_may_not(circle: tuple[Vault, Vault, Vault]) -> None:
    alice, bob, carol = circle
    nodes = [vault.node.text for vault in circle]
    for listed, expected in (
        (rule("", Act.READ, True, bob), [True, True, False]),
        (rule("", Act.READ, False, bob), [True, False, True]),
        (rule("", Act.READ, False, alice, bob, carol), [True, False, False]),
        (None, [True, True, True]),
    ):
        assert [may(alice.store, listed, node, alice.node.text) for node in nodes] == expected


def test_a_rule_is_kept_replaced_and_taken_back(circle: tuple[Vault, Vault, Vault]) -> None:
    alice, bob, carol = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, True, bob))
    set_permit(alice, "main", rule("docs", Act.READ, False, carol))
    set_permit(alice, "main", rule("docs", Act.WRITE, False, carol))
    assert permits(alice.store, "main") == (
        rule("docs", Act.READ, False, carol),
        rule("docs", Act.WRITE, False, carol),
    )
    assert permits(alice.store, "other") == permits(bob.store, "main") == ()
    set_permit(alice, "main", rule("docs/open", Act.WRITE, False))  # says something below another rule
    assert len(permits(alice.store, "main")) == 3
    for path in ("docs", "docs/open"):
        for act in Act:
            set_permit(alice, "main", rule(path, act, False))
    assert permits(alice.store, "main") == ()
    assert verify_trail(alice).ok
    with pytest.raises(BadPermit):
        Permit("docs", Act.READ, False, ("b", "a"))


def test_a_head_that_writes_where_its_signer_may_not_stays_out(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80: others' work is taken meanwhile, nothing of the refused head is, and a changed rule lets it in."""
    alice, bob, carol = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, True, carol))
    write(bob, "docs/plan.txt", "bob's plan\n")
    write(bob, "song.txt", "bob's la\n")
    theirs = release(bob)
    write(carol, "docs/more.txt", "carol's\n")
    release(carol, Version(1, 5, 0))
    meet(bob, carol, alice)
    refused = [(theirs.commit, "bob", ("docs/plan.txt",))]
    assert _out(update(alice, dry_run=True).not_taken.refused) == refused
    done = update(alice)
    assert (done.relation, done.taken.sources, _out(done.not_taken.refused)) == (Relation.BEHIND, ("carol",), refused)
    assert (alice.folder / "docs/plan.txt").read_text() == "plan\n"
    assert (alice.folder / "song.txt").read_text() == "la\n"
    assert (alice.folder / "docs/more.txt").read_text() == "carol's\n"
    for strategy in (Strategy.MATE, Strategy.ONLY_THAT):
        with pytest.raises(NotPermitted, match=r"docs/plan\.txt"):
            merge_desk(alice, "main", resolve(alice, "bob/main"), strategy)
    set_permit(alice, "main", rule("docs", Act.WRITE, False))
    done = update(alice)
    assert (done.relation, done.not_taken.refused) == (Relation.MERGEABLE, ())
    assert (alice.folder / "docs/plan.txt").read_text() == "bob's plan\n"
    assert check(alice).ok


def test_who_merges_the_work_of_somebody_permitted_does_not_make_it_their_own(
    circle: tuple[Vault, Vault, Vault],
) -> None:
    """CLAY-80: bob's merge holds carol's document as she left it, and a deletion of hers; his own edit is refused."""
    alice, bob, carol = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, False, bob))
    (carol.folder / "docs/plan.txt").unlink()
    write(carol, "docs/more.txt", "carol's\n")
    release(carol)
    meet(carol, bob)
    write(bob, "song.txt", "bob's la\n")
    commit(bob, "mine")
    assert update(bob).relation is Relation.MERGEABLE
    release(bob)
    meet(bob, alice)
    done = update(alice, peer="bob")
    assert (done.relation, done.not_taken.refused) == (Relation.BEHIND, ())
    assert (alice.folder / "docs/more.txt").read_text() == "carol's\n"
    assert not (alice.folder / "docs/plan.txt").exists()
    write(bob, "docs/more.txt", "carol's, and bob's\n")
    theirs = release(bob)
    meet(bob, alice)
    assert _out(update(alice).not_taken.refused) == [(theirs.commit, "bob", ("docs/more.txt",))]


def test_nothing_is_shared_that_a_member_may_not_read(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80: the release is not made; a commit stays mine; no rule is about a path that is not there."""
    alice, bob, carol = circle
    set_permit(alice, "main", rule("private", Act.READ, True, bob))
    write(alice, "song.txt", "la la\n")
    assert release(alice).files == 2
    write(alice, "private/letter.txt", "dear bob\n")
    before = alice.store.rows("SELECT count(*) FROM body")
    with pytest.raises(NotPermitted, match="carol may not read private"):
        release(alice)
    assert alice.store.rows("SELECT count(*) FROM body") == before
    assert commit(alice, "to myself")
    alice.settings.set("share", "commits").save()
    write(alice, "private/letter.txt", "dear bob, dear\n")
    with pytest.raises(NotPermitted):
        commit(alice, "to all")
    set_permit(alice, "main", rule("private", Act.READ, True, bob, carol))
    assert release(alice).files == 3
    standing = checkout_of(alice)
    assert standing is not None
    set_permit(alice, "main", rule("", Act.READ, False, carol))
    with pytest.raises(NotPermitted, match="the whole desk"):
        check_readers(alice, "main", standing.tree)


def test_going_back_to_what_somebody_permitted_left_behind_is_a_change(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80: carol's first draft vouches for nothing once she wrote a second one on top of it."""
    alice, bob, carol = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, True, carol))
    for text in ("first\n", "second\n"):
        write(carol, "docs/plan.txt", text)
        release(carol)
    meet(carol, bob)
    update(bob)
    write(bob, "docs/plan.txt", "first\n")
    theirs = release(bob)
    meet(bob, alice)
    done = update(alice)
    assert _out(done.not_taken.refused) == [(theirs.commit, "bob", ("docs/plan.txt",))]
    assert (alice.folder / "docs/plan.txt").read_text() == "second\n"


def test_where_histories_criss_cross_every_ancestor_is_looked_at(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80, CLAY-76: both merged the other's release; bob goes back to what stood in his own before that."""
    alice, bob, _ = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, False, bob))
    set_permit(alice, "main", rule("other", Act.WRITE, False, bob))
    write(alice, "docs/plan.txt", "alice's plan\n")
    write(alice, "other/plan.txt", "alice's other\n")
    release(alice, Version(2, 0, 0))
    write(bob, "song.txt", "bob's la\n")
    release(bob, Version(3, 0, 0))
    meet(alice, bob)
    for vault in (alice, bob):
        assert update(vault).relation is Relation.MERGEABLE
    write(alice, "alices.txt", "alice's\n")
    commit(alice, "more")
    write(bob, "docs/plan.txt", "plan\n")
    (bob.folder / "other/plan.txt").unlink()
    (bob.folder / "other").rmdir()
    theirs = release(bob, Version(4, 0, 0))
    meet(bob, alice)
    assert _out(update(alice).not_taken.refused) == [(theirs.commit, "bob", ("docs/plan.txt", "other/plan.txt"))]


def test_nobody_makes_themselves_a_friends_older_key(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80, CYB-21: carol sealed that alice's key was her own next one, and no rule of alice's held for her."""
    alice, bob, carol = circle
    set_permit(alice, "main", rule("docs", Act.WRITE, True, bob))
    set_permit(alice, "main", rule("private", Act.READ, True, bob))
    with carol.writing() as w:
        claims = [
            Member.to_plex(group=carol.group, node=node, label="mine", same_person=True, tai=w.tai())
            for node in (alice.node, bob.node)
        ]
        w.log([w.seal(claim).hash for claim in claims])
    write(carol, "docs/plan.txt", "carol's plan\n")
    theirs = release(carol)
    meet(carol, alice, bob)
    for vault in circle:
        assert {member.older_key_of for member in members(vault)} == {None}
        assert all(linked(vault, one.node.text) == {one.node.text} for one in circle)
    assert [trust_of(bob, carol.node.text), trust_of(carol, alice.node.text)] == [Trust.VERIFIED, Trust.VERIFIED]
    assert _out(update(alice).not_taken.refused) == [(theirs.commit, "carol", ("docs/plan.txt",))]
    write(alice, "private/letter.txt", "dear bob\n")
    with pytest.raises(NotPermitted, match="carol may not read private"):
        release(alice)
    old = carol.node.text
    assert adopt(carol)  # whoever does go on under a new key is one person with it
    meet(carol, alice)
    assert linked(alice, carol.node.text) == {old, carol.node.text}


def test_a_change_set_is_shared_by_the_same_rule(circle: tuple[Vault, Vault, Vault]) -> None:
    """CLAY-80, H-29: where commits are shared, edits from a file are no way around what carol may not read."""
    alice, bob, _ = circle
    set_permit(alice, "main", rule("private", Act.READ, True, bob))
    write(alice, "private/letter.txt", "dear bob\n")
    first = commit(alice, "to myself")
    (alice.folder / "private/letter.txt").unlink()
    (alice.folder / "private").rmdir()
    second = commit(alice, "gone")
    assert first
    assert second
    before, after = (commit_info(alice.store, each.commit).tree for each in (second, first))
    alice.settings.set("share", "commits").save()
    with pytest.raises(NotPermitted, match="carol may not read private"):
        commit_changes(alice, "main", change_set(alice.store, before, after), "back")
    assert not (alice.folder / "private").exists()
    head = line_head(alice.store, alice.node.text, "main")
    assert head is not None
    assert head.commit == second.commit
