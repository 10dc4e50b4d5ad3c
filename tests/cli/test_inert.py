"""Foreign text cannot drive the terminal (APP-12)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lace_tui.words.inert import inert, inert_lines, width_of

FOREIGN = st.text(st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("menu.md", "menu.md"),
        ("", ""),
        ("Grüße/日本　語.txt", "Grüße/日本　語.txt"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b2J", "\\u009b2J"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("photo\u202egnp.exe", "photo\\u202egnp.exe"),
        ("\u2066\u2069\u200e\u061c", "\\u2066\\u2069\\u200e\\u061c"),
        ("a\u200bb\u200d\ufeff\u00ad", "a\\u200bb\\u200d\\ufeff\\u00ad"),
        ("\u3164\u2800\u115f", "\\u3164\\u2800\\u115f"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\u0085"),
        ("\U000e0041\U000e0101", "\\U000e0041\\U000e0101"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("\ud800", "\\ud800"),
        ("e\u0301", "e\u0301"),
        ("Z" + "\u0335" * 8, "Z" + "\u0335" * 6 + "\\u0335\\u0335"),
    ],
)
def test_shown(text: str, shown: str) -> None:
    assert inert(text) == shown


@given(FOREIGN)
def test_nothing_harmful_is_left(text: str) -> None:
    shown = inert(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1
    assert inert(shown) == shown


@given(FOREIGN, st.integers(0, 30))
def test_cut_to_the_width(text: str, width: int) -> None:
    whole, cut = inert(text), inert(text, width)
    assert width_of(cut) <= width
    assert cut == whole or (cut.endswith("..."[:width]) and width_of(whole) > width)


def test_wide_letters_take_two_cells() -> None:
    assert width_of("日本e\u0301") == 5
    assert inert("日本語の名前", 8) == "日本..."


def test_lines_are_parted_by_line_feeds_only() -> None:
    assert inert_lines("one\r\ntwo\x0bthree\n") == ["one", "two\\x0bthree", ""]
