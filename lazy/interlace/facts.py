r"""Fact blocks: the control data of interlace as text (INT-18..21).

A block is UTF-8 in NFC with LF line ends and no other control byte. Each line that is not empty is one fact:

    Predicate('constant','constant')

The predicate is an ASCII capital followed by letters and digits; constants stand in single quotes, with `\'`
and `\\` as the only escapes; no space stands outside constants; no line occurs twice; the last line ends
with LF too, so a block that was cut short is noticed. A block belongs to one phase and holds only the
predicates of that phase, each with its arity. One bad line spoils the block, and the round with it (INT-20).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, Self
from unicodedata import is_normalized

from lazy.interlace.errors import BadFactValue, MalformedFactBlock, OversizedFactBlock
from vault.lacegram import CONTROL, PREDICATE, quoted, split_line

__all__ = ["PREDICATES", "BlockPhase", "Fact", "PredicateShape", "format_block", "parse_block"]


class BlockPhase(StrEnum):
    """What a block of facts is for."""

    SETUP = "setup"
    HELLO = "hello"
    ADVERTISE = "advertise"
    RECONCILE = "reconcile"
    LISTING = "listing"
    REQUEST = "request"
    RESPONSE = "response"


class PredicateShape(NamedTuple):
    """What is known of a predicate: how many constants it takes and in which phases it may stand."""

    arity: int
    phases: frozenset[BlockPhase]


def _known(arity: int, *phases: BlockPhase) -> PredicateShape:
    return PredicateShape(arity, frozenset(phases))


_CONTROL_PHASES = tuple(phase for phase in BlockPhase if phase not in {BlockPhase.SETUP, BlockPhase.HELLO})

PREDICATES: dict[str, PredicateShape] = {
    "ExchangeOperand": _known(4, BlockPhase.SETUP),
    "HelloExchangePlan": _known(1, BlockPhase.HELLO),
    "HelloSigner": _known(1, BlockPhase.HELLO),
    "HelloTAI": _known(1, BlockPhase.HELLO),
    "HelloTickInterval": _known(1, BlockPhase.HELLO),
    "HelloRecordFormat": _known(1, BlockPhase.HELLO),
    "HelloAdvertisedField": _known(1, BlockPhase.HELLO),
    "HelloAllAdvertisedFields": _known(0, BlockPhase.HELLO),
    "HelloLimit": _known(2, BlockPhase.HELLO),
    # A side opens an iteration with summaries or with the full listing; what is asked for follows later.
    "Advertised": _known(2, BlockPhase.ADVERTISE, BlockPhase.LISTING),
    "AdvertisedField": _known(5, BlockPhase.ADVERTISE, BlockPhase.LISTING),
    "AdvertisementPartition": _known(3, BlockPhase.ADVERTISE, BlockPhase.LISTING),
    "ListAdvertisementPartition": _known(1, BlockPhase.RECONCILE),
    "NarrowAdvertisementPartition": _known(1, BlockPhase.RECONCILE),
    "MayRequest": _known(1, BlockPhase.REQUEST),
    "NotAvailable": _known(1, BlockPhase.RESPONSE),
    # Rides on ordinary control blocks (INT-86).
    "TickReady": _known(1, *_CONTROL_PHASES),
}

_CONTROL_BYTE = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")


class _FactFields(NamedTuple):
    predicate: str
    args: tuple[str, ...]


class Fact(_FactFields):
    """One fact: a predicate and its constants.

    Raises:
        BadFactValue: the predicate or a constant cannot stand in a block (FAC-6).
    """

    __slots__ = ()

    def __new__(cls, predicate: str, args: Iterable[str] = ()) -> Self:  # noqa: D102 - the class says it
        values = tuple(args)
        if PREDICATE.fullmatch(predicate) is None:
            raise BadFactValue(f"{predicate!r} is not the name of a predicate.")
        for value in values:
            if CONTROL.search(value) or not is_normalized("NFC", value):
                raise BadFactValue(f"{value!r} cannot be a constant: it is not NFC or holds control bytes.")
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise BadFactValue(f"{value!r} cannot be a constant: it is not UTF-8 text.") from error
        return tuple.__new__(cls, (predicate, values))

    @property
    def line(self) -> str:
        """The fact as it stands in a block, without LF."""
        return f"{self.predicate}({','.join(map(quoted, self.args))})"


def format_block(facts: Iterable[Fact]) -> bytes:
    """Return the block of these facts in the order given, each line ended by LF (INT-18, INT-19)."""
    return "".join(f"{fact.line}\n" for fact in facts).encode()


def parse_block(data: bytes, phase: BlockPhase, limit: int) -> tuple[Fact, ...]:
    """Read a block strictly (INT-18..20).

    Args:
        data: the bytes of the block.
        phase: which predicates may stand in it.
        limit: the most bytes it may have.

    Raises:
        OversizedFactBlock: it has more bytes; nothing of it was read (INT-151).
        MalformedFactBlock: a line breaks a rule; the error has its number (INT-144).
    """
    if len(data) > limit:
        raise OversizedFactBlock(f"A fact block of {len(data)} bytes came; at most {limit} are taken.")
    text = _decode(data)
    facts: list[Fact] = []
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        if line in seen:
            raise MalformedFactBlock("it repeats an earlier line.", number)
        seen.add(line)
        facts.append(_read_line(line, phase, number))
    return tuple(facts)


def _decode(data: bytes) -> str:
    control = _CONTROL_BYTE.search(data)
    if control:
        number = data.count(b"\n", 0, control.start()) + 1
        raise MalformedFactBlock(f"it holds the control byte {data[control.start()]:#04x}.", number)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise MalformedFactBlock("it is not UTF-8.", data.count(b"\n", 0, error.start) + 1) from error
    if not is_normalized("NFC", text):
        lines = text.split("\n")
        number = next(n for n, line in enumerate(lines, 1) if not is_normalized("NFC", line))
        raise MalformedFactBlock("it is not in NFC.", number)
    if text and not text.endswith("\n"):
        raise MalformedFactBlock("it is not ended by LF.", text.count("\n") + 1)
    return text


def _read_line(line: str, phase: BlockPhase, number: int) -> Fact:
    fact = split_line(line)
    if fact is None:
        raise MalformedFactBlock("it is not of the form Predicate('constant',...).", number)
    predicate, args = fact
    known = PREDICATES.get(predicate)
    if known is None:
        raise MalformedFactBlock(f"no predicate is called {predicate[:60]}.", number)
    if phase not in known.phases:
        raise MalformedFactBlock(f"{predicate} does not belong in the phase {phase}.", number)
    if len(args) != known.arity:
        raise MalformedFactBlock(f"{predicate} takes {known.arity} constants, not {len(args)}.", number)
    return tuple.__new__(Fact, (predicate, args))
