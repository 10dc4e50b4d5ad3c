"""Messages as fact blocks and back (INT-18, INT-36, INT-41..51).

A message is one block, or several where the limit of a block demands it (H-10); the advertisement of one record
is never divided.
Record bytes are never facts (INT-51): a binding moves them beside the block of `NotAvailable` facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from lazy.interlace.ads import Advertisement, Summary, read_advertisements
from lazy.interlace.errors import MalformedFactBlock, UnsupportedFieldSchema
from lazy.interlace.facts import BlockPhase, Fact, format_block, parse_block
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Asks,
    FullListing,
    HelloMessage,
    Message,
    PartitionListing,
    RequestList,
    Responses,
    Send,
    Setup,
    Summaries,
)
from lazy.interlace.negotiate import Hello
from lazy.interlace.plan import Operand
from lazy.interlace.states import Phase
from vault.records import RecordHash
from vault.records.errors import RecordError

__all__ = ["BLOCK_PHASES", "Decoded", "awaited", "decode", "encode"]

BLOCK_PHASES: Mapping[Phase, BlockPhase] = {
    Phase.SETUP: BlockPhase.SETUP,
    Phase.HELLO: BlockPhase.HELLO,
    Phase.ADVERTISE: BlockPhase.ADVERTISE,
    Phase.RECONCILE: BlockPhase.RECONCILE,
    Phase.LISTING: BlockPhase.LISTING,
    Phase.REQUEST: BlockPhase.REQUEST,
    Phase.TRANSFER: BlockPhase.RESPONSE,
}
"""What the block must be that a machine awaits in a phase."""


class Decoded(NamedTuple):
    """A message that came, and the ready times that came with it."""

    message: Message
    ticks: tuple[str, ...] = ()


def encode(send: Send, *, source: str, limit: int) -> tuple[bytes, ...]:
    """Return the fact blocks of a message, at least one.

    Args:
        send: the message and the tick that rides on it.
        source: the sender's source label.
        limit: bytes a block may have.
    """
    parts = _parts(send.message, source)
    return _cut(parts if send.tick is None else chain([_line(Fact("TickReady", (send.tick.text,)))], parts), limit)


def _parts(message: Message, source: str) -> Iterable[bytes]:
    """Return the pieces that a block is made of and that no cut may divide."""
    match message:
        case FullListing(entries):
            return (Advertisement.of(record, source, fields).block for record, fields in entries.items())
        case PartitionListing(listed, children):
            return chain((_line(child.to_fact()) for child in children), (ad.block for ad in listed))
        case _:
            return map(_line, _facts(message))


def _line(fact: Fact) -> bytes:
    return format_block((fact,))


def _facts(message: Message) -> Iterable[Fact]:  # noqa: PLR0911 - one for each message
    match message:
        case Setup(index, operand):
            return (operand.to_fact(index),)
        case HelloMessage(hello):
            return hello.to_facts()
        case Summaries(summaries):
            return (summary.to_fact() for summary in summaries)
        case Asks(prefixes, narrows):
            lists = (Fact("ListAdvertisementPartition", (prefix,)) for prefix in prefixes)
            return chain(lists, (Fact("NarrowAdvertisementPartition", (prefix,)) for prefix in narrows))
        case RequestList(hashes):
            return (Fact("MayRequest", (record.text,)) for record in hashes)
        case Responses(_, missing):
            return (Fact("NotAvailable", (record.text,)) for record in missing)
        case _:
            return ()


def _cut(parts: Iterable[bytes], limit: int) -> tuple[bytes, ...]:
    blocks: list[bytes] = []
    block: list[bytes] = []
    size = 0
    for part in parts:
        if size + len(part) > limit:
            blocks.append(b"".join(block))
            block, size = [], 0
        block.append(part)
        size += len(part)
    return (*blocks, b"".join(block))


def awaited(machine: InterlaceMachine, blocks: Sequence[bytes]) -> BlockPhase | None:
    """Return what the next blocks for a machine must be; None if it awaits none.

    Where an open exchange rests, the peer may begin another round or another epoch: the first fact tells which.
    """
    if machine.may_begin_anew:
        begins = any(block.startswith((b"ExchangeOperand(", b"ExchangeOperand ")) for block in blocks)
        return BlockPhase.SETUP if begins else BlockPhase.ADVERTISE
    return BLOCK_PHASES.get(machine.phase)


def decode(machine: InterlaceMachine, blocks: Sequence[bytes], modules: Mapping[str, bytes] | None = None) -> Decoded:
    """Read the message that a machine awaits.

    Args:
        machine: the receiver; its phase says what the blocks must hold, its limits how large they may be.
        blocks: the fact blocks of the message.
        modules: module bytes that came with a setup (INT-39).

    Raises:
        InterlaceAbort: a block is oversized or malformed (INT-144, INT-151), or a value in it.
    """
    phase = awaited(machine, blocks)
    if phase is None:
        raise MalformedFactBlock(f"A block of facts came in the phase {machine.phase}.")
    facts: list[Fact] = []
    for block in blocks:
        facts += parse_block(block, phase, machine.limits.max_fact_block_bytes)
    ticks = tuple(fact.args[0] for fact in facts if fact.predicate == "TickReady")
    if ticks:
        facts = [fact for fact in facts if fact.predicate != "TickReady"]
    return Decoded(_message(machine, phase, facts, modules or {}), ticks)


def _message(  # noqa: PLR0911 - one for each phase
    machine: InterlaceMachine, phase: BlockPhase, facts: Sequence[Fact], modules: Mapping[str, bytes]
) -> Message:
    match phase:
        case BlockPhase.SETUP:
            return _read_setup(facts, modules)
        case BlockPhase.HELLO:
            return HelloMessage(Hello.from_facts(facts))
        case BlockPhase.ADVERTISE:
            return _read_advertised(machine, facts)
        case BlockPhase.RECONCILE:
            lists = tuple(fact.args[0] for fact in facts if fact.predicate == "ListAdvertisementPartition")
            narrows = tuple(fact.args[0] for fact in facts[len(lists) :])
            if any(fact.predicate != "NarrowAdvertisementPartition" for fact in facts[len(lists) :]):
                raise MalformedFactBlock("The partitions to list and those to narrow are not in their order.")
            return Asks(lists, narrows)
        case BlockPhase.LISTING:
            children = tuple(takewhile(lambda fact: fact.predicate == "AdvertisementPartition", facts))
            ads = read_advertisements(facts[len(children) :])
            return PartitionListing(tuple(ads), tuple(map(Summary.from_fact, children)))
        case BlockPhase.REQUEST:
            return RequestList(_hashes(facts))
        case BlockPhase.RESPONSE:
            return Responses(not_available=_hashes(facts))


def _read_setup(facts: Sequence[Fact], modules: Mapping[str, bytes]) -> Setup:
    if len(facts) != 1:
        raise MalformedFactBlock(f"A setup block holds {len(facts)} operands instead of one.")
    index, module, origin, facet = facts[0].args
    if index not in {"0", "1"}:
        raise MalformedFactBlock(f"An operand has the index {index[:20]!r}.")
    return Setup(int(index), Operand(module, origin, facet), modules)


def _read_advertised(machine: InterlaceMachine, facts: Sequence[Fact]) -> Message:
    if facts and facts[0].predicate == "AdvertisementPartition":
        if any(fact.predicate != "AdvertisementPartition" for fact in facts):
            raise MalformedFactBlock("A block mixes partition summaries and advertisements.")
        return Summaries(tuple(Summary.from_fact(fact) for fact in facts))
    if not facts:
        return Summaries(())
    if any(fact.predicate == "AdvertisementPartition" for fact in facts):
        raise MalformedFactBlock("A block mixes partition summaries and advertisements.")
    ads = tuple(read_advertisements(facts))
    _check_claims(machine, ads)
    return FullListing({ad.hash: ad.fields for ad in ads if ad.hash is not None})


def _check_claims(machine: InterlaceMachine, ads: Iterable[Advertisement]) -> None:
    if machine.is_renewing:
        return  # of the epoch that ends; the machine passes it over
    schema = machine.agreed.schema if machine.agreed is not None else None
    for ad in ads:
        if ad.source != machine.peer_source:
            raise MalformedFactBlock(f"The peer advertises {ad.hash_text} in the name of another source.")
        if schema is None or any(not schema.allows(name) for name, _, _ in ad.fields):
            raise UnsupportedFieldSchema(f"A field of {ad.hash_text} is outside the agreed schema.")


def _hashes(facts: Iterable[Fact]) -> tuple[RecordHash, ...]:
    try:
        return tuple(RecordHash.parse(fact.args[0]) for fact in facts)
    except RecordError as error:
        raise MalformedFactBlock(error.message) from error
