"""Facts of a store: what rules read there is what the records say (FAC-2, FAC-3, FAC-4, FAC-7, FAC-13)."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.rules.naive import naive
from tests.vault.rules.programs import checked_programs
from tests.vault.rules.stores import GROUP, KEYS, Facts, add, facts_of, make, open_store, share
from vault.desks.content import data_plex
from vault.desks.cutting import add_content
from vault.desks.pages import Entry
from vault.desks.tree import build_directory
from vault.records import Plex, Seal
from vault.rules import BASE, Incremental, StoreFacts, View, check, evaluate, parse_program
from vault.rules.check import Checked
from vault.rules.errors import BadRuleFact
from vault.store import Store
from vault.store.packs import PACK_MIN_BYTES

LOST = "S.Z~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~x.H3"


def _records() -> list[Plex | Seal]:
    data = make("lace/data", "digest", 0, data=b"content", signer=None)
    beacon = make("lace/beacon", "here", 1, (("Said", "hi"),), signer=None)
    one = make("t/a", "n/1", 2, (("Seq", "10"), ("Tag", "x"), ("Tag", "y")), (("data", data.hash.text),))
    two = make("t/a", "n/2", 3, (("Seq", "9"), ("Tag", "x")), (("prev", one.hash.text), ("prev", LOST)), signer=1)
    # Its headers hold a record's hash as plain text, a text that is also somebody's App, and a link that is none.
    three = make(
        "t/b",
        "t/a",
        4,
        (("About", two.hash.text), ("Odd+Link", "nothing"), ("Tag", "t/a")),
        (("prev", two.hash.text),),
        b"12",
    )
    # The digest of a Seal under the letter of a Plex names no record that is here.
    other = f"P{two.hash.text[1:]}"
    four = make("t/b", "n/é", 5, (("About", one.hash.text), ("Tag", "n/1")), (("xy", three.hash.text), ("prev", other)))
    packed = make("lace/data", "large", 6, data=Random(1).randbytes(PACK_MIN_BYTES), signer=None)
    return [data, beacon, one, two, three, four, packed]


RECORDS = _records()
HASHES = tuple(record.hash.text for record in RECORDS)
SHARED = [RECORDS[n].hash for n in (0, 2, 3)]
WORDS = {"Have": 1, "Field": 4, "RecordLink": 5, "BlobHash": 2, "PlexHash": 2, "Shared": 1, "Advertised": 2}
NAMES = ("App", "Name", "Tag", "About", "Seq", "Type", "TAI", "Signed-By", "Group", "Data-Length", "prev+Link", "Gone")
MENU = {
    **{(name, 0): HASHES for name in WORDS},
    ("Field", 1): NAMES,
    ("Field", 2): ("0", "1"),
    ("Field", 3): ("t/a", "t/b", "x", "n/1", "10", "9", *HASHES[2:4]),
    ("RecordLink", 1): ("prev+Link", "+Link"),
    ("RecordLink", 2): ("0", "1"),
    ("RecordLink", 3): ("prev",),
    ("RecordLink", 4): (LOST, *HASHES),
}
GIVEN: Facts = {"Advertised": {(HASHES[2], "t/a"), (LOST, "x"), ("x", HASHES[3])}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with open_store(tmp_path_factory.mktemp("store")) as opened:
        add(opened, RECORDS)
        share(opened, SHARED)
    return opened.path


def test_the_letter_of_a_hash_counts(store: Path) -> None:
    """FAC-1, FAC-5: a target is here only if a record of its kind and digest is."""
    program = check(parse_program("Here2(Q) :- RecordLink(_,_,_,_,Q), Have(Q)."))
    assert evaluate(program, StoreFacts(store))["Here2"] == {(HASHES[n],) for n in (0, 2, 3, 4)}
    program = check(parse_program(f"Here2(Q) :- RecordLink('{HASHES[5]}',_,_,_,Q), Have(Q)."))
    assert evaluate(program, StoreFacts(store))["Here2"] == {(HASHES[4],)}


class Made:
    """Where made records go."""

    def __init__(self) -> None:
        self.records: list[Plex] = []

    def add(self, plex: Plex, /) -> None:
        self.records.append(plex)


def test_what_trees_and_manifests_hold_is_told_for_one_at_a_time(tmp_path: Path) -> None:
    """FAC-14: entries of directories, pages, and chunks of contents, from bytes in rows or in packs."""
    made = Made()
    large = Random(2).randbytes(400_000)
    files = [Entry("f", "-", 1, data_plex(GROUP, bytes([n % 256])).hash, f"file-{n:05}") for n in range(3_000)]
    wide, size = build_directory(GROUP, files, made)
    content = add_content(GROUP, large, made)
    entries = [Entry("d", "-", size, wide, "wide"), Entry("f", "x", len(large), content, "it's")]
    root, _ = build_directory(GROUP, entries, made)
    with open_store(tmp_path) as store:
        add(store, [*made.records])
        rules = "All(T,N,K,X) :- In(T), TreeEntry(T,N,K,X). In(X) :- In(T), TreeEntry(T,_,_,X). In(T) :- Here(T)."
        found = evaluate(check(parse_program(rules)), StoreFacts(store.path, {"Here": [(root.text,)]}))["All"]
        assert store.rows("SELECT count(*) FROM packed")[0][0] > 0
    named = {(name, kind, target) for _, name, kind, target in found if name}
    expected = {*files, *entries}
    assert named == {(entry.name, entry.kind, entry.hash.text) for entry in expected}
    pages = {target for _, name, kind, target in found if kind == "page" and not name}
    assert len(pages) > 1
    parts = [target for source, _, kind, target in found if kind == "chunk"]
    assert {target for source, _, kind, target in found} == {entry.hash.text for entry in expected} | pages | set(parts)
    assert {record.hash.text for record in made.records} <= {root.text} | {target for *_, target in found}


@pytest.mark.parametrize("name", sorted({"Have", "Field", "RecordLink", "BlobHash", "PlexHash", "Shared"}))
def test_every_fact_of_every_record(store: Path, name: str) -> None:
    """FAC-3, FAC-4: a store answers exactly what its records say."""
    terms = ",".join(f"X{n}" for n in range(BASE[name].arity))
    program = check(parse_program(f"All({terms}) :- {name}({terms})."))
    expected = facts_of(RECORDS, SHARED)[name]
    assert expected
    assert evaluate(program, StoreFacts(store))["All"] == expected


@pytest.mark.parametrize("name", [*NAMES, "Odd+Link", "Signature"])
def test_fields_by_name(store: Path, name: str) -> None:
    """FAC-4: a header asked for by name gives the same as among all headers, wherever the store keeps it."""
    program = check(parse_program(f"All(P,I,V) :- Field(P,'{name}',I,V)."))
    expected = {(row[0], row[2], row[3]) for row in facts_of(RECORDS)["Field"] if row[1] == name}
    assert evaluate(program, StoreFacts(store))["All"] == expected


@settings(deadline=None, max_examples=250)
@given(checked=checked_programs(WORDS, MENU, 5, 2))
def test_equals_a_naive_evaluation(store: Path, checked: Checked) -> None:
    """FAC-8: representations, orders of joins and indexes change nothing."""
    known = {**facts_of(RECORDS, SHARED), **GIVEN}
    assert evaluate(checked, StoreFacts(store, GIVEN)) == naive(checked, known)


@settings(deadline=None, max_examples=150)
@given(checked=checked_programs(WORDS, MENU, 4, 2), seen=st.sets(st.sampled_from(range(len(RECORDS)))))
def test_a_view_hides_every_other_record(store: Path, checked: Checked, seen: set[int]) -> None:
    """FAC-7: facts of records outside the view are as if they were not there."""
    records = [RECORDS[n] for n in sorted(seen)]
    known = {**facts_of(records, SHARED), **GIVEN}
    expected = naive(checked, known)
    by_set = View(records=frozenset(record.hash.text for record in records))
    by_query = View(visible_sql=f"SELECT p FROM rec WHERE p IN ({', '.join(str(n + 1) for n in seen)})")
    assert evaluate(checked, StoreFacts(store, GIVEN), view=by_set) == expected
    assert evaluate(checked, StoreFacts(store, GIVEN), view=by_query) == expected


@settings(deadline=None, max_examples=60)
@given(
    checked=checked_programs(WORDS, MENU, 4, 2),
    cuts=st.lists(st.integers(0, len(RECORDS)), min_size=1, max_size=2).map(sorted),
    seen=st.none() | st.sets(st.sampled_from(HASHES)),
)
def test_following_a_store_equals_a_fresh_evaluation(checked: Checked, cuts: list[int], seen: set[str] | None) -> None:
    """FAC-13: after every addition the tables are those of a fresh evaluation, with and without a view."""
    view = None if seen is None else View(records=frozenset(seen))
    with TemporaryDirectory() as folder, open_store(Path(folder)) as store:
        _grow(store, 0, cuts[0])
        with Incremental(checked, StoreFacts(store.path), view=view) as kept:
            for start, end in zip(cuts, [*cuts[1:], len(RECORDS)], strict=True):
                _grow(store, start, end)
                kept.refresh({name: rows for name, rows in GIVEN.items() if name in checked.base})
                records = [record for record in RECORDS[:end] if seen is None or record.hash.text in seen]
                expected = naive(checked, {**facts_of(records, SHARED), **GIVEN})
                assert {name: kept.tuples(name) for name in checked.derived} == expected


def _grow(store: Store, start: int, end: int) -> None:
    add(store, RECORDS[start:end])
    share(store, [record.hash for record in RECORDS[start:end] if record.hash in SHARED])


def test_sharing_an_old_record_is_noticed(tmp_path: Path) -> None:
    """FAC-13: `Shared` may come long after the record."""
    program = check(parse_program("SelectHave(P) :- Have(P), Shared(P)."))
    with open_store(tmp_path) as store:
        add(store, RECORDS)
        with Incremental(program, StoreFacts(store.path)) as kept:
            assert kept.tuples("SelectHave") == set()
            share(store, SHARED)
            assert kept.refresh()
            assert kept.tuples("SelectHave") == {(record.text,) for record in SHARED}


def test_only_a_gain_of_what_is_negated_costs_a_new_evaluation(tmp_path: Path) -> None:
    """FAC-13: records that are no evidence against anything go the short way."""
    program = check(
        parse_program("Select(P) :- Field(P,'App',_,'t/a'), not Revoked(P). Revoked(P) :- Field(_,'About',_,P).")
    )
    with open_store(tmp_path) as store:
        add(store, RECORDS[:2])
        with Incremental(program, StoreFacts(store.path)) as kept:
            add(store, RECORDS[2:4])
            assert kept.refresh()
            assert kept.tuples("Select") == {(HASHES[2],), (HASHES[3],)}
            add(store, RECORDS[4:5])
            assert not kept.refresh()
            assert kept.tuples("Select") == {(HASHES[2],)}
            assert kept.refresh()


def test_views_made_anew_are_noticed(tmp_path: Path) -> None:
    """FAC-13: after a repair symbols have other numbers and facts may be gone; nothing old is used."""
    program = check(parse_program("Tagged(P,V) :- Field(P,'Tag',_,V). Untagged(P) :- Have(P), not Tagged(P,_)."))
    with open_store(tmp_path) as store:
        add(store, RECORDS)
        with Incremental(program, StoreFacts(store.path)) as kept:
            before = kept.tuples("Tagged"), kept.tuples("Untagged")
            with store.transaction():
                store.db.execute("DELETE FROM body WHERE p = 3")
                store.rebuild(None, None)
            assert not kept.refresh()
            assert (kept.tuples("Tagged"), kept.tuples("Untagged")) != before
            records = [RECORDS[n] for n in (0, 1, 3, 4, 5, 6)]
            known = naive(program, facts_of(records))
            assert {name: kept.tuples(name) for name in known} == known
            assert kept.refresh()


def test_record_facts_cannot_be_given_beside_a_store(store: Path) -> None:
    """FAC-2: facts of records come from validated stored bytes only."""
    with pytest.raises(BadRuleFact):
        StoreFacts(store, {"Have": [(LOST,)]})


def test_a_store_group_and_signers_are_texts(store: Path) -> None:
    """FAC-1: identifiers and values are texts, however they are stored."""
    program = check(parse_program(f"By(V) :- Field(P,'Group',_,'{GROUP}'), Field(P,'Signed-By','0',V)."))
    assert evaluate(program, StoreFacts(store))["By"] == {(key.verifier.text,) for key in KEYS}
