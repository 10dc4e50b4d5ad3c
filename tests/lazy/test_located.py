"""What a visit sends is held in little room, and says of each record where it lies."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lazy.visits import located as module
from lazy.visits.located import Located
from vault.records import RecordHash

_RECORDS = st.builds(RecordHash, st.sampled_from("PS"), st.binary(min_size=32, max_size=32))


@given(st.lists(st.tuples(_RECORDS, st.integers(-2, 3)), unique_by=lambda pair: pair[0].digest), st.data())
def test_each_record_lies_where_it_was_last_said_to(pairs: list[tuple[RecordHash, int]], data: st.DataObject) -> None:
    """Be they few or many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", data.draw(st.sampled_from((0, 4, 100))))
        _look_at_each(pairs, data)


def _look_at_each(pairs: list[tuple[RecordHash, int]], data: st.DataObject) -> None:
    located, model = Located(data.draw(st.integers(0, 5))), dict(pairs)
    for record, at in pairs:
        located.add(record, at)
    for record in data.draw(st.lists(st.sampled_from([*model]), max_size=9)) if model else ():
        model[record] = data.draw(st.integers(-2, 3))
        located.move(record, model[record])
    assert list(located.records) == [*model]
    assert [located.at(record) for record in model] == [*model.values()]
    for at in range(-2, 4):
        there = located.those_at(at)
        assert list(there) == [record for record, lies in model.items() if lies == at]
        assert len(there) == len(list(there))
        assert all((record in there) == (lies == at) for record, lies in model.items())
    for kind, digest in model:
        other = RecordHash("S" if kind == "P" else "P", digest)
        assert located.at(other) is None
        assert other not in located
        assert other not in located.those_at(model[RecordHash(kind, digest)])
        with pytest.raises(KeyError):
            located.move(other, 1)


def test_a_hundred_thousand_take_some_bytes_each() -> None:
    """A first visit of a large folder sends a record for each file (performance: peak memory)."""
    gc.collect()
    tracemalloc.start()
    try:
        located = Located()
        for number in range(50_000):
            located.add(RecordHash("P", blake3(b"%d" % number).digest()), -1)
        assert tracemalloc.get_traced_memory()[0] < 50_000 * 100
    finally:
        tracemalloc.stop()
