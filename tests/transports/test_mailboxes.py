"""Mailboxes on a drop, from publishing to fetching (architecture decision 4, H-11, CYB-17)."""

from __future__ import annotations

import os
import random
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.helpers import (
    GROUP,
    additions,
    key,
    plex,
    put,
    records,
    some_records,
)
from transports import reading
from transports.drop.place import Drop
from transports.errors import BadRun, BadSnapshot, MissingFile
from transports.index.runs import Run
from transports.listing import Listing
from transports.mailbox import Mailbox
from transports.proven import Proven
from transports.publishing import Addition, publish
from transports.reading import SeenHead, fetch, read_head, read_listing, read_run
from vault.errors import Cancelled, DataError, LaceError
from vault.records.hashes import RecordHash
from vault.records.parse import parse_record


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    return Drop.create(tmp_path / "drop", entropy=os.urandom)


def mutations(good: bytes, position: int) -> tuple[bytes, bytes]:
    return good[:position], good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :]


def fetched(drop: Drop, number: int, wanted: set[RecordHash]) -> dict[RecordHash, bytes | None]:
    node = key(number).verifier
    seen = read_head(Mailbox(drop, GROUP, node))
    assert seen is not None
    listing = read_listing(Mailbox(drop, GROUP, node), seen.head)
    return {item.hash: item.record for item in fetch(drop, GROUP, listing, wanted)}


def test_what_is_published_is_fetched(drop: Drop) -> None:
    stored = some_records(50)
    put(drop, key(1), additions(stored))
    got = fetched(drop, 1, set(stored))
    assert got == stored
    for record_hash, record in got.items():
        assert record is not None
        assert parse_record(record).hash == record_hash
    assert drop.count.read > 0
    assert drop.count.written > 0


def test_nothing_changed_writes_nothing(drop: Drop) -> None:
    stored = some_records(5)
    _, seen = put(drop, key(1), additions(stored))
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    writer = drop.writer(GROUP, key(1).verifier)
    before = drop.count.written, drop.files(GROUP, key(1).verifier)
    done = publish(
        Mailbox(drop, GROUP, key(1).verifier),
        writer,
        runs=seen.head.runs,
        listing=listing,
        additions=additions(stored),
    )
    assert (done.copied, done.referenced) == (0, 0)
    assert done.runs == seen.head.runs
    assert (drop.count.written, drop.files(GROUP, key(1).verifier)) == before


def test_three_nodes_share_a_drop_and_reference_each_other(drop: Drop) -> None:
    first, second, third = some_records(4), some_records(4, 10), some_records(4, 20)
    put(drop, key(1), additions(first))
    seen = read_head(Mailbox(drop, GROUP, key(1).verifier))
    assert seen is not None
    theirs = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    done, _ = put(drop, key(2), additions(second), references=[theirs.only(first)])
    put(drop, key(3), additions(third))
    assert (done.copied, done.referenced) == (4, 4)
    assert drop.nodes(GROUP) == sorted(key(n).verifier for n in (1, 2, 3))
    assert drop.nodes("friends/another") == []
    assert fetched(drop, 2, {*first, *second}) == {**first, **second}
    assert fetched(drop, 3, set(third)) == third
    size = sum(drop.files(GROUP, key(2).verifier).values())
    assert size < sum(drop.files(GROUP, key(1).verifier).values()) * 2


def test_a_copy_replaces_a_reference(drop: Drop) -> None:
    stored = some_records(3)
    put(drop, key(1), additions(stored))
    seen = read_head(Mailbox(drop, GROUP, key(1).verifier))
    assert seen is not None
    theirs = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    _, mine = put(drop, key(2), [], references=[theirs.only(stored)])
    done, _ = put(drop, key(2), additions(stored), previous=mine)
    assert done.copied == 3
    drop.writer(GROUP, key(1).verifier).discard(list(drop.files(GROUP, key(1).verifier)))
    assert fetched(drop, 2, set(stored)) == stored


def test_many_publications_keep_few_runs_and_all_records(drop: Drop) -> None:
    stored: dict[RecordHash, bytes] = {}
    seen = None
    for number in range(40):
        fresh = some_records(2, number * 2)
        stored |= fresh
        _, seen = put(drop, key(1), additions(fresh), previous=seen)
        assert len(seen.head.runs) <= 8
    assert fetched(drop, 1, set(stored)) == stored
    assert seen is not None
    assert {name for name in drop.files(GROUP, key(1).verifier) if name.endswith(".run")} == {
        ref.name for ref in seen.head.runs
    }


def test_withdrawn_records_leave_the_listing(drop: Drop) -> None:
    stored = some_records(6)
    gone, *kept = stored
    _, seen = put(drop, key(1), additions(stored))
    _, seen = put(drop, key(1), [], [gone], previous=seen)
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    assert {record_hash for record_hash, _ in listing.items()} == set(kept)
    assert gone not in listing
    _, seen = put(drop, key(1), [], kept, previous=seen)
    assert len(read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)) == 0


def test_what_is_not_listed_is_answered(drop: Drop) -> None:
    put(drop, key(1), additions(some_records(2)))
    stranger = plex(b"elsewhere").hash
    assert fetched(drop, 1, {stranger}) == {stranger: None}


def test_cancel_stops_between_frames(drop: Drop) -> None:
    stored = some_records(2)
    _, seen = put(drop, key(1), additions(stored))
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    with pytest.raises(Cancelled):
        list(fetch(drop, GROUP, listing, set(stored), cancel=lambda: True))
    with pytest.raises(Cancelled):
        publish(
            Mailbox(drop, GROUP, key(1).verifier),
            drop.writer(GROUP, key(1).verifier),
            runs=(),
            listing=None,
            additions=additions(stored),
            cancel=lambda: True,
        )


def test_a_missing_bundle_costs_only_its_own_records(drop: Drop) -> None:
    # faults.md row 7
    first, second = some_records(3), some_records(3, 10)
    done, seen = put(drop, key(1), additions(first))
    put(drop, key(1), additions(second), previous=seen)
    drop.writer(GROUP, key(1).verifier).discard([done.bundles[0].name])
    assert fetched(drop, 1, {*first, *second}) == {**dict.fromkeys(first), **second}


def test_a_flipped_bit_never_gives_a_wrong_record(drop: Drop) -> None:
    # faults.md row 7: every byte of the bundle in turn
    stored = some_records(3)
    done, seen = put(drop, key(1), additions(stored))
    node = key(1).verifier
    path = drop.mailbox_path(GROUP, node) / done.bundles[0].name
    good = path.read_bytes()
    listing = read_listing(Mailbox(drop, GROUP, node), seen.head)
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 0x10]) + good[position + 1 :])
        for item in fetch(drop, GROUP, listing, set(stored)):
            assert item.record in {None, stored[item.hash]}
            assert (item.record is None) == bool(item.reason)


def test_only_what_was_read_whole_and_from_there_is_proven(drop: Drop) -> None:
    """INT-118: a place that somebody else names for a record is another one, and so is that of a damaged record."""
    stored = records(bytes([number]) * 5000 + random.Random(number).randbytes(60_000) for number in range(4))
    small = records([b"small"])
    done, seen = put(drop, key(1), additions({**stored, **small}))
    path = drop.mailbox_path(GROUP, key(1).verifier) / done.bundles[0].name
    good = path.read_bytes()
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    damaged, *_ = stored
    entry = listing.entry(damaged)
    assert entry is not None
    assert entry.location is not None
    at = entry.location.frame_offset + entry.location.frame_stored // 2
    path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    proven = Proven()
    list(fetch(drop, GROUP, listing, {*stored, *small}, proven=proven))
    for bundle, frame in listing.reads({*stored, *small}):
        assert proven.holds(bundle, frame) == [one.hash != damaged for one in frame.slices]
        others = [one._replace(offset=one.offset + 1) for one in frame.slices]
        assert not any(proven.holds(bundle, frame._replace(slices=tuple(others))))
        assert not any(proven.holds(bundle, frame._replace(offset=entry.location.frame_offset)))
        assert not any(proven.holds(replace(bundle, mailbox=key(2).verifier), frame))
    more = records(b"small %d" % number for number in range(9))
    _, seen = put(drop, key(3), additions({**stored, **more}))
    listing = read_listing(Mailbox(drop, GROUP, key(3).verifier), seen.head)
    lies = list(listing.reads(dict(listing.items())))
    assert sum(len(frame.slices) for _, frame in lies) == 13
    assert not any(any(proven.holds(*one)) for one in lies)
    list(fetch(drop, GROUP, listing, {*stored, *more}, proven=proven))  # after some were asked for
    assert all(all(proven.holds(*one)) for one in lies)


def test_a_truncated_bundle_gives_what_is_left(drop: Drop) -> None:
    stored = records(bytes([number]) * 1_100_000 for number in range(3))
    done, seen = put(drop, key(1), additions(stored))
    path = drop.mailbox_path(GROUP, key(1).verifier) / done.bundles[0].name
    good = path.read_bytes()
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    counts = set()
    for size in range(0, len(good), 7):
        path.write_bytes(good[:size])
        items = list(fetch(drop, GROUP, listing, set(stored)))
        assert len(items) == 3
        assert all(item.record in {None, stored[item.hash]} for item in items)
        counts.add(sum(item.record is not None for item in items))
    assert counts == {0, 1, 2, 3}


def test_every_damaged_run_is_refused(drop: Drop) -> None:
    # faults.md rows 7 and 20: the head binds the run's bytes
    _, seen = put(drop, key(1), additions(some_records(2)))
    node = key(1).verifier
    path = drop.mailbox_path(GROUP, node) / seen.head.runs[0].name
    good = path.read_bytes()
    for position in range(len(good)):
        for damaged in mutations(good, position):
            path.write_bytes(damaged)
            with pytest.raises(BadRun):
                read_listing(Mailbox(drop, GROUP, node), seen.head)
    path.unlink()
    with pytest.raises(MissingFile):
        read_listing(Mailbox(drop, GROUP, node), seen.head)


def test_every_damaged_head_is_refused(drop: Drop) -> None:
    put(drop, key(1), additions(some_records(2)))
    node = key(1).verifier
    path = drop.mailbox_path(GROUP, node) / "head.rec"
    good = path.read_bytes()
    for position in range(len(good)):
        for damaged in mutations(good, position):
            path.write_bytes(damaged)
            with pytest.raises(DataError):
                read_head(Mailbox(drop, GROUP, node))
    path.write_bytes(bytes(2 << 20))
    with pytest.raises(LaceError):
        read_head(Mailbox(drop, GROUP, node))


def test_heads_do_not_move_between_mailboxes_drops_or_groups(drop: Drop, tmp_path: Path) -> None:
    # faults.md rows 20 and 23
    put(drop, key(1), additions(some_records(2)))
    data = drop.read_head(GROUP, key(1).verifier)
    assert data is not None
    drop.writer(GROUP, key(2).verifier).publish_head(data)
    with pytest.raises(BadSnapshot):
        read_head(Mailbox(drop, GROUP, key(2).verifier))
    other = Drop.create(tmp_path / "other", entropy=os.urandom)
    other.writer(GROUP, key(1).verifier).publish_head(data)
    with pytest.raises(BadSnapshot):
        read_head(Mailbox(other, GROUP, key(1).verifier))
    drop.writer("friends/another", key(1).verifier).publish_head(data)
    with pytest.raises(BadSnapshot):
        read_head(Mailbox(drop, "friends/another", key(1).verifier))
    drop.writer(GROUP, key(3).verifier).publish_head(plex(b"unsealed").encode())
    with pytest.raises(BadSnapshot):
        read_head(Mailbox(drop, GROUP, key(3).verifier))


def test_a_reader_reads_only_the_runs_it_has_not_seen(drop: Drop) -> None:
    old, new = some_records(200), some_records(3, 500)
    _, seen = put(drop, key(1), additions(old))
    known = {ref.name for ref in seen.head.runs}
    _, seen = put(drop, key(1), additions(new), previous=seen)
    before = drop.count.read
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head, seen=known)
    assert {record_hash for record_hash, _ in listing.items()} == set(new)
    assert drop.count.read - before < 1000


def test_a_small_head_and_run_are_taken_apart_once_and_larger_ones_each_time(
    drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, seen = put(drop, key(1), additions(some_records(20)))
    mailbox = Mailbox(drop, GROUP, key(1).verifier)
    first, again = read_head(mailbox), read_head(mailbox)
    assert first is again
    (ref,) = seen.head.runs
    run = read_run(mailbox, ref)
    assert read_run(mailbox, ref) is run
    reading._small_run.cache_clear()
    monkeypatch.setattr(reading, "_SMALL_RUN_RAW_BYTES", 1)
    large = read_run(mailbox, ref)
    assert large == run
    assert read_run(mailbox, ref) is not large


def test_reading_holds_one_frame_in_memory(drop: Drop) -> None:
    rng = random.Random(1)
    stored = records(rng.randbytes(500_000) for _ in range(40))
    _, seen = put(drop, key(1), additions(stored))
    wanted = set(stored)
    stored.clear()
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    tracemalloc.start()
    count = sum(item.record is not None for item in fetch(drop, GROUP, listing, wanted))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40
    assert peak < 8 << 20


POOL = list(some_records(24).items())
steps = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.sets(st.integers(0, len(POOL) - 1), max_size=8),
        st.sets(st.integers(0, len(POOL) - 1), max_size=8),
        st.booleans(),
    ),
    max_size=12,
)


def chosen(added: set[int], others: list[Listing]) -> tuple[list[Addition], list[Run]]:
    """Return what of some records is copied, and what is named where the first of the others has it."""
    copied = {POOL[index][0]: POOL[index][1] for index in sorted(added)}
    references = []
    for other in others:
        references.append(other.only(copied))
        copied = {record: data for record, data in copied.items() if record not in other}
    return additions(copied), references


@settings(max_examples=40, deadline=None)
@given(steps)
def test_three_nodes_publish_and_withdraw_in_any_order(
    plan: list[tuple[int, set[int], set[int], bool]],
) -> None:
    # The model is a set a node; a node references what another one of the drop holds when it is told to.
    with tempfile.TemporaryDirectory() as directory:
        drop = Drop.create(Path(directory) / "drop", entropy=os.urandom)
        heads: dict[int, SeenHead] = {}
        model: dict[int, set[RecordHash]] = {}
        for number, added, removed, refers in plan:
            others = [
                read_listing(Mailbox(drop, GROUP, key(other).verifier), heads[other].head)
                for other in heads
                if other != number
            ]
            items, references = chosen(added, others if refers else [])
            gone = {POOL[index][0] for index in removed - added}
            _, heads[number] = put(drop, key(number), items, gone, heads.get(number), references)
            model[number] = (model.get(number, set()) - gone) | {POOL[index][0] for index in added}
        for number, expected in model.items():
            assert fetched(drop, number, expected) == {h: record for h, record in POOL if h in expected}
            listing = read_listing(Mailbox(drop, GROUP, key(number).verifier), heads[number].head)
            assert {record_hash for record_hash, _ in listing.items()} == expected
