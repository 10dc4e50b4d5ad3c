"""The model of a disk that loses what was not flushed."""

from __future__ import annotations

import random
from pathlib import Path

from tests.faults.disk import Disk, Event


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
        "/d": b"",
        "/d/x": b"x",
        "/f": b"old",
    }


def test_a_flush_may_miss_what_was_written_while_it_was_under_way(tmp_path: Path) -> None:
    """APP-13: a thread that writes while another one flushes flushes what it wrote itself."""
    now = str(tmp_path / "now")
    written = (
        Event("create", f"{now}/t", file=7),
        Event("write", f"{now}/t", file=7, data=b"one "),
        Event("flush", now),
        Event("write", f"{now}/t", file=7, offset=4, data=b"two"),
        Event("create", f"{now}/u", file=9),
    )
    for flush in (Event("flush", f"{now}/t", file=7, begun=3), Event("syncfs", begun=3)):
        disk = _disk(tmp_path, *written, flush)
        assert _after(disk, tmp_path, "drop") == {"/f": b"old", "/t": b"one "}
        disk = _disk(tmp_path, *written, flush, Event("flush", now), Event("flush", f"{now}/t", file=7))
        assert _after(disk, tmp_path, "drop") == {"/f": b"old", "/t": b"one two", "/u": b""}


def test_an_inode_that_is_used_again_is_another_file(tmp_path: Path) -> None:
    """A name that a cut brings back leads to the bytes that it had."""
    now = str(tmp_path / "now")
    events = (
        Event("create", f"{now}/t", file=7),
        Event("write", f"{now}/t", file=7, data=b"first"),
        Event("flush", f"{now}/t", file=7),
        Event("flush", now),
        Event("unlink", f"{now}/t"),
        Event("create", f"{now}/u", file=7),
        Event("write", f"{now}/u", file=7, data=b"second"),
        Event("flush", f"{now}/u", file=7),
    )
    assert _after(_disk(tmp_path, *events), tmp_path, "drop") == {"/f": b"old", "/t": b"first"}


def test_a_directory_that_is_named_anew_takes_along_what_it_holds(tmp_path: Path) -> None:
    """APP-13: its name is flushed with the directory that it lies in, and what it holds with itself."""
    now = str(tmp_path / "now")
    filled = (
        Event("mkdir", f"{now}/t"),
        Event("create", f"{now}/t/x", file=8),
        Event("write", f"{now}/t/x", file=8, data=b"x"),
        Event("flush", f"{now}/t/x", file=8),
    )
    named = Event("rename", f"{now}/t", f"{now}/d")
    whole = {"/d": b"", "/d/x": b"x", "/f": b"old"}
    assert _after(_disk(tmp_path, *filled, Event("syncfs"), named), tmp_path, "drop") == {
        "/f": b"old",
        "/t": b"",
        "/t/x": b"x",
    }
    assert _after(_disk(tmp_path, *filled, Event("syncfs"), named), tmp_path, "names") == whole
    assert _after(_disk(tmp_path, *filled, named, Event("flush", now)), tmp_path, "drop") == {"/d": b"", "/f": b"old"}
    flushed = (Event("flush", f"{now}/d"), Event("flush", now))
    assert _after(_disk(tmp_path, *filled, named, *flushed), tmp_path, "drop") == whole
