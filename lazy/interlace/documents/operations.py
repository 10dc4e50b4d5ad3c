"""Operations on a selected set: get, list, store, push, pull, sync, as policy and nothing else (Lace-050, Lace-100).

An application says *which records* an exchange is about and what it means to do with that set. What becomes of it is a
policy module: both sides run it as one operand of their plan, and the ordinary machine does the rest (FAC-28, INT-135,
INT-136). There is no message for any of it on the wire, and nobody writes rules about what goes which way: a set
converges, and an operation at most says at whose side it may grow (INT-5).

    get, pull     the set may grow here
    store, push   the set may grow at the peer
    sync          the set may grow at both
    list          the set grows nowhere; the peer says what it has of it

Which side is "here" is told by the verifier in `Here` and `Peer`, so on a link without proof an operation with a
direction moves nothing.

**Is what comes out the same every time?** Not by itself. A policy whose rules negate may select less as records arrive;
then two sound exchanges in another order may end with different sets (INT-132, INT-133). An application that needs one
result uses rules without negation over `Have`, as every operation here does and `lace rules check` tells, or lets any
exchange run and selects afterwards over validated records (INT-134).

**Who looks on.** `Engine(notice=...)` and the results it returns belong to whoever drives the exchange. No store calls
them, they are no facts, and a peer cannot tell whether anybody looks (INT-137).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lazy.interlace.errors import PlanCompilationFailed
from vault.lacegram import quoted
from vault.records import RecordHash, Verifier
from vault.rules import canonical_text, parse_program

__all__ = ["Operation", "SelectedSet", "operation_text"]


class Operation(StrEnum):
    """What is meant to become of a selected set."""

    GET = "get"
    LIST = "list"
    STORE = "store"
    PUSH = "push"
    PULL = "pull"
    SYNC = "sync"


_GROWS_HERE = frozenset({Operation.GET, Operation.PULL, Operation.SYNC})
_GROWS_THERE = frozenset({Operation.STORE, Operation.PUSH, Operation.SYNC})
_HERE_SENDS = _GROWS_THERE
_THERE_SENDS = _GROWS_HERE | {Operation.LIST}


@dataclass(frozen=True, slots=True)
class SelectedSet:
    """Which records an operation is about; what is left empty does not narrow.

    Args:
        group: their Group.
        app: their App.
        name_prefix: how their Name begins.
        signer: who sealed them.
        hashes: exactly these records, of those that the other conditions admit.

    Raises:
        PlanCompilationFailed: nothing narrows the set, which would be every record of either side.
    """

    group: str = ""
    app: str = ""
    name_prefix: str = ""
    signer: Verifier | None = None
    hashes: frozenset[RecordHash] = frozenset()

    def __post_init__(self) -> None:
        if not (self.group or self.app or self.name_prefix or self.signer or self.hashes):
            raise PlanCompilationFailed("An operation must say which records it is about.")

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """The headers that are compared, with their values."""
        signer = self.signer.text if self.signer is not None else ""
        rows = (("Group", self.group), ("App", self.app), ("Signed-By", signer))
        return tuple((name, value) for name, value in rows if value)


def operation_text(operation: Operation, selected: SelectedSet, me: Verifier) -> str:
    """Return the canonical text of the module that one side presents for an operation.

    Args:
        operation: what is meant.
        selected: the records it is about.
        me: the verifier of the side that asks for it.

    Raises:
        RuleError: the set is too large for one module, or a value cannot stand in a rule.
    """
    rules: list[str] = []
    for side, guard in (("Here", operation in _HERE_SENDS), ("Peer", operation in _THERE_SENDS)):
        if guard:
            rules += _rules("SelectHave(P) :- Have(P)", "Field(P,", side, selected, me)
    for side, guard in (("Here", operation in _GROWS_HERE), ("Peer", operation in _GROWS_THERE)):
        if guard:
            head = "SelectAdvertised(P,S) :- Advertised(P,S)"
            rules += _rules(head, "AdvertisedField(P,S,", side, selected, me)
    return canonical_text(parse_program("".join(rules)))


def _rules(head: str, field: str, side: str, selected: SelectedSet, me: Verifier) -> Iterator[str]:
    body = [head, f"{side}({quoted(me.text)})"]
    body += [f"{field}{quoted(name)},_,{quoted(value)})" for name, value in selected.conditions]
    if selected.name_prefix:
        body += [f"{field}'Name',_,N)", f"Prefix(N,{quoted(selected.name_prefix)})"]
    if not selected.hashes:
        yield ", ".join(body) + ".\n"
    for record in sorted(selected.hashes):
        yield ", ".join([*body, f"Eq(P,{quoted(record.text)})"]) + ".\n"
