"""A small file that did not change is not read again, and any that did is (W4, CYB-18; docs/formats.md section 4)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transports.helpers import GROUP, key, make_head, put, seal_head
from transports.drop.place import Drop
from transports.errors import BadSnapshot, RolledBack
from transports.filecache import BEGINNING, END, FileCache, _read
from transports.mailbox import Mailbox
from transports.reading import read_head
from transports.snapshot import check_number
from vault.errors import LaceError

ID = "0123456789abcdef" * 2
ALICE, BOB = key(1), key(2)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    drop = Drop.create(tmp_path / "drop", entropy=lambda size: bytes.fromhex(ID)[:size])
    for person in (ALICE, BOB):
        put(drop, person, [])
    return drop.path


@pytest.fixture
def visit(stick: Path, tmp_path: Path) -> Callable[[], Drop]:
    def opened() -> Drop:
        drop = Drop.open(stick, ID)
        drop.remember(tmp_path / "heads")
        return drop

    drop = opened()
    for person in (ALICE, BOB):
        read_head(Mailbox(drop, GROUP, person.verifier))
    drop.close()
    return opened


def head_of(stick: Path, person: object) -> Path:
    verifier = person.verifier  # type: ignore[attr-defined]
    return Drop.open(stick).mailbox_path(GROUP, verifier) / "head.rec"


def written_alike(path: Path, data: bytes) -> None:
    """Write other bytes and leave the time as it was."""
    found = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_what_did_not_change_costs_its_ends(visit: Callable[[], Drop]) -> None:
    drop = visit()
    before = drop.count.read
    seen = read_head(Mailbox(drop, GROUP, ALICE.verifier))
    assert seen is not None
    assert seen.head.number == 1
    assert drop.count.read - before == BEGINNING + END


def test_what_is_not_there_costs_nothing(visit: Callable[[], Drop]) -> None:
    drop = visit()
    before = drop.count.read
    assert drop.read_request(GROUP, ALICE.verifier) is None
    assert drop.read_beacon(GROUP, BOB.verifier) is None
    drop.check()
    assert drop.count.read == before


def test_a_head_of_the_same_size_and_time_is_read(stick: Path, visit: Callable[[], Drop]) -> None:
    path = head_of(stick, ALICE)
    newer = seal_head(ALICE, make_head(ALICE, ID, 2)).encode()
    assert len(newer) == path.stat().st_size
    written_alike(path, newer)
    seen = read_head(Mailbox(visit(), GROUP, ALICE.verifier))
    assert seen is not None
    assert seen.head.number == 2


def test_an_older_head_put_back_is_noticed(stick: Path, visit: Callable[[], Drop]) -> None:
    path = head_of(stick, ALICE)
    older = path.read_bytes()
    written_alike(path, seal_head(ALICE, make_head(ALICE, ID, 2)).encode())
    drop = visit()
    now = read_head(Mailbox(drop, GROUP, ALICE.verifier))
    assert now is not None
    drop.close()
    written_alike(path, older)
    seen = read_head(Mailbox(visit(), GROUP, ALICE.verifier))
    assert seen is not None
    with pytest.raises(RolledBack):
        check_number(now.mark, seen.mark)


def test_the_head_of_another_mailbox_is_noticed(stick: Path, visit: Callable[[], Drop]) -> None:
    written_alike(head_of(stick, ALICE), head_of(stick, BOB).read_bytes())
    with pytest.raises(BadSnapshot):
        read_head(Mailbox(visit(), GROUP, ALICE.verifier))


@given(at=st.integers(0), change=st.integers(1, 255))
def test_a_changed_byte_is_noticed_by_its_time_or_its_place(
    tmp_path_factory: pytest.TempPathFactory, at: int, change: int
) -> None:
    root = tmp_path_factory.mktemp("kept")
    drop = Drop.create(root / "drop", entropy=lambda size: bytes.fromhex(ID)[:size])
    drop.remember(root / "heads")
    put(drop, ALICE, [])
    drop.close()
    path = head_of(drop.path, ALICE)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= change
    is_at_an_end = not BEGINNING <= at % len(data) < len(data) - END

    def seen() -> object:
        again = Drop.open(drop.path, ID)
        again.remember(root / "heads")
        try:
            return read_head(Mailbox(again, GROUP, ALICE.verifier))
        except LaceError:
            return None

    whole = seen()
    written_alike(path, bytes(data))
    assert (seen() is None) == is_at_an_end  # a byte in between hides nothing: what was verified before stands for it
    assert is_at_an_end or seen() == whole
    os.utime(path, ns=(0, 1))
    assert seen() is None


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: b"x" + data[1:], lambda _: b"", bytes.upper])
def test_a_spoiled_note_is_no_note(tmp_path: Path, visit: Callable[[], Drop], spoil: Callable[[bytes], bytes]) -> None:
    note = tmp_path / "heads" / ID
    note.write_bytes(spoil(note.read_bytes()))
    drop = visit()
    before = drop.count.read
    assert read_head(Mailbox(drop, GROUP, ALICE.verifier)) is not None
    assert drop.count.read - before > BEGINNING + END
    drop.close()
    drop = visit()
    before = drop.count.read
    assert read_head(Mailbox(drop, GROUP, ALICE.verifier)) is not None
    assert drop.count.read - before == BEGINNING + END


def test_a_pipe_in_the_place_of_a_note_is_not_waited_for(tmp_path: Path, visit: Callable[[], Drop]) -> None:
    note = tmp_path / "heads" / ID
    note.unlink()
    os.mkfifo(note)
    drop = visit()
    assert read_head(Mailbox(drop, GROUP, ALICE.verifier)) is not None
    drop.close()


@given(st.binary(max_size=400))
def test_any_bytes_are_a_note_or_none(data: bytes) -> None:
    from blake3 import blake3

    whole = b"lace-kept/0\n" + data
    for note in (data, whole, whole + blake3(whole).digest()):
        for cached in _read(note).values():
            assert len(cached.data) <= len(data)


def test_a_medium_of_any_size_leaves_a_small_note(tmp_path: Path) -> None:
    cached = FileCache(tmp_path, ID)
    file = tmp_path / "file"
    file.write_bytes(b"x" * (100 << 10))
    for number in range(30):
        cached.keep(str(number), file.stat(), file.read_bytes())
    file.write_bytes(b"x" * (1 << 20))
    cached.keep("large", file.stat(), file.read_bytes())
    cached.close()
    assert (tmp_path / ID).stat().st_size <= 1 << 20
    assert FileCache(tmp_path, ID).known("large", file.stat()) is None


def test_a_vault_that_cannot_be_written_reads_everything(stick: Path, tmp_path: Path) -> None:
    (tmp_path / "heads").write_bytes(b"in the way")
    drop = Drop.open(stick, ID)
    drop.remember(tmp_path / "heads")
    assert read_head(Mailbox(drop, GROUP, ALICE.verifier)) is not None
    drop.close()
