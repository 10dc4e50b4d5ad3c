"""Index runs: building, fold, merging (docs/formats.md section 4; faults.md row 13)."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transports.helpers import location
from transports.index.merging import MAX_RUN_ENTRIES, merge_runs, runs_to_merge
from transports.index.runfile import decode_run, encode_run
from transports.index.runs import Location, Run, RunBuilder
from transports.listing import Listing
from vault.errors import LaceError
from vault.records.hashes import RecordHash

APPS = ("lace/data", "lace/commit", "lace/log")


Words = list[tuple[RecordHash, str, Location | None]]

hashes = st.builds(
    RecordHash, st.sampled_from("BPS"), st.integers(0, 40).map(lambda number: number.to_bytes(32, "big"))
)
changes = st.lists(
    st.tuples(hashes, st.sampled_from(APPS), st.none() | st.integers(0, 2000).map(location)), max_size=60
)


def build(words: Words) -> Run:
    builder = RunBuilder()
    for record_hash, app, place in words:
        if place is None:
            builder.withdraw(record_hash, app)
        else:
            builder.add(record_hash, app, place)
    return builder.build()


@given(changes)
def test_runs_round_trip(words: Words) -> None:
    run = build(words)
    data, ref = encode_run(run)
    assert decode_run(data) == run
    assert (ref.entries, ref.size) == (len(run), len(data))
    expected = {record_hash: (app, place) for record_hash, app, place in words}
    assert {entry.hash: (entry.app, entry.location) for entry in run} == expected


@given(st.lists(changes, max_size=6), st.data())
def test_the_fold_equals_a_dictionary(runs: list[Words], data: st.DataObject) -> None:
    expected: dict[RecordHash, tuple[str, Location | None]] = {}
    for words in runs:
        expected |= {record_hash: (app, place) for record_hash, app, place in words}
    built = [build(words) for words in runs]
    cut = data.draw(st.integers(0, len(built)))
    for parts in (built, [merge_runs(built[:cut], is_base=True), *built[cut:]]):
        listing = Listing(parts)
        live = {record_hash: value for record_hash, value in expected.items() if value[1] is not None}
        assert dict(listing.items()) == {record_hash: app for record_hash, (app, _) in live.items()}
        assert len(listing) == len(live)
        for record_hash in expected:
            entry = listing.entry(record_hash)
            assert (record_hash in listing) == (record_hash in live)
            assert (entry and (entry.app, entry.location)) == live.get(record_hash)
    merged = merge_runs([*built[:cut], merge_runs(built[cut:])])
    assert {entry.hash: (entry.app, entry.location) for entry in merged} == expected
    assert decode_run(encode_run(merged)[0]) == merged


@given(changes, st.lists(hashes, max_size=30))
def test_locate_groups_by_bundle_and_frame(words: Words, wanted: list[RecordHash]) -> None:
    listing = Listing([build(words)])
    found = []
    for reads in listing.locate(set(wanted)):
        assert list(reads.frames) == sorted(reads.frames, key=lambda frame: frame.offset)
        for frame in reads.frames:
            for part in frame.slices:
                entry = listing.entry(part.hash)
                assert entry is not None
                assert entry.location == Location(
                    reads.bundle, frame.offset, frame.stored, frame.raw, part.offset, part.length
                )
                found.append(part.hash)
    assert sorted(found) == sorted({record_hash for record_hash in wanted if record_hash in listing})


@given(changes, st.lists(hashes, max_size=30, unique=True))
def test_a_run_of_some_records_says_of_them_what_the_listing_does(words: Words, wanted: list[RecordHash]) -> None:
    listing = Listing([build(words)])
    found = {entry.hash: entry for entry in listing.only(wanted)}
    assert found == {record: listing.entry(record) for record in wanted if record in listing}


@given(changes)
def test_a_listing_is_walked_in_the_order_of_the_medium(words: Words) -> None:
    listing = Listing([build(words)])
    frames = [(reads.bundle, frame) for reads in listing.locate(dict(listing.items())) for frame in reads.frames]
    lies = {part.hash: at for at, (_, frame) in enumerate(frames) for part in frame.slices}
    walked = [record for record, _ in listing.by_place()]
    assert sorted(walked) == [record for record, _ in sorted(listing.items())]
    assert [lies[record] for record in walked] == sorted(lies.values())


def test_a_walk_takes_some_bytes_a_record_where_each_has_a_frame_of_its_own() -> None:
    """As the chunks of a large file have: the memory of a sync must not follow its size."""
    count = 20_000
    bundle = location(0).bundle
    words: Words = [
        (RecordHash("P", n.to_bytes(32, "big")), APPS[0], Location(bundle, n * 70_000, 70_000, 66_000, 0, 66_000))
        for n in range(count)
    ]
    listing = Listing([build(words)])
    tracemalloc.start()
    try:
        assert next(listing.by_place())[0] == words[0][0]
        assert tracemalloc.get_traced_memory()[1] < 20 * count
        assert next(listing.reads([record for record, _, _ in words]))[1].slices[0].hash == words[0][0]
        assert tracemalloc.get_traced_memory()[1] < 200 * count  # a set of them, and no place for each
    finally:
        tracemalloc.stop()


def test_a_fold_takes_little_more_than_what_it_leaves() -> None:
    """CYB-15: a list of its entries took twice as much beside them, and a million of them more than a visit may."""
    draw = random.Random(1).randbytes
    digests = [draw(32) for _ in range(70_000)]
    where, halves = location(1), []
    for half in (digests[:40_000], digests[30_000:]):
        builder = RunBuilder()
        for digest in half:
            builder.add(RecordHash("P", digest), "lace/data", where)
        halves.append(builder.build())
    tracemalloc.start()
    folded = merge_runs(halves)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(folded) == 70_000
    assert peak < 2 * len(folded.entries)


def test_locate_finds_the_same_by_search_and_by_scan() -> None:
    words: Words = [(RecordHash("P", random.Random(n).randbytes(32)), APPS[n % 3], location(n)) for n in range(500)]
    listing = Listing([build(words)])
    one_by_one = [
        part for word in words for read in listing.locate({word[0]}) for f in read.frames for part in f.slices
    ]
    together = [part for read in listing.locate({w[0] for w in words}) for f in read.frames for part in f.slices]
    assert sorted(one_by_one) == sorted(together)
    assert len(together) == 500


@given(st.lists(st.integers(1, 100_000), max_size=200))
def test_merging_keeps_few_runs(sizes: list[int]) -> None:
    kept: list[int] = []
    written = 0
    for size in sizes:
        kept.append(size)
        count = runs_to_merge(kept)
        assert count != 1
        if count:
            kept[-count:] = [sum(kept[-count:])]
        written += kept[-1]
        assert kept[-1] <= MAX_RUN_ENTRIES
        small = [entries for entries in kept if entries < MAX_RUN_ENTRIES // 2]
        assert len(small) <= 9
    assert sum(kept) == sum(sizes)


def test_merging_is_cheap_over_time() -> None:
    kept: list[int] = []
    written = 0
    for _ in range(10_000):
        kept.append(10)
        if count := runs_to_merge(kept):
            kept[-count:] = [sum(kept[-count:])]
        written += kept[-1]
        assert len(kept) <= 8
    assert written < 100_000 * 40


def test_a_builder_refuses_what_is_no_app() -> None:
    builder = RunBuilder()
    builder.add(RecordHash("P", bytes(32)), "/", location(0))
    with pytest.raises(LaceError):
        builder.build()
