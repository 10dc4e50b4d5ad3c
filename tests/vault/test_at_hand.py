"""What was stored a moment ago is found again, in little room."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from vault.profile import DATA_APP
from vault.records import RecordHash
from vault.store import at_hand
from vault.store.at_hand import AtHand, DigestTable

_DIGESTS = st.binary(min_size=32, max_size=32) | st.binary(min_size=4, max_size=4).map(lambda part: part * 8)


@pytest.fixture(autouse=True)
def none_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "FEW", 0)


@given(st.dictionaries(_DIGESTS, st.binary(min_size=8, max_size=8)), st.lists(_DIGESTS))
def test_a_table_gives_back_what_it_took(values: dict[bytes, bytes], others: list[bytes]) -> None:
    """Also where a digest stands across two others, or in a value."""
    table = DigestTable(8)
    for digest, value in values.items():
        table.put(digest, value)
    assert {digest: table.get(digest) for digest in (*values, *others)} == {
        digest: values.get(digest) for digest in (*values, *others)
    }
    assert list(table.items()) == sorted(values.items())
    assert len(table) == len(values)
    table.clear()
    assert (len(table), list(table.items())) == (0, [])


def test_many_are_taken_at_once_as_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "FEW", 6)
    pairs = [(blake3(b"%d" % number).digest(), b"%8d" % number) for number in range(20)]
    table = DigestTable(8)
    for start, end in ((0, 4), (4, 9), (9, 20)):  # as objects, too many for that, and packed by then
        table.put_all(pairs[start:end])
        assert [*table.items()] == sorted(pairs[:end])
        assert [table.get(digest) for digest, _ in pairs] == [*(value for _, value in pairs[:end])] + [None] * (
            20 - end
        )


@pytest.mark.parametrize("count", [3, 20])
def test_a_table_that_nobody_has_takes_no_room(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Be it of few or many: lace looks for what only names itself so rarely that each visit's table lay there still."""
    monkeypatch.setattr(at_hand, "FEW", 6)
    table = DigestTable(8)
    table.put_all([(blake3(b"%d" % number).digest(), bytes(8)) for number in range(count)])
    kept = weakref.ref(table)
    gc.disable()
    try:
        del table
        assert kept() is None
    finally:
        gc.enable()


def test_a_digest_across_two_others_is_not_taken_for_one() -> None:
    table = DigestTable(8)
    asked = bytes(31) + b"\1"
    table.put(bytes(32), bytes(7) + b"\1")
    assert table.get(asked) is None
    table.put(asked, b"value...")
    assert (table.get(asked), table.get(bytes(32))) == (b"value...", bytes(7) + b"\1")


def test_the_values_of_many_take_hardly_more_room_than_their_bytes() -> None:
    """A folder of a hundred thousand files has as many sums (performance: peak memory)."""
    gc.collect()
    tracemalloc.start()
    try:
        table = DigestTable(72)
        for number in range(50_000):
            table.put(blake3(b"%d" % number).digest(), b"x" * 72)
        assert tracemalloc.get_traced_memory()[0] < 50_000 * (32 + 72) * 1.25
    finally:
        tracemalloc.stop()


def test_of_content_no_more_places_are_kept_than_there_is_room_for() -> None:
    found = AtHand()
    names = [RecordHash("P", blake3(b"%d" % number).digest()) for number in range(3)]
    found.put_contents(names, range(7, 10))
    assert [found.get(name) for name in names] == [(number, DATA_APP, b"") for number in range(7, 10)]
    sealed = RecordHash("S", names[0].digest)
    assert found.get(sealed) is None
    found.put(sealed, (3, "lace/log", b"said"))
    assert found.get(sealed) == (3, "lace/log", b"said")
    found.put_contents([RecordHash("P", bytes([1] * 32))] * (at_hand.MAX_CONTENTS + 5), range(at_hand.MAX_CONTENTS + 5))
    assert len(found._contents) == at_hand.MAX_CONTENTS
    found.clear()
    assert (found.get(names[0]), found.get(sealed)) == (None, None)


def test_few_and_many_are_found_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_hand, "FEW", 4)
    found, table = AtHand(), DigestTable(8)
    names = [RecordHash("P", blake3(b"%d" % number).digest()) for number in range(9)]
    for count in range(9):
        found.put_contents([names[count]], [count])
        table.put(names[count].digest, b"%8d" % count)
        assert [found.get(name) for name in names[: count + 1]] == [(p, DATA_APP, b"") for p in range(count + 1)]
        assert [table.get(name.digest) for name in names[: count + 1]] == [b"%8d" % p for p in range(count + 1)]
        assert {found.get(name) for name in names[count + 1 :]} <= {None}
        assert (len(table), [*table.items()]) == (count + 1, sorted(table.items()))
