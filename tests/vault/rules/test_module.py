"""A compiled module selects what the exchange's own policy selects (FAC-11, FAC-17, FAC-19)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.plan import GROUP_SHARED, Evaluation
from tests.vault.rules.stores import add, make, open_store, share
from vault.records import RecordHash
from vault.rules import StoreFacts, TupleFacts, View, compile_module

MODULE = compile_module(GROUP_SHARED.text)
APPS = ("lace/release", "lace/", "lace", "chat", "lacework/x", "Lace/rev")
PEER = "V.peer"

hashes = st.integers(0, 30).map(lambda n: RecordHash("S", bytes([n]) * 32))
fields = st.frozensets(
    st.tuples(st.sampled_from(["App", "Name"]), st.integers(0, 1), st.sampled_from(APPS)), max_size=3
)


@given(st.dictionaries(hashes, fields, max_size=12))
def test_the_compiled_policy_selects_what_the_built_in_one_does(
    advertised: dict[RecordHash, frozenset[tuple[str, int, str]]],
) -> None:
    """FAC-17: one text, one meaning, whoever runs it."""
    expected = GROUP_SHARED.select(
        Evaluation(PEER, {record: tuple(sorted(found)) for record, found in advertised.items()})
    )
    facts = TupleFacts(
        {
            "Advertised": [(record.text, PEER) for record in advertised],
            "AdvertisedField": [
                (record.text, PEER, name, str(index), value)
                for record, found in advertised.items()
                for name, index, value in found
            ],
        }
    )
    assert MODULE.tuples("SelectAdvertised", facts) == {(record.text, PEER) for record in expected}


def test_the_sending_half_runs_where_the_records_are(tmp_path: Path) -> None:
    """FAC-7, FAC-19: what a peer's module selects of mine lies inside what it is shown."""
    records = [make("t/a", str(n), n) for n in range(4)]
    with open_store(tmp_path) as store:
        add(store, records)
        share(store, [record.hash for record in records[:2]])
        facts = StoreFacts(store.path)
        assert MODULE.tuples("SelectHave", facts) == {(record.hash.text,) for record in records[:2]}
        shown = View(records=frozenset(record.hash.text for record in records[1:]))
        assert MODULE.tuples("SelectHave", facts, view=shown) == {(records[1].hash.text,)}


def test_a_half_that_is_not_there_selects_nothing() -> None:
    """H-13: a push is an operand that selects nothing to receive."""
    push = compile_module("SelectHave(V0) :- Have(V0).\n")
    assert push.tuples("SelectAdvertised", TupleFacts({"Advertised": [("P", PEER)]})) == set()
