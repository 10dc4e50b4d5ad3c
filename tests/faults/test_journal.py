"""The model of a disk that loses what was not flushed."""

from __future__ import annotations

import random
from pathlib import Path

from tests.faults.powercut import Disk, Event


def _disk(root: Path, *events: Event) -> Disk:
    disk = Disk(root / "now")
    (root / "before").mkdir(exist_ok=True)
    (root / "before" / "f").write_bytes(b"old")
    disk.load(root / "before")
    disk.play(events)
    return disk


def _after(disk: Disk, root: Path, style: str) -> dict[str, bytes]:
    now = str(root / "now")
    return {name.removeprefix(now): content for name, (_, content) in disk.after_cut(random.Random(1), style).items()}


def test_what_was_flushed_stays_and_what_was_not_goes(tmp_path: Path) -> None:
    """APP-13: the file's bytes and the directory's names are flushed each on their own."""
    now = str(tmp_path / "now")
    written = (Event("create", f"{now}/t", file=7), Event("write", f"{now}/t", file=7, data=b"new"))
    named = Event("rename", f"{now}/t", f"{now}/f")
    flushed = Event("flush", f"{now}/t", file=7)
    settled = Event("flush", now)
    assert _after(_disk(tmp_path, *written, named), tmp_path, "drop") == {"/f": b"old"}
    assert _after(_disk(tmp_path, *written, named), tmp_path, "names") == {"/f": b""}  # the classic empty file
    assert _after(_disk(tmp_path, *written, flushed, named), tmp_path, "names") == {"/f": b"new"}
    assert _after(_disk(tmp_path, *written, flushed, named, settled), tmp_path, "drop") == {"/f": b"new"}
    assert _after(_disk(tmp_path, *written, named, Event("syncfs")), tmp_path, "drop") == {"/f": b"new"}


def test_a_directory_that_was_lost_takes_its_files_along(tmp_path: Path) -> None:
    now = str(tmp_path / "now")
    events = (
        Event("mkdir", f"{now}/d"),
        Event("create", f"{now}/d/x", file=8),
        Event("write", f"{now}/d/x", file=8, data=b"x"),
        Event("flush", f"{now}/d/x", file=8),
        Event("flush", f"{now}/d"),
    )
    assert _after(_disk(tmp_path, *events), tmp_path, "drop") == {"/f": b"old"}
    assert _after(_disk(tmp_path, *events, Event("flush", now)), tmp_path, "drop") == {
        "/d": b"0",
        "/d/x": b"x",
        "/f": b"old",
    }
