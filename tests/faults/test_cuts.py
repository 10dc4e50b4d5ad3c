"""The cut sweep in short: each road is lost after a few random bytes, each way (faults.md row 5, INT-120, LAZ-27).

The whole of it: python -m tests.faults.cuts
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.cuts import ROADS, WAYS, narrow, sweep

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
_LONG = "LACE_TEST_PROFILE" in os.environ
_CUTS = 6 if _LONG else 4
_ALL = [(road, way) for road in sorted(ROADS) for way in ROADS[road].ways]
_LATER = {("git", "up"), ("rebased-stick", "down"), ("sealed-git", "down"), ("sealed-git", "up")}


@pytest.mark.parametrize(("road", "way"), _ALL if _LONG else [one for one in _ALL if one not in _LATER])
def test_a_road_that_is_cut_goes_on_where_it_was(tmp_path: Path, road: str, way: str) -> None:
    """LAZ-10, LAZ-70, CYB-17: vault and medium are whole, the end is the same, and little is moved twice."""
    done = sweep(tmp_path, road, way, _CUTS, seed=3)
    assert done.faults == ()
    assert done.again < done.allowed
    assert done.total > 2_000_000


@pytest.mark.parametrize("way", WAYS if _LONG else WAYS[:1])
def test_a_git_host_that_cuts_every_long_talk_gets_it_in_pieces(tmp_path: Path, way: str) -> None:
    """Decision 7a: a push or fetch that was cut is tried with a quarter, down to one piece."""
    code, moved, total = narrow(tmp_path, way)
    assert code == 0
    assert total < moved < total * 3
