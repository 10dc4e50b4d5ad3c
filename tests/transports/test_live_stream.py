"""The frames of a live exchange: what is written is read, and nothing else is (LAZ-70, CYB-17)."""

from __future__ import annotations

import io
import struct
import tracemalloc
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from transports.errors import BadStream
from transports.http import stream
from transports.http.hello import WINDOW, HelloGate, Session, make_hello
from transports.http.pace import Pace
from transports.http.stream import Frame, FrameKind, StreamReader, StreamWriter
from vault.desks.content import data_plex
from vault.records import RecordHash, Seal, Tai
from vault.records.hashes import is_record
from vault.suite import SigningKey

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_NAME = RecordHash("S", b"\x01" * 32)


def body(*, end: bool = True, names: int = 5000, tier: int = 600_000) -> bytes:
    out = io.BytesIO()
    writer = StreamWriter(out.write)
    writer.info(b"{}")
    writer.records([b"one", b"two" * 1000])
    writer.reached(7, b"markmark")
    writer.names([_NAME] * names)
    writer.tier(b"t" * tier)
    writer.outcome(b"[]")
    if end:
        writer.end()
    return out.getvalue()


def read(data: bytes) -> list[Frame]:
    return list(StreamReader(io.BytesIO(data)))


def test_what_is_written_is_read() -> None:
    frames = read(body())
    assert [frame.kind.name for frame in frames] == [
        "INFO",
        "RECORDS",
        "REACHED",
        "NAMES",
        "NAMES",
        "TIER",
        "TIER",
        "OUTCOME",
    ]
    assert (frames[1].records, frames[2].position, frames[2].data) == ((b"one", b"two" * 1000), 7, b"markmark")
    assert sum(len(frame.names) for frame in frames) == 5000
    assert b"".join(frame.data for frame in frames if frame.kind is FrameKind.TIER) == b"t" * 600_000


def short_body(batches: list[list[bytes]]) -> bytes:
    out = io.BytesIO()
    writer = StreamWriter(out.write, takes_short=True)
    for number, batch in enumerate(batches):
        writer.records(batch)
        writer.reached(number, b"markmark")
    writer.end()
    return out.getvalue()


def some_batches() -> list[list[bytes]]:
    words = Random(5)
    lines = [b"line %d of what everybody writes\n" % words.randrange(10**6) for _ in range(40)]
    group = "friends/0123456789abcdef"
    made = [data_plex(group, b"".join(words.sample(lines, 20))) for _ in range(60)]
    whole = Seal.sign(made[0], SigningKey.from_seed(bytes(32))).encode()
    noise = [data_plex(group, words.randbytes(20_000)).encode()]
    return [[whole, *(plex.encode() for plex in made[at : at + 20])] for at in (0, 20, 40)] + [noise, [whole]]


def test_short_records_of_a_body_are_compressed_with_what_went_before() -> None:
    # CLAY-37
    batches = some_batches()
    data = short_body(batches)
    frames = [frame for frame in read(data) if frame.kind is FrameKind.RECORDS]
    assert [list(frame.records) for frame in frames] == batches
    assert [len(frame.hashes) for frame in frames] == [21, 21, 21, 0, 0]
    for frame in frames:
        assert all(name is None or is_record(name, one) for one, name in zip(frame.records, frame.hashes, strict=False))
    plain = io.BytesIO()
    writer = StreamWriter(plain.write)
    for batch in batches[:3]:
        writer.records(batch)
    writer.end()
    assert 2 * len(short_body(batches[:3])) < len(plain.getvalue())


def test_what_came_before_a_cut_of_short_records_is_read() -> None:
    batches = some_batches()
    data = short_body(batches)
    for cut in range(0, len(data), 97):
        came: list[list[bytes]] = []
        with pytest.raises(BadStream):
            came.extend(list(frame.records) for frame in StreamReader(io.BytesIO(data[:cut])) if frame.records)
        assert came == batches[: len(came)]
    assert len(came) > 3


def test_a_changed_byte_among_short_records_is_noticed() -> None:
    # LAZ-70
    batches = some_batches()[:3]
    data = short_body(batches)
    good = {bytes(one) for batch in batches for one in batch}
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 0x10
        came: list[Frame] = []
        with pytest.raises(BadStream):
            came.extend(StreamReader(io.BytesIO(changed)))
        for frame in came:
            for one, name in zip(frame.records, frame.hashes, strict=False):
                assert one in good or name is None or is_record(name, one)


def short_frame(said: bytes, packed: bytes) -> bytes:
    frame = b"s" + struct.pack(">I", len(said) + len(packed)) + said + packed
    return frame + b"e" + struct.pack(">I", 32) + blake3(frame).digest()


@pytest.mark.parametrize(("size", "packed"), [(101, 100), (99, 100), (100, 0), (100, 40_000_000), (1, 40_000_000)])
def test_a_batch_that_holds_another_number_of_bytes_than_it_says_is_refused(size: int, packed: int) -> None:
    said = b"\x01g\x01" + bytes([size * 4 % 128 + 1 | 0x80, size * 4 // 128])
    stream_of = zstandard.ZstdCompressor(level=1).compressobj()
    body = stream_of.compress(bytes(packed)) + stream_of.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    tracemalloc.start()
    with pytest.raises(BadStream):
        read(short_frame(said, body if packed else b""))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_standing_in_short_words_is_half_as_long_and_the_same() -> None:
    """The words are those that docs/formats.md writes down."""
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    words = page.split("The dictionary of `j`")[1].split("```text\n")[1].split("```")[0].replace("\n", "").encode()
    assert stream._WORDS.as_bytes() == words
    said = words[160:900]
    plain, short = io.BytesIO(), io.BytesIO()
    for out, knows in ((plain, False), (short, True)):
        writer = StreamWriter(out.write, knows_words=knows)
        writer.info(said)
        writer.end()
        assert [(frame.kind, frame.data) for frame in read(out.getvalue())] == [(FrameKind.INFO, said)]
    assert 2 * len(short.getvalue()) < len(plain.getvalue())
    assert (
        zstandard.ZstdDecompressor(
            dict_data=zstandard.ZstdCompressionDict(words, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        ).decompress(short.getvalue()[5:-37])
        == said
    )
    broken = bytearray(short.getvalue())
    broken[9] ^= 1
    with pytest.raises(BadStream):
        read(bytes(broken))


def test_a_standing_rests_on_what_both_sides_know() -> None:
    """Only who knows the same reads it; another text is an error, and so is such a frame where nothing was shared."""
    said, shared = Random(1).randbytes(300), Random(1).randbytes(200)
    out = io.BytesIO()
    writer = StreamWriter(out.write, knows_words=True, shared=shared)
    writer.info(said)
    writer.end()
    made = out.getvalue()
    assert len(made) < len(said) - 100
    assert [frame.data for frame in StreamReader(io.BytesIO(made), shared=shared)] == [said]
    for other in (b"", Random(2).randbytes(200), shared[:-1] + b"x", shared + b"x"):
        with pytest.raises(BadStream):
            list(StreamReader(io.BytesIO(made), shared=other))


@pytest.mark.parametrize("size", [1, 16_383, 16_384, 131_068, 131_069, 1 << 20])
def test_noise_goes_as_it_is_and_any_zstd_reads_it(size: int) -> None:
    noise = Random(size).randbytes(size)
    out = io.BytesIO()
    writer = StreamWriter(out.write)
    writer.records([noise])
    writer.end()
    [frame] = read(out.getvalue())
    assert frame.records == (noise,)
    packed = out.getvalue()[5:-37]
    assert len(packed) <= size + 64
    assert zstandard.ZstdDecompressor().decompress(packed, max_output_size=size + 4)[4:] == noise


class _Drips(io.BytesIO):
    """A body that comes in pieces of any size, as from a line."""

    def __init__(self, data: bytes, chance: Random) -> None:
        super().__init__(data)
        self._chance = chance

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        return super().readinto(memoryview(buffer)[: self._chance.choice([1, 3, 700, 16_384, 300_000])])


class _Cut(io.BytesIO):
    """A body whose line breaks after what is here."""

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        came = super().readinto(buffer)
        if not came:
            raise TimeoutError("the line broke")
        return came


def test_all_that_came_before_a_line_broke_is_read() -> None:
    """LAZ-70: more is asked for than the next frame, and nobody waits for it."""
    records = [Random(size).randbytes(size) for size in (60_000, 1, 200_000, 900_000, 60_000)]
    out = io.BytesIO()
    writer = StreamWriter(out.write)
    ends = []
    for record in records:
        writer.records([record])
        writer._let_go()
        ends.append(out.tell())
    for cut in [*ends, *(end - 1 for end in ends), *(end + 4 for end in ends)]:
        came: list[bytes] = []
        with pytest.raises(TimeoutError):
            came.extend(frame.records[0] for frame in StreamReader(_Cut(out.getvalue()[:cut])))
        assert came == records[: sum(end <= cut for end in ends)]


def test_frames_of_every_size_come_whole_however_the_line_cuts_them() -> None:
    """LAZ-70: what is hashed and copied many frames at a time is what went out, and a bit anywhere is noticed."""
    chance = Random(5)
    sizes = [1, 60_000, 131_068, 131_069, 70_000, 262_139, 262_140, 1 << 20, 5, *[16_000] * 40]
    records = [chance.randbytes(size) if size % 3 else b"x" * size for size in sizes]
    out: list[bytes] = []
    writer = StreamWriter(out.append)
    for number, record in enumerate(records):
        writer.records([record, b"with it"])
        writer.reached(number, b"markmark")
    writer.end()
    sent = b"".join(out)
    assert len(out) < len(records)
    frames = list(StreamReader(_Drips(sent, chance)))
    assert [frame.records[0] for frame in frames[::2]] == records
    assert [frame.position for frame in frames[1::2]] == list(range(len(records)))
    for _ in range(30):
        changed = bytearray(sent)
        changed[chance.randrange(len(sent))] ^= 1 << chance.randrange(8)
        with pytest.raises(BadStream):
            list(StreamReader(_Drips(bytes(changed), chance)))


def test_what_is_let_go_of_is_cut_where_it_is_hashed_best() -> None:
    """LAZ-70: pieces are of one size, whatever the frames are; none of their bytes is lost at a cut."""
    chance = Random(6)
    sizes = [stream._TOGETHER + more for more in (-60, -37, -22, -21, -20, -5, 0, 5)]
    sizes += [stream._TOGETHER - stream._HASH_STEP + more for more in (-60, -17, -16, -15, 0)] + [1 << 20, 60_000, 3]
    for some in [sizes, sizes[::-1], *([size, 60_000] for size in sizes)]:
        records = [chance.randbytes(size) for size in some]
        out: list[bytes] = []
        writer = StreamWriter(out.append)
        for record in records:
            writer.records([record])
        writer.end()
        assert {len(piece) for piece in out[:-2]} <= {stream._TOGETHER}
        assert blake3(b"".join(out)[:-37]).digest() == b"".join(out)[-32:]
        frames = list(StreamReader(_Drips(b"".join(out), chance)))
        assert [frame.records for frame in frames] == [(record,) for record in records]


def test_every_cut_and_every_flipped_bit_is_noticed() -> None:
    """LAZ-70: the digest at the end covers everything; frames before a fault may have been read."""
    whole = body(names=50, tier=3000)
    for size in range(0, len(whole), 7):
        with pytest.raises(BadStream):
            read(whole[:size])
    for at in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        with pytest.raises(BadStream):
            read(bytes(changed))
    with pytest.raises(BadStream):
        read(whole + b"x")


@given(st.binary(max_size=300))
def test_noise_is_one_error(data: bytes) -> None:
    with pytest.raises(BadStream):
        read(data)


@given(st.sampled_from(list(FrameKind)), st.binary(max_size=200))
def test_a_frame_of_noise_is_one_error(kind: FrameKind, data: bytes) -> None:
    with pytest.raises(BadStream):
        read(struct.pack(">cI", kind.value, len(data)) + data)


def test_a_position_that_no_store_keeps_is_refused() -> None:
    """CYB-17: a number from a line never comes as far as the database, which takes none above 2^63."""
    position = struct.Struct(">cIQ8s")
    with pytest.raises(BadStream, match="position"):
        read(position.pack(b"c", 16, 2**64 - 1, b"markmark"))
    largest = StreamReader(io.BytesIO(position.pack(b"c", 16, 2**60 - 1, b"markmark")))
    assert next(iter(largest)).position == 2**60 - 1


@pytest.mark.parametrize("size", [1 << 23, 1 << 30])
def test_a_bomb_is_refused_before_it_is_unpacked(size: int) -> None:
    """Limits are checked before memory is taken."""
    packed = zstandard.ZstdCompressor().compress(bytes(min(size, 1 << 23)))
    with pytest.raises(BadStream, match="more than it may"):
        read(struct.pack(">cI", b"r", len(packed)) + packed)
    with pytest.raises(BadStream, match="longer than one may be"):
        read(struct.pack(">cI", b"r", size) + b"x")


def test_a_hello_counts_once_within_its_time_and_place() -> None:
    """CYB-17: replayed, reflected, late, or meant for another server, group, run or path, it proves nothing."""
    key, server = SigningKey.from_seed(b"\x01" * 32), SigningKey.from_seed(b"\x02" * 32).verifier
    session = Session("band/x", server, b"public")
    clock = [Tai.from_unix_ns(1_700_000_000 * 10**9)]
    gate = HelloGate(session, lambda: clock[0])

    def hello(where: Session = session, path: str = "/p", nonce: bytes = b"n") -> str:
        return make_hello(key, where, path, clock[0], lambda size: nonce * size)

    first = hello()
    assert gate.check(first, "/p") == key.verifier
    assert gate.check(first, "/p") is None
    assert gate.check(hello(nonce=b"a"), "/other") is None
    assert gate.check(hello(Session("band/y", server, b"public"), nonce=b"b"), "/p") is None
    assert gate.check(hello(Session("band/x", key.verifier, b"public"), nonce=b"c"), "/p") is None
    assert gate.check(hello(Session("band/x", server, b"other"), nonce=b"d"), "/p") is None
    late = hello(nonce=b"e")
    clock[0] = Tai.from_unix_ns((1_700_000_000 + WINDOW + 1) * 10**9)
    assert gate.check(late, "/p") is None
    assert gate.other_clock(late, "/p") == (key.verifier, -WINDOW - 1)
    assert gate.other_clock(late, "/other") is None
    assert gate.other_clock(first[:-8] + "AAAAAAAA", "/p") is None
    assert gate.check(hello(nonce=b"f"), "/p") == key.verifier
    for noise in ("", "x", "A" * 500, first[:-4], "é" * 20):
        assert gate.check(noise, "/p") is None


def test_a_pace_is_kept() -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(1000, lambda: now[0], sleep)
    for _ in range(20):
        pace.spend(500)
    assert 9 <= now[0] <= 10.5
    free = Pace(None, lambda: now[0], sleep)
    before = len(slept)
    free.spend(10**9)
    assert len(slept) == before
