"""TAI (REC-42..45)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.strategies import tais
from vault.records import Plex, Tai, parse_record
from vault.records.errors import TaiError


@given(tais)
def test_round_trip(tai: Tai) -> None:
    """REC-42: ten digits, a colon, nine digits."""
    assert len(tai.text) == 20
    assert tai.text[10] == ":"
    assert Tai.parse(tai.text) == tai
    assert Tai.ZERO.later(tai.total_ns) == tai
    assert str(tai) == tai.text
    assert repr(tai) == f"Tai({tai.text})"


@given(tais, tais)
def test_order_is_the_order_of_the_texts(left: Tai, right: Tai) -> None:
    """REC-45: TAI orders versions."""
    assert (left < right) == (left.text < right.text) == (left.total_ns < right.total_ns)


@given(st.text("0123456789:+- _.", max_size=22))
def test_any_other_shape_is_refused(text: str) -> None:
    """REC-43."""
    try:
        assert Tai.parse(text).text == text
    except TaiError:
        assert not (len(text) == 20 and text[10] == ":" and (text[:10] + text[11:]).isdigit())


def test_clock_and_utc_differ_by_the_offset() -> None:
    """REC-44: 37 s in 2026; the seed's example is 23 s before the new year of 2022 in UTC."""
    assert Tai.parse("1640995200:000000000").to_utc_iso() == "2021-12-31T23:59:23.000000000Z"
    assert Tai.from_unix_ns(1_767_225_600_000_000_005).text == "1767225637:000000005"
    assert Tai.from_unix_ns(0, leap=0) == Tai.ZERO
    assert Tai.from_unix_ns(1_767_225_600_123_456_789).to_utc_iso() == "2026-01-01T00:00:00.123456789Z"
    assert Tai(9_999_999_999, 999_999_999).to_utc_iso() == "2286-11-20T17:46:02.999999999Z"
    assert Tai.ZERO.to_utc_iso() == "1969-12-31T23:59:23.000000000Z"


def test_the_range_ends() -> None:
    """REC-43: what cannot be written is refused, never wrapped."""
    last = Tai(9_999_999_999, 999_999_999)
    makes: list[Callable[[], Tai]] = [
        lambda: Tai(last.seconds + 1, 0),
        lambda: Tai(-1, 0),
        lambda: Tai(0, 1_000_000_000),
        lambda: Tai.from_unix_ns(-38_000_000_000),
    ]
    for make in makes:
        with pytest.raises(TaiError):
            make()


def test_a_far_future_tai_is_ordinary_data() -> None:
    """REC-45: no reader compares TAI with a clock, so it proves nothing about when somebody signed."""
    plex = Plex.build(group="g", app="a", name="n", tai=Tai(9_999_999_999))
    assert parse_record(plex.encode()) == plex
