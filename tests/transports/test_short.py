"""Records that travel as their bodies alone, and bundles of the former form (docs/formats.md section 3)."""

from __future__ import annotations

import io
import struct
import tracemalloc
from collections.abc import Sequence
from contextlib import nullcontext

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.helpers import GROUP, bundle_of, key, some_records
from transports.bundles.bundle import BundleReader, FrameReads, Near, Slice
from transports.bundles.bundling import BundleWriter
from transports.bundles.contents import BundleList, ListedFrame, Row, read_list
from transports.bundles.short import read_parts, shortened, shortest
from transports.errors import BadBundle
from transports.index.runfile import decode_run, encode_run, planes
from transports.index.runs import ENTRY
from transports.layout import FRAME_RAW_LIMIT
from transports.listing import Listing
from vault.desks.content import data_plex, tree_plex
from vault.profile import DATA_APP, TREE_APP
from vault.records import Plex, Seal, Tai, b64a
from vault.records.hashes import RecordHash, is_record

PAGE = b"lace-tree/0 0\n"


def content(data: bytes, group: str = GROUP) -> bytes:
    return data_plex(group, data).encode()


def sealed(number: int) -> Seal:
    plex = Plex.build(group=GROUP, app="lace/commit", name="main", tai=Tai(number), data=b"message %d" % number)
    return Seal.sign(plex, key(1))


def record_of(kind: str, body: bytes) -> Plex | Seal:
    if kind == "s":
        return sealed(len(body))
    return data_plex(GROUP, body) if kind == "d" else tree_plex(GROUP, body)


def again(stored: Sequence[bytes]) -> list[bytes]:
    parts = [shortest(record) for record in stored]
    said = shortened(parts)
    assert said is not None
    found, rest = read_parts(memoryview(said + b"".join(part.body for part in parts)), BadBundle, FRAME_RAW_LIMIT)
    assert found.whole_bytes == sum(map(len, stored))
    return [record for record, _ in found.all(rest)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("dts"), st.binary(max_size=3000)), min_size=1, max_size=20))
def test_what_was_shortened_is_made_again_byte_for_byte(kinds: list[tuple[str, bytes]]) -> None:
    # CLAY-37, REC-83
    stored = [content(b"one at least"), *(record_of(kind, body).encode() for kind, body in kinds)]
    assert again(stored) == stored
    assert sum(len(shortest(record).body) for record in stored) < sum(map(len, stored))


def test_only_what_follows_from_the_body_is_left_out() -> None:
    good = content(b"hello")
    assert shortest(good).body == b"hello"
    name = good.index(b"Name: ") + 6
    others = [
        Plex.build(group=GROUP, app=DATA_APP, name="x", tai=Tai.ZERO, data=b"hello"),
        Plex.build(group=GROUP, app="lace/other", name=good[name : name + 43].decode(), tai=Tai.ZERO, data=b"hello"),
        Plex.build(group=GROUP, app=DATA_APP, name=good[name : name + 43].decode(), tai=Tai(1), data=b"hello"),
        Plex.build(
            group=GROUP,
            app=DATA_APP,
            name=good[name : name + 43].decode(),
            tai=Tai.ZERO,
            extras=[("X", "y")],
            data=b"hello",
        ),
        Plex.build(group=GROUP, app=DATA_APP, name=b64a.encode(blake3(b"").digest()), tai=Tai.ZERO, data=b"hello"),
    ]
    for plex in others:
        assert shortest(plex.encode()).is_whole
    assert shortest(sealed(1).encode()).is_whole
    assert shortened([shortest(sealed(1).encode())]) is None


def test_records_of_two_groups_are_not_shortened_together() -> None:
    parts = [shortest(content(b"a")), shortest(content(b"b", "others/0123456789abcdef"))]
    assert shortened(parts) is None


def test_a_bundle_carries_no_digest_that_its_reader_can_compute() -> None:
    seals = [sealed(number) for number in range(3)]
    plexes = [data_plex(GROUP, b"file %d " % number * 30) for number in range(50)]
    page = tree_plex(GROUP, PAGE)
    everything: list[Plex | Seal] = [*seals, page, *plexes]
    stored = {record.hash: record.encode() for record in everything}
    file = io.BytesIO()
    writer = BundleWriter(file)
    for record in everything:
        app = record.plex.app if isinstance(record, Seal) else record.app
        writer.add(record.hash, app, record.encode())
    index = writer.finish()
    data = file.getvalue()
    ((_, offset, size, _),) = index.run.frame_rows()
    held = data[offset : offset + size]
    start = held.index(b"\x28\xb5\x2f\xfd")
    held = zstandard.ZstdDecompressor().decompress(held[start:])
    for plex in plexes:
        assert plex.blob.data in held
        assert not any(digest in held for digest in (plex.hash.markline, plex.blob.hash.markline, plex.name.encode()))
    assert BundleReader(io.BytesIO(data)).verify_all() == index
    assert {entry.hash: entry.app for entry in index.run}[page.hash] == TREE_APP
    listing = Listing([index.run.placed(index.ref(key(1).verifier))])
    for wanted in ({plexes[7].hash}, set(stored)):
        reader = BundleReader(io.BytesIO(data))
        found = {item.hash: item.record for _, frame in listing.reads(wanted) for item in reader.read_records(frame)}
        assert found == {record: stored[record] for record in wanted}


def test_a_changed_byte_of_a_short_frame_never_gives_another_record() -> None:
    # REC-5; faults.md row 7
    plexes = [data_plex(GROUP, b"file %d" % number) for number in range(3)]
    file = io.BytesIO()
    writer = BundleWriter(file)
    everything: list[Plex | Seal] = [*plexes, sealed(1)]
    for record in everything:
        writer.add(record.hash, DATA_APP, record.encode())
    index = writer.finish()
    data = file.getvalue()
    (reads,) = Listing([index.run.placed(index.ref(key(1).verifier))]).locate({plex.hash for plex in plexes})
    (frame,) = reads.frames
    lost = 0
    for at in range(frame.offset, frame.offset + frame.stored):
        for flip in (1, 0x80):
            changed = bytearray(data)
            changed[at] ^= flip
            for item in BundleReader(io.BytesIO(changed)).read_records(frame):
                assert item.record is None or is_record(item.hash, item.record)
                lost += item.record is None
            with pytest.raises(BadBundle):
                BundleReader(io.BytesIO(changed)).verify_all()
    assert lost > frame.stored


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x05abc",
        b"\x01g",
        b"\x01g\x00",
        b"\x01g\x01\x07",  # an unknown form
        b"\x01g\x01\x00",  # a whole record of no bytes
        b"\x01g\x01\x04" + b"x",  # a whole record of less than a markline
        b"\x01g\x01\x81\x00",  # not the shortest form of a number
        b"\x01g\x01\xff\xff\xff\xff\x7f",  # more than a frame may hold
        b"\x01g\x01\xff\xff\xff\xff\xff\x01",
        b"\x01g\xff\xff\xff\x7f\x05",
        b"\x01g\x02" + b"\xfd\xff\xff\x3f" * 2,
    ],
)
def test_what_says_nothing_sensible_is_refused_before_memory_is_taken(said: bytes) -> None:
    with pytest.raises(BadBundle):
        read_parts(memoryview(said), BadBundle, FRAME_RAW_LIMIT)


def test_records_that_travel_as_nothing_count_as_what_they_are_made_to() -> None:
    # CYB-17: two million of them in two million bytes, of which each would take room here
    said = b"\x01g\x80\x89\x7a" + b"\x01" * 2_000_000
    tracemalloc.start()
    try:
        with pytest.raises(BadBundle, match="more bytes than they may"):
            read_parts(memoryview(said), BadBundle, FRAME_RAW_LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_short_frame_of_another_size_than_it_says_is_refused() -> None:
    plex = data_plex(GROUP, b"x" * 100)
    said = shortened([shortest(plex.encode())]) or b""
    whole = len(plex.encode())
    for body, raw in ((b"x" * 101, whole), (b"x" * 99, whole), (b"x" * 100, whole + 1), (b"x" * 100, whole)):
        frame = b"LACESHT0" + said + zstandard.compress(body)
        reads = FrameReads(0, len(frame), raw, (Slice(plex.hash, 0, whole),))
        (item,) = BundleReader(io.BytesIO(frame)).read_records(reads)
        assert (item.record == plex.encode()) == (len(body) == 100 and raw == whole)


def test_what_rests_on_others_is_named_in_the_list() -> None:
    base, new = data_plex(GROUP, bytes(range(256)) * 40), data_plex(GROUP, bytes(range(256)) * 40 + b"more")
    file = io.BytesIO()
    writer = BundleWriter(file)
    writer.add(sealed(1).hash, "lace/commit", sealed(1).encode())
    writer.add(new.hash, DATA_APP, new.encode(), Near((base.hash,), base.encode()))
    index = writer.finish()
    assert b"LACEDLT0" in file.getvalue()
    assert BundleReader(io.BytesIO(file.getvalue())).verify_all() == index  # with no base in reach


def former_run(data: bytes) -> bytes:
    """Return a run as it was written before its entries stood in columns."""
    raw = zstandard.ZstdDecompressor().decompress(data)
    head, _, columns = raw.partition(b"\n\n")
    count = len(columns) // ENTRY.size
    rows = b"".join(columns[at::count] for at in range(count)) if count else b""
    return zstandard.compress(head.replace(b"lace-run/1", b"lace-run/0") + b"\n\n" + rows)


def test_runs_and_bundles_of_the_former_form_are_read() -> None:
    stored = some_records(30)
    _, index = bundle_of(stored)
    raw = b"".join(stored.values())
    frame = zstandard.compress(raw)
    entries = b""
    offsets = {}
    for record_hash, record in stored.items():
        offsets[record_hash] = (raw.index(record), len(record))
    for record_hash in sorted(stored, key=lambda name: name.digest):
        entries += ENTRY.pack(ord("P"), ord("+"), 0, 0, *offsets[record_hash], record_hash.digest)
    tables = f"lace-run/0\napp {DATA_APP}\nbundle - - - 0\nframe 0 8 {len(frame)} {len(raw)}\n\n"
    run = zstandard.compress(tables.encode() + entries)
    data = b"LACEBND0" + frame + run + struct.pack("<QI", 8 + len(frame), len(run))
    data += blake3(data).digest() + b"LACEEND0"
    found = BundleReader(io.BytesIO(data)).verify_all()
    assert {entry.hash for entry in found.run} == set(stored)
    listing = Listing([found.run.placed(found.ref(key(1).verifier))])
    reader = BundleReader(io.BytesIO(data))
    frames = [frame for _, frame in listing.reads(set(stored))]
    assert {item.hash: item.record for frame in frames for item in reader.read_records(frame)} == stored
    placed = index.run.placed(index.ref(key(1).verifier))
    assert decode_run(former_run(encode_run(placed)[0])) == placed


def listed(*frames: ListedFrame) -> bytes:
    made = BundleList()
    for frame in frames:
        made.add(frame)
    return made.encode()


def test_lists_are_read_as_they_were_written() -> None:
    frames = [
        ListedFrame(10, 20, False, (Row("S", "lace/log", 12), Row("P", DATA_APP, 8))),
        ListedFrame(11, 21, False, ()),
        ListedFrame(12, 22, True, (Row("P", DATA_APP, 22, bytes(range(32))),)),
    ]
    assert list(read_list(listed(*frames))) == frames


@pytest.mark.parametrize(
    "raw",
    [
        b"lace-list/1\n\n",
        b"lace-list/0\nframe 1 1 0\n",
        b"lace-list/0\nframe 1 1\n\n",
        b"lace-list/0\nframe 0 1 0\n\n",
        b"lace-list/0\nframe 1 1 1\n\n",
        b"lace-list/0\nfame 1 1 0\n\n",
        b"lace-list/0\nframe 1 1 0\napp a\n\n",
        b"lace-list/0\napp a\napp a\n\n",
        b"lace-list/0\nframe 1 1 1\n\nP\0\0\1\0\0\0",  # an App that the table does not have
        b"lace-list/0\napp a\nframe 1 1 1\n\nX\0\0\1\0\0\0",
        b"lace-list/0\napp a\nframe 1 1 1\n\nP\0\0\0\0\0\0",
        b"lace-list/0\napp a\nnamed 1 1 1\n\nP\0\0\1\0\0\0" + bytes(31),
        b"lace-list/0\nframe 1 1 99999999\n\n",
        b"lace-list/0\napp a\nframe 1 1 2\n\nPP\0\0\0\0\1\1\0\0\0\0\0\0",  # more rows than bytes
    ],
)
def test_lists_that_break_the_format_are_refused(raw: bytes) -> None:
    with pytest.raises(BadBundle):
        list(read_list(zstandard.compress(raw)))


@pytest.mark.parametrize(
    ("lines", "rows", "is_read"),
    [
        pytest.param([b"app a", b"frame 100 34603008 7100000"], 7_100_000, False, id="one frame of too many"),
        pytest.param([b"app a", *[b"frame 100 1000000 19000"] * 300], 5_700_000, False, id="frames of too many"),
        pytest.param([b"app a", *[b"frame 100 1000000 19000"] * 55], 55 * 19_000, True, id="as many as may be"),
        pytest.param([b"app %06x" % number for number in range(1_390_000)], 0, False, id="Apps"),
    ],
)
def test_a_list_of_kilobytes_costs_less_than_64_mib(lines: list[bytes], rows: int, is_read: bool) -> None:
    """CYB-17, faults.md row 14: each of these took hundreds of MiB before anything of it was compared."""
    body = b"".join(planes(struct.pack("<BHI", ord("P"), 0, 1) * rows, 7))
    bomb = zstandard.compress(b"\n".join([b"lace-list/0", *lines]) + b"\n\n" + body)
    del body
    tracemalloc.start()
    try:
        with nullcontext() if is_read else pytest.raises(BadBundle):
            for _ in read_list(bomb):
                pass
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_list_that_says_another_record_than_its_frame_is_refused() -> None:
    plex = Plex.build(group=GROUP, app=DATA_APP, name="x", tai=Tai.ZERO, data=b"hello")
    stored = plex.encode()
    frame = zstandard.compress(stored)
    size = len(stored)

    def judged(*rows: Row, raw: int = size, is_named: bool = False) -> set[RecordHash]:
        found = listed(ListedFrame(len(frame), raw, is_named, rows))
        data = b"LACEBND1" + frame + found + struct.pack("<QI", 8 + len(frame), len(found))
        data += blake3(data).digest() + b"LACEEND0"
        return {entry.hash for entry in BundleReader(io.BytesIO(data)).verify_all().run}

    assert judged(Row("P", DATA_APP, size)) == {plex.hash}
    for rows in (
        (),
        (Row("S", DATA_APP, size),),
        (Row("P", DATA_APP, size - 1),),
        (Row("P", DATA_APP, size - 1), Row("P", DATA_APP, 1)),
        (Row("P", DATA_APP, size), Row("P", DATA_APP, 1)),
    ):
        with pytest.raises(BadBundle):
            judged(*rows)
    with pytest.raises(BadBundle):
        judged(Row("P", DATA_APP, size), raw=size + 1)
    with pytest.raises(BadBundle):
        judged(Row("P", DATA_APP, size - 1, bytes(32)), is_named=True)
