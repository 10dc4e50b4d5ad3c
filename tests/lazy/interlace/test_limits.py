"""Limits: defaults, ranges and negotiation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.errors import NegotiationFailed
from lazy.interlace.limits import DEFAULT_LIMITS, RANGES, Limits

any_limits = st.builds(Limits, **{name: st.integers(span.least, span.largest) for name, span in RANGES.items()})


def test_the_defaults_are_those_of_the_specification() -> None:
    """INT-157, INT-158, INT-159, INT-160, INT-161, INT-162, INT-163."""
    assert dict(DEFAULT_LIMITS.items()) == {
        "max_fact_block_bytes": 67_108_864,
        "max_advertisement_records": 100_000,
        "max_partition_summaries": 16_384,
        "max_narrowing_depth": 12,
        "max_total_transferred_bytes": 1_073_741_824,
        "max_loop_iterations": 16,
        "phase_timeout_seconds": 30,
    }


@given(any_limits, any_limits)
def test_the_effective_limit_is_the_minimum_and_equal_on_both_sides(one: Limits, other: Limits) -> None:
    """INT-71."""
    agreed = one.negotiate(other)
    assert agreed == other.negotiate(one)
    mine, theirs = dict(one.items()), dict(other.items())
    assert dict(agreed.items()) == {name: min(mine[name], theirs[name]) for name in RANGES}


@given(any_limits)
def test_limits_survive_their_facts(limits: Limits) -> None:
    assert Limits.from_pairs((f.args[0], f.args[1]) for f in limits.to_facts()) == limits


def test_names_left_out_or_unknown_change_nothing() -> None:
    """INT-72."""
    theirs = Limits.from_pairs([("max_speed", "x"), ("max_loop_iterations", "5"), ("max_loop_iterations", "7")])
    assert DEFAULT_LIMITS.negotiate(theirs) == Limits(max_loop_iterations=5)


@pytest.mark.parametrize("value", ["", "x", "-1", "+1", "01", "1_0", " 1", "1.0", "١", "0", "9" * 30, "1" * 20])
def test_a_malformed_or_impossible_value_fails_the_negotiation(value: str) -> None:
    """INT-73."""
    with pytest.raises(NegotiationFailed):
        Limits.from_pairs([("max_loop_iterations", value)])


def test_a_limit_outside_its_range_cannot_be_made() -> None:
    for name, span in RANGES.items():
        for value in (span.least - 1, span.largest + 1):
            with pytest.raises(NegotiationFailed):
                Limits(**{name: value})
