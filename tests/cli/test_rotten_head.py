"""The head of the store's file: its bytes are the same in every store, so a repair knows them (APP-13, APP-14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.people import Person
from vault.store import Store
from vault.store.head import mend_head

_ROTTEN = {
    "magic": 0,
    "page size": 16,
    "only read": 18,
    "not read": 19,
    "reserved": 20,
    "fraction": 21,
    "pages": 28,
    "schema": 47,
    "vacuum": 55,
    "in steps": 67,
}


def _store(ann: Person) -> Path:
    return ann.folder / ".vault" / "store.db"


@pytest.mark.parametrize("at", _ROTTEN.values(), ids=_ROTTEN)
@pytest.mark.parametrize("bit", [1, 4])
def test_a_bit_of_the_head_that_rotted_is_told_and_mended(ann: Person, at: int, bit: int) -> None:
    """APP-13, APP-14: fsck found nothing wrong and nothing could be written, or the vault was to be moved away."""
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    whole = _store(ann).read_bytes()
    rotten = bytearray(whole)
    rotten[at] ^= bit
    _store(ann).write_bytes(rotten)
    told = ann.run("fsck")
    is_harmless = (at, bit) == (_ROTTEN["schema"], 4)  # SQLite takes an older form, too
    assert told.code in ({0} if is_harmless else {1, 41})
    assert is_harmless or "fsck --repair" in told.text + told.err
    assert ann.lace("fsck", "--repair")["ok"]
    assert (_store(ann).parent / "damaged" / "store.db.head").read_bytes() == bytes(rotten[:100])
    assert ann.lace("fsck")["ok"]
    ann.write("a.txt", "two\n")
    ann.lace("release", "1.0.1")


def test_what_is_no_store_is_left_as_it_is(tmp_path: Path) -> None:
    """APP-13: more of it is wrong than what rots, or it has pages of another size."""
    path = tmp_path / "store.db"
    for data in (b"", b"short", bytes(8192), b"SQLite format 3\0\x20\x00\x02\x02\x00\x40\x20\x20".ljust(8192, b"\0")):
        path.write_bytes(data)
        assert not mend_head(path, tmp_path / "aside")
        assert path.read_bytes() == data
    assert not (tmp_path / "aside").exists()
    assert not mend_head(tmp_path / "none.db", tmp_path / "aside")


@pytest.mark.parametrize("tail", [1, 4095])
def test_what_lies_behind_the_last_page_of_a_sound_store_changes_nothing(tmp_path: Path, tail: int) -> None:
    """APP-13: a repair counted a part of a page as one, and SQLite found damage in what was whole until then."""
    path = tmp_path / "store.db"
    Store(path, create=True).close()
    path.write_bytes(path.read_bytes() + bytes(tail))
    data = path.read_bytes()
    assert not mend_head(path, tmp_path / "aside")
    assert path.read_bytes() == data


@pytest.mark.parametrize("log", ["store.db-wal", "store.db-journal"])
def test_how_many_pages_there_are_is_the_matter_of_a_log_that_goes_while_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    """APP-13: the file of a sound store was given the number of pages that it had before its log came into it."""
    path, beside = tmp_path / "store.db", tmp_path / log
    Store(path, create=True).close()
    data = path.read_bytes()
    path.write_bytes(data[:-4096])
    beside.write_bytes(b"pages")
    real = Path.open

    def opened(file: Path, *args: Any, **named: Any) -> Any:
        if file == path and beside.exists():
            beside.unlink()
            path.write_bytes(data)
        return real(file, *args, **named)

    monkeypatch.setattr(Path, "open", opened)
    assert not mend_head(path, tmp_path / "aside")
    assert path.read_bytes() == data


@pytest.mark.parametrize("lost", [4096, 5000])
def test_of_a_store_that_was_cut_off_it_is_said_that_it_may_have_been(ann: Person, lost: int) -> None:
    """APP-14: it was said that its head had rotted, and all that lacked was the end of the file."""
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    _store(ann).write_bytes(_store(ann).read_bytes()[:-lost])
    told = ann.run("fsck", "--repair").text
    assert "store.db was cut off" in told


def test_of_a_mended_head_nothing_is_said_to_be_fetched(ann: Person) -> None:
    """APP-13, APP-14: what lies beside is a hundred bytes, and no record."""
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    rotten = bytearray(_store(ann).read_bytes())
    rotten[0] ^= 1
    _store(ann).write_bytes(rotten)
    told = ann.run("fsck", "--repair").text
    assert "records are whole" in told
    assert "lace sync" not in told
