"""Names of content as people write them (CLAY-13 to CLAY-16)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import CallerError
from vault.names import BadName, Version
from vault.records import RecordHash, Tai
from vault.revisions.cases import Address, BadCase, Date, Hash, Label, Number, parse_address, parse_case, parse_side


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("main", Address(None, "main")),
        ("main@3", Address(None, "main", Number(3))),
        ("main@0", Address(None, "main", Number(0))),
        ("self/main", Address("self", "main")),
        ("bob/main@1.2.3", Address("bob", "main", Version(1, 2, 3))),
        ("bob/main@1.2.3-merged", Address("bob", "main", Version(1, 2, 3, merged=True))),
        ("Bob Ross/my songs@draft 2", Address("Bob Ross", "my songs", Label("draft 2"))),
        (f"bob/main@S.{'0' * 43}.H3", Address("bob", "main", Hash(RecordHash("S", bytes(32))))),
        (f"main@S.{'0' * 42}.H3", Address(None, "main", Label(f"S.{'0' * 42}.H3"))),
    ],
)
def test_addresses(text: str, expected: Address) -> None:
    """CLAY-13, and the version as the fourth way to say it."""
    assert parse_address(text) == expected
    assert str(expected) == text
    assert expected.is_own == text.startswith("self/")


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-05-01", "2026-05-01T00:00:00"),
        ("2026-05-01T12:30", "2026-05-01T12:30:00"),
        ("2026-05-01T12:30Z", "2026-05-01T12:30:00"),
        ("2026-05-01T12:30:45Z", "2026-05-01T12:30:45"),
        ("2024-02-29t23:59:59z", "2024-02-29T23:59:59"),
    ],
)
def test_dates_are_utc(text: str, iso: str) -> None:
    """CLAY-16."""
    case = parse_case(text)
    assert isinstance(case, Date)
    assert case.tai.to_utc_iso() == iso + ".000000000Z"
    assert str(case) == text


def test_a_day_is_its_first_second() -> None:
    day = parse_case("2026-05-01")
    before = parse_case("2026-04-30T23:59:59Z")
    assert isinstance(day, Date)
    assert isinstance(before, Date)
    assert day.tai.total_ns - before.tai.total_ns == 10**9


@pytest.mark.parametrize(
    "case",
    [
        *["", "01", "-1", "99999999999", "4000000000", "+3", " 3", "3 ", "\u0663", "1.2", "1.2.3.4", "1.2.3-draft"],
        *["2026-13-01", "2026-02-30", "2026-05-01T", "2026-05-01T25:00Z", "2026-05-01T12:30:45+01:00", "2026-5-1"],
        *["0000-01-01", "1969-12-31", "9999-01-01", "v/1"],
    ],
)
def test_what_is_no_case(case: str) -> None:
    with pytest.raises(BadCase) as caught:
        parse_address(f"main@{case}")
    assert caught.value.exit_code == 2
    assert "main@3" in caught.value.hint


@pytest.mark.parametrize("text", ["", "@3", "/main", "bob/", "a/b/c", "ma:in", "bob/self", "\x1b[2J", "self", "../x"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(BadName):
        parse_address(text)


def test_the_owner_and_a_case() -> None:
    assert parse_side("bob") == ("bob", None)
    assert parse_side("bob@1.0.0") == ("bob", Version(1, 0, 0))
    assert parse_side("self@2") == ("self", Number(2))
    with pytest.raises(BadName):
        parse_side("bob/main@1")


def test_values_validate_themselves() -> None:
    for value in (-1, 2**31):
        with pytest.raises(BadCase):
            Number(value)
    with pytest.raises(BadName):
        Label("1st")
    with pytest.raises(BadName):
        Address("a/b", "main")
    assert Date("x", Tai(5)).tai == Tai(5)


@given(st.text(max_size=30))
def test_any_text_gives_a_case_or_a_sentence(text: str) -> None:
    """APP-14: nothing but an error of the caller leaves the parser, and what it reads is written the same again."""
    with suppress(CallerError):
        assert str(parse_address(text)) == text


@given(st.integers(0, 2**31 - 1))
def test_every_number_is_a_number(number: int) -> None:
    assert parse_case(str(number)) == Number(number)


@given(st.datetimes(datetime(1970, 1, 1), datetime(2286, 1, 1)))
def test_every_date_of_our_time_is_a_date(moment: datetime) -> None:
    case = parse_case(f"{moment:%Y-%m-%dT%H:%M:%S}Z")
    assert isinstance(case, Date)
    assert case.tai.to_utc_iso()[:19] == f"{moment:%Y-%m-%dT%H:%M:%S}"
