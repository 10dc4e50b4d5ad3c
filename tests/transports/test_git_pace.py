"""When a talk with a git host is given up, and when not (faults.md row 15)."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.transports.git_hosts import bare_repository
from transports.errors import GitMissing, PlaceUnreachable
from transports.git.command import GitRunner
from transports.git.pace import Pace
from transports.git.place import GitPlace
from transports.git.remote import parse_remote
from vault.errors import Cancelled
from vault.lock import Patience


def test_a_host_that_only_says_that_it_is_at_it_is_given_up(tmp_path: Path) -> None:
    """faults.md row 15: a word now and then is no silence, and none of what was asked for."""
    runner = GitRunner(tmp_path / "home", parse_remote("https://127.0.0.1:1/v.git"), Patience(window=0.2))
    for what in ("remote: Resolving deltas", "Receiving objects"):
        says = f"for n in 1 2 3 4 5 6 7 8 9; do sleep 0.05; echo '{what}: '$n'% ('$n'/9)' >&2; done; sleep 60"
        with pytest.raises(PlaceUnreachable, match="git sends fewer than 256 bytes a second"):
            runner.talk("-c", f"alias.drip=!{says}", "drip", arrived=lambda: 50, limit=10_000)


def test_whoever_waits_for_a_host_may_give_up(tmp_path: Path) -> None:
    """APP-13: the first Ctrl-C ends the git that talks, which it does not reach by itself."""
    asked: list[float] = []

    def stops(seconds: float) -> None:
        asked.append(seconds)
        if len(asked) == 2:
            raise Cancelled("Stopped as you asked.")

    runner = GitRunner(tmp_path / "home", parse_remote("https://127.0.0.1:1/v.git"), Patience(stops))
    with pytest.raises(Cancelled):
        runner.talk("-c", "alias.waits=!sleep 60", "waits")
    assert asked == [0, 0]


def test_a_fetch_goes_on_for_as_long_as_git_gets_on() -> None:
    """No byte arrives while a large pack is put into order and proven, which takes longer than a host may be silent."""
    size = 50
    pace = Pace("host", Patience(silence=90, window=300), lambda: size, 1 << 30)
    for _ in range(9):
        size += 300 * 256
        pace.heard("err", b"remote: still at it\n")
        pace.passed(200)
    pace.heard("err", b"Receiving objects: 100% (9/9), 1.50 MiB | 1 KiB/s\rReceiving objects: 100% (9/9), done.\nResol")
    pace.passed(200)
    for number in range(100):
        pace.heard("err", b"ving deltas: %3d%% (%d/100)\rResol" % (number, number))
        pace.passed(200)
        pace.passed(200)
    pace.heard("err", b"ving deltas:  99% (99/100)\r")
    with pytest.raises(PlaceUnreachable, match="Git did not get on in 300 seconds with what host sent"):
        pace.passed(200)


def test_a_push_to_a_host_that_hangs_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """faults.md row 15: with a word now and then it went on for ever."""
    bare = bare_repository(tmp_path / "v.git")
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f'#!/bin/sh\nfor said; do :; done\ncase $said in *upload-pack*) exec sh -c "$said";; esac\n'
        f"git receive-pack --http-backend-info-refs '{bare}'\nexec 3<&0\ncat <&3 >/dev/null &\n"
        "while printf '000a\\002soon\\n'; do sleep 0.3; done\n"
    )
    ssh.chmod(0o700)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    place = GitPlace(f"ssh://friend@host{bare}", tmp_path / "a", patience=Patience(window=2))
    with closing(place), pytest.raises(PlaceUnreachable, match=r"took all .* did not say in \d seconds"):
        place.make(os.urandom)


def test_a_push_that_a_host_hardly_takes_ends() -> None:
    """faults.md row 15: git's own count tells; small objects and the host's words are no progress."""
    pace = Pace("host", Patience(silence=90, window=300))
    for size in range(1, 20):
        pace.heard("err", b"Writing objects:   9%% (9/99), %d.00 MiB | 9.00 KiB/s\r" % size)
        pace.passed(200)
    for number in range(10, 39):
        pace.heard("err", b"remote: soon\nWriting objects:  %d%% (9/99), 19.05 MiB | 9 bytes/s\r" % number)
        pace.passed(10)
    with pytest.raises(PlaceUnreachable, match="host takes fewer than 256 bytes a second"):
        pace.passed(10)


def test_a_slow_host_is_waited_for_while_one_lump_of_what_it_sends_is_under_way() -> None:
    """faults.md row 15: what git says of a fetch over a slow line comes minutes apart, and the host is not silent."""
    size = 0
    pace = Pace("host", Patience(silence=90, window=300), lambda: size, 1 << 30)
    with pytest.raises(PlaceUnreachable, match="said nothing for 90 seconds"):
        Pace("host", Patience(silence=90, window=300)).passed(90)
    pace.heard("err", b"remote: Counting objects: 100% (9/9), done.\n")
    for _ in range(9):
        pace.passed(250)
        size += 65_515
        pace.heard("err", b"Receiving objects:  11% (1/9)\r")
        pace.passed(0)
    pace.passed(250)
    with pytest.raises(PlaceUnreachable, match="sends fewer than 256 bytes a second"):
        pace.passed(50)


def test_a_slow_host_is_waited_for_while_git_sends_what_it_wrote_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """faults.md row 15: over https git says that all is written, and then sends a MiB of it."""
    pace = Pace("host", Patience(silence=90, window=300))
    pace.heard("err", b"Writing objects: 100% (9/9), 900.00 KiB | 9.00 MiB/s, done.\n")
    pace.passed(0)
    pace.passed(3000)
    with pytest.raises(PlaceUnreachable, match="took all that was sent, and did not say in 3900 seconds"):
        pace.passed(900)
    said: list[list[str]] = []

    def begin(_: GitRunner, words: list[str]) -> None:
        said.append(words)
        raise GitMissing("Nothing is run here.")

    monkeypatch.setattr(GitRunner, "_begin", begin)
    runner = GitRunner(tmp_path / "home", parse_remote("https://127.0.0.1:1/v.git"), Patience(window=7))
    for word in ("push", "fetch"):
        with pytest.raises(GitMissing):
            runner.talk(word)
    assert ["http.lowSpeedTime=7" in words for words in said] == [True, False]


@pytest.mark.parametrize("line", ["Resolving deltas: {}", "Resolving deltas: {}% ({}/9)", "Enumerating objects: {},"])
def test_a_host_that_writes_what_git_would_say_is_given_up(line: str) -> None:
    """faults.md row 15: over ssh its words come as git's own, with no remote: before them."""
    pace = Pace("host", Patience(silence=90, window=300), lambda: 0, 1 << 30)

    def imitate() -> None:
        for number in range(10_000):
            pace.heard("err", (line.replace("{}", str(number * number)) + "\r").encode())
            pace.passed(200)

    with pytest.raises(PlaceUnreachable, match="sends fewer than 256 bytes a second"):
        imitate()
