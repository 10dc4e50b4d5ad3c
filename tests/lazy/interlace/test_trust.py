"""The boundary between what a peer claims and what is here, and the purity of the core."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import lazy.interlace
from lazy.interlace.ads import Fields
from lazy.interlace.documents.engine import _Parcel
from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.plan import Evaluation, ModuleRegistry, PolicyModule
from lazy.interlace.states import ENDED, Phase
from tests.lazy.interlace.links import assert_invariants, engine, sync
from tests.lazy.interlace.stores import MemoryPort, note
from tests.lazy.interlace.test_machine import Spoiling
from vault.records import RecordHash

NOTES = [note(str(number)) for number in range(6)]


def test_the_core_reaches_no_socket_file_clock_or_chance() -> None:
    """INT-2, INT-29, FAC-8: everything from outside is passed in."""
    modules = list(Path(lazy.interlace.__file__).parent.rglob("*.py"))
    assert len(modules) > 15
    allowed = {"__future__", "blake3", "collections", "dataclasses", "enum", "itertools", "re", "types", "typing"}
    allowed |= {"abc", "bisect", "contextlib", "unicodedata", "lazy", "vault"}
    for module in modules:
        for found in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Import):
                assert {alias.name.split(".")[0] for alias in found.names} <= allowed, module
            if isinstance(found, ast.ImportFrom):
                assert str(found.module).split(".")[0] in allowed, module


class Claims(MemoryPort):
    """Advertises its records under another App than they have."""

    def effective_send(self) -> Iterable[tuple[RecordHash, Fields]]:
        return ((record, (("App", 0, "lace/claimed"),)) for record in self.records)


def test_a_false_claim_brings_the_record_and_not_the_claim() -> None:
    """INT-8, INT-16, INT-33, INT-97: what is stored is what was validated, and nothing aborts."""
    chat = note("talk", app="chat")
    app = MemoryPort()
    result, _ = sync(app, Claims([chat]))
    assert result.received == (chat.hash,)
    assert dict(app.effective_send())[chat.hash][0] == ("App", 0, "chat")
    assert result.cursor is not None
    assert result.cursor.entries[chat.hash] == (("App", 0, "lace/claimed"),)


def test_an_advertisement_alone_makes_nothing_be_here() -> None:
    """FAC-1, FAC-2, INT-16: a listed record without bytes is not held."""

    class Empty(MemoryPort):
        def load(self, record: RecordHash) -> bytes | None:
            return None

    app = MemoryPort()
    result, _ = sync(app, Empty(NOTES[:2]))
    assert app.records == {}
    assert set(result.not_available) == {NOTES[0].hash, NOTES[1].hash}


def test_one_advertisement_for_each_record_of_the_effective_send_set() -> None:
    """INT-91, INT-96, INT-42: with the fields of the schema, from the validated record."""
    server = MemoryPort(NOTES, exposes=lambda record: record != NOTES[0])
    result, _ = sync(MemoryPort(), server)
    assert result.cursor is not None
    assert result.cursor.entries == {note.hash: (("App", 0, "lace/data"),) for note in NOTES[1:]}


def test_rules_see_neither_setup_nor_ticks_only_what_is_proven() -> None:
    """INT-22, INT-40, INT-50, FAC-25, INT-3."""
    seen: list[Evaluation] = []

    def select(evaluation: Evaluation) -> set[RecordHash]:
        seen.append(evaluation)
        return set(evaluation.advertised)

    module = PolicyModule("SelectAdvertised(V0,V1) :- Advertised(V0,V1).\n", frozenset(), select)
    sync(MemoryPort(), MemoryPort(NOTES), module=module, registry=ModuleRegistry([module]))
    assert seen
    for evaluation in seen:
        predicates = {fact.predicate for fact in evaluation.runtime}
        assert predicates == {"StartTAI", "TickTAI", "ClockSkewSeconds", "Here", "Peer"}


def test_another_operand_makes_another_plan_and_stored_records_stay() -> None:
    """INT-11, INT-55, INT-129: each setup stands for itself."""
    nothing = PolicyModule("SelectHave(V0) :- Have(V0), Shared(V0).\n", frozenset(), lambda _: set())
    app, server = MemoryPort(), MemoryPort(NOTES[:3])
    first, _ = sync(app, server)
    server.records[NOTES[4].hash] = NOTES[4]
    second, _ = sync(app, server, module=nothing, registry=ModuleRegistry([nothing]))
    assert first.plan_id != second.plan_id
    assert second.received == ()
    assert set(app.records) == {note.hash for note in NOTES[:3]}


def test_record_bytes_are_no_facts() -> None:
    """INT-51: they travel beside the block."""
    blocks: list[bytes] = []
    run = engine(MemoryPort(), MemoryPort(NOTES))
    deliver = run._deliver

    def watched(index: int, parcel: _Parcel) -> None:
        blocks.extend(parcel.blocks)
        deliver(index, parcel)

    run._deliver = watched  # type: ignore[method-assign]
    run.run()
    assert sum(traffic.record_bytes for traffic in run.traffic) == sum(len(note.encode()) for note in NOTES)
    assert not any("🖧".encode() in block for block in blocks)


def test_a_requested_record_is_taken_though_the_policy_has_changed_its_mind() -> None:
    """INT-111, INT-132, INT-133: one record is enough for this policy, and both that came are kept."""
    app, server = MemoryPort(), MemoryPort(NOTES[:4])

    def select(evaluation: Evaluation) -> set[RecordHash]:
        return set() if app.records else set(sorted(evaluation.advertised)[:2])

    text = "SelectAdvertised(V0,V1) :- Advertised(V0,V1).\n"
    wants = PolicyModule(text, frozenset(), select)
    offers = PolicyModule(text, frozenset(), lambda evaluation: set(evaluation.advertised))
    run = engine(app, server, module=wants, registry=ModuleRegistry([wants]))
    other = run._sides[1].machine
    other.config = replace(other.config, module=offers, registry=ModuleRegistry([offers]))
    mine, _ = run.run()
    assert len(mine.received) == 2
    assert mine.is_fixed_point


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([p for p in Phase if p not in ENDED and p not in (Phase.IDLE, Phase.FIXED)]), st.data())
def test_no_bytes_of_a_peer_break_the_machine(phase: Phase, data: st.DataObject) -> None:
    """INT-20, INT-144, INT-156: other bytes give an abort or a sound exchange; never anything else."""

    def spoil(parcel: _Parcel) -> _Parcel:
        block = parcel.blocks[0]
        at = data.draw(st.integers(0, len(block)))
        end = data.draw(st.integers(at, min(len(block), at + 40)))
        piece = data.draw(st.one_of(st.binary(max_size=8), st.just(block[end : end + 30]), st.just(block)))
        cut = data.draw(st.integers(0, 200))
        records = tuple((record, content[:cut]) for record, content in parcel.records)
        return replace(parcel, blocks=(block[:at] + piece + block[end:],), records=records)

    run = Spoiling(phase, spoil)
    theirs = dict(run._sides[1].machine._port.effective_send())
    before = set(run.alice.records)
    with suppress(InterlaceAbort):
        run.run()
    assert all(side.machine.phase in ENDED for side in run._sides)
    assert before <= set(run.alice.records) <= before | theirs.keys()
    assert_invariants(run.machine)
