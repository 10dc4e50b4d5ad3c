"""What a checkout keeps of directories that it made, and that no change hides behind it (CLAY-71)."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.desks.support import GROUP, Desk, Model, file, model_of, models, on_disk, tree_of
from vault.desks import temporary
from vault.desks.arrived import Arrived
from vault.desks.checkout import apply_plan
from vault.desks.cursor import DirectoryCursor
from vault.desks.edit import apply_changes
from vault.desks.filling import Filling
from vault.desks.folder import Signature, signature
from vault.desks.ignore import Ignore
from vault.desks.memory import MemoryCache
from vault.desks.pages import Entry
from vault.desks.plan import plan_checkout
from vault.desks.scancache import SeenDirectory, context_of, decode, encode
from vault.desks.temporary import Temporaries
from vault.records import RecordHash

CONTEXT = context_of(GROUP, Ignore(b"").digest)
MODEL = {"a/b/c": b"deep", "a/b/d": b"other", "a/x": b"plain", "top": b"beside"}


def _follow(desk: Desk, after: RecordHash, before: RecordHash | None = None) -> None:
    plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
    apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache, durable=True, context=lambda: CONTEXT)


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Let ticks of every clock pass before directories arrive; what is put into the list is done meanwhile."""
    done: list[Callable[[], object]] = []
    settle = Filling.settle

    def settling(files: Filling, root: int) -> None:
        settle(files, root)
        for act in [*done]:
            time.sleep(0.05)
            act()
        time.sleep(0.05)

    monkeypatch.setattr(Filling, "settle", settling)
    return done


@pytest.mark.usefixtures("wait")
def test_what_is_written_in_new_directories_is_not_read_again(desk: Desk) -> None:
    after = tree_of(desk.objects, MODEL)
    _follow(desk, after)
    first = desk.scan(after)
    assert (first.root, first.files, first.read) == (after, 4, 1)  # what took its name alone is read
    assert desk.scan(after).read == 0


def test_what_arrived_in_the_tick_in_which_it_was_written_is_read_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A disk whose clock stands still until somebody has changed the file: same size, same times, same inode.
    after = tree_of(desk.objects, {"a/x": b"one"})
    moments: list[int] = []

    def moment(_arrived: Arrived, cursor: DirectoryCursor, way: tuple[str, ...]) -> int:
        moments.append(signature(os.stat("x", dir_fd=cursor.go(way)))[2])
        return moments[-1]

    monkeypatch.setattr(Arrived, "moment", moment)
    _follow(desk, after)
    path = desk.root / "a" / "x"
    path.write_bytes(b"two")
    kept = decode(desk.cache.load("a"), CONTEXT)
    assert kept is not None
    seen = kept.items["x"]._replace(signature=signature(path.stat()))
    blob = encode(SeenDirectory(kept.digest, kept.size, {"x": seen}), CONTEXT, signature(path.stat())[2])
    assert blob is not None
    desk.cache.save("a", blob)
    assert model_of(desk.objects, desk.scan(after).root) == {"a/x": b"two"}
    assert moments


@pytest.fixture
def once_arrived(monkeypatch: pytest.MonkeyPatch, wait: list[Callable[[], object]]) -> list[Callable[[], object]]:
    """What is put into the list is done as soon as a directory has its name, and ticks after its files were written."""
    del wait
    done: list[Callable[[], object]] = []
    arrive = DirectoryCursor.arrive

    def arriving(cursor: DirectoryCursor, names: tuple[str, ...]) -> None:
        arrive(cursor, names)
        for act in done:
            act()

    monkeypatch.setattr(DirectoryCursor, "arrive", arriving)
    return done


def test_a_change_right_after_the_arrival_is_seen(desk: Desk, once_arrived: list[Callable[[], object]]) -> None:
    def change() -> None:
        for path, content in (("a/b/c", b"DEEP"), ("a/x", b"PLAIN")):
            times = (desk.root / path).stat()
            (desk.root / path).write_bytes(content)
            os.utime(desk.root / path, ns=(times.st_atime_ns, times.st_mtime_ns))

    once_arrived.append(change)
    after = tree_of(desk.objects, MODEL)
    _follow(desk, after)
    found = desk.scan(after)
    assert model_of(desk.objects, found.root) == {**MODEL, "a/b/c": b"DEEP", "a/x": b"PLAIN"}
    assert found.read == 3


def test_a_change_before_the_arrival_is_seen(desk: Desk, wait: list[Callable[[], object]]) -> None:
    def change() -> None:
        for path in desk.root.glob(".*/b/c"):
            path.write_bytes(b"DEEP")

    wait.append(change)
    after = tree_of(desk.objects, MODEL)
    _follow(desk, after)
    assert model_of(desk.objects, desk.scan(after).root) == {**MODEL, "a/b/c": b"DEEP"}


def test_a_directory_that_lacks_a_file_of_the_tree_is_not_kept(
    desk: Desk, once_arrived: list[Callable[[], object]]
) -> None:
    once_arrived.append((desk.root / "a" / "b" / "d").unlink)
    after = tree_of(desk.objects, MODEL)
    _follow(desk, after)
    assert desk.cache.load("a/b") is None
    assert desk.cache.load("a") is not None
    assert model_of(desk.objects, desk.scan(after).root) == {path: MODEL[path] for path in MODEL if path != "a/b/d"}


@pytest.mark.usefixtures("wait")
def test_a_directory_for_which_a_file_was_left_out_is_not_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults 8: what is there is all that was written, and less than the tree has
    after = tree_of(desk.objects, MODEL)
    make = Temporaries.make_named

    def making(
        self: Temporaries, fd: int, name: str, entry: Entry, content: bytes | None, bits: int | None = None
    ) -> Signature | None:
        if name == "d":
            raise OSError(errno.EINVAL, "no such name on this disk")
        return make(self, fd, name, entry, content, bits)

    monkeypatch.setattr(Temporaries, "make_named", making)
    _follow(desk, after)
    assert desk.cache.load("a/b") is None
    assert desk.cache.load("a") is not None


@pytest.mark.usefixtures("wait")
def test_a_file_that_the_disk_gave_another_mode_is_left_to_the_scan(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # faults 8: FAT has no executable bit
    script = file(desk.objects, b"true\n", mode="x")
    after = apply_changes(desk.objects.of(GROUP), None, {"a/run": script})
    monkeypatch.setattr(temporary, "signature", lambda status: (*signature(status)[:4], status.st_mode & ~0o111))
    _follow(desk, after)
    assert desk.cache.load("a") is None


@settings(max_examples=60, deadline=None)
@given(models(), st.sets(st.integers(0, 30)))
def test_a_scan_after_a_checkout_sees_what_a_scan_without_a_cache_sees(model: Model, gone: set[int]) -> None:
    """CLAY-71: whatever went meanwhile."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Arrived, "moment", lambda *_given: time.time_ns() + 1_000_000_000)  # all of it is believed
        desk = Desk(Path(name))
        after = tree_of(desk.objects, model)
        _follow(desk, after)
        assert on_disk(desk.root) == model
        for number, path in enumerate(sorted(desk.root.rglob("*"))):
            if number in gone and path.is_dir():
                shutil.rmtree(path)
            elif number in gone:
                path.unlink(missing_ok=True)
        found = desk.scan(after)
        desk.cache = MemoryCache()
        anew = desk.scan(after)
        assert (found.root, found.files, found.problems) == (anew.root, anew.files, anew.problems)
