"""Who belongs, as a function of records (architecture, "Belonging")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from vault.membership import Cut, Membership, Revocation, members_of
from vault.profile import Founding, Member
from vault.records import RecordHash, Tai, Verifier

NODES = [Verifier(bytes([n]) * 32) for n in range(7)]
FOUNDER, ANN, BOB, CAT, DAN, EVE, STRANGER = NODES
FOUNDING = Founding(RecordHash("S", bytes(32)), b"f" * 32, FOUNDER, "friends", Tai(1), salt=bytes(32))
DIGEST = b"d" * 32
ENTRY = b"e" * 32


def admits(signer: Verifier, node: Verifier, label: str = "x") -> Member:
    seed = signer.key + node.key + label.encode()
    record = RecordHash("S", blake3(seed).digest())
    return Member(record, blake3(seed).digest(), signer, FOUNDING.id, Tai(1), node=node, label=label)


def revokes(signer: Verifier, target: Verifier, last: int = 5, *, seq: int = 9, lamport: int = 1) -> Revocation:
    return Revocation(target, last, DIGEST if last else b"", signer, seq, lamport, ENTRY)


def circle(revocations: Iterable[Revocation] = (), late: Iterable[Member] = ()) -> Membership:
    """Founder admits Ann and Dan; Ann admits Bob; Bob admits Cat; all but `late` is shared within every cut."""
    members = [admits(FOUNDER, ANN, "ann"), admits(FOUNDER, DAN), admits(ANN, BOB, "bob"), admits(BOB, CAT)]
    after = {member.hash for member in late}
    return members_of(FOUNDING, [*members, *late], revocations, lambda _node, record, _cut: record not in after)


def depth_in(membership: Membership, node: Verifier) -> int | None:
    """The admissions between the node and the founder, or None for a stranger."""
    return next((admission.depth for admission in membership.all if admission.node == node), None)


def label_in(membership: Membership, node: Verifier) -> str | None:
    """The name in the node's admission, or None for a stranger."""
    return next((admission.label for admission in membership.all if admission.node == node), None)


def members_in(membership: Membership) -> set[Verifier]:
    """Those who belong and were not cut."""
    return {admission.node for admission in membership.all} - membership.cuts.keys()


def test_the_founder_belongs_alone_at_first() -> None:
    membership = members_of(FOUNDING, [])
    assert [a.node for a in membership.all] == [FOUNDER]
    assert (depth_in(membership, FOUNDER), label_in(membership, FOUNDER)) == (0, "")
    assert membership.all[0].admitted_by is None
    assert ANN not in members_in(membership)
    assert (depth_in(membership, ANN), label_in(membership, ANN), membership.cuts.get(ANN)) == (None, None, None)


def test_whoever_a_member_admits_belongs_with_its_depth() -> None:
    membership = circle()
    assert [(a.node, a.depth, a.admitted_by) for a in membership.all] == [
        (FOUNDER, 0, None),
        (ANN, 1, FOUNDER),
        (DAN, 1, FOUNDER),
        (BOB, 2, ANN),
        (CAT, 3, BOB),
    ]
    assert label_in(membership, BOB) == "bob"
    assert members_in(membership) == {admission.node for admission in membership.all}
    assert not membership.cuts


def test_a_stranger_admits_nobody() -> None:
    membership = members_of(FOUNDING, [admits(STRANGER, ANN), admits(ANN, STRANGER)])
    assert [a.node for a in membership.all] == [FOUNDER]


def test_an_admission_for_another_group_counts_for_nothing() -> None:
    other = replace(admits(FOUNDER, ANN), group=f"friends/{'0' * 16}")
    assert label_in(members_of(FOUNDING, [other]), ANN) is None


def test_the_shortest_chain_counts_and_then_the_smallest_key() -> None:
    chain = [admits(FOUNDER, ANN), admits(ANN, BOB), admits(BOB, CAT)]
    assert depth_in(members_of(FOUNDING, chain), CAT) == 3
    assert depth_in(members_of(FOUNDING, [*chain, admits(FOUNDER, CAT)]), CAT) == 1
    twice = members_of(FOUNDING, [*chain, admits(FOUNDER, DAN), admits(DAN, BOB)])
    assert next(a for a in twice.all if a.node == BOB).admitted_by == ANN


def test_of_two_admissions_by_one_node_the_smallest_hash_counts() -> None:
    both = [admits(FOUNDER, ANN, "anna"), admits(FOUNDER, ANN, "ann")]
    smallest = min(both, key=lambda m: m.hash)
    assert label_in(members_of(FOUNDING, both), ANN) == smallest.label


def test_a_node_above_cuts_and_the_cut_is_a_place_in_the_log() -> None:
    membership = circle([revokes(ANN, CAT, 5)])
    assert membership.cuts.get(CAT) == Cut(5, DIGEST)
    assert CAT not in members_in(membership)
    assert CAT in {a.node for a in membership.all}


def test_whom_a_cut_node_admitted_stays() -> None:
    membership = circle([revokes(FOUNDER, BOB)])
    assert BOB not in members_in(membership)
    assert CAT in members_in(membership)


def test_a_node_may_cut_itself() -> None:
    """The entry that says so is the last that counts, for it is how others learn of it."""
    assert circle([revokes(CAT, CAT)]).cuts.get(CAT) == Cut(9, ENTRY)
    assert circle([revokes(FOUNDER, FOUNDER)]).cuts.get(FOUNDER) == Cut(9, ENTRY)


def test_whom_a_node_admits_after_its_cut_never_belonged() -> None:
    """LAZ-71: a stolen key lets nobody in once it is revoked."""
    late = admits(BOB, EVE)
    assert EVE in members_in(circle(late=[late]))
    membership = circle([revokes(FOUNDER, BOB)], [late])
    assert label_in(membership, EVE) is None
    assert CAT in members_in(membership)  # admitted within the cut
    kept = replace(revokes(FOUNDER, BOB), kept=(late.hash,))
    assert EVE in members_in(circle([kept], [late]))


def test_an_admission_after_the_cut_raises_nobody() -> None:
    """Who knows of it and who refused it come to the same answer."""
    nearer = admits(DAN, CAT)
    membership = circle([revokes(FOUNDER, DAN)], [nearer])
    assert (depth_in(membership, CAT), membership.is_above(BOB, CAT)) == (3, True)


def test_both_of_two_that_revoke_each_other_may_go() -> None:
    """Whoever stands higher is heard first; what the other says after its own cut is void, before it counts."""
    down, up = revokes(ANN, BOB, 4), revokes(BOB, ANN, 2, seq=4)
    membership = circle([up, down])
    assert (membership.cuts.get(BOB), membership.cuts.get(ANN), membership.pending) == (Cut(4, DIGEST), None, (up,))
    assert circle([revokes(BOB, ANN, 2, seq=5), down]).pending == ()


def test_a_revocation_from_beside_or_below_waits() -> None:
    waiting = [revokes(DAN, BOB), revokes(BOB, ANN), revokes(DAN, ANN)]
    membership = circle(waiting)
    assert membership.cuts == {}
    assert membership.pending == tuple(sorted(waiting))
    # a node above agrees: nothing waits for that target any more
    agreed = circle([*waiting, revokes(FOUNDER, ANN, 3)])
    assert agreed.cuts.get(ANN) == Cut(3, DIGEST)
    assert agreed.pending == (revokes(DAN, BOB),)


def test_strangers_neither_revoke_nor_are_revoked() -> None:
    membership = circle([revokes(STRANGER, ANN), revokes(FOUNDER, STRANGER), revokes(STRANGER, STRANGER)])
    assert (membership.cuts, membership.pending) == ({}, ())


def test_what_a_cut_node_shared_after_its_cut_is_void() -> None:
    late = revokes(ANN, BOB, seq=6, lamport=1)
    assert circle([late]).cuts.get(BOB) is not None
    membership = circle([late, revokes(FOUNDER, ANN, 5, lamport=99)])
    assert membership.cuts.get(BOB) is None  # although its Lamport is smaller: the founder stands above
    in_time = revokes(ANN, BOB, seq=5, lamport=200)
    assert circle([in_time, revokes(FOUNDER, ANN, 5, lamport=99)]).cuts.get(BOB) == Cut(5, DIGEST)


def test_the_cut_of_who_stands_highest_holds_and_of_several_by_one_signer_the_lowest() -> None:
    """LAZ-69, LAZ-71: who named an entry that nobody has can say a lower one, in whatever order friends hear of it."""
    near, far = revokes(FOUNDER, CAT, 8, lamport=50), revokes(BOB, CAT, 2, lamport=1)
    assert circle([far, near]).cuts.get(CAT) == Cut(8, DIGEST)  # depth before all else
    one, two = revokes(ANN, CAT, 8, lamport=1), revokes(ANN, CAT, 2, lamport=2)
    for both in ([one, two], [two, one]):
        assert circle(both).cuts.get(CAT) == Cut(2, DIGEST)
    twice = [revokes(CAT, CAT, seq=7, lamport=1), revokes(CAT, CAT, seq=9, lamport=2)]
    assert circle(twice).cuts.get(CAT) == Cut(7, ENTRY)  # one's own word cuts where it was first said


def test_nothing_of_a_node_may_count() -> None:
    membership = circle([revokes(FOUNDER, CAT, 0)])
    assert membership.cuts.get(CAT) == Cut(0, b"")


_node = st.sampled_from(NODES)
_members = st.lists(st.builds(admits, _node, _node, st.sampled_from(["x", "y"])), max_size=12)
_revocations = st.lists(
    st.builds(
        revokes,
        _node,
        _node,
        st.integers(0, 4),
        seq=st.integers(1, 6),
        lamport=st.integers(1, 3),
    ),
    max_size=8,
)


@given(_members, _revocations, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(
    members: list[Member], revocations: list[Revocation], random: Random
) -> None:
    first = members_of(FOUNDING, members, revocations)
    shuffled, shuffled_cuts = members + members[:2], revocations + revocations[:2]
    random.shuffle(shuffled)
    random.shuffle(shuffled_cuts)
    assert members_of(FOUNDING, shuffled, shuffled_cuts) == first


@given(_members)
def test_ever_members_are_a_fixed_point(members: list[Member]) -> None:
    reached = {FOUNDER}
    while True:
        more = reached | {m.node for m in members if m.signer in reached}
        if more == reached:
            break
        reached = more
    membership = members_of(FOUNDING, members)
    assert {a.node for a in membership.all} == reached
    for admission in membership.all:
        if admission.admitted_by is None:
            assert admission.node == FOUNDER
            continue
        assert depth_in(membership, admission.admitted_by) == admission.depth - 1
        uppers = [depth_in(membership, m.signer) for m in members if m.node == admission.node]
        assert admission.depth == 1 + min(depth for depth in uppers if depth is not None)


@given(_members, _revocations)
def test_a_cut_comes_from_above_or_from_oneself(members: list[Member], revocations: list[Revocation]) -> None:
    membership = members_of(FOUNDING, members, revocations)
    for node, cut in membership.cuts.items():
        assert any(
            r.target == node
            and ((r.seq, r.entry) if r.signer == node else (r.last_seq, r.digest)) == cut
            and membership.is_above(r.signer, node)
            for r in revocations
        )
    # nobody below a node can take its membership away
    if not any(r.signer == FOUNDER for r in revocations):
        assert FOUNDER in members_in(membership)
