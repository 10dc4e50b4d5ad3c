"""Encrypted files and envelopes: only who may reads them, and no byte of them can be changed or moved (decision 5)."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.transports.helpers import GROUP, key, sealed_as_before
from transports.drop.place import Drop
from transports.encrypted.cipher import CHUNK, fixed_salt
from transports.encrypted.member_keys import EpochKey
from transports.encrypted.notices import NOTICES_LIMIT, open_notices, seal_notice
from transports.encrypted.sealing import (
    SealingSink,
    UnsealingFile,
    notices_in,
    open_envelope,
    seal_bytes,
    seal_envelope,
    unseal_bytes,
)
from transports.errors import BadEnvelope, SealedToOthers
from transports.mailbox import HEAD_FILE_LIMIT
from vault.records.hashes import Verifier
from vault.suite import seal_box

KEY = EpochKey(b"k" * 16, b"K" * 32)
HEADER = 40  # magic, id of the key, salt
EXTRA = 24 + 16  # nonce and tag of a chunk


def entropy(size: int) -> bytes:
    return bytes(range(size))


def find(identifier: bytes) -> Sequence[EpochKey]:
    return [KEY] if identifier == KEY.id else []


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5])
def test_what_is_sealed_is_read_back(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    stored = seal_bytes(data[:size], KEY, entropy)
    assert unseal_bytes(stored, find) == data[:size]
    assert len(stored) == HEADER + size + EXTRA * max(1, -(-size // CHUNK))


@given(st.lists(st.tuples(st.integers(0, 3 * CHUNK), st.integers(0, CHUNK * 2)), max_size=8))
def test_any_part_is_read_alone(parts: list[tuple[int, int]]) -> None:
    data = b"".join(number.to_bytes(4, "big") for number in range(3 * CHUNK // 4))
    file = io.BufferedReader(UnsealingFile(cast(BinaryIO, io.BytesIO(seal_bytes(data, KEY, entropy))), find))
    assert file.seek(0, 2) == len(data)
    for at, size in parts:
        file.seek(at)
        assert file.read(size) == data[at : at + size]


def test_one_record_costs_no_more_than_the_chunks_it_touches() -> None:
    stored = seal_bytes(bytes(40 * CHUNK), KEY, entropy)

    class Counting(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(size)
            Counting.taken += len(piece)
            return piece

    file = UnsealingFile(cast(BinaryIO, Counting(stored)), find)
    file.seek(20 * CHUNK + 7)
    assert len(file.read(100)) == 100
    assert Counting.taken <= CHUNK + EXTRA + HEADER
    inner = file._file
    file.close()
    assert inner.closed


@given(st.integers(0), st.integers(1, 255))
def test_no_changed_byte_is_believed(at: int, change: int) -> None:
    # faults.md row 7
    stored = bytearray(seal_bytes(b"x" * (CHUNK + 100), KEY, entropy))
    stored[at % len(stored)] ^= change
    with pytest.raises((BadEnvelope, SealedToOthers)):
        unseal_bytes(bytes(stored), find)


@given(st.integers(0, HEADER + 2 * CHUNK + 2 * EXTRA - 1))
@example(HEADER + CHUNK + EXTRA + 3)  # what is left of the last chunk is shorter than its nonce and tag
def test_no_shortened_file_is_believed(size: int) -> None:
    stored = seal_bytes(b"x" * 2 * CHUNK, KEY, entropy)
    with pytest.raises(BadEnvelope):
        unseal_bytes(stored[:size], find)


def test_chunks_cannot_change_places() -> None:
    # faults.md row 20
    stored = seal_bytes(b"a" * CHUNK + b"b" * CHUNK + b"c", KEY, entropy)
    step = CHUNK + EXTRA
    first, second = stored[HEADER : HEADER + step], stored[HEADER + step : HEADER + 2 * step]
    with pytest.raises(BadEnvelope):
        unseal_bytes(stored[:HEADER] + second + first + stored[HEADER + 2 * step :], find)


def test_the_sink_knows_the_file_it_made() -> None:
    class Sink(io.BytesIO):
        pass

    from blake3 import blake3

    out = Sink()
    sink = SealingSink(out, KEY, entropy)
    for _ in range(100):
        sink.write(b"y" * 1000)
    assert sink.finish() == (blake3(out.getvalue()).digest(), len(out.getvalue()))


def stored_chunks(stored: bytes) -> list[bytes]:
    return [stored[at : at + CHUNK + EXTRA] for at in range(HEADER, len(stored), CHUNK + EXTRA)]


@given(st.lists(st.tuples(st.integers(0, 4 * CHUNK), st.integers(1, 255)), max_size=3), st.integers(0, 4 * CHUNK))
def test_no_nonce_goes_with_two_texts(changes: list[tuple[int, int]], size: int) -> None:
    # A bundle that was cut is written again under its salt, and what was shared since may make it another one.
    first = bytes(4 * CHUNK)
    second = bytearray(first[:size])
    for at, change in changes:
        if at < size:
            second[at] ^= change
    one, other = seal_bytes(first, KEY, entropy), seal_bytes(bytes(second), KEY, entropy)
    assert one[:HEADER] == other[:HEADER]
    by_nonce: dict[bytes, bytes] = {}
    for chunk in stored_chunks(one) + stored_chunks(other):
        assert by_nonce.setdefault(chunk[:24], chunk) == chunk
    for number, (mine, yours) in enumerate(zip(stored_chunks(one), stored_chunks(other), strict=False)):
        is_last = (number == 3, number == len(stored_chunks(other)) - 1)
        same = first[number * CHUNK :][:CHUNK] == second[number * CHUNK :][:CHUNK] and is_last[0] == is_last[1]
        assert (mine == yours) == same
    salted = seal_bytes(first, KEY, lambda size: b"o" * size)
    assert not {chunk[:24] for chunk in stored_chunks(salted)} & set(by_nonce)


def test_the_salt_of_a_mailbox_changes_with_its_key_its_name_and_its_head() -> None:
    salts = {fixed_salt(*parts) for parts in ((b"k", b"ab", b"c"), (b"k", b"a", b"bc"), (b"l", b"ab", b"c"), (b"k",))}
    assert len(salts) == 4
    assert {len(salt) for salt in salts} == {16}


@pytest.mark.parametrize("size", [0, 5, 64 * 1024, 64 * 1024 + 1, 3 * 64 * 1024])
def test_what_was_sealed_in_the_former_form_is_read(size: int) -> None:
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    stored = sealed_as_before(data, KEY, entropy(16))
    assert unseal_bytes(stored, find) == data
    spoiled = bytearray(stored)
    spoiled[-1] ^= 1
    with pytest.raises(BadEnvelope):
        unseal_bytes(bytes(spoiled), find)
    with pytest.raises(BadEnvelope):  # nor does it count as the other form
        unseal_bytes(b"LACESEA1" + stored[8:], find)


def envelope(
    number: int,
    recipients: list[int],
    context: bytes = b"here",
    keys: tuple[EpochKey, ...] = (),
    notices: tuple[bytes, ...] = (),
) -> bytes:
    return seal_envelope(
        b"the record",
        KEY,
        owner=key(number).verifier,
        recipients=[key(n).verifier for n in recipients],
        keys=keys,
        sign=key(number).sign_statement,
        entropy=entropy,
        context=context,
        notices=notices,
    )


def unknown(_: bytes) -> Sequence[EpochKey]:
    return []


def nothing(_: bytes) -> None:
    return None


def test_each_recipient_opens_an_envelope_and_nobody_else() -> None:
    ring = (EpochKey(b"l" * 16, b"L" * 32, frozenset({key(1).verifier, key(2).verifier})),)
    made = envelope(1, [1, 2], keys=ring)
    for number in (1, 2):
        found = open_envelope(made, unknown, key(number).open_box, b"here")
        assert found == (key(1).verifier, b"the record", ring, EpochKey(KEY.id, KEY.key))
    with pytest.raises(SealedToOthers):
        open_envelope(made, unknown, key(3).open_box, b"here")
    assert open_envelope(made, find, nothing, b"here").record == b"the record"  # by a key learnt elsewhere


def test_a_wrong_key_of_the_right_id_is_passed_over() -> None:
    """Decision 5: who tells one takes nothing from anybody; the bytes say which key is theirs."""
    wrong, made = EpochKey(KEY.id, b"W" * 32), envelope(1, [2])
    assert open_envelope(made, lambda _: [wrong], key(2).open_box, b"here").key == EpochKey(KEY.id, KEY.key)
    assert open_envelope(made, lambda _: [wrong, KEY], nothing, b"here").key == KEY
    with pytest.raises(BadEnvelope):
        open_envelope(made, lambda _: [wrong], key(3).open_box, b"here")
    for data in (b"", b"x" * 3 * CHUNK):
        stored = seal_bytes(data, KEY, entropy)
        assert unseal_bytes(stored, lambda _: [wrong, KEY]) == data
        with pytest.raises(BadEnvelope):
            unseal_bytes(stored, lambda _: [wrong, wrong])


def test_a_notice_in_an_envelope_is_for_one_who_may_not_open_it() -> None:
    """Decision 5: the records themselves, under no name, and as long as any other notice of its size."""
    records = [b"that it was revoked", b"and the entry that shares it"]
    (first, second) = (seal_notice(key(n).verifier, some) for n, some in ((3, records), (4, records[:1])))
    assert first is not None
    assert second is not None
    assert len(first) == len(second) == 1024 + 48
    made = envelope(1, [1, 2], notices=(first, second))
    assert open_envelope(made, unknown, key(2).open_box, b"here").record == b"the record"
    with pytest.raises(SealedToOthers):
        open_envelope(made, unknown, key(3).open_box, b"here")
    found = notices_in(made)
    assert open_notices(found, key(3).open_box) == records
    assert open_notices(found, key(4).open_box) == records[:1]
    assert open_notices(found, key(2).open_box) == []
    assert not any(record in made for record in records)
    assert notices_in(envelope(1, [1])) == []
    with pytest.raises(BadEnvelope):
        notices_in(made[:300])
    many = envelope(1, [1], notices=(first,) * (NOTICES_LIMIT + 1))
    assert len(notices_in(many)) == NOTICES_LIMIT
    assert seal_notice(key(3).verifier, [bytes(70_000)]) is None
    long = seal_notice(key(3).verifier, [bytes(60_000)])
    assert long is not None
    told = envelope(1, [1], notices=(long,) * NOTICES_LIMIT)
    assert len(told) < HEAD_FILE_LIMIT // 2, "a head that a medium refuses would stop every sync of its owner"
    assert notices_in(told) == [long] * 4


def test_an_envelope_counts_only_where_it_was_left() -> None:
    with pytest.raises(BadEnvelope):
        open_envelope(envelope(1, [2]), unknown, key(2).open_box, b"there")


def test_who_holds_the_key_cannot_speak_for_another() -> None:
    # Bob knows the epoch key, and so could write any bytes under it.
    forged = seal_envelope(
        b"the record",
        KEY,
        owner=key(1).verifier,
        recipients=[key(3).verifier],
        keys=(),
        sign=key(2).sign_statement,
        entropy=entropy,
        context=b"here",
    )
    with pytest.raises(BadEnvelope):
        open_envelope(forged, unknown, key(3).open_box, b"here")


@pytest.mark.parametrize(
    "change", [{"context": b"there"}, {"record": b"another"}, {"keys": (EpochKey(b"l" * 16, bytes(32)),)}]
)
def test_what_an_owner_signed_counts_for_nothing_else(change: dict[str, Any]) -> None:
    """CYB-17: bob has the epoch key and alice's signature, and puts it under another place, record or ring."""
    signed: list[bytes] = []

    def sign(domain: str, statement: bytes) -> bytes:
        signed.append(key(1).sign_statement(domain, statement))
        return signed[0]

    said: dict[str, Any] = {"record": b"the record", "keys": (), "context": b"here"}
    for words in (said, said | change):
        made = seal_envelope(
            words["record"],
            KEY,
            owner=key(1).verifier,
            recipients=[key(3).verifier],
            keys=words["keys"],
            sign=sign,
            entropy=entropy,
            context=words["context"],
        )
        if words is said:
            assert open_envelope(made, unknown, key(3).open_box, b"here").record == b"the record"
    with pytest.raises(BadEnvelope, match="not made by the owner"):
        open_envelope(made, unknown, key(3).open_box, words["context"])


def test_an_envelope_of_one_who_has_the_key_is_bounded_too() -> None:
    """CYB-17: what is inside is too short, or the boxes in front of it are more than a circle has members."""
    with pytest.raises(BadEnvelope, match="less than it says"):
        open_envelope(b"LACEENV0\0\0" + seal_bytes(bytes(5), KEY, entropy, b"here"), find, nothing, b"here")
    asked: list[bytes] = []
    many = b"LACEENV0" + (5_000).to_bytes(2, "big") + bytes(5_000 * 80) + seal_bytes(b"", KEY, entropy, b"here")
    with pytest.raises(BadEnvelope, match="too early"):
        open_envelope(many, unknown, asked.append, b"here")
    assert asked == []


@given(st.integers(0), st.integers(1, 255))
def test_no_changed_envelope_is_believed(at: int, change: int) -> None:
    made = bytearray(envelope(1, [2]))
    made[at % len(made)] ^= change
    try:
        found = open_envelope(bytes(made), unknown, key(2).open_box, b"here")
    except (BadEnvelope, SealedToOthers):
        return
    pytest.fail(f"a changed envelope gave {found}")


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_politely(data: bytes) -> None:
    for start in (b"", b"LACEENV0", b"LACEENV0\0\1", b"LACEENV1", b"LACEENV1\0\0\0\1", b"LACESEA0", b"LACESEA1"):
        with pytest.raises((BadEnvelope, SealedToOthers)):
            open_envelope(start + data, find, key(2).open_box, b"here")
        with pytest.raises((BadEnvelope, SealedToOthers)):
            unseal_bytes(start + data, find)


def test_a_key_that_is_no_point_gets_nothing() -> None:
    assert seal_box(Verifier(b"\2" + bytes(31)), b"secret") is None
    assert key(1).open_box(b"short") is None


def test_a_mailbox_is_withdrawn_whole(tmp_path: Path) -> None:
    """CYB-17: also what a killed run left of a file."""
    drop = Drop.create(tmp_path / "drop", entropy=os.urandom)
    writer = drop.writer(GROUP, key(1).verifier)
    writer.put_request(b"please")
    with writer.add_bundle():
        pass
    (drop.mailbox_path(GROUP, key(1).verifier) / "head.rec.4711.tmp").write_bytes(b"half a head")
    writer.withdraw()
    assert [path.name for path in drop.path.iterdir()] == ["lace-drop.txt"]
