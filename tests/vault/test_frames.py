"""Encodings below records: exact bytes or a named failure, whatever the bytes (CLAY-37)."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from vault.frames import MAX_FRAME_BYTES, MAX_PREFIX_BYTES, RAW, ZSTD, BadFrame, decode, encode

_PIECES = st.one_of(
    st.binary(max_size=4_000), st.builds(lambda part, n: part * n, st.binary(max_size=40), st.integers(0, 2_000))
)


@given(data=_PIECES, prefix=_PIECES)
def test_what_is_decoded_is_what_was_encoded(data: bytes, prefix: bytes) -> None:
    """CLAY-29, CLAY-35: direct or delta, decoding gives the exact bytes, so a record's hash names them either way."""
    form, stored = encode(data, prefix)
    assert len(stored) <= len(data)
    assert decode(form, stored, len(data), prefix) == data


def test_bytes_that_are_like_others_cost_little_beside_them() -> None:
    base = bytes(range(256)) * 2 + zstandard.compress(b"".join(n.to_bytes(3, "big") for n in range(60_000)))
    changed = base[:900] + b"something else" + base[950:]
    assert len(encode(changed, base)[1]) < 100 < len(encode(changed)[1])


def test_what_does_not_shrink_rests_as_it_is() -> None:
    noise = zstandard.compress(b"".join(n.to_bytes(3, "big") for n in range(60_000)))
    assert encode(noise) == (RAW, noise)


@given(stored=st.binary(max_size=300), raw=st.integers(-1, 400), form=st.integers(0, 3), prefix=st.binary(max_size=50))
def test_hostile_bytes_decode_to_what_is_said_or_are_refused(stored: bytes, raw: int, form: int, prefix: bytes) -> None:
    try:
        data = decode(form, stored, raw, prefix)
    except BadFrame:
        return
    assert len(data) == raw


def test_a_bomb_is_refused_before_memory_is_taken() -> None:
    bomb = zstandard.compress(bytes(64 << 20))
    for raw in (100, MAX_FRAME_BYTES, 64 << 20):
        with pytest.raises(BadFrame):
            decode(ZSTD, bomb, raw)
    with pytest.raises(BadFrame):
        decode(ZSTD, b"", 0, bytes(MAX_PREFIX_BYTES + 1))
    endless = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1000))
    with pytest.raises(BadFrame):
        decode(ZSTD, endless, 1000)
    with pytest.raises(BadFrame):
        decode(ZSTD, zstandard.compress(b"one") + zstandard.compress(b"two"), 3)
