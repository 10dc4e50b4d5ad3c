"""Header lines (REC-13..23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.strategies import extras
from vault.records import RecordError
from vault.records import errors as e
from vault.records.headers import check_line, check_name, check_pair, check_pairs, check_value, is_clean, split_line


@given(extras)
def test_round_trip(pairs: list[tuple[str, str]]) -> None:
    """REC-13, REC-23."""
    assert [split_line(check_line(f"{name}: {value}".encode())) for name, value in pairs] == pairs


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"A", e.HeaderSyntaxError),  # REC-13
        (b"", e.HeaderSyntaxError),
        (b": x", e.HeaderNameEmptyError),  # REC-14
        (b"A b: x", e.HeaderNameCharacterError),  # REC-15
        (b"A:x", e.HeaderSpaceError),  # REC-16
        (b"A:  x", e.HeaderSpaceError),
        (b"A: ", e.HeaderValueEmptyError),  # REC-17
        (b"A: \xff", e.HeaderUtf8Error),  # REC-18
        (b"A: e\xcc\x81", e.HeaderNotNfcError),
        (b"A: x\r", e.CarriageReturnError),  # REC-20
        (b"A: \xff\r", e.CarriageReturnError),
        (b"A: x\x00", e.HeaderControlError),  # REC-21
        (b"A: " + b"x" * 1022, e.HeaderTooLongError),  # REC-22
    ],
)
def test_each_rule_has_its_own_error(line: bytes, error: type[RecordError]) -> None:
    """REC-13..18, REC-20..22, REC-82."""
    with pytest.raises(error):
        split_line(check_line(line))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", e.HeaderNameEmptyError),
        ("a:b", e.HeaderNameCharacterError),
        ("a b", e.HeaderNameCharacterError),
        ("a\tb", e.HeaderNameCharacterError),
        ("a\nb", e.HeaderControlError),
        ("a\r", e.CarriageReturnError),
        ("e\u0301", e.HeaderNotNfcError),
        ("\ud800", e.HeaderUtf8Error),
    ],
)
def test_names_made_here_obey_the_same_rules(name: str, error: type[RecordError]) -> None:
    """REC-14, REC-15, REC-18, REC-21."""
    with pytest.raises(error):
        check_name(name)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("", e.HeaderValueEmptyError),
        (" x", e.HeaderSpaceError),
        ("a\nB: b", e.HeaderControlError),
        ("\x7f", e.HeaderControlError),
        ("a\r\n", e.CarriageReturnError),
        ("e\u0301", e.HeaderNotNfcError),
        ("\udcff", e.HeaderUtf8Error),
    ],
)
def test_values_made_here_obey_the_same_rules(value: str, error: type[RecordError]) -> None:
    """REC-16, REC-17, REC-18, REC-21; a line feed cannot smuggle in a header."""
    with pytest.raises(error):
        check_value(value)


def test_the_limit_counts_bytes() -> None:
    """REC-22: 1024 bytes without the LF; é has two."""
    check_pair("X", "é" * 510 + "x")
    with pytest.raises(e.HeaderTooLongError):
        check_pair("X", "é" * 511)


@pytest.mark.parametrize(
    ("pair", "error"),
    [
        (("", "x"), e.HeaderNameEmptyError),
        (("a b", "x"), e.HeaderNameCharacterError),
        (("a\n", "x"), e.HeaderControlError),
        (("e\u0301", "x"), e.HeaderNotNfcError),
        (("X", ""), e.HeaderValueEmptyError),
        (("X", " x"), e.HeaderSpaceError),
        (("X", "a\nB: b"), e.HeaderControlError),
        (("X", "e\u0301"), e.HeaderNotNfcError),
        (("X", "x" * 1022), e.HeaderTooLongError),
        (("X", "é" * 511), e.HeaderTooLongError),
    ],
)
def test_one_bad_header_among_good_ones_is_refused(pair: tuple[str, str], error: type[RecordError]) -> None:
    """REC-14..18, REC-21, REC-22: wherever it stands, and however often its name was asked about."""
    good = [("Group", "x"), ("X", "é" * 510 + "x"), ("Y", "x" * 1021)]
    check_pairs(good)
    for _ in range(2):
        for at in range(len(good) + 1):
            with pytest.raises(error):
                check_pairs([*good[:at], pair, *good[at:]])


@given(st.lists(st.binary(max_size=20) | st.just("A: é".encode()), max_size=4))
def test_the_quick_look_agrees_with_the_thorough_one(raw: list[bytes]) -> None:
    """REC-18..22: `is_clean` on a block says what `check_line` says on its lines."""
    lines = b"\n".join(raw).split(b"\n")
    block = b"\n".join(lines)
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return
    fine = True
    for line in lines:
        try:
            check_line(line)
        except RecordError:
            fine = False
    assert is_clean(block, text) == fine


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=30))
def test_splitting_keeps_every_byte(line: str) -> None:
    """REC-13, REC-23: nothing is trimmed or lost."""
    try:
        name, value = split_line(line)
    except RecordError:
        return
    assert f"{name}: {value}" == line
