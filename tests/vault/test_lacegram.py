"""The grammar that rules and fact blocks share (FAC-6, FAC-11, H-4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.facts import BlockPhase, Fact, format_block, parse_block
from vault.lacegram import module_id, quoted, split_line, unquoted
from vault.rules import canonical_text, parse_facts, parse_program, program_id


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"])), max_size=3))
def test_lines_are_read_as_they_were_written(values: list[str]) -> None:
    """H-4: only a quote and a backslash are escaped."""
    assert split_line(f"A1({','.join(map(quoted, values))})") == ("A1", tuple(values))
    assert [unquoted(quoted(value)) for value in values] == values


@pytest.mark.parametrize(
    "line", ["", "A", "a('x')", "A ('x')", "A('x' )", "A('x',)", "A(x)", "A('x)", r"A('\n')", "A('')('')", "A('x')\n"]
)
def test_what_is_no_fact_is_none(line: str) -> None:
    """FAC-6: nothing stands outside constants."""
    assert split_line(line) is None


def test_rules_and_exchanges_read_the_same_lines_and_name_the_same_texts() -> None:
    """FAC-11, INT-18: a constant, and a module, is the same to both."""
    data = format_block([Fact("Advertised", ["P.1", r"it's \ here"])])
    ((_, args),) = parse_block(data, BlockPhase.LISTING, 100)
    assert parse_facts(data) == {"Advertised": [args]}
    program = parse_program("A(X) :- Have(X).")
    assert program_id(program) == module_id(canonical_text(program))
