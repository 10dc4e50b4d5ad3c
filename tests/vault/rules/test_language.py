"""The rule language: reading, checking, canonical text, identifiers (FAC-9, FAC-10, FAC-11, FAC-12)."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace.plan import GROUP_SHARED
from tests.vault.rules.programs import DERIVED, PROFILE, programs
from vault.lacegram import module_id
from vault.rules import BASE, Base, canonical_text, check, compile_module, parse_program, program_id
from vault.rules.check import Checked
from vault.rules.errors import (
    RuleError,
    RulePredicateError,
    RulesUnstratified,
    RuleSyntaxError,
    RuleTooLarge,
    RuleUnsafe,
)
from vault.rules.parse import MAX_ARITY, MAX_CONSTANT_BYTES, MAX_LITERALS, MAX_NAME, MAX_PROGRAM_BYTES, MAX_RULES
from vault.rules.syntax import Atom, Literal, Program, Rule, Term, Variable

GOOD = "A(X) :- Have(X)."


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "no rule"),
        ("  # only a remark\n", 1, 1, "no rule"),
        ("A(X) :- Have(X)", 1, 16, "the program ends here"),
        ("A(X) :-\n  Have(X),\n  .", 3, 3, "literal begins with a predicate"),
        ("A(X) : Have(X).", 1, 6, "cannot stand here"),
        ("A(X) :- Have(X).\nB(x) :- Have(x).", 2, 3, "capital letter"),
        ("A(X) :- Have('X).", 1, 14, "not closed"),
        ("A('a\\n').", 1, 3, "escapes neither"),
        ("A('a\nb').", 1, 3, "not closed"),
        ("A('a\tb').", 1, 5, "control character"),
        ('A("a").', 1, 3, "cannot stand here"),
        ("A(B('a')).", 1, 4, "is missing"),
        ("A X.", 1, 3, "is missing"),
        ("A_b('a').", 1, 1, "only letters and digits"),
        ("not A('a').", 1, 1, "rule begins with a predicate"),
        ("A(X) :- not not Have(X).", 1, 13, "literal begins with a predicate"),
        ("A(X) :- Have(X). # \x07", 1, 17, "control character"),
        ("A('e\u0301').", 1, 1, "NFC"),
        ("A('é').\nB('\ud800').", 2, 4, "half of a character"),
        (b"A('\xc3\xa9').\nB('\xff').", 2, 4, "not UTF-8"),
        ("A(__).", 1, 3, "cannot stand here"),
        ("A('a')..", 1, 8, "rule begins with a predicate"),
        ("A('a') 'b'.", 1, 8, "is missing"),
    ],
)
def test_faults_have_their_place(text: str | bytes, line: int, column: int, words: str) -> None:
    """FAC-10: the language is read strictly, and an error says where."""
    with pytest.raises(RuleSyntaxError) as caught:
        parse_program(text)
    assert (caught.value.line, caught.value.column) == (line, column), caught.value.message
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("".join(f"A{n}('a').\n" for n in range(MAX_RULES)), f"A('a').{'B(1)'}"),
        (f"A('a') :- {', '.join(['B()'] * MAX_LITERALS)}.", f"A('a') :- {', '.join(['B()'] * (MAX_LITERALS + 1))}."),
        (f"A({','.join(['X'] * MAX_ARITY)}).", f"A({','.join(['X'] * (MAX_ARITY + 1))})."),
        (f"A('{'é' * (MAX_CONSTANT_BYTES // 2)}').", f"A('{'é' * (MAX_CONSTANT_BYTES // 2)}a')."),
        (f"A('{BS * MAX_CONSTANT_BYTES}')." if (BS := "\\'") else "", f"A('{BS * MAX_CONSTANT_BYTES}a')."),
        (f"A{'b' * (MAX_NAME - 1)}().", f"A{'b' * MAX_NAME}()."),
        (GOOD + " " * (MAX_PROGRAM_BYTES - len(GOOD)), GOOD + " " * (MAX_PROGRAM_BYTES + 1 - len(GOOD))),
    ],
)
def test_bounds(good: str, bad: str) -> None:
    """FAC-12: what fits is read, and one more is refused."""
    parse_program(good)
    with pytest.raises(RuleError) as caught:
        parse_program(bad if "B(1)" not in bad else "A('a').\n" * (MAX_RULES + 1))
    assert isinstance(caught.value, RuleTooLarge)


@pytest.mark.parametrize(
    ("text", "error", "place", "words"),
    [
        ("A(X) :- Gone(X).", RulePredicateError, (1, 9), "called Gone"),
        ("A(X) :- Have(X,_).", RulePredicateError, (1, 9), "Have takes 1 term."),
        ("A(X) :- Have(X).\nA(X,Y) :- Advertised(X,Y).", RulePredicateError, (2, 1), "A takes 1 term in"),
        ("A(X) :- Have(X), B(X). B('a','b').", RulePredicateError, (1, 18), "B takes 2 terms."),
        ("Have(X) :- Shared(X).", RulePredicateError, (1, 1), "base fact"),
        ("Eq(X,X) :- Have(X).", RulePredicateError, (1, 1), "comparison"),
        ("A(X) :- Have(X), not Eq(X,'a').", RulePredicateError, (1, 22), "cannot be negated"),
        ("A(X) :- Have(X), Lt(X).", RulePredicateError, (1, 18), "Lt takes 2 terms."),
        ("A(X) :- Have(X), Prefix('a',X).", RulePredicateError, (1, 18), "a variable and a constant"),
        ("A(X) :- Have(X), Prefix(X,X).", RulePredicateError, (1, 18), "a variable and a constant"),
        ("A(X) :- Have(X), Eq(X,_).", RuleUnsafe, (1, 18), "cannot compare _"),
        ("A(X).", RuleUnsafe, (1, 1), "variable X of A"),
        ("A(_) :- Have(_).", RuleUnsafe, (1, 1), "holds _"),
        ("A(X) :- Have(X), not Shared(Y).", RuleUnsafe, (1, 22), "variable Y of Shared"),
        ("A(X) :- Have(X), Lt(X,Y).", RuleUnsafe, (1, 18), "variable Y of Lt"),
        ("A(X) :- not Have(X).", RuleUnsafe, (1, 1), "variable X"),
        ("A(X) :- Have(X), not A(X).", RulesUnstratified, (1, 22), "A -> not A."),
        (
            "Win(X) :- Advertised(X,Y), not Lose(Y).\nLose(X) :- Have(X), Mid(X).\nMid(X) :- Have(X), Win(X).",
            RulesUnstratified,
            (1, 32),
            "Win depends on its own negation: Win -> not Lose -> Mid -> Win.",
        ),
    ],
)
def test_what_cannot_run(text: str, error: type[RuleError], place: tuple[int, int], words: str) -> None:
    """FAC-9: unsafe, unstratified and unknown things are refused before anything runs."""
    with pytest.raises(error) as caught:
        check(parse_program(text))
    assert (caught.value.line, caught.value.column) == place
    assert words in caught.value.message


def test_the_message_of_a_cycle_through_one_negation() -> None:
    with pytest.raises(RulesUnstratified, match="B -> not A -> B"):
        check(parse_program("A(X) :- B(X). B(X) :- Have(X), not A(X)."))


def test_strata_lie_above_what_they_negate() -> None:
    """FAC-9: the order in which predicates are computed."""
    checked = check(
        parse_program(
            "Top(X) :- Have(X), not Mid(X). Mid(X) :- Have(X), not Low(X). Low(X) :- Shared(X). Also(X) :- Mid(X)."
        )
    )
    assert checked.strata == (("Low",), ("Also", "Mid"), ("Top",))
    order = [name for component in checked.components for name in component]
    assert order.index("Low") < order.index("Mid") < order.index("Top")
    assert checked.base == {"Have", "Shared"}


def test_every_base_predicate_can_be_read_and_none_defined() -> None:
    """FAC-8: base facts are supplied, never derived."""
    for base in (*BASE.values(), Base("Profiled", 3)):
        terms = ",".join(["X" if base.keyed else "_"] + ["_"] * (base.arity - 1)) if base.arity else ""
        check(parse_program(f"A() :- {'Have(X), ' if base.keyed else ''}{base.name}({terms})."), [base])
        with pytest.raises(RulePredicateError):
            check(parse_program(f"{base.name}({','.join(['X'] * base.arity)}) :- A(X)."), [base])


@pytest.mark.parametrize(
    "body",
    [
        "TreeEntry(P,_,_,X)",
        "TreeEntry(_,_,_,X)",
        "TreeEntry(P,_,_,X), TreeEntry(X,_,_,P)",
        "Have(X), not TreeEntry(_,_,_,X)",
        "Have(X), TreeEntry(P,X,_,_)",
    ],
)
def test_nobody_lists_all_entries_of_all_trees(body: str) -> None:
    """FAC-14: a keyed fact is only read for a record that something else gives."""
    with pytest.raises(RuleUnsafe, match="one record at a time"):
        check(parse_program(f"A(X) :- {body}."))
    check(parse_program("A(X) :- Have(P), TreeEntry(P,_,_,Q), TreeEntry(Q,_,_,X), not TreeEntry(X,_,_,_)."))
    check(parse_program("A(X) :- TreeEntry('P.x',_,_,X)."))


def test_a_profile_cannot_bend_what_is_known() -> None:
    """FAC-14: declared base facts come beside the known ones."""
    for base in (Base("Have", 2), Base("Lt", 2)):
        with pytest.raises(ValueError, match="already there"):
            check(parse_program(GOOD), [base])


# Canonical text and identifiers


def test_the_policy_of_an_ordinary_sync_has_its_identifier() -> None:
    """FAC-11: the text that the exchange names is canonical here too, and has the same identifier."""
    module = compile_module(GROUP_SHARED.text)
    assert module.text == GROUP_SHARED.text
    assert module.id == module_id(GROUP_SHARED.text) == GROUP_SHARED.id
    assert module.needed_fields == GROUP_SHARED.needed_fields == frozenset({"App"})


def test_canonical_text_of_an_untidy_program() -> None:
    program = parse_program(
        "# a remark\r\nB( Q,'it\\'s \\\\ 1' ):-Have( Q ) ,not\tShared(Q),Prefix(Q,'S.')."
        " A().\n\nA( ) . A(X):-Have(X),Lt(X,X)."
    )
    assert canonical_text(program) == (
        "A().\nA(V0) :- Have(V0), Lt(V0,V0).\nB(V0,'it\\'s \\\\ 1') :- Have(V0), not Shared(V0), Prefix(V0,'S.').\n"
    )


def test_text_that_is_not_canonical_is_no_module() -> None:
    """FAC-11: a module travels in its canonical text only."""
    for text in ("A(X) :- Have(X).\n", "A(V0) :- Have(V0).", "B().\nA().\n", "A().\nA().\n", "A() .\n"):
        with pytest.raises(RuleSyntaxError, match="canonical"):
            compile_module(text)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("A(V0) :- AdvertisedField(V0,_,V1,_,_), Have(V1).\n", None),
        ("A(V0) :- Have(V0).\n", frozenset[str]()),
        (
            "A(V0) :- AdvertisedField(V0,_,'App',_,_), not AdvertisedField(V0,_,'Name',_,_).\n",
            frozenset({"App", "Name"}),
        ),
    ],
)
def test_needed_fields(text: str, needed: frozenset[str] | None) -> None:
    """FAC-17: a plan can tell which advertised fields a module reads."""
    assert compile_module(text).needed_fields == needed


@settings(deadline=None)
@given(programs(), st.randoms(use_true_random=False))
def test_the_identifier_depends_on_nothing_but_the_rules(program: Program, dice: random.Random) -> None:
    """FAC-11: names of variables, order and repetition of rules, and white space never change an identifier."""
    rules = [_renamed(rule, dice) for rule in (*program.rules, *dice.sample(program.rules, 1))]
    dice.shuffle(rules)
    text = canonical_text(Program(tuple(rules)))
    assert text == canonical_text(program)
    spaced = _spaced(text, dice)
    again = parse_program(spaced)
    assert canonical_text(again) == text
    assert program_id(again) == program_id(program)
    assert parse_program(text.encode()) == again


def _renamed(rule: Rule, dice: random.Random) -> Rule:
    names = ["V1", "V0", "Other", "X_1", "Y"]
    dice.shuffle(names)
    table: dict[str, str] = {}

    def atom(one: Atom) -> Atom:
        terms: list[Term] = []
        for term in one.terms:
            if isinstance(term, Variable):
                table.setdefault(term.name, names[len(table)])
                terms.append(Variable(table[term.name]))
            else:
                terms.append(term)
        return Atom(one.predicate, tuple(terms))

    return Rule(atom(rule.head), tuple(Literal(atom(lit.atom), lit.negated) for lit in rule.body))


def _spaced(text: str, dice: random.Random) -> str:
    """Put white space and remarks after rules, where no constant can be."""
    return "".join(line + dice.choice(["", " ", "\n\n", " # it's\n", "\t\r\n"]) for line in text.splitlines())


@given(programs(), programs())
def test_different_rules_have_different_identifiers(one: Program, other: Program) -> None:
    """FAC-11: the identifier names one program."""
    assert (program_id(one) == program_id(other)) == (canonical_text(one) == canonical_text(other))


# Whatever comes


PIECES = [
    "A",
    "Have",
    "(",
    ")",
    ",",
    ".",
    ":-",
    " ",
    "\n",
    "not ",
    "'a'",
    "'",
    "\\",
    "X",
    "_",
    "é",
    "#",
    "\0",
    "Eq",
    "1",
]


@settings(max_examples=500)
@given(st.one_of(st.binary(max_size=80), st.text(max_size=80), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_only_rule_errors_leave(source: str | bytes) -> None:
    """FAC-10: no input makes the parser or the checker fail in any other way."""
    found = _outcome(source)
    if isinstance(found, RuleError):
        assert found.message.endswith(".")
        assert found.hint
    else:
        assert canonical_text(parse_program(found.text)) == found.text


def _outcome(source: str | bytes) -> Checked | RuleError:
    try:
        return check(parse_program(source))
    except RuleError as error:
        return error


@given(programs())
def test_drawn_programs_are_safe(program: Program) -> None:
    """FAC-9: only stratification can be wrong with the programs of these tests."""
    defined = {rule.head.predicate for rule in program.rules}
    with suppress(RulesUnstratified):
        check(program, (*PROFILE, *(Base(name, arity) for name, arity in DERIVED.items() if name not in defined)))
