"""Blob, Plex and Seal as values (REC-24..41, REC-58..61) and the computed vectors."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import BLOB, COORDINATE, KEY, PLEX, SEAL
from tests.vault.records.examples import TAI as TAI_LINE
from tests.vault.records.strategies import extras, plexes, seals
from vault.records import (
    MAX_BLOB_BYTES,
    Blob,
    Plex,
    Record,
    RecordError,
    Seal,
    Tai,
    parse_record,
    verify_seal,
)
from vault.records import errors as e
from vault.records.b64a import encode

TAI = Tai(1_640_995_200)


def build(**fields: object) -> Plex:
    given_fields = {"group": "g", "app": "a", "name": "n", "tai": TAI, **fields}
    return Plex.build(**given_fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "text", "size"),
    [
        (Blob(b""), "B.svyLzSM7ffc91i~XDbkMnuOsdjsw_6GrXpTSckqHlpO.H3", 72),
        (BLOB, "B.AKZgZFlTo1yWXWiLTVzirxFK0AP1SpEfxi~BC8ffLsh.H3", 83),
        (PLEX, "P.e79IHLzmOwQZmR9Ev~E6ammaoIVbACG2PRKHjREKpEx.H3", 230),
        (SEAL, "S.22MTQuUrcXsRXJmOJM5xcxJW5xeT5r8psouvfgMHC6O.H3", 443),
    ],
)
def test_vectors(record: Record, text: str, size: int) -> None:
    """REC-1, REC-2, REC-3, REC-24, REC-29, REC-37."""
    stored = record.encode()
    assert record.hash.text == text
    assert stored.startswith(f"🖧: {text}\n".encode())
    assert stored == record.hash.markline + record.payload
    assert size in (len(stored), len(record.payload) + 56)
    assert parse_record(stored).hash.text == text


def test_vectors_of_the_signature() -> None:
    """REC-38, REC-39: Ed25519 with the seed 00..1f over the 32 raw bytes of the Plex digest."""
    assert SEAL.signer.text == "V.0v47k~FE4BtTSDpOupk0bMV_qZ2ReGqV7Tn6P19LCRW.H3"
    signature = encode(SEAL.signature)
    assert signature == ("etKLj4kTTUcC6GdTSzYQWBRJlXp2ArahaxrO8J9TUqe8pK5pY1gBAF7risj3etfUkgfBic1WbRSAQtwzABeF2W")
    assert len(signature) == 86
    assert KEY.sign_digest(PLEX.hash.digest) == SEAL.signature


def test_payloads_byte_for_byte() -> None:
    """REC-24, REC-30, REC-37: what the digest covers."""
    assert BLOB.payload == b"Data-Length: 11\n\nhello room7"
    headers = f"{COORDINATE}{TAI_LINE}Content-Type: text/plain\n".encode()
    assert PLEX.payload == headers + BLOB.encode()
    signed = f"Signed-By: {SEAL.signer}\nSignature: {encode(SEAL.signature)}\n".encode()
    assert SEAL.payload == signed + PLEX.encode()


def test_many_records_share_a_coordinate() -> None:
    """REC-6: the hash is the identity, the coordinate is not; TAI alone makes another version (REC-45)."""
    versions = [build(data=b"1"), build(data=b"2"), build(data=b"1", tai=TAI.later(1))]
    assert len({version.hash for version in versions}) == 3
    assert len({(version.group, version.app, version.name) for version in versions}) == 1


def test_whitespace_is_data() -> None:
    """REC-23: a trailing space changes the hash."""
    assert build(extras=[("A", "x")]).hash != build(extras=[("A", "x ")]).hash


def test_extras_are_hash_significant() -> None:
    """REC-34, REC-59: names, values and the order of one name's values."""
    lists: tuple[list[tuple[str, str]], ...] = (
        [],
        [("A", "1")],
        [("A", "1"), ("A", "2")],
        [("A", "2"), ("A", "1")],
    )
    assert len({build(extras=pairs).hash for pairs in lists}) == 4


@given(extras)
def test_build_sorts_names_and_keeps_values_in_order(pairs: list[tuple[str, str]]) -> None:
    """REC-58, REC-59."""
    plex = build(extras=pairs)
    names = [name.encode() for name, _ in plex.extras]
    assert names == sorted(names)
    for name, _ in pairs:
        assert plex.all(name) == tuple(value for other, value in pairs if other == name)
        assert plex.first(name) == plex.all(name)[0]
    assert plex.first("absent") is None


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group": ""}, e.HeaderValueEmptyError),
        ({"group": "/eu"}, e.GroupSlashError),
        ({"group": "eu/lab#x"}, e.GroupCharacterError),
        ({"app": "a//b"}, e.AppPathError),
        ({"name": "n\nTAI: x"}, e.HeaderControlError),
        ({"name": "e\u0301"}, e.HeaderNotNfcError),
        ({"name": "../n"}, e.NameSegmentError),
        ({"extras": [("TAI", "x")]}, e.ExtraReservedError),
        ({"extras": [("🖧", "x")]}, e.ExtraReservedError),
        ({"extras": [("⋯🖧", "x")]}, e.ExtraReservedError),
        ({"extras": [("A", "x" * 1022)]}, e.HeaderTooLongError),
        ({"extras": [("A b", "x")]}, e.HeaderNameCharacterError),
        ({"extras": [("A", str(n)) for n in range(513)]}, e.ExtraTooManyError),
    ],
)
def test_an_invalid_plex_cannot_be_made(fields: dict[str, object], error: type[RecordError]) -> None:
    """REC-46..61: writers obey what readers enforce."""
    with pytest.raises(error):
        build(**fields)


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ((("B", "x"), ("A", "x")), e.ExtraOrderError),
        ((("A", "x"), ("B", "x"), ("A", "y")), e.ExtraSplitError),
    ],
)
def test_the_plain_constructor_does_not_sort(pairs: tuple[tuple[str, str], ...], error: type[RecordError]) -> None:
    """REC-58, REC-59."""
    with pytest.raises(error):
        Plex("g", "a", "n", TAI, pairs, BLOB)


def test_a_blob_holds_32_mib_and_no_more() -> None:
    """REC-27."""
    assert MAX_BLOB_BYTES == 33_554_432
    largest = Blob(bytes(MAX_BLOB_BYTES))
    assert parse_record(largest.encode()) == largest
    with pytest.raises(e.BlobTooLargeError):
        Blob(bytes(MAX_BLOB_BYTES + 1))


def test_a_seal_has_64_bytes_of_signature() -> None:
    """REC-39."""
    with pytest.raises(e.SignatureTextError):
        Seal(KEY.verifier, bytes(63), PLEX)


def test_a_seal_made_of_parts_is_checked_on_demand() -> None:
    """REC-40."""
    verify_seal(SEAL)
    with pytest.raises(e.SignatureInvalidError):
        verify_seal(Seal(KEY.verifier, bytes(64), PLEX))


def test_records_carry_no_verdict_on_authority() -> None:
    """REC-35, REC-41: a record says what was written and who signed it; claims need a policy."""
    fields = {cls: {f.name for f in dataclasses.fields(cls) if f.compare} for cls in (Blob, Plex, Seal)}
    assert fields == {
        Blob: {"data"},
        Plex: {"group", "app", "name", "tai", "extras", "blob"},
        Seal: {"signer", "signature", "plex"},
    }


@given(st.one_of(plexes, seals))
def test_values_are_frozen_equal_and_portable(record: Plex | Seal) -> None:
    """REC-83: copies and pickles are the same record."""
    assert pickle.loads(pickle.dumps(record)) == record
    assert copy.deepcopy(record).hash == record.hash
    assert len({record, parse_record(record.encode())}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, PLEX)


def test_repr_does_not_print_the_data() -> None:
    assert repr(Blob(b"x" * 1000)) == "Blob(1000 bytes)"
