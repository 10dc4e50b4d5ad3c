"""A chunk is compared with the one record that its content has, where nothing else is parsed (CLAY-12, REC-5)."""

from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import example, given
from hypothesis import strategies as st

from transports.bundles.short import read_parts, shortened, shortest
from vault.desks.content import MAX_SMALL_BYTES, Contents, MadeHash, data_plex, known_data, tree_plex
from vault.errors import DataError
from vault.profile import MAX_DIRECT_BYTES, Chunk, Manifest, ProfileError, read
from vault.records import Plex, RecordError, RecordHash, Tai, b64a, parse_record
from vault.records.hashes import MARKLINE_BYTES

_GROUP = "friends/0123456789abcdef"


@given(st.binary(max_size=3_000))
@example(b"\n\n\n\n")
@example(b"Data-Length: 1\n\n")
def test_every_content_is_known_as_the_parser_knows_it(content: bytes) -> None:
    plex = data_plex(_GROUP, content)
    stored = plex.encode()
    for carried in (True, False):
        known = known_data(_GROUP, plex.hash, stored, carried=carried)
        assert known == parse_record(stored)
        assert known is not None
        assert (known.hash, known.blob.hash, known.encode()) == (plex.hash, plex.blob.hash, stored)


def renamed(stored: bytes) -> tuple[RecordHash, bytes]:
    """Give bytes the hash that they carry, whatever they say."""
    payload = stored[MARKLINE_BYTES:]
    record = RecordHash("P", blake3(payload).digest())
    return record, record.markline + payload


@given(st.integers(0, 400), st.integers(0, 255), st.sampled_from(["change", "insert", "delete"]))
def test_bytes_that_are_no_record_of_the_profile_are_never_known(at: int, byte: int, how: str) -> None:
    """The mutant carries its own hash rightfully, as a hostile writer's would."""
    good = data_plex(_GROUP, b"some content\n\nin two parts").encode()
    at %= len(good)
    middle = {"change": bytes([byte]) + good[at + 1 :], "insert": bytes([byte]) + good[at:], "delete": good[at + 1 :]}
    record, stored = renamed(good[:at] + middle[how])
    known = known_data(_GROUP, record, stored, carried=True)
    try:
        parsed = parse_record(stored)
        assert isinstance(parsed, Plex)
        read(parsed)
    except (RecordError, ProfileError):
        assert known is None
        return
    assert known is None or known == parsed


@pytest.mark.parametrize(
    "plex",
    [
        tree_plex(_GROUP, b"lace-tree/0 0\n"),
        data_plex("friends/another_another_", b"x"),
        Plex.build(group=_GROUP, app="lace/data", name=b64a.encode(bytes(32)), tai=Tai.ZERO, data=b"x"),
        Plex.build(group=_GROUP, app="lace/data", name=data_plex(_GROUP, b"x").name, tai=Tai(1, 0), data=b"x"),
        Plex.build(
            group=_GROUP,
            app="lace/data",
            name=b64a.encode(blake3(bytes(MAX_DIRECT_BYTES + 1)).digest()),
            tai=Tai.ZERO,
            data=bytes(MAX_DIRECT_BYTES + 1),
        ),
        Manifest.to_plex(
            group=_GROUP, digest=bytes(32), level=1, chunks=[Chunk(300_000, data_plex(_GROUP, b"x").hash)]
        ),
    ],
)
def test_what_is_anything_else_is_left_to_the_parser(plex: Plex) -> None:
    assert known_data(_GROUP, plex.hash, plex.encode(), carried=True) is None


def test_bytes_that_do_not_carry_the_hash_are_not_known() -> None:
    one, other = data_plex(_GROUP, b"one"), data_plex(_GROUP, b"two")
    assert known_data(_GROUP, one.hash, other.encode(), carried=False) is None
    assert known_data(_GROUP, RecordHash("B", one.hash.digest), one.encode(), carried=False) is None


def test_what_was_just_made_is_known_without_its_digests() -> None:
    # REC-5: what the hash brings along counts for bytes that carry the hash rightfully, and for nothing else.
    plex = data_plex(_GROUP, b"content")
    stored = plex.encode()
    made = MadeHash.of_content(plex.hash.digest, plex.name, plex.blob.hash.digest, 7)
    assert (made, hash(made)) == (plex.hash, hash(plex.hash))
    known = known_data(_GROUP, made, stored, carried=True)
    assert known is not None
    assert known == plex
    assert (known.hash, known.blob.hash, known.encode()) == (plex.hash, plex.blob.hash, stored)
    assert type(known.hash) is RecordHash  # a store of many hashes keeps no more than that of each
    wrong = MadeHash.of_content(plex.hash.digest, "x" * 43, bytes(32), 7)
    assert known_data(_GROUP, wrong, stored, carried=False) == plex
    assert known_data(_GROUP, wrong, data_plex(_GROUP, b"another").encode(), carried=False) is None


def test_what_a_bundle_and_a_stream_made_anew_says_its_digests() -> None:
    plex = data_plex(_GROUP, b"content")
    said = shortened([shortest(plex.encode())])
    assert said is not None
    parts, _ = read_parts(memoryview(said), DataError, 1000)
    ((stored, made),) = parts.all(memoryview(b"content"))
    assert (stored, made) == (plex.encode(), plex.hash)
    assert isinstance(made, MadeHash)
    assert made.size == len(b"content")
    assert (made.name, made.blob) == (plex.name, plex.blob.hash.digest)


def test_what_is_kept_of_a_made_record_is_its_stored_form() -> None:
    for size in (0, 1, 16_384, 16_385, 65_536, 65_537, MAX_DIRECT_BYTES):
        plex = data_plex(_GROUP, bytes(size))
        assert parse_record(plex.encode()) == plex
        assert plex.encode() == b"".join((plex.hash.markline, *plex.parts()))


@pytest.mark.parametrize("size", [0, 1, MAX_SMALL_BYTES, MAX_SMALL_BYTES + 1])
def test_small_content_that_came_alone_is_taken_as_columns(size: int) -> None:
    # REC-5, CLAY-12: what is taken is exactly what a record of that content would have given.
    plex = data_plex(_GROUP, bytes(size))
    made = MadeHash.of_content(plex.hash.digest, plex.name, plex.blob.hash.digest, size)
    contents = Contents(_GROUP)
    assert contents.take(made, plex.encode()) == (size <= MAX_SMALL_BYTES)
    if size > MAX_SMALL_BYTES:
        assert not contents
        return
    assert (contents.records, contents.stored, contents.sizes) == ([plex.hash], [plex.encode()], [size])
    assert type(contents.records[0]) is RecordHash  # a store of many hashes keeps no more than that of each


def test_nothing_else_is_taken_as_a_small_content() -> None:
    # A record of another group, and one of which nobody worked out that it is one of content, are left to be judged.
    plex, other = data_plex(_GROUP, b"content"), data_plex("others/0123456789abcdef", b"content")
    contents = Contents(_GROUP)
    assert not contents.take(plex.hash, plex.encode())
    foreign = MadeHash.of_content(other.hash.digest, other.name, other.blob.hash.digest, 7)
    assert not contents.take(foreign, other.encode())
    assert not contents
