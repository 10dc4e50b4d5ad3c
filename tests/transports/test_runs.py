"""Index runs: form, fold, merging (docs/formats.md section 4; faults.md rows 7, 13, 14)."""

from __future__ import annotations

import random
import tracemalloc
from contextlib import suppress

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from transports.errors import BadRun
from transports.layout import RUN_RAW_LIMIT, bundle_name
from transports.listing import Listing
from transports.merging import MAX_RUN_ENTRIES, merge_runs, runs_to_merge
from transports.runs import ENTRY, BundleRef, Location, Run, RunBuilder, decode_run, encode_run
from vault.errors import LaceError
from vault.records import b64a
from vault.records.hashes import RecordHash, Verifier

APPS = ("lace/data", "lace/commit", "lace/log")


def bundle(number: int) -> BundleRef:
    digest = bytes([number]) * 32
    return BundleRef(Verifier(bytes([number + 100]) * 32), bundle_name(digest), digest, 5_000_000)


def location(number: int) -> Location:
    return Location(bundle(number % 3), 8 + number % 5 * 1000, 1000, 40_000, number % 300 * 100, 100)


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


@given(changes, st.lists(hashes, max_size=30, unique=True), st.integers(1, 5))
def test_batches_hold_what_is_listed_once_and_in_the_order_of_the_medium(
    words: Words, wanted: list[RecordHash], size: int
) -> None:
    listing = Listing([build(words)])
    parts = list(listing.batches(wanted, size))
    if len(wanted) <= size:
        assert parts == [wanted]
        return
    assert all(0 < len(part) <= size for part in parts)
    assert [record for part in parts for record in part] == [r for r, _ in listing.by_place() if r in wanted]


def test_locate_finds_the_same_by_search_and_by_scan() -> None:
    words: Words = [(RecordHash("P", random.Random(n).randbytes(32)), APPS[n % 3], location(n)) for n in range(500)]
    listing = Listing([build(words)])
    one_by_one = [
        part for word in words for read in listing.locate({word[0]}) for f in read.frames for part in f.slices
    ]
    together = [part for read in listing.locate({w[0] for w in words}) for f in read.frames for part in f.slices]
    assert sorted(one_by_one) == sorted(together)
    assert len(together) == 500


def test_every_truncation_and_change_of_a_run_is_refused_or_is_another_run() -> None:
    # faults.md row 7. A changed run is caught by its digest; here only the form is asked.
    words: Words = [(RecordHash("P", bytes([n]) * 32), APPS[n % 3], location(n)) for n in range(6)]
    data, _ = encode_run(build([*words, (RecordHash("S", bytes(32)), APPS[0], None)]))
    for position in range(len(data)):
        with pytest.raises(BadRun):
            decode_run(data[:position])
        for bit in range(8):
            changed = data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]
            try:
                run = decode_run(changed)
            except BadRun:
                continue
            assert decode_run(encode_run(run)[0]) == run
    with pytest.raises(BadRun):
        decode_run(data + b"x")
    with pytest.raises(BadRun):
        decode_run(data + zstandard.compress(b"more"))


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_refused_with_our_own_error(body: bytes, in_bundle: bool) -> None:
    for data in (body, zstandard.compress(body), zstandard.compress(b"lace-run/0\n" + body)):
        with suppress(BadRun):
            decode_run(data, in_bundle=in_bundle)


BUNDLE = bundle(1)
ROW = f"bundle {BUNDLE.mailbox.key.hex()} {BUNDLE.name} {b64a.encode(BUNDLE.digest)} {BUNDLE.size}\n"
FRAME = "frame 0 8 100 1000\n"
GOOD = ENTRY.pack(ord("P"), ord("+"), 0, 0, 0, 10, bytes(32))


def tables(text: str, *entries: bytes) -> bytes:
    return zstandard.compress(("lace-run/0\n" + text + "\n").encode() + b"".join(entries))


def test_the_smallest_run_is_accepted() -> None:
    assert len(decode_run(tables("app a\n" + ROW + FRAME, GOOD))) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(tables(ROW + "app a\n" + FRAME, GOOD), id="order of tables"),
        pytest.param(tables("app a\napp a\n" + ROW + FRAME, GOOD), id="app twice"),
        pytest.param(tables("app a\n" + ROW + ROW + FRAME, GOOD), id="bundle twice"),
        pytest.param(tables("app /a\n" + ROW + FRAME, GOOD), id="bad app"),
        pytest.param(tables("app a\x01\n" + ROW + FRAME, GOOD), id="control character"),
        pytest.param(tables("app e\u0301\n" + ROW + FRAME, GOOD), id="not NFC"),
        pytest.param(tables("app a\nbundle - - - 0\n" + FRAME, GOOD), id="own row in a mailbox"),
        pytest.param(tables("app a\n" + ROW.upper() + FRAME, GOOD), id="capital letters"),
        pytest.param(tables("app a\n" + ROW.replace(" 5000000", " 05000000") + FRAME, GOOD), id="zero"),
        pytest.param(tables("app a\n" + ROW.replace("b-01", "b-02") + FRAME, GOOD), id="other name"),
        pytest.param(tables("app a\n" + ROW + "frame 1 8 100 1000\n", GOOD), id="no such bundle"),
        pytest.param(tables("app a\n" + ROW + "frame 0 7 100 1000\n", GOOD), id="frame in the magic"),
        pytest.param(tables("app a\n" + ROW + "frame 0 4999999 2 1000\n", GOOD), id="frame past the end"),
        pytest.param(tables("app a\n" + ROW + "frame 0 8 100 34603009\n", GOOD), id="frame too large"),
        pytest.param(tables("app a\n" + ROW + FRAME + FRAME, GOOD), id="frame twice"),
        pytest.param(tables("app a\n" + ROW + "frame 0 8 0 1000\n", GOOD), id="empty frame"),
        pytest.param(tables("app a\n" + ROW + "frame 0 8 ١ 1000\n", GOOD), id="foreign digit"),
        pytest.param(tables("covers head.rec\napp a\n" + ROW + FRAME, GOOD), id="covers no run"),
        pytest.param(tables("app a\n" + ROW + FRAME + "more 1\n", GOOD), id="unknown line"),
        pytest.param(tables("app a\n" + ROW + FRAME, GOOD[:-1]), id="half an entry"),
        pytest.param(tables("app a\n" + ROW + FRAME, GOOD, GOOD), id="entry twice"),
        pytest.param(tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 1, 0, 0, 10, bytes(32))), id="no such app"),
        pytest.param(tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 1, 0, 10, bytes(32))), id="no such frame"),
        pytest.param(
            tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 0, 995, 10, bytes(32))), id="past the frame"
        ),
        pytest.param(tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 0, 0, 0, bytes(32))), id="no length"),
        pytest.param(tables("app a\n" + ROW + FRAME, ENTRY.pack(81, 43, 0, 0, 0, 10, bytes(32))), id="no such kind"),
        pytest.param(tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 44, 0, 0, 0, 10, bytes(32))), id="no such op"),
        pytest.param(
            tables("app a\n" + ROW + FRAME, ENTRY.pack(80, 45, 0, 0, 0, 10, bytes(32))),
            id="placed withdrawal",
        ),
        pytest.param(
            tables(
                "app a\n" + ROW + FRAME,
                ENTRY.pack(80, 43, 0, 0, 0, 10, b"\x01" + bytes(31)),
                GOOD,
            ),
            id="not sorted",
        ),
    ],
)
def test_a_byte_out_of_place_is_refused(data: bytes) -> None:
    with pytest.raises(BadRun):
        decode_run(data)


def test_bombs_cost_less_than_64_mib() -> None:
    # faults.md row 14: at the limit, above it, with a lying size, and nested
    at_limit = zstandard.compress(bytes(RUN_RAW_LIMIT))
    above = zstandard.compress(bytes(RUN_RAW_LIMIT + 1))
    unstated = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    rows = "".join(f"frame 0 {offset} 1 1\n" for offset in range(8, 200_000))
    many_rows = tables("app a\n" + ROW + rows)
    nested = zstandard.compress(at_limit)
    for bomb in (at_limit, above, unstated, many_rows, nested):
        tracemalloc.start()
        with suppress(BadRun) if bomb is many_rows else pytest.raises(BadRun):
            decode_run(bomb)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 << 20
    with pytest.raises(BadRun):
        decode_run(tables("app a\n" + ROW + FRAME, GOOD), limit=10)


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
