"""How a visit ended: one way of several, whatever the steps on the way said of it."""

from __future__ import annotations

import pytest

from lazy.endings import Done, Ending, Held, Queued, Refused
from lazy.results import PlaceResult
from transports.errors import PlaceNotWritable, PlaceUnreachable
from vault.errors import LaceError
from vault.identity.mark import VaultForked

AWAY, FULL, COPY = PlaceUnreachable("It is away."), PlaceNotWritable("It is full."), VaultForked("It is a copy.")


@pytest.mark.parametrize(
    ("ending", "queued", "refusal", "held", "safe_to_remove"),
    [
        (Done(), False, None, None, False),
        (Done(safe_to_remove=True), False, None, None, True),
        (Queued(can_wait=True), True, None, None, False),
        (Refused(FULL), False, FULL, None, False),
        (Held(COPY), False, None, COPY, False),
        (Held(COPY, FULL), False, FULL, COPY, False),
    ],
)
def test_a_visit_ends_in_one_way(
    ending: Ending, queued: bool, refusal: LaceError | None, held: LaceError | None, safe_to_remove: bool
) -> None:
    # LAZ-24, INT-131
    result = PlaceResult("stick", "drop", ending=Done(safe_to_remove=True))
    result.ending = ending
    assert (result.queued, result.refusal, result.held) == (queued, refusal, held)
    assert result.safe_to_remove is safe_to_remove


@pytest.mark.parametrize("error", [AWAY, FULL, COPY])
def test_a_visit_that_came_to_an_error_alone_tells_it(error: LaceError) -> None:
    # LAZ-24, LAZ-47: only what is mended by nobody may wait
    result = PlaceResult.undone("stick", "drop", error)
    assert result.ending == Queued(can_wait=error is AWAY)
    assert [problem.code for problem in result.problems] == [error.code]
