"""A repository on this machine that hangs, as on a network drive that stalls (faults.md row 15)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.transports.git_hosts import git
from tests.transports.git_places import damage, noise, refs
from tests.transports.helpers import additions, key, put, some_records
from transports.errors import PlaceUnreachable
from transports.git.handing import Handover
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from vault.errors import Cancelled
from vault.lock import Patience

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there nothing is read where it lies")

_SOON = Patience(silence=0.6, window=0.6)
_TRIES = 600  # that it is looked for; git would wait for ever
_READING = """
import sys
from pathlib import Path
from transports.git.pipes import Watchdog
from transports.git.place import GitPlace
watch = Watchdog.watch
Watchdog.watch = lambda dog, group: watch(dog, group) or print(group, flush=True)
GitPlace.open(sys.argv[1], Path(sys.argv[2]))
"""


def hung(bare: Path) -> Path:
    """Let the commit of the branch that says which place it is be a pipe into which nobody writes."""
    tip = refs(bare)["refs/heads/lace/place"]
    damage(bare, tip, is_gone=True)
    file = bare / "objects" / tip[:2] / tip[2:]
    os.mkfifo(file)
    return file


def opened(bare: Path, home: Path, patience: Patience) -> GitPlace:
    return GitPlace.open(git_uri(bare), home, patience=patience)


def test_who_reads_a_repository_that_hangs_gives_up(bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]) -> None:
    at("a").close()
    hung(bare)
    with pytest.raises(PlaceUnreachable, match="Git did not get on in 1 seconds with what lies at"):
        opened(bare, tmp_path / "b", _SOON)


def test_who_waits_for_a_repository_that_hangs_may_stop(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]
) -> None:
    """APP-13: the first Ctrl-C ends it."""
    at("a").close()
    hung(bare)
    asked: list[float] = []

    def stops(seconds: float) -> None:
        asked.append(seconds)
        if len(asked) == 3:
            raise Cancelled("Stopped as you asked.")

    with pytest.raises(Cancelled):
        opened(bare, tmp_path / "b", Patience(stops))


def test_a_push_to_a_repository_that_hangs_is_given_up(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]
) -> None:
    at("a").close()
    with closing(opened(bare, tmp_path / "b", _SOON)) as place:
        os.mkfifo(bare / "refs" / "heads" / "other")
        with pytest.raises(PlaceUnreachable, match="Git did not get on in 1 seconds with what lies at"):
            put(place, key(1), additions(some_records(3)))
        (bare / "refs" / "heads" / "other").unlink()
        put(place, key(1), additions(some_records(3)))
    git(bare, "fsck", "--strict")


def test_a_push_of_much_to_a_repository_that_hangs_is_tried_once(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 15: a quarter of it was tried each time, as on a line that cuts, and each was waited for for minutes."""
    at("a").close()
    tries: list[str] = []
    bring = Handover.bring

    def tried(handover: Handover, oid: str, name: str, size: int) -> bool:
        tries.append(oid)
        return bring(handover, oid, name, size)

    monkeypatch.setattr(Handover, "bring", tried)
    with closing(opened(bare, tmp_path / "b", _SOON)) as place:
        os.mkfifo(bare / "refs" / "heads" / "other")
        with pytest.raises(PlaceUnreachable, match="Git did not get on in 1 seconds with what lies at"):
            put(place, key(1), additions(noise(3)))
    assert len(tries) == 1


def test_a_git_that_hangs_ends_with_the_process_that_began_it(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]
) -> None:
    """Faults 5: it does not hear that its pipe was closed."""
    at("a").close()
    hung(bare)
    words = [sys.executable, "-c", _READING, git_uri(bare), str(tmp_path / "b")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as began:
        assert began.stdout is not None
        number = began.stdout.readline().decode().strip()
        assert is_running(number)
        began.kill()  # by a signal that nothing can answer
    tries = 0
    while is_running(number) and tries < _TRIES:
        tries += 1
        time.sleep(0.1)
    assert not is_running(number)


def is_running(number: str) -> bool:
    """Tell whether a process goes on; one that nobody waited for yet does not."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True, check=False).stdout.strip()
    return bool(said) and not said.startswith(b"Z")
