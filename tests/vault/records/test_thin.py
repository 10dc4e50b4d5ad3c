"""The thin form (REC-72..74)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import BLOB, COORDINATE, PLEX, SEAL, TAI, mark, plex
from tests.vault.records.strategies import plexes, seals
from vault.records import Blob, Plex, RecordError, RecordHash, Seal, parse_record
from vault.records import errors as e
from vault.records.thin import rebuild, thin

STORE = {record.hash: record.encode() for record in (BLOB, PLEX, SEAL)}


def test_the_forms_byte_for_byte() -> None:
    """REC-72, REC-73."""
    headers = f"{COORDINATE}{TAI}Content-Type: text/plain\n".encode()
    assert thin(PLEX) == PLEX.hash.markline + headers + BLOB.hash.markline
    lines = SEAL.encode().split(b"\n")[:4]
    assert thin(SEAL) == b"\n".join(lines) + b"\n"
    assert lines[3] + b"\n" == PLEX.hash.markline


def test_a_blob_has_no_thin_form() -> None:
    """REC-72."""
    with pytest.raises(e.ThinShapeError):
        thin(BLOB)


@given(st.one_of(plexes, seals))
def test_round_trip(record: Plex | Seal) -> None:
    """REC-74."""
    inner = record.plex if isinstance(record, Seal) else record.blob
    asked = []

    def lookup(name: RecordHash) -> bytes | None:
        asked.append(name)
        return inner.encode()

    assert rebuild(thin(record), lookup) == record
    assert asked == [inner.hash]


@pytest.mark.parametrize("record", [PLEX, SEAL])
def test_without_the_inner_record_it_is_refused(record: Plex | Seal) -> None:
    """REC-74, REC-82."""
    with pytest.raises(e.ThinInnerError):
        rebuild(thin(record), lambda _: None)
    with pytest.raises(e.ThinInnerError):
        rebuild(thin(record), lambda _: Blob(b"another").encode())
    with pytest.raises(e.ThinInnerError):
        rebuild(thin(record), lambda _: b"")
    with pytest.raises(e.ThinInnerError):
        parse_record(thin(record))


def test_everything_is_verified_after_rebuilding() -> None:
    """REC-74: a changed thin record, a changed inner record, a forged seal."""
    with pytest.raises(e.DigestMismatchError):
        rebuild(thin(PLEX).replace(b"plain", b"PLAIN"), STORE.get)
    with pytest.raises(e.DigestMismatchError):
        rebuild(thin(PLEX), lambda name: STORE[name][:-1] + b"!")
    forged = Seal(SEAL.signer, bytes(64), PLEX)
    with pytest.raises(e.SignatureInvalidError):
        rebuild(thin(forged), STORE.get)
    assert rebuild(thin(forged), STORE.get, verify=False) == forged


def test_other_bytes_are_not_thin() -> None:
    """REC-72, REC-73: full records, and a full record whose data end in a markline."""
    tail = Blob(b"xxxx\n" + BLOB.encode())
    trap = mark("P", (COORDINATE + TAI).encode() + tail.encode())
    for data in (b"", PLEX.encode(), BLOB.encode(), BLOB.hash.markline, b"x" + thin(PLEX), thin(PLEX)[:-1]):
        with pytest.raises(e.ThinShapeError):
            rebuild(data, STORE.get)
    with pytest.raises(e.ThinShapeError):
        rebuild(BLOB.hash.markline + b"x" * 54 + b"\n", STORE.get)
    with pytest.raises(e.ThinShapeError):
        rebuild(trap[: -len(BLOB.payload)], STORE.get)
    with pytest.raises(e.ThinShapeError):
        rebuild(thin(PLEX).replace(b".H3\n", b".H4\n"), STORE.get)


def test_an_inner_record_of_the_wrong_kind() -> None:
    """REC-72: the thin record of a Plex names a Blob."""
    with pytest.raises(e.PlexShapeError):
        rebuild(plex(COORDINATE + TAI, PLEX.hash.markline), STORE.get)


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_arbitrary_bytes(head: bytes, inner: bytes) -> None:
    """REC-82: only RecordError leaves."""
    for data in (head, BLOB.hash.markline + head + b"\n" + BLOB.hash.markline):
        with pytest.raises(RecordError):
            rebuild(data, lambda _: BLOB.hash.markline + inner)
