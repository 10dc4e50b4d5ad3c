"""What this side says in every negotiation and snapshot head: its terms, and what it holds (INT-41, INT-66)."""

from __future__ import annotations

from collections.abc import Iterable

from lazy.interlace.facts import BlockPhase, Fact, parse_block
from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.negotiate import Hello, HelloTerms
from lazy.interlace.plan import GROUP_SHARED, Operand, Plan
from transports.snapshot import LogReach
from vault.records import Tai, Verifier
from vault.vault import Vault

__all__ = ["hello_facts", "hello_lines", "terms", "vector_told"]

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


def vector_told(vault: Vault) -> tuple[LogReach, ...]:
    """Return what this vault says it holds of each log, in the order of the nodes."""
    rows = vault.store.rows("SELECT node, seq, plex, forked FROM vector WHERE seq > 0 ORDER BY node")
    return tuple(LogReach(Verifier.parse(str(n)), int(s), bytes(p), bool(f)) for n, s, p, f in rows)
