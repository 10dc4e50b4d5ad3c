"""Fact blocks: every rule of the grammar, by table and by property (INT-18..20, INT-144, INT-151, FAC-6)."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.errors import BadFactValue, MalformedFactBlock, OversizedFactBlock
from lazy.interlace.facts import PREDICATES, BlockPhase, Fact, format_block, parse_block

LIMIT = 1 << 20

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))).filter(
    lambda text: all(ord(c) >= 32 for c in text)
)


def nfc(text: str) -> str:
    return normalize("NFC", text)


hello_facts = st.lists(
    st.one_of(
        st.builds(Fact, st.just("HelloAdvertisedField"), st.tuples(texts.map(nfc))),
        st.builds(Fact, st.just("HelloLimit"), st.tuples(texts.map(nfc), texts.map(nfc))),
        st.just(Fact("HelloAllAdvertisedFields")),
    ),
    unique=True,
)


def test_the_seeds_hello_example_reads_as_written() -> None:
    # INT-18, INT-19, INT-41
    block = (
        b"HelloExchangePlan('E.EXAMPLE')\nHelloTAI('1640995200:000000000')\nHelloAllAdvertisedFields()\n"
        b"HelloLimit('max_total_transferred_bytes','1073741824')\n"
    )
    facts = parse_block(block, BlockPhase.HELLO, LIMIT)
    assert facts == (
        Fact("HelloExchangePlan", ("E.EXAMPLE",)),
        Fact("HelloTAI", ("1640995200:000000000",)),
        Fact("HelloAllAdvertisedFields"),
        Fact("HelloLimit", ("max_total_transferred_bytes", "1073741824")),
    )
    assert format_block(facts) == block


def test_quotes_and_backslashes_are_escaped_and_nothing_else() -> None:
    # H-4
    fact = Fact("HelloAdvertisedField", ("it's a \\ 'x',y)",))
    assert fact.line == "HelloAdvertisedField('it\\'s a \\\\ \\'x\\',y)')"
    assert parse_block(format_block([fact]), BlockPhase.HELLO, LIMIT) == (fact,)


def test_empty_lines_mean_nothing() -> None:
    assert parse_block(b"\n\nHelloSigner('x')\n\n", BlockPhase.HELLO, LIMIT) == (Fact("HelloSigner", ("x",)),)
    assert parse_block(b"", BlockPhase.HELLO, LIMIT) == ()


@given(hello_facts)
def test_what_is_formatted_is_read_back(facts: list[Fact]) -> None:
    """INT-18."""
    assert parse_block(format_block(facts), BlockPhase.HELLO, LIMIT) == tuple(facts)


@given(hello_facts.filter(bool), st.data())
def test_a_changed_byte_is_refused_or_changes_the_facts(facts: list[Fact], data: st.DataObject) -> None:
    """There is one spelling: other bytes never read as the same facts, empty lines apart."""
    block = format_block(facts)
    at = data.draw(st.integers(0, len(block) - 1))
    mutated = block[:at] + data.draw(st.binary(max_size=2)) + block[at + 1 :]
    try:
        read = parse_block(mutated, BlockPhase.HELLO, LIMIT)
    except MalformedFactBlock:
        return
    assert format_block(read).split(b"\n")[:-1] == [line for line in mutated.split(b"\n") if line]


GOOD = b"HelloSigner('x')\n"
BAD: list[tuple[str, bytes]] = [
    ("no predicate", b"('x')\n"),
    ("small first letter", b"helloSigner('x')\n"),
    ("underscore", b"Hello_Signer('x')\n"),
    ("letter beyond ASCII", "HelloSignér('x')\n".encode()),
    ("unknown predicate", b"HelloFriend('x')\n"),
    ("too few constants", b"HelloLimit('x')\n"),
    ("too many constants", b"HelloSigner('x','y')\n"),
    ("zero constants", b"HelloSigner()\n"),
    ("constants where none are taken", b"HelloAllAdvertisedFields('')\n"),
    ("no parentheses", b"HelloAllAdvertisedFields\n"),
    ("space before the parenthesis", b"HelloSigner ('x')\n"),
    ("space inside", b"HelloLimit('x', '1')\n"),
    ("space at the end", b"HelloSigner('x') \n"),
    ("full stop", b"HelloSigner('x').\n"),
    ("comment", b"# hello\n"),
    ("double quotes", b'HelloSigner("x")\n'),
    ("no quotes", b"HelloSigner(x)\n"),
    ("open quote", b"HelloSigner('x)\n"),
    ("quote inside", b"HelloSigner('it's')\n"),
    ("unknown escape", b"HelloSigner('\\n')\n"),
    ("lone backslash", b"HelloSigner('x\\')\n"),
    ("trailing comma", b"HelloSigner('x',)\n"),
    ("two facts on a line", b"HelloSigner('x')HelloSigner('y')\n"),
    ("carriage return", b"HelloSigner('x')\r\n"),
    ("tab in a constant", b"HelloSigner('x\ty')\n"),
    ("NUL", b"HelloSigner('\x00')\n"),
    ("DEL", b"HelloSigner('\x7f')\n"),
    ("not UTF-8", b"HelloSigner('\xff')\n"),
    ("not NFC", "HelloSigner('e\u0301')\n".encode()),
    ("byte order mark", "\ufeffHelloSigner('x')\n".encode()),
    ("duplicate line", b"HelloTAI('x')\nHelloTAI('x')\n"),
    ("no LF at the end", b"HelloSigner('y')"),
    ("another phase", b"MayRequest('x')\n"),
    ("record bytes", "🖧: B.x.H3\n".encode()),
]


@pytest.mark.parametrize(("what", "bad"), BAD, ids=[what for what, _ in BAD])
def test_one_bad_line_spoils_the_block_and_is_named(what: str, bad: bytes) -> None:
    """INT-20, INT-144."""
    del what
    with pytest.raises(MalformedFactBlock) as caught:
        parse_block(GOOD + b"\n" + bad, BlockPhase.HELLO, LIMIT)
    assert caught.value.line == 2 + (2 if bad.count(b"\n") == 2 else 1)
    assert f"Line {caught.value.line} " in caught.value.message


def test_an_oversized_block_is_not_read() -> None:
    """INT-151, INT-157."""
    with pytest.raises(OversizedFactBlock):
        parse_block(b"\xff" * 11, BlockPhase.HELLO, 10)
    assert parse_block(GOOD, BlockPhase.HELLO, len(GOOD))


@pytest.mark.parametrize("phase", BlockPhase)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_each_predicate_stands_in_its_phases_with_its_arity(predicate: str, phase: BlockPhase) -> None:
    known = PREDICATES[predicate]
    block = format_block([Fact(predicate, [f"x{n}" for n in range(known.arity)])])
    if phase in known.phases:
        assert len(parse_block(block, phase, LIMIT)) == 1
    else:
        with pytest.raises(MalformedFactBlock):
            parse_block(block, phase, LIMIT)


@pytest.mark.parametrize("value", ["a\nb", "\x00", "\x7f", "e\u0301", "\ud800"])
def test_a_value_outside_the_text_rules_is_no_fact(value: str) -> None:
    """FAC-6."""
    with pytest.raises(BadFactValue):
        Fact("HelloSigner", (value,))
    with pytest.raises(BadFactValue):
        Fact("hello signer", ("x",))
