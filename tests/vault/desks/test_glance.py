"""Looks at directories: what they prove, what they never hide, alone and in several processes (CLAY-71)."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.desks.acts import acts, do
from tests.vault.desks.support import GROUP, Desk, model_of, tree_of, write
from vault.desks import glance, scancache
from vault.desks.folder import open_root
from vault.desks.ignore import IGNORE_FILE, Ignore
from vault.desks.memory import MemoryCache, MemoryObjects
from vault.desks.scan import Ports, Scanning
from vault.desks.worktree import snapshot
from vault.errors import Cancelled
from vault.records import RecordHash


def _looks(cache: MemoryCache) -> dict[str, bytes]:
    return {key: blob for key, blob in cache._blobs.items() if key.startswith(glance.LOOKS)}


def _context(root: Path) -> bytes:
    rules = root / IGNORE_FILE
    return scancache.context_of(GROUP, Ignore(rules.read_bytes() if rules.is_file() else b"").digest)


def _is_same(root: Path, cache: MemoryCache, processes: int = 1) -> bool:
    fd = open_root(root)
    try:
        return glance.is_as_scanned(fd, _context(root), cache.load, processes)
    except OSError:
        return False
    finally:
        os.close(fd)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Processes that were forked, where one process is worth ten files; each is waited for when the test ends.

    What an earlier test left running in this process is no reason to fork less.
    """
    numbers: list[int] = []
    real = os.fork

    def fork() -> int:
        number = real()
        numbers.append(number)
        return number

    monkeypatch.setattr(glance, "_SHARE", 10)
    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    yield numbers
    for number in numbers:
        with pytest.raises(ChildProcessError):
            os.waitpid(number, os.WNOHANG)


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the blobs that are taken apart."""
    loaded: list[str] = []
    real = MemoryCache.load

    def load(self: MemoryCache, key: str, /) -> bytes | None:
        if not key.startswith("/"):
            loaded.append(key)
        return real(self, key)

    monkeypatch.setattr(MemoryCache, "load", load)
    return loaded


def test_what_the_rules_leave_out_costs_no_second_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    write(desk, IGNORE_FILE, b"*.o\nbuild/\n")
    for name in ("d/a.c", "d/a.o", "d/build/x"):
        write(desk, name, b"1")
    first = desk.scan()
    assert "d/a.o" not in model_of(desk.objects, first.root)
    assert _is_same(desk.root, desk.cache)
    loaded = _counted(monkeypatch)
    assert desk.scan(first.root) == first._replace(read=0, changes=())
    assert not loaded
    write(desk, "d/build/y", b"2")  # nobody looks there
    write(desk, "d/a.o", b"22")
    assert _is_same(desk.root, desk.cache)
    shutil.rmtree(desk.root / "d" / "build")
    write(desk, "d/build", b"now a file, and the rule speaks of directories")
    assert not _is_same(desk.root, desk.cache)
    assert "d/build" in model_of(desk.objects, desk.scan(first.root).root)


def test_what_the_rules_leave_out_is_taken_where_the_base_has_it(desk: Desk) -> None:
    """A friend who has no such rule may version what I leave out."""
    write(desk, "d/a.o", b"mine")
    write(desk, "d/b", b"1")
    versioned = desk.scan().root
    write(desk, IGNORE_FILE, b"*.o\n")
    without = desk.scan()
    assert "d/a.o" not in model_of(desk.objects, without.root)
    assert desk.scan(without.root).root == without.root
    assert model_of(desk.objects, desk.scan(versioned).root)["d/a.o"] == b"mine"


def test_what_the_base_lost_is_left_out_again(desk: Desk) -> None:
    """A friend deletes a file that my rules leave out, and a tool of mine makes it anew before the next scan."""
    write(desk, IGNORE_FILE, b"*.o\n")
    write(desk, "d/b", b"1")
    without = desk.scan().root
    write(desk, "d/a.o", b"theirs")
    one = model_of(desk.objects, without)
    versioned = tree_of(desk.objects, {**one, "d/a.o": b"theirs"})
    assert "d/a.o" in model_of(desk.objects, desk.scan(versioned).root)
    assert "d/a.o" in model_of(desk.objects, desk.scan(versioned).root)
    assert desk.scan(without).root == without
    assert desk.scan(without).root == without


def test_a_look_is_kept_only_where_nothing_has_to_be_said(desk: Desk) -> None:
    """A name that is skipped or noticed is named at every scan, and what is too young is read again."""
    write(desk, "noticed/con.txt", b"1")
    write(desk, "twins/a", b"1")
    write(desk, "twins/A", b"2")
    (desk.root / "linked").mkdir()
    (desk.root / "linked" / "out").symlink_to("/etc/passwd")
    (desk.root / "inner" / ".vault").mkdir(parents=True)
    write(desk, "plain/a", b"1")
    first = desk.scan()
    assert len(first.problems) == 4
    assert {key for key, look in _looks(desk.cache).items() if look} == {"//plain"}
    assert desk.scan(first.root).problems == first.problems
    assert not _is_same(desk.root, desk.cache)
    young = MemoryCache()
    now = (desk.root / "plain" / "a").stat().st_mtime_ns
    snapshot(desk.root, Ports(desk.objects.of(GROUP), young, lambda: now))
    assert not any(_looks(young).values())


def test_a_file_that_goes_while_it_is_scanned_leaves_no_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    write(desk, "d/a", b"1")
    write(desk, "d/b", b"1")
    real = os.open

    def vanishing(path: str, *args: int, **named: int) -> int:
        if path == "a":
            (desk.root / "d" / "a").unlink()
        return real(path, *args, **named)

    monkeypatch.setattr(os, "open", vanishing)
    assert list(model_of(desk.objects, desk.scan().root)) == ["d/b"]
    monkeypatch.undo()
    assert not _looks(desk.cache).get("//d")
    write(desk, "d/a", b"back")
    assert model_of(desk.objects, desk.scan().root) == {"d/a": b"back", "d/b": b"1"}


def test_a_damaged_look_costs_a_second_look(desk: Desk) -> None:
    write(desk, "d/a", b"1")
    first = desk.scan()
    for damaged in (b"", b"damaged", bytes(200), _looks(desk.cache)["//d"][:-40]):
        desk.cache.save("//d", damaged)
        assert not _is_same(desk.root, desk.cache)
        assert desk.scan(first.root) == first._replace(read=0, changes=())
        assert _is_same(desk.root, desk.cache)


def test_inodes_from_the_far_end_are_compared_too() -> None:
    far, farther = ((1, 2, -3, 2**64 - back, 0o100644) for back in (1, 2))
    kept = [glance.encode_look(b"c" * 16, b"t" * 32, 1, ["a"], {}, [signature], {}) for signature in (far, farther)]
    assert kept[0] != kept[1]
    look = glance.parse_look(kept[0], b"c" * 16)
    assert look is not None
    assert (look.files, look.directories, look.left_out) == (1, [], [])


@pytest.fixture
def wide(desk: Desk) -> Desk:
    """A desk with directories side by side and below each other, scanned."""
    for number in range(12):
        write(desk, f"d{number}/a", b"1")
        write(desk, f"d{number}/deep/er/b", b"2")
    desk.scan()
    return desk


@pytest.mark.parametrize("processes", [1, 2, 3, 7, 100])
@pytest.mark.usefixtures("started")
def test_several_processes_see_what_one_sees(wide: Desk, processes: int) -> None:
    """Whoever meets the change: the answer is one, and no process is left behind."""
    assert _is_same(wide.root, wide.cache, processes)
    for name in ("d0/a", "d5/deep/er/b", "d11/deep/er/b"):
        path = wide.root / name
        seen = path.stat()
        path.write_bytes(b"9")
        os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        assert not _is_same(wide.root, wide.cache, processes)
        wide.scan()
        assert _is_same(wide.root, wide.cache, processes)
    elsewhere = wide.root.parent / "elsewhere"
    (wide.root / "d3").rename(elsewhere)
    (wide.root / "d3").symlink_to(elsewhere)  # the same names and stats, behind a link
    assert not _is_same(wide.root, wide.cache, processes)


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_a_scan_by_several_processes_finds_what_one_finds(
    wide: Desk, monkeypatch: pytest.MonkeyPatch, started: list[int], processes: int
) -> None:
    """What did not change is not even opened; the rest is found, whoever looked there."""
    write(wide, "d1/deep/new", b"3")
    write(wide, "d11/a", b"4")
    shutil.rmtree(wide.root / "d7")
    loaded = _counted(monkeypatch)
    found = wide.scan(how=Scanning(processes=processes))
    assert len(started) == processes - 1
    assert set(loaded) == {"", "d1", "d1/deep", "d11"}
    assert (found.files, found.read) == (23, 2)
    assert found.root == Desk(wide.root).scan().root


def test_threads_are_not_forked(wide: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "_SHARE", 10)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    told = threading.Event()
    waiting = threading.Thread(target=told.wait)
    waiting.start()
    try:
        found = wide.scan(how=Scanning(processes=4))
    finally:
        told.set()
        waiting.join()
    assert (found.files, found.read) == (24, 0)


def test_without_room_for_a_process_one_does_all(wide: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise BlockingIOError(errno.EAGAIN, "full")

    monkeypatch.setattr(glance, "_SHARE", 10)
    monkeypatch.setattr(os, "fork", full)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert _is_same(wide.root, wide.cache, 4)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    write(wide, "d5/a", b"9")
    assert not _is_same(wide.root, wide.cache, 4)


def test_looks_of_two_scans_at_once_hide_nothing(wide: Desk) -> None:
    """One keeps what it saw below a directory, and then the other, which began before, what it saw in it."""
    old = {key: wide.cache.load(key) for key in ("", "//", "d5", "//d5", "d5/deep", "//d5/deep")}
    write(wide, "d5/deep/er/b", b"99")
    now = wide.scan()
    for key, blob in old.items():
        assert blob is not None
        wide.cache.save(key, blob)
    assert not _is_same(wide.root, wide.cache)
    assert wide.scan().root == now.root
    assert _is_same(wide.root, wide.cache)


def test_a_stopped_survey_leaves_no_process(wide: Desk, monkeypatch: pytest.MonkeyPatch, started: list[int]) -> None:
    def stop() -> None:
        raise Cancelled("stopped")

    monkeypatch.setattr("vault.desks.scan._STEP", 1)
    with pytest.raises(Cancelled):
        wide.scan(how=Scanning(processes=4, cancel=stop))
    assert len(started) == 3


def test_each_directory_is_in_one_share(wide: Desk) -> None:
    steps, is_all = glance._steps(_context(wide.root), wide.cache.load)
    assert is_all
    assert len(steps) == 37
    for processes in range(1, 50):
        shares = glance._shares(steps * 400, processes)
        assert [step for share in shares for step in share] == steps * 400
        assert all(shares)
        assert len(shares) <= processes


_ACTS = acts(["a", "b.o", "d/a", "d/b.o", "d/e/a", "f"], ["a", "b.o", "d/a", "g/b.o", "f"], "rules")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.lists(_ACTS, max_size=3), st.booleans()), max_size=6))
def test_what_looks_unchanged_is_unchanged(rounds: list[tuple[list[tuple[str, str, str]], bool]]) -> None:
    """CLAY-71: with rules that come and go and a base that moves, a kept look never hides a change."""
    with tempfile.TemporaryDirectory() as text:
        root = Path(text) / "desk"
        root.mkdir()
        objects, cache = MemoryObjects(), MemoryCache()
        last: RecordHash | None = None
        for number, (acts, is_fresh) in enumerate(rounds):
            for act, name, other in acts:
                with contextlib.suppress(OSError):
                    do(root, act, name, other, number)
            is_same = _is_same(root, cache)
            base, clock = None if is_fresh else last, time.time_ns
            kept = snapshot(root, Ports(objects.of(GROUP), cache, clock), base)
            anew = snapshot(root, Ports(objects.of(GROUP), MemoryCache(), clock), base)
            assert kept.root == anew.root
            assert (kept.files, kept.problems) == (anew.files, anew.problems)
            if is_same and base is not None:
                assert anew.root == last
            last = anew.root
