"""The kill-point sweep in short: every command is killed at a few of its writes (APP-13, fault 1).

The whole of it: python -m tests.faults.sweep
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.moments import COMMANDS, prepared
from tests.faults.scenes import Stage
from tests.faults.sweep import calls_of, spread, sweep
from tests.shelf import Shelf

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
POINTS = 4
_LONG = {"apply", "archive", "copy", "create", "drafts", "export", "fetch", "fetched", "label", "large-commit"}
_LONG |= {"large-pull", "large-update", "leave", "merge", "permit", "place", "prune-releases", "revoke", "sealed-pull"}
_LONG |= {"road-encrypt", "road-first", "road-fold", "road-pull", "road-push", "sealed-road-pull", "sealed-road-push"}
_LONG |= {"admit", "config", "join", "protect", "quarantine", "record-put"}
_CHOSEN = sorted(COMMANDS) if "LACE_TEST_PROFILE" in os.environ else sorted(set(COMMANDS) - _LONG)
_SHARES = 6  # of them all, each for one process, which makes what they begin with once
_GROUPS = [pytest.mark.xdist_group(f"sweep {share}") for share in range(_SHARES)]


@pytest.mark.parametrize("name", [pytest.param(name, marks=_GROUPS[n % _SHARES]) for n, name in enumerate(_CHOSEN)])
def test_a_killed_command_leaves_everything_sound_and_goes_on(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13, LAZ-66, LAZ-67: no manual step, a clean fsck, a valid medium, and the same end as undisturbed."""
    scene = prepared(tmp_path, name, shelf)
    total = calls_of(scene)
    assert total >= POINTS
    done = sweep(scene, spread(total, POINTS))
    assert done.points >= POINTS - 1  # a file that was written just now may cost one run a call more than another
    assert done.faults == ()


def test_every_point_is_met_when_all_are_asked_for(tmp_path: Path) -> None:
    """The sweep ends at the first run that nobody killed, and not before."""
    scene = prepared(tmp_path, "commit")
    total = calls_of(scene)
    done = sweep(scene)
    assert (done.points, done.faults) == (total, ())


def test_spread_holds_both_ends() -> None:
    assert list(spread(100, 5)) == [1, 26, 51, 75, 100]
    assert list(spread(2, 5)) == [1, 2]


def test_a_check_is_made_once_for_the_same_bytes(tmp_path: Path) -> None:
    """One other byte, name or right asks again, and so does a check that failed."""
    stage = Stage(tmp_path / "stage")
    seen = tmp_path / "seen"
    seen.mkdir()
    (seen / "a").write_text("1")
    asked: list[int] = []

    def ask() -> int:
        asked.append(len(asked))
        if len(asked) == 1:
            raise AssertionError
        return len(asked)

    with pytest.raises(AssertionError):
        stage.once("whole", [seen], ask)
    assert [stage.once("whole", [seen], ask) for _ in range(2)] == [2, 2]
    assert stage.once("other", [seen], ask) == 3
    (seen / "a").write_text("2")
    assert stage.once("whole", [seen], ask) == 4
    (seen / "a").rename(seen / "b")
    assert stage.once("whole", [seen], ask) == 5
    (seen / "b").chmod(0o400)
    assert stage.once("whole", [seen], ask) == 6
