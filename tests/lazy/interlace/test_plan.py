"""Modules, operands, plans and their identifiers."""

from __future__ import annotations

import pytest
from blake3 import blake3

from lazy.interlace.errors import (
    EvaluationFailed,
    MalformedModule,
    MalformedPreparedPolicy,
    ModuleUnavailable,
    PeerVerifierMismatch,
    PlanCompilationFailed,
)
from lazy.interlace.plan import (
    GROUP_SHARED,
    Evaluation,
    Executable,
    ModuleRegistry,
    Operand,
    Plan,
    PolicyModule,
    compile_plan,
    link_id,
)
from tests.lazy.interlace.stores import ALICE, BOB, note
from vault.errors import DataError
from vault.lacegram import module_id
from vault.records import b64a

OTHER_TEXT = "SelectAdvertised(V0,V1) :- Advertised(V0,V1).\nSelectHave(V0) :- Have(V0).\n"
EVERYTHING = PolicyModule(OTHER_TEXT, frozenset(), lambda view: set(view.advertised))


def test_the_default_policy_is_canonical_text_with_a_fixed_identifier() -> None:
    """FAC-10, FAC-11: the same text always gives the same `R.`; a change of it must be meant."""
    digest = blake3(b"lace-module/v1\n" + GROUP_SHARED.text.encode()).digest()
    assert GROUP_SHARED.id == f"R.{b64a.encode(digest)}" == module_id(GROUP_SHARED.text)
    assert GROUP_SHARED.text.splitlines() == [
        "SelectAdvertised(V0,V1) :- Advertised(V0,V1), AdvertisedField(V0,V1,'App',_,V2), Prefix(V2,'lace/').",
        "SelectHave(V0) :- Have(V0), Shared(V0).",
    ]


def test_the_default_policy_selects_by_app_alone() -> None:
    """FAC-17: the executable does what the text says."""
    data, chat, bare = note("a").hash, note("b").hash, note("c").hash
    advertised = {data: (("App", 0, "lace/data"),), chat: (("App", 0, "chat"),), bare: ()}
    assert GROUP_SHARED.select(Evaluation("x", advertised)) == {data}
    assert GROUP_SHARED.needed_fields == frozenset({"App"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A(V0).",
        "A(V0)\n",
        "B(V0).\nA(V0).\n",
        "A(V0).\nA(V0).\n",
        "A(V0).\n\n",
        "A('e\u0301').\n",
        "a(V0).\n",
    ],
)
def test_text_that_is_not_canonical_is_no_module(text: str) -> None:
    """INT-57, INT-145."""
    with pytest.raises(MalformedModule):
        PolicyModule(text, frozenset(), lambda _: set())
    with pytest.raises(MalformedModule):
        ModuleRegistry().resolve(module_id(text), text.encode())


def test_a_module_is_known_or_brought_along_or_the_setup_aborts() -> None:
    """INT-39, INT-56, INT-57, INT-146."""
    other = module_id(OTHER_TEXT)
    assert ModuleRegistry().resolve(GROUP_SHARED.id) is GROUP_SHARED
    with pytest.raises(ModuleUnavailable):
        ModuleRegistry().resolve(other)
    with pytest.raises(MalformedModule):
        ModuleRegistry().resolve(other, b"A(V0).\n")
    with pytest.raises(MalformedModule):
        ModuleRegistry().resolve(other, b"\xff")
    with pytest.raises(PlanCompilationFailed):
        ModuleRegistry().resolve(other, OTHER_TEXT.encode())
    asked: list[str] = []

    def compiler(text: str) -> PolicyModule:
        asked.append(text)
        return EVERYTHING

    assert ModuleRegistry(compiler=compiler).resolve(other, OTHER_TEXT.encode()) is EVERYTHING
    assert asked == [OTHER_TEXT]


def test_a_module_that_does_not_compile_aborts_the_setup() -> None:
    """INT-146."""

    class Unsafe(DataError):
        """Without a code, so that it stays out of the table of errors."""

    def compiler(_: str) -> PolicyModule:
        raise Unsafe("The variable V7 stands in the head only.")

    with pytest.raises(PlanCompilationFailed, match="V7"):
        ModuleRegistry(compiler=compiler).resolve(module_id(OTHER_TEXT), OTHER_TEXT.encode())


def test_both_sides_compute_the_same_plan() -> None:
    """FAC-15, FAC-21, INT-37, INT-58, H-43: exactly two operands, the bytewise smaller verifier first."""
    mine, theirs = Operand(GROUP_SHARED.id, ALICE.text), Operand(EVERYTHING.id, BOB.text)
    one, _ = compile_plan(mine, GROUP_SHARED, theirs, EVERYTHING)
    other, _ = compile_plan(theirs, EVERYTHING, mine, GROUP_SHARED)
    assert one == other
    assert one.id == other.id
    assert one.text == (
        f"lace-exchange-plan/v1\n0 {GROUP_SHARED.id} {ALICE} selector\n1 {EVERYTHING.id} {BOB} selector\nApp\n"
    )
    assert one.id == f"E.{b64a.encode(blake3(one.text.encode()).digest())}"
    swapped = Plan.of(Operand(EVERYTHING.id, ALICE.text), Operand(GROUP_SHARED.id, BOB.text), frozenset({"App"}))
    assert swapped.id != one.id


def test_needed_fields_are_joined_and_sorted_and_all_is_apart() -> None:
    mine, theirs = Operand(GROUP_SHARED.id, "a"), Operand(GROUP_SHARED.id, "b")
    assert Plan.of(mine, theirs, frozenset({"Type", "App"})).text.endswith("selector\nApp\nType\n")
    assert Plan.of(mine, theirs, None).text.endswith("selector\n* *\n")
    reads_all = PolicyModule(OTHER_TEXT, None, lambda _: set())
    assert compile_plan(mine, GROUP_SHARED, theirs, reads_all)[0].needed_fields is None


def test_operands_of_one_origin_make_no_plan() -> None:
    """INT-146."""
    mine = Operand(GROUP_SHARED.id, "a")
    with pytest.raises(PlanCompilationFailed):
        Plan.of(mine, mine, None)
    with pytest.raises(PlanCompilationFailed):
        Plan((Operand(GROUP_SHARED.id, "b"), mine), None)


def test_an_operand_has_an_identifier_an_origin_and_the_one_exchanged_role() -> None:
    """FAC-16, INT-36, INT-38, INT-57."""
    assert Operand(GROUP_SHARED.id, "a").to_fact(1).args == ("1", GROUP_SHARED.id, "a", "selector")
    with pytest.raises(MalformedModule):
        Operand("R.x", "a")
    with pytest.raises(MalformedModule):
        Operand(GROUP_SHARED.id, "a", "expose")
    for origin in ("", "a b", "a\n", "e\u0301", "x" * 257):
        with pytest.raises(PeerVerifierMismatch):
            Operand(GROUP_SHARED.id, origin)


def test_what_is_shared_is_the_intersection() -> None:
    """FAC-18, FAC-19, INT-4: each side can only narrow."""
    a, b, c = (note(name).hash for name in "abc")
    wide = Executable("E", (lambda _: {a, b}, lambda _: {b, c}))
    assert wide.may_request(Evaluation("x", {})) == {b}


def test_a_policy_that_cannot_be_evaluated_ends_the_round() -> None:
    """FAC-12, INT-108."""

    class TooMany(DataError):
        """Without a code, so that it stays out of the table of errors."""

    def select(_: Evaluation) -> set[object]:
        raise TooMany("More than 1,000,000 tuples were derived.")

    with pytest.raises(EvaluationFailed, match="tuples"):
        Executable("E", (select,)).may_request(Evaluation("x", {}))  # type: ignore[arg-type]


def test_a_prepared_policy_serves_only_its_plan() -> None:
    """INT-12, INT-59, INT-147."""
    mine, theirs = Operand(GROUP_SHARED.id, ALICE.text), Operand(GROUP_SHARED.id, BOB.text)
    plan, prepared = compile_plan(mine, GROUP_SHARED, theirs, GROUP_SHARED)
    prepared.check(plan)
    other, _ = compile_plan(mine, GROUP_SHARED, Operand(GROUP_SHARED.id, "label"), GROUP_SHARED)
    with pytest.raises(MalformedPreparedPolicy):
        prepared.check(other)
    with pytest.raises(MalformedPreparedPolicy):
        Executable(plan.id, ()).check(plan)


def test_the_link_id_vector() -> None:
    """INT-74."""
    expected = "3P2ChACpzqXKPI7AedMb8jIsx83z2L2caOHz1Jz5KhO"
    assert link_id("V.A.H3", "V.B.H3", "E.X") == link_id("V.B.H3", "V.A.H3", "E.X") == expected
