"""get, list, store, push, pull and sync as selected sets; what is deterministic; who looks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.interlace.documents import operations
from lazy.interlace.documents.engine import Engine, EngineSide, Notice
from lazy.interlace.documents.operations import Operation, SelectedSet, operation_text
from lazy.interlace.errors import PlanCompilationFailed
from lazy.interlace.facts import PREDICATES
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.negotiate import FieldSchema
from lazy.interlace.plan import GROUP_SHARED, ModuleRegistry, PolicyModule
from lazy.interlace.policy import local_module, registry
from lazy.interlace.result import InterlaceResult
from tests.lazy.interlace.links import TERMS, config, engine, sync
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from tests.lazy.interlace.vaultport import StorePort
from tests.vault.rules.stores import GROUP, add, make, open_store, share
from vault.records import Plex, RecordHash, Seal
from vault.rules import canonical_text, check, evaluate, parse_program
from vault.rules.facts import StoreFacts
from vault.store import Store
from vault.suite import SigningKey

WIDE = replace(TERMS, schema=FieldSchema(all_fields=True))
RECORDS = [make(app, f"{app[-1]}/{n}", n, signer=n % 2) for app in ("lace/a", "lace/b") for n in range(4)]
LEFT, RIGHT = RECORDS[:5], RECORDS[3:]
EVERYTHING = canonical_text(parse_program("SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S).\n"))


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[tuple[StorePort, StorePort]]:
    """Alice has the first five records, bob the last five; both share what they have."""
    stores = []
    for name, records in (("one", LEFT), ("two", RIGHT)):
        (tmp_path / name).mkdir()
        store = open_store(tmp_path / name)
        add(store, records)
        share(store, [record.hash for record in records])
        stores.append(store)
    yield StorePort(stores[0]), StorePort(stores[1])
    for store in stores:
        store.close()


def run(alice: StorePort, bob: StorePort, text: str, **changes: object) -> tuple[InterlaceResult, InterlaceResult]:
    """An exchange in which alice asks for an operation, and bob for nothing in particular."""
    mine, theirs = local_module(text, alice.facts), local_module(EVERYTHING, bob.facts)
    sides: list[tuple[PolicyModule, StorePort, bool]] = [(mine, alice, True), (theirs, bob, False)]
    machines = [
        InterlaceMachine(config(alice=here, module=m, registry=registry(port.facts), terms=WIDE, **changes), port)
        for m, port, here in sides
    ]
    return Engine(EngineSide(machines[0], ALICE), EngineSide(machines[1], BOB)).run()


def held(store: Store) -> set[RecordHash]:
    return {record for _, record, _ in store.bodies()}


def hashes(records: list[Plex | Seal]) -> set[RecordHash]:
    return {record.hash for record in records}


A = SelectedSet(group=GROUP, app="lace/b", name_prefix="b/")


@pytest.mark.parametrize("operation", list(Operation))
def test_an_operation_says_where_a_selected_set_may_grow(
    operation: Operation, ports: tuple[StorePort, StorePort]
) -> None:
    """FAC-28, INT-5, INT-135, INT-136, H-13: one set, and the ordinary machine at both sides."""
    alice, bob = ports
    mine, _ = run(alice, bob, operation_text(operation, A, ALICE))
    inside = {record.hash for record in RECORDS if isinstance(record, Seal) and record.plex.app == "lace/b"}
    grows_here = operation in {Operation.GET, Operation.PULL, Operation.SYNC}
    grows_there = operation in {Operation.STORE, Operation.PUSH, Operation.SYNC}
    assert held(alice.store) == hashes(LEFT) | (inside if grows_here else set())
    assert held(bob.store) == hashes(RIGHT) | (inside if grows_there else set())
    assert mine.is_fixed_point
    if operation is Operation.LIST:
        assert mine.cursor is not None
        assert set(mine.cursor.entries) == inside & hashes(RIGHT)
        assert ("App", 0, "lace/b") in next(iter(mine.cursor.entries.values()))


def test_one_record_is_got_or_stored_by_its_hash(ports: tuple[StorePort, StorePort]) -> None:
    """FAC-28, INT-168: nothing else moves, though both would."""
    alice, bob = ports
    wanted = RIGHT[-1].hash
    run(alice, bob, operation_text(Operation.GET, SelectedSet(hashes=frozenset({wanted, LEFT[0].hash})), ALICE))
    assert held(alice.store) == hashes(LEFT) | {wanted}
    assert held(bob.store) == hashes(RIGHT)
    run(alice, bob, operation_text(Operation.STORE, SelectedSet(hashes=frozenset({LEFT[0].hash})), ALICE))
    assert held(bob.store) == hashes(RIGHT) | {LEFT[0].hash}


def test_the_peer_s_exposure_holds_whatever_an_operation_selects(ports: tuple[StorePort, StorePort]) -> None:
    """FAC-18, FAC-28, INT-136: an operation is policy, never raw access to a store."""
    alice, bob = ports
    secret = make("lace/b", "b/secret", 77)
    add(bob.store, [secret])
    run(alice, bob, operation_text(Operation.GET, SelectedSet(hashes=frozenset({secret.hash})), ALICE))
    assert held(alice.store) == hashes(LEFT)


def test_without_proof_an_operation_with_a_direction_moves_nothing(ports: tuple[StorePort, StorePort]) -> None:
    """INT-26, INT-61: `Here` and `Peer` are not there, and absence proves nothing."""
    alice, bob = ports
    mine = local_module(operation_text(Operation.PULL, A, ALICE), alice.facts)
    theirs = local_module(EVERYTHING, bob.facts)
    base = config(terms=WIDE, proves=False, peer=None, here=None, label="left", peer_label="right")
    one = InterlaceMachine(replace(base, module=mine, registry=registry(alice.facts)), alice)
    two = replace(base, module=theirs, registry=registry(bob.facts), label="right", peer_label="left")
    Engine(EngineSide(one), EngineSide(InterlaceMachine(two, bob))).run()
    assert held(alice.store) == hashes(LEFT)


def test_receipts_are_records_like_others_and_nothing_waits_for_one() -> None:
    """INT-138, INT-139: another program's receipt moves where a policy selects it, and changes nothing else."""
    stored = note("stored")
    key = SigningKey.from_seed(bytes([5]) * 32)
    receipt = Seal.sign(
        Plex.build(
            group="friends/x",
            app="receipt",
            name=f"store/{stored.hash}",
            tai=stored.tai,
            extras=[("Stored-From", ALICE.text), ("Stored-Hash", stored.hash.text)],
        ),
        key,
    )
    for module, received in ((GROUP_SHARED, {stored.hash}), (BY_APP, {receipt.hash})):
        app, server = MemoryPort(), MemoryPort([stored, receipt])
        result, _ = sync(app, server, terms=WIDE, module=module, registry=ModuleRegistry([module]))
        assert set(result.received) == received
        assert result.is_fixed_point


BY_APP = PolicyModule(
    "SelectAdvertised(V0,V1) :- Advertised(V0,V1), AdvertisedField(V0,V1,'App',_,'receipt').\n",
    frozenset({"App"}),
    lambda evaluation: {r for r, fields in evaluation.advertised.items() if ("App", 0, "receipt") in fields},
)


def test_an_operation_about_everything_is_refused() -> None:
    with pytest.raises(PlanCompilationFailed):
        SelectedSet()


def test_operations_add_nothing_to_the_wire() -> None:
    """INT-135, INT-137: every predicate is one of Lace-050's, and none is of an operation or of an event."""
    said = " ".join(PREDICATES).lower()
    assert len(PREDICATES) == 17
    assert not any(word in said for word in ("push", "pull", "store", "notice", "event", "collect"))


@pytest.mark.parametrize("operation", list(Operation))
def test_every_operation_is_monotonic_and_its_result_does_not_depend_on_the_schedule(
    operation: Operation, tmp_path: Path
) -> None:
    """INT-134: rules over Have without negation, so one set comes out whatever the sizes of the phases."""
    text = operation_text(operation, A, ALICE)
    assert check(parse_program(text)).is_monotonic
    ends = set()
    for number, (most, budget) in enumerate(((None, 1 << 20), (1, 1 << 20), (2, 1))):
        stores = []
        for name, records in (("one", LEFT), ("two", RIGHT)):
            (tmp_path / f"{number}{name}").mkdir()
            store = open_store(tmp_path / f"{number}{name}")
            add(store, records)
            share(store, [record.hash for record in records])
            stores.append(store)
        run(StorePort(stores[0]), StorePort(stores[1]), text, max_requests=most, serve_bytes=budget)
        ends.add(tuple(frozenset(held(store)) for store in stores))
        for store in stores:
            store.close()
    assert len(ends) == 1


def test_a_policy_that_negates_is_told_and_its_result_may_depend_on_the_schedule(tmp_path: Path) -> None:
    """INT-132, INT-133, INT-134: one record of two is enough for it; selecting afterwards gives one result again."""
    text = canonical_text(
        parse_program(
            "SelectHave(P) :- Have(P).\n"
            "Enough() :- Have(P), Field(P,'App',_,'lace/a').\n"
            "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,'lace/a'), not Enough().\n"
        )
    )
    assert not check(parse_program(text)).is_monotonic
    offered = [record for record in RECORDS if isinstance(record, Seal) and record.plex.app == "lace/a"]
    tip = check(parse_program("Tip(P) :- Have(P), Field(P,'App',_,'lace/a'), Field(P,'Name',_,'a/0').\n"))
    sizes, ends = [], []
    for number, most in enumerate((1, None)):
        one, two = tmp_path / f"{number}a", tmp_path / f"{number}b"
        one.mkdir()
        two.mkdir()
        with open_store(one) as mine, open_store(two) as theirs:
            add(theirs, list(offered))
            share(theirs, [record.hash for record in offered])
            result, _ = run(StorePort(mine), StorePort(theirs), text, max_requests=most)
            assert result.is_fixed_point
            sizes.append(len(held(mine)))
            both = held(mine) | held(theirs)
            ends.append((evaluate(tip, StoreFacts(two / "store.db"))["Tip"], both))
    assert sizes == [1, len(offered)]
    assert ends[0] == ends[1]


def test_the_documentation_says_which_results_are_deterministic() -> None:
    """INT-5, INT-134: applications read it where operations are made."""
    told = " ".join((operations.__doc__ or "").split())
    for words in ("which records", "no message for any of it on the wire", "rules without negation over `Have`"):
        assert words in told


def test_who_looks_on_changes_no_byte_and_is_called_by_no_store() -> None:
    """INT-137: the same bytes with and without; ports and rules are given nothing to call."""
    notes = [note(str(number)) for number in range(20)]
    heard: list[Notice] = []
    blocks: list[list[tuple[bytes, ...]]] = []
    for notice in (None, heard.append):
        alice, bob = MemoryPort(notes[:12]), MemoryPort(notes[9:])
        said: list[tuple[bytes, ...]] = []
        made = engine(alice, bob, max_requests=3)
        made._notice = notice
        deliver = made._deliver

        def watched(
            index: int, parcel: object, said: list[tuple[bytes, ...]] = said, deliver: object = deliver
        ) -> None:
            said.append(parcel.blocks)  # type: ignore[attr-defined]
            deliver(index, parcel)  # type: ignore[operator]

        made._deliver = watched  # type: ignore[method-assign]
        made.run()
        blocks.append(said)
        assert not {"notice", "_notice"} & {*vars(alice), *vars(bob), *vars(made._sides[0].machine)}
    assert blocks[0] == blocks[1]
    assert heard[-1].received > 0
    assert [n.received for n in heard if n.side == 0] == sorted(n.received for n in heard if n.side == 0)


def test_who_looks_on_may_end_an_exchange_and_what_was_stored_stays() -> None:
    """INT-137, INT-156: what a collector raises is the driver's own; no peer is told of it."""
    notes = [note(str(number)) for number in range(9)]
    app, server = MemoryPort(), MemoryPort(notes)

    class EnoughError(Exception):
        pass

    def stop(notice: Notice) -> None:
        if notice.received >= 4:
            raise EnoughError

    made = engine(app, server, max_requests=2)
    made._notice = stop
    with pytest.raises(EnoughError):
        made.run()
    assert len(app.records) == 4
    sync(app, server)
    assert len(app.records) == 9


def test_the_default_policy_is_monotonic() -> None:
    """INT-134: what a sync ends with depends on nobody's schedule."""
    assert check(parse_program(GROUP_SHARED.text)).is_monotonic
