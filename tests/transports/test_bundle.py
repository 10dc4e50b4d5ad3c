"""Bundles: form, damage, bombs (docs/formats.md section 3; faults.md rows 7, 13, 14)."""

from __future__ import annotations

import io
import random
import struct
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import pairwise
from typing import BinaryIO, cast

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.w3 import text
from tests.transports.helpers import APP, GROUP, bundle_of, key, plex, records, some_records
from transports.bundles.bundle import BundleReader, Fetched, FrameReads, Near, Slice
from transports.bundles.bundling import BundleWriter, _compressor, write_bundles
from transports.errors import BadBundle, BadRun, PlaceUnreachable
from transports.layout import FRAME_CLOSE, FRAME_FULL, FRAME_RAW_LIMIT
from transports.listing import Listing
from vault.desks.content import data_plex
from vault.profile import DATA_APP
from vault.records.hashes import MARKLINE_BYTES, RecordHash, is_record
from vault.records.model import MAX_BLOB_BYTES, Plex
from vault.records.tai import Tai


def read_all(data: bytes, listing: Listing, wanted: set[RecordHash]) -> list[Fetched]:
    reader = BundleReader(io.BytesIO(data))
    return [item for _, frame in listing.reads(wanted) for item in reader.read_records(frame)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.binary(max_size=2000), max_size=30))
def test_bundles_round_trip(payloads: list[bytes]) -> None:
    stored = records(payloads)
    data, index = bundle_of(stored)
    assert index.size == len(data)
    assert index.digest == blake3(data).digest()
    assert BundleReader(io.BytesIO(data)).verify_all() == index
    listing = Listing([index.run.placed(index.ref(key(1).verifier))])
    assert {item.hash: item.record for item in read_all(data, listing, set(stored))} == stored


def test_frames_of_noise_are_as_small_as_a_cut_may_cost() -> None:
    chance = random.Random(3)
    noise = [chance.randbytes(chance.randrange(15_000, 62_000)) for _ in range(60)]
    data, index = bundle_of(records(noise))
    stored = [size for _, _, size, _ in index.run.frame_rows()]
    assert 20 < len(stored) < 60
    assert all(size < FRAME_FULL + 500 for size in stored[1:])
    assert bundle_of(records(noise))[0] == data  # the same again, so that what was cut can go on


class Failing(io.RawIOBase):
    """A file on a medium of which some bytes cannot be read, and which tells where it was read.

    Args:
        data: what it holds.
        bad: where no byte is given.
        fault: is raised there.
        most: bytes that one look gives at most.
    """

    def __init__(self, data: bytes, bad: range, fault: Exception, most: int) -> None:
        self._data, self._bad, self._fault, self._most = data, bad, fault, most
        self._at = 0
        self.seen: list[range] = []

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        assert whence == io.SEEK_SET
        self._at = offset
        return offset

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._at in self._bad:
            raise self._fault
        end = self._bad.start if self._at < self._bad.start else len(self._data)
        piece = self._data[self._at : min(end, self._at + min(len(buffer), self._most))]
        buffer[: len(piece)] = piece
        self.seen.append(range(self._at, self._at + len(piece)))
        self._at += len(piece)
        return len(piece)


def noisy() -> tuple[bytes, list[FrameReads], dict[RecordHash, bytes]]:
    """Return a bundle of many frames, all that is wanted of them, and its records."""
    chance = random.Random(3)
    stored = records([chance.randbytes(chance.randrange(30_000, 62_000)) for _ in range(40)])
    data, index = bundle_of(stored)
    listing = Listing([index.run.placed(index.ref(key(1).verifier))])
    return data, [frame for _, frame in listing.reads(set(stored))], stored


@pytest.mark.parametrize("most", [1 << 30, 100_000, 700])
def test_frames_that_touch_are_read_together_and_a_medium_that_goes_takes_none_that_came(most: int) -> None:
    """LAZ-72: whatever byte it goes at; and no byte is read twice."""
    data, frames, _ = noisy()
    for bad in (*range(0, len(data), 97_001), len(data)):
        file = Failing(data, range(bad, 1 << 40), PlaceUnreachable("It is gone."), most)
        got: list[Fetched] = []
        with suppress(PlaceUnreachable):
            for found in BundleReader(cast(BinaryIO, io.BufferedReader(file, 8192))).read_frames(frames):
                got += found
        whole = [frame for frame in frames if frame.offset + frame.stored <= bad]
        assert [one.hash for one in got] == [wanted.hash for frame in whole for wanted in frame.slices]
        assert all(one.record is not None and is_record(one.hash, one.record) for one in got)
        assert all(before.stop <= after.start for before, after in pairwise(file.seen))
        if most > len(data) and bad == len(data):
            assert len(file.seen) < len(frames) / 4


@pytest.mark.parametrize("most", [1 << 30, 700])
def test_damage_costs_the_frames_that_it_hit(most: int) -> None:
    """Faults.md row 7: an encrypted file is proven piece by piece, and the rest of it is good."""
    data, frames, stored = noisy()
    first, last = frames[7], frames[8]
    bad = range(first.offset + 10, last.offset + last.stored - 10)
    file = Failing(data, bad, BadBundle("A piece of it is damaged."), most)
    reader = BundleReader(cast(BinaryIO, io.BufferedReader(file, 8192)))
    for frame, found in zip(frames, reader.read_frames(frames), strict=True):
        for one in found:
            is_hit = frame in {first, last}
            assert one.record == (None if is_hit else stored[one.hash])
            assert one.reason == ("A piece of it is damaged." if is_hit else "")


def test_frames_that_are_wanted_here_and_there_are_read_alone() -> None:
    data, frames, stored = noisy()
    some = [frame for number, frame in enumerate(frames) if number % 7 in {0, 3, 4}]
    file = Failing(data, range(1 << 40, 1 << 40), BadBundle(""), 1 << 30)
    reader = BundleReader(cast(BinaryIO, io.BufferedReader(file, 1)))
    got = [one for found in reader.read_frames(some) for one in found]
    assert {one.hash: one.record for one in got} == {
        wanted.hash: stored[wanted.hash] for frame in some for wanted in frame.slices
    }
    assert sum(len(part) for part in file.seen) == sum(frame.stored for frame in some)


def test_a_frame_of_text_of_more_than_128_kib_takes_no_more_bytes_for_it() -> None:
    chance = random.Random(7)
    words = text(1 << 20, chance)
    starts = [chance.randrange(len(words) - 4_000) for _ in range(40)]
    raw = b"".join(b"%d\n" % number + words[at : at + 4_000] for number, at in enumerate(starts))
    stored = _compressor(3).compress(raw)
    assert zstandard.frame_content_size(stored) == len(raw)
    assert zstandard.decompress(stored) == raw
    assert len(stored) < 0.98 * len(zstandard.compress(raw, level=3))


def test_frames_close_at_one_mebibyte_and_are_read_one_by_one() -> None:
    stored = records(bytes([number]) * 400_000 for number in range(9))
    data, index = bundle_of(stored)
    rows = list(index.run.frame_rows())
    assert len(rows) == 4  # the first one shows how well these records compress
    assert all(FRAME_CLOSE <= raw < FRAME_CLOSE + 400_200 for _, _, _, raw in rows[1:-1])
    listing = Listing([index.run.placed(index.ref(key(1).verifier))])
    wanted = sorted(stored)[4]
    (reads,) = listing.locate({wanted})
    assert len(reads.frames) == 1
    assert read_all(data, listing, {wanted}) == [Fetched(wanted, stored[wanted])]


def test_the_largest_record_fits_behind_a_smaller_one() -> None:
    extras = [(f"X{number:03}", "y" * 1000) for number in range(512)]
    large = Plex.build(group="g", app=APP, name="n", tai=Tai.ZERO, extras=extras, data=b"z" * MAX_BLOB_BYTES)
    small = plex(b"q" * 900_000)
    stored = {small.hash: small.encode(), large.hash: large.encode()}
    data, index = bundle_of(stored)
    assert all(raw <= FRAME_RAW_LIMIT for _, _, _, raw in index.run.frame_rows())
    assert BundleReader(io.BytesIO(data)).verify_all() == index


def test_every_truncation_and_change_of_a_bundle_is_noticed() -> None:
    # faults.md row 7
    data, _ = bundle_of(some_records(4))
    for position in range(len(data)):
        changed = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        for damaged in (data[:position], changed):
            with pytest.raises((BadBundle, BadRun)):
                BundleReader(io.BytesIO(damaged)).verify_all()
    with pytest.raises(BadBundle):
        BundleReader(io.BytesIO(data + b"x")).verify_all()


@pytest.mark.parametrize(
    ("magic", "first"),
    [(b"LACEBND1", b"lace-list/0\n"), (b"LACEBND0", b"lace-run/1\n"), (b"LACEBND0", b"lace-run/0\n")],
)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_our_own_error(magic: bytes, first: bytes, body: bytes) -> None:
    """CYB-17, faults.md row 7: as a file, between magic and end, and as what a right footer points to."""
    for data in (body, magic + body, magic + body + b"LACEEND0"):
        with pytest.raises((BadBundle, BadRun)):
            BundleReader(io.BytesIO(data))._index()
    for index in (body, zstandard.compress(first + body), zstandard.compress(first + b"app lace/data\n\n" + body)):
        data = magic + index + struct.pack("<QI", len(magic), len(index))
        with suppress(BadBundle, BadRun):
            BundleReader(io.BytesIO(data + blake3(data).digest() + b"LACEEND0")).verify_all()


def test_a_footer_that_skips_bytes_is_refused() -> None:
    data, index = bundle_of(some_records(2))
    ((_, _, stored, _),) = index.run.frame_rows()
    start = 8 + stored
    body = data[:start] + b"hidden" + data[start:-52]
    body += struct.pack("<QI", start + 6, len(data) - 52 - start)
    with pytest.raises(BadBundle):
        BundleReader(io.BytesIO(body + blake3(body).digest() + b"LACEEND0"))._index()


def test_bombs_in_frames_cost_nothing() -> None:
    # faults.md row 14
    wanted = plex(b"x").hash
    raw = bytes(FRAME_RAW_LIMIT + 1)
    bombs = [
        zstandard.compress(raw),
        zstandard.ZstdCompressor(write_content_size=False).compress(raw),
        b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd",
        b"",
        zstandard.compress(b"short"),
    ]
    for bomb in bombs:
        tracemalloc.start()
        reads = FrameReads(0, len(bomb), FRAME_RAW_LIMIT, (Slice(wanted, 0, 100),))
        (item,) = BundleReader(io.BytesIO(bomb)).read_records(reads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert item.record is None
        assert item.reason
        assert peak < 2 << 20
    huge = FrameReads(0, 1 << 31, 100, (Slice(wanted, 0, 100),))
    (item,) = BundleReader(io.BytesIO(b"")).read_records(huge)
    assert item.record is None


def test_a_record_with_a_wrong_hash_is_never_handed_out() -> None:
    good, other = plex(b"good"), plex(b"other")
    raw = other.encode() + good.hash.markline + other.encode()[56:]
    frame = zstandard.compress(raw)
    size = len(other.encode())
    slices = (
        Slice(good.hash, 0, size),
        Slice(good.hash, size, len(raw) - size),
        Slice(other.hash, 0, size - 1),
        Slice(other.hash, len(raw) + 5, size),
        Slice(RecordHash("S", other.hash.digest), 0, size),
        Slice(other.hash, 0, size),
    )
    reader = BundleReader(io.BytesIO(frame))
    got = [item for one in slices for item in reader.read_records(FrameReads(0, len(frame), len(raw), (one,)))]
    assert [item.record for item in got] == [None] * 5 + [other.encode()]
    assert is_record(good.hash, good.encode())
    assert not is_record(good.hash, good.encode()[:-1])


def test_records_that_lie_within_each_other_are_refused_before_they_are_read() -> None:
    """DWN-67: each is right, and some kilobytes of them would take gigabytes of memory."""
    raw, slices = bytes(1000), []
    for _ in range(20):
        record = RecordHash.of("S", raw)
        raw = record.markline + raw
        slices.append(Slice(record, -len(raw), len(raw)))
    frame = zstandard.compress(raw)
    within = tuple(one._replace(offset=len(raw) + one.offset) for one in slices)
    assert all(is_record(one.hash, raw[one.offset :]) for one in within)
    reader = BundleReader(io.BytesIO(frame))
    got = reader.read_records(FrameReads(0, len(frame), len(raw), within))
    assert [(item.record, "overlap" in item.reason) for item in got] == [(None, True)] * len(within)
    assert [item.record for item in reader.read_records(FrameReads(0, len(frame), len(raw), within[:1]))] == [
        raw[within[0].offset :]
    ]


def test_the_writer_takes_no_bytes_of_another_record() -> None:
    writer = BundleWriter(io.BytesIO())
    assert not writer.add(plex(b"a").hash, APP, plex(b"b").encode())
    with pytest.raises(BadBundle):
        writer.add(plex(b"a").hash, APP, b"")
    writer.finish()
    with pytest.raises(BadBundle):
        writer.add(plex(b"a").hash, APP, plex(b"a").encode())
    assert writer.finish() is writer.finish()


@pytest.mark.parametrize("after", [0, 1])
def test_whichever_byte_of_a_record_rotted_its_reader_gets_the_record_or_nothing(after: int) -> None:
    """REC-5: of content, what its reader computes anew does not travel, rotten or whole."""
    content, before = data_plex(GROUP, b"some content"), data_plex(GROUP, b"what came before")
    good, taken = content.encode(), 0
    for at in range(len(good)):
        file = io.BytesIO()
        writer = BundleWriter(file)
        for _ in range(after):
            assert writer.add(before.hash, DATA_APP, before.encode())
        if not writer.add(content.hash, DATA_APP, good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]):
            continue
        taken += 1
        index = writer.finish()
        reader = BundleReader(io.BytesIO(file.getvalue()))
        reads = Listing([index.run.placed(index.ref(key(1).verifier))]).reads({content.hash})
        assert [item.record for _, frame in reads for item in reader.read_records(frame)] == [good]
    assert taken == 43 * after  # the digits of the digest between


@pytest.mark.parametrize("is_near", [False, True])
def test_what_rotted_does_not_travel_where_records_travel_whole_either(is_near: bool) -> None:
    """REC-5: beside noise, or as a difference, the digits between went as they lay, and its reader got no record."""
    chance = random.Random(2)
    words = chance.randbytes(600).hex().encode()
    content, before, base = (data_plex(GROUP, data) for data in (words, b"what came before", words + words[::-1]))
    noise = data_plex(GROUP, chance.randbytes(60_000))
    near = Near((base.hash,), base.encode()) if is_near else None
    rotten = bytearray(content.encode())
    rotten[rotten.index(b"B.", MARKLINE_BYTES) + 20] ^= 1
    file = io.BytesIO()
    writer = BundleWriter(file)
    assert writer.add(before.hash, DATA_APP, before.encode())
    assert writer.add(content.hash, DATA_APP, bytes(rotten), near)
    if not is_near:
        assert writer.add(noise.hash, DATA_APP, noise.encode())
    index = writer.finish()
    reader = BundleReader(io.BytesIO(file.getvalue()), {base.hash: base.encode()}.get)
    reads = Listing([index.run.placed(index.ref(key(1).verifier))]).reads({content.hash})
    assert [item.record for _, frame in reads for item in reader.read_records(frame)] == [content.encode()]


def test_bundles_split_at_their_limit() -> None:
    stored = records(random.Random(number).randbytes(300_000) for number in range(12))
    files: list[io.BytesIO] = []

    @contextmanager
    def open_bundle() -> Iterator[BundleWriter]:
        files.append(io.BytesIO())
        yield BundleWriter(files[-1], limit=1_000_000)

    indexes = write_bundles(open_bundle, ((h, APP, data) for h, data in stored.items()), set())
    assert len(indexes) == len(files) > 3
    assert all(len(file.getvalue()) <= 1_000_000 for file in files)
    assert {entry.hash for index in indexes for entry in index.run} == set(stored)
    assert write_bundles(open_bundle, [], set()) == []


def some_text(count: int) -> dict[RecordHash, bytes]:
    chance = random.Random(11)
    words = text(1 << 20, chance)
    return records(bytes(words[at : at + 9_000]) for at in (chance.randrange(len(words) - 9_000) for _ in range(count)))


def test_a_thread_that_compresses_changes_no_byte() -> None:
    stored = {**some_text(400), **records(random.Random(5).randbytes(50_000) for _ in range(6)), **some_records(2_000)}
    files: list[io.BytesIO] = []
    names: set[str] = set()

    @contextmanager
    def open_bundle() -> Iterator[BundleWriter]:
        files.append(io.BytesIO())
        yield BundleWriter(files[-1])
        names.update(thread.name for thread in threading.enumerate() if thread.name.startswith("lace-frames"))

    (index,) = write_bundles(open_bundle, ((h, APP, data) for h, data in stored.items()), set())
    assert names  # there was one
    assert not any(thread.name.startswith("lace-frames") for thread in threading.enumerate())
    data, alone = bundle_of(stored)
    assert files[0].getvalue() == data
    assert index == alone


def noting(ended: list[Exception]) -> Callable[[], AbstractContextManager[BundleWriter]]:
    """Return what opens a bundle, and notes what it ended with before its time."""

    @contextmanager
    def open_bundle() -> Iterator[BundleWriter]:
        try:
            yield BundleWriter(io.BytesIO())
        except Exception as fault:
            ended.append(fault)
            raise

    return open_bundle


def test_what_fails_in_the_thread_is_heard_and_leaves_no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    smallest = BundleWriter._smallest
    ended: list[Exception] = []

    def failing(writer: BundleWriter, raw: bytes) -> bytes:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError
        return smallest(writer, raw)

    monkeypatch.setattr(BundleWriter, "_smallest", failing)
    with pytest.raises(MemoryError):
        write_bundles(noting(ended), ((h, APP, data) for h, data in some_text(800).items()), set())
    assert [type(fault) for fault in ended] == [MemoryError]
    assert not any(thread.name.startswith("lace-frames") for thread in threading.enumerate())


def test_a_failing_source_leaves_no_bundle() -> None:
    ended: list[Exception] = []

    good = plex(b"a")
    with pytest.raises(BadBundle):
        write_bundles(noting(ended), [(good.hash, APP, good.encode()), (plex(b"b").hash, APP, b"")], set())
    assert [type(fault) for fault in ended] == [BadBundle]
