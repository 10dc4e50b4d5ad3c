"""What a peer may send in an interlace stream, bounded and open, and addresses of records, for the fuzzer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from lazy.interlace.documents.open_machine import OpenMachine
from lazy.interlace.documents.stream import StreamLink
from lazy.interlace.limits import Limits
from lazy.interlace.machine import InterlaceMachine
from tests.lazy.interlace.links import TERMS, assert_invariants, config
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from vault.revisions.candidates import Coordinate, parse_record_address

__all__ = ["INTERLACE"]

_NOTES = [note(f"fuzz {number}") for number in range(6)]
_LINES: Mapping[str, Mapping[str, object]] = {
    "interlace": {"terms": replace(TERMS, limits=Limits(max_fact_block_bytes=8192))},
    "interlace-open": {},
    "interlace-listing": {"terms": replace(TERMS, limits=Limits(max_partition_summaries=1))},
}


_KINDS: Mapping[str, type[InterlaceMachine]] = {"interlace-open": OpenMachine}


def _machine(name: str, port: MemoryPort, *, alice: bool = True) -> InterlaceMachine:
    side = replace(config(alice=alice), **_LINES[name])  # type: ignore[arg-type]
    return _KINDS.get(name, InterlaceMachine)(side, port)


def _alice(name: str) -> StreamLink:
    return StreamLink(_machine(name, MemoryPort(_NOTES[:2])), BOB)


def _whole(name: str) -> bytes:
    """Return all that bob sends to alice in a sound exchange; of an open one, a second round and an epoch, too."""
    port = MemoryPort(_NOTES[1:5])
    alice, bob = _alice(name), StreamLink(_machine(name, port, alice=False), ALICE)
    sent = b""

    def move(to_alice: bytes, to_bob: bytes) -> None:
        nonlocal sent
        while to_alice or to_bob:
            sent += to_alice
            to_alice, to_bob = bob.take(to_bob), alice.take(to_alice)

    move(bob.start(), alice.start())
    if bob.machine.stays_open:
        port.records[_NOTES[5].hash] = _NOTES[5]
        move(bob.wake(), b"")
        move(bob.wake(bob.machine.config.module), b"")
    return sent


def _taken(name: str) -> Callable[[bytes], None]:
    def take(data: bytes) -> None:
        alice = _alice(name)
        alice.start()
        try:
            alice.take(data)
        finally:
            assert_invariants(alice.machine)

    return take


def _address(data: bytes) -> None:
    address = parse_record_address(data.decode("utf-8", "surrogateescape"))
    if isinstance(address, Coordinate):
        assert parse_record_address(str(address)) == address


_ADDRESSES = (
    f"////{_NOTES[0].hash.text}".encode(),
    b"//friends/0123456789ABCDEF//lace/release//main/1.0.0[0]",
    f"//g//a//n[{_NOTES[0].hash.text}]".encode(),
    b"//g//a//n[1][*]",
)

INTERLACE: Mapping[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = MappingProxyType(
    {
        **{name: (_taken(name), lambda name=name: (_whole(name),)) for name in _LINES},  # type: ignore[misc]
        "address": (_address, lambda: _ADDRESSES),
    }
)
"""Targets by name: what is run, and what it begins with."""
