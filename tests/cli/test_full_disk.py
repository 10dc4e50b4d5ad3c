"""On a disk without a free byte a vault can still be looked at (APP-13, LAZ-56)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.people import ROOT, Person

resource = pytest.importorskip("resource")

_FULL = (  # no file grows beyond some bytes
    "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64));"
    " runpy.run_module('lace_tui', run_name='__main__', alter_sys=True)"
)


def _without_room(person: Person, *words: str) -> tuple[int, dict[str, Any]]:
    """Run a command that can write next to no byte to any file; return its exit code and its answer."""
    ended = subprocess.run(
        [sys.executable, "-c", _FULL, "--json", *words],
        cwd=person.folder,
        env=person.variables | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.parametrize("look", ["status", "log", "members", "vectors", "queue", "conflicts", "places", "changes"])
def test_a_look_needs_no_room(alice: Person, look: str) -> None:
    """LAZ-56: it ended with a full disk, as SQLite had no room for the file by which it shares memory."""
    alice.lace("init", "--name", "alice")
    alice.write("notes.md", "one\n")
    alice.lace("release", "1.0.0")
    told = alice.lace(look)
    assert _without_room(alice, look) == (0, told)


def test_a_write_without_room_is_refused_and_changes_nothing(alice: Person) -> None:
    """APP-13: the store opens for looks alone."""
    alice.lace("init", "--name", "alice")
    code, told = _without_room(alice, "config", "set", "share", "commits")
    assert (code, "error" in told) == (13, True)
    assert alice.lace("config", "get", "share")["value"] == "releases"
