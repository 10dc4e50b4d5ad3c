"""Hello values and what two of them agree on; runtime facts; ticks (INT-22..29, INT-41, INT-60..90).

Everything here is a function of the two hellos and the plan, so both sides compute equal values without
another message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from lazy.interlace.errors import (
    NegotiationFailed,
    PeerVerifierMismatch,
    PlanMismatch,
    UnsupportedFieldSchema,
    UnsupportedRecordFormat,
)
from lazy.interlace.facts import Fact
from lazy.interlace.limits import DEFAULT_LIMITS, Limits, read_decimal
from lazy.interlace.plan import Plan, link_id
from vault.records import Tai, Verifier
from vault.records.errors import RecordError

__all__ = [
    "FieldSchema",
    "Hello",
    "HelloTerms",
    "Negotiated",
    "check_tick_ready",
    "negotiate",
    "runtime_facts",
]

_FORMATS: Final = frozenset({"H3"})
_NARROWS: Final = "max_narrowing_rounds"
"""The name of a `HelloLimit` that says that its sender can narrow, and how often at most."""
_TICK_INTERVAL_NS: Final = 10_000_000_000
_MAX_TICK_INTERVAL_NS: Final = 86_400 * 1_000_000_000  # a day; longer ticks would freeze time rules
_NS: Final = 1_000_000_000
_PLAN_ID = re.compile(r"E\.[0-9A-Z_a-z~]{43}")


class FieldSchema(NamedTuple):
    """Which fields advertisements may carry (INT-80..83).

    Args:
        names: exact field names (INT-81); not used when `all_fields` is set.
        all_fields: whether every field is allowed.
    """

    names: frozenset[str] = frozenset()
    all_fields: bool = False

    def intersect(self, other: Self) -> Self:
        """Return what both allow (INT-80)."""
        if self.all_fields:
            return other
        return self if other.all_fields else type(self)(self.names & other.names)

    def satisfies(self, needed: frozenset[str] | None) -> bool:
        """Whether a plan that needs these fields (None: all) can run (INT-34, INT-35, INT-82, INT-83)."""
        return self.all_fields or (needed is not None and needed <= self.names)

    def allows(self, name: str) -> bool:
        """Whether a field of this name may be advertised."""
        return self.all_fields or name in self.names


_APP_ALONE: Final = FieldSchema(frozenset({"App"}))


@dataclass(frozen=True, slots=True)
class HelloTerms:
    """What a side brings into the negotiation besides plan and identity.

    Args:
        tai: its time at the start (INT-66); the snapshot's TAI for a mailbox (H-12).
        tick_interval_ns: the least tick interval in nanoseconds (INT-69).
        formats: accepted hash suffixes (INT-77).
        schema: fields it can advertise.
        limits: its limits.
        narrows: whether it can narrow partitions, and begin with those of one character (INT-102).

    Raises:
        NegotiationFailed: the interval is zero or longer than a day.
    """

    tai: Tai
    tick_interval_ns: int = _TICK_INTERVAL_NS
    formats: frozenset[str] = _FORMATS
    schema: FieldSchema = _APP_ALONE
    limits: Limits = DEFAULT_LIMITS
    narrows: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.tick_interval_ns <= _MAX_TICK_INTERVAL_NS:
            raise NegotiationFailed(f"A tick interval of {self.tick_interval_ns} ns cannot be accepted.")


@dataclass(frozen=True, slots=True)
class Hello:
    """One side's hello (INT-41).

    Args:
        plan_id: the plan it computed.
        signer: its verifier, if the binding can prove it (INT-60).
        terms: the rest.

    Raises:
        NegotiationFailed: the plan's identifier has another form.
    """

    plan_id: str
    signer: Verifier | None
    terms: HelloTerms

    def __post_init__(self) -> None:
        if _PLAN_ID.fullmatch(self.plan_id) is None:
            raise NegotiationFailed(f"{self.plan_id[:60]!r} is not the identifier of an exchange plan.")

    def to_facts(self) -> tuple[Fact, ...]:
        """Return the facts of the hello block."""
        terms = self.terms
        facts = [Fact("HelloExchangePlan", (self.plan_id,))]
        if self.signer is not None:
            facts.append(Fact("HelloSigner", (self.signer.text,)))
        facts.append(Fact("HelloTAI", (terms.tai.text,)))
        facts.append(Fact("HelloTickInterval", (str(terms.tick_interval_ns),)))
        facts += [Fact("HelloRecordFormat", (suffix,)) for suffix in sorted(terms.formats)]
        facts += [Fact("HelloAdvertisedField", (name,)) for name in sorted(terms.schema.names)]
        if terms.schema.all_fields:
            facts.append(Fact("HelloAllAdvertisedFields"))
        # Unknown limits mean nothing (INT-72), so a side that does not know this one hears nothing of it.
        narrows = (Fact("HelloLimit", (_NARROWS, str(terms.limits.max_narrowing_depth))),) if terms.narrows else ()
        return (*facts, *terms.limits.to_facts(), *narrows)

    @classmethod
    def from_facts(cls, facts: Iterable[Fact], *, derived_plan: str = "") -> Hello:
        """Read a hello.

        Args:
            facts: the facts of the hello block.
            derived_plan: the plan that stands for the one a mailbox does not name; the reader computed it.

        Raises:
            NegotiationFailed: a fact is missing, repeated or malformed (INT-66, INT-69, INT-73).
        """
        found: dict[str, list[tuple[str, ...]]] = {}
        for fact in facts:
            found.setdefault(fact.predicate, []).append(fact.args)
        plan_id = _single(found, "HelloExchangePlan") or derived_plan
        signer, tai = _single(found, "HelloSigner"), _single(found, "HelloTAI")
        interval = _single(found, "HelloTickInterval")
        if tai is None or interval is None:
            raise NegotiationFailed("A hello comes without HelloTAI or HelloTickInterval.")
        try:
            terms = HelloTerms(
                Tai.parse(tai),
                read_decimal(interval, "The tick interval"),
                frozenset(args[0] for args in found.get("HelloRecordFormat", [])),
                FieldSchema(
                    frozenset(args[0] for args in found.get("HelloAdvertisedField", [])),
                    "HelloAllAdvertisedFields" in found,
                ),
                Limits.from_pairs((name, value) for name, value in found.get("HelloLimit", [])),
                any(read_decimal(text, _NARROWS) > 0 for name, text in found.get("HelloLimit", []) if name == _NARROWS),
            )
            return cls(plan_id, Verifier.parse(signer) if signer is not None else None, terms)
        except RecordError as error:
            raise NegotiationFailed(f"A hello holds a malformed value: {error.message}") from error


def _single(found: dict[str, list[tuple[str, ...]]], predicate: str) -> str | None:
    values = found.get(predicate, [])
    if len(values) > 1:
        raise NegotiationFailed(f"A hello says {predicate} more than once.")
    return values[0][0] if values else None


class Negotiated(NamedTuple):
    """What both sides agreed on; equal on both (invariant 7, INT-28).

    Args:
        plan_id: the exchange plan.
        start: StartTAI (INT-67).
        skew_seconds: ClockSkewSeconds (INT-68).
        tick_interval_ns: TickInterval (INT-69).
        formats: hash suffixes (INT-77).
        schema: advertised fields (INT-80).
        limits: the effective limits (INT-71).
        link_id: empty unless both signers are proven (INT-74, INT-76).
        narrows: whether partitions may be narrowed (INT-102, INT-103).
    """

    plan_id: str
    start: Tai
    skew_seconds: int
    tick_interval_ns: int
    formats: frozenset[str]
    schema: FieldSchema
    limits: Limits
    link_id: str
    narrows: bool = False


def negotiate(mine: Hello, theirs: Hello, plan: Plan, *, proven: Verifier | None) -> Negotiated:
    """Return what two hellos agree on under the plan that this side computed.

    Args:
        mine: the hello this side sent.
        theirs: the hello that came.
        plan: the plan both must name.
        proven: the verifier that the binding proved the peer to be, if any.

    Raises:
        NegotiationFailed: the peer names a signer without proof (INT-62).
        PeerVerifierMismatch: it names another signer than was proven (INT-140).
        PlanMismatch: it names another plan (INT-65, INT-141).
        UnsupportedRecordFormat: no record format is common (INT-142).
        UnsupportedFieldSchema: the common fields are not those the plan needs (INT-143).
    """
    if theirs.signer is not None and proven is None:
        raise NegotiationFailed("The peer names its signer, and nothing proves it.")
    if theirs.signer is not None and theirs.signer != proven:
        raise PeerVerifierMismatch(f"The peer says it is {theirs.signer}, and was proven to be {proven}.")
    if not mine.plan_id == theirs.plan_id == plan.id:
        raise PlanMismatch(f"The peer's exchange plan is {theirs.plan_id}, ours is {plan.id}.")
    formats = mine.terms.formats & theirs.terms.formats
    if not formats:
        raise UnsupportedRecordFormat("The peer accepts none of the record formats accepted here.")
    schema = mine.terms.schema.intersect(theirs.terms.schema)
    if not schema.satisfies(plan.needed_fields):
        raise UnsupportedFieldSchema("The fields both sides advertise are not all that the plan needs.")
    both = mine.signer is not None and theirs.signer is not None
    return Negotiated(
        plan_id=plan.id,
        start=max(mine.terms.tai, theirs.terms.tai),
        skew_seconds=abs(mine.terms.tai.total_ns - theirs.terms.tai.total_ns) // _NS,
        tick_interval_ns=max(mine.terms.tick_interval_ns, theirs.terms.tick_interval_ns),
        formats=formats,
        schema=schema,
        limits=mine.terms.limits.negotiate(theirs.terms.limits),
        link_id=link_id(str(mine.signer), str(theirs.signer), plan.id) if both else "",
        narrows=mine.terms.narrows and theirs.terms.narrows,
    )


def runtime_facts(
    agreed: Negotiated,
    *,
    here: Verifier | None,
    peer: Verifier | None,
    tick: Tai,
    transport: str = "",
    encrypted: bool = False,
) -> tuple[Fact, ...]:
    """Return the runtime facts of an evaluation; what is not proven is absent (INT-22..28).

    Args:
        agreed: what was negotiated.
        here: this side's verifier.
        peer: the peer's, only if proven (INT-24).
        tick: the shared tick time.
        transport: the address of the connection, if there is one.
        encrypted: whether the stream is proven to be confidential (INT-25).
    """
    facts = [
        Fact("StartTAI", (agreed.start.text,)),
        Fact("TickTAI", (tick.text,)),
        Fact("ClockSkewSeconds", (str(agreed.skew_seconds),)),
    ]
    if here is not None:
        facts.append(Fact("Here", (here.text,)))
    if peer is not None:
        facts.append(Fact("Peer", (peer.text,)))
    if transport:
        facts.append(Fact("Transport", (transport,)))
    if encrypted:
        facts.append(Fact("TransportEncrypted"))
    return tuple(facts)


def check_tick_ready(text: str, agreed: Negotiated, last: Tai) -> Tai:
    """Return the ready time a peer sent (INT-87).

    Args:
        text: the constant of its `TickReady` fact.
        agreed: what was negotiated.
        last: the last ready time of the same sender, StartTAI at first.

    Raises:
        NegotiationFailed: it is malformed, before the start, not aligned, or went back.
    """
    try:
        ready = Tai.parse(text)
    except RecordError as error:
        raise NegotiationFailed(f"A tick is malformed: {error.message}") from error
    passed = ready.total_ns - agreed.start.total_ns
    if passed < 0 or passed % agreed.tick_interval_ns or ready < last:
        raise NegotiationFailed(f"The tick {text} is not aligned to the agreed times, or went back.")
    return ready
