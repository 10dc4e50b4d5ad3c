"""What this side brings into every negotiation, and the hello lines of its snapshot heads (INT-41, INT-66)."""

from __future__ import annotations

from collections.abc import Iterable

from lazy.interlace.facts import BlockPhase, Fact, parse_block
from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.negotiate import Hello, HelloTerms
from lazy.interlace.plan import GROUP_SHARED, Operand, Plan
from vault.records import Tai, Verifier

__all__ = ["hello_facts", "hello_lines", "terms"]

_DERIVED = "HelloExchangePlan"  # a mailbox has no counterpart yet: the reader derives the plan


def terms(tai: Tai) -> HelloTerms:
    """Return this side's terms at a time."""
    return HelloTerms(tai, narrows=False)  # mailboxes have their runs, live lines their own tiers


def hello_lines(node: Verifier, tai: Tai) -> tuple[str, ...]:
    """Return the hello facts of a snapshot head as lines, without the plan."""
    anybody = Plan.of(Operand(GROUP_SHARED.id, node.text), Operand(GROUP_SHARED.id, "anybody"), frozenset({"App"}))
    facts = Hello(anybody.id, node, terms(tai)).to_facts()
    return tuple(fact.line for fact in facts if fact.predicate != _DERIVED)


def hello_facts(lines: Iterable[str]) -> tuple[Fact, ...]:
    """Read the hello lines of a snapshot head.

    Raises:
        MalformedFactBlock: a line is no hello fact (INT-20).
    """
    block = "".join(f"{line}\n" for line in lines).encode()
    return parse_block(block, BlockPhase.HELLO, DEFAULT_LIMITS.max_fact_block_bytes)
