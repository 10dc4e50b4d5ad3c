"""What is visible and shared after revocations, forks and second Seals: a function of the set of records (INT-125)."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import nacl.bindings as nacl
import pytest

from tests.vault.profiles import ALICE, BOB, FOUNDING, GROUP, UNSIGNED, plex_hash, seal_hash
from vault.names import Version
from vault.profile import Commit, LogEntry, Member, NodeCard, Release, Resolution, Revision, Revocation
from vault.records import Plex, RecordHash, Seal, Tai
from vault.store import Store
from vault.suite import SigningKey

FOUNDED = Seal.sign(FOUNDING, ALICE)
EMPTY = UNSIGNED["tree"]
SUM = f"sha512:{hashlib.sha512(b'').hexdigest()}"
KEYS = [ALICE, BOB, *(SigningKey(bytes([60 + n]) * 32) for n in range(3))]
_SAID = {
    "member": "SELECT * FROM member",
    "former": "SELECT * FROM former",
    "vector": "SELECT node, seq, hex(plex), forked FROM vector",
    "release": "SELECT hash, seq, lamport, visible FROM release",
    "resolution": "SELECT hash, visible FROM resolution",
    "shared": "SELECT b.kind, hex(b.digest), s.content FROM shared s JOIN body b USING (p)",
    "exposure": "SELECT b.kind, hex(b.digest) FROM exposure e JOIN body b USING (p)",
    "hole": "SELECT * FROM hole",
}
Said = dict[str, list[tuple[Any, ...]]]
Batch = Sequence[Seal | Plex]


def said(batches: Sequence[Batch], me: SigningKey = ALICE, was: SigningKey | None = None) -> tuple[Said, Said]:
    """Return what a store says that took these batches, and what it says once it is made anew.

    Half of the batches come before `lace adopt`, if I was another node then.
    """
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.db", create=True) as store:
        for number, batch in enumerate([*batches, ()]):
            now, parted = me.verifier.text, ""
            if was is not None and number <= len(batches) // 2:
                now, parted = (was.verifier.text, "") if number < len(batches) // 2 else (now, was.verifier.text)
            with store.transaction():
                store.add([(record, record.encode()) for record in batch])
                store.settle(now, FOUNDED.hash.text, final=number % 3 != 1 or not batch, parted=parted)
        found = [{view: sorted(store.rows(sql), key=repr) for view, sql in _SAID.items()}]
        with store.transaction():
            store.rebuild(me.verifier.text, FOUNDED.hash.text)
        found.append({view: sorted(store.rows(sql), key=repr) for view, sql in _SAID.items()})
    return found[0], found[1]


def agree(*orders: Sequence[Batch], me: SigningKey = ALICE) -> Said:
    """Check that these orders of one set of records say the same, also made anew; return what."""
    answers = [answer for batches in orders for answer in said(batches, me)]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def sealed_again(seal: Seal, key: SigningKey) -> Seal:
    """Seal the same Plex a second time, with another nonce: both signatures are valid."""
    scalar = hashlib.sha512(key.seed).digest()[:32]
    scalar = bytes([scalar[0] & 248, *scalar[1:31], scalar[31] & 127 | 64])
    message = seal.plex.hash.digest
    nonce = nacl.crypto_core_ed25519_scalar_reduce(hashlib.sha512(b"another nonce" + message).digest())
    point = nacl.crypto_scalarmult_ed25519_base_noclamp(nonce)
    challenge = hashlib.sha512(point + key.verifier.key + message).digest()
    product = nacl.crypto_core_ed25519_scalar_mul(
        nacl.crypto_core_ed25519_scalar_reduce(challenge),
        nacl.crypto_core_ed25519_scalar_reduce(scalar + bytes(32)),
    )
    return Seal(key.verifier, point + nacl.crypto_core_ed25519_scalar_add(nonce, product), seal.plex)


class Life:
    """Records that people seal one after the other, each with a time of its own; `records` has them all."""

    def __init__(self) -> None:
        self.now = 1_800_000_000
        self.records: list[Seal | Plex] = [FOUNDED, EMPTY]

    def seal(self, key: SigningKey, plex: Plex) -> Seal:
        self.records.append(Seal.sign(plex, key))
        return self.records[-1]  # type: ignore[return-value]

    def tai(self) -> Tai:
        self.now += 1
        return Tai(self.now)

    def card(self, key: SigningKey) -> Seal:
        return self.seal(key, NodeCard.to_plex(group=GROUP, node=key.verifier, label="somebody", tai=self.tai()))

    def admits(self, key: SigningKey, node: SigningKey, *, same_person: bool = False) -> Seal:
        label = f"somebody {self.now}"
        return self.seal(
            key,
            Member.to_plex(group=GROUP, node=node.verifier, label=label, same_person=same_person, tai=self.tai()),
        )

    def log(self, key: SigningKey, before: Seal | None, *entries: Seal, lamport: int = 0) -> Seal:
        seq = 1 if before is None else LogEntry.read(before).seq + 1
        plex = LogEntry.to_plex(
            group=GROUP,
            seq=seq,
            lamport=lamport or seq,
            prev=None if before is None else before.hash,
            entries=[entry.hash for entry in entries],
            tai=self.tai(),
        )
        return self.seal(key, plex)

    def releases(
        self,
        key: SigningKey,
        patch: int,
        content: str = SUM,
        *,
        tree: RecordHash = EMPTY.hash,
        parents: Sequence[RecordHash] = (),
    ) -> Seal:
        message = f"Number {self.now}"
        commit = self.seal(
            key,
            Commit.to_plex(group=GROUP, desk="main", parents=parents, tree=tree, message=message, tai=self.tai()),
        )
        line = Revision.to_plex(group=GROUP, desk="main", number=1, commit=commit.hash, prev=None, tai=self.tai())
        plex = Release.to_plex(
            group=GROUP,
            desk="main",
            version=Version(1, 0, patch),
            commit=commit.hash,
            rev=self.seal(key, line).hash,
            content_sha512=content,
            message="",
            tai=self.tai(),
        )
        return self.seal(key, plex)

    def joins(self, key: SigningKey, *released: Seal) -> RecordHash:
        parents = sorted({Release.read(release).commit for release in released})
        plex = Commit.to_plex(group=GROUP, desk="main", parents=parents, tree=EMPTY.hash, message="", tai=self.tai())
        return self.seal(key, plex).hash

    def decides(self, key: SigningKey, *released: Seal, result: RecordHash | None = None) -> Seal:
        sides = sorted(release.hash for release in released)
        plex = Resolution.to_plex(
            group=GROUP,
            desk="main",
            version=Version(1, 0, 0),
            sides=sides,
            chosen=sides[0],
            result=result or self.joins(key, *released),
            tai=self.tai(),
        )
        return self.seal(key, plex)

    def revokes(self, key: SigningKey, node: SigningKey, last: Seal | None, kept: Sequence[Seal] = ()) -> Seal:
        plex = Revocation.to_plex(
            group=GROUP,
            node=node.verifier,
            last_seq=0 if last is None else LogEntry.read(last).seq,
            digest=b"" if last is None else last.plex.hash.digest,
            kept=sorted(admission.hash for admission in kept),
            tai=self.tai(),
        )
        return self.seal(key, plex)


class Stolen(Life):
    """Bob's key is stolen: the thief goes on with his log on one branch, he on the other, which the cut names."""

    def __init__(self) -> None:
        super().__init__()
        founder = self.log(ALICE, None, self.card(ALICE), self.admits(ALICE, BOB))
        first = self.log(BOB, None, self.card(BOB))
        self.common = self.records[:]
        self.log(BOB, first, self.releases(BOB, 9))
        self.theirs = self.records[len(self.common) :]
        second = self.log(BOB, first, self.releases(BOB, 1))
        third = self.log(BOB, second, self.releases(BOB, 2))
        known = len(self.common) + len(self.theirs)
        self.his = self.records[known:]
        self.log(ALICE, founder, self.revokes(ALICE, BOB, third))
        self.cut = self.records[known + len(self.his) :]


def test_what_a_thief_released_counts_for_nobody_whoever_saw_it_first() -> None:
    """LAZ-70: of the branches of a revoked node only the one that its cut names counts."""
    life = Stolen()
    common, theirs, his, cut = life.common, life.theirs, life.his, life.cut
    found = agree(
        [[*common, *theirs], [*his, *cut]],
        [[*common, *his, *cut], theirs],
        [[*common, *theirs], his, cut],
        [[*common, *theirs, *cut], his],  # until the cut is reached, the thief's branch was all there was to count
        me=KEYS[2],
    )
    assert sorted(visible for _, _, _, visible in found["release"]) == [1, 1, 2]


def test_what_somebody_else_shares_of_a_cut_log_counts_no_more_for_it() -> None:
    """LAZ-70: Carol's log links the thief's entry, before or after the revocation comes."""
    life = Stolen()
    known = len(life.records)
    carol = KEYS[2]
    thief = next(r for r in life.theirs if isinstance(r, Seal) and r.plex.app == "lace/log")
    life.log(carol, None, life.card(carol), thief)
    life.admits(ALICE, carol)
    late = life.records[known:]
    rest = [*life.his, *life.cut]
    found = agree([[*life.common, *life.theirs, *late], rest], [[*life.common, *rest, *life.theirs], late])
    assert sorted(visible for _, _, _, visible in found["release"]) == [1, 1, 2]


def scene(rng: Random) -> list[Seal | Plex]:
    """Some people admit, cut, release, decide and link each other at random, on branches too; some records are lost."""
    life = Life()
    people = KEYS[: rng.randint(2, 5)]
    branches: dict[SigningKey, list[list[Seal]]] = {key: [[]] for key in people}

    def share(key: SigningKey, *entries: Seal, forks: float = 0.2) -> None:
        branch = rng.choice(branches[key])
        if branch and rng.random() < forks:
            branch = branch[: rng.randrange(len(branch))]
            branches[key].append(branch)
        branch.append(life.log(key, branch[-1] if branch else None, *entries, lamport=rng.randint(1, 9)))

    def sealed(*apps: str) -> list[Seal]:
        return [r for r in life.records if isinstance(r, Seal) and r.plex.app in {f"lace/{app}" for app in apps}]

    share(ALICE, life.card(ALICE))
    for number in range(rng.randint(4, 16)):
        key, what = rng.choice(people), rng.random()
        if what < 0.25:
            share(key, life.admits(key, rng.choice(people[1:]), same_person=rng.random() < 0.3))
        elif what < 0.5:
            target = rng.choice(people)
            last = rng.choice([None, *rng.choice(branches[target])])
            admissions = sealed("member")
            share(key, life.revokes(key, target, last, rng.sample(admissions, min(len(admissions), rng.randint(0, 1)))))
        elif what < 0.8:
            share(key, life.releases(key, number, SUM if rng.random() < 0.8 else "sha512:" + "0f" * 64))
        elif what < 0.9 and len(released := sealed("release")) > 1:
            decided = life.decides(key, *rng.sample(released, 2))
            for _ in range(rng.randint(0, 2)):
                share(rng.choice(people), decided)
        else:
            before = sealed("log", "member", "release")
            share(key, *rng.sample(before, min(len(before), 2)))
    lost = rng.sample(life.records[1:], rng.choice([0, 0, 2]))
    return [record for record in life.records if record not in lost]


@pytest.mark.parametrize("seed", [3, 7, 11, 14, 22])
def test_views_follow_from_the_set_of_records(seed: int) -> None:
    """INT-125, CLO-38: with forks, revocations, decisions and gaps, for a member, for who is cut, and for a stranger.

    What is shared and what is missing does not depend on the order or the batches in which the records came.
    """
    rng = Random(seed)
    records = scene(rng)
    shuffled = rng.sample(records, len(records))
    batches = []
    while shuffled:
        size = rng.randint(1, 9)
        batches.append(shuffled[:size])
        del shuffled[:size]
    agree([records], batches, me=rng.choice([ALICE, BOB, KEYS[4]]))


@pytest.mark.parametrize("seed", [0, 22, 41])
def test_views_follow_from_who_i_am_now(seed: int) -> None:
    """INT-125, APP-13: after `lace adopt` nothing counts any more for having been said by my old node."""
    rng = Random(seed)
    records = scene(rng)
    was, me = rng.sample(KEYS, 2)
    batches = [records[at : at + 3] for at in range(0, len(records), 3)]
    found, anew = said(batches, me, was)
    assert found == anew


def test_the_newest_card_of_a_node_counts_whenever_it_comes() -> None:
    """DWN-11: of what only its owner says the newest counts, as its owner dated it; no release is chosen so."""
    life = Life()
    life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    for label in ("bobby", "zoe", "bob"):
        life.seal(BOB, NodeCard.to_plex(group=GROUP, node=BOB.verifier, label=label, tai=life.tai()))
    older = list(reversed(life.records))
    found = agree([life.records], [[record] for record in life.records], [[record] for record in older], [older])
    assert {str(row[1]) for row in found["member"] if row[0] == BOB.verifier.text} == {"bob"}


def test_a_second_seal_over_an_entry_that_counts_is_shared_whenever_it_comes() -> None:
    """LAZ-64: two Seals over one Plex are one entry, and both travel."""
    life = Life()
    life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    first = life.log(BOB, None, life.card(BOB))
    life.log(BOB, first, life.releases(BOB, 1))
    again = sealed_again(first, BOB)
    assert again.hash != first.hash
    found = agree([life.records, [again]], [[*life.records, again]], [[again, *life.records]], me=KEYS[2])
    assert ("S", again.hash.digest.hex().upper(), 1) in found["shared"]


@pytest.mark.parametrize("cut_at", ["nothing", "another branch"])
def test_what_a_revoked_node_kept_of_a_fork_is_kept_no_more(cut_at: str) -> None:
    """LAZ-64, LAZ-70: Bob went on as another node, which is cut before the entry that kept both of his branches."""
    life = Life()
    after = KEYS[2]
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    first = life.log(BOB, None, life.card(BOB))
    one = life.log(BOB, first, life.releases(BOB, 1))
    two = life.log(BOB, first, life.releases(BOB, 2))
    three = life.log(BOB, two, life.admits(BOB, after, same_person=True))
    life.log(after, None, one, three, lamport=5)
    kept = life.records[:]
    assert [row[3] for row in agree([kept], me=KEYS[3])["release"]] == [1, 1]
    other = life.log(after, None, life.card(after), lamport=6) if cut_at == "another branch" else None
    life.log(ALICE, founder, life.revokes(ALICE, after, other))
    found = agree([kept, life.records[len(kept) :]], [life.records], me=KEYS[3])
    assert [row[3] for row in found["release"]] == [0, 0]


def test_nothing_is_kept_of_a_branch_behind_a_gap() -> None:
    """LAZ-64: an entry of it did not come, so nobody can tell what leads to the others."""
    life = Life()
    after = KEYS[2]
    life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    first = life.log(BOB, None, life.card(BOB))
    one = life.log(BOB, first, life.releases(BOB, 1), life.admits(BOB, after, same_person=True))
    one = life.log(BOB, one, life.card(BOB))
    lost = end = life.log(BOB, first, life.card(BOB))
    for number in range(2, 5):
        end = life.log(BOB, end, life.releases(BOB, number))
    between = life.log(after, life.log(after, None, life.card(after)), life.card(after))
    life.log(after, between, one, end, lamport=9)
    here = [record for record in life.records if record is not lost]
    found = agree([here], me=KEYS[3])
    assert sorted(row[3] for row in found["release"]) == [0, 0, 0, 1]
    found = agree([[record for record in life.records if record is not between]], me=KEYS[3])
    assert sorted(row[3] for row in found["release"]) == [0, 0, 0, 0], "nor of a log that keeps it"
    agree([here, [lost]], [life.records], me=KEYS[3])


@pytest.mark.parametrize("becomes", ["nobody", "a member"])
def test_what_leads_to_a_cut_behind_a_gap_is_shared_no_more_where_the_cut_is_gone(becomes: str) -> None:
    """INT-125, LAZ-70: nothing counts of that log, so no vector told that something of it was shared."""
    life = Life()
    after = KEYS[2]
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    admission = life.admits(BOB, after, same_person=True)
    his = life.log(BOB, None, *([admission] if becomes == "a member" else []), life.card(BOB))
    lost = [life.log(after, None, life.card(after))]
    last = life.log(after, lost[0], life.releases(after, 1))
    if becomes == "a member":
        lost.append(life.log(BOB, his, life.card(BOB)))
        life.log(BOB, lost[1], life.revokes(BOB, after, last))
    else:
        life.log(after, last, life.revokes(after, after, None))
    before = [record for record in life.records if record not in lost]
    known = len(life.records)
    life.log(ALICE, founder, life.revokes(ALICE, BOB, his))
    found = agree([before, life.records[known:]], [[*before, *life.records[known:]]], me=KEYS[3])
    assert ("S", last.hash.digest.hex().upper(), 1) not in found["shared"]
    agree([before, life.records[known:], lost], [life.records], me=KEYS[3])


@pytest.mark.parametrize(("shared_by", "visible"), [("nobody", [2]), ("carol", [1]), ("carol, who is cut", [2])])
def test_what_a_revoked_node_decided_counts_as_far_as_somebody_shares_it(shared_by: str, visible: list[int]) -> None:
    """LAZ-40, LAZ-70, INT-125: in whatever order the decision, the cut and what links it come."""
    life = Life()
    carol, dave = KEYS[2], KEYS[3]
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB), life.admits(ALICE, carol))
    released = [life.releases(ALICE, number) for number in range(2)]
    founder = life.log(ALICE, founder, *released)
    first = life.log(BOB, None, life.card(BOB))
    hers = life.log(carol, None, life.card(carol))
    known = len(life.records)
    decided = life.decides(BOB, *released)
    life.log(BOB, first, decided)
    late = len(life.records)
    founder = life.log(ALICE, founder, life.revokes(ALICE, BOB, first))
    parts = [life.records[:known], life.records[known:late], life.records[late:]]
    if shared_by != "nobody":
        parts.append([life.log(carol, hers, decided)])
    if "cut" in shared_by:
        parts.append([plex := life.revokes(ALICE, carol, hers), life.log(ALICE, founder, plex)])
    found = agree([life.records], parts, [parts[0], parts[1], *parts[:1:-1]], me=dave)
    assert [row[1] for row in found["resolution"]] == visible


@pytest.mark.parametrize("what", ["no commit", "a side", "nobody's merge", "a merge of others", "a desk", "a merge"])
def test_a_decision_whose_result_joins_nothing_counts_for_nobody(what: str) -> None:
    """LAZ-4, LAZ-42, INT-125: in whatever order it, its result and the sides come; a true one is shown."""
    life = Life()
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    released = [life.releases(ALICE, number) for number in range(2)]
    life.log(ALICE, founder, *released)
    first = life.log(BOB, None, card := life.card(BOB))
    known = len(life.records)
    sides = [Release.read(release).commit for release in released]
    result = {"no commit": card.hash, "a side": sides[0]}.get(what) or life.joins(
        ALICE if what == "nobody's merge" else BOB, *released[what == "a merge of others" :]
    )
    if what == "a desk":
        plex = Commit.to_plex(group=GROUP, desk="songs", parents=sides, tree=EMPTY.hash, message="", tai=life.tai())
        result = life.seal(BOB, plex).hash
    made = len(life.records)
    life.log(BOB, first, life.decides(BOB, *released, result=result))
    before, between, late = life.records[:known], life.records[known:made], life.records[made:]
    found = agree([life.records], [late, between, before], [before, late, between], me=KEYS[3])
    assert [row[1] for row in found["resolution"]] == [1 if what == "a merge" else -1]


def test_a_decision_that_only_somebody_revoked_shared_counts_no_more() -> None:
    """LAZ-40, LAZ-70: alice signed it and never shared it herself."""
    life = Life()
    carol = KEYS[2]
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, carol))
    released = [life.releases(ALICE, number) for number in range(2)]
    founder = life.log(ALICE, founder, *released)
    first = life.log(carol, None, life.card(carol))
    life.log(carol, first, life.decides(ALICE, *released))
    known = life.records[:]
    assert [row[1] for row in agree([known], me=KEYS[3])["resolution"]] == [1]
    life.log(ALICE, founder, life.revokes(ALICE, carol, first))
    found = agree([known, life.records[len(known) :]], [life.records], me=KEYS[3])
    assert [row[1] for row in found["resolution"]] == [0]


def test_a_release_that_is_shared_twice_has_the_number_of_the_first_time() -> None:
    """LAZ-64: whichever of the two entries came first."""
    life = Life()
    first = life.log(ALICE, None, life.card(ALICE))
    released = life.releases(ALICE, 1)
    second = life.log(ALICE, first, released)
    third = life.log(ALICE, second, released)
    rest = [record for record in life.records if record not in (second, third)]
    found = agree([life.records], [[*rest, third], [second]], [[*rest, second], [third]], me=KEYS[3])
    assert [row[1:] for row in found["release"]] == [(2, 2, 1)]


@pytest.mark.parametrize("what", ["an entry is lost", "another content"])
def test_of_a_cut_log_nothing_is_shown_before_it_is_whole_nor_what_is_not_true(what: str) -> None:
    """LAZ-70: what still comes of it is judged when all is here that leads to the cut, and by its content as well."""
    life = Life()
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    first = life.log(BOB, None, life.card(BOB))
    second = life.log(BOB, first, life.card(BOB))
    third = life.log(BOB, second, life.releases(BOB, 1, SUM if "lost" in what else "sha512:" + "0f" * 64))
    life.log(ALICE, founder, life.revokes(ALICE, BOB, third if "lost" in what else second))
    here = [record for record in life.records if "lost" not in what or record is not second]
    assert [row[3] for row in agree([here], me=KEYS[3])["release"]] == [0]


def statements(tmp_path: Path, count: int, *, is_line: bool) -> list[int]:
    """Return how many statements two runs take, in two processes, that share one card beside hidden releases.

    Args:
        tmp_path: where the store is made.
        count: releases of which a record did not come.
        is_line: whether that is the first commit of their line, and else the content of each.
    """
    life = Life()
    founder = life.log(ALICE, None, life.card(ALICE), life.admits(ALICE, BOB))
    before, parent = None, seal_hash(1)
    for number in range(count):
        parents, tree = ([parent], EMPTY.hash) if is_line else ([], plex_hash(number))
        shown = life.releases(BOB, number, tree=tree, parents=parents)
        before, parent = life.log(BOB, before, shown), Release.read(shown).commit
    known = life.records[:]
    after = life.log(ALICE, founder, life.card(ALICE))
    late: list[Batch] = [[life.card(ALICE), after], [life.log(ALICE, after, life.card(ALICE))]]
    path = tmp_path / f"{count}.db"
    with Store(path, create=True) as store, store.transaction():
        store.add([(record, record.encode()) for record in known])
        store.settle(ALICE.verifier.text, FOUNDED.hash.text)
        assert store.rows("SELECT count(*) FROM release WHERE visible = 0") == [(count,)]
    taken = []
    for batch in late:
        with Store(path) as store:
            seen: list[str] = []
            store.db.set_trace_callback(seen.append)
            with store.transaction():
                store.add([(record, record.encode()) for record in batch])
                store.settle(ALICE.verifier.text, FOUNDED.hash.text)
            taken.append(len(seen))
    return taken


def test_what_waits_for_its_content_is_not_walked_by_every_action(tmp_path: Path) -> None:
    """A friend's content that did not come costs each action a look, and no walk for each release."""
    assert statements(tmp_path, 30, is_line=False) == statements(tmp_path, 10, is_line=False)


def test_what_waits_for_one_record_is_walked_once(tmp_path: Path) -> None:
    """Where an early commit did not come, the line is not gone through again for each of its releases."""
    few, many = statements(tmp_path, 10, is_line=True), statements(tmp_path, 40, is_line=True)
    assert max(many) < 5 * max(few)
