"""Large files of a checkout: written by one thread, flushed by another, and named only when they are on the disk."""

from __future__ import annotations

import errno
import itertools
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.vault.desks.support import GROUP, empty, on_disk, tree_of
from vault.desks.checkout import apply_tree
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryCache, MemoryObjects
from vault.desks.pages import Entry
from vault.files import DiskFull, NotWritable
from vault.records import Blob, Plex, Tai

MIB = 1 << 20
PARTS = {f"part-{number}": random.Random(number).randbytes(3 * MIB + number) for number in range(3)}
MODEL = {**PARTS, "large/one": random.Random(9).randbytes(40 * MIB), **{f"small/{n}": b"%d" % n for n in range(20)}}


def check_out(root: Path, model: dict[str, bytes]) -> None:
    objects = MemoryObjects()
    before, after = empty(objects), tree_of(objects, model)
    apply_tree(root, before=before, after=after, source=objects, cache=MemoryCache(), durable=True)


def test_what_takes_a_name_is_flushed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # APP-13: each large file by itself, and again while it is written; small ones together; the folders at the end
    events: list[tuple[str, int]] = []
    fsync, link, rename = os.fsync, os.link, os.rename

    def flushed(descriptor: int) -> None:
        fsync(descriptor)
        events.append(("flush", os.fstat(descriptor).st_ino))

    def named(start: str, end: str, **more: Any) -> None:
        events.append(("name", os.stat(start, dir_fd=more["src_dir_fd"]).st_ino))
        link(start, end, **more)

    def arrived(start: str, end: str, **more: Any) -> None:
        here = os.open(start, os.O_RDONLY, dir_fd=more["src_dir_fd"])
        events.extend(("name", os.stat(name, dir_fd=here).st_ino) for name in os.listdir(here))  # noqa: PTH208
        os.close(here)
        rename(start, end, **more)

    def everything(descriptor: int) -> None:
        del descriptor
        events.append(("everything", 0))

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "link", named)
    monkeypatch.setattr(os, "rename", arrived)
    monkeypatch.setattr("vault.desks.filling.flush_everything", everything)
    check_out(tmp_path, MODEL)
    assert on_disk(tmp_path) == MODEL
    names = [number for number, event in enumerate(events) if event[0] == "name"]
    assert len(names) == len(MODEL)
    assert events.index(("everything", 0)) < names[0]
    for name in (*PARTS, "large/one"):
        file = (tmp_path / name).stat().st_ino
        assert events.index(("flush", file)) < events.index(("name", file))
    assert events.count(("flush", (tmp_path / "large/one").stat().st_ino)) == 2
    for folder in (tmp_path, tmp_path / "large", tmp_path / "small"):
        assert ("flush", folder.stat().st_ino) in events[names[-1] :]


@pytest.mark.parametrize(("name", "failing"), [("write", 2), ("write", 9), ("fsync", 1), ("fsync", 3)])
def test_a_fault_behind_leaves_no_file_that_is_not_whole(
    name: str, failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # APP-13: a disk that fails once, in a thread, and works again then
    real, calls = getattr(os, name), itertools.count(1)

    def fail(descriptor: int, *rest: Any) -> Any:
        if next(calls) == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(NotWritable):
            check_out(tmp_path, PARTS)
    assert not on_disk(tmp_path)
    check_out(tmp_path, PARTS)
    assert on_disk(tmp_path) == PARTS


def test_a_flush_that_failed_while_another_file_was_written_keeps_both_from_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # APP-13: with what a disk says of a file that it cannot carry, which the others do without
    real = os.fsync
    failed: list[int] = []
    model = {f"part-{number}": random.Random(number).randbytes(MIB + number) for number in range(9)}

    def fail(descriptor: int) -> None:
        if not failed:
            failed.append(descriptor)
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(NotWritable):
        check_out(tmp_path, model)
    assert not on_disk(tmp_path)


def test_a_large_content_that_is_one_record_is_written_whole(tmp_path: Path) -> None:
    # APP-13: lace cuts such contents, but a friend's tree may name any record
    content = random.Random(5).randbytes(MIB + 7)
    objects = MemoryObjects()
    plex = Plex(GROUP, "notes", "x", Tai.ZERO, (), Blob(content))
    objects.add(plex)
    entry = Entry("f", "-", len(content), plex.hash, "x")
    after = apply_changes(objects.of(GROUP), None, {"one": entry})
    apply_tree(tmp_path, before=empty(objects), after=after, source=objects, cache=MemoryCache(), durable=True)
    assert (tmp_path / "one").read_bytes() == content


@pytest.mark.parametrize("size", [2, 300 << 10, MIB])
def test_a_disk_that_is_full_keeps_nothing_that_has_no_name_yet(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to 256 MiB wait for their names; to leave them would take the room that is missing."""
    # APP-13
    model = {f"part-{number}": random.Random(number).randbytes(size) for number in range(5)}
    real, written = os.write, list[int]()

    def fail(descriptor: int, data: Any) -> int:
        written.append(len(data))
        if sum(written) > 3 * size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        with pytest.raises(DiskFull):
            check_out(tmp_path, model)
    assert not on_disk(tmp_path)
    check_out(tmp_path, model)
    assert on_disk(tmp_path) == model
