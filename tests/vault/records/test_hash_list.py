"""Hashes in a row, packed, behave as a sequence of them and take a quarter of the room (performance: peak memory)."""

from __future__ import annotations

import tracemalloc

from vault.records import RecordHash
from vault.records.hash_list import HashList

_HASHES = [RecordHash("BPS"[number % 3], bytes([number]) * 32) for number in range(10)]


def test_a_hash_list_is_a_sequence_of_hashes() -> None:
    found = HashList(_HASHES[:4])
    found.extend(_HASHES[4:7])
    found.extend(HashList(_HASHES[7:]))
    assert list(found) == _HASHES
    assert len(found) == 10
    assert (found[0], found[-1]) == (_HASHES[0], _HASHES[-1])
    for part in (slice(3, None), slice(0, 0), slice(None, None, 3), slice(-2, None), slice(8, 2, -2)):
        assert list(found[part]) == _HASHES[part]
    assert _HASHES[5] in found
    assert RecordHash("S", bytes(32)) not in found
    assert not HashList()
    assert found == HashList(_HASHES) != HashList(_HASHES[1:])
    for other in (_HASHES, tuple(_HASHES)):
        assert found == other
        assert found != other[1:]


def test_a_hash_list_is_cut_to_what_it_was_and_a_part_of_it_stays() -> None:
    found = HashList(_HASHES[:2])
    part = found[:]
    found.extend(_HASHES[2:])
    assert list(part) == _HASHES[:2]
    found.cut(3)
    assert list(found) == _HASHES[:3]


def test_a_hash_list_takes_33_bytes_for_each() -> None:
    tracemalloc.start()
    try:
        found = HashList(RecordHash("P", number.to_bytes(32, "big")) for number in range(10_000))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 10_000
    assert size < 10_000 * 40
