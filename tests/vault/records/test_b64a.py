"""B64A (REC-7..12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.records import B64AError
from vault.records.b64a import ALPHABET, decode, encode, encode_digests, unchecked_digests
from vault.records.errors import B64ALengthError, B64ASymbolError, B64ATailError

VECTORS = [
    ("", ""),
    ("00", "00"),
    ("0000", "000"),
    ("000000", "0000"),
    ("FF", "~l"),
    ("FF00", "~l0"),
    ("000102", "0042"),
    ("FFFFFF", "~~~~"),
]


@pytest.mark.parametrize(("raw", "text"), VECTORS)
def test_published_vectors(raw: str, text: str) -> None:
    """REC-12, REC-7, REC-8."""
    assert encode(bytes.fromhex(raw)) == text
    assert decode(text) == bytes.fromhex(raw)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("01", B64ATailError),
        ("001", B64ATailError),
        ("~m", B64ATailError),
        ("~l1", B64ATailError),
        ("=", B64ASymbolError),
        ("+", B64ASymbolError),
        ("/", B64ASymbolError),
        ("00==", B64ASymbolError),
        ("0", B64ALengthError),
        ("00000", B64ALengthError),
        ("0é00", B64ASymbolError),
        ("00!0", B64ASymbolError),
        ("00?0", B64ASymbolError),
        ("00 0", B64ASymbolError),
        ("0000\n", B64ASymbolError),
        ("\ud80000", B64ASymbolError),
    ],
)
def test_only_canonical_text_is_decoded(text: str, error: type[B64AError]) -> None:
    """REC-9, REC-10, REC-12."""
    with pytest.raises(error):
        decode(text)


def test_the_alphabet_stands_in_ascii_order() -> None:
    """REC-7: digits, upper case, _, lower case, ~, each symbol worth its place."""
    assert sorted(ALPHABET) == list(ALPHABET)
    assert len(ALPHABET) == 64
    for value, symbol in enumerate(ALPHABET):
        assert encode(bytes([value << 2])) == symbol + "0"


def test_the_last_symbol_of_a_digest_has_sixteen_values() -> None:
    """REC-8: 32 bytes leave two unused bits, which are zero."""
    assert {encode(bytes(31) + bytes([low]))[-1] for low in range(256)} == set("048CGKOSW_dhlptx")


@pytest.mark.parametrize(("start", "values"), [("~", "0GWl"), ("~~", "048CGKOSW_dhlptx"), ("~~~", ALPHABET)])
def test_each_last_symbol_with_a_loose_bit_is_refused(start: str, values: str) -> None:
    """REC-10: every one of the 64, so that no bit of the four, or of the two, may be set."""
    for symbol in ALPHABET:
        if symbol in values:
            assert encode(decode(start + symbol)) == start + symbol
        else:
            with pytest.raises(B64ATailError):
                decode(start + symbol)


@given(st.binary(max_size=100))
def test_round_trip_and_length(raw: bytes) -> None:
    """REC-7: ceil(8N/6) symbols, and back."""
    text = encode(raw)
    assert len(text) == -(-8 * len(raw) // 6)
    assert decode(text) == raw


@given(st.text(ALPHABET, max_size=12))
def test_text_is_refused_or_is_the_only_one(text: str) -> None:
    """REC-10: no two texts stand for the same bytes."""
    try:
        raw = decode(text)
    except B64AError:
        return
    assert encode(raw) == text


@given(st.integers(0, 40).flatmap(lambda n: st.tuples(st.binary(min_size=n, max_size=n), st.binary(min_size=n))))
def test_texts_sort_as_their_bytes(pair: tuple[bytes, bytes]) -> None:
    """REC-11: equal lengths sort as bytes, a strict prefix sorts first."""
    left, right = pair
    cut = right[: len(left)]
    assert (encode(left) < encode(cut)) == (left < cut)
    if len(right) > len(cut):
        whole = encode(right)
        assert all(whole[:n] < whole for n in range(len(whole)))


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=5))
def test_digests_are_read_and_written_together_as_they_are_one_by_one(digests: list[bytes]) -> None:
    texts = [encode(digest) for digest in digests]
    assert encode_digests(digests) == texts
    assert unchecked_digests(texts) == digests
