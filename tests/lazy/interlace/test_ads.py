"""Advertisements and their digests: the vectors, the order, the tree, the partitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.ads import (
    EMPTY_ROOT,
    Advertisement,
    Summary,
    leaf,
    merkle_root,
    node,
    partitions,
    prefix_of,
    read_advertisements,
    summarise,
)
from lazy.interlace.errors import MalformedFactBlock, MalformedPartitionSummary
from lazy.interlace.facts import BlockPhase, Fact, format_block, parse_block
from vault.records import RecordHash, b64a

PLEX = RecordHash.parse("P.e79IHLzmOwQZmR9Ev~E6ammaoIVbACG2PRKHjREKpEx.H3")
SOURCE = "V.0v47k~FE4BtTSDpOupk0bMV_qZ2ReGqV7Tn6P19LCRW.H3"
digests = st.lists(st.binary(min_size=32, max_size=32), max_size=20)
hashes = st.builds(RecordHash, st.sampled_from("BPS"), st.binary(min_size=32, max_size=32))
word = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=4)
field_sets = st.lists(st.tuples(word, st.integers(0, 30), word), unique_by=lambda f: (f[0], f[1]), max_size=6)


def test_the_vectors_of_the_specification() -> None:
    """INT-42, INT-43, INT-44, INT-104, INT-105."""
    ad = Advertisement.of(PLEX, SOURCE, (("Type", 0, "P"), ("Group", 0, "eu/lab"), ("App", 0, "chat")))
    assert ad.block.decode() == (
        f"Advertised('{PLEX}','{SOURCE}')\n"
        f"AdvertisedField('{PLEX}','{SOURCE}','App','0','chat')\n"
        f"AdvertisedField('{PLEX}','{SOURCE}','Group','0','eu/lab')\n"
        f"AdvertisedField('{PLEX}','{SOURCE}','Type','0','P')\n"
    )
    assert b64a.encode(ad.digest) == "rJXCpTnaQc5L6a_4D8Bx_WplfpcEEnt3DRY1eA_qTHW"
    assert b64a.encode(leaf(ad.digest)) == "XR9YULplw_Ek4BbU_2V9ySnNmQgk3cSH976GK356gP_"
    assert b64a.encode(node(leaf(ad.digest), EMPTY_ROOT)) == "IEsMVGQKpVcifKhMrStvAHnHULp~VAjWAmCzAihI6pK"
    assert b64a.encode(EMPTY_ROOT) == "fQB~weQlmPS~bN9N1hgdPaWtNxHyJCBjFLt1pYA6dxd"


def test_index_ten_sorts_after_nine() -> None:
    """INT-43."""
    ad = Advertisement.of(PLEX, SOURCE, tuple(("+Link", n, str(n)) for n in (10, 9, 1, 0)))
    assert [index for _, index, _ in ad.fields] == [0, 1, 9, 10]
    with pytest.raises(MalformedFactBlock):
        Advertisement(PLEX.text, SOURCE, (("+Link", 10, "a"), ("+Link", 9, "b")))


@given(st.dictionaries(hashes, field_sets, max_size=8))
def test_a_listing_is_read_back(listing: dict[RecordHash, list[tuple[str, int, str]]]) -> None:
    """INT-32, INT-45."""
    ads = [Advertisement.of(record, SOURCE, tuple(fields)) for record, fields in listing.items()]
    facts = parse_block(b"".join(ad.block for ad in ads), BlockPhase.LISTING, 1 << 20)
    assert list(read_advertisements(facts)) == ads
    assert [ad.hash for ad in ads] == list(listing)


@pytest.mark.parametrize(
    "facts",
    [
        [Fact("AdvertisedField", (PLEX.text, SOURCE, "App", "0", "x"))],
        [Fact("Advertised", (PLEX.text, SOURCE)), Fact("AdvertisedField", (PLEX.text, "y", "App", "0", "x"))],
        [Fact("Advertised", (PLEX.text, SOURCE)), Fact("AdvertisedField", (PLEX.text, SOURCE, "App", "00", "x"))],
        [Fact("Advertised", (PLEX.text, SOURCE)), Fact("Advertised", (PLEX.text, "other"))],
        [Fact("Advertised", ("P.short.H3", SOURCE))],
        [Fact("Advertised", ("V" + PLEX.text[1:], SOURCE))],
    ],
)
def test_a_broken_listing_is_refused(facts: list[Fact]) -> None:
    with pytest.raises(MalformedFactBlock):
        list(read_advertisements(facts))


def test_an_unknown_format_may_be_advertised_but_is_no_record_here() -> None:
    """FAC-5, INT-78."""
    ad = Advertisement(PLEX.text.replace(".H3", ".H4"), SOURCE)
    assert ad.hash is None
    assert prefix_of(ad.hash_text) == "e7"


def test_the_tree_of_no_one_two_and_three_leaves() -> None:
    """INT-104, INT-105: padded with empty leaves to a power of two."""
    a, b, c = (bytes([n]) * 32 for n in (1, 2, 3))
    assert merkle_root([]) == EMPTY_ROOT
    assert merkle_root([a]) == leaf(a)
    assert merkle_root([b, a]) == node(leaf(a), leaf(b))
    assert merkle_root([c, a, b]) == node(node(leaf(a), leaf(b)), node(leaf(c), EMPTY_ROOT))


@given(digests, st.randoms())
def test_a_root_does_not_depend_on_the_order_of_listing(values: list[bytes], random: object) -> None:
    """H-7: digests are sorted before they become leaves."""
    shuffled = values[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merkle_root(shuffled) == merkle_root(values)


@given(hashes, st.integers(1, 43))
def test_a_partition_is_the_start_of_the_payload(record: RecordHash, length: int) -> None:
    """INT-101, INT-103: type prefix and suffix play no part; a child adds one character."""
    assert prefix_of(record, length) == prefix_of(record.text, length) == record.text[2:45][:length]
    assert prefix_of(RecordHash("S", record.digest), length) == prefix_of(RecordHash("B", record.digest), length)


@given(st.sets(hashes, max_size=30))
def test_summaries_count_and_root_what_is_listed(records: set[RecordHash]) -> None:
    """INT-47, INT-48, INT-102: two characters, one summary for each partition that holds anything."""
    ads = [Advertisement.of(record, SOURCE) for record in records]
    summaries = summarise(partitions(ads))
    assert sum(summary.count for summary in summaries.values()) == len(records)
    assert list(summaries) == sorted({record.text[2:4] for record in records})
    for prefix, summary in summaries.items():
        inside = [ad.digest for ad in ads if ad.hash_text[2:4] == prefix]
        assert (summary.count, summary.root) == (len(inside), merkle_root(inside))
        assert Summary.from_fact(summary.to_fact()) == summary


@pytest.mark.parametrize(
    "args",
    [
        ("", "1", b64a.encode(EMPTY_ROOT)),
        ("a-", "1", b64a.encode(EMPTY_ROOT)),
        ("aa", "0", b64a.encode(EMPTY_ROOT)),
        ("aa", "01", b64a.encode(EMPTY_ROOT)),
        ("aa", "-1", b64a.encode(EMPTY_ROOT)),
        ("aa", "1", "abc"),
        ("aa", "1", b64a.encode(EMPTY_ROOT)[:-1] + "-"),
        ("a" * 44, "1", b64a.encode(EMPTY_ROOT)),
    ],
)
def test_a_malformed_summary_aborts(args: tuple[str, str, str]) -> None:
    """INT-148."""
    block = format_block([Fact("AdvertisementPartition", args)])
    with pytest.raises(MalformedPartitionSummary):
        Summary.from_fact(parse_block(block, BlockPhase.ADVERTISE, 1000)[0])
