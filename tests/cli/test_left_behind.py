"""What another desk has where the folder of a desk lay before it was moved is deleted for nobody (CLAY-3, APP-12)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.people import Person
from vault.desks import absent_paths
from vault.desks.absent_paths import TooManyAbsent

_NAME = 200  # bytes of a name; with the way to it each path has some KiB


def _fill(folder: Path, depth: int, count: int) -> None:
    """Write empty files of long names at the end of a long way, by descriptors: no path of the system is so long."""
    folder.mkdir()
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * _NAME, dir_fd=fd)
        below = os.open("d" * _NAME, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    for at in range(count):
        os.close(os.open(f"{at:0{_NAME}}", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd))
    os.close(fd)


def _moved(alice: Person, expect: int = 0) -> dict[str, object]:
    """Make a folder that main has a desk, and move it."""
    alice.run("release", "1.5.0")
    alice.lace("desk", "add", "n", "n")
    (alice.folder / "n").rename(alice.folder / "m")
    told: dict[str, object] = alice.lace("desk", "add", "n", "m", expect=expect)
    return told


def test_so_is_a_large_folder(pair: tuple[Person, Person]) -> None:
    """CLAY-3, APP-12: of more than 16 MiB of paths none was remembered, and a release deleted them for everybody."""
    alice, _ = pair
    _fill(alice.folder / "n", 15, 5_200)
    _moved(alice)
    assert alice.lace("changes")["deleted"] == []
    assert alice.lace("release", "1.6.0")["deleted"] == []


def test_a_move_is_refused_that_cannot_be_remembered(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-3, APP-12: it stays mapped as it was, and nothing is taken for deleted."""
    alice, _ = pair
    alice.write("n/a", "1\n")
    monkeypatch.setattr(absent_paths, "_MAX_BYTES", 20)
    error = _moved(alice, expect=TooManyAbsent.exit_code)["error"]
    assert isinstance(error, dict)
    assert error["code"] == TooManyAbsent.code
    assert alice.lace("changes")["deleted"] == []
    (alice.folder / "m").rename(alice.folder / "n")
    assert alice.lace("changes", "n")["added"] == ["a"]
