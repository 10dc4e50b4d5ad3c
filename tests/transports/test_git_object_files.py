"""Objects are read from the files of git, and nothing false is taken for one (performance W5, CYB-17)."""

from __future__ import annotations

import hashlib
import os
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.transports.git_hosts import git
from transports.git import packs
from transports.git.command import GitRunner
from transports.git.object_files import Info, ObjectFiles, object_id
from transports.git.objects import Objects, Row, tree_of
from transports.git.packs import write_pack
from transports.git.upkeep import clear_partial
from vault.files import DiskFull

_ABSENT = "17" * 20
_COMMIT = "tree {}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"
_KINDS = ("blob", "blob", "blob", "blob", "blob", "tree", "commit")


def _filled(runner: GitRunner) -> dict[str, bytes]:
    """Write objects of each kind and of many sizes, each in a file of its own; return them by their names."""
    objects, draw = Objects(runner), Random(1)
    datas = [draw.randbytes(size) for size in (0, 15, 16, 70_000, 1 << 20)]
    blobs = [objects.add("blob", data) for data in datas]
    datas.append(tree_of([Row("a", "blob", blobs[0]), Row("b", "blob", blobs[1])]))
    tree = objects.add("tree", datas[-1])
    datas.append(_COMMIT.format(tree).encode())
    names = [*blobs, tree, objects.add("commit", datas[-1])]
    objects.flush()
    return dict(zip(names, datas, strict=True))


def singly(repository: Path, _stored: dict[str, bytes]) -> None:
    """Leave each object in a file of its own."""
    assert not list((repository / "objects" / "pack").iterdir())


def by_git(repository: Path, stored: dict[str, bytes]) -> None:
    """Let git put them into a pack of its own, compressed."""
    git(repository, "update-ref", "refs/heads/x", list(stored)[-1])
    listed = "\n".join(stored).encode()
    git(repository, "pack-objects", "--window=0", str(repository / "objects" / "pack" / "pack"), stdin=listed)
    git(repository, "prune-packed")
    assert "count: 0" in git(repository, "count-objects", "-v")


def by_lace(repository: Path, stored: dict[str, bytes]) -> None:
    """Write them into a pack as lace does."""
    objects = zip(_KINDS, stored.values(), strict=True)
    write_pack(repository / "objects" / "pack", list(stored), objects)
    git(repository, "prune-packed")
    assert "count: 0" in git(repository, "count-objects", "-v")


@pytest.mark.parametrize("lay", [singly, by_git, by_lace])
def test_what_is_plain_is_read_without_a_git(
    runner: GitRunner, monkeypatch: pytest.MonkeyPatch, lay: Callable[[Path, dict[str, bytes]], None]
) -> None:
    stored = _filled(runner)
    lay(runner.repository, stored)
    git(runner.repository, "fsck", "--strict")
    monkeypatch.setattr(GitRunner, "_begin", None)
    objects = Objects(runner)
    infos = objects.info([*stored, _ABSENT])
    assert infos == [*map(tuple, zip(stored, _KINDS, map(len, stored.values()), strict=True)), None]
    assert objects.read(list(stored)) == list(stored.values())


def test_deltas_are_left_to_git(runner: GitRunner) -> None:
    """Nobody but git writes them here, and what somebody repacked is read all the same."""
    objects, draw = Objects(runner), Random(2)
    base = draw.randbytes(20_000)
    datas = [base + bytes([number]) for number in range(20)]
    names = [objects.add("blob", data) for data in datas]
    objects.flush()
    listed = "\n".join(names).encode()
    git(runner.repository, "pack-objects", str(runner.repository / "objects" / "pack" / "pack"), stdin=listed)
    git(runner.repository, "prune-packed")
    files = ObjectFiles(lambda: runner.repository)
    assert 0 < sum(files.read(name) is not None for name in names) < len(names)
    assert objects.read(names) == datas
    assert [info and info.size for info in objects.info(names, anew=True)] == [len(data) for data in datas]
    objects.close()


def test_what_comes_and_what_is_packed_meanwhile_is_found(runner: GitRunner) -> None:
    """Another process may fetch into the same repository, and the owner of a host may repack it at any moment."""
    files = ObjectFiles(lambda: runner.repository)
    assert files.info([_ABSENT]) == {_ABSENT: None}
    stored = _filled(runner)
    assert None not in files.info(stored).values()
    by_git(runner.repository, stored)
    assert None not in files.info(stored).values()
    assert [files.read(name) for name in stored] == list(stored.values())
    for file in (runner.repository / "objects" / "pack").iterdir():
        file.unlink()
    files.forget()
    assert set(files.info(stored).values()) == {None}


@pytest.mark.parametrize("lay", [singly, by_git, by_lace])
@pytest.mark.parametrize("is_cut", [False, True])
def test_nothing_false_is_taken_from_a_damaged_file(
    runner: GitRunner, lay: Callable[[Path, dict[str, bytes]], None], is_cut: bool
) -> None:
    """CYB-17: a flipped bit, or a file that is cut off, gives the right bytes, none, or a question for git."""
    stored = {name: data for name, data in _filled(runner).items() if len(data) < 100_000}
    whole = list(stored)
    if lay is not singly:
        lay(runner.repository, _filled(runner))
    draw = Random(3)
    lost = 0
    for file in [path for path in (runner.repository / "objects").glob("??*/*") if path.is_file()]:
        data = file.read_bytes()
        file.chmod(0o644)
        for _ in range(12):
            at = draw.randrange(min(len(data), 3000))
            file.write_bytes(data[:at] if is_cut else _flipped(data, at, draw.randrange(8)))
            lost += _checked(runner.repository, whole, stored)
        file.write_bytes(data)
    assert lost
    assert not _checked(runner.repository, whole, stored)


def _flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def _checked(repository: Path, names: Sequence[str], stored: dict[str, bytes]) -> int:
    """Check that each object is right or left to git; return how many are."""
    files = ObjectFiles(lambda: repository)
    files.info(names)
    read = [files.read(name) for name in names]
    assert all(data in (None, stored[name]) for name, data in zip(names, read, strict=True))
    return read.count(None)


def test_many_objects_of_one_pack_are_found_each_by_its_name(runner: GitRunner) -> None:
    """And with a sum that is right beside counts that are wrong, nothing false is found, and nothing breaks."""
    stored = {object_id("blob", data): data for data in (b"%d" % number for number in range(300))}
    pack = write_pack(runner.repository / "objects" / "pack", list(stored), [("blob", d) for d in stored.values()])
    files = ObjectFiles(lambda: runner.repository)
    infos: dict[str, Info | None] = {name: Info(name, "blob", len(data)) for name, data in stored.items()}
    assert files.info([*stored, _ABSENT]) == infos | {_ABSENT: None}
    assert [files.read(name) for name in stored] == list(stored.values())
    index = pack.with_suffix(".idx")
    index.chmod(0o644)
    whole = index.read_bytes()
    for counts in ((0,) * 255, ((1 << 32) - 1,) * 255, tuple(range(255, 0, -1))):
        changed = whole[:8] + struct.pack(">255I", *counts) + whole[8 + 255 * 4 : -20]
        index.write_bytes(changed + hashlib.sha1(changed, usedforsecurity=False).digest())
        files.forget()
        told = files.info(stored)
        assert all(told[name] in (None, infos[name]) for name in stored)
        assert all(files.read(name) in (None, data) for name, data in stored.items())


def test_of_a_large_pack_little_is_read(runner: GitRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """W5: to learn what an object at its beginning is, no more is read than of one at its end."""
    datas = [b"first", *(bytes([number]) * (1 << 20) for number in range(2))]
    stored = {object_id("blob", data): data for data in datas}
    pack = write_pack(runner.repository / "objects" / "pack", list(stored), [("blob", d) for d in datas])
    files = ObjectFiles(lambda: runner.repository)
    assert files.info([_ABSENT]) == {_ABSENT: None}  # its index is known now
    total, read = 0, os.read

    def counted(fd: int, size: int) -> bytes:
        nonlocal total
        part = read(fd, size)
        total += len(part)
        return part

    monkeypatch.setattr(os, "read", counted)
    assert None not in files.info(stored).values()
    assert total < 1024 < pack.stat().st_size


def test_a_pack_that_says_another_size_than_it_holds_is_left_to_git(runner: GitRunner) -> None:
    """CYB-17: how large an object is decides whether it is read at all, so what is read has that many bytes."""
    data = b"x" * 9
    name = object_id("blob", data)
    pack = write_pack(runner.repository / "objects" / "pack", [name], [("blob", data)])
    pack.chmod(0o644)
    whole = pack.read_bytes()
    pack.write_bytes(whole[:12] + bytes([whole[12] + 1]) + whole[13:])
    files = ObjectFiles(lambda: runner.repository)
    assert files.info([name]) == {name: (name, "blob", 10)}
    assert files.read(name) is None


def test_a_pack_whose_index_cannot_be_written_goes(runner: GitRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults 3: on a full disk nothing stays that no git can read, and what lay there before does."""
    directory = runner.repository / "objects" / "pack"
    data = b"x" * 1000
    name = object_id("blob", data)

    def full(*_args: object) -> bytes:
        raise DiskFull("There is no room.")

    with monkeypatch.context() as patch:
        patch.setattr(packs, "_index", full)
        with pytest.raises(DiskFull):
            write_pack(directory, [name], [("blob", data)])
        assert not list(directory.iterdir())
    write_pack(directory, [name], [("blob", data)])
    with monkeypatch.context() as patch:
        patch.setattr(packs, "_index", full)
        with pytest.raises(DiskFull):
            write_pack(directory, [name], [("blob", data)])
    assert ObjectFiles(lambda: runner.repository).read(name) == data


def test_a_pack_that_was_left_without_its_index_is_cleared_away(runner: GitRunner) -> None:
    """Faults 5: whoever was killed between the two leaves up to a gigabyte that nobody can read."""
    directory = runner.repository / "objects" / "pack"
    datas = [b"x" * 1000, b"y" * 1000]
    names = [object_id("blob", data) for data in datas]
    kept, lost = (write_pack(directory, [name], [("blob", data)]) for name, data in zip(names, datas, strict=True))
    lost.with_suffix(".idx").unlink()
    clear_partial(runner.repository)
    assert {file.name for file in directory.iterdir()} == {kept.name, kept.with_suffix(".idx").name}


def test_what_unfolds_without_end_takes_no_memory(runner: GitRunner) -> None:
    """Faults 34: some kilobytes of zeros unfold to gigabytes; git bounds what it takes for them."""
    stream = zlib.compress(b"blob 5\0" + bytes(64 << 20), 9)
    file = runner.repository / "objects" / _ABSENT[:2] / _ABSENT[2:]
    file.parent.mkdir()
    file.write_bytes(stream)
    files = ObjectFiles(lambda: runner.repository)
    assert files.info([_ABSENT]) == {}
    assert files.read(_ABSENT) is None


def test_what_is_kept_ahead_is_bounded_by_its_bytes(runner: GitRunner) -> None:
    """Faults 34: files of two kilobytes each, which unfold to megabytes, are not all held at once."""
    names = []
    for number in range(16):
        data = bytes([number]) + bytes((2 << 20) - 1)
        names.append(object_id("blob", data))
        file = runner.repository / "objects" / names[-1][:2] / names[-1][2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(b"blob %d\0" % len(data) + data, 9))
    files = ObjectFiles(lambda: runner.repository)
    tracemalloc.start()
    try:
        assert None not in files.info(names).values()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 8 << 20


def test_a_pipe_in_the_place_of_a_file_is_left_to_git(runner: GitRunner) -> None:
    """Faults 15: nobody waits for who never writes into it."""
    stored = _filled(runner)
    name = next(iter(stored))
    file = runner.repository / "objects" / name[:2] / name[2:]
    file.unlink()
    os.mkfifo(file)
    files = ObjectFiles(lambda: runner.repository)
    assert files.info([name]) == {}
    assert files.read(name) is None
    file.unlink()
    by_lace(runner.repository, stored)
    (index,) = (runner.repository / "objects" / "pack").glob("*.idx")
    index.unlink()
    os.mkfifo(index)
    assert ObjectFiles(lambda: runner.repository).info([name]) == {}
