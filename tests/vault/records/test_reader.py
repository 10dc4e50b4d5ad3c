"""Streams of records in bounded memory."""

from __future__ import annotations

import io
import time
import tracemalloc
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import BLOB, INVALID, KEY, NO_EXTRAS, PLEX, SEAL, VALID, extras, flip, mark
from tests.vault.records.strategies import records
from vault.records import (
    MAX_BLOB_BYTES,
    Blob,
    Plex,
    Record,
    RecordError,
    Seal,
    Tai,
    iter_records,
    iter_verdicts,
    parse_record,
)
from vault.records import errors as e

EVERY = [pytest.param(data, id=label) for label, data in VALID]
WRONG = [pytest.param(data, error, id=f"{rule} {label}") for rule, label, data, error in INVALID]
SMALL = [pytest.param(data, error, id=f"{rule} {label}") for rule, label, data, error in INVALID if len(data) < 9000]


class Trickle(io.BytesIO):
    """A file that gives one byte at each read, however many are asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(1)


def drain(data: bytes) -> tuple[list[Record], RecordError | None]:
    """Return the records of a stream up to its end or first fault, and the fault."""
    found: list[Record] = []
    try:
        found.extend(iter_records(io.BytesIO(data)))
    except RecordError as error:
        return found, error
    return found, None


@pytest.mark.parametrize("data", EVERY)
def test_valid_records(data: bytes) -> None:
    """REC-83: both parsers read the same record."""
    assert list(iter_records(io.BytesIO(data))) == [parse_record(data)]
    (verdict,) = iter_verdicts(io.BytesIO(data))
    assert verdict.ok
    assert (verdict.hash, verdict.type) == (parse_record(data).hash.text, parse_record(data).hash.kind)
    assert (verdict.offset, verdict.length, verdict.stopped) == (0, len(data), False)
    assert (verdict.code, verdict.message) == ("", "")


@pytest.mark.parametrize(("data", "error"), WRONG)
def test_both_parsers_refuse_for_the_same_reason(data: bytes, error: type[RecordError]) -> None:
    """REC-82."""
    with pytest.raises(RecordError) as caught:
        list(iter_records(io.BytesIO(data)))
    assert type(caught.value) is error
    assert caught.value.offset == 0
    verdict = next(iter_verdicts(io.BytesIO(data)))
    assert type(verdict.error) is error
    assert (verdict.code, verdict.message) == (error.code, caught.value.message)


@pytest.mark.parametrize(("data", "error"), SMALL)
def test_byte_by_byte_refuses_for_the_same_reason(data: bytes, error: type[RecordError]) -> None:
    """REC-82: how the bytes arrive changes nothing."""
    with pytest.raises(RecordError) as caught:
        list(iter_records(Trickle(data)))
    assert type(caught.value) is error
    assert type(next(iter_verdicts(Trickle(data))).error) is error


@given(st.lists(records, max_size=4))
def test_streams_byte_by_byte(stream: list[Record]) -> None:
    """REC-26: each record takes exactly its bytes and the next starts at once."""
    data = b"".join(record.encode() for record in stream)
    assert list(iter_records(Trickle(data))) == stream
    assert list(iter_records(io.BytesIO(data))) == stream
    verdicts = list(iter_verdicts(Trickle(data)))
    assert [verdict.hash for verdict in verdicts] == [record.hash.text for record in stream]
    assert all(verdict.ok for verdict in verdicts)


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda tail: SEAL.encode() + tail))
def test_arbitrary_streams(data: bytes) -> None:
    """REC-82: verdicts never raise, and say the same as the whole-record parser on the first record."""
    verdicts = list(iter_verdicts(io.BytesIO(data)))
    assert sum(verdict.length for verdict in verdicts) <= len(data)
    found, error = drain(data)
    good = list(takewhile(lambda verdict: verdict.ok, verdicts))
    assert [record.hash.text for record in found] == [verdict.hash for verdict in good]
    assert (error is None) == (len(good) == len(verdicts))
    if error is not None:
        assert (verdicts[len(good)].code, verdicts[len(good)].offset) == (error.code, error.offset)


def test_records_stop_at_the_first_fault_and_say_where() -> None:
    """REC-82."""
    data = BLOB.encode() + flip(BLOB.encode(), -1) + BLOB.encode()
    found, error = drain(data)
    assert found == [BLOB]
    assert isinstance(error, e.DigestMismatchError)
    assert error.offset == len(BLOB.encode())


@pytest.mark.parametrize(
    "bad",
    [
        flip(BLOB.encode(), -1),
        flip(SEAL.encode(), -1),
        mark("S", SEAL.payload.replace(b"Signature: e", b"Signature: f")),
        extras("B: x\nA: x\n"),
        extras("A: x\r\n"),
        extras(b"A: \xff\n"),
        PLEX.encode().replace(b"eu/lab", b"/eulab"),
    ],
)
def test_verdicts_go_on_where_the_length_is_known(bad: bytes) -> None:
    """REC-26: by the head, or by an embedded Blob that proves itself."""
    verdicts = list(iter_verdicts(io.BytesIO(BLOB.encode() + bad + NO_EXTRAS)))
    assert [verdict.ok for verdict in verdicts] == [True, False, True]
    assert [verdict.stopped for verdict in verdicts] == [False] * 3
    assert verdicts[1].offset == len(BLOB.encode())
    assert verdicts[2].offset == len(BLOB.encode() + bad)


@pytest.mark.parametrize(
    "bad",
    [
        b"junk",
        SEAL.encode()[:-1],
        extras("A: x\r\n").replace(b"hello", b"HELLO"),
        extras("A: x\r\n").replace(b"Length: 11", b"Length: 99999999"),
        mark("B", "Data-Length: 011\n\nhello room7"),
        BLOB.encode().replace(b"\n", b"\r\n", 1),
    ],
)
def test_verdicts_stop_where_it_is_not(bad: bytes) -> None:
    """REC-28: no markline is searched for, because data may hold any bytes."""
    inside = Blob(BLOB.encode()).encode()
    verdicts = list(iter_verdicts(io.BytesIO(inside + bad)))
    assert [verdict.ok for verdict in verdicts] == [True, False]
    assert verdicts[-1].stopped


def test_a_lower_limit_is_kept_before_reading() -> None:
    """REC-27: a reader with less room says so before it takes the bytes."""
    assert list(iter_records(io.BytesIO(BLOB.encode()), max_data=11)) == [BLOB]
    with pytest.raises(e.BlobTooLargeError):
        list(iter_records(io.BytesIO(BLOB.encode()), max_data=10))


def test_without_verify_the_signature_is_taken_on_trust() -> None:
    """REC-40."""
    forged = Seal(KEY.verifier, bytes(64), PLEX)
    assert list(iter_records(io.BytesIO(forged.encode()), verify=False)) == [forged]
    with pytest.raises(e.SignatureInvalidError):
        list(iter_records(io.BytesIO(forged.encode())))


@pytest.fixture(scope="module")
def large() -> bytes:
    """A sealed record with the largest data there are, and a broken copy after it."""
    plex = Plex.build(group="g", app="a", name="n", tai=Tai.ZERO, data=bytes(range(256)) * (MAX_BLOB_BYTES // 256))
    stored = Seal.sign(plex, KEY).encode()
    return stored + stored[:-1] + b"!"


def test_32_mib_are_verified_in_4_mib_of_memory(large: bytes) -> None:
    """REC-27, REC-40: Seal, Plex and Blob digests run over the same pieces; no piece is kept."""
    stream = io.BytesIO(large)
    tracemalloc.start()
    try:
        verdicts = [(verdict.ok, verdict.code) for verdict in iter_verdicts(stream)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert verdicts == [(True, ""), (False, "record-digest-mismatch")]
    assert peak < 4 * 1024 * 1024


def test_a_hostile_head_costs_neither_memory_nor_time() -> None:
    """REC-22, REC-60: a head is cut off at half a MiB, wherever its bytes come from."""
    stream = io.BytesIO(BLOB.hash.markline + b"x" * (64 * 1024 * 1024))
    tracemalloc.start()
    began = time.perf_counter()
    try:
        (verdict,) = iter_verdicts(stream)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert verdict.code == "record-header-too-long"
    assert peak < 4 * 1024 * 1024
    assert time.perf_counter() - began < 5
