"""`parse_record`: exactly one stored record, or one named reason why not (REC-82, REC-83)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import BLOB, COORDINATE, INVALID, KEY, PLEX, SEAL, TAI, VALID, blob, mark, plex, seal
from tests.vault.records.strategies import records
from vault.records import Blob, Record, RecordError, parse_record
from vault.records import errors as e

EVERY = [pytest.param(data, id=label) for label, data in VALID]
BLOB_START = "🖧: B".encode()
WRONG = [pytest.param(rule, data, error, id=f"{rule} {label}") for rule, label, data, error in INVALID]

# Errors of the forms that are not the stored form; their own tests meet them.
ELSEWHERE = {
    e.ThinShapeError,
    e.TrailerCoordinateError,
    e.TrailerMarkerError,
    e.TrailerNestedError,
    e.TrailerTypeError,
    e.TrailerUnclosedError,
    e.B64ALengthError,  # texts in records have fixed lengths
    e.TrailingBytesError,  # a stream has none; tested below
}


@contextmanager
def refused() -> Iterator[None]:
    """Let only RecordError pass."""
    with pytest.raises(RecordError):
        yield


def attempt(data: bytes) -> Record | RecordError:
    """Return the record or the reason why there is none."""
    try:
        return parse_record(data)
    except RecordError as error:
        return error


@pytest.mark.parametrize("data", EVERY)
def test_valid_records_are_read_and_written_back(data: bytes) -> None:
    """REC-83."""
    assert parse_record(data).encode() == data


@pytest.mark.parametrize(("rule", "data", "error"), WRONG)
def test_each_rule_refuses_with_its_own_error(rule: str, data: bytes, error: type[RecordError]) -> None:
    """REC-82: the error is the rule's, and says so in words."""
    with pytest.raises(RecordError) as caught:
        parse_record(data)
    assert type(caught.value) is error
    assert rule[:4] == "REC-"
    assert 20 < len(caught.value.message) < 300
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        *(pytest.param(data, id=f"{rule} {label}") for rule, label, data, _ in INVALID if data[:7] == BLOB_START),
        pytest.param(blob("33554433", bytes(33554433)), id="REC-27 a byte more than 32 MiB, all of them here"),
    ],
)
def test_a_broken_blob_breaks_what_it_is_embedded_in(data: bytes) -> None:
    """REC-36: all digests around it are right, and neither parser of whole records takes it."""
    for headers in (COORDINATE + TAI, f"{COORDINATE}{TAI}A: 1\n"):
        for record in (plex(headers, data), seal(plex(headers, data))):
            with pytest.raises(RecordError):
                parse_record(record)


def test_an_embedded_blob_is_named_by_its_own_hash() -> None:
    """REC-36: also where it is empty."""
    for inner in (Blob(b""), BLOB):
        wrong = Blob(b"another").hash.markline + inner.encode().partition(b"\n")[2]
        for record in (plex(COORDINATE + TAI, wrong), seal(plex(COORDINATE + TAI, wrong))):
            with pytest.raises(e.EmbeddedBlobDigestError):
                parse_record(record)


def test_the_table_has_every_error() -> None:
    """REC-82: no rule of the stored form is without an example."""
    concrete = {cls for cls in vars(e).values() if isinstance(cls, type) and issubclass(cls, RecordError) and cls.code}
    assert concrete - {error for _, _, _, error in INVALID} == ELSEWHERE


def test_exactly_one_record() -> None:
    """REC-26: following bytes belong to another record."""
    for data in (BLOB.encode(), PLEX.encode(), SEAL.encode()):
        for after in (b"\n", b"\0", BLOB.encode()):
            with pytest.raises(e.TrailingBytesError):
                parse_record(data + after)


def test_a_parsed_record_brings_its_verified_hashes() -> None:
    """REC-5, REC-36, REC-40: nothing is hashed a second time."""
    record = parse_record(SEAL.encode())
    assert (record._hash, record.plex._hash, record.plex.blob._hash) == (  # type: ignore[union-attr]
        SEAL.hash,
        PLEX.hash,
        BLOB.hash,
    )


def test_without_verify_only_the_signature_is_taken_on_trust() -> None:
    """REC-40: for bytes whose signature was verified before."""
    forged = seal(PLEX.encode(), signature=bytes(64))
    assert parse_record(forged, verify=False).encode() == forged
    with pytest.raises(e.DigestMismatchError):
        parse_record(forged[:-1] + b"!", verify=False)


def test_the_first_fault_is_the_one_reported() -> None:
    """REC-82: a later broken line does not hide an earlier broken rule, nor the other way round."""
    later = b"App: \xff\nName: n\nTAI: x\n"
    with pytest.raises(e.HeaderMissingError):
        parse_record(mark("P", b"Name: n\nFoo: x\n" + later + BLOB.encode()))
    with pytest.raises(e.HeaderUtf8Error):
        parse_record(mark("P", b"Group: g\n" + later + BLOB.encode()))


@given(records)
def test_round_trip(record: Record) -> None:
    """REC-83."""
    data = record.encode()
    parsed = parse_record(data)
    assert parsed == record
    assert parsed.hash == record.hash
    assert parsed.encode() == data


def test_every_flipped_bit_is_noticed() -> None:
    """REC-5, REC-40: no single changed bit of a sealed record passes."""
    data = SEAL.encode()
    for at in range(len(data)):
        for bit in range(8):
            with refused():
                parse_record(data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :])


@given(records, st.data())
def test_any_other_byte_is_noticed(record: Record, draw: st.DataObject) -> None:
    """REC-5: a byte changed, put in or taken out."""
    data = record.encode()
    at = draw.draw(st.integers(0, len(data) - 1))
    byte = draw.draw(st.integers(0, 255).filter(lambda value: value != data[at]))
    with refused():
        parse_record(data[:at] + bytes([byte]) + data[at + 1 :])
    with refused():
        parse_record(data[:at] + data[at + 1 :])
    with refused():
        parse_record(data[: at + 1] + bytes([byte]) + data[at + 1 :])


def test_every_cut_is_noticed() -> None:
    """REC-26: a record cut short anywhere is refused, the empty one too."""
    data = SEAL.encode()
    for size in range(len(data)):
        with refused():
            parse_record(data[:size])


@given(records, st.data())
def test_what_is_accepted_has_one_spelling(record: Record, draw: st.DataObject) -> None:
    """REC-83: a changed payload under its right digest is refused, or is a record of its own."""
    payload = bytearray(record.payload)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(payload)))
        payload[at : at + draw.draw(st.integers(0, 2))] = draw.draw(
            st.sampled_from([b"", b" ", b"\n", b":", b"\r", b"/", b"0", b"\xcc\x81", b"\xff", b"A: x\n"])
        )
    data = mark(record.hash.kind, bytes(payload))
    parsed = attempt(data)
    if isinstance(parsed, RecordError):
        return
    assert parsed.encode() == data
    assert (parsed.hash == record.hash) == (data == record.encode())


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda tail: BLOB.hash.markline + tail))
def test_arbitrary_bytes(data: bytes) -> None:
    """REC-82: only RecordError leaves."""
    with refused():
        parse_record(data)


@given(st.sampled_from("BPS"), st.binary(max_size=200))
def test_arbitrary_payloads(kind: str, payload: bytes) -> None:
    """REC-82: only RecordError leaves, and what passes is what it says."""
    data = mark(kind, payload)
    found = attempt(data)
    assert found.code if isinstance(found, RecordError) else found.encode() == data


LINES = [
    *SEAL.encode().splitlines(keepends=True)[:-1],
    b"\n",
    b"A: x\n",
    b"+Link: x\n",
    b"Data-Length: 0\n",
    b"hello",
]


@given(st.sampled_from("BPS"), st.lists(st.sampled_from(LINES), max_size=14).map(b"".join))
def test_shuffled_lines(kind: str, payload: bytes) -> None:
    """REC-29..33, REC-37: whatever order the lines come in, only RecordError leaves."""
    data = mark(kind, payload)
    found = attempt(data)
    assert found.rule if isinstance(found, RecordError) else found.encode() == data


def test_blob_data_may_be_records() -> None:
    """REC-28."""
    record = parse_record(Blob(SEAL.encode()).encode())
    assert isinstance(record, Blob)
    assert parse_record(record.data) == SEAL
    assert SEAL.signer == KEY.verifier
