"""Every tier gives the state that the full listing gives, proves it, and costs what differs (INT-99, INT-106)."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace.ads import Advertisement, Fields, merkle_root
from lazy.interlace.errors import (
    InterlaceAbort,
    ListingTooLarge,
    ListRootMismatch,
    MachineMisuse,
    MalformedFactBlock,
    MalformedPartitionSummary,
)
from lazy.interlace.limits import DEFAULT_LIMITS, Limits
from lazy.interlace.tiers import (
    Asks,
    Listing,
    MemoryShelf,
    Offer,
    TierReader,
    answer,
    answer_hints,
    pack_asks,
    pack_offer,
    read_asks,
    read_offer,
)
from lazy.interlace.tiers.phases import TABLE, ReaderEvent, ReaderPhase, next_phase
from lazy.interlace.tiers.shelf import digests_of, span
from tests.lazy.interlace.stores import ALICE
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

APPS: tuple[Fields, ...] = ((("App", 0, "lace/data"),), (("App", 0, "lace/tree"),), (("App", 0, "lace/log's \\"),), ())
State = dict[RecordHash, Fields]


def record(number: int, crowd: int = 0) -> RecordHash:
    """A record's hash; `crowd` many bits of it are few different ones, so that few records make full partitions."""
    digest = blake3(str(number).encode()).digest()
    if crowd:
        digest = bytes([(number % 3) << 3, *([0] * (crowd // 8))]) + digest[: 31 - crowd // 8]
    return RecordHash("PS"[number % 7 == 0], digest)


def state_of(numbers: range | set[int], forms: int = 2, crowd: int = 0) -> State:
    return {record(number, crowd): APPS[number % forms] for number in numbers}


def learned(
    predictions: list[State], theirs: State, limits: Limits = DEFAULT_LIMITS
) -> tuple[TierReader, list[int], list[int]]:
    """Let a reader learn a state over bytes; return it, and the bytes of each trip there and back."""
    source = MemoryShelf(ALICE.text, theirs)
    reader = TierReader([MemoryShelf(ALICE.text, entries) for entries in predictions], limits)
    hints = reader.begin()
    sent, came = [len(hints)], []
    packed = pack_offer(answer_hints(source, hints, limits))
    came.append(len(packed))
    while asks := reader.take(read_offer(packed)):
        said = pack_asks(asks)
        assert read_asks(said) == asks
        packed = pack_offer(answer(source, read_asks(said), limits))
        sent.append(len(said))
        came.append(len(packed))
    return reader, sent, came


numbers = st.sets(st.integers(0, 500), max_size=40)
crowds = st.sampled_from([0, 7, 15, 23])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 400), numbers, numbers, numbers, st.integers(1, 4), crowds, st.booleans())
def test_every_tier_gives_the_state_of_the_full_listing(
    common: int, mine: set[int], theirs: set[int], known: set[int], forms: int, crowd: int, is_poor: bool
) -> None:
    """INT-99, INT-101, INT-103, INT-159, INT-160: random pairs of stores, an older state of the peer, small budgets.

    DEL-26: where both are equal, a root of 32 bytes is the whole answer.
    """
    here = state_of(set(range(common)) | mine, crowd=crowd)
    there = state_of(set(range(common)) - known | theirs, forms, crowd)
    before = state_of(set(range(common)) - known, forms, crowd)
    limits = replace(DEFAULT_LIMITS, max_partition_summaries=256, max_narrowing_depth=3) if is_poor else DEFAULT_LIMITS
    choices: list[list[State]] = [[here], [before, here], [{}]]
    for predictions in choices:
        reader, sent, came = learned(predictions, there, limits)
        assert reader.phase is ReaderPhase.KNOWN
        assert reader.entries() == there
        difference = reader.difference()
        first = predictions[0]
        assert dict(difference.added) == {name: fields for name, fields in there.items() if first.get(name) != fields}
        assert set(difference.missing) == first.keys() - there.keys()
        assert len(sent) == len(came) <= 6
        if first == there:
            assert (len(came), came[0]) == (1, 33)


def test_the_figures_of_a_meeting_without_a_cursor() -> None:
    """INT-102: narrowing starts at one character, which costs a tenth of the listing."""
    here = state_of(range(6000))
    for extra, most in ((0, 33), (10, 28_000)):
        there = here | state_of(range(6000, 6000 + extra))
        reader, sent, came = learned([here], there)
        assert len(reader.difference().added) == extra
        assert len(came) <= 2
        assert sum(came) <= most
        assert sum(sent) <= 192 + 3 * extra + 8


def test_a_digest_is_that_of_the_advertisement() -> None:
    """INT-43, INT-44, INT-104, INT-105: the short way gives what the definition gives."""
    entries = sorted(state_of(range(50), 4).items())
    ads = [Advertisement.of(name, ALICE.text, fields) for name, fields in entries]
    assert digests_of(ALICE.text, entries) == [ad.digest for ad in ads]
    shelf = MemoryShelf(ALICE.text, dict(entries))
    for summary in (*shelf.children(""), *shelf.children("0")):
        under = [ad.digest for ad in ads if ad.hash_text[2:].startswith(summary.prefix)]
        assert (summary.count, summary.root) == (len(under), merkle_root(under))


@given(st.text(ALPHABET, min_size=1, max_size=12), st.binary(min_size=32, max_size=32))
def test_a_partition_is_a_range_of_digests(prefix: str, digest: bytes) -> None:
    """INT-101."""
    low, high = span(prefix)
    is_inside = RecordHash("P", digest).text[2:].startswith(prefix)
    assert is_inside == (digest >= low and (high is None or digest < high))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_lies_is_found_out_or_harmless(data: st.DataObject) -> None:
    """INT-106, INT-149: an answer that is bent ends in an error, never in a wrong state."""
    here, there = state_of(range(200), crowd=7), state_of(range(5, 210), crowd=7)
    source = MemoryShelf(ALICE.text, there)
    reader = TierReader([MemoryShelf(ALICE.text, here)])
    packed = bytearray(pack_offer(answer_hints(source, reader.begin(), DEFAULT_LIMITS)))
    place = data.draw(st.integers(0, len(packed) - 1))
    change = data.draw(st.sampled_from(["flip", "cut", "add"]))
    if change == "flip":
        packed[place] ^= data.draw(st.integers(1, 255))
    elif change == "cut":
        del packed[place:]
    else:
        packed.insert(place, data.draw(st.integers(0, 255)))
    try:
        asks = reader.take(read_offer(bytes(packed)))
        while asks:
            asks = reader.take(read_offer(pack_offer(answer(source, asks, DEFAULT_LIMITS))))
    except InterlaceAbort:
        return
    assert reader.entries() == there


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_no_block(noise: bytes) -> None:
    """INT-144: what can be read is written in one way only."""
    try:
        offer = read_offer(noise)
    except InterlaceAbort:
        pass
    else:
        assert pack_offer(offer) == noise
    try:
        asks = read_asks(noise)
    except InterlaceAbort:
        return
    assert pack_asks(asks) == noise


def test_an_answer_is_to_the_question() -> None:
    """INT-148, INT-149, INT-158, INT-159."""
    here, there = state_of(range(400), crowd=7), state_of(range(430), crowd=7)
    mine, source = MemoryShelf(ALICE.text, here), MemoryShelf(ALICE.text, there)

    def opened() -> tuple[TierReader, Offer]:
        reader = TierReader([mine])
        return reader, answer_hints(source, reader.begin(), DEFAULT_LIMITS)

    reader, offer = opened()
    with pytest.raises(MalformedPartitionSummary):
        reader.take(offer._replace(state=b""))
    assert reader.phase is ReaderPhase.FAILED
    with pytest.raises(MachineMisuse):
        reader.entries()
    reader, offer = opened()
    with pytest.raises(MalformedPartitionSummary):
        reader.take(offer._replace(listings=(Listing(offer.narrowed[0].prefix, ()),)))
    reader, offer = opened()
    with pytest.raises(ListRootMismatch):  # a state that is another one, all partitions being equal
        reader.take(Offer(state=bytes(32)))
    reader, offer = opened()
    asks = reader.take(offer)
    lists = answer(source, asks, DEFAULT_LIMITS).listings
    with pytest.raises(ListRootMismatch):
        reader.take(Offer(listings=(Listing(lists[0].prefix, lists[0].entries[:-1]), *lists[1:])))
    reader, offer = opened()
    reader.take(offer)
    with pytest.raises(MalformedPartitionSummary):
        reader.take(Offer(listings=lists[1:]))
    with pytest.raises(MalformedPartitionSummary):
        answer_hints(source, b"123", DEFAULT_LIMITS)
    with pytest.raises(ListingTooLarge):
        answer(source, Asks(lists=("0",)), replace(DEFAULT_LIMITS, max_advertisement_records=10))
    with pytest.raises(ListingTooLarge):
        answer(source, Asks(narrows=("0", "2")), replace(DEFAULT_LIMITS, max_partition_summaries=20))
    for bad in (("0", "0"), ("1", "0"), ("0", "00")):
        with pytest.raises(MalformedFactBlock):
            Asks(lists=bad)
    with pytest.raises(MachineMisuse):
        TierReader([])


def test_the_table_of_the_reader_is_complete() -> None:
    """INT-17: every event has an answer in every phase, and what is over stays over."""
    assert set(TABLE) == set(ReaderEvent)
    assert all(len(row) == len(ReaderPhase) for row in TABLE.values())
    for event in ReaderEvent:
        for phase in (ReaderPhase.KNOWN, ReaderPhase.FAILED):
            with pytest.raises(MachineMisuse):
                next_phase(phase, event)


def test_a_small_budget_ends_narrowing_and_lists_follow() -> None:
    """INT-159: the summaries that an exchange may hold are counted before they are asked for."""
    chosen = random.Random(1).sample(range(2000), 200)
    here, there = state_of(range(2000), crowd=15), state_of(set(range(2000)) - set(chosen), crowd=15)
    _, _, rich = learned([here], there)
    reader, _, poor = learned([here], there, replace(DEFAULT_LIMITS, max_partition_summaries=64))
    assert set(reader.difference().missing) == {record(number, 15) for number in chosen}
    assert len(poor) < len(rich)


def test_a_count_takes_no_memory_before_its_records_are_there() -> None:
    """INT-158: a dozen bytes that announce sixteen million records are refused for what they are."""
    tracemalloc.start()
    try:
        with pytest.raises(MalformedFactBlock):
            read_offer(b"l\x01A\x01P\x00\xff\xff\xff\x07")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
