"""Disks that fail, lose power or lie, in short (APP-13, fault matrix rows 2, 3 and 6).

The whole of it: python -m tests.faults.failing, python -m tests.faults.powercut [--liar]
"""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.failing import CODES, failing
from tests.faults.moments import COMMANDS, prepared
from tests.faults.powercut import powercut
from tests.faults.sweep import calls_of, named_calls, spread
from tests.shelf import Shelf

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists() or not hasattr(os, "fork"), reason="needs Linux")


@pytest.mark.parametrize("name", ["commit", "update", "push"])
def test_a_call_that_fails_is_named_and_leaves_nothing_half(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13: a full disk, a broken one and too many open files, once and for ever."""
    scene = prepared(tmp_path, name, shelf)
    done = failing(scene, spread(calls_of(scene), 3))
    assert 3 * 2 <= done.points <= 3 * len(CODES) * 2  # every call can fail with EIO
    assert done.faults == ()


@pytest.mark.parametrize("name", ["init", "commit", "push", "update"])
def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13: all or nothing before the command says that it is done, everything from then on."""
    assert name in COMMANDS
    scene = prepared(tmp_path, name, shelf)
    done = powercut(scene, spread(calls_of(scene), 2), ("drop", "names", "random"))
    assert done.points >= 3  # each call leaves one disk or more
    assert done.faults == ()


@pytest.mark.parametrize("name", ["copy", "desk", "drafts", "export"])
def test_what_is_written_beside_the_records_survives_a_power_cut(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13: a copy, the folder of a desk, drafts of a conflict and an export, with the directories made for them."""
    done = powercut(prepared(tmp_path, name, shelf), (), ("drop", "names", "random"))
    assert done.points
    assert done.faults == ()


def test_a_stick_that_lies_about_flushing_is_repaired_by_the_next_visits(tmp_path: Path, shelf: Shelf) -> None:
    """APP-13, fault 6: the vaults stay sound, and nothing false is taken from the stick."""
    scene = prepared(tmp_path, "push", shelf)
    done = powercut(scene, spread(calls_of(scene), 2), ("drop", "names", "random"), liar=True)
    assert done.faults == ()


@pytest.mark.parametrize("name", ["init", "place"])
def test_a_directory_that_a_killed_run_made_is_flushed_by_the_next_one(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13: killed between naming a directory or a file and flushing that, run again to its end, and cut off then."""
    scene = prepared(tmp_path, name, shelf)
    after = [number for number, call in enumerate(named_calls(scene), 2) if call in {"mkdir", "replace"}]
    done = powercut(scene, after, ("drop",), again=True)
    assert (done.points, done.faults) == (len(after), ())
    assert after


@pytest.mark.parametrize("name", ["copy", "gone", "path", "update"])
def test_files_that_a_killed_run_named_are_flushed_by_the_next_one(tmp_path: Path, shelf: Shelf, name: str) -> None:
    """APP-13: killed when every file had its name and none was flushed, run again to its end, and cut off then."""
    scene = prepared(tmp_path, name, shelf)
    named = max(number for number, call in enumerate(named_calls(scene), 1) if call == "unlink")
    done = powercut(scene, (named + 1,), ("drop", "names"), again=True)
    assert done.points
    assert done.faults == ()


def test_what_a_killed_push_wrote_lasts_once_the_next_one_says_so(tmp_path: Path, shelf: Shelf) -> None:
    """APP-13: killed when the stick shows the new head and before its flush; whoever gets the stick has the release."""
    scene = prepared(tmp_path, "push", shelf)
    shown = [number for number, call in enumerate(named_calls(scene), 1) if call == "replace"][2]
    scene.command = replace(scene.command, settle=("bob",))  # nobody who could mend the stick
    scene.foresee()
    done = powercut(scene, (shown + 1,), ("drop",), again=True)
    assert (done.points, done.faults) == (1, ())


def test_the_model_would_find_a_program_that_does_not_flush(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that finds nothing anywhere would prove nothing."""
    scene = prepared(tmp_path, "update", shelf)
    monkeypatch.setattr("vault.files.flush_everything", lambda _fd: None)
    monkeypatch.setattr("tests.faults.disk.Disk._lies", lambda _self, _path: True)
    assert powercut(scene, (), ("drop", "names")).faults


def test_a_directory_that_cannot_be_removed_leaves_the_checkout_to_be_finished(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: a disk that failed at the last step is told, and the same command goes on there."""
    scene = prepared(tmp_path, "checkout", shelf)

    def broken(*_args: object, **_named: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as context:
        context.setattr(os, "rmdir", broken)
        assert scene.run().code == 12
    scene.finish()
    assert scene.state() == scene.goal
