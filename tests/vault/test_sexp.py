from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.sexp import MAX_DEPTH, Sexp, SexpError, Symbol, clean_text, dumps, loads

symbols = (
    st.from_regex(r"[A-Za-z][A-Za-z0-9._/+-]{0,12}", fullmatch=True)
    .filter(lambda name: name.lower() not in {"inf", "nan", "infinity"})
    .map(Symbol)
)
strings = st.text(max_size=40).map(clean_text)
numbers = st.integers(-(2**63) + 1, 2**63 - 1)
values: st.SearchStrategy[Sexp] = st.recursive(
    symbols | strings | numbers,
    lambda inner: st.lists(inner, max_size=6).map(tuple),
    max_leaves=40,
)


@given(values, st.booleans())
def test_round_trip(value: Sexp, pretty: bool) -> None:
    """LAZ-79: what we write is a valid S-expression, and it is the same value again."""
    text = dumps(value, pretty=pretty)
    assert loads(text, len(text)) == value
    assert type(loads(text, len(text))) is type(value)


@given(values)
def test_flat_text_is_one_line_and_canonical(value: Sexp) -> None:
    text = dumps(value, pretty=False)
    assert "\n" not in text
    assert dumps(loads(f"\n {text}\n", 10**6), pretty=False) == text


@given(st.text(alphabet=" ()\"\\\n;'`,[]?#abn.-+015", max_size=30) | st.text(max_size=30))
def test_foreign_text_is_read_or_refused_cleanly(text: str) -> None:
    try:
        value = loads(text, 1000)
    except SexpError:
        return
    assert loads(dumps(value), 1000) == value


def test_symbols_that_lisp_gives_a_meaning_stay_symbols() -> None:
    assert loads("(nil t none)", 100) == (Symbol("nil"), Symbol("t"), Symbol("none"))
    assert loads("()", 2) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "(",
        ")",
        "(a",
        "a)",
        "(a) (b)",
        "a b",
        '"open',
        '"bad \\x escape"',
        '"end\\"',
        "'quoted",
        "[1]",
        "; comment",
        "(a . b)",
        "1.5",
        "1e3",
        "01",
        "-0",
        "+1",
        "1_0",
        "٣",
        "nan",
        "(Infinity)",
        "9223372036854775808",
        "99999999999999999999",
        'a"b"',
        '"a""b"',
        '"tab\t"',
        '"line\n"',
        "a\tb",
        "a\\ b",
        "x" * 65,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(SexpError):
        loads(text, 1000)


def test_bounds_hold_both_ways() -> None:
    deep: Sexp = 1
    for _ in range(MAX_DEPTH):
        deep = (deep,)
    assert loads(dumps(deep), 1000) == deep
    with pytest.raises(SexpError, match="deep"):
        dumps((deep,))
    with pytest.raises(SexpError, match="deep"):
        loads("(" * 100_000, 100_000)
    with pytest.raises(SexpError, match="longer"):
        loads("(abc)", 4)


@pytest.mark.parametrize("value", [True, 1.5, None, [1], 2**63, "\x1b[2J", "\ud800", b"x"])
def test_other_values_are_not_written(value: object) -> None:
    with pytest.raises(SexpError):
        dumps((value,))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "1a", "a b", "a(", "nan", "INF", "é"])
def test_other_symbols_are_refused(name: str) -> None:
    with pytest.raises(SexpError):
        Symbol(name)


def test_cleaning_keeps_what_has_an_escape() -> None:
    assert clean_text("a\x1b[0m\tb\n") == "a\ufffd[0m\tb\n"
    assert loads(dumps(clean_text("\x00\x85\u2028")), 10) == "\ufffd\ufffd\ufffd"


def test_wide_values_are_indented() -> None:
    """LAZ-79: readable by a person."""
    value: Sexp = (Symbol("peers"), (Symbol("peer"), "a" * 60), (Symbol("peer"), "b" * 60))
    assert dumps(value) == f'(peers\n  (peer "{"a" * 60}")\n  (peer "{"b" * 60}"))'
    assert dumps((Symbol("peers"), "bob")) == '(peers "bob")'
