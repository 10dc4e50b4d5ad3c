"""The transition table: every cell is there, and each says what the theory of operation says."""

from __future__ import annotations

from itertools import product

import pytest

from lazy.interlace.errors import MachineMisuse
from lazy.interlace.reasons import AbortReason
from lazy.interlace.states import ENDED, TRANSITIONS, Event, Other, Phase, step

CELLS = list(product(Phase, Event))
AWAITED = {
    Phase.SETUP: {Event.SETUP},
    Phase.HELLO: {Event.HELLO},
    Phase.ADVERTISE: {Event.ADVERTISED},
    Phase.RECONCILE: {Event.ASKS},
    Phase.LISTING: {Event.LISTING, Event.NARROWED},
    Phase.REQUEST: {Event.REQUESTS, Event.QUIET, Event.DRAINED, Event.EXHAUSTED},
    Phase.TRANSFER: {Event.RESPONSE, Event.TRANSFER_END},
}
FROM_PEER = set[Event]().union(*AWAITED.values())


def test_the_table_is_complete() -> None:
    """INT-17: every event has an answer in every phase."""
    assert set(TRANSITIONS) == set(Phase)
    assert all(set(row) == set(Event) for row in TRANSITIONS.values())


@pytest.mark.parametrize(("phase", "event"), CELLS)
def test_each_cell(phase: Phase, event: Event) -> None:
    """INT-53, INT-144, INT-150, INT-153: what is awaited goes on, everything else of the peer is a fault."""
    cell = TRANSITIONS[phase][event]
    if cell is Other.MISUSE:
        assert event in {Event.START, Event.RENEW} or phase is Phase.IDLE
        with pytest.raises(MachineMisuse, match=phase):
            step(phase, event)
        return
    assert step(phase, event) == (None if isinstance(cell, Other) else cell)
    if phase in ENDED:
        assert cell is Other.IGNORE
    elif event in FROM_PEER:
        is_response = event in {Event.RESPONSE, Event.TRANSFER_END}
        fault = AbortReason.UNEXPECTED_RESPONSE if is_response else AbortReason.FACT_BLOCK
        assert (cell == fault) == (event not in AWAITED.get(phase, set()))
    elif event is Event.WAKE:
        assert cell is (Phase.ADVERTISE if phase is Phase.FIXED else Other.IGNORE)
    elif event is Event.RENEW:
        assert cell is Phase.SETUP
        assert phase in {Phase.FIXED, Phase.ADVERTISE}
    elif event is Event.TICK:
        assert cell in (phase, AbortReason.FACT_BLOCK)
    elif event is Event.TIMEOUT:
        assert cell == (Other.IGNORE if phase is Phase.FIXED else AbortReason.PHASE_TIMEOUT)
    elif event is Event.CLOSE:
        assert cell is Phase.CLOSED
    elif event is Event.FAULT:
        assert cell is Phase.ABORTED


def test_setup_comes_before_hello_and_every_phase_can_be_reached() -> None:
    """INT-53, INT-120."""
    order, reached, todo = [Phase.IDLE], {Phase.IDLE}, [Phase.IDLE]
    while todo:
        for cell in TRANSITIONS[todo.pop(0)].values():
            if isinstance(cell, Phase) and cell not in reached:
                reached.add(cell)
                order.append(cell)
                todo.append(cell)
    assert reached == set(Phase)
    assert order.index(Phase.SETUP) < order.index(Phase.HELLO) < order.index(Phase.ADVERTISE)


def test_only_the_fixed_point_and_an_end_stop_the_machine() -> None:
    """INT-122, INT-127, INT-130: from every phase before the end a side may close."""
    assert all(TRANSITIONS[phase][Event.CLOSE] is Phase.CLOSED for phase in Phase if phase not in ENDED)
