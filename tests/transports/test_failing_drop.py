"""Drops on media that fail: at every call, killed, pulled out, with a bad sector (faults.md rows 1, 3 to 6)."""

from __future__ import annotations

import errno
import io
import itertools
import os
import random
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.transports.helpers import (
    APP,
    GROUP,
    additions,
    everything,
    key,
    put,
    records,
    some_records,
)
from transports.bundles.bundle import BundleReader
from transports.bundles.bundling import BundleWriter
from transports.drop.partial import PARTIAL, PartialFile
from transports.drop.place import Drop
from transports.errors import (
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
)
from transports.mailbox import Mailbox
from transports.reading import fetch, read_head
from vault.errors import LaceError, PlaceError
from vault.flush_ahead import FlushAhead
from vault.records.hashes import RecordHash

NODE = key(1).verifier


class Fuse:
    """Lets n calls into the system through and then does something else, for ever."""

    CALLS = ("open", "read", "readv", "write", "fsync", "lseek", "scandir", "mkdir", "replace", "unlink")

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


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, PlaceFull),
        (errno.EDQUOT, PlaceFull),
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
        previous = read_head(Mailbox(drop, GROUP, NODE))
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


def test_a_failed_flush_that_a_ctrl_c_met_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """faults.md row 5: as above, where the fault was known only after somebody would not wait for it any more."""
    data = random.Random(4).randbytes(40 << 20)
    is_let_go = threading.Event()

    def failing(_descriptor: int) -> None:
        assert is_let_go.wait(30)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def pressed(_ahead: FlushAhead) -> None:
        is_let_go.set()
        raise KeyboardInterrupt

    part = PartialFile.open(tmp_path)
    assert part is not None
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        part.write(data)
        patch.setattr(FlushAhead, "wait", pressed)
        with pytest.raises(KeyboardInterrupt):
            part.finish("first.bnd")
        part.close()
    assert (tmp_path / PARTIAL).stat().st_size == 0


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
    real = os.readv

    def read(descriptor: int, buffers: list[memoryview]) -> int:
        if [len(buffer) for buffer in buffers] == [8 * 1024]:
            fail_with(errno.EIO)()
        return real(descriptor, buffers)

    monkeypatch.setattr(os, "readv", read)
    items = list(fetch(drop, GROUP, listing, set(stored)))
    assert {item.hash: item.record for item in items} == dict.fromkeys(stored)
    assert all("cannot be read" in item.reason for item in items)


def test_killed_at_every_call_of_a_publishing(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults.md row 1: a process that dies leaves the old state or the new one, and the next one goes on.
    old, new = some_records(3), some_records(3, 40)
    put(drop, key(1), additions(old))
    fuse = Fuse(monkeypatch, drop.path)
    for calls in range(1000):
        previous = read_head(Mailbox(drop, GROUP, NODE))
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
    put(drop, key(1), [], previous=read_head(Mailbox(drop, GROUP, NODE)))
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
        put(drop, key(1), additions(some_records(3, 9)), previous=read_head(Mailbox(drop, GROUP, NODE)))
    assert everything(drop)[1] == stored
