"""Drops: making, opening, links and damage (faults.md rows 7, 8, 17)."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lazy.problems import Problem
from tests.transports.helpers import (
    DROP_ID as ID,
)
from tests.transports.helpers import (
    GROUP,
    additions,
    everything,
    key,
    make_head,
    plex,
    put,
    seal_head,
    some_records,
)
from transports.drop.marker import MARKER
from transports.drop.place import Drop
from transports.errors import (
    ClosedFile,
    DropEmptied,
    DropNotEmpty,
    MissingFile,
    NotADrop,
    PlaceCrowded,
    PlaceNotWritable,
    PlaceUnreachable,
    UnreadableFile,
    WriteNotKept,
    WrongDrop,
)
from vault.errors import LaceError, PlaceError
from vault.files import AtomicFile

NODE = key(1).verifier


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


def test_a_drop_whose_marker_is_gone_is_not_taken_for_an_unplugged_stick(drop: Drop) -> None:
    # CYB-15: a file manager that stopped half-way, or a friend who wondered what the file was for
    put(drop, key(1), additions(some_records(3)))
    (drop.path / MARKER).unlink()
    looks: list[Callable[[], Drop]] = [
        lambda: Drop.open(drop.path),
        lambda: Drop.open(drop.path, ID),
        lambda: Drop.create(drop.path, entropy=os.urandom),
    ]
    for look in looks:
        with pytest.raises(NotADrop, match=f"holds mailboxes, but no {MARKER}") as caught:
            look()
        assert caught.value.hint == (
            "Whoever synced here before writes it anew with: lace fsck --repair. Where nobody's mailbox is whole, begin"
            f" in a new sub-directory, for example {drop.path / 'lace'}"
        )
    assert MARKER not in names(drop.path)


@pytest.mark.parametrize("kind", [PermissionError, FileNotFoundError, OSError])
def test_a_drop_without_a_marker_that_does_not_show_what_it_holds_is_a_fault_of_that_place(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, kind: type[OSError]
) -> None:
    """CYB-15: a directory of somebody else's, or a stick that dies, ended the visit of all other places too."""
    put(drop, key(1), additions(some_records(3)))
    (drop.path / MARKER).unlink()

    def shut(_path: Path) -> Iterator[Path]:
        raise kind(5, "Input/output error")

    monkeypatch.setattr(Path, "iterdir", shut)
    with pytest.raises(DropEmptied):
        Drop.open(drop.path, ID)
    with pytest.raises(NotADrop):
        Drop.open(drop.path)


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
    with pytest.raises(PlaceCrowded):
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
    assert (drop.free_bytes(GROUP, NODE) or 0) > 0


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
        path.unlink(missing_ok=True)  # what passes for whole by name and size is gone by then
        with pytest.raises(WriteNotKept):
            writer.verify_written()
        path.write_bytes(good)
    writer.verify_written()
    shutil.rmtree(drop.path)
    with pytest.raises(PlaceUnreachable):
        writer.verify_written()


# Several people on one machine, or one share


def test_who_may_use_the_directory_may_use_what_is_made_in_it(drop: Drop) -> None:
    """CYB-16: by the umask of whoever came first, nobody else could write a mailbox there, or read theirs."""
    drop.path.chmod(0o1777)
    (drop.path / MARKER).unlink()
    former = os.umask(0o077)
    try:
        drop = Drop.create(drop.path, entropy=os.urandom)
        writer = drop.writer(GROUP, NODE)
        put(drop, key(1), additions(some_records(3)))
        writer.put_request(b"request")
    finally:
        os.umask(former)
    mailbox = drop.mailbox_path(GROUP, NODE)
    assert stat.S_IMODE((drop.path / MARKER).stat().st_mode) == 0o644
    assert stat.S_IMODE(mailbox.parent.stat().st_mode) == 0o1777
    assert stat.S_IMODE(mailbox.stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in mailbox.iterdir()} == {0o644}


def test_a_drop_that_is_closed_to_others_stays_so(drop: Drop) -> None:
    drop.path.chmod(0o700)
    former = os.umask(0o022)
    try:
        drop.writer(GROUP, NODE).put_request(b"request")
    finally:
        os.umask(former)
    mailbox = drop.mailbox_path(GROUP, NODE)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (mailbox, *mailbox.iterdir())} == {
        mailbox.name: 0o755,
        "request.rec": 0o644,
    }


def test_what_is_closed_to_this_person_is_not_called_damaged(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was said to be taken from another place or written anew, and nothing of the permissions."""
    drop.writer(GROUP, NODE)

    def refuse(*_args: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("transports.drop.place.os.scandir", refuse)
    with pytest.raises(ClosedFile, match="permission denied") as found:
        drop.nodes(GROUP)
    told = Problem.in_mailbox(found.value, "bob", "drop")
    assert "chmod" in told.hint == found.value.hint
