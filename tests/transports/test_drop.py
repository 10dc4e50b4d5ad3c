"""Drops: making, opening, links, damage, and media that fail (faults.md rows 1, 3 to 8, 17)."""

from __future__ import annotations

import errno
import io
import itertools
import os
import random
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.transports.helpers import (
    APP,
    GROUP,
    additions,
    key,
    make_head,
    plex,
    put,
    records,
    seal_head,
    some_records,
)
from transports.bundle import BundleReader
from transports.bundling import BundleWriter
from transports.drop import Drop
from transports.errors import (
    DropEmptied,
    DropNotEmpty,
    MissingFile,
    NotADrop,
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
    UnreadableFile,
    WriteNotKept,
    WrongDrop,
)
from transports.listing import Listing
from transports.marker import MARKER
from transports.partial import PARTIAL, PartialFile
from transports.reading import fetch, read_head, read_mailbox
from vault.errors import LaceError, PlaceError
from vault.files import AtomicFile
from vault.records.hashes import RecordHash

ID = "0123456789abcdef" * 2
NODE = key(1).verifier


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    return Drop.create(tmp_path / "drop", entropy=lambda size: bytes.fromhex(ID)[:size])


def everything(drop: Drop) -> tuple[Listing, dict[RecordHash, bytes | None]]:
    seen = read_head(drop, GROUP, NODE)
    assert seen is not None
    listing = read_mailbox(drop, GROUP, NODE, seen.head)
    wanted = {record_hash for record_hash, _ in listing.items()}
    return listing, {item.hash: item.record for item in fetch(drop, GROUP, listing, wanted)}


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# Making and opening


def test_create_writes_the_marker_and_open_finds_it(drop: Drop) -> None:
    assert (drop.path / MARKER).read_bytes() == b"lace-drop/0\nid " + ID.encode() + b"\n"
    assert names(drop.path) == [MARKER]
    assert Drop.open(drop.path, ID).place_id == ID
    assert Drop.create(drop.path, entropy=os.urandom).place_id == ID
    assert drop.describe() == str(drop.path)


def test_a_fresh_stick_counts_as_empty(tmp_path: Path) -> None:
    for name in ("System Volume Information", ".Trashes", "lost+found"):
        (tmp_path / name).mkdir()
    assert Drop.create(tmp_path, entropy=os.urandom).drop_id == Drop.open(tmp_path).drop_id


def test_what_a_killed_place_add_left_goes_with_the_next_one(tmp_path: Path) -> None:
    """APP-13: whether the killed one made the drop or not."""
    left = tmp_path / f"{MARKER}.0.tmp"
    for _ in ("made now", "there already"):
        left.write_bytes(b"la")
        Drop.create(tmp_path, entropy=os.urandom)
        assert names(tmp_path) == [MARKER]


def test_two_who_make_a_drop_of_one_stick_at_once_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes and is done while the first has begun to write the marker."""
    begin = AtomicFile.__enter__
    ids: list[str] = []

    def late(file: AtomicFile) -> AtomicFile:
        begun = begin(file)
        if not ids:
            ids.append("")
            ids[0] = Drop.create(tmp_path, entropy=os.urandom).place_id
        return begun

    monkeypatch.setattr(AtomicFile, "__enter__", late)
    assert Drop.create(tmp_path, entropy=os.urandom).place_id == ids[0] == Drop.open(tmp_path).place_id
    assert names(tmp_path) == [MARKER]


def test_a_filled_directory_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(DropNotEmpty) as caught:
        Drop.create(tmp_path, entropy=os.urandom)
    assert str(tmp_path / "lace") in caught.value.hint
    assert names(tmp_path) == ["thesis.txt"]


def test_a_drop_needs_a_parent_that_exists(tmp_path: Path) -> None:
    with pytest.raises(PlaceUnreachable):
        Drop.create(tmp_path / "no" / "drop", entropy=os.urandom)
    (tmp_path / "file").write_text("x")
    with pytest.raises(PlaceError):
        Drop.create(tmp_path / "file", entropy=os.urandom)


@pytest.mark.parametrize(("number", "expected"), [(errno.ENOSPC, PlaceFull), (errno.EROFS, PlaceNotWritable)])
def test_a_drop_is_not_made_on_a_medium_that_cannot_hold_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, expected: type[PlaceError]
) -> None:
    fuse = Fuse(monkeypatch, tmp_path / "new")
    fuse.arm(2, fail_with(number))
    with pytest.raises(expected):
        Drop.create(tmp_path / "new", entropy=os.urandom)
    fuse.disarm()
    assert Drop.create(tmp_path / "new", entropy=os.urandom).nodes(GROUP) == []


def test_what_is_not_the_drop_that_was_expected(drop: Drop, tmp_path: Path) -> None:
    with pytest.raises(WrongDrop):
        Drop.open(drop.path, "f" * 32)
    with pytest.raises(PlaceUnreachable):
        Drop.open(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotADrop):
        Drop.open(tmp_path / "empty")
    with pytest.raises(DropEmptied, match="is there, but holds no"):
        Drop.open(tmp_path / "empty", ID)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        ID.encode(),
        b"\xff\xfe",
        b"lace-drop/1\nid " + ID.encode() + b"\n",
        b"lace-drop/0\nid " + ID.upper().encode() + b"\n",
        b"lace-drop/0\nid " + ID.encode() + b"\n\n",
        b"lace-drop/0\nid " + ID.encode() + b"\r\n",
    ],
)
def test_a_damaged_marker_is_refused(drop: Drop, text: bytes) -> None:
    (drop.path / MARKER).write_bytes(text)
    with pytest.raises(NotADrop) as caught:
        Drop.open(drop.path)
    way = "Install a newer lace" if b"/1\n" in text else "Whoever synced here before writes it anew with: lace fsck"
    assert caught.value.hint.startswith(way)
    with pytest.raises(NotADrop) as caught:
        Drop.open(drop.path, ID)
    assert caught.value.hint.startswith(way.replace("Whoever synced here before writes it", "Write it"))


def test_a_swapped_stick_is_noticed_before_the_head_is_written(drop: Drop) -> None:
    writer = drop.writer(GROUP, NODE)
    (drop.path / MARKER).write_bytes(b"lace-drop/0\nid " + b"e" * 32 + b"\n")
    with pytest.raises(WrongDrop):
        writer.publish_head(b"x")
    with pytest.raises(WrongDrop):
        drop.writer(GROUP, NODE)


# Names, links and strange files


def test_names_are_the_same_on_every_file_system(drop: Drop) -> None:
    # faults.md row 8
    put(drop, key(1), additions(some_records(3)))
    drop.writer(GROUP, NODE).put_request(b"x")
    for path in drop.path.rglob("*"):
        assert path.name == path.name.lower()
        assert set(path.name) <= set("0123456789abcdefghijklmnopqrstuvwxyz.-")
        assert len(str(path.relative_to(drop.path))) < 130


def test_links_are_never_followed(drop: Drop, tmp_path: Path) -> None:
    # faults.md row 17
    put(drop, key(1), additions(some_records(3)))
    mailbox = drop.mailbox_path(GROUP, NODE)
    outside = tmp_path / "outside"
    shutil.copytree(mailbox, outside)
    secret = (mailbox / "head.rec").rename(tmp_path / "secret")
    (mailbox / "head.rec").symlink_to(secret)
    with pytest.raises(UnreadableFile):
        drop.read_head(GROUP, NODE)
    shutil.rmtree(mailbox)
    mailbox.symlink_to(outside)
    with pytest.raises(UnreadableFile):
        drop.read_head(GROUP, NODE)
    before = names(outside)
    with pytest.raises(PlaceNotWritable):
        drop.writer(GROUP, NODE)
    assert names(outside) == before
    assert drop.nodes(GROUP) == []
    assert drop.files(GROUP, NODE) == {}


def test_pipes_and_directories_under_a_files_name_are_refused(drop: Drop) -> None:
    drop.writer(GROUP, NODE)
    head = drop.mailbox_path(GROUP, NODE) / "head.rec"
    os.mkfifo(head)
    with pytest.raises(UnreadableFile):
        drop.read_head(GROUP, NODE)
    head.unlink()
    head.mkdir()
    with pytest.raises(UnreadableFile):
        drop.read_head(GROUP, NODE)


@pytest.mark.parametrize("name", ["head.rec", "../../../etc/passwd", "b-" + "A" * 32 + ".bnd", "r-.run", ""])
def test_only_runs_and_bundles_are_opened_by_name(drop: Drop, name: str) -> None:
    with pytest.raises(UnreadableFile):
        drop.open_file(GROUP, NODE, name)


def test_strange_entries_are_passed_over(drop: Drop) -> None:
    put(drop, key(1), additions(some_records(1)))
    parent = drop.mailbox_path(GROUP, NODE).parent
    (parent / "notes.txt").write_text("x")
    (parent / ("0" * 64)).write_text("a file")
    (parent / ("A" * 64)).mkdir()
    assert drop.nodes(GROUP) == [NODE]
    for number in range(5000):
        (parent / f"{number:064x}").mkdir(exist_ok=number > 0) if number else None
    with pytest.raises(LaceError):
        drop.nodes(GROUP)


def test_requests_and_heads_come_and_go(drop: Drop) -> None:
    assert drop.read_head(GROUP, NODE) is None
    assert drop.read_request(GROUP, NODE) is None
    writer = drop.writer(GROUP, NODE)
    writer.put_request(b"please")
    assert drop.read_request(GROUP, NODE) == b"please"
    writer.remove_request()
    writer.remove_request()
    assert drop.read_request(GROUP, NODE) is None
    writer.put_request(bytes(70_000))
    with pytest.raises(LaceError):
        drop.read_request(GROUP, NODE)
    with pytest.raises(LaceError):
        writer.publish_head(bytes(2 << 20))
    with pytest.raises(MissingFile):
        drop.open_file(GROUP, NODE, "r-" + "0" * 32 + ".run")
    assert writer.free_bytes() > 0


def test_torn_temporary_files_are_ignored_and_cleared(drop: Drop) -> None:
    # faults.md row 5
    stored = some_records(3)
    put(drop, key(1), additions(stored))
    mailbox = drop.mailbox_path(GROUP, NODE)
    for name in ("head.rec.0.tmp", "bundle.1.tmp", "r-" + "0" * 32 + ".run.0.tmp"):
        (mailbox / name).write_bytes(b"half a f")
    assert everything(drop)[1] == stored
    drop.writer(GROUP, NODE)
    assert not list(mailbox.glob("*.tmp"))


# Media that lie, fill up, vanish


def test_a_medium_that_does_not_keep_bytes_is_noticed(drop: Drop) -> None:
    # faults.md row 6
    writer = drop.writer(GROUP, NODE)
    with writer.add_bundle() as bundle:
        bundle.add(plex(b"x").hash, "lace/data", plex(b"x").encode())
    writer.publish_head(seal_head(key(1), make_head(key(1), ID)).encode())
    writer.verify_written()
    for path in drop.mailbox_path(GROUP, NODE).iterdir():
        good = path.read_bytes()
        path.write_bytes(bytes(len(good)))
        with pytest.raises(WriteNotKept):
            writer.verify_written()
        path.unlink()
        with pytest.raises(WriteNotKept):
            writer.verify_written()
        path.write_bytes(good)
    writer.verify_written()
    shutil.rmtree(drop.path)
    with pytest.raises(PlaceUnreachable):
        writer.verify_written()


class Fuse:
    """Lets n calls into the system through and then does something else, for ever."""

    CALLS = ("open", "read", "write", "fsync", "lseek", "scandir", "mkdir", "replace", "unlink")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.left = 1 << 30
        self.used = 0
        self.blow: Callable[[], None] = lambda: None
        self._root = str(root)
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self._wrap(getattr(os, name)))

    def arm(self, calls: int, blow: Callable[[], None]) -> None:
        self.left, self.used, self.blow = calls, 0, blow

    def disarm(self) -> None:
        self.left = 1 << 30

    def _wrap(self, call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(target: object, *args: object, **kwargs: object) -> object:
            if isinstance(target, int) or str(target).startswith(self._root):
                self.used += 1
                self.left -= 1
                if self.left < 0:
                    self.blow()
            return call(target, *args, **kwargs)

        return wrapped


def fail_with(number: int) -> Callable[[], None]:
    def blow() -> None:
        raise OSError(number, os.strerror(number))

    return blow


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, PlaceFull),
        (errno.EROFS, PlaceError),
        (errno.EIO, PlaceError),
        (errno.ENODEV, PlaceUnreachable),
    ],
)
def test_a_failing_medium_at_every_call_of_a_publishing(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, number: int, expected: type[PlaceError]
) -> None:
    # faults.md rows 3, 4 and 5: nothing but our own errors, the former state stays, the next try succeeds.
    old, new = some_records(3), some_records(3, 40)
    put(drop, key(1), additions(old))
    fuse = Fuse(monkeypatch, drop.path)
    kinds = set()
    for calls in range(1000):
        previous = read_head(drop, GROUP, NODE)
        fuse.arm(calls, fail_with(number))
        try:
            put(drop, key(1), additions(new), previous=previous)
        except LaceError as error:
            kinds.add(type(error))
        else:
            break
        finally:
            fuse.disarm()
        assert everything(drop)[1] in (old, {**old, **new})
    assert 20 < calls < 999
    assert any(issubclass(kind, expected) for kind in kinds)
    assert everything(drop)[1] == {**old, **new}


def test_a_stick_pulled_out_at_every_call_of_a_reading(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults.md row 5
    stored = some_records(3)
    put(drop, key(1), additions(stored))
    fuse = Fuse(monkeypatch, drop.path)
    away = drop.path.with_name("away")

    def pull() -> None:
        fuse.disarm()
        if not away.exists():
            drop.path.rename(away)
        fail_with(errno.EIO)()

    outcomes = set()
    for calls in range(1000):
        fuse.arm(calls, pull)
        try:
            got = everything(drop)[1]
        except LaceError as error:
            outcomes.add(type(error))
        else:
            break
        finally:
            fuse.disarm()
            if away.exists():
                away.rename(drop.path)
    assert got == stored
    assert outcomes == {PlaceUnreachable}


class Interrupted(Exception):
    """Somebody pulled the stick out."""


def test_what_an_interrupted_bundle_left_is_not_written_again(drop: Drop, tmp_path: Path) -> None:
    # faults.md rows 5 and 17: the beginning is compared; no damage is believed, and no link followed
    chance = random.Random(5)
    stored = sorted(records(chance.randbytes(50_000) for _ in range(20)).items())

    def begin(count: int) -> int:
        before = drop.count.written
        with suppress(Interrupted), drop.writer(GROUP, key(1).verifier).add_bundle() as bundle:
            for record, data in stored[:count]:
                bundle.add(record, APP, data)
            if count < len(stored):
                raise Interrupted
        return drop.count.written - before

    partial = drop.mailbox_path(GROUP, key(1).verifier) / "bundle.part"
    assert begin(12) > 400_000
    first = partial.stat().st_size
    assert begin(16) < 300_000
    damaged = bytearray(partial.read_bytes())
    damaged[first // 2] ^= 1
    partial.write_bytes(damaged)
    assert 500_000 < begin(20) < 900_000
    (whole,) = partial.parent.glob("*.bnd")
    with whole.open("rb") as file:
        assert len(BundleReader(file).verify_all().run) == 20
    partial.unlink()
    outside = tmp_path / "outside"
    for make in (partial.symlink_to, partial.hardlink_to):
        outside.write_bytes(b"mine")
        make(outside)
        begin(3)
        assert outside.read_bytes() == b"mine"
        assert not partial.is_symlink()
        partial.unlink()


def large(chance: random.Random) -> list[tuple[RecordHash, bytes]]:
    """Records of more bytes than are written without a thread, and than are flushed at once."""
    return sorted(records(chance.randbytes(150_000) for _ in range(300)).items())


def test_a_large_bundle_is_what_its_records_make_and_its_medium_keeps_it(drop: Drop) -> None:
    stored = large(random.Random(8))
    writer = drop.writer(GROUP, key(1).verifier)
    plain = io.BytesIO()
    alone = BundleWriter(plain)
    with writer.add_bundle() as bundle:
        for record, data in stored:
            bundle.add(record, APP, memoryview(data))
            alone.add(record, APP, data)
        index = bundle.finish()
    assert index == alone.finish()
    assert (drop.mailbox_path(GROUP, key(1).verifier) / index.name).read_bytes() == plain.getvalue()
    assert drop.count.written == index.size
    writer.verify_written()


@pytest.mark.parametrize("name", ["write", "fsync"])
def test_a_fault_while_a_large_bundle_is_written_behind_is_told(
    name: str, drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    # faults.md rows 3 and 6: the medium fails once, in a thread, while more is being made, and works again then
    stored = large(random.Random(9))
    writer = drop.writer(GROUP, key(1).verifier)
    real, calls = getattr(os, name), itertools.count(1)
    failing = {"write": 100, "fsync": 1}[name]

    def fail(descriptor: int, *rest: Any) -> Any:
        if next(calls) == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, *rest)

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(PlaceNotWritable), writer.add_bundle() as bundle:  # noqa: PT012 - any of them may tell
        for record, data in stored:
            bundle.add(record, APP, data)
    assert next(calls) > failing
    assert not list(drop.mailbox_path(GROUP, key(1).verifier).glob("*.bnd"))


@pytest.mark.parametrize("size", [100_000, 40 << 20])
def test_what_a_failed_flush_leaves_is_not_taken_for_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """faults.md row 5: what is read back after it may be memory that the medium never got, at its end or before."""
    data = random.Random(4).randbytes(size)
    part = PartialFile.open(tmp_path)
    assert part is not None
    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", lambda _: fail_with(errno.EIO)())
        part.write(data)
        with pytest.raises(OSError, match="Input/output"):
            part.finish("first.bnd")
    part.close()
    again = PartialFile.open(tmp_path)
    assert again is not None
    again.write(data)
    again.finish("second.bnd")
    assert (again.compared, again.written) == (0, size)
    assert (tmp_path / "second.bnd").read_bytes() == data


def test_a_bundle_that_another_process_finishes_is_not_written_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """faults.md row 30: neither the one who opened the part just before it got its name, nor who comes just then."""
    first = PartialFile.open(tmp_path)
    assert first is not None
    first.write(b"a whole bundle")
    found: list[PartialFile | None] = []
    system_open, replace = os.open, Path.replace

    def opened(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        descriptor = system_open(path, flags, mode, **more)
        if path == tmp_path / PARTIAL:
            monkeypatch.setattr(os, "open", system_open)
            monkeypatch.setattr(Path, "replace", renamed)
            first.finish("first.bnd")
        return descriptor

    def renamed(path: Path, target: Path) -> Path:
        found.append(PartialFile.open(tmp_path))
        return replace(path, target)

    monkeypatch.setattr(os, "open", opened)
    second = PartialFile.open(tmp_path)
    assert found == [None]
    assert second is not None
    second.write(b"another one")
    second.finish("second.bnd")
    assert (tmp_path / "first.bnd").read_bytes() == b"a whole bundle"
    assert (tmp_path / "second.bnd").read_bytes() == b"another one"


def test_a_bad_sector_costs_one_file_only(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults.md row 7: the drop is still there, so this is damage and not absence
    stored = some_records(3)
    put(drop, key(1), additions(stored))
    listing, _ = everything(drop)
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        if size == 8 * 1024:
            fail_with(errno.EIO)()
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    items = list(fetch(drop, GROUP, listing, set(stored)))
    assert {item.hash: item.record for item in items} == dict.fromkeys(stored)
    assert all("cannot be read" in item.reason for item in items)


def test_killed_at_every_call_of_a_publishing(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults.md row 1: a process that dies leaves the old state or the new one, and the next one goes on.
    old, new = some_records(3), some_records(3, 40)
    put(drop, key(1), additions(old))
    fuse = Fuse(monkeypatch, drop.path)
    for calls in range(1000):
        previous = read_head(drop, GROUP, NODE)
        child = os.fork()
        if child == 0:
            fuse.arm(calls, lambda: os.kill(os.getpid(), signal.SIGKILL))
            try:
                put(drop, key(1), additions(new), previous=previous)
            finally:
                os._exit(fuse.left < 0)
        _, status = os.waitpid(child, 0)
        assert everything(drop)[1] in (old, {**old, **new})
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    assert 20 < calls < 999
    assert everything(drop)[1] == {**old, **new}
    put(drop, key(1), [], previous=read_head(drop, GROUP, NODE))
    assert not list(drop.path.rglob("*.tmp"))


def test_a_write_protected_drop_is_readable(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults.md row 4
    stored = some_records(3)
    put(drop, key(1), additions(stored))
    real = os.open

    def read_only(path: object, flags: int, *args: object, **kwargs: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            fail_with(errno.EROFS)()
        return real(path, flags, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", read_only)
    assert everything(drop)[1] == stored
    with pytest.raises(PlaceNotWritable):
        put(drop, key(1), additions(some_records(3, 9)), previous=read_head(drop, GROUP, NODE))
    assert everything(drop)[1] == stored
