"""Small packs of a private repository that are put together, cut off at each call of it (faults 1 to 3, APP-13).

What lies there can be fetched again from most hosts; so a sweep of commands alone would not see what is lost of it.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.faults.iolayer import Layer, fail_from, kill_at
from tests.faults.moments import prepared
from tests.faults.powercut import powercut
from tests.faults.sweep import named_calls
from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import in_small_packs
from transports.git.command import GitRunner
from transports.git.folding import fold
from transports.git.objects import Objects
from transports.git.packs import NAME_BYTES, index_names
from transports.git.remote import git_uri, parse_remote
from transports.git.upkeep import clear_partial, holds_pieces, packs
from vault.errors import LaceError

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists() or not hasattr(os, "fork"), reason="needs Linux")
_TOLD = 3  # exit code of a child that ended with an error of the house
_WRITING = 24  # calls: more than it takes to write both packs and their indexes


class _Scattered:
    """A private repository in which each object lies in a pack of its own, which can be put back to that."""

    def __init__(self, root: Path) -> None:
        self.runner = GitRunner(root / "home", parse_remote(git_uri(bare_repository(root / "host.git"))))
        self.path = self.runner.repository = bare_repository(root / "home" / "own.git")
        self.names = in_small_packs(self.path)
        self._lasting = self._unmarked()
        self._ready = root / "ready"
        shutil.copytree(self.path, self._ready)

    def ended(self, layer: Layer) -> int:
        """Put them together behind a layer in a child; return its exit code, or minus the signal that ended it."""
        shutil.rmtree(self.path)
        shutil.copytree(self._ready, self.path)
        child = os.fork()
        if child == 0:
            code = 70
            try:
                layer.install()
                fold(self.path, Objects(self.runner))
                code = 0
            except LaceError:
                code = _TOLD
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _unmarked(self) -> set[bytes]:
        """Return the names of what lies in packs that are not said to hold pieces only."""
        found: set[bytes] = set()
        for index in (self.path / "objects" / "pack").glob("*.idx"):
            if not holds_pieces(index):
                names = index_names(index.read_bytes()) or b""
                found |= {names[at : at + NAME_BYTES] for at in range(0, len(names), NAME_BYTES)}
        return found

    def check(self) -> None:
        """Refuse it where an object is missing, here or for git, or where nothing puts the rest together later.

        And where a piece lies in a pack that is not marked, and would stay for ever.
        """
        for _ in range(2):
            assert self._unmarked() == self._lasting
            assert None not in Objects(self.runner).info(self.names)
            git(self.path, "fsck", "--strict")
            clear_partial(self.path)
            fold(self.path, Objects(self.runner))


@pytest.fixture
def scattered(tmp_path: Path) -> _Scattered:
    return _Scattered(tmp_path)


def test_no_object_is_lost_by_who_is_killed_meanwhile(scattered: _Scattered) -> None:
    """Faults 1: at each call, and in the middle of each write."""
    for number in itertools.count(1):
        ended = scattered.ended(kill_at(number))
        scattered.check()
        if ended >= 0:
            break
        assert ended == -signal.SIGKILL
    assert ended == 0
    assert number > len(scattered.names)  # each old pack goes by itself
    assert sorted(map(holds_pieces, packs(scattered.path))) == [False, True]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("for_ever", [False, True])
def test_no_object_is_lost_where_a_call_fails_meanwhile(scattered: _Scattered, code: int, for_ever: bool) -> None:
    """Faults 3: a full disk, a broken one and too many open files."""
    told = 0
    for number in range(1, _WRITING):
        ended = scattered.ended(fail_from(number, code, for_ever=for_ever))
        assert ended in {0, _TOLD}
        told += ended == _TOLD
        scattered.check()
    assert told


def test_a_visit_goes_on_from_what_a_power_cut_left_of_them(tmp_path: Path) -> None:
    """Faults 2: cut off in the middle of it and at its end, and brought to the state of an undisturbed visit."""
    scene = prepared(tmp_path, "road-fold")
    calls = named_calls(scene)
    gone = [number for number, call in enumerate(calls, 1) if call == "unlink"]
    done = powercut(scene, (gone[0], gone[len(gone) // 2], gone[-1]), ("drop", "names", "random"))
    assert done.points
    assert done.faults == ()
