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
_VECTOR = blake3(b"lace-chunks-vector/0").digest(16 * _MIB)
_CUTS = """
18811 62892 184374 220326 329080 372805 506420 628555 677276 694601 916635 1028835 1099414 1263886 1343111 1419046
1517451 1607333 1699538 1805071 1967453 2017228 2085049 2192316 2210817 2279508 2299000 2344670 2439297 2482177
2615528 2665416 2726710 2769762 2845017 2982278 3137370 3292432 3393251 3461802 3483005 3553494 3575514 3606207
3677775 3779272 3900608 4017490 4112570 4159084 4238524 4303644 4366412 4398301 4528677 4601865 4660695 4732646
4820810 4885245 4942188 4993208 5042610 5159592 5316740 5388276 5449579 5524535 5590740 5678699 5699881 5771593
5834406 5939275 6049531 6173348 6217405 6396224 6573338 6641939 6805080 6860344 6908398 6962385 7068571 7087471
7255119 7336812 7390112 7458661 7489131 7627840 7723598 7801175 7828320 7886598 8010468 8092348 8191995 8231181
8323655 8407629 8496104 8624225 8661913 8712479 8796798 8930292 8995352 9081685 9151927 9168391 9340175 9433840
9558606 9632852 9723197 9825466 9915774 9989116 10054541 10120713 10169533 10190994 10332350 10410699 10531036
10628879 10660660 10727185 10819710 10917787 10965061 11093137 11212144 11296311 11474563 11547410 11642431 11660754
11757567 11848813 11939039 12056468 12183015 12251456 12378765 12474471 12540958 12566149 12671368 12739279 12761769
12826553 12898767 12961128 13029750 13102389 13145378 13183367 13265551 13393747 13487525 13567619 13651298 13774983
13929826 14098461 14121708 14141038 14190767 14220971 14292203 14333287 14387152 14405632 14483779 14569705 14633020
14650848 14723286 14793732 14838019 14918523 14985247 15177173 15254300 15273669 15353254 15405099 15433823 15465695
15511829 15550584 15638962 15692373 15765138 15835382 15988807 16058513 16105887 16218661 16286625 16336830 16398836
16438424 16529757 16584328 16604657 16671162 16756163 16777216
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
    assert (top.level, top.size, top.digest) == (2, 16 * _MIB, blake3(_VECTOR).digest())
    below = [objects.part(link.target) for link in top.chunks]
    assert [len(part.chunks) for part in below if isinstance(part, Manifest)] == [76, 31, 105]
    assert record.text == "P.EeQZYNhpCnlfs7HglMBhr4bb5en12tmXfnFEbTQevI4.H3"


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
    assert sum(lengths) / len(lengths) < 96 << 10
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
    assert changed <= sink.new_data < 9 * changed
    assert sink.new_bytes < 10 * changed


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
    content = blake3(b"lace-chunks-levels").digest(12 * _MIB)
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
