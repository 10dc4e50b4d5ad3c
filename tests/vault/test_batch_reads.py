"""Chunks that lie side by side in a pack: read in stretches, and each still proven (REC-5)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from vault.desks.chunks import MissingObject, check_content, check_here, copy_entry, entry_pieces
from vault.desks.content import data_plex, tree_plex
from vault.desks.cutting import add_content
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, TreeError
from vault.desks.ports import RunSource
from vault.profile import Chunk, Manifest
from vault.records import RecordHash
from vault.store import Store
from vault.store.packio import PackIO
from vault.store.packread import PackDamaged

_GROUP = "friends/0123456789abcdef"
_SIZE = 12 << 20
_CONTENT = random.Random(3).randbytes(_SIZE)


class Counted(PackIO):
    """Counts the reads."""

    reads = 0

    def read(self, fd: int, at: int, size: int) -> bytes:
        self.reads += 1
        return super().read(fd, at, size)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store.db", create=True) as made:
        yield made


def put(store: Store, content: bytes) -> tuple[Entry, MemoryObjects]:
    made = MemoryObjects()
    record = add_content(_GROUP, content, made)
    with store.transaction():
        store.add((plex, plex.encode()) for plex in made)
        store.settle(None, None)
    return Entry("f", "-", len(content), record, "part"), made


def chunk_hashes(store: Store, record: RecordHash) -> list[RecordHash]:
    found = store.part(record)
    if not isinstance(found, Manifest):
        return [record]
    return [each for link in found.chunks for each in chunk_hashes(store, link.target)]


def test_a_large_content_is_read_in_few_stretches(store: Store) -> None:
    entry, _ = put(store, _CONTENT)
    assert isinstance(store, RunSource)
    number = len(chunk_hashes(store, entry.hash))

    def proven() -> bytes:
        taken: list[bytes | memoryview] = []
        check_content(store, entry, taken.append)
        return b"".join(taken)

    readers: list[Callable[[], bytes | None]] = [
        lambda: b"".join(entry_pieces(store, entry)),
        lambda: b"".join(store.pieces(entry.hash) or ()),
        lambda: store.content(entry.hash),
        proven,
    ]
    for read in readers:
        store.packs._io = counted = Counted()
        assert read() == _CONTENT
        assert counted.reads < number // 5
    store.packs._io = counted = Counted()
    check_here(store, entry)
    assert counted.reads < number // 5


def test_a_part_that_is_no_content_though_its_bytes_are_right_is_refused_where_content_is_proven(store: Store) -> None:
    """Else one content had two sets of records, and who takes the folder in again found all of it changed."""
    # CLAY-12
    entry, made = put(store, _CONTENT[: 600 << 10])
    top = store.part(entry.hash)
    assert isinstance(top, Manifest)
    first = store.part(top.chunks[0].target)
    assert isinstance(first, bytes)
    page = tree_plex(_GROUP, first)
    chunks = [Chunk(len(first), page.hash), *top.chunks[1:]]
    other = Manifest.to_plex(group=_GROUP, digest=top.digest, level=1, chunks=chunks)
    with store.transaction():
        store.add((plex, plex.encode()) for plex in (page, other))
        store.settle(None, None)
    assert b"".join(store.pieces(other.hash) or ()) == _CONTENT[: 600 << 10]
    with pytest.raises(TreeError, match=page.hash.text):
        check_content(store, entry._replace(hash=other.hash), bytes)
    check_content(store, entry, bytes)
    assert len(made) == len(top.chunks) + 1


def test_pieces_are_no_longer_than_the_largest_record(store: Store) -> None:
    entry, made = put(store, _CONTENT)
    for source in (store, made):
        assert max(map(len, entry_pieces(source, entry))) <= 256 << 10


def test_what_rests_compressed_in_a_row_or_twice_is_read_all_the_same(store: Store) -> None:
    text = b"".join(b"line %d of a text that shrinks\n" % number for number in range(40_000))
    entry, _ = put(store, _CONTENT[:700_000] + bytes(300_000) + text + _CONTENT[:500])
    assert b"".join(entry_pieces(store, entry)) == _CONTENT[:700_000] + bytes(300_000) + text + _CONTENT[:500]
    check_content(store, entry, bytes)
    check_here(store, entry)
    small = data_plex(_GROUP, b"in a row")
    with store.transaction():
        store.add([(small, small.encode())])
        store.settle(None, None)
    asked = [small.hash, *chunk_hashes(store, entry.hash), entry.hash, RecordHash("P", bytes(32))]
    for record, blob in zip(asked, store.blobs(asked), strict=True):
        assert blob is None or bytes(blob) == store.part(record)
    assert list(store.blobs([small.hash, entry.hash])) == [None, None]


def test_what_was_added_in_the_same_transaction_is_read(store: Store) -> None:
    made = MemoryObjects()
    record = add_content(_GROUP, _CONTENT, made)
    with store.transaction():
        store.add((plex, plex.encode()) for plex in made)
        assert b"".join(store.pieces(record) or ()) == _CONTENT
        store.settle(None, None)


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_byte_names_its_record_and_is_never_given_out(store: Store, seed: int) -> None:
    """REC-5, REC-82: what stands before it is; the digest of the whole comes too late for who reads a part."""
    entry, _ = put(store, _CONTENT)
    chunks = chunk_hashes(store, entry.hash)
    number = random.Random(seed).randrange(len(chunks))
    pack = store.path.parent / "packs" / "00000001.pack"
    lies = pack.read_bytes().find(store.stored(chunks[number]) or b"?")
    data = bytearray(pack.read_bytes())
    data[lies + 3_000] ^= 1
    pack.write_bytes(data)
    with Store(store.path) as fresh:
        readers: list[Callable[[], Iterator[bytes]]] = [
            lambda: entry_pieces(fresh, entry),
            lambda: fresh.pieces(entry.hash) or iter(()),
        ]
        for read in readers:
            taken: list[bytes] = []
            with pytest.raises(PackDamaged, match=chunks[number].text):
                taken.extend(read())
            assert _CONTENT.startswith(b"".join(taken))
        with pytest.raises(PackDamaged, match=chunks[number].text):
            list(entry_pieces(fresh, entry, to_the_end=True))
        hasher = blake3()
        with pytest.raises(PackDamaged, match=chunks[number].text):
            copy_entry(fresh, entry, hasher.update, hasher.digest)
        with pytest.raises(PackDamaged, match=chunks[number].text):
            check_content(fresh, entry, bytes)


def test_a_pack_that_was_cut_or_is_gone_is_named(store: Store) -> None:
    entry, _ = put(store, _CONTENT)
    pack = store.path.parent / "packs" / "00000001.pack"
    data = pack.read_bytes()
    pack.write_bytes(data[: len(data) // 2])
    with Store(store.path) as fresh, pytest.raises(PackDamaged):
        list(entry_pieces(fresh, entry))
    pack.unlink()
    with Store(store.path) as fresh, pytest.raises(PackDamaged):
        list(fresh.pieces(entry.hash) or ())


def test_a_chunk_that_is_not_here_is_named(store: Store) -> None:
    entry, _ = put(store, _CONTENT)
    lost = chunk_hashes(store, entry.hash)[-3]
    position = store.position(lost)
    assert position is not None
    with store.transaction():
        store.forget(position)
    acts: list[Callable[[], object]] = [
        lambda: list(entry_pieces(store, entry)),
        lambda: check_content(store, entry, bytes),
        lambda: check_here(store, entry),
    ]
    for act in acts:
        with pytest.raises(MissingObject) as found:
            act()
        assert found.value.record == lost


def test_records_asked_for_in_order_are_read_ahead(store: Store) -> None:
    """Whatever is left out, asked for twice or rests elsewhere is right too, if slower."""
    entry, made = put(store, _CONTENT)
    small = data_plex(_GROUP, b"in a row")
    with store.transaction():
        store.add([(small, small.encode())])
        store.settle(None, None)
    chunks = chunk_hashes(store, entry.hash)
    records = [*chunks[:50], small.hash, entry.hash, *chunks[50:], RecordHash("P", bytes(32))]
    wanted = {plex.hash: plex.encode() for plex in made}
    ahead = store.read_ahead(records)
    store.packs._io = counted = Counted()
    assert all(ahead.stored(record) == wanted[record] for record in chunks[:50])
    assert counted.reads < 20
    assert ahead.rests_alone(chunks[0])
    assert ahead.stored(small.hash) == small.encode()
    assert ahead.rests_alone(small.hash)
    assert [ahead.stored(record) for record in chunks[55::7]] == [wanted[record] for record in chunks[55::7]]
    assert ahead.stored(chunks[55]) == wanted[chunks[55]]
    assert ahead.stored(RecordHash("P", bytes(32))) is None
    assert ahead.stored(RecordHash("S", chunks[0].digest)) is None


def test_small_records_and_such_as_rest_on_others_are_read_ahead(store: Store) -> None:
    """CLAY-37: what rests on another record is said to."""
    words = random.Random(7)
    text = b"".join(b"%d lines of text\n" % words.randrange(10**6) for _ in range(900))
    base, changed = data_plex(_GROUP, text), data_plex(_GROUP, text + b"and one\n")
    small = [data_plex(_GROUP, b"small %d" % number) for number in range(5)]
    with store.transaction():
        store.add([(plex, plex.encode()) for plex in (base, *small)])
        store.settle(None, None)
    with store.transaction():
        store.add([(changed, changed.encode())], {changed.hash: [base.hash]})
        store.settle(None, None)
    made = [base, changed, *small]
    ahead = store.read_ahead([plex.hash for plex in made])
    assert [ahead.stored(plex.hash) for plex in made] == [plex.encode() for plex in made]
    assert [ahead.rests_alone(plex.hash) for plex in made] == [True, False, True, True, True, True, True]
    assert bool(store.resting_on(changed.hash)) is True


def test_what_is_asked_for_by_position_is_the_same_and_never_another(store: Store) -> None:
    """Once another process numbers anew, what stands at a position is another record, and is given to nobody."""
    entry, _ = put(store, _CONTENT)
    small = [data_plex(_GROUP, b"small %d" % number) for number in range(5)]
    with store.transaction():
        store.add([(plex, plex.encode()) for plex in small])
        store.settle(None, None)
    records = [*(plex.hash for plex in small), *chunk_hashes(store, entry.hash)]
    places = [store.position(record) or 0 for record in records]
    by_digest, by_position = store.read_ahead(records), store.read_ahead(records, places)
    assert [by_position.stored(record) for record in records] == [by_digest.stored(record) for record in records]
    assert [by_position.rests_alone(record) for record in records] == [True] * len(records)
    moved = store.read_ahead(records[:4], places[1:5])
    assert [moved.stored(record) for record in records[:4]] == [None, *(plex.encode() for plex in small[1:4])]
    assert not moved.rests_alone(records[0])


def test_what_is_read_ahead_is_proven_one_by_one(store: Store) -> None:
    """REC-5: a damaged byte costs its record and no other."""
    entry, made = put(store, _CONTENT)
    chunks = chunk_hashes(store, entry.hash)
    wanted = {plex.hash: plex.encode() for plex in made}
    pack = store.path.parent / "packs" / "00000001.pack"
    data = bytearray(pack.read_bytes())
    data[data.find(wanted[chunks[7]]) + 100] ^= 4
    pack.write_bytes(data)
    with Store(store.path) as fresh:
        ahead = fresh.read_ahead(chunks)
        got = [ahead.stored(record) for record in chunks]
    assert got[7] is None
    assert [each for number, each in enumerate(got) if number != 7] == [
        wanted[record] for number, record in enumerate(chunks) if number != 7
    ]
