"""A plain mailbox that is encrypted, where the visit that does it is cut (CYB-17, APP-13)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.iolayer import Call, Layer, die
from tests.faults.moments import prepared
from tests.faults.sweep import in_child
from tests.people import Person, person_in
from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import refs
from transports.drop.partial import PARTIAL
from transports.layout import BUNDLE_NAME, HEAD_NAME

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def kill_before(is_meant: Callable[[str, str], bool]) -> Layer:
    """Return a layer that ends the process at the first call that is meant, by its name and what it is about."""

    def step(_count: int, name: str, args: tuple[Any, ...], _named: dict[str, Any], call: Call) -> Any:
        if is_meant(name, " ".join(args[-1]) if name == "git" else Path(str(args[0])).name if args else ""):
            die()
        return call()

    return Layer(step)


def is_deletion(name: str, words: str) -> bool:
    """Tell whether git is to take a branch away at a host."""
    return name == "git" and " push " in words and " :refs/heads/lace/" in words


@pytest.mark.parametrize(
    ("command", "is_meant"),
    [
        pytest.param("encrypt", lambda name, at: name == "unlink" and at == HEAD_NAME, id="before the plain head goes"),
        pytest.param("encrypt", lambda name, at: name == "unlink" and BUNDLE_NAME.fullmatch(at), id="before its files"),
        pytest.param("road-encrypt", is_deletion, id="before the plain branch goes"),
    ],
)
def test_what_a_cut_visit_left_in_plain_goes_with_the_next_one(
    tmp_path: Path, command: str, is_meant: Callable[[str, str], bool]
) -> None:
    """CYB-17, APP-13: the encrypted head said all there is to say; none came after it that took the plain one away."""
    scene = prepared(tmp_path, command)
    assert in_child(scene, kill_before(is_meant)) == -signal.SIGKILL
    place = scene.command.place
    assert scene.state()["in plain"]["alice"] == [place]
    again = scene.stage.person("alice").lace("sync", place)
    assert (again["sent"], again["problems"]) == (0, [])
    assert scene.state()["in plain"]["alice"] == []


def cut(person: Person, layer: Layer, *words: str) -> int:
    """Run a command behind a layer, in a process of its own; return minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            layer.install()
            person.run(*words)
        finally:
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def begun(alice: Person, place: Path) -> None:
    """Let alice release something that takes a while to send, and know a place where she was never before."""
    alice.lace("init", "--name", "alice")
    alice.write("song.wav", os.urandom(3_000_000))
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "place", str(place))


@pytest.mark.parametrize("left", [PARTIAL, "bundle.0.tmp"])
def test_what_a_cut_first_sync_left_in_plain_on_a_stick_goes(tmp_path: Path, left: str) -> None:
    """CYB-17: no head and no list of files shows it, and it stayed readable for good, untold."""
    alice, stick = person_in(tmp_path, "alice"), tmp_path / "stick"
    begun(alice, stick)
    layer = kill_before(lambda name, at: name == "replace" and at == PARTIAL)
    assert cut(alice, layer, "sync", "place") == -signal.SIGKILL
    (found,) = (path for path in stick.glob("*/*/*") if path.is_file())
    found.rename(found.with_name(left))  # the other one is written where another process holds the part
    alice.lace("place", "set", "place", "--encrypt")
    assert alice.lace("sync", "place")["problems"] == []
    assert not found.parent.exists()


@pytest.mark.parametrize("denied", [(), ("denyDeletes",), ("denyDeletes", "denyNonFastForwards")])
def test_what_a_cut_first_sync_left_in_plain_at_a_git_host_goes_or_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: tuple[str, ...]
) -> None:
    """CYB-17: pieces were pushed before anything named them, so the branch counted as a mailbox taken away."""
    monkeypatch.setattr("transports.git.pieces._BATCH", 1)
    alice, bare = person_in(tmp_path, "alice"), bare_repository(tmp_path / "host.git")
    begun(alice, bare)
    for key in denied:
        git(bare, "config", f"receive.{key}", "true")
    pushed: list[str] = []

    def is_second(name: str, words: str) -> bool:
        pushed.extend([words] if name == "git" and {"push", "receive-pack"} & set(words.split()) else [])
        return len(pushed) > 1

    assert cut(alice, kill_before(is_second), "sync", "place") == -signal.SIGKILL
    ((plain, tip),) = ((name, tip) for name, tip in refs(bare).items() if not name.endswith("/place"))
    named = git(bare, "ls-tree", "-r", "--name-only", plain).split()
    assert [name.partition("/")[0] for name in named] == ["commits", "data"]
    alice.lace("place", "set", "place", "--encrypt")
    for _ in range(2):
        codes = [problem["code"] for problem in alice.lace("sync", "place")["problems"]]
        assert codes == (["left-in-plain"] if "denyNonFastForwards" in denied else [])
        assert (tip in git(bare, "rev-list", "--all").split()) == bool(codes)
