"""A new version of a large file rests as what changed; the records are those of any other vault (CLAY-37)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.vaults import found
from vault.desks.cutting import ContentWriter, add_content
from vault.desks.delta_bases import DeltaHints, OldPages
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, parse_page
from vault.desks.tree import build_directory
from vault.errors import DataError
from vault.folder.checked_out import checkout_of
from vault.folder.copies import export_tree
from vault.folder.work import commit
from vault.frames import MAX_DEPTH
from vault.fsck.check import check
from vault.records import Plex, RecordHash
from vault.vault import Vault

_GROUP = "friends/0123456789abcdef"
_NOISE = random.Random(8).randbytes(1_500_000)


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    vault = found(tmp_path)
    yield vault
    vault.close()


def stored_bytes(vault: Vault) -> int:
    return int(vault.store.rows("SELECT sum(size) FROM pack")[0][0])


def test_a_small_change_of_a_large_file_costs_little_and_is_given_back_exactly(alice: Vault, tmp_path: Path) -> None:
    """CLAY-29, CLAY-30, CLAY-34: every version of many reads back exactly; chains are cut short by whole frames."""
    sizes, contents, trees = [], [], []
    content = bytearray(random.Random(5).randbytes(3_000_000))
    for number in range(12):
        content[1_000_000 + number : 1_000_020 + number] = b"%20d" % number
        (alice.folder / "large").write_bytes(content)
        commit(alice, f"version {number}")
        standing = checkout_of(alice)
        assert standing is not None
        sizes.append(stored_bytes(alice))
        contents.append(bytes(content))
        trees.append(standing.tree)
    added = [after - before for before, after in itertools.pairwise(sizes)]
    assert sorted(added)[len(added) // 2] < 2_000  # a chunk of 128 KiB of noise and its manifest
    assert max(added) > 10_000  # the chain ends, and a whole one begins the next
    (deepest,) = alice.store.rows("SELECT max(depth) FROM frame")[0]
    assert 2 < deepest < MAX_DEPTH
    with Vault(alice.folder, alice.around) as fresh:
        for number in (11, 0, 5, 8):
            export_tree(fresh, trees[number], tmp_path / str(number))
            assert (tmp_path / str(number) / "large").read_bytes() == contents[number]
        assert check(fresh).ok


def test_a_change_of_one_file_costs_the_same_however_large_its_folder_is(alice: Vault, tmp_path: Path) -> None:
    """CLAY-29, CLAY-34: the lists of names rest as what changed of them too, and chains are cut short."""
    for number in range(700):  # more than one page
        (alice.folder / f"file-{number:04}").write_bytes(b"%d" % number)
    (alice.folder / "sub").mkdir()
    for number in range(200):  # one page
        (alice.folder / "sub" / f"file-{number:04}").write_bytes(b"%d" % number)
    commit(alice, "many")
    sizes, trees = [stored_bytes(alice)], []
    for number in range(12):
        (alice.folder / "file-0300").write_bytes(b"version %d" % number)
        (alice.folder / "sub" / "file-0100").write_bytes(b"below %d" % number)
        commit(alice, f"version {number}")
        standing = checkout_of(alice)
        assert standing is not None
        sizes.append(stored_bytes(alice))
        trees.append(standing.tree)
    added = [after - before for before, after in itertools.pairwise(sizes)]
    assert sorted(added)[len(added) // 2] < 1_000  # two pages of names, of 15 kB and more each
    assert max(added) > 10_000
    with Vault(alice.folder, alice.around) as fresh:
        for number in (11, 0, 6):
            export_tree(fresh, trees[number], tmp_path / str(number))
            assert (tmp_path / str(number) / "file-0300").read_bytes() == b"version %d" % number
            assert (tmp_path / str(number) / "sub" / "file-0100").read_bytes() == b"below %d" % number
            assert len(list((tmp_path / str(number)).iterdir())) == 701
        assert check(fresh).ok


def test_the_page_that_a_new_one_is_like_is_the_one_that_held_its_names() -> None:
    """It is a hint: nothing comes of a page that is not here or is damaged, nor is a large change looked at whole."""
    objects = MemoryObjects()
    entries = [Entry("f", "-", 1, add_content(_GROUP, b"x", objects), f"name-{number:05}") for number in range(3_000)]
    root, _ = build_directory(_GROUP, entries, objects)
    like = OldPages(objects).of(root)
    assert like is not None
    assert like(1, "name-00000") == root
    assert like(2, "") is None
    for name in ("a", "name-00000", "name-01500", "name-02999", "z"):
        page = like(0, name)
        body = objects.content(page) if page is not None else None
        names = [item.name for item in parse_page(body or b"").items]
        assert names[0] <= name or name == "a"
        assert name in names or name in "az"
    assert OldPages(objects).of(None) is None
    for source, odd in ((MemoryObjects(), root), (objects, add_content(_GROUP, b"no page", objects))):
        like = OldPages(source).of(odd)
        assert like is not None
        assert like(0, "name-00000") is None
    many = OldPages(objects)
    like = many.of(root)
    assert like is not None
    assert sum(like(0, "name-00000") is not None for _ in range(100)) < 100
    assert many.of(root) is None


def test_of_a_small_page_nobody_asks_what_it_is_like() -> None:
    """It rests in a row, and against nothing: each commit would read a page for it."""
    objects = MemoryObjects()
    asked: list[int] = []

    def like(level: int, _name: str) -> None:
        asked.append(level)

    for count in (1, 40):
        entries = [Entry("f", "-", 1, add_content(_GROUP, b"x", objects), f"{n:0100}") for n in range(count)]
        build_directory(_GROUP, entries, objects, like)
    assert asked == [0], "of the larger page alone, which rests in a pack"


def test_a_chain_with_a_broken_link_fails_by_name(alice: Vault) -> None:
    """CLAY-30: a base that is missing, or another record, is an error of its own."""
    content = random.Random(5).randbytes(3_000_000)
    for word in (b"first", b"second"):
        (alice.folder / "large").write_bytes(content[:900_000] + word + content[900_000:])
        commit(alice, "x")
    (frame, bases) = alice.store.rows("SELECT id, bases FROM frame WHERE depth = 1 LIMIT 1")[0]
    (digest,) = alice.store.rows("SELECT digest FROM body JOIN packed USING (p) WHERE frame = ?", frame)[0]
    itself = alice.store.rows("SELECT p FROM packed WHERE frame = ?", frame)[0][0]
    for wrong in (bytes(bases)[::-1], int(itself).to_bytes(8, "little"), bytes(bases)[:8] + bytes(8)):
        alice.store.run("UPDATE frame SET bases = ? WHERE id = ?", wrong, frame)
        with Vault(alice.folder, alice.around) as fresh, pytest.raises(DataError) as caught:
            fresh.store.stored(RecordHash("P", bytes(digest)))
        assert caught.value.exit_code == 41


@pytest.mark.parametrize("added", [0, 7])
def test_changes_all_over_a_large_file_cost_no_more_than_they_are(alice: Vault, added: int) -> None:
    """CLAY-29: where no chunk stays as it was for megabytes, none of what stayed in them is stored once more."""
    content = bytearray(random.Random(11).randbytes(8_000_000))
    (alice.folder / "large").write_bytes(content)
    commit(alice, "all of it")
    before = stored_bytes(alice)
    for at in range(7_000_000, 0, -40_000):
        content[at : at + 20] = b"%*d" % (20 + added, at)
    (alice.folder / "large").write_bytes(content)
    commit(alice, "a little everywhere")
    assert stored_bytes(alice) - before < 60_000


def test_what_follows_much_that_was_put_in_is_found_again(alice: Vault) -> None:
    """CLAY-29: new bytes are taken to stand for old ones, and those may be what comes after them."""
    content = bytearray(random.Random(12).randbytes(20_000_000))
    (alice.folder / "large").write_bytes(content)
    commit(alice, "all of it")
    before = stored_bytes(alice)
    for at in range(18_000_000, 4_000_000, -4_000_000):
        content[at : at + 20] = b"%20d" % at
    content[1_000:1_000] = random.Random(13).randbytes(2_000_000)
    (alice.folder / "large").write_bytes(content)
    commit(alice, "much put in")
    assert stored_bytes(alice) - before < 2_400_000


def test_what_was_passed_may_come_later(alice: Vault) -> None:
    """CLAY-29: new bytes first, then the end of the old content, then its beginning."""
    content = random.Random(14).randbytes(8_000_000)
    (alice.folder / "large").write_bytes(content)
    commit(alice, "all of it")
    moved = random.Random(15).randbytes(1_500_000) + content[3_000_000:] + content[:3_000_000]
    (alice.folder / "large").write_bytes(moved)
    commit(alice, "turned round")
    assert check(alice).bad == ()


class Sink:
    """Notes every record and hint."""

    def __init__(self, known: MemoryObjects) -> None:
        self.known = known
        self.plexes: list[Plex] = []

    def add(self, plex: Plex, /) -> None:
        self.plexes.append(plex)

    def add_near(self, plex: Plex, bases: Sequence[RecordHash], /) -> None:
        assert all(base in self.known for base in bases)
        self.plexes.append(plex)


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.tuples(st.integers(0, 1_500_000), st.integers(0, 300_000), st.binary(max_size=2_000)), max_size=4),
    source_is_empty=st.booleans(),
)
def test_hints_change_no_record(cuts: list[tuple[int, int, bytes]], source_is_empty: bool) -> None:
    """CLAY-35: whatever changed, the records and their order are those of a vault that never saw the old version."""
    old = MemoryObjects()
    before = add_content(_GROUP, _NOISE, old)
    content = _NOISE
    for at, gone, put in cuts:
        content = content[:at] + put + content[at + gone :]
    plain, hinted = Sink(old), Sink(old)
    writer = ContentWriter(_GROUP, plain)
    writer.add(content)
    first = writer.finish()
    near = DeltaHints(hinted, MemoryObjects() if source_is_empty else old, before)
    writer = ContentWriter(_GROUP, near)
    writer.add(content)
    assert writer.finish() == first
    near.finish()
    assert sorted(p.hash for p in hinted.plexes) == sorted(p.hash for p in plain.plexes)
    if len(content) > 262_144:
        assert hinted.plexes[-1].hash == first


def test_an_old_manifest_that_rotted_keeps_no_new_version_out(alice: Vault) -> None:
    """APP-13: the old content is only a hint; the new one is whole, and was not committed until a repair."""
    content = random.Random(5).randbytes(3_000_000)
    (alice.folder / "large").write_bytes(content)
    commit(alice, "x")
    ((p, stored),) = alice.store.rows(
        "SELECT b.p, stored(b.p, b.bytes) FROM body b WHERE instr(stored(b.p, b.bytes), ?) > 0", b"\nLevel: 1\n"
    )
    with alice.writing() as w:
        w.store.unpack(p)
        w.store.run("UPDATE body SET bytes = ? WHERE p = ?", bytes(stored).replace(b"Level: 1", b"Level: 2"), p)
    new = content[:1_000_000] + b"new" + content[1_000_000:]
    with Vault(alice.folder, alice.around) as fresh:
        (fresh.folder / "large").write_bytes(new)
        commit(fresh, "y")
        standing = checkout_of(fresh)
        assert standing is not None
        export_tree(fresh, standing.tree, fresh.folder.with_name("out"))
    assert (alice.folder.with_name("out") / "large").read_bytes() == new
