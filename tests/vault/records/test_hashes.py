"""Record hashes and verifiers (REC-2, REC-3, REC-6, REC-38)."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.records import Blob, RecordError, RecordHash, Verifier, payload_digest
from vault.records.b64a import ALPHABET
from vault.records.errors import B64ATailError, HashTextError, VerifierTextError
from vault.records.hashes import MARKLINE_BYTES, is_record, texts_of

DIGESTS = st.binary(min_size=32, max_size=32)
HASHES = st.builds(RecordHash, st.sampled_from("BPS"), DIGESTS)


def test_the_digest_is_plain_blake3() -> None:
    """REC-3: the published BLAKE3 digest of nothing, and that of the empty Blob's payload."""
    assert payload_digest(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    name = RecordHash.of("B", b"Data-Length: 0\n\n")
    assert name.text == "B.svyLzSM7ffc91i~XDbkMnuOsdjsw_6GrXpTSckqHlpO.H3"


@given(st.lists(HASHES, max_size=5))
def test_texts_are_written_together_as_they_are_one_by_one(names: list[RecordHash]) -> None:
    """REC-2."""
    assert texts_of(names) == [name.text for name in names]


@given(HASHES)
def test_hash_text_round_trip(name: RecordHash) -> None:
    """REC-2."""
    assert RecordHash.parse(name.text) == name
    assert str(name) == name.text
    assert len(name.text) == 48
    assert repr(name) == f"RecordHash({name.text})"
    assert name.markline == f"🖧: {name.text}\n".encode()
    assert pickle.loads(pickle.dumps(name)) == name


def test_stored_bytes_carry_their_hash_only_whole() -> None:
    """REC-5: markline and digest."""
    blob = Blob(b"hello")
    stored, other = blob.encode(), Blob(b"other")
    assert is_record(blob.hash, stored)
    assert is_record(blob.hash, memoryview(stored))
    for wrong in (
        stored[:-1] + b"!",
        stored[:-1],
        stored + b"!",
        other.encode(),
        other.hash.markline + stored[MARKLINE_BYTES:],
        b"",
    ):
        assert not is_record(blob.hash, wrong)
    assert not is_record(RecordHash("P", blob.hash.digest), stored)


@given(HASHES, HASHES)
def test_hashes_sort_as_their_texts(left: RecordHash, right: RecordHash) -> None:
    """REC-11 at work: sets can be sorted without making a text."""
    assert (left < right) == (left.text < right.text)
    assert (left == right) == (left.text == right.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "B",
        "B..H3",
        "X." + "0" * 43 + ".H3",
        "b." + "0" * 43 + ".H3",
        "B." + "0" * 43 + ".H4",
        "B-" + "0" * 43 + ".H3",
        "B." + "0" * 44 + ".H3",
        "B." + "0" * 43 + ".H3\n",
        " B." + "0" * 42 + ".H3",
    ],
)
def test_other_hash_texts_are_refused(text: str) -> None:
    """REC-2."""
    with pytest.raises(HashTextError):
        RecordHash.parse(text)


def test_a_hash_is_made_of_a_kind_and_32_bytes() -> None:
    """REC-2."""
    for kind, digest in (("V", bytes(32)), ("", bytes(32)), ("BP", bytes(32)), ("B", bytes(31))):
        with pytest.raises(HashTextError):
            RecordHash(kind, digest)
    for last in set(ALPHABET) - set("048CGKOSW_dhlptx"):  # REC-10: one hash has one text
        with pytest.raises(B64ATailError):
            RecordHash.parse("B." + "0" * 42 + last + ".H3")
        with pytest.raises(B64ATailError):
            Verifier.parse("V." + "0" * 42 + last + ".H3")


@given(DIGESTS)
def test_verifier_round_trip(key: bytes) -> None:
    """REC-38."""
    verifier = Verifier(key)
    assert Verifier.parse(verifier.text) == verifier
    assert str(verifier) == verifier.text
    assert repr(verifier) == f"Verifier({verifier.text})"
    assert pickle.loads(pickle.dumps(verifier)) == verifier


@pytest.mark.parametrize("text", ["", "V.0.H3", "B." + "0" * 43 + ".H3", "V." + "0" * 43 + ".H4"])
def test_other_verifier_texts_are_refused(text: str) -> None:
    """REC-38."""
    with pytest.raises(VerifierTextError):
        Verifier.parse(text)


def test_a_verifier_has_32_bytes() -> None:
    """REC-38."""
    with pytest.raises(VerifierTextError):
        Verifier(bytes(33))


@given(st.text(max_size=60))
def test_only_record_errors_leave_the_parsers(text: str) -> None:
    for parser in (RecordHash.parse, Verifier.parse):
        with pytest.raises(RecordError):
            parser(text)


def test_long_text_is_shortened_in_messages() -> None:
    with pytest.raises(HashTextError) as caught:
        RecordHash.parse("B." + "0" * 10_000)
    assert len(caught.value.message) < 200
