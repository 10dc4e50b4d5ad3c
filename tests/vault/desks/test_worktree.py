"""The scan of a real folder (CLAY-71, LAZ-1, APP-12; faults 8, 16, 17)."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import tempfile
import time
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.desks.acts import acts, do
from tests.vault.desks.support import GROUP, LATER, Desk, empty, file, model_of, skipped, tree_of, write
from vault.desks import scan
from vault.desks.cutting import add_content
from vault.desks.edit import apply_changes
from vault.desks.glance import survey
from vault.desks.memory import MemoryCache, MemoryObjects
from vault.desks.modes import Modes
from vault.desks.ports import Objects
from vault.desks.scan import Ports, Scanning
from vault.desks.tree import lookup, walk
from vault.desks.worktree import snapshot
from vault.errors import Cancelled
from vault.files import Unreadable
from vault.profile import MAX_DIRECT_BYTES


def test_a_folder_is_a_tree_and_unchanged_files_are_not_read_again(desk: Desk) -> None:
    write(desk, "a/b/c", b"deep")
    write(desk, "x", b"top")
    (desk.root / "empty").mkdir()
    first = desk.scan()
    assert (first.files, first.read, first.problems) == (2, 2, ())
    assert model_of(desk.objects, first.root) == {"a/b/c": b"deep", "x": b"top"}
    assert lookup(desk.objects, first.root, "empty") is not None
    again = desk.scan(first.root)
    assert (again.root, again.files, again.read) == (first.root, 2, 0)
    write(desk, "a/b/d", b"new")
    third = desk.scan(first.root)
    assert third.read == 1
    assert model_of(desk.objects, third.root)["a/b/d"] == b"new"
    (desk.root / "a/b/c").unlink()
    assert set(model_of(desk.objects, desk.scan(third.root).root)) == {"a/b/d", "x"}


def test_a_scan_that_reuses_hashes_adds_nothing(desk: Desk) -> None:
    write(desk, "a/b", b"1")
    root = desk.scan().root
    fresh = MemoryObjects()
    found = snapshot(desk.root, Ports(Objects(desk.objects, fresh, GROUP), desk.cache, lambda: LATER), root)
    assert (found.root, len(fresh)) == (root, 0)


def test_the_executable_bit_is_content(desk: Desk) -> None:
    path = write(desk, "run")
    before = desk.scan().root
    path.chmod(0o755)
    entry = lookup(desk.objects, desk.scan(before).root, "run")
    assert entry is not None
    assert entry.mode == "x"


def test_a_disk_that_calls_everything_a_program_changes_no_mode(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults 8: FAT has no executable bit
    monkeypatch.setattr(Modes, "_shows_program", lambda *_: True)
    write(desk, "run").chmod(0o755)
    write(desk, "plain")
    base = desk.scan().root
    desk.cache.drop("")
    write(desk, ".vault/.gitignore").chmod(0o755)
    (desk.root / "plain").chmod(0o755)
    assert desk.scan(base).root == base
    monkeypatch.undo()
    desk.cache.drop("")
    entry = lookup(desk.objects, desk.scan(base).root, "plain")
    assert entry is not None
    assert entry.mode == "x", "whoever set all permissions anew, with those of the vault, is believed"
    assert sorted(path.name for path in desk.root.rglob("*") if path.is_file()) == [".gitignore", "plain", "run"]


def test_a_change_in_the_same_clock_tick_is_seen(desk: Desk) -> None:
    # The racy-timestamp rule: same size, same times, same inode, other bytes.
    path = write(desk, "f", b"one")
    status = path.stat()
    racy = desk.scan(now_ns=status.st_mtime_ns)
    assert not desk.cache.load("//")  # no look suffices
    seen_at = path.stat()
    with path.open("r+b") as handle:
        handle.write(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    blob = desk.cache.load("")
    assert blob is not None
    # A disk whose clock stood still would show the old ctime too: put it into what the scan remembers.
    old, new = (s.st_ctime_ns.to_bytes(8, "little") for s in (seen_at, path.stat()))
    head = 4 + 16 + 8 + 32 + 8 + 4 + 4 + 1 + 8 + 8  # up to the ctime of a file with a name of one byte
    desk.cache.save("", blob[:head] + blob[head:].replace(old, new, 1))
    assert model_of(desk.objects, desk.scan(racy.root, now_ns=status.st_mtime_ns).root) == {"f": b"two"}


def test_what_is_saved_just_before_a_look_is_old_once_the_folder_was_surveyed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-71: the racy-timestamp rule goes by the moment before the first file is read, and no earlier one."""
    path = write(desk, "f", b"one")
    surveyed: list[int] = []

    def surveying(*given: Any) -> object:
        found = survey(*given)
        surveyed.append(1_000_000_000)
        return found

    def clock() -> int:
        path.write_bytes(b"two" if surveyed else b"odd")  # somebody writes while the clock is asked
        return path.stat().st_mtime_ns + sum(surveyed)

    monkeypatch.setattr(scan, "survey", surveying)
    objects = desk.objects
    root = snapshot(desk.root, Ports(objects.of(GROUP), desk.cache, clock)).root
    assert model_of(objects, root) == {"f": b"two"}
    assert desk.scan(root).read == 0


def test_an_old_file_is_believed_by_its_signature(desk: Desk) -> None:
    # The other half of the rule, or nothing would ever be skipped: the cache alone decides for an old file.
    path = write(desk, "f", b"one")
    root = desk.scan().root
    assert desk.scan(root).read == 0
    assert desk.scan(root, now_ns=path.stat().st_mtime_ns).read == 0
    desk.cache.save("", b"damaged")
    assert desk.scan(root).read == 0  # a look suffices
    desk.cache.save("//", b"damaged")
    assert desk.scan(root).read == 1
    desk.cache.save("//", b"damaged")
    assert desk.scan(root).read == 0


def test_whole_second_times_need_a_longer_distance(desk: Desk) -> None:
    # faults 8: FAT counts in two seconds, so a whole second two seconds ago is not old yet.
    path = write(desk, "f")
    second = 1_000_000_000
    when = path.stat().st_ctime_ns // second * second + 4 * second
    os.utime(path, ns=(when, when))
    root = desk.scan(now_ns=when + 2 * second).root
    assert desk.scan(root, now_ns=when + 3 * second).read == 1
    assert desk.scan(root, now_ns=when + 3 * second).read == 0


def test_links_are_kept_as_links_and_never_followed(desk: Desk, tmp_path: Path) -> None:
    # APP-12, faults 17
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"private")
    write(desk, "d/target")
    (desk.root / "d/good").symlink_to("target")
    (desk.root / "dir").symlink_to("d")
    (desk.root / "out").symlink_to(secret)
    (desk.root / "up").symlink_to("../secret/key")
    found = desk.scan()
    assert model_of(desk.objects, found.root) == {"d/target": b"1", "d/good": b"target", "dir": b"d"}
    assert set(skipped(found.problems)) == {"out", "up"}
    entry = lookup(desk.objects, found.root, "dir")
    assert entry is not None
    assert entry.kind == "l"


def test_what_is_no_file_is_named(desk: Desk) -> None:
    os.mkfifo(desk.root / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        here = Path.cwd()
        os.chdir(desk.root)
        try:
            sock.bind("sock")
        finally:
            os.chdir(here)
        found = desk.scan()
    assert set(skipped(found.problems)) == {"pipe", "sock"}
    assert found.root == empty(desk.objects)


def test_names_that_no_tree_holds_are_named(desk: Desk) -> None:
    # APP-12, faults 16: reported, not mangled
    (Path(os.fsdecode(os.fsencode(desk.root) + b"/bad\xff"))).write_bytes(b"1")
    write(desk, "new\nline")
    write(desk, ".VAULT/config")
    write(desk, "con.txt")
    found = desk.scan()
    assert set(skipped(found.problems)) == {"bad\\xff", "new\nline", ".VAULT"}
    assert [p.path for p in found.problems if p.kind == "notice"] == ["con.txt"]
    assert set(model_of(desk.objects, found.root)) == {"con.txt"}
    assert desk.scan(found.root).problems == found.problems  # said at every scan, from the cache too


def test_twins_are_named_and_the_versioned_one_stays(desk: Desk) -> None:
    # APP-12, faults 8 and 31
    write(desk, "readme", b"mine")
    base = desk.scan().root
    write(desk, "README", b"other")
    write(desk, normalize("NFC", "é"), b"c")
    write(desk, normalize("NFD", "é"), b"d")
    found = desk.scan(base)
    assert model_of(desk.objects, found.root) == {"readme": b"mine", "é": b"c"}
    assert skipped(found.problems) == {
        "README": "differs from 'readme' only in a way some disks ignore",
        "é": "is there twice, with its letters made of other bytes",  # both look the same on a screen
    }


def test_names_in_another_normal_form_are_stored_in_nfc_and_found_again(desk: Desk) -> None:
    # faults 8: macOS disks
    write(desk, normalize("NFD", "é/ö"))
    first = desk.scan()
    assert set(model_of(desk.objects, first.root)) == {normalize("NFC", "é/ö")}
    assert not first.problems
    assert desk.scan(first.root).read == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_stays_as_it_was_for_real(desk: Desk) -> None:
    write(desk, "d/f")
    base = desk.scan().root
    (desk.root / "d").chmod(0)
    try:
        assert desk.scan(base).root == base
    finally:
        (desk.root / "d").chmod(0o755)


def test_what_cannot_be_read_stays_as_it_was(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # Trouble here never turns into a deletion for friends.
    write(desk, "d/secret", b"1")
    write(desk, "d/open", b"1")
    write(desk, "closed/x", b"1")
    base = desk.scan().root
    write(desk, "d/secret", b"other")
    write(desk, "d/open", b"other")
    write(desk, "d/unknown", b"new")
    real = os.open

    def deny(path: str, flags: int, *args: int, dir_fd: int | None = None) -> int:
        if path in {"secret", "unknown", "closed"}:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *args, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", deny)
    found = desk.scan(base)
    assert model_of(desk.objects, found.root) == {"d/secret": b"1", "d/open": b"other", "closed/x": b"1"}
    assert set(skipped(found.problems)) == {"d/secret", "d/unknown", "closed"}
    assert found.unknown == {"d/secret", "d/unknown", "closed"}


def test_a_file_larger_than_any_is_named_and_stays_as_it_was(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.desks.taker.MAX_FILE_BYTES", 1 << 40)
    write(desk, "big", b"small")
    base = desk.scan().root
    with (desk.root / "big").open("wb") as handle:
        handle.truncate((1 << 40) + 1)
    found = desk.scan(base)
    assert skipped(found.problems) == {"big": "is larger than 1 TiB, which lace does not carry"}
    assert found.root == base


def test_what_checkout_cannot_write_is_not_taken_for_deleted(desk: Desk) -> None:
    # APP-12: a hostile link and a hostile name in the base are absent here and stay in the tree.
    objects = desk.objects
    base = apply_changes(
        objects.of(GROUP),
        tree_of(objects, {"a": b"1"}),
        {"l": file(objects, b"/etc/passwd", kind="l"), ".Vault/x": file(objects, b"1"), "gone": file(objects, b"1")},
    )
    write(desk, "a")
    assert [path for path, _ in walk(objects, desk.scan(base).root)] == [".Vault", ".Vault/x", "a", "l"]


def test_a_file_that_changes_while_it_is_read_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(desk, "f", b"one")
    base = desk.scan().root
    path.write_bytes(b"three")
    real = os.read

    def race(fd: int, count: int) -> bytes:
        content = real(fd, count)
        with path.open("ab") as handle:
            handle.write(b"+")
        return content

    monkeypatch.setattr("vault.desks.folder.os.read", race)
    found = desk.scan(base)
    monkeypatch.undo()
    assert found.root == base
    assert "was being written" in skipped(found.problems)["f"]


def test_a_directory_swapped_for_a_link_is_not_entered(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # faults 17: a link planted between the listing and the look inside
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_bytes(b"private")
    write(desk, "d/f")
    base = desk.scan().root
    write(desk, "d/g")
    real = os.open

    def swap(path: str, flags: int, *args: int, dir_fd: int | None = None) -> int:
        if path == "d":
            (desk.root / "d").rename(tmp_path / "moved")
            (desk.root / "d").symlink_to(secret)
        return real(path, flags, *args, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap)
    found = desk.scan(base)
    assert found.root == base
    assert set(skipped(found.problems)) == {"d"}


def test_a_missing_folder_and_a_cancelled_scan(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        Desk(tmp_path / "nowhere").scan()

    def stop() -> None:
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        desk.scan(how=Scanning(cancel=stop))


def test_progress_is_told(desk: Desk) -> None:
    for number in range(600):
        write(desk, f"d{number % 3}/f{number}")
    told: list[int] = []
    desk.scan(how=Scanning(progress=lambda done, *_: told.append(done)))
    assert told == sorted(told)
    assert len(told) == 2


def test_files_that_are_counted_together_are_all_counted_and_told_of(desk: Desk) -> None:
    """CLAY-71: one changed file, first, last or between, among more unchanged ones than two tells."""
    names = [f"f{number:03}" for number in range(600)]
    for name in names:
        write(desk, name)
    base = desk.scan().root
    for name in (*names[::150], names[-1]):
        write(desk, name, f"{name} anew".encode())
        told: list[int] = []
        kept = desk.scan(base, how=Scanning(progress=lambda done, *_, told=told: told.append(done)))
        assert (kept.files, kept.read) == (600, 1)
        assert [change.path for change in kept.changes or ()] == [name]
        assert len(told) >= 3  # once of the survey, and of the scan after each 256
        assert told == sorted(told)
        base = kept.root


def test_progress_tells_the_bytes_of_a_large_file(desk: Desk) -> None:
    """APP-3: how much of it is taken in, of how much."""
    size = 5 * MAX_DIRECT_BYTES + 7
    write(desk, "large", bytes(size))
    told: list[tuple[int, int, str]] = []
    desk.scan(how=Scanning(progress=lambda _files, _of, done, total, path: told.append((done, total, path))))
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == (size, size, "large")


def test_paths_deeper_than_a_tree_may_be_are_named(desk: Desk) -> None:
    here = desk.root
    for _ in range(130):
        here = here / "d"
    here.mkdir(parents=True)
    found = desk.scan()
    assert len(skipped(found.problems)) == 1
    assert max(path.count("/") for path, _ in walk(desk.objects, found.root)) < 128


def test_a_large_file_is_taken_as_the_record_of_its_content(desk: Desk) -> None:
    # CLAY-35, CLAY-71: read as a stream, and equal to what the whole content gives.
    content = random.Random(1).randbytes(5 << 20)
    write(desk, "large", content)
    write(desk, "edge", content[:MAX_DIRECT_BYTES])
    write(desk, "above", content[: MAX_DIRECT_BYTES + 1])
    found = desk.scan()
    other = MemoryObjects()
    sizes = {"large": len(content), "edge": MAX_DIRECT_BYTES, "above": MAX_DIRECT_BYTES + 1}
    for path, size in sizes.items():
        entry = lookup(desk.objects, found.root, path)
        assert entry is not None
        assert (entry.size, entry.hash) == (size, add_content(GROUP, content[:size], other))
    assert model_of(desk.objects, found.root)["large"] == content
    assert desk.scan(found.root).read == 0


def test_the_content_of_large_files_can_go_elsewhere(desk: Desk) -> None:
    # APP-13: who compares trees in memory keeps no large content.
    write(desk, "large", bytes(3 << 20))
    write(desk, "text", bytes(300_000))
    objects, bulk = MemoryObjects(), MemoryObjects()
    found = snapshot(desk.root, Ports(objects.of(GROUP), desk.cache, lambda: LATER, bulk))
    kept = {path: objects.part(entry.hash) is not None for path, entry in walk(objects, found.root)}
    assert kept == {"large": False, "text": True}
    assert {path for path, entry in walk(objects, found.root) if bulk.part(entry.hash) is not None} == {"large"}


@pytest.mark.parametrize("change", ["grows", "shrinks", "changes"])
def test_a_large_file_that_is_written_meanwhile_is_taken_next_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    # CLAY-71: bytes that were never together on the disk are no content.
    target = write(desk, "large", bytes(3 << 20))
    real = os.read
    left = [2]

    def read(file: int, size: int) -> bytes:
        piece = real(file, size)
        left[0] -= 1
        if not left[0]:
            if change == "changes":
                with target.open("r+b") as handle:
                    handle.write(b"1")
            else:
                os.truncate(target, (5 if change == "grows" else 2) << 20)
        return piece

    base = tree_of(desk.objects, {"large": b"as it was"})
    monkeypatch.setattr(os, "read", read)
    found = desk.scan(base)
    monkeypatch.undo()
    assert skipped(found.problems) == {"large": "was being written while it was read; it is taken next time"}
    assert found.root == base
    again = desk.scan(base)
    assert again.problems == ()
    assert model_of(desk.objects, again.root) == {"large": target.read_bytes()}


def test_a_long_read_can_be_stopped(desk: Desk) -> None:
    write(desk, "large", bytes(8 << 20))
    calls = [0]

    def stop() -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        desk.scan(how=Scanning(cancel=stop))


_ACTS = acts(["a", "b", "d/a", "d/b", "d/e/a", "f"], ["a", "b", "d/a", "g/a", "f"], "touch")


@settings(max_examples=60)
@given(st.lists(st.lists(_ACTS, max_size=4), max_size=6))
def test_a_scan_with_a_cache_sees_what_a_scan_without_one_sees(rounds: list[list[tuple[str, str, str]]]) -> None:
    """CLAY-71: whatever happened between two scans, files turned into folders and equal sizes included."""
    with tempfile.TemporaryDirectory() as text:
        root = Path(text) / "desk"
        root.mkdir()
        objects, cache = MemoryObjects(), MemoryCache()
        for number, acts in enumerate(rounds):
            for act, name, other in acts:
                with contextlib.suppress(OSError):
                    do(root, act, name, other, number)
            kept = snapshot(root, Ports(objects.of(GROUP), cache, time.time_ns))
            anew = snapshot(root, Ports(objects.of(GROUP), MemoryCache(), time.time_ns))
            assert kept.root == anew.root
            assert (kept.files, kept.problems) == (anew.files, anew.problems)
