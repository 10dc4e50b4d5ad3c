"""`plain_record` says the same as the thorough parser, or nothing."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import INVALID, KEY, SEAL, VALID, mark
from tests.vault.records.strategies import plexes, seals
from vault.desks.content import data_plex
from vault.profile import Chunk, Manifest
from vault.records import Blob, Plex, RecordError, Seal, Tai, iter_records
from vault.records.b64a import encode
from vault.records.plain import plain_record

_LABEL = Plex.build(
    group="friends/5tZf9B~Yqf9Sn7zD",
    app="lace/label",
    name="main/first",
    tai=Tai(1, 2),
    extras=[("+Link", f"rev {SEAL.hash.text}"), ("Seq", "7"), ("Seq", "8")],
)
_CHUNK = data_plex("friends/5tZf9B~Yqf9Sn7zD", b"a\n\nb" * 100)
_LIST = Manifest.to_plex(
    group="friends/5tZf9B~Yqf9Sn7zD", digest=b"d" * 32, level=1, chunks=[Chunk(500, _CHUNK.hash)] * 20
)
_LINES = [
    "", " ", "x", "Group: g", "App: a", "Name: n", "Name:  n", "Name: ../n", "Name: n/", "Name: n\t", "Name: é",
    "TAI: 0000000001:000000002", "TAI: ٠000000001:000000002", "TAI: 1:2", "+Link: x", "Seq: 7", "Seq:7", "Seq:  7",
    "S q: 7", "S:q: 7", "Group: x", "Signature: x", "🖧: x", "⋯🖧: x", "Zeit: ä", "Zeit: a\u0308", "Zeit: \x7f",
    "Zeit: \u2028", "Zeit: " + "x" * 1018, "Zeit: " + "x" * 1019, f"App: {'a' * 129}", f"Name: {'n' * 129}",
    "Group: a//b", "Group: a{b", "App:  a", "App: ", "Data-Length: 1",
]  # fmt: skip


def _agrees(data: bytes) -> Seal | Plex | None:
    """Hold the quick parser to the thorough one; return what it says."""
    end = data.find(b"\n\n")
    found = plain_record(data, end) if end >= 0 else None
    try:
        records = list(iter_records(BytesIO(data), verify=False))
    except RecordError:
        assert found is None
        return None
    if found is not None:
        assert records == [found]
        assert isinstance(records[0], Seal | Plex)
        quick, slow = (one.plex if isinstance(one, Seal) else one for one in (found, records[0]))
        assert (found.hash, quick.hash, quick.blob.hash) == (records[0].hash, slow.hash, slow.blob.hash)
        assert found.encode() == data
    return found


@given(seals)
def test_it_gives_the_value_of_any_seal_or_nothing(sealed: Seal) -> None:
    """REC-82, REC-83."""
    _agrees(sealed.encode())


@given(plexes)
def test_it_gives_the_value_of_any_plex_or_nothing(plex: Plex) -> None:
    """REC-82, REC-83."""
    _agrees(plex.encode())


@pytest.mark.parametrize("data", [data for _, data in VALID] + [data for _, _, data, _ in INVALID])
def test_it_accepts_nothing_that_breaks_a_rule(data: bytes) -> None:
    """REC-82."""
    _agrees(data)


@given(
    st.lists(st.tuples(st.integers(0, 7), st.booleans(), st.sampled_from(_LINES)), max_size=3), st.binary(max_size=9)
)
def test_headers_are_held_to_every_rule(changes: list[tuple[int, bool, str]], data: bytes) -> None:
    """REC-13 to REC-23, REC-29 to REC-36, REC-42 to REC-61: with digests that are right, the rule alone refuses."""
    plex = replace(_LABEL, blob=Blob(data))
    lines = plex.encode().split("🖧: B.".encode())[0].decode().split("\n")[1:-1]
    for at, replaces, line in changes:
        lines[at : at + replaces] = [line]
    inner = mark("P", "".join(f"{line}\n" for line in lines).encode() + plex.blob.encode())
    signature = encode(KEY.sign_digest(plex.hash.digest))
    sealed = mark("S", f"Signed-By: {KEY.verifier.text}\nSignature: {signature}\n".encode() + inner)
    found = _agrees(sealed)
    assert found is not None or changes
    assert (_agrees(inner) is None) is (found is None)


@given(st.integers(0, 700), st.integers(1, 255))
def test_no_changed_byte_is_overlooked(at: int, flip: int) -> None:
    """REC-5, REC-36: whichever byte differs, it is another record or none."""
    for record in (Seal.sign(_LABEL, KEY), _LABEL, _CHUNK):
        data = bytearray(record.encode())
        data[at % len(data)] ^= flip
        assert _agrees(bytes(data)) is None


def test_small_records_of_a_circle_are_plain() -> None:
    """Nearly all that a sync brings is read this way; else the quick parser would be for nothing."""
    assert _agrees(Seal.sign(_LABEL, KEY).encode()) == Seal.sign(_LABEL, KEY)
    assert _agrees(Seal.sign(_LABEL, KEY).encode() + b"x") is None
    assert _agrees(_CHUNK.encode()) == _CHUNK
    assert _agrees(_LIST.encode()) == _LIST
    assert _agrees(_CHUNK.encode() + b"x") is None
