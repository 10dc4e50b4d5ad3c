"""Limits hold against programs made to break them (FAC-7, FAC-8, FAC-12)."""

from __future__ import annotations

import sqlite3
import time
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from tests.vault.rules.stores import add, make, open_store
from vault.errors import LaceError
from vault.rules import Incremental, Limits, StoreFacts, TupleFacts, View, check, evaluate, parse_program
from vault.rules.engine import Engine
from vault.rules.errors import BadRuleFact, RuleError, RuleLimitExceeded, RulesOutOfReach, RuleTooLarge
from vault.rules.guard import Guard
from vault.rules.parse import MAX_LITERALS, MAX_RULES
from vault.rules.sql import column_kinds
from vault.rules.syntax import Atom
from vault.rules.units import RECORD, Catalog, Unit, unit_of
from vault.store.database import StoreDamaged

MANY = {"Have": [(f"{n:05}",) for n in range(3000)]}
CYCLE = {"Advertised": [(str(n), str((n + 1) % 2000)) for n in range(2000)]}
CROSS = "A(X,Y,Z) :- Have(X), Have(Y), Have(Z)."
CLOSURE = "R(X,Y) :- Advertised(X,Y). R(X,Z) :- R(X,Y), R(Y,Z)."
IDLE = "A() :- Have(X), Have(Y), Have(Z), NumLt(X,Y), NumLt(Y,Z), NumLt(Z,X)."
WIDE = f"A({','.join(f'X{n}' for n in range(16))}) :- {', '.join(f'Have(X{n})' for n in range(16))}."
LONG = {"Have": [(f"{n:04}" * 256,) for n in range(2000)]}


@pytest.mark.parametrize(
    ("program", "facts", "error"),
    [
        (CROSS, MANY, RuleLimitExceeded),
        (CLOSURE, CYCLE, RuleLimitExceeded),
        (IDLE, MANY, RulesOutOfReach),
        (WIDE, LONG, RuleLimitExceeded),
    ],
    ids=["cross product", "exploding recursion", "endless search", "wide tuples"],
)
def test_a_hostile_program_ends_in_a_clear_error(
    program: str, facts: dict[str, list[tuple[str, ...]]], error: type[LaceError]
) -> None:
    """FAC-12: a breach is an error, in bounded work and memory; nothing of the evaluation comes out."""
    limits = Limits(tuples=100_000, steps=20_000_000, temp_pages=8192)
    with pytest.raises(error) as caught:
        evaluate(check(parse_program(program)), TupleFacts(facts), limits=limits)
    assert caught.value.message.endswith(".")


def test_memory_for_tuples_is_bounded() -> None:
    """FAC-12: pages of derived tuples are counted."""
    with pytest.raises(RulesOutOfReach, match="more than 1 MiB"):
        evaluate(check(parse_program(CROSS)), TupleFacts(MANY), limits=Limits(temp_pages=256))


def test_long_texts_beside_a_store_are_bounded_too(tmp_path: Path) -> None:
    """FAC-12: tuples that hold whole texts are stored while they are found."""
    program = check(parse_program("A(X,Y,Z) :- Here(X), Here(Y), Here(Z)."))
    with open_store(tmp_path) as store, pytest.raises(RulesOutOfReach, match="more than 32 MiB"):
        evaluate(program, StoreFacts(store.path, {"Here": LONG["Have"]}), limits=Limits(temp_pages=8192))


@pytest.mark.parametrize("seen", [None, View(records=frozenset())])
def test_the_largest_rules_compile(tmp_path: Path, seen: View | None) -> None:
    """FAC-12: whatever the bounds of a program let through, SQLite can run."""
    same = ",".join(["X"] * 16)
    texts = [
        _rule_of(f"Field(P{n},N{n},I{n},V{n})" for n in range(16)),
        _rule_of(f"RecordLink(P{n},N{n},_,D{n},P{n + 1})" for n in range(16)),
        _rule_of(f"BlobHash(P{n},B{n})" for n in range(16)),
        _rule_of(["Have(P)", *["not Field(P,P,P,P)"] * 15]),
        _rule_of([f"B({same})"] * 16) + f" B({same}) :- Have(X), RecordLink(_,X,X,X,X).",
    ]
    limits = Limits(seconds=0.1)
    with open_store(tmp_path) as store:
        for n, text in enumerate(texts):
            program = check(parse_program(text))
            with (
                suppress(RulesOutOfReach),  # they run, and most of them would run for years
                Incremental(program, StoreFacts(store.path), view=seen, limits=limits, clock=time.monotonic) as kept,
            ):
                add(store, [make("t/a", "n", n, links=(("prev", "S.gone"),))])
                kept.refresh()
                assert kept.tuples("A") <= {()}


def _rule_of(literals: Iterable[str]) -> str:
    return f"A() :- {', '.join(literals)}."


def test_the_clock_is_looked_at_before_each_rule() -> None:
    """FAC-12: SQLite looks at no limit while it prepares a statement; of many rules each took its tenth of a second."""
    rules = "".join(f"A{n}(X) :- A{n + 1}(X).\n" for n in range(50)) + "A50(X) :- Have(X).\n"
    facts = TupleFacts({"Have": [("x",)]})
    looks = count()
    with pytest.raises(RulesOutOfReach, match="20 seconds"):
        evaluate(check(parse_program(rules)), facts, limits=Limits(seconds=20), clock=lambda: float(next(looks)))
    assert next(looks) < 25


def test_what_a_rule_reads_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAC-12: representations are found before the clock runs; of n rules, n times all literals were looked at."""
    chain = "".join(f"A{n}(X) :- A{n + 1}(X), Have(X).\n" for n in range(100)) + "A100(X) :- Have(X).\n"
    rules = check(parse_program(chain)).program.rules
    asked: list[str] = []

    def counted(atom: Atom, alias: str, catalog: Catalog) -> Unit:
        asked.append(atom.predicate)
        return unit_of(atom, alias, catalog)

    monkeypatch.setattr("vault.rules.sql.unit_of", counted)
    names = frozenset(rule.head.predicate for rule in rules)
    kinds = column_kinds(rules, Catalog(True, dict.fromkeys(names, "t"), {}, names))
    assert set(kinds.values()) == {(RECORD,)}
    assert asked == ["Have"] * 101


def test_equal_columns_are_no_puzzle_for_the_planner(tmp_path: Path) -> None:
    """FAC-12: each table is found by its key, in the order that is fixed, and through no other table's columns."""
    same = ",".join(["X"] * 16)
    program = check(parse_program(f"{_rule_of([f'B({same})'] * 16)} B({same}) :- Have(X)."))
    with open_store(tmp_path) as store:
        engine = Engine(program, StoreFacts(store.path), None, Limits(), None, None)
        try:
            compiler = engine._compiler()
            select = compiler.select(program.rules_of("A")[0])
            plan = engine._db.execute(f"EXPLAIN QUERY PLAN SELECT {select.sql}").fetchall()
        finally:
            engine.close()
    assert "SCAN a0" in plan[0][3]
    assert all("SEARCH" in row[3] and "PRIMARY KEY" in row[3] for row in plan[1:])
    assert "= a0.c0" not in select.sql


def test_without_a_clock_steps_are_counted() -> None:
    """FAC-12: whoever gives no clock is protected too."""
    with pytest.raises(RulesOutOfReach, match="steps"):
        evaluate(check(parse_program(IDLE)), TupleFacts(MANY), limits=Limits(steps=1_000_000))


def test_ten_thousand_rules_are_refused_while_they_are_read() -> None:
    """FAC-12: the size of a program is bounded before anything is built of it."""
    text = "".join(f"A{n}(X) :- Have(X).\n" for n in range(10_000))
    tracemalloc.start()
    with pytest.raises(RuleTooLarge, match="256 rules"):
        parse_program(text)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        f"A({'(' * 50_000}X).",
        f"A('a') :- {'not ' * 50_000}B().",
        f"A({','.join(['X'] * 50_000)}) :- Have(X).",
        "".join(f"A{n}(X) :- A{n + 1}(X).\n" for n in range(255)) + "A255(X) :- Have(X).",
    ],
)
def test_deep_and_long_programs(text: str) -> None:
    """FAC-12: depth costs no stack; a chain of rules as long as may be still runs."""
    if text.startswith("A0"):
        assert evaluate(check(parse_program(text)), TupleFacts({"Have": [("x",)]}), queries=["A0"]) == {"A0": {("x",)}}
    else:
        with pytest.raises(RuleError, match="column"):
            parse_program(text)


def test_the_limit_of_tuples_is_exact() -> None:
    """FAC-12: both peers break a deterministic limit at the same count, whatever the order of rules."""
    facts = TupleFacts({"Have": [(str(n),) for n in range(10)]})
    program = check(parse_program("A(X) :- Have(X). B(X) :- A(X). B('0') :- A('1'). C(X,Y) :- A(X), B(Y)."))
    assert len(evaluate(program, facts, limits=Limits(tuples=120))["C"]) == 100
    with pytest.raises(RuleLimitExceeded, match="119 tuples"):
        evaluate(program, facts, limits=Limits(tuples=119))


def test_the_limit_of_rounds_is_exact() -> None:
    """FAC-12: a chain of n steps takes n rounds."""
    facts = TupleFacts({"Advertised": [(str(n), str(n + 1)) for n in range(20)]})
    program = check(parse_program("R(X) :- Advertised('0',X). R(Y) :- R(X), Advertised(X,Y)."))
    assert len(evaluate(program, facts, limits=Limits(rounds=20))["R"]) == 20
    with pytest.raises(RuleLimitExceeded, match="19 rounds"):
        evaluate(program, facts, limits=Limits(rounds=19))


def test_tuples_larger_than_a_batch_all_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAC-12: statements that store their rows in batches lose none."""
    monkeypatch.setattr("vault.rules.tables._BATCH_BYTES", 10_000)
    monkeypatch.setattr("vault.rules.tables._LONG_BATCH", 100)
    facts = TupleFacts({"Have": [(str(n),) for n in range(50)]})
    program = check(parse_program("P(X,Y) :- Have(X), Have(Y). Q(X,Y) :- P(X,Y). Q(X,Z) :- Q(X,Y), P(Y,Z), Eq(X,'1')."))
    found = evaluate(program, facts)
    assert len(found["P"]) == len(found["Q"]) == 2500


def test_after_a_breach_the_next_refresh_starts_anew() -> None:
    """FAC-12, FAC-13: a failed run leaves no half result behind."""
    program = check(parse_program("P(X,Y) :- Have(X), Have(Y). Q(X) :- P(X,_)."))
    with Incremental(program, TupleFacts({"Have": [("a",)]}), limits=Limits(tuples=8)) as kept:
        with pytest.raises(RuleLimitExceeded):
            kept.refresh({"Have": [("b",), ("c",)]})
        assert not kept.refresh({"Have": [("d",)]})
        assert kept.tuples("P") == {(x, y) for x in "ad" for y in "ad"}


def test_what_was_taken_in_survives_a_breach() -> None:
    """FAC-13: tuples of earlier refreshes hold when everything is computed anew."""
    program = check(parse_program("P(X,Y) :- Have(X), Have(Y)."))
    with Incremental(program, TupleFacts({"Have": [("a",)]}), limits=Limits(tuples=4)) as kept:
        assert kept.refresh({"Have": [("b",)]})
        with pytest.raises(RuleLimitExceeded):
            kept.refresh({"Have": [("c",)]})
        assert not kept.refresh()
        assert kept.tuples("P") == {(x, y) for x in "ab" for y in "ab"}


def test_a_person_can_stop_it() -> None:
    """FAC-12: what is called now and then may end the work, and its own error comes out."""
    looks = count()

    class Enough(Exception):
        pass

    def check_now() -> None:
        if next(looks) > 3:
            raise Enough

    with pytest.raises(Enough):
        evaluate(check(parse_program(IDLE)), TupleFacts(MANY), check=check_now)


@pytest.mark.parametrize("value", ["e\u0301", "a\nb", "\ud800", "x" * 1025, "é" * 513])
def test_values_that_are_no_text_are_refused(value: str) -> None:
    """FAC-6: every fact value is NFC text inside the limits."""
    program = check(parse_program("A(X) :- Here(X)."))
    with pytest.raises(BadRuleFact):
        evaluate(program, TupleFacts({"Here": [(value,)]}))


def test_tuples_of_another_arity_are_refused() -> None:
    """FAC-6."""
    with pytest.raises(BadRuleFact, match="Here takes 1 value, not 2"):
        evaluate(check(parse_program("A(X) :- Here(X).")), TupleFacts({"Here": [("a", "b")]}))


def _statements() -> list[str]:
    return [
        "SELECT * FROM main.meta",
        "SELECT * FROM main.peer",
        "SELECT * FROM main.sqlite_master",
        "SELECT * FROM temp.sqlite_master",
        "ATTACH ':memory:' AS other",
        "PRAGMA cache_size=1",
        "PRAGMA schema_version=7",
        "INSERT INTO main.sym VALUES (1000, 'x')",
        "SELECT * FROM pragma_database_list",
        "SELECT randomblob(1000)",
        "SELECT load_extension('x')",
        "SELECT sqlite_version()",
        "DELETE FROM main.body",
        "INSERT INTO main.shared VALUES (1, 1)",
        "UPDATE main.body SET bytes = x''",
        "CREATE TABLE main.x(a)",
        "CREATE TEMP TABLE x(a)",
        "DROP TABLE temp.known",
        "VACUUM",
    ]


@pytest.mark.parametrize("statement", _statements())
def test_the_guard_lets_nothing_else_through(tmp_path: Path, statement: str) -> None:
    """FAC-8: an evaluation reads the facts and writes its own tables, and can do nothing else."""
    with open_store(tmp_path) as store:
        add(store, [make("t/a", "n", 1)])
        guard = Guard(store.path, Limits(), None, None)
        guard.db.execute("CREATE TEMP TABLE known(a)")
        with guard.running():
            assert guard.db.execute("SELECT count(*) FROM main.rec").fetchone() == (1,)
            guard.db.execute("INSERT INTO temp.known VALUES (1)")
        with pytest.raises((sqlite3.DatabaseError, LaceError)), guard.running():
            guard.db.execute(statement)
        guard.close()


def test_a_fault_that_names_something_full_is_no_want_of_room(tmp_path: Path) -> None:
    """FAC-12: what SQLite says of a table is no limit that an evaluation ran into, nor a full disk."""
    with open_store(tmp_path) as store:
        guard = Guard(store.path, Limits(), None, None)
        with pytest.raises(LaceError) as told, guard.running():
            guard.db.execute("SELECT 1 FROM temp.fullness")
        assert isinstance(told.value, StoreDamaged)
        guard.close()


def test_constants_are_never_sql(tmp_path: Path) -> None:
    """FAC-8: whatever a constant holds, it is compared as a text."""
    nasty = "'; DROP TABLE body; --"
    with open_store(tmp_path) as store:
        add(store, [make("t/a", "n", 1, (("Tag", nasty),))])
        text = "A(P,'\\'; DROP TABLE body; --') :- Field(P,'Tag',_,'\\'; DROP TABLE body; --')."
        found = evaluate(check(parse_program(text)), StoreFacts(store.path))
        assert {row[1] for row in found["A"]} == {nasty}


def test_the_bounds_are_those_of_the_profile() -> None:
    """FAC-12: 256 rules of 16 literals, a million tuples, ten seconds."""
    assert (MAX_RULES, MAX_LITERALS) == (256, 16)
    assert (Limits().tuples, Limits().seconds) == (1_000_000, 10.0)


@pytest.mark.parametrize("limit", ["tuples", "rounds", "seconds", "steps", "temp_pages"])
def test_a_limit_is_positive(limit: str) -> None:
    make_limits: Callable[..., Limits] = Limits
    with pytest.raises(ValueError, match="positive"):
        make_limits(**{limit: 0})
