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
