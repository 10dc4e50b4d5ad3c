"""Modules that are programs take part in an exchange: both halves, their views, several at once, scopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.errors import EvaluationFailed, InterlaceAbort, PlanCompilationFailed
from lazy.interlace.link import LinkConfig
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.plan import GROUP_SHARED, Evaluation, Operand, PolicyModule, compile_plan
from lazy.interlace.policy import LocalFacts, local_module, registry
from lazy.interlace.result import InterlaceResult
from lazy.interlace.scope import Scope, scope_text
from tests.lazy.interlace.links import config
from tests.lazy.interlace.stores import ALICE, BOB
from tests.lazy.interlace.vaultport import StorePort
from tests.vault.rules.stores import add, make, open_store, share
from tests.vault.vaults import found, write
from vault.lacegram import module_id
from vault.records import Plex, RecordHash, Seal
from vault.releasing import release
from vault.rules import Limits, StoreFacts, View, canonical_text, parse_program
from vault.rules.compose import compose
from vault.rules.errors import RulesOutOfReach
from vault.store import Store
from vault.vault import Vault


def module(source: str) -> str:
    """The canonical text of a program."""
    return canonical_text(parse_program(source))


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two empty stores."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with open_store(tmp_path / "one") as one, open_store(tmp_path / "two") as two:
        yield one, two


def exchange(
    alice: StorePort, bob: StorePort, mine: PolicyModule = GROUP_SHARED, theirs: PolicyModule = GROUP_SHARED
) -> tuple[InterlaceResult, InterlaceResult]:
    """Run both machines to the end, each with its own policy and what it can run of the other's."""
    sides: list[tuple[LinkConfig, StorePort]] = [
        (config(module=mine, registry=registry(alice.facts)), alice),
        (config(alice=False, module=theirs, registry=registry(bob.facts)), bob),
    ]
    one, other = (InterlaceMachine(set_up, port) for set_up, port in sides)
    return Engine(EngineSide(one, ALICE), EngineSide(other, BOB)).run()


def filled(store: Store, records: list[Plex | Seal], shared: int) -> StorePort:
    """The store with these records, of which the first so many are shared."""
    add(store, records)
    share(store, [record.hash for record in records[:shared]])
    return StorePort(store)


def test_a_program_decides_what_is_asked_for_and_what_is_sent(stores: tuple[Store, Store]) -> None:
    """FAC-17 to FAC-19, INT-4, INT-91: the shared set is the intersection of both operands inside the exposure."""
    records = [make(app, str(n), n) for n in range(4) for app in ("lace/a", "lace/b", "chat")]
    alice, bob = filled(stores[0], records, 9), StorePort(stores[1])
    text = module(
        "SelectHave(P) :- Have(P), Field(P,'App',_,'lace/a').\n"
        "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,'lace/a').\n"
    )
    sent, received = exchange(alice, bob, GROUP_SHARED, local_module(text, bob.facts))
    wanted = {r.hash for r in records[:9] if isinstance(r, Seal) and r.plex.app == "lace/a"}
    assert set(received.received) == wanted
    assert received.is_fixed_point
    assert received.cursor is not None
    assert set(received.cursor.entries) == wanted  # what the operand leaves out is not even listed
    assert sent.received == ()


def test_a_peers_program_sees_only_what_it_is_shown(stores: tuple[Store, Store]) -> None:
    """FAC-7, FAC-16, INT-136, INT-165: an existence test on a hidden record finds nothing, whatever the text claims."""
    hidden = make("lace/secret", "x", 50)
    shown = [make("lace/a", str(n), n, links=(("about", hidden.hash.text),)) for n in range(3)]
    probe = module(
        "SelectHave(P) :- Have(P), Field(Q,'App',_,'lace/secret').\n"
        f"SelectHave(P) :- Have(P), Have('{hidden.hash.text}').\n"
        "SelectHave(P) :- Have(P), Member(_).\n"
        "SelectAdvertised(P,S) :- Advertised(P,S).\n"
    )
    alice, bob = filled(stores[0], [*shown, hidden], 3), StorePort(stores[1])
    own = local_module(probe, alice.facts)
    assert own.send is not None
    assert own.send(Evaluation("S", {})) == {record.hash for record in (*shown, hidden)}
    _, received = exchange(alice, bob, GROUP_SHARED, local_module(probe, bob.facts))
    assert received.received == ()
    assert received.cursor is not None
    assert not received.cursor.entries


def test_the_advertised_fields_a_program_reads_are_agreed(stores: tuple[Store, Store]) -> None:
    """INT-34, INT-35, INT-82: a plan that needs a field outside the agreed schema ends the negotiation."""
    alice, bob = filled(stores[0], [make("lace/a", "n", 1)], 1), StorePort(stores[1])
    text = module("SelectAdvertised(P,S) :- AdvertisedField(P,S,'Name',_,_).\n")
    with pytest.raises(InterlaceAbort, match="fields"):
        exchange(alice, bob, GROUP_SHARED, local_module(text, bob.facts))


@pytest.mark.parametrize(
    ("half", "rule"),
    [
        ("may_request", "SelectAdvertised(P,S) :- Big(A,B,C), Advertised(P,S).\n"),
        ("may_send", "SelectHave(P) :- Big(P,_,_).\n"),
    ],
)
def test_a_peers_exploding_program_ends_the_round(stores: tuple[Store, Store], half: str, rule: str) -> None:
    """INT-108, FAC-12: limits hold for what a peer brings, and nothing that is stored is lost."""
    alice = filled(stores[0], [make("lace/a", str(n), n) for n in range(30)], 30)
    text = module(rule + "Big(A,B,C) :- Have(A), Have(B), Have(C).\n")
    facts = replace(alice.facts, peer_limits=Limits(tuples=1_000))
    theirs = registry(facts).resolve(module_id(text), text.encode())
    mine = Operand(GROUP_SHARED.id, "V.A")
    _, executable = compile_plan(mine, GROUP_SHARED, Operand(theirs.id, "V.B"), theirs)
    with pytest.raises(EvaluationFailed, match="1000 tuples"):
        getattr(executable, half)(Evaluation("V.B", {RecordHash("S", bytes(32)): ()}))
    assert len(list(alice.store.bodies())) == 30


def test_a_peer_whose_rules_stay_just_inside_the_limits_runs_out_of_time_in_the_end(
    stores: tuple[Store, Store],
) -> None:
    """FAC-12, INT-108: one exchange evaluates many times, and all of it together is bounded; my own rules are mine."""
    alice = filled(stores[0], [make("lace/a", "x", 1)], 1)
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.25  # each look at the clock finds the program still at it
        return now

    text = module("SelectHave(P) :- Have(P).\n")
    facts = replace(alice.facts, clock=clock, peer_limits=Limits(seconds=4))
    theirs = registry(facts).resolve(module_id(text), text.encode())
    send, evaluations = theirs.send, 0
    assert send is not None

    def go_on() -> None:
        nonlocal evaluations
        while evaluations < 1_000:
            assert len(send(Evaluation("S", {}))) == 1
            evaluations += 1

    with pytest.raises(RulesOutOfReach, match="32 seconds in this exchange"):
        go_on()
    assert 8 < evaluations < 100
    again = registry(facts).resolve(module_id(text), text.encode())
    assert again.send is not None
    assert len(again.send(Evaluation("S", {}))) == 1
    mine = local_module(text, facts)
    assert mine.send is not None
    for _ in range(evaluations + 1):
        mine.send(Evaluation("S", {}))


def test_local_policies_become_one_operand(stores: tuple[Store, Store]) -> None:
    """FAC-20: however many policies hold here, one module is presented, and it selects what all of them select."""
    records = [make(app, name, n) for n, (app, name) in enumerate([("t/a", "x"), ("t/a", "y"), ("t/b", "x")])]
    port = filled(stores[0], records, 3)
    by_app = (
        "Chosen(P) :- Field(P,'App',_,'t/a').\nSelectHave(P) :- Chosen(P).\nSelectAdvertised(P,S) :- Advertised(P,S)."
    )
    by_name = (
        "Chosen(P) :- Field(P,'Name',_,'x').\nSelectHave(P) :- Chosen(P).\nSelectAdvertised(P,S) :- Advertised(P,S)."
    )
    both = local_module(compose([by_app, by_name]), port.facts)
    assert both.send is not None
    assert both.send(Evaluation("S", {})) == {records[0].hash}
    assert both.text == compose([by_name, by_app, by_name])
    assert compose([by_name]) == module(by_name)
    only_send = compose([by_app, "SelectHave(P) :- Have(P)."])
    assert "SelectAdvertised" not in only_send.replace("M0SelectAdvertised", "").replace("M1SelectAdvertised", "")


def test_the_default_policy_gives_the_same_by_its_program(stores: tuple[Store, Store]) -> None:
    """FAC-19: the exposure that the default policy is answered from is what its program derives."""
    records = [make("lace/a", str(n), n) for n in range(5)]
    port = filled(stores[0], records, 3)
    program = local_module(GROUP_SHARED.text, port.facts)
    assert program.id == GROUP_SHARED.id
    assert program.send is not None
    assert program.send(Evaluation("S", {})) == {record for record, _ in port.effective_send()}
    evaluation = Evaluation("S", dict(port.effective_send()))
    assert program.select(evaluation) == GROUP_SHARED.select(evaluation)


# Scopes


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    """A vault with a release of several directories."""
    vault = found(tmp_path)
    for path in ("docs/notes/a.txt", "docs/notes/deep/b.txt", "docs/other.txt", "src/main.c", "readme"):
        write(vault, path, f"this is {path}\n")
    release(vault)
    yield vault
    vault.close()


def contents(store: Store) -> set[bytes]:
    """What the files of a store say."""
    rows = store.rows(
        "SELECT b.kind, b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = 'lace/data'"
    )
    return {store.content(RecordHash(kind, bytes(digest))) or b"" for kind, digest in rows}


@pytest.mark.parametrize(
    ("scope", "files"),
    [
        (Scope(), {"docs/notes/a.txt", "docs/notes/deep/b.txt", "docs/other.txt", "src/main.c", "readme"}),
        (Scope(paths=frozenset({"docs/notes"})), {"docs/notes/a.txt", "docs/notes/deep/b.txt"}),
        (Scope(paths=frozenset({"readme", "src"})), {"readme", "src/main.c"}),
        (
            Scope(paths=frozenset({"docs", "docs/notes"}), desks=frozenset({"main"})),
            {"docs/notes/a.txt", "docs/notes/deep/b.txt", "docs/other.txt"},
        ),
        (Scope(desks=frozenset({"another"})), set()),
        (Scope(paths=frozenset({"doc"})), set()),
        (Scope(paths=frozenset({"docs/*", "read*"})), set()),
    ],
)
def test_a_scope_brings_its_paths_and_no_other(alice: Vault, tmp_path: Path, scope: Scope, files: set[str]) -> None:
    """FAC-14, FAC-15, INT-136, INT-169: a wrapper's scope is an operand; evidence first, then what it leads to.

    DWN-3, DWN-29, DWN-32, DWN-34, CLO-1, CLO-3, CLO-9, CLO-11: with the files come all sealed records and the
    directories on the way; a path is a prefix by whole names, and no pattern; no scope leaves nothing out.
    """
    (tmp_path / "two").mkdir()
    with open_store(tmp_path / "two") as store:
        bob = StorePort(store)
        policy = local_module(scope_text(scope), bob.facts)
        _, result = exchange(StorePort(alice.store), bob, GROUP_SHARED, policy)
        assert result.is_fixed_point
        assert contents(store) == {f"this is {path}\n".encode() for path in files}
        sealed = "SELECT digest FROM body WHERE kind = 'S' AND p IN "
        shared = {bytes(row[0]) for row in alice.store.rows(sealed + "(SELECT p FROM shared)")}
        assert {bytes(row[0]) for row in store.rows(sealed + "(SELECT p FROM body)")} == shared
        trees = store.rows("SELECT count(*) FROM rec r JOIN sym s ON s.id = r.app WHERE s.s = 'lace/tree'")
        assert (
            trees[0][0]
            < alice.store.rows("SELECT count(*) FROM rec r JOIN sym s ON s.id = r.app WHERE s.s = 'lace/tree'")[0][0]
            or scope.is_everything
        )


def test_scopes_that_mean_the_same_are_one_module() -> None:
    """FAC-11, DWN-33, DWN-78: order, repetition and paths inside other paths change nothing, nor the identifier."""
    one = Scope(paths=frozenset({"a", "a/b", "c"}))
    assert scope_text(one) == scope_text(Scope(paths=frozenset({"c", "a"})))
    some = [f"path/{number}" for number in range(40)]
    ids = {module_id(scope_text(Scope(paths=frozenset(order)))) for order in (some, some[::-1], some[7:] + some)}
    assert len(ids) == 1
    assert scope_text(one) != scope_text(Scope(paths=frozenset({"a/b", "c"})))


@pytest.mark.parametrize("path", ["", "/a", "a//b", "a/../b", "a/."])
def test_what_is_no_path_is_refused(path: str) -> None:
    """INT-146: a scope that cannot be meant is no operand."""
    with pytest.raises(PlanCompilationFailed):
        Scope(paths=frozenset({path}))


def test_a_path_may_hold_any_character(stores: tuple[Store, Store]) -> None:
    """H-4: names with quotes and backslashes are constants like others."""
    facts = LocalFacts(StoreFacts(stores[0].path), View("SELECT p FROM shared"))
    text = scope_text(Scope(paths=frozenset({"it's\\here"}), desks=frozenset({"d'"})))
    assert local_module(text, facts).text == text
