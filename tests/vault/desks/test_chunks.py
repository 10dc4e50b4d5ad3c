"""Content in chunks: the same cuts for everybody, and hostile manifests (CLAY-35, CLAY-12, REC-27, APP-13)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from pyfastcdc import FastCDC

from tests.vault.desks.support import GROUP
from vault.desks.chunks import MissingObject, check_content, check_here, entry_pieces
from vault.desks.content import data_plex
from vault.desks.cutting import (
    CHUNK_AVERAGE,
    CHUNK_MAX,
    CHUNK_MIN,
    MAX_FILE_BYTES,
    MIN_LINKS,
    ContentWriter,
    add_content,
    is_last_link,
)
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, TreeError, TreeTooLarge
from vault.desks.ports import Source
from vault.desks.tree import read_entry
from vault.profile import MAX_CHUNKS, MAX_DIRECT_BYTES, Chunk, Manifest, ProfileError, read_data
from vault.records import Plex, RecordHash, Tai, b64a, parse_record

_MIB = 1 << 20
_VECTOR = blake3(b"lace-chunks-vector/0").digest(32 * _MIB)
_CUTS = """
62892 220326 372805 507494 643920 694601 849966 1108384 1260286 1489772 1751916 1812041 1963432 2210817 2299000
2424682 2559411 2674709 2726710 2769762 2941679 3100574 3234888 3483005 3620773 3866364 4128508 4270542 4303644
4496266 4660695 4885245 4997984 5260128 5449579 5590740 5753117 5939275 6049531 6197498 6342861 6515848 6744180
6873080 6962385 7214960 7390112 7569331 7786438 7925277 8131931 8231181 8385162 8647306 8712479 8974623 9112879
9168391 9242192 9285635 9350455 9423497 9558606 9820750 9958814 10169533 10431677 10610411 10812855 10960726
11157687 11419831 11474563 11547410 11658823 11863597 12125741 12284741 12391238 12566149 12652746 12761769
12961128 13145378 13280318 13402036 13664180 13880410 14098802 14141038 14190767 14333287 14595431 14650848
14838019 14991430 15253574 15405099 15550584 15692373 15954517 16060169 16105887 16336830 16413071 16584328
16846472 17004500 17137138 17328955 17508494 17754439 18016583 18178843 18355306 18506294 18648443 18910587
19172731 19361370 19404316 19569133 19755842 19891318 20094840 20232120 20367051 20520887 20749651 20962092
21069335 21236856 21427842 21562756 21819160 21937902 22070279 22123359 22284226 22419963 22513694 22555306
22677456 22874086 23084298 23250854 23359454 23512591 23741305 23922974 24118081 24163861 24233746 24472808
24682353 24847026 25109170 25240571 25384103 25543130 25608159 25764280 25925329 26187473 26248901 26391256
26653400 26794662 27038185 27151803 27209707 27357232 27422949 27584272 27656440 27719481 27897203 28115632
28330413 28505270 28647750 28857704 28990882 29204255 29326309 29482277 29596324 29858468 30016598 30168180
30373933 30542591 30804735 30996895 31155880 31289512 31457724 31602889 31856426 32037756 32290448 32552592
32788461 32974452 33030871 33091466 33234617 33398180 33554432
"""


def lengths_of(source: Source, record: RecordHash) -> Iterator[int]:
    """The lengths of the chunks below a manifest, in order."""
    found = source.part(record)
    assert isinstance(found, Manifest)
    for chunk in found.chunks:
        if found.level > 1:
            yield from lengths_of(source, chunk.target)
        else:
            yield chunk.length


def entry_of(record: RecordHash, size: int) -> Entry:
    return Entry("f", "-", size, record, "x")


def manifest(objects: MemoryObjects, chunks: list[Chunk], level: int, content: bytes) -> RecordHash:
    """Add a manifest as somebody might write it, true or not."""
    plex = Manifest.to_plex(group=GROUP, digest=blake3(content).digest(), level=level, chunks=chunks)
    objects.add(plex)
    return plex.hash


def chunk(objects: MemoryObjects, content: bytes) -> Chunk:
    return Chunk(len(content), add_content(GROUP, content, objects))


# What is made


def test_the_cuts_are_those_of_docs_formats() -> None:
    # CLAY-35, docs/formats.md section 2: other parameters would give other records for equal content.
    objects = MemoryObjects()
    record = add_content(GROUP, _VECTOR, objects)
    assert list(accumulate(lengths_of(objects, record))) == [int(cut) for cut in _CUTS.split()]
    top = objects.part(record)
    assert isinstance(top, Manifest)
    assert (top.level, top.size, top.digest) == (2, 32 * _MIB, blake3(_VECTOR).digest())
    below = [objects.part(link.target) for link in top.chunks]
    assert [len(part.chunks) for part in below if isinstance(part, Manifest)] == [100, 85, 24]
    assert record.text == "P.KUmULHHCQ4S5vaHwfzKx5bSo86CFQUGxc0CkwsdfQ~p.H3"


def test_equal_chunks_fill_manifests_to_the_last_link() -> None:
    # docs/formats.md section 2: 500 links at most, also where no hash ends a manifest.
    objects = MemoryObjects()
    record = add_content(GROUP, bytes(256 * _MIB), objects)
    top = objects.part(record)
    assert isinstance(top, Manifest)
    assert (top.level, [link.length for link in top.chunks]) == (2, [MAX_CHUNKS * CHUNK_MAX] * 2 + [24 * CHUNK_MAX])
    assert record.text == "P.9bOQfQ_LnybeVEXVILjE1uR0hV1cP2pJGFGhfBMu8zO.H3"
    assert len(objects) == 4, "one chunk, two manifests that list it, and the one above"


@pytest.mark.parametrize("size", [0, 1, MAX_DIRECT_BYTES - 1, MAX_DIRECT_BYTES, MAX_DIRECT_BYTES + 1, 700_000])
def test_content_up_to_256_kib_is_one_record_and_above_it_a_manifest(size: int) -> None:
    # CLAY-12, CLAY-35
    objects = MemoryObjects()
    content = _VECTOR[:size]
    record = add_content(GROUP, content, objects)
    found = objects.part(record)
    assert isinstance(found, Manifest) == (size > MAX_DIRECT_BYTES)
    if size <= MAX_DIRECT_BYTES:
        assert record == data_plex(GROUP, content).hash
    assert objects.content(record) == read_entry(objects, entry_of(record, size))
    assert b"".join(objects.pieces(record) or ()) == content
    check_here(objects, entry_of(record, size))
    for plex in objects:
        assert parse_record(plex.encode()) == plex
        value = read_data(plex)
        assert blake3(objects.content(plex.hash) or b"").digest() == value.digest


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 3 * _MIB),
    st.integers(0, 2**32),
    st.lists(st.integers(1, 1_500_000), max_size=30),
    st.sampled_from([MAX_DIRECT_BYTES + 1, 300_001, 4 * _MIB]),
)
def test_how_the_bytes_arrive_changes_nothing(size: int, seed: int, steps: list[int], window: int) -> None:
    # CLAY-12: equal content is one record, whoever makes it and however; windows are as the published algorithm.
    content = random.Random(seed).randbytes(size) if seed % 5 else bytes(size)
    whole, parts = MemoryObjects(), MemoryObjects()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vault.desks.cutting._WINDOW", window)
        writer = ContentWriter(GROUP, parts)
        at = 0
        for step in steps:
            writer.add(content[at : at + step])
            at += step
        writer.add(content[at:])
        made = writer.finish()
        check_content(parts, entry_of(made, size), bytes)
    assert made == add_content(GROUP, content, whole)
    assert {plex.hash for plex in parts} == {plex.hash for plex in whole}
    assert writer.size == size
    if size > MAX_DIRECT_BYTES:
        at_once = FastCDC(CHUNK_AVERAGE, min_size=CHUNK_MIN, max_size=CHUNK_MAX, normalized_chunking=1, seed=0)
        assert list(lengths_of(parts, made)) == [chunk.length for chunk in at_once.cut_buf(content)]


def test_limits_of_every_record_hold() -> None:
    # REC-27, docs/formats.md section 2
    objects = MemoryObjects()
    record = add_content(GROUP, random.Random(3).randbytes(48 * _MIB), objects)
    for plex in objects:
        value = read_data(plex)
        if isinstance(value, Manifest):
            assert len(value.chunks) <= MAX_CHUNKS
            assert len(plex.encode()) < 64 << 10
        else:
            assert len(value.content) <= CHUNK_MAX
    lengths = list(lengths_of(objects, record))
    assert min(lengths[:-1]) >= CHUNK_MIN
    assert sum(lengths) / len(lengths) < 192 << 10
    assert MIN_LINKS**8 * CHUNK_MIN >= MAX_FILE_BYTES


def test_a_manifest_ends_at_the_links_that_the_formats_say() -> None:
    # CLAY-35, docs/formats.md section 2: at least its 16th, of a digest that begins with a byte below 4
    low, high = (Chunk(1, RecordHash("P", bytes([byte]) + bytes(31))) for byte in (3, 4))
    assert [is_last_link(number, low) for number in (1, 15, 16, 17, 499)] == [False, False, True, True, True]
    assert not any(is_last_link(number, high) for number in (1, 15, 16, 17, 499))


class _Counting:
    """A sink that counts what is new in it."""

    def __init__(self) -> None:
        self.known: set[RecordHash] = set()
        self.new_bytes = 0
        self.new_data = 0

    def add(self, plex: Plex, /) -> None:
        if plex.hash not in self.known:
            self.known.add(plex.hash)
            self.new_bytes += len(plex.encode())
            self.new_data += len(plex.blob.data)


def test_a_large_file_changed_in_few_places_adds_only_what_changed() -> None:
    # CLAY-35, performance W3: 100 MiB, 1 % changed in 64 places.
    source = random.Random(5)
    content = bytearray(source.randbytes(100 * _MIB))
    sink = _Counting()
    writer = ContentWriter(GROUP, sink)
    writer.add(bytes(content))
    first = writer.finish()
    assert sink.new_data == len(content)
    sink.new_bytes = sink.new_data = 0
    for _ in range(64):
        at = source.randrange(len(content) - 16_384)
        content[at : at + 16_384] = source.randbytes(16_384)
    writer = ContentWriter(GROUP, sink)
    writer.add(bytes(content))
    assert writer.finish() != first
    changed = 64 * 16_384
    # Whole chunks: how little of them rests in the vault and travels is another matter (CLAY-37, test_deltas).
    assert changed <= sink.new_data < 12 * changed
    assert sink.new_bytes < 13 * changed


def test_bytes_put_in_at_the_start_move_nothing_behind_them() -> None:
    # CLAY-35: cuts depend on content and not on position, on every level.
    sink = _Counting()
    content = random.Random(6).randbytes(32 * _MIB)
    for version in (content, b"a new first line\n" + content):
        sink.new_bytes = 0
        writer = ContentWriter(GROUP, sink)
        writer.add(version)
        writer.finish()
    assert sink.new_bytes < 300_000


def test_a_file_beyond_the_limit_is_refused() -> None:
    writer = ContentWriter(GROUP, MemoryObjects())
    writer.size = MAX_FILE_BYTES
    with pytest.raises(TreeTooLarge, match="at most 16 TiB"):
        writer.add(b"1")


# What is read


def test_small_content_may_not_come_as_a_manifest_nor_large_content_whole() -> None:
    # CLAY-12: one content, one record.
    objects = MemoryObjects()
    link = chunk(objects, b"small")
    record = manifest(objects, [link], 1, b"small")
    for read in (objects.content, objects.pieces, lambda hash_: entry_pieces(objects, entry_of(hash_, 5))):
        with pytest.raises(TreeError, match="no manifest is for"):
            read(record)
    large = Plex.build(
        group=GROUP,
        app="lace/data",
        name=b64a.encode(blake3(_VECTOR[: MAX_DIRECT_BYTES + 1]).digest()),
        tai=Tai.ZERO,
        data=_VECTOR[: MAX_DIRECT_BYTES + 1],
    )
    with pytest.raises(ProfileError, match="a manifest must"):
        read_data(large)


def test_a_manifest_that_lies_gives_an_error_before_wrong_bytes_count() -> None:
    # APP-13: lengths, levels and digest are compared whoever wrote the manifest.
    objects = MemoryObjects()
    content = _VECTOR[: 8 * 50_000]
    links = [chunk(objects, content[at : at + 50_000]) for at in range(0, len(content), 50_000)]
    good = manifest(objects, links, 1, content)
    assert objects.content(good) == content
    longer = [*links[:-1], Chunk(50_001, links[-1].target)]
    lies = {
        "a longer chunk": manifest(objects, longer, 1, content),
        "another digest": manifest(objects, links, 1, content + b"1"),
        "chunks above their level": manifest(objects, links, 2, content),
        "a manifest for a chunk": manifest(objects, [Chunk(len(content), good)], 1, content),
        "a level left out": manifest(objects, [Chunk(len(content), good)], 3, content),
        "another length below": manifest(objects, [Chunk(len(content) - 1, good)], 2, content),
    }
    for what, record in lies.items():
        top = objects.part(record)
        assert isinstance(top, Manifest)
        with pytest.raises(TreeError):
            objects.content(record)
        with pytest.raises(TreeError):
            list(entry_pieces(objects, entry_of(record, top.size)))
        if what != "another digest":
            with pytest.raises(TreeError):
                check_here(objects, entry_of(record, top.size))
        with pytest.raises(TreeError, match="where its tree says"):
            entry_pieces(objects, entry_of(record, top.size + 1))


def test_what_is_not_here_is_named() -> None:
    # FAC-30: lost content is a named hole.
    objects = MemoryObjects()
    record = add_content(GROUP, _VECTOR, objects)
    top = objects.part(record)
    assert isinstance(top, Manifest)
    for lost in (top.chunks[1].target, objects.part(top.chunks[2].target).chunks[3].target):  # type: ignore[union-attr]
        some = MemoryObjects()
        for plex in objects:
            if plex.hash != lost:
                some.add(plex)
        for read in (
            lambda: some.content(record),  # noqa: B023 - called here
            lambda: check_here(some, entry_of(record, len(_VECTOR))),  # noqa: B023
            lambda: list(some.pieces(record) or ()),  # noqa: B023
        ):
            with pytest.raises(MissingObject) as found:
                read()
            assert found.value.record == lost
    assert MemoryObjects().pieces(record) is None
    assert MemoryObjects().content(record) is None
    with pytest.raises(MissingObject):
        check_here(MemoryObjects(), entry_of(record, len(_VECTOR)))


class _Watched(MemoryObjects):
    """Counts what is asked of it."""

    asked = 0

    def part(self, record: RecordHash, /) -> bytes | Manifest | None:
        self.asked += 1
        return super().part(record)


def test_a_small_bomb_is_measured_before_it_goes_off() -> None:
    # Eight levels of 500 links to the same record: a few kilobytes that claim exabytes.
    objects = _Watched()
    link = chunk(objects, bytes(CHUNK_MAX))
    for level in range(1, 9):
        record = manifest(objects, [link] * MAX_CHUNKS, level, b"")
        link = Chunk(link.length * MAX_CHUNKS, record) if level < 5 else Chunk(link.length, record)
    objects.asked = 0
    top = objects.part(record)
    assert isinstance(top, Manifest)
    assert top.size > MAX_FILE_BYTES
    for size in (4, top.size):
        with pytest.raises(TreeError):
            entry_pieces(objects, entry_of(record, size))
        with pytest.raises(TreeError):
            check_here(objects, entry_of(record, size))
    with pytest.raises(TreeError):
        objects.content(record)
    with pytest.raises(TreeTooLarge):
        read_entry(objects, entry_of(record, top.size))
    assert objects.asked < 10


def test_content_of_more_than_32_mib_is_never_one_piece() -> None:
    objects = MemoryObjects()
    record = add_content(GROUP, bytes(33 * _MIB), objects)
    with pytest.raises(TreeTooLarge):
        objects.content(record)
    with pytest.raises(TreeTooLarge):
        read_entry(objects, entry_of(record, 33 * _MIB))
    assert sum(map(len, objects.pieces(record) or ())) == 33 * _MIB


def test_content_cut_in_another_way_is_not_the_record_of_that_content() -> None:
    # CLAY-12: else equal content would have as many records as there are ways to cut it.
    objects = MemoryObjects()
    good = add_content(GROUP, _VECTOR, objects)
    taken: list[bytes | memoryview] = []
    check_content(objects, entry_of(good, len(_VECTOR)), taken.append)
    assert b"".join(taken) == _VECTOR
    links = [chunk(objects, _VECTOR[at : at + CHUNK_MAX]) for at in range(0, len(_VECTOR), CHUNK_MAX)]
    other = manifest(objects, links, 1, _VECTOR)
    assert objects.content(other) == _VECTOR
    with pytest.raises(TreeError, match="is not cut as such content must be"):
        check_content(objects, entry_of(other, len(_VECTOR)), taken.append)


def test_manifests_that_end_elsewhere_are_not_the_record_of_that_content() -> None:
    # CLAY-12: on every level there is one way only, also where the chunks are right.
    objects = MemoryObjects()
    content = blake3(b"lace-chunks-levels").digest(24 * _MIB)
    good = add_content(GROUP, content, objects)
    top = objects.part(good)
    assert isinstance(top, Manifest)
    assert top.level == 2
    flat: list[Chunk] = []
    for link in top.chunks:
        below = objects.part(link.target)
        assert isinstance(below, Manifest)
        flat += below.chunks

    def above(links: Sequence[Chunk], level: int, start: int = 0) -> Chunk:
        size = sum(link.length for link in links)
        return Chunk(size, manifest(objects, list(links), level, content[start : start + size]))

    half = len(flat) // 2
    middle = sum(link.length for link in flat[:half])
    below = objects.part(top.chunks[0].target)
    assert isinstance(below, Manifest)
    some = above(below.chunks[:9], 1)
    ways = [
        above([above(top.chunks, 2)], 3),  # a level too many
        above([above(flat[:half], 1), above(flat[half:], 1, middle)], 2),  # several in one
        above([some, above(below.chunks[9:], 1, some.length), *top.chunks[1:]], 2),  # one in two
    ]
    for size, record in ways:
        assert size == len(content)
        assert objects.content(record) == content
        with pytest.raises(TreeError, match="is not cut as such content must be"):
            check_content(objects, entry_of(record, len(content)), bytes)
    check_content(objects, entry_of(good, len(content)), bytes)
