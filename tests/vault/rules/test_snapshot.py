"""One evaluation reads one state of a store, whatever is written meanwhile."""

from __future__ import annotations

from pathlib import Path

from tests.vault.rules.stores import add, make, open_store
from vault.rules import StoreFacts, check, evaluate, parse_program
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
