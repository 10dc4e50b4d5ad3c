"""A checkout that something keeps from its end: a crash, a full disk, a name it refuses, content that is not here."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest

from tests.vault.desks.support import (
    GROUP,
    Desk,
    check_out,
    empty,
    file,
    on_disk,
    started,
    tree_of,
)
from vault.desks.checkout import apply_tree
from vault.desks.chunks import MissingObject
from vault.desks.cutting import add_content
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, TreeError
from vault.desks.plan import Skip
from vault.errors import Cancelled
from vault.files import DiskFull, NotWritable
from vault.profile import Manifest
from vault.records import RecordHash


@pytest.fixture
def desk(desk_of_each_kind: Desk) -> Desk:
    return desk_of_each_kind


def test_a_crash_in_the_middle_goes_on_and_leaves_no_half_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = started(desk, {"a": b"1", "b": b"1", "c": b"1", "d/x": b"1"})
    after = tree_of(desk.objects, {"a": b"2", "b": b"2", "d": b"2", "e": b"2"})
    for limit in range(1, 40):
        calls = 0

        def crash() -> None:
            nonlocal calls
            calls += 1
            if calls == limit:  # noqa: B023 - called within the round
                raise Cancelled("Stopped.")

        try:
            apply_tree(desk.root, before=before, after=after, source=desk.objects, cache=desk.cache, cancel=crash)
        except Cancelled:
            pass
        else:
            break
        for path, content in on_disk(desk.root).items():
            assert content in {b"1", b"2"} or path == "d/", path
    (desk.root / ".lace-checkout-0.tmp").write_bytes(b"half")
    assert desk.scan(after).root == after
    assert check_out(desk, before, tree_of(desk.objects, {"z": b"3"})).skipped != ()
    assert check_out(desk, after, tree_of(desk.objects, {"z": b"3"})).skipped == ()
    assert on_disk(desk.root) == {"z": b"3"}


def test_missing_or_wrong_content_stops_before_anything_is_written(desk: Desk) -> None:
    objects = desk.objects
    before = started(desk, {"a": b"1"})
    ghost = Entry("f", "-", 1, RecordHash("P", bytes(32)), "x")
    lying = file(objects, b"12")
    for entry, error in [
        (ghost, MissingObject),
        (Entry("f", "-", 1, lying.hash, "x"), TreeError),
    ]:
        after = apply_changes(objects.of(GROUP), None, {"a": file(objects, b"2"), "z": entry})
        with pytest.raises(error):
            check_out(desk, before, after)
        assert on_disk(desk.root) == {"a": b"1"}


def test_an_exhausted_or_missing_disk_is_said_in_a_sentence(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = tree_of(desk.objects, {"a": b"2"})
    with pytest.raises(NotWritable, match="nowhere"):
        check_out(Desk(tmp_path / "nowhere"), None, empty(desk.objects))
    real = os.write

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("vault.desks.writing.os.write", full)
    with pytest.raises(DiskFull, match="a"):
        check_out(desk, None, after)
    monkeypatch.setattr("vault.desks.writing.os.write", real)
    assert on_disk(desk.root) == {}


def test_a_file_that_is_too_large_for_the_disk_stays_in_the_tree(desk: Desk) -> None:
    # faults 8: FAT ends at 4 GiB; one such file does not keep a folder from all others, and is not deleted for friends.
    objects = desk.objects
    before = tree_of(objects, {"a": b"1", "was": b"small"})
    after = tree_of(objects, {"a": b"2", "big": b"b" * 5_000, "was": b"small", "z": b"3"})
    grown = tree_of(objects, {"a": b"2", "big": b"b" * 5_000, "was": b"w" * 5_000, "z": b"3"})
    check_out(desk, None, before)
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        result = check_out(desk, before, after)
        shrunk = check_out(desk, after, grown)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert result.written == ("a", "z")
    assert result.skipped == (Skip("big", "cannot be on this disk: file too large", blocking=False),)
    assert shrunk.skipped == (Skip("was", "cannot be on this disk: file too large", blocking=False),)
    assert on_disk(desk.root) == {"a": b"2", "z": b"3"}
    assert desk.scan(grown).root == grown


def test_a_full_quota_is_a_full_disk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults 3
    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr("vault.desks.writing.os.write", full)
    with pytest.raises(DiskFull, match="a"):
        check_out(desk, None, tree_of(desk.objects, {"a": b"2"}))


def test_a_disk_without_links_keeps_them_in_the_tree(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # faults 8: FAT has neither symbolic nor hard links; nothing shows as deleted because of that.
    objects = desk.objects
    after = apply_changes(objects.of(GROUP), None, {"l": file(objects, b"f", kind="l"), "f": file(objects, b"1")})

    def refuse(*_args: object, **_named: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "symlink", refuse)
    monkeypatch.setattr(os, "link", refuse)
    result = check_out(desk, None, after)
    assert (result.written, [skip.path for skip in result.skipped]) == (("f",), ["l"])
    assert desk.scan(after).root == after
    turned = apply_changes(objects.of(GROUP), after, {"f": file(objects, b"l", kind="l")})
    assert [skip.path for skip in check_out(desk, after, turned).skipped] == ["f"]
    assert desk.scan(turned).root == turned  # the file it was would be the next commit's
    assert check_out(desk, turned, after).written == ("f",)
    gone = tree_of(objects, {"f": b"1"})
    assert check_out(desk, after, gone).skipped == ()
    assert desk.scan(gone).root == gone


def test_a_name_the_disk_refuses_is_named_and_not_deleted_for_friends(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # APP-12, faults 8: reported, not mangled
    after = tree_of(desk.objects, {"a:b": b"1", "c": b"1"})
    real = os.link

    def refuse(source: str, target: str, **named: int) -> None:
        if ":" in target:
            raise OSError(errno.EINVAL, "Invalid argument")
        real(source, target, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", refuse)
    result = check_out(desk, None, after)
    assert result.skipped == (Skip("a:b", "cannot be on this disk: invalid argument", blocking=False),)
    assert on_disk(desk.root) == {"c": b"1"}
    assert desk.scan(after).root == after


def test_a_lost_chunk_stops_before_anything_is_written(desk: Desk) -> None:
    # APP-13: presence and sizes of every chunk are known before the first byte.
    content = random.Random(3).randbytes(1 << 20)
    before = started(desk, {"a": b"1"})
    whole = MemoryObjects(desk.objects)
    after = tree_of(whole, {"a": b"2", "z": content})
    for lost in [plex for plex in whole if plex.app == "lace/data" and len(plex.blob.data) > 4_000]:
        some = MemoryObjects(desk.objects)
        for plex in whole:
            if plex.hash != lost.hash:
                some.add(plex)
        with pytest.raises(MissingObject) as found:
            apply_tree(desk.root, before=before, after=after, source=some, cache=desk.cache)
        assert found.value.record == lost.hash
        assert on_disk(desk.root) == {"a": b"1"}


def test_a_manifest_with_another_name_leaves_no_file(desk: Desk) -> None:
    # APP-13: the digest of all of it is compared before anything has its name.
    content = random.Random(4).randbytes(1 << 20)
    good = desk.objects.part(add_content(GROUP, content, desk.objects))
    assert isinstance(good, Manifest)
    lie = Manifest.to_plex(group=GROUP, digest=bytes(32), level=good.level, chunks=good.chunks)
    desk.objects.add(lie)
    after = apply_changes(desk.objects.of(GROUP), None, {"z": Entry("f", "-", 1 << 20, lie.hash, "x")})
    with pytest.raises(TreeError, match="other content than its name says"):
        check_out(desk, None, after)
    assert on_disk(desk.root) == {}
