"""An exchange as one stream of bytes each way: told apart by leading bytes, bounded, in pieces of any size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace import errors as e
from lazy.interlace.documents.stream import PREFACE, StreamLink
from lazy.interlace.limits import Limits
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.plan import GROUP_SHARED, ModuleRegistry, PolicyModule
from lazy.interlace.result import InterlaceResult
from lazy.interlace.states import ENDED, Phase
from tests.lazy.interlace.links import TERMS, assert_invariants, config, engine, sync
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from vault.lacegram import module_id
from vault.records import Plex

NOTES = [note(str(number)) for number in range(12)]
OTHER = PolicyModule(
    "SelectAdvertised(V0,V1) :- Advertised(V0,V1).\nSelectHave(V0) :- Have(V0).\n",
    frozenset(),
    lambda evaluation: set(evaluation.advertised),
)
Change = Callable[[bytes], bytes]


class Pipe:
    """Two ends of a stream; `change` may spoil what goes to alice while she is in a phase."""

    def __init__(
        self, alice: MemoryPort, bob: MemoryPort, piece: int = 1 << 30, sides: tuple[dict[str, object], ...] = ({}, {})
    ) -> None:
        one = InterlaceMachine(replace(config(), **sides[0]), alice)  # type: ignore[arg-type]
        other = InterlaceMachine(replace(config(alice=False), **sides[1]), bob)  # type: ignore[arg-type]
        self.ends = (StreamLink(one, BOB), StreamLink(other, ALICE))
        self.piece = piece
        self.sent = (bytearray(), bytearray())

    def run(self, spoil: dict[Phase, Change] | None = None) -> tuple[InterlaceResult, InterlaceResult]:
        waiting = [self.ends[1].start(), self.ends[0].start()]  # by receiver
        while any(waiting):
            now, waiting = waiting, [b"", b""]
            for index, sent in enumerate(now):
                self.sent[1 - index].extend(sent)
                phase = self.ends[0].machine.phase
                is_spoiled = index == 0 and sent and spoil and phase in spoil
                data = spoil.pop(phase)(sent) if is_spoiled and spoil else sent
                for start in range(0, len(data), self.piece):
                    waiting[1 - index] += self.ends[index].take(data[start : start + self.piece])
        return self.ends[0].machine.result, self.ends[1].machine.result


@pytest.mark.parametrize("piece", [1, 7, 4096, 1 << 30])
def test_a_stream_gives_what_the_engine_gives_in_pieces_of_any_size(piece: int) -> None:
    """FAC-23, INT-2, INT-164: element after element, each known by its first bytes."""
    alice, bob = MemoryPort(NOTES[:5]), MemoryPort(NOTES[3:])
    pipe = Pipe(alice, bob, piece)
    results = pipe.run()
    expected = sync(MemoryPort(NOTES[:5]), MemoryPort(NOTES[3:]))
    assert results == expected
    assert alice.records == bob.records
    for sent in pipe.sent:
        assert sent.startswith(PREFACE)
        assert sent.count(b"--- setup\n") == sent.count(b"--- hello\n") == 1


def test_elements_are_told_apart_by_their_leading_bytes() -> None:
    """FAC-23: comments and empty lines mean nothing wherever an element may begin; records hold any bytes."""
    wild = [Plex.build(group="g", app="lace/data", name=f"n{n}", tai=NOTES[0].tai, data=d) for n, d in enumerate(WILD)]
    alice, bob = MemoryPort(), MemoryPort(wild)

    def comment(data: bytes) -> bytes:
        return b"# a comment\n\n" + data

    pipe = Pipe(alice, bob, 5)
    phases = (Phase.HELLO, Phase.ADVERTISE, Phase.LISTING, Phase.TRANSFER)
    pipe.run(dict.fromkeys(phases, comment))
    assert set(alice.records) == {record.hash for record in wild}


WILD = ("🖧: x\n".encode(), b"--- response\n", b"\n\n# x", "🧩: R 1\n".encode(), b"", b"Predicate('x')\n", b"---")


def test_a_module_that_the_peer_lacks_comes_inline() -> None:
    """FAC-24, INT-39: its canonical text, as long as it says, before the operand that names it."""
    asked: list[str] = []

    def compiler(text: str) -> PolicyModule:
        asked.append(text)
        return OTHER

    mine: dict[str, object] = {"registry": ModuleRegistry((GROUP_SHARED,), compiler)}
    theirs: dict[str, object] = {"module": OTHER, "registry": ModuleRegistry((GROUP_SHARED, OTHER))}
    pipe = Pipe(MemoryPort(), MemoryPort(NOTES), 3, (mine, theirs))
    result, _ = pipe.run()
    assert asked == [OTHER.text]
    assert len(result.received) == len(NOTES)
    assert f"🧩: {OTHER.id} {len(OTHER.text)}\n{OTHER.text}\n".encode() in bytes(pipe.sent[1])


def swap(old: str, new: str) -> Change:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return change


RESOURCES = b"".join(f"🧩: {module_id(str(n))} 1\n{n}\n".encode() for n in range(3))
LENGTH = len(GROUP_SHARED.text)
RECORD = NOTES[0].encode()
SPOILED: list[tuple[str, Phase, Change, type[e.InterlaceAbort]]] = [
    ("another preface", Phase.SETUP, swap("iltp/1", "iltp/2"), e.MalformedFactBlock),
    ("no preface", Phase.SETUP, lambda data: data[len(PREFACE) :], e.MalformedFactBlock),
    ("a resource longer than its length", Phase.SETUP, swap(f" {LENGTH}\n", f" {LENGTH - 1}\n"), e.MalformedModule),
    ("a resource too long", Phase.SETUP, swap(f" {LENGTH}\n", " 9999999\n"), e.MalformedModule),
    ("a resource without name", Phase.SETUP, swap("🧩: R.", "🧩: Q."), e.MalformedModule),
    (
        "a resource after the setup",
        Phase.HELLO,
        lambda d: f"🧩: {module_id('x')} 1\nx\n".encode() + d,
        e.MalformedFactBlock,
    ),
    ("resources without end", Phase.SETUP, lambda d: d.replace(b"Exch", RESOURCES + b"Exch"), e.MalformedFactBlock),
    ("a separator of another phase", Phase.HELLO, swap("--- hello", "--- request"), e.MalformedFactBlock),
    ("a separator of no phase", Phase.HELLO, swap("--- hello", "--- hallo"), e.MalformedFactBlock),
    ("a separator without space", Phase.HELLO, swap("--- hello", "---hello"), e.MalformedFactBlock),
    ("empty blocks without end", Phase.HELLO, lambda data: b"---\n" * 9000 + data, e.MalformedFactBlock),
    ("a record before anybody asked", Phase.HELLO, lambda data: RECORD + data, e.UnexpectedResponse),
    ("a record in trailer-hash form", Phase.TRANSFER, lambda data: "⋯🖧: P\n".encode() + data, e.UnexpectedResponse),
    ("a record nobody asked for", Phase.TRANSFER, lambda data: RECORD + data, e.UnexpectedResponse),
    ("a record with a broken head", Phase.TRANSFER, swap("Data-Length: 2", "Data-Length: x"), e.MalformedFactBlock),
    ("a response that ends early", Phase.TRANSFER, lambda data: b"--- transfer-end\n" + data, e.UnexpectedResponse),
    ("a line in no form", Phase.LISTING, swap("Advertised(", "Advertised ("), e.MalformedFactBlock),
]


@pytest.mark.parametrize(("what", "phase", "change", "error"), SPOILED, ids=[case[0] for case in SPOILED])
def test_what_is_out_of_place_ends_the_exchange(
    what: str, phase: Phase, change: Change, error: type[e.InterlaceAbort]
) -> None:
    """FAC-23, FAC-24, INT-20, INT-144, INT-145, INT-153: named, and with nothing taken in.

    INT-116: this stream takes no records in trailer-hash form.
    """
    del what
    alice = MemoryPort(NOTES[:2])
    pipe = Pipe(alice, MemoryPort(NOTES[1:]), 9)
    with pytest.raises(error):
        pipe.run({phase: change})
    assert pipe.ends[0].machine.phase is Phase.ABORTED
    assert set(alice.records) == {record.hash for record in NOTES[:2]}


def test_data_that_are_not_what_their_head_says_are_rejected_and_the_stream_goes_on() -> None:
    """INT-119, INT-154: the length is known, so the next element is found."""
    alice = MemoryPort()

    def spoil(data: bytes) -> bytes:
        return data.replace(b"\n\n7", b"\n\nx")

    result, _ = Pipe(alice, MemoryPort(NOTES[5:9]), 11).run({Phase.TRANSFER: spoil})
    assert [record for record, _ in result.rejected] == [NOTES[7].hash]
    assert set(alice.records) == {record.hash for record in (NOTES[5], NOTES[6], NOTES[8])}


def test_limits_hold_before_memory_is_taken() -> None:
    """INT-151, INT-152, INT-157, INT-161: a line, a block, a message, the records of a round."""
    small = replace(TERMS, limits=Limits(max_fact_block_bytes=4096, max_total_transferred_bytes=500))
    cases: list[tuple[Phase, bytes, type[e.InterlaceAbort]]] = [
        (Phase.ADVERTISE, b"A" * 5000, e.OversizedFactBlock),
        (Phase.ADVERTISE, b"A('x')\n" * 600, e.OversizedFactBlock),
        (Phase.ADVERTISE, (b"A('x')\n" * 580 + b"---\n") * 17, e.OversizedFactBlock),
        (Phase.TRANSFER, RECORD.replace(b"Data-Length: 1", b"Data-Length: 9999999"), e.TransferLimitExceeded),
    ]
    for phase, first, error in cases:
        pipe = Pipe(MemoryPort(), MemoryPort(NOTES[:1]), 512, ({"terms": small}, {"terms": small}))
        with pytest.raises(error):
            pipe.run({phase: lambda data, first=first: first + data})  # type: ignore[misc]
        assert len(pipe.ends[0]._buffer) < 10_000


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([p for p in Phase if p not in ENDED and p not in (Phase.IDLE, Phase.FIXED)]), st.data())
def test_no_bytes_break_an_end(phase: Phase, data: st.DataObject) -> None:
    """FAC-23, INT-20, INT-156: an abort of the table, or a sound exchange; nothing that was stored is lost."""

    def spoil(stream: bytes) -> bytes:
        at = data.draw(st.integers(0, len(stream)))
        end = data.draw(st.integers(at, min(len(stream), at + 60)))
        piece = data.draw(st.one_of(st.binary(max_size=12), st.just(stream[end : end + 40]), st.just(stream)))
        return stream[:at] + piece + stream[end:]

    alice, bob = MemoryPort(NOTES[3:6]), MemoryPort(NOTES[:4])
    pipe = Pipe(alice, bob, data.draw(st.sampled_from([3, 50, 1 << 20])))
    with suppress(e.InterlaceAbort):
        pipe.run({phase: spoil})
    assert {note.hash for note in NOTES[3:6]} <= set(alice.records) <= {note.hash for note in NOTES[:6]}
    for end in pipe.ends:
        assert_invariants(end.machine)


numbers = st.sets(st.integers(0, 11))


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.integers(1, 14), st.integers(1, 900), st.sampled_from([1, 16_384]))
def test_three_ways_to_run_both_sides_have_one_result(
    mine: set[int], theirs: set[int], most: int, budget: int, summaries: int
) -> None:
    """INT-21, INT-164, INT-166: handed over, as fact blocks, as a stream: the same results and the same records."""
    terms = replace(TERMS, limits=Limits(max_partition_summaries=summaries))
    changes: dict[str, Any] = {"max_requests": most, "serve_bytes": budget, "terms": terms}
    ends = []
    for way in ("direct", "blocks", "stream"):
        alice, bob = (MemoryPort(NOTES[number] for number in sorted(have)) for have in (mine, theirs))
        if way == "stream":
            results = Pipe(alice, bob, 1 << 20, (changes, changes)).run()
        else:
            made = engine(alice, bob, **changes)
            made._serialised = way == "blocks"
            results = made.run()
        ends.append((results, alice.records, bob.records))
    assert ends[0] == ends[1] == ends[2]
