"""The SHA-512 that a release signs is taken while a file is read, once, and is the file's own (APP-13)."""

from __future__ import annotations

import random
import threading
from hashlib import sha512
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.sync import sync
from tests.vault.vaults import befriend, found, write
from vault.desks import sums
from vault.desks.chunks import check_content
from vault.desks.sums import SUM_AT_ONCE_BYTES, Summing
from vault.errors import Cancelled
from vault.folder.work import commit
from vault.fsck.check import check
from vault.profile import MAX_DIRECT_BYTES
from vault.records import RecordHash
from vault.releasing import release
from vault.store import Store, fresh

SIZES = (0, 1, SUM_AT_ONCE_BYTES, SUM_AT_ONCE_BYTES + 1, 262_144, 262_145, 5 << 20)


@given(st.lists(st.integers(0, 3 << 20), max_size=5))
@settings(max_examples=20, deadline=None)
def test_a_stream_is_summed_however_it_is_split(sizes: list[int]) -> None:
    pieces = [random.Random(size).randbytes(size) for size in sizes]
    summing = Summing()
    for piece in pieces:
        summing.add(piece)
    assert summing.finish() == sha512(b"".join(pieces)).hexdigest()


def listed(folder: Path) -> str:
    """Return the Content-SHA512 of a folder of plain files, as the documents define it, from the disk alone."""
    lines = []
    for file in sorted(folder.glob("*.bin")):
        content = file.read_bytes()
        lines.append(f"f - {len(content)} {sha512(content).hexdigest()} {file.name}\n")
    return "sha512:" + sha512("".join(lines).encode()).hexdigest()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of contents as they are read again to be summed, one by one."""
    sizes: list[int] = []
    whole = check_content

    def counted(source: object, entry: object, take: object) -> None:
        sizes.append(entry.size)  # type: ignore[attr-defined]
        whole(source, entry, take)  # type: ignore[arg-type]

    monkeypatch.setattr(sums, "check_content", counted)
    return sizes


def test_a_release_signs_what_was_read_at_the_commit_and_reads_no_large_file_again(
    tmp_path: Path, read: list[int]
) -> None:
    alice = found(tmp_path)
    for number, size in enumerate(SIZES):
        (alice.folder / f"{number}.bin").write_bytes(random.Random(size).randbytes(size))
    assert commit(alice, "one")
    assert release(alice).content_sha512 == listed(alice.folder)
    read.clear()  # what has no older version may be read once more
    with (alice.folder / "6.bin").open("r+b") as file:
        file.seek(3 << 20)
        file.write(b"another middle")
    (alice.folder / "4.bin").write_bytes(random.Random(9).randbytes(262_144))
    assert commit(alice, "two")
    assert release(alice).content_sha512 == listed(alice.folder)
    assert max(read, default=0) <= SUM_AT_ONCE_BYTES


def test_a_release_that_commits_large_files_reads_them_once(tmp_path: Path, read: list[int]) -> None:
    """Nobody waits longer for it: what is committed is released in the same write."""
    alice = found(tmp_path)
    for number, size in enumerate(SIZES):
        (alice.folder / f"{number}.bin").write_bytes(random.Random(size).randbytes(size))
    assert release(alice).content_sha512 == listed(alice.folder)
    assert max(read) <= MAX_DIRECT_BYTES
    assert check(alice).ok


@pytest.mark.parametrize("is_released_at_once", [True, False])
def test_of_more_small_files_than_are_kept_at_hand_none_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[int], is_released_at_once: bool
) -> None:
    """A folder of a hundred thousand is released at what its files cost, and received so too."""
    monkeypatch.setattr(fresh, "_SUMS", 500)
    alice = found(tmp_path)
    for number in range(2_000):
        write(alice, f"{number:04}.bin", f"{number}\n")
    if not is_released_at_once:
        assert commit(alice, "all of them")
    with befriend(tmp_path, alice, "bob") as bob:
        assert release(alice).content_sha512 == listed(alice.folder)
        assert len(read) <= fresh._FEW
        read.clear()
        sync(alice, ["stick"])
        (result,) = sync(bob, ["stick"])
        assert len(result.came.received) >= 2_000
        assert len(read) <= fresh._FEW
        assert bob.store.rows("SELECT visible FROM release") == [(1,)]
        for vault in (alice, bob):
            assert check(vault).ok


def test_a_release_asks_for_no_sum_that_is_at_hand(tmp_path: Path) -> None:
    alice = found(tmp_path)
    for number in range(300):
        (alice.folder / f"{number:03}.bin").write_text(f"{number}\n")
    asked: list[str] = []
    alice.store.db.set_trace_callback(lambda text: asked.append(text) if "FROM sums" in text else None)
    assert release(alice).content_sha512 == listed(alice.folder)
    assert sum(text.count("x'") for text in asked) < 100  # the first few are read again
    (alice.folder / "000.bin").write_text("other\n")
    assert release(alice).content_sha512 == listed(alice.folder)
    assert check(alice).ok


@pytest.mark.parametrize("most", [131_072, 300])
def test_a_check_sums_small_files_as_it_reads_their_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[int], most: int
) -> None:
    """APP-14: none is read once more, but for the first and for those that are too many to be at hand."""
    alice = found(tmp_path)
    for number in range(500):
        (alice.folder / f"{number:03}.bin").write_text(f"{number}\n")
    release(alice)
    read.clear()
    monkeypatch.setattr(fresh, "_SUMS", most)
    assert check(alice).ok
    assert len(read) == max(fresh._FEW, 500 - most)
    with alice.store.transaction():
        alice.store.run("UPDATE sums SET sha512 = ? WHERE hash = (SELECT max(hash) FROM sums)", "0" * 128)
    (bad,) = check(alice).bad
    assert (bad.kind, bad.name) == ("view", "sums")


def test_what_was_kept_of_a_file_that_no_release_names_is_checked_too(tmp_path: Path) -> None:
    alice = found(tmp_path)
    for number in range(2):
        (alice.folder / "large.bin").write_bytes(random.Random(number).randbytes(300_000))
        assert commit(alice, "not released")
    assert check(alice).ok
    with alice.store.transaction():
        alice.store.run("UPDATE sums SET sha512 = ?", "0" * 128)
    (bad,) = check(alice).bad
    assert (bad.kind, bad.name) == ("view", "sums")


def test_a_commit_that_is_rolled_back_leaves_no_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = found(tmp_path)
    (alice.folder / "large.bin").write_bytes(random.Random(2).randbytes(300_000))
    assert commit(alice, "an older version")
    (alice.folder / "large.bin").write_bytes(random.Random(3).randbytes(300_000))

    def cut(*_: object, **__: object) -> None:
        raise Cancelled("cut off once everything was read")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "settle", cut)
        with pytest.raises(Cancelled):
            commit(alice, "never made")
    assert alice.store.rows("SELECT count(*) FROM sums") == [(0,)]
    assert check(alice).ok


def test_files_are_summed_beside_each_other_and_equal_ones_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = found(tmp_path)
    sizes = [3 << 20, 70_000, 5 << 20, 300_000, 9_000, 2 << 20]
    for number, size in enumerate(sizes * 2):
        (alice.folder / f"{number:02}.bin").write_bytes(random.Random(size).randbytes(size))
    read: list[int] = []
    whole = check_content

    def counted(source: object, entry: object, take: object) -> None:
        read.append(entry.size)  # type: ignore[attr-defined]
        whole(source, entry, take)  # type: ignore[arg-type]

    assert commit(alice, "one")
    ((tree,),) = alice.store.rows("SELECT DISTINCT tree FROM commits")
    monkeypatch.setattr(sums, "check_content", counted)
    assert alice.store.content_sum(RecordHash.parse(tree)) == listed(alice.folder)
    assert sorted(read) == sorted(sizes)
    assert not [each for each in threading.enumerate() if each.name.startswith("lace-sum")]
    alice.close()


def test_what_an_earlier_version_kept_of_directories_is_right_and_is_taken_anew(tmp_path: Path) -> None:
    """It kept no size with a directory's sum, so that an entry which says another one cannot be told by it."""
    alice = found(tmp_path)
    (alice.folder / "below").mkdir()
    (alice.folder / "below" / "a.txt").write_text("owned\n")
    release(alice)
    kept = alice.store.rows("SELECT hash, sha512 FROM sums ORDER BY hash")
    with alice.store.transaction():
        alice.store.run("UPDATE sums SET sha512 = substr(sha512, 1, 128)")
    assert alice.store.rows("SELECT hash, sha512 FROM sums ORDER BY hash") != kept
    assert check(alice).ok
    (alice.folder / "b.txt").write_text("another\n")
    release(alice)
    assert {len(sha512) for _, sha512 in alice.store.rows("SELECT hash, sha512 FROM sums")} >= {128, 130}
    assert check(alice).ok
    alice.close()
