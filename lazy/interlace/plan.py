"""Policy modules, operands, the exchange plan, the Link-Id (FAC-15..21, INT-11..13, INT-36..39, INT-53..59).

A module is a canonical lacegram with an identifier `R.`; an operand is a module together with the origin that
the receiver assigned or verified; a plan joins exactly two operands, one of each side, and has an identifier
`E.`. What is shared is the intersection: each side can only narrow (FAC-18).

The plan's canonical text is

    lace-exchange-plan/v1
    0 <R id> <origin> <facet>
    1 <R id> <origin> <facet>
    <a needed field>            sorted; or the one line "* *" if all fields are needed

Operand 0 is the one with the bytewise smaller origin. No name of a field holds a space (REC-15), so the last
form is unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import is_normalized

from blake3 import blake3

from lazy.interlace.errors import (
    EvaluationFailed,
    InterlaceAbort,
    MalformedModule,
    MalformedPreparedPolicy,
    ModuleUnavailable,
    PeerVerifierMismatch,
    PlanCompilationFailed,
)
from lazy.interlace.facts import Fact
from vault.errors import Cancelled, EnvironmentFault, LaceError
from vault.lacegram import module_id
from vault.records import RecordHash, b64a

if TYPE_CHECKING:
    from lazy.interlace.ads import Fields

__all__ = [
    "GROUP_SHARED",
    "SELECTOR",
    "Evaluation",
    "Executable",
    "ModuleRegistry",
    "Operand",
    "Plan",
    "PolicyModule",
    "Select",
    "compile_plan",
    "link_id",
    "operand_index",
]

SELECTOR: Final = "selector"
_PLAN_HEAD = "lace-exchange-plan/v1"
_ALL_FIELDS = "* *"
_MODULE_ID = re.compile(r"R\.[0-9A-Z_a-z~]{43}")
_ORIGIN = re.compile(r"[^\x00-\x20\x7f]{1,256}")
_RULE = re.compile(r"[A-Z][A-Za-z0-9]*\(.*\)\.")
_MAX_MODULE_BYTES = 256 * 1024  # 256 rules of 16 literals need far less


def link_id(one: str, other: str, plan_id: str) -> str:
    """Return the Link-Id of two proven verifier texts under a plan, as B64A (INT-74)."""
    low, high = sorted((one, other))
    return b64a.encode(blake3((low + high + plan_id).encode()).digest())


class Evaluation(NamedTuple):
    """What a policy may look at in one evaluation: a finite snapshot (FAC-8, INT-93).

    Args:
        source: the peer's source label.
        advertised: what it advertises at present.
        runtime: the runtime facts (INT-22).
    """

    source: str
    advertised: Mapping[RecordHash, Fields]
    runtime: tuple[Fact, ...] = ()


Select = Callable[[Evaluation], Set[RecordHash]]


@dataclass(frozen=True, slots=True)
class PolicyModule:
    """A selector module: its canonical text, and how to run its two halves here.

    Args:
        text: the canonical lacegram.
        needed_fields: the advertised fields it reads; None if it may read any.
        select: gives what `SelectAdvertised` selects of the advertisements (FAC-17).
        send: gives what `SelectHave` selects of the records here; None if that is just what the port offers.

    Raises:
        MalformedModule: the text is not canonical.
    """

    text: str
    needed_fields: frozenset[str] | None
    select: Select = field(compare=False)
    send: Select | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_canonical(self.text)

    @property
    def id(self) -> str:
        """Its identifier `R.<43>`."""
        return module_id(self.text)


def _check_canonical(text: str) -> None:
    """Check the outer form of canonical text: rules, one a line, sorted, each once (FAC-11)."""
    rules = text.split("\n")
    if rules.pop() or not rules or not is_normalized("NFC", text):
        raise MalformedModule("A policy module is not a list of lines in NFC, each ended by LF.")
    if any(_RULE.fullmatch(rule) is None for rule in rules) or rules != sorted(set(rules)):
        raise MalformedModule("The rules of a policy module are not in canonical form or order.")


def _select_group_shared(evaluation: Evaluation) -> Set[RecordHash]:
    # A listing of a hundred thousand records has a dozen different sets of fields, so each is judged once.
    chosen = {
        fields
        for fields in set(evaluation.advertised.values())
        if any(name == "App" and value.startswith("lace/") for name, _, value in fields)
    }
    return {record for record, fields in evaluation.advertised.items() if fields in chosen}


GROUP_SHARED: Final = PolicyModule(
    text=(
        "SelectAdvertised(V0,V1) :- Advertised(V0,V1), AdvertisedField(V0,V1,'App',_,V2),"
        " Prefix(V2,'lace/').\n"
        "SelectHave(V0) :- Have(V0), Shared(V0).\n"
    ),
    needed_fields=frozenset({"App"}),
    select=_select_group_shared,
)
"""What my group shared: the policy of an ordinary sync.

`Shared(P)` is a local fact, kept up to date as records arrive and transitively closed; of advertisements only
the `App` is needed, so that listings stay small."""


class ModuleRegistry:
    """The modules that can be run here, by identifier.

    Args:
        modules: the modules known from the start.
        compiler: makes a module of canonical text that came from a peer; without one only known modules run.
    """

    def __init__(
        self,
        modules: Iterable[PolicyModule] = (GROUP_SHARED,),
        compiler: Callable[[str], PolicyModule] | None = None,
    ) -> None:
        self._modules = {module.id: module for module in modules}
        self._compiler = compiler

    def resolve(self, identifier: str, data: bytes | None = None) -> PolicyModule:
        """Return the module an operand names.

        Args:
            identifier: its `R.<43>`.
            data: its canonical bytes, if the peer sent them along (INT-39).

        Raises:
            ModuleUnavailable: it is not known and no bytes came (INT-56).
            MalformedModule: the bytes are not canonical or another module's (INT-57, INT-145).
            PlanCompilationFailed: it cannot be run here (INT-146).
        """
        known = self._modules.get(identifier)
        if known is not None:
            return known
        if data is None:
            raise ModuleUnavailable(f"The policy module {identifier[:60]} is unknown here and did not come.")
        try:
            text = data[: _MAX_MODULE_BYTES + 1].decode()
        except UnicodeDecodeError as error:
            raise MalformedModule(f"The policy module {identifier[:60]} is not UTF-8.") from error
        if len(data) > _MAX_MODULE_BYTES or module_id(text) != identifier:
            raise MalformedModule(f"The bytes that came are not the policy module {identifier[:60]}.")
        _check_canonical(text)
        if self._compiler is None:
            raise PlanCompilationFailed(f"The policy module {identifier} cannot be run here.")
        try:
            return self._compiler(text)
        except InterlaceAbort:
            raise
        except LaceError as error:
            raise PlanCompilationFailed(f"The module {identifier} does not compile: {error}") from error


@dataclass(frozen=True, slots=True)
class Operand:
    """A module and where it comes from, as assigned or verified by the receiver (FAC-15, FAC-16, INT-63).

    Args:
        module_id: `R.<43>`.
        origin: the verifier text of the side that presents it, or its source label if unproven.
        facet: the role; "selector" is the only one that is exchanged (INT-38).

    Raises:
        MalformedModule: the identifier or the facet cannot be (INT-57).
        PeerVerifierMismatch: the origin is no label.
    """

    module_id: str
    origin: str
    facet: str = SELECTOR

    def __post_init__(self) -> None:
        if _MODULE_ID.fullmatch(self.module_id) is None:
            raise MalformedModule(f"{self.module_id[:60]!r} is not the identifier of a policy module.")
        if self.facet != SELECTOR:
            raise MalformedModule(f"An operand has the role {self.facet[:60]!r} instead of selector.")
        if _ORIGIN.fullmatch(self.origin) is None or not is_normalized("NFC", self.origin):
            raise PeerVerifierMismatch(f"{self.origin[:60]!r} cannot be the origin of an operand.")

    def to_fact(self, index: int) -> Fact:
        """Return the operand as the one fact of a setup block (INT-36)."""
        return Fact("ExchangeOperand", (str(index), self.module_id, self.origin, self.facet))


def operand_index(origin: str, other: str) -> int:
    """Return 0 or 1: the place of the operand with this origin in the plan (INT-37).

    Raises:
        PlanCompilationFailed: both operands have the same origin.
    """
    if origin == other:
        raise PlanCompilationFailed(f"Both operands of the exchange plan come from {origin[:60]}.")
    return int(origin > other)


@dataclass(frozen=True, slots=True)
class Plan:
    """A binary exchange plan (FAC-15, INT-58). `Plan.of` puts the operands in order.

    Args:
        operands: operand 0 and operand 1.
        needed_fields: the advertised fields the plan reads; None if it may read any.
    """

    operands: tuple[Operand, Operand]
    needed_fields: frozenset[str] | None

    def __post_init__(self) -> None:
        if operand_index(self.operands[0].origin, self.operands[1].origin) != 0:
            raise PlanCompilationFailed("The operands of the exchange plan are not in their order.")

    @classmethod
    def of(cls, one: Operand, other: Operand, needed_fields: frozenset[str] | None) -> Plan:
        """Return the plan of two operands, whichever side computes it (FAC-21).

        Raises:
            PlanCompilationFailed: both have the same origin (INT-146).
        """
        pair = (one, other) if operand_index(one.origin, other.origin) == 0 else (other, one)
        return cls(pair, needed_fields)

    @property
    def text(self) -> str:
        """The canonical text."""
        operands = [f"{i} {o.module_id} {o.origin} {o.facet}" for i, o in enumerate(self.operands)]
        needs = [_ALL_FIELDS] if self.needed_fields is None else sorted(self.needed_fields)
        return "".join(f"{line}\n" for line in (_PLAN_HEAD, *operands, *needs))

    @property
    def id(self) -> str:
        """The identifier `E.<43>`."""
        return f"E.{b64a.encode(blake3(self.text.encode()).digest())}"


class Executable(NamedTuple):
    """A plan made ready to run; it may be kept and used again for the same plan (INT-12, INT-59).

    Args:
        plan_id: the plan it was made of.
        selects: what the two operands select of a peer's advertisements.
        sends: what those operands select of the records here that narrow what the port offers.
    """

    plan_id: str
    selects: tuple[Select, ...]
    sends: tuple[Select, ...] = ()

    def check(self, plan: Plan) -> None:
        """Check that this was made of the agreed plan.

        Raises:
            MalformedPreparedPolicy: it was made of another, or is empty (INT-147).
        """
        if self.plan_id != plan.id or not self.selects:
            raise MalformedPreparedPolicy("A prepared policy does not belong to the agreed exchange plan.")

    def may_request(self, evaluation: Evaluation) -> Set[RecordHash]:
        """Return the advertised records that both operands select (FAC-18, FAC-19, INT-107).

        Raises:
            EvaluationFailed: an operand could not be evaluated (INT-108).
        """
        return self._intersect(self.selects, evaluation)

    def may_send(self, evaluation: Evaluation) -> Set[RecordHash] | None:
        """Return what both operands select of the records here; None if that is all that the port offers.

        What is returned narrows the port's offer and never widens it (FAC-18, FAC-19, INT-4).

        Raises:
            EvaluationFailed: an operand could not be evaluated (INT-108).
        """
        return self._intersect(self.sends, evaluation) if self.sends else None

    @staticmethod
    def _intersect(selects: tuple[Select, ...], evaluation: Evaluation) -> Set[RecordHash]:
        try:
            chosen = selects[0](evaluation)
            for select in selects[1:]:
                chosen = chosen & select(evaluation)
        except (InterlaceAbort, EnvironmentFault, Cancelled):
            raise
        except LaceError as error:
            raise EvaluationFailed(f"The policy could not be evaluated: {error}") from error
        return chosen


def compile_plan(
    mine: Operand, my_module: PolicyModule, theirs: Operand, their_module: PolicyModule
) -> tuple[Plan, Executable]:
    """Join two operands into a plan and its executable (INT-58).

    Raises:
        PlanCompilationFailed: the operands cannot be joined (INT-146).
    """
    needs = (my_module.needed_fields, their_module.needed_fields)
    needed = None if needs[0] is None or needs[1] is None else needs[0] | needs[1]
    plan = Plan.of(mine, theirs, needed)
    # The same module on both sides selects the same set; running it once is enough.
    modules = {module.id: module for module in (my_module, their_module)}.values()
    sends = tuple(module.send for module in modules if module.send is not None)
    return plan, Executable(plan.id, tuple(module.select for module in modules), sends)
