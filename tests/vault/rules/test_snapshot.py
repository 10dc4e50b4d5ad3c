"""One evaluation reads one state of a store, whatever is written meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.vault.rules.stores import add, make, open_store
from vault.rules import ConnectionPool, Limits, StoreFacts, View, check, evaluate, parse_program
from vault.rules.errors import RulesOutOfReach
from vault.store import Store

PAIRS = "One(P) :- Have(P), Field(P,'App',_,'t/a').\nTwo(P) :- Have(P), Field(P,'App',_,'t/b'), One(Q), Le(Q,Q).\n"


def test_records_stored_during_an_evaluation_take_part_in_the_next_one(tmp_path: Path) -> None:
    """INT-93, INT-94, INT-95, FAC-8: another connection commits between the first rule and the last."""
    with open_store(tmp_path) as store:
        add(store, [make("t/a", f"a{n}", n) for n in range(300)] + [make("t/b", "b", 900)])
        program = check(parse_program(PAIRS))
        asked = 0

        def write() -> None:
            nonlocal asked
            asked += 1
            with Store(store.path) as other:
                add(other, [make("t/a", f"late{asked}", 1_000 + asked), make("t/b", f"late{asked}", 2_000 + asked)])

        found = evaluate(program, StoreFacts(store.path), check=write)
        assert asked > 0
        assert (len(found["One"]), len(found["Two"])) == (300, 1)
        found = evaluate(program, StoreFacts(store.path))
        assert (len(found["One"]), len(found["Two"])) == (300 + asked, 1 + asked)


def test_a_store_that_is_read_holds_its_state_for_the_block(tmp_path: Path) -> None:
    """INT-94: counts and rows of one block agree."""
    with open_store(tmp_path) as store, Store(store.path) as other:
        add(store, [make("t/a", "a", 1)])
        with store.reading():
            before = store.rows("SELECT count(*) FROM body")
            add(other, [make("t/a", "b", 2)])
            assert store.rows("SELECT count(*) FROM body") == before == [(1,)]
        assert store.rows("SELECT count(*) FROM body") == [(2,)]


HERE = check(parse_program("One(P) :- Have(P), Field(P,'App',_,'t/a').\n"))
ENDLESS = check(parse_program("A(X,Y) :- Have(X), Have(Y), Have(Z), Have(W), Ne(X,Y), Ne(Z,W).\n"))


def test_a_kept_connection_sees_what_is_stored_by_then_and_nothing_of_the_last_evaluation(tmp_path: Path) -> None:
    """INT-93, INT-95, FAC-7, FAC-8: no snapshot, no table and no view stays behind."""
    with open_store(tmp_path) as store, ConnectionPool() as pool:
        facts = StoreFacts(store.path, pool=pool)
        records = [make("t/a", f"n{n}", n) for n in range(5)]
        for n, record in enumerate(records):
            add(store, [record])
            assert len(evaluate(HERE, facts)["One"]) == n + 1
            held = pool._db
            assert held is not None
            assert held.execute("SELECT count(*) FROM temp.sqlite_master").fetchone() == (0,)
            assert not held.in_transaction
            seen = evaluate(HERE, facts, view=View(records=frozenset({records[0].hash.text})))
            assert seen["One"] == {(records[0].hash.text,)}
            assert pool._db is held
        given = replace(facts, rows={"Advertised": [("p", "s")]})
        program = check(parse_program("B(X,P) :- Advertised(X,_), Have(P).\n"))
        assert len(evaluate(program, given)["B"]) == len(records)


def test_a_kept_connection_is_closed_after_a_breach_and_for_another_file(tmp_path: Path) -> None:
    """FAC-12: what ran out of its limits leaves nothing; a store that was restored is opened anew."""
    (tmp_path / "other").mkdir()
    with open_store(tmp_path) as store, open_store(tmp_path / "other") as other, ConnectionPool() as pool:
        add(store, [make("t/a", f"n{n}", n) for n in range(40)])
        facts = StoreFacts(store.path, pool=pool)
        assert len(evaluate(HERE, facts)["One"]) == 40
        with pytest.raises(RulesOutOfReach):
            evaluate(ENDLESS, facts, limits=Limits(steps=20_000))
        assert pool._db is None
        assert len(evaluate(HERE, facts)["One"]) == 40
        assert evaluate(HERE, StoreFacts(other.path, pool=pool))["One"] == set()
        store.close()
        store.path.unlink()
        with Store(store.path, create=True) as restored:
            add(restored, [make("t/a", "only", 1)])
            assert len(evaluate(HERE, facts)["One"]) == 1


def test_one_that_is_in_use_is_not_lent_twice(tmp_path: Path) -> None:
    """An evaluation inside another opens its own, and one of both stays."""
    with open_store(tmp_path) as store, ConnectionPool() as pool:
        add(store, [make("t/a", f"n{n}", n) for n in range(300)])
        facts = StoreFacts(store.path, pool=pool)
        inner: list[int] = []
        program = check(parse_program(PAIRS))
        found = evaluate(program, facts, check=lambda: inner.append(len(evaluate(HERE, facts)["One"])))
        assert set(inner) == {300}
        assert len(found["One"]) == 300
        assert pool._db is not None
