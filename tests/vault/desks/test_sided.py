"""Regions of any number of sides over their common base (CLAY-74, LAZ-39)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.desks.merge_text import RegionUndecided, merge_text, regions_of
from vault.desks.sided import sided_regions, take_sided

_TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n"]), max_size=8).map(b"".join)


@given(base=_TEXT, ours=_TEXT, theirs=_TEXT)
def test_of_two_sides_the_regions_are_those_of_a_merge(base: bytes, ours: bytes, theirs: bytes) -> None:
    """CLAY-74: so what two sides merge, two among more merge alike."""
    found = [region for region in sided_regions(base, [ours, theirs]) if region.number]
    wanted = [region for region in regions_of(base, ours, theirs) if region.kind == "conflict"]
    assert [(r.base, *r.sides) for r in found] == [(r.base, r.ours, r.theirs) for r in wanted]
    merged = merge_text(base, ours, theirs)
    if merged is not None:
        assert take_sided("f", base, [ours, theirs], {}) == merged


@given(base=_TEXT, sides=st.lists(_TEXT, min_size=1, max_size=4), data=st.data())
def test_the_side_taken_everywhere_is_taken_whole(base: bytes, sides: list[bytes], data: st.DataObject) -> None:
    """LAZ-39: where a side is taken in each region, only what others alone changed is beside it."""
    regions = sided_regions(base, sides)
    assert b"".join(line for region in regions for line in region.base) == base
    for at, side in enumerate(sides):
        assert b"".join(line for region in regions for line in region.sides[at]) == side
    at = data.draw(st.integers(0, len(sides) - 1))
    numbers = [region.number for region in regions if region.number]
    assert numbers == list(range(1, len(numbers) + 1))
    same = take_sided("f", base, [sides[at]] * len(sides), {})
    assert same == sides[at]
    taken = take_sided("f", base, sides, dict.fromkeys(numbers, at))
    alone = [region.versions[0] if not region.number and region.versions else region.sides[at] for region in regions]
    assert taken == b"".join(line for lines in alone for line in lines)


def test_all_that_changed_it_follow_each_other_by_lines() -> None:
    base, sides = b"1\n2\n3", [b"1\n2\nA", b"1\n2\nB", b"1\n2\n3", b"1\n2\nA"]
    assert take_sided("f", base, sides, {1: "both"}) == b"1\n2\nA\nB"
    assert take_sided("f", base, sides, {1: 2}) == base
    for wrong in ({}, {1: 0, 2: 0}):
        with pytest.raises(RegionUndecided):
            take_sided("f", base, sides, wrong)
