"""Vectors, forks, Lamport counters and what a record shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from vault.names import Version
from vault.nodelog import (
    Comparison,
    ForkProof,
    LogStep,
    NoFork,
    Range,
    VectorEntry,
    VersionVector,
    compare,
    count,
    proofs_in,
    reaches,
    tick,
)
from vault.profile import (
    Chunk,
    Commit,
    Data,
    Founding,
    LogEntry,
    Manifest,
    Member,
    Release,
    Resolution,
    Revision,
    Tree,
)
from vault.records import RecordError, RecordHash, Seal, Tai, Verifier
from vault.suite import SigningKey

ANN, BOB, CAT = (Verifier(bytes([n]) * 32) for n in (1, 2, 3))
GROUP = f"friends/{'0' * 16}"


def seal_hash(text: str) -> RecordHash:
    return RecordHash("S", blake3(text.encode()).digest())


def plex_hash(text: str) -> RecordHash:
    return RecordHash("P", blake3(text.encode()).digest())


def entry(seq: int, prev: LogEntry | None, *, branch: str = "", node: Verifier = ANN, lamport: int = 1) -> LogEntry:
    name = f"{node}{seq}{branch}{prev.hash if prev else ''}"
    return LogEntry(
        seal_hash(name),
        plex_hash(name).digest,
        node,
        GROUP,
        Tai(1),
        seq=seq,
        lamport=lamport,
        prev=prev.hash if prev else None,
        entries=(seal_hash("shared"),),
    )


def resealed(original: LogEntry) -> LogEntry:
    """The same Plex under another signature of the same key."""
    return replace(original, hash=seal_hash(f"again {original.hash}"))


def chain(length: int, start: LogEntry | None = None, branch: str = "") -> list[LogEntry]:
    entries: list[LogEntry] = []
    prev = start
    for _ in range(length):
        prev = entry(prev.seq + 1 if prev else 1, prev, branch=branch)
        entries.append(prev)
    return entries


def brute_force(entries: list[LogEntry]) -> VectorEntry:
    """The definition, looked up entry by entry."""
    digests: dict[int, set[bytes]] = {}
    for e in entries:
        digests.setdefault(e.seq, set()).add(e.plex_digest)
    forks = [seq for seq, found in digests.items() if len(found) > 1]
    seq, digest = 0, b""
    while not forks or seq + 1 < min(forks):
        before = {e.hash for e in entries if e.seq == seq}
        following = [e for e in entries if e.seq == seq + 1 and (e.prev in before or seq == 0)]
        if not following:
            break
        seq, digest = seq + 1, following[0].plex_digest
    return VectorEntry(seq, digest, bool(forks))


def steps(entries: list[LogEntry]) -> list[LogStep]:
    return [LogStep(e.seq, e.plex_digest, e.prev, e.hash) for e in entries]


def fork_in(steps: list[LogStep]) -> int | None:
    digests: dict[int, bytes] = {}
    forks = [step.seq for step in steps if digests.setdefault(step.seq, step.plex_digest) != step.plex_digest]
    return min(forks, default=None)


def vector_entry(found: Iterable[LogStep]) -> VectorEntry:
    found = sorted(found, key=lambda step: step.seq)
    return count(found, fork=fork_in(found))


# Counting


def test_the_vector_is_the_highest_contiguous_seq() -> None:  # LAZ-28, DWN-48
    log = chain(5)
    assert vector_entry([]) == VectorEntry.NONE
    assert vector_entry(steps(log)) == VectorEntry(5, log[4].plex_digest)
    assert vector_entry(steps([*log[:2], *log[3:]])) == VectorEntry(2, log[1].plex_digest)
    assert vector_entry(steps(log[1:])) == VectorEntry.NONE


def test_an_entry_that_follows_another_one_does_not_count() -> None:
    log = chain(2)
    strange = entry(3, entry(2, log[0], branch="unseen"))
    assert vector_entry(steps([*log, strange])) == VectorEntry(2, log[1].plex_digest)


def test_a_fork_holds_the_vector_at_the_last_common_entry() -> None:
    log = chain(6)
    branch = chain(3, log[2], branch="b")
    assert vector_entry(steps([*log, *branch])) == VectorEntry(3, log[2].plex_digest, forked=True)
    first = entry(1, None, branch="b")
    assert vector_entry(steps([*log, first])) == VectorEntry(0, b"", forked=True)


def test_a_fork_that_comes_late_takes_the_vector_back() -> None:
    log = chain(6)
    late = [*log, entry(4, log[2], branch="b")]
    assert fork_in(steps(late)) == 4
    assert vector_entry(steps(late)) == VectorEntry(3, log[2].plex_digest, forked=True)
    lower = [*late, *chain(9), entry(2, log[0], branch="c")]  # nothing that comes afterwards heals it
    assert vector_entry(steps(lower)) == VectorEntry(1, log[0].plex_digest, forked=True)


def test_a_fork_beyond_a_gap_is_known_at_once() -> None:
    log = chain(6)
    known = [log[0], log[5], entry(6, log[4], branch="b")]
    assert vector_entry(steps(known)) == VectorEntry(1, log[0].plex_digest, forked=True)
    assert vector_entry(steps([*known, *log[1:5]])) == VectorEntry(5, log[4].plex_digest, forked=True)


def test_two_seals_over_one_plex_are_one_entry() -> None:
    log = chain(2)
    again = resealed(log[1])
    third = entry(3, again)
    assert vector_entry(steps([*log, again])) == VectorEntry(2, log[1].plex_digest)
    assert vector_entry(steps([*log, third])).seq == 2  # it follows a Seal that is not here yet
    assert vector_entry(steps([*log, third, again])) == VectorEntry(3, third.plex_digest)


@pytest.mark.parametrize(("seq", "digest"), [(-1, b""), (0, bytes(32)), (1, b""), (2**63, bytes(32))])
def test_a_vector_entry_is_whole(seq: int, digest: bytes) -> None:
    with pytest.raises(ValueError, match="vector entry"):
        VectorEntry(seq, digest)


def test_every_order_of_a_small_fork_gives_one_vector() -> None:
    log = chain(3)
    known = [*log, entry(3, log[1], branch="b"), resealed(log[1])]
    found = {vector_entry(steps(list(order))) for order in permutations(known)}
    assert found == {VectorEntry(2, log[1].plex_digest, forked=True)}


@st.composite
def logs(draw: st.DrawFn) -> list[LogEntry]:
    """A log with branches, second seals and gaps."""
    log = chain(draw(st.integers(0, 8)))
    known = list(log)
    for number in range(draw(st.integers(0, 2))):
        start = draw(st.sampled_from([None, *known]))
        known += chain(draw(st.integers(1, 3)), start, branch=f"b{number}")
    for original in draw(st.lists(st.sampled_from(known), max_size=2)) if known else []:
        again = resealed(original)
        known += [again, entry(again.seq + 1, again, branch=draw(st.sampled_from(["", "z"])))]
    if not known:
        return []
    return draw(st.lists(st.sampled_from(known), max_size=len(known) + 4))


@given(logs(), st.lists(st.integers(0, 20), max_size=5), st.randoms(use_true_random=False))
def test_arrival_order_and_batches_do_not_matter(known: list[LogEntry], cuts: list[int], random: Random) -> None:
    whole = vector_entry(steps(known))
    assert whole == brute_force(known)
    random.shuffle(known)
    assert vector_entry(steps(known)) == whole
    vector = VectorEntry.NONE
    for cut in [*sorted(cuts), len(known)]:  # as a store does: from where it stood, or from before a fork
        here = sorted(steps(known[:cut]), key=lambda step: step.seq)
        fork = fork_in(here)
        if fork is not None and vector.seq >= fork:
            vector = vector_entry(step for step in here if step.seq < fork)
        vector = count((step for step in here if step.seq >= vector.seq), vector, fork)
    assert vector == whole


# Proofs


def _sealed(key: SigningKey, seq: int, shared: str, group: str = GROUP) -> Seal:
    prev = seal_hash("before") if seq > 1 else None
    plex = LogEntry.to_plex(group=group, seq=seq, lamport=1, prev=prev, entries=(seal_hash(shared),), tai=Tai(1))
    return Seal.sign(plex, key)


def test_a_fork_is_proved_by_two_seals_alone() -> None:
    """LAZ-65: whoever has the two stored records needs nothing else, in whichever order they are."""
    key = SigningKey.from_seed(bytes(32))
    one, other = _sealed(key, 7, "one"), _sealed(key, 7, "other")
    proof = ForkProof.of(one.encode(), other.encode())
    assert (proof.node, proof.seq) == (key.verifier, 7)
    assert ForkProof.of(other.encode(), one.encode()) == proof
    assert list(proofs_in([_sealed(key, 6, "one"), one, other])) == [proof]


@pytest.mark.parametrize("how", ["same", "seq", "node", "group", "kind", "plex"])
def test_what_proves_no_fork_is_refused(how: str) -> None:
    key = SigningKey.from_seed(bytes(32))
    one = _sealed(key, 7, "one")
    others = {
        "same": one.encode(),
        "seq": _sealed(key, 8, "other").encode(),
        "node": _sealed(SigningKey.from_seed(bytes([1]) * 32), 7, "other").encode(),
        "group": _sealed(key, 7, "other", f"others/{'0' * 16}").encode(),
        "kind": Seal.sign(
            Member.to_plex(group=GROUP, node=key.verifier, label="ann", invitation=None, tai=Tai(1)), key
        ).encode(),
        "plex": _sealed(key, 7, "other").plex.encode(),
    }
    with pytest.raises(NoFork):
        ForkProof.of(one.encode(), others[how])


def test_a_forged_entry_proves_nothing() -> None:
    """LAZ-65: both signatures are checked."""
    key = SigningKey.from_seed(bytes(32))
    one, other = _sealed(key, 7, "one").encode(), _sealed(key, 7, "other").encode()
    start = other.index(b"Signature: ") + len(b"Signature: ")
    forged = other[:start] + (b"0" if other[start : start + 1] != b"0" else b"1") + other[start + 1 :]
    with pytest.raises(RecordError):
        ForkProof.of(one, forged)
    with pytest.raises(RecordError):
        ForkProof.of(forged, one)


# Vectors


def at(seq: int, *, forked: bool = False, branch: str = "") -> VectorEntry:
    return VectorEntry(seq, blake3(f"{seq}{branch}".encode()).digest() if seq else b"", forked)


def test_missing_counts_as_zero() -> None:  # LAZ-29
    vector = VersionVector({ANN: at(3), BOB: VectorEntry.NONE})
    assert vector.of(BOB) == VectorEntry.NONE
    assert list(vector) == [ANN]
    assert vector == VersionVector({ANN: at(3)})
    assert hash(vector) == hash(VersionVector({ANN: at(3)}))
    assert compare(vector, VersionVector()).ahead == (Range(ANN, 1, 3),)
    assert compare(VersionVector(), vector).behind == (Range(ANN, 1, 3),)


def test_a_comparison_says_what_to_send_and_what_to_receive() -> None:  # LAZ-30
    mine = VersionVector({ANN: at(8), BOB: at(2), CAT: at(4)})
    theirs = VersionVector({ANN: at(5), BOB: at(7), CAT: at(4)})
    assert compare(mine, theirs) == Comparison(ahead=(Range(ANN, 6, 8),), behind=(Range(BOB, 3, 7),))
    assert compare(mine, mine).is_equal


def test_vectors_and_comparisons_stand_in_the_order_of_keys() -> None:
    mine = VersionVector({n: at(1) for n in (CAT, ANN, BOB)})
    assert list(mine) == [ANN, BOB, CAT]
    others = [Verifier(bytes([n]) * 32) for n in range(250, 10, -1)]
    ranges = compare({n: at(1) for n in others}, {}).ahead
    assert [r.node for r in ranges] == others[::-1]


def test_a_relay_passes_on_third_parties() -> None:  # LAZ-31
    """Ann has all of Bob's log; Cat, who never met Bob, gets it from her."""
    ann = VersionVector({ANN: at(1), BOB: at(6)})
    assert compare(ann, VersionVector({CAT: at(2), BOB: at(4)})).ahead == (Range(ANN, 1, 1), Range(BOB, 5, 6))


def test_forks_are_named_whoever_sees_them() -> None:
    known = VersionVector({ANN: at(3, forked=True)})
    assert compare(known, VersionVector({ANN: at(5)})) == Comparison(behind=(Range(ANN, 4, 5),), forks=(ANN,))
    unseen = compare(VersionVector({ANN: at(3)}), VersionVector({ANN: at(3, branch="b")}))
    assert (unseen.forks, unseen.is_equal) == ((ANN,), False)
    assert len(VersionVector({ANN: at(0, forked=True)})) == 1


_vectors = st.dictionaries(
    st.sampled_from([ANN, BOB, CAT]), st.builds(at, st.integers(0, 6), forked=st.booleans())
).map(VersionVector)


@given(_vectors, _vectors)
def test_comparing_is_symmetric_and_closes_the_difference(mine: VersionVector, theirs: VersionVector) -> None:
    there, here = compare(mine, theirs), compare(theirs, mine)
    assert (there.ahead, there.behind, there.forks) == (here.behind, here.ahead, here.forks)
    received = {r.node: r.last for r in there.behind}
    for node in mine.keys() | theirs.keys():
        assert received.get(node, mine.of(node).seq) == max(mine.of(node).seq, theirs.of(node).seq)
    assert all(r.first == mine.of(r.node).seq + 1 for r in there.behind)


# Order


def test_the_lamport_counter_rises_and_stops_where_records_end() -> None:  # LAZ-14
    top = 2**63 - 1
    assert (tick(0), tick(41)) == (1, 42)
    assert tick(top - 1) == tick(top) == top


# Sharing

ORIGIN = (seal_hash("it"), bytes(32), ANN, GROUP, Tai(1))
S1, S2, S3, S4 = sorted(seal_hash(str(n)) for n in range(4))
P1, P2 = plex_hash("1"), plex_hash("2")
COMMIT = Commit(*ORIGIN, desk="main", parents=(S1, S2), tree=P1, message="")


def test_a_commit_shares_its_tree_only_with_its_content() -> None:
    assert reaches(COMMIT, with_content=True) == [(S1, False), (S2, False), (P1, True)]
    assert reaches(COMMIT, with_content=False) == [(S1, False), (S2, False)]


def test_a_release_shares_content_and_its_line_shares_records() -> None:
    release = Release(
        *ORIGIN,
        desk="main",
        version=Version(1, 0, 0),
        commit=S1,
        rev=S2,
        content_sha512=f"sha512:{'0' * 128}",
        message="",
    )
    assert reaches(release, with_content=True) == [(S1, True), (S2, False)]
    revision = Revision(*ORIGIN, desk="main", number=2, commit=S1, prev=S2)
    assert reaches(revision, with_content=True) == [(S1, False), (S2, False)]
    first = Revision(*ORIGIN, desk="main", number=1, commit=S1, prev=None)
    assert reaches(first, with_content=False) == [(S1, False)]


def test_a_resolution_shares_every_side_and_the_result_with_content() -> None:
    chosen = Resolution(
        *ORIGIN,
        desk="main",
        version=Version(1, 0, 0),
        sides=(S1, S2),
        chosen=S1,
        release=None,
        result=S3,
        reason="",
    )
    assert reaches(chosen, with_content=True) == [(S1, True), (S2, True), (S3, True)]
    merged = replace(chosen, chosen=None, release=S4)
    assert reaches(merged, with_content=True) == [(S1, True), (S2, True), (S4, True), (S3, True)]


def test_a_log_entry_shares_its_entries_and_not_the_log() -> None:
    step = LogEntry(*ORIGIN, seq=2, lamport=2, prev=S1, entries=(S3, S2))
    assert reaches(step, with_content=True) == [(S3, True), (S2, True)]


def test_content_shares_what_it_is_made_of() -> None:
    manifest = Manifest(P1, GROUP, bytes(32), 1, (Chunk(3, P2),))
    assert reaches(manifest, with_content=True) == [(P2, True)]
    assert reaches(Data(P1, GROUP, bytes(32), b""), with_content=True) == []
    tree = Tree(P1, GROUP, bytes(32), b"")
    with pytest.raises(ValueError, match="items"):
        reaches(tree, with_content=True)


def test_people_share_themselves_only() -> None:
    founding = Founding(seal_hash("f"), bytes(32), ANN, "friends", Tai(1), salt=bytes(32))
    member = Member(*ORIGIN, node=BOB, label="bob")
    assert reaches(founding, with_content=True) == reaches(member, with_content=True) == []
